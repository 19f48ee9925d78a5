/* The memory that the program protects, written down and put back. */
#ifndef RUNFLAT_SNAPSHOT_H
#define RUNFLAT_SNAPSHOT_H

#include "data/copies.h"

#include <stdbool.h>
#include <stdint.h>

/* Writes the protected memory down as the copy with a number; false: there is no room. */
bool take_snapshot(int number, int64_t version);

/* How many memories are protected. */
int protected_count(void);

/* Puts a copy back into the protected memory; false: that is not what was named, which was said. */
bool load_snapshot(const struct copy *copy);

#endif
