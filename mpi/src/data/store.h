/* Copies in files of this host, where the launch names a folder (RUNFLAT_STORE): a job that has ended with all its processes
 * begins again from them, and one that goes on takes from them what nobody has in memory any more. Each host has its own folder in there, named after it, so that the place may be shared or not. */
#ifndef RUNFLAT_STORE_H
#define RUNFLAT_STORE_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the launch names a folder. */
bool has_store(void);

/* Writes this process's copies of a version down, if the launch names a folder; false: they could not be written, which was
 * said. */
bool store_copies(int64_t version);

/* Deletes files of the ranks whose copies this process holds that are older than `version`, and what processes left that are gone. */
void forget_stored(int64_t version);

/* Reads one copy from a file, of this host or, where the place is shared, of any; false: there is no good one of that pass. */
bool load_stored_copy(int rank, int64_t version, int64_t of_pass);

/* Renames the files of this host that are another job's, all unless this one goes on from such, and deletes what is written by half: what
 * is read later is of this one. */
void clear_store(bool goes_on);

/* Reads the files of this host as copies, each `turn`th of `turns`; what is damaged is left out, which is said. */
void load_stored(int turn, int turns);

#endif
