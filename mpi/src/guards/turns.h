/* Turns of MPI's progress engine, which threads take one after the other.
 *
 * Agreements of Open MPI 5.0 are not safe against several threads: what arrives for one is taken in by whoever turns the engine, and while
 * another thread begins one, both come out with any flags. With MPI_THREAD_MULTIPLE one thread at a time is in there, and in what begins
 * agreements; the others need not wait for it to wait for something themselves. Without several threads nothing of this is done. */
#ifndef RUNFLAT_TURNS_H
#define RUNFLAT_TURNS_H

/* Waits until no other thread is in there, and keeps them out. May be nested. */
void begin_turn(void);
void end_turn(void);

/* Lets others in while this thread waits for something else than MPI; returns what `resume_turn` needs. */
int pause_turn(void);
void resume_turn(int depth);

#endif
