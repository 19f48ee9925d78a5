/* Processes of the world that have failed, as far as MPI knows here. */
#ifndef RUNFLAT_DEATHS_H
#define RUNFLAT_DEATHS_H

#include <stdbool.h>

/* Marks those that have failed in a list by rank of the world; how many. */
int mark_dead(bool *dead);

/* Notes the failure of a process that stood at a place, as an event. */
void note_death(int place);

/* The same for each that MPI knows of and that has not been noted before. */
void note_deaths(void);

#endif
