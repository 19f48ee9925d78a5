/* The end of a job that has lost processes. */
#ifndef RUNFLAT_LEAVING_H
#define RUNFLAT_LEAVING_H

/* In MPI_Finalize: waits until all that live are there, since a late word about a failure must not find a process half gone. Where a
 * host has lost all its processes, the launcher may have lost its daemon there, and will end the job and drop what ranks have printed
 * last: it is given a moment for that, so that no rank says that it came to its end and its words are not seen. */
void leave_together(void);

#endif
