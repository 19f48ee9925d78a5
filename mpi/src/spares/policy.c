#include "spares/policy.h"

#include "runflat_policy.h"
#include "settings.h"
#include "state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of librunflat_policy, as it exports them. */
static struct {
    __typeof__(runflat_policy_abi) *abi;
    __typeof__(runflat_policy_open) *open;
    __typeof__(runflat_policy_stand) *stand;
    __typeof__(runflat_policy_rank_count) *rank_count;
    __typeof__(runflat_policy_places) *places;
    __typeof__(runflat_policy_fail) *fail;
    __typeof__(runflat_policy_revive) *revive;
    __typeof__(runflat_policy_spare_count) *spare_count;
    __typeof__(runflat_policy_message) *message;
    __typeof__(runflat_policy_close) *close;
} library;

/* A word about wrong input, once. */
static bool refuse(const char *what, const char *why)
{
    if (rf.rank == 0)
        say("%s: %s", what, why);
    return false;
}

/* Where this library itself lies, with another file name. */
static bool beside_us(char *path, size_t size, const char *name)
{
    Dl_info own;
    if (!dladdr((void *)beside_us, &own) || !own.dli_fname)
        return false;
    const char *slash = strrchr(own.dli_fname, '/');
    int folder = slash ? (int)(slash - own.dli_fname) + 1 : 0;
    return snprintf(path, size, "%.*s%s", folder, own.dli_fname, name) < (int)size;
}

/* The same of what lies on each host. */
static bool refuse_here(const char *what, const char *why)
{
    if (is_first_here())
        say("%s: %s", what, why);
    return false;
}

static void *load(void)
{
    const char *name = "librunflat_policy.so", *given = getenv("RUNFLAT_POLICY_LIBRARY");
    char path[4096];
    void *found = given && *given ? dlopen(given, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!found && !(given && *given) && beside_us(path, sizeof path, name))
        found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return found || (given && *given) ? found : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static bool load_library(void)
{
    void *found = load();
    if (!found)
        return refuse_here("librunflat_policy.so is not there, and it says which spare takes over "
                           "(RUNFLAT_POLICY_LIBRARY)",
                           dlerror());
    *(void **)&library.abi = dlsym(found, "runflat_policy_abi");
    *(void **)&library.open = dlsym(found, "runflat_policy_open");
    *(void **)&library.stand = dlsym(found, "runflat_policy_stand");
    *(void **)&library.rank_count = dlsym(found, "runflat_policy_rank_count");
    *(void **)&library.places = dlsym(found, "runflat_policy_places");
    *(void **)&library.fail = dlsym(found, "runflat_policy_fail");
    *(void **)&library.revive = dlsym(found, "runflat_policy_revive");
    *(void **)&library.spare_count = dlsym(found, "runflat_policy_spare_count");
    *(void **)&library.message = dlsym(found, "runflat_policy_message");
    *(void **)&library.close = dlsym(found, "runflat_policy_close");
    if (!library.abi || library.abi() != RUNFLAT_POLICY_ABI)
        return refuse_here("librunflat_policy.so",
                           "it is of another version than this library; build both of one release");
    return true;
}

static const char *setting(const char *name, const char *otherwise)
{
    const char *given = getenv(name);
    return given && *given ? given : otherwise;
}

/* Tells the policy where the processes stand. On a grid of the user's its distances count, as they do in simulations. */
static bool tell_sites(runflat_policy *opened, int places)
{
    if (*setting("RUNFLAT_SHAPE", ""))
        return true;
    uint64_t *path = new_table((size_t)places, sizeof rf.place->site);
    for (int place = 0; place < places; place++)
        memcpy(path + (size_t)place * SITE_LEVELS, rf.place[place].site, sizeof rf.place->site);
    int code = library.stand(opened, SITE_LEVELS, path);
    free(path);
    return code == 0 || refuse("spares", library.message(opened));
}

bool open_policy(struct policy *policy, int places, int spares)
{
    char line[32], last[32], message[512] = "";
    int count = spares >= 0 ? spares : count_of("RUNFLAT_SPARES");
    snprintf(line, sizeof line, "%d", places);
    snprintf(last, sizeof last, "1D(1,%d)", count);
    const char *shape = setting("RUNFLAT_SHAPE", line);
    const char *allocation = setting("RUNFLAT_ALLOCATION", last);
    if (allocation == last && shape == line && count >= places)
        return refuse("RUNFLAT_SPARES",
                      "as many processes as the job has, or more, cannot be spares");
    if (!load_library())
        return false;
    runflat_policy *opened;
    int code = library.open(shape, *setting("RUNFLAT_TORUS", "0") == '1', allocation,
                            setting("RUNFLAT_POLICY", "0D"), 1, &opened, message, sizeof message);
    if (code != 0)
        return refuse("spares", message);
    *policy = (struct policy){opened, library.rank_count(opened)};
    return tell_sites(opened, places);
}

bool policy_fail(struct policy *policy, int place)
{
    int answer = library.fail(policy->handle, (uint32_t)place);
    if (answer < 0)
        say("process %d has failed, and the policy does not know what to do: %s", place,
            library.message(policy->handle));
    return answer >= 0 && answer != RUNFLAT_NO_SPARE_LEFT;
}

void policy_revive(struct policy *policy, int place)
{
    if (library.revive(policy->handle, (uint32_t)place) < 0)
        say("process %d is there again, and the policy does not take it: %s", place,
            library.message(policy->handle));
}

int policy_spares(const struct policy *policy)
{
    return (int)library.spare_count(policy->handle);
}

void policy_places(const struct policy *policy, int *place)
{
    uint32_t *found = new_table(policy->ranks, sizeof *found);
    library.places(policy->handle, found);
    for (uint32_t rank = 0; rank < policy->ranks; rank++)
        place[rank] = found[rank] == RUNFLAT_NOWHERE ? -1 : (int)found[rank];
    free(found);
}

void close_policy(struct policy *policy)
{
    if (policy->handle)
        library.close(policy->handle);
    policy->handle = NULL;
}
