#include "spares/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SWITCHES = SITE_LEVELS - 1, LINE = 1024 };

/* Whether two names of hosts are one, of which one may lack the domain. */
static bool is_same_host(const char *one, const char *other)
{
    size_t length = strcspn(one, ".");
    return strcmp(one, other) == 0 ||
           (length == strcspn(other, ".") && strncmp(one, other, length) == 0 &&
            (!one[length] || !other[length]));
}

/* The switches of this host in a file; false: it names none. */
static bool read_switches(const char *path, char switches[LINE])
{
    char line[LINE], host[LINE], own[256] = "";
    const char *called = getenv("PMIX_HOSTNAME");
    FILE *file = fopen(path, "r");
    bool found = false;
    if (!file)
        say("cannot read %s (RUNFLAT_SITES): spares are taken by their order", path);
    gethostname(own, sizeof own - 1);
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, "%1023s %1023s", host, switches) == 2 &&
                (is_same_host(host, own) || (called && is_same_host(host, called)));
    if (file)
        fclose(file);
    return found;
}

void site_here(const struct place *own, uint64_t site[SITE_LEVELS])
{
    const char *file = getenv("RUNFLAT_SITES"), *slurm = getenv("SLURM_TOPOLOGY_ADDR");
    char read[LINE];
    const char *at = slurm ? slurm : "";
    if (file && *file)
        at = read_switches(file, read) ? read : "";
    uint64_t hash = HASH_OF_NOTHING;
    int level = 0;
    for (; *at; at++) {
        if (*at == '.' && level < SWITCHES - 1)
            site[level++] = hash;
        hash = hash_on(hash, *at);
    }
    while (level < SWITCHES)
        site[level++] = hash;
    site[SWITCHES] = own->host;
}
