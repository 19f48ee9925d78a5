/* Windows and files at the end of a job. */
#ifndef RUNFLAT_OBJECTS_H
#define RUNFLAT_OBJECTS_H

/* Before MPI ends: it does not free windows and files that were dropped, or any after a failure. Freeing takes all their processes. */
void leave_objects(void);

#endif
