#ifndef RUNFLAT_POLICY_ABI
#define RUNFLAT_POLICY_ABI 1
#include <stddef.h>
#include <stdint.h>
typedef struct runflat_policy runflat_policy;
enum { RUNFLAT_SUBSTITUTED, RUNFLAT_SPARE_LOST, RUNFLAT_NO_SPARE_LEFT, RUNFLAT_ALREADY_DEAD };
int runflat_policy_abi(void);
int runflat_policy_open(const char *, int, const char *, const char *, uint64_t, runflat_policy **, char *, size_t);
uint32_t runflat_policy_rank_count(const runflat_policy *);
void runflat_policy_places(const runflat_policy *, uint32_t *);
int runflat_policy_fail(runflat_policy *, uint32_t);
void runflat_policy_close(runflat_policy *);
#endif
