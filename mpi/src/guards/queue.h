/* The queue in shared memory from which this process receives, whose writers are other processes of its host.
 *
 * Who writes makes its item the last of the queue and then links it to the one before. A process that is killed between the two
 * leaves the queue torn: all that comes later is never found, and what waits for it hangs although all that live do what they
 * should. Nothing can put a torn queue right, since nobody knows the item that is not linked. */
#ifndef RUNFLAT_QUEUE_H
#define RUNFLAT_QUEUE_H

#include <stdbool.h>

/* Once Open MPI is initialized, in the program's thread. */
void find_queue(void);

/* Whether the queue looks as if a writer were between the two steps. False if there is no such queue. */
bool is_half_written(void);

#endif
