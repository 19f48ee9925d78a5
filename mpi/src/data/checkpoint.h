/* The checkpoint that is written beside the computation. */
#ifndef RUNFLAT_CHECKPOINT_H
#define RUNFLAT_CHECKPOINT_H

/* Waits until it has ended, if there is one. */
void finish_checkpoint(void);

/* Ends it as failed, if there is one, and interrupts it at the others. */
void give_up_checkpoint(void);

#endif
