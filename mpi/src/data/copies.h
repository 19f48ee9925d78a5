/* Copies of ranks' protected memory that this process holds. */
#ifndef RUNFLAT_COPIES_H
#define RUNFLAT_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The protected memory of one rank at one version. */
struct copy {
    int rank; /* by its first number; -1: no copy */
    int64_t version, pass;
    size_t bytes;
    uint64_t checksum;
    bool whole; /* all data are there, and the checksum is theirs */
    unsigned char *data;
};

/* Most copies that one process holds: its own and its partner's, before and after a checkpoint or a move. */
enum { COPIES_MAX = 16 };

extern struct copy copies[COPIES_MAX];

/* The last version that this process knows to be complete; -1: none. */
extern int64_t last_complete;

/* How often the program has begun before, with first values or from files: a version that it comes to once more need not have the same
 * data, and files of the one before may still lie about. The pass of now, and that in which the last complete version came about. */
extern int64_t pass, last_pass;

/* An empty copy with room for `bytes`; NULL: no memory. */
struct copy *new_copy(int rank, int64_t version, size_t bytes);

/* Says and notes that memory is too little for what others' data need here. */
void note_lack_of_memory(void);

/* Whether that was noted since the last step of data has begun. */
bool lacks_memory(void);

/* A step of data begins: what was noted before does not count for it. */
void forget_lack_of_memory(void);

/* The copy of a rank's memory at a version; NULL: not here. */
struct copy *find_copy(int rank, int64_t version);

/* All data of a copy are there: notes what they add up to. */
void seal_copy(struct copy *copy);

/* Forgets a copy. */
void drop_copy(struct copy *copy);

/* Forgets copies that a failure has left unfinished, and those that are not any more what they were: the other one of the same
 * rank is as good. */
void drop_changed_copies(void);

/* For tests: what a fault of memory does, before copies are needed for the first time. */
void change_copies_if_due(void);

/* Forgets all copies but those of `first` and `second` at `version`. */
void keep_copies(int64_t version, int first, int second);

#endif
