/* What the launch says in variables of the environment (docs/mpi.md has them all). */
#ifndef RUNFLAT_SETTINGS_H
#define RUNFLAT_SETTINGS_H

/* A number with a point in it, whatever the locale of the program; `end` as for strtod. */
double decimal_of(const char *text, char **end);

/* A time in seconds; `otherwise` where the variable is not set, or is none above 0. */
double seconds_of(const char *variable, double otherwise);

/* A number above 0; 0 where the variable is not set, or is none. */
int count_of(const char *variable);

/* Says which settings of a job that was started by hand are none. */
void check_settings(void);

#endif
