/* Loads librunflat_policy as the MPI layer does and holds it against its header: c_abi LIBRARY. Ends with 0 if they agree. */
#include "runflat_policy.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int wrong;

#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            printf("line %d: not %s\n", __LINE__, #what);                                                              \
            wrong = 1;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* Every function of the header, with the header's type. */
#define FUNCTIONS(each)                                                                                                \
    each(abi) each(open) each(stand) each(rank_count) each(place_count) each(spare_count) each(places) each(fail)      \
        each(revive) each(message) each(close)

#define POINTER(name) __typeof__(runflat_policy_##name) *name;
static struct {
    FUNCTIONS(POINTER)
} library;

#define LOAD(name)                                                                                                     \
    *(void **)&library.name = dlsym(found, "runflat_policy_" #name);                                                   \
    CHECK(library.name != NULL);

static int load(const char *path)
{
    void *found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!found) {
        printf("%s\n", dlerror());
        return 0;
    }
    FUNCTIONS(LOAD)
    return !wrong;
}

static runflat_policy *opened(const char *shape, const char *allocation, const char *policy)
{
    char message[200] = "#";
    runflat_policy *handle = NULL;
    CHECK(library.open(shape, 0, allocation, policy, 1, &handle, message, sizeof message) == 0);
    CHECK(handle != NULL && message[0] == '\0');
    return handle;
}

static void the_last_of_a_line_take_over(void)
{
    runflat_policy *handle = opened("6", "1D(1,2)", "0D");
    CHECK(library.rank_count(handle) == 4 && library.place_count(handle) == 6 && library.spare_count(handle) == 2);
    uint32_t place[5] = {9, 9, 9, 9, 12345};
    library.places(handle, place);
    CHECK(place[0] == 0 && place[1] == 1 && place[2] == 2 && place[3] == 3 && place[4] == 12345);
    CHECK(library.fail(handle, 1) == RUNFLAT_SUBSTITUTED);
    library.places(handle, place);
    CHECK(place[0] == 0 && place[1] == 4 && place[2] == 2 && place[3] == 3);
    CHECK(library.fail(handle, 1) == RUNFLAT_ALREADY_DEAD);
    CHECK(library.fail(handle, 5) == RUNFLAT_SPARE_LOST);
    CHECK(library.fail(handle, 4) == RUNFLAT_NO_SPARE_LEFT);
    library.places(handle, place);
    CHECK(place[0] == 0 && place[1] == RUNFLAT_NOWHERE && place[2] == 2 && place[3] == 3 && place[4] == 12345);
    CHECK(library.spare_count(handle) == 0 && library.rank_count(handle) == 4);
    CHECK(library.fail(handle, 6) == RUNFLAT_WRONG_INPUT);
    CHECK(strcmp(library.message(handle), "there is no place 6: places are numbered 0 to 5") == 0);
    CHECK(library.fail(handle, 0) == RUNFLAT_NO_SPARE_LEFT && library.message(handle)[0] == '\0');
    CHECK(library.revive(handle, 2) == RUNFLAT_NOT_DEAD && library.revive(handle, 1) == RUNFLAT_REVIVED);
    CHECK(library.spare_count(handle) == 1 && library.revive(handle, 6) == RUNFLAT_WRONG_INPUT);
    CHECK(library.fail(handle, 2) == RUNFLAT_SUBSTITUTED);
    library.places(handle, place);
    CHECK(place[0] == RUNFLAT_NOWHERE && place[1] == RUNFLAT_NOWHERE && place[2] == 1 && place[3] == 3);
    library.close(handle);
}

static void a_spare_of_the_same_host_takes_over(void)
{
    runflat_policy *handle = opened("6", "1D(1,3)", "0D");
    uint64_t path[6] = {10, 11, 12, 10, 11, 12};
    uint32_t place[3];
    CHECK(library.stand(handle, 1, NULL) == RUNFLAT_WRONG_INPUT && library.message(handle)[0] != '\0');
    CHECK(library.stand(handle, 1, path) == 0 && library.message(handle)[0] == '\0');
    CHECK(library.fail(handle, 2) == RUNFLAT_SUBSTITUTED);
    library.places(handle, place);
    CHECK(place[0] == 0 && place[1] == 1 && place[2] == 5);
    library.close(handle);
}

static void two_processes_agree(void)
{
    runflat_policy *one = opened("8x8x4", "3D(2,1)", "optimal(trials=20)");
    runflat_policy *other = opened("8x8x4", "3D(2,1)", "optimal(trials=20)");
    uint32_t failed[] = {3, 77, 120, 9, 200}, here[256], there[256];
    uint32_t count = library.rank_count(one);
    CHECK(count == 7 * 7 * 4);
    for (int at = 0; at < 5; at++)
        CHECK(library.fail(one, failed[at]) == library.fail(other, failed[at]));
    library.places(one, here);
    library.places(other, there);
    CHECK(memcmp(here, there, sizeof *here * count) == 0);
    library.close(one);
    library.close(other);
}

static void wrong_input_is_explained(void)
{
    char message[200] = "", little[6] = "#####";
    runflat_policy *handle = (runflat_policy *)message;
    CHECK(library.open("6", 0, "1D(1,6)", "0D", 1, &handle, message, sizeof message) == RUNFLAT_WRONG_INPUT);
    CHECK(handle == NULL && strstr(message, "1D(1,6)") != NULL);
    CHECK(library.open("6", 0, "1D(1,2)", "best", 1, &handle, little, sizeof little) == RUNFLAT_WRONG_INPUT);
    CHECK(strcmp(little, "a pol") == 0);
    CHECK(library.open("6", 0, "1D(1,2)", "best", 1, &handle, NULL, 0) == RUNFLAT_WRONG_INPUT);
    CHECK(library.open(NULL, 0, "1D(1,2)", "0D", 1, &handle, message, sizeof message) == RUNFLAT_WRONG_INPUT);
    CHECK(strstr(message, "no shape") != NULL);
    CHECK(library.open("6\xff", 0, "1D(1,2)", "0D", 1, &handle, message, sizeof message) == RUNFLAT_WRONG_INPUT);
    CHECK(strstr(message, "UTF-8") != NULL);
    CHECK(library.open("6", 0, "1D(1,2)", "0D", 1, NULL, message, sizeof message) == RUNFLAT_WRONG_INPUT);
}

static void no_handle_is_no_crash(void)
{
    uint32_t place = 5;
    CHECK(library.rank_count(NULL) == 0 && library.place_count(NULL) == 0 && library.spare_count(NULL) == 0);
    library.places(NULL, &place);
    CHECK(place == 5 && library.fail(NULL, 0) == RUNFLAT_WRONG_INPUT && library.message(NULL)[0] != '\0');
    CHECK(library.revive(NULL, 0) == RUNFLAT_WRONG_INPUT && library.stand(NULL, 0, NULL) == RUNFLAT_WRONG_INPUT);
    library.close(NULL);
}

int main(int count, char **arguments)
{
    if (count != 2 || !load(arguments[1]))
        return 2;
    CHECK(library.abi() == RUNFLAT_POLICY_ABI);
    the_last_of_a_line_take_over();
    a_spare_of_the_same_host_takes_over();
    two_processes_agree();
    wrong_input_is_explained();
    no_handle_is_no_crash();
    return wrong;
}
