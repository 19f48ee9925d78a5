#include "data/store.h"

#include "data/copies.h"
#include "spares/roster.h"
#include "state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

/* What a file begins with; the data follows. */
struct head {
    char magic[8];
    uint64_t job;
    int64_t rank, version, pass;
    uint64_t bytes, checksum;
};

static const char MAGIC[8] = "rfcopy3";

bool has_store(void)
{
    const char *given = getenv("RUNFLAT_STORE");
    return given && *given;
}

/* What the launch calls the job whose files count (RUNFLAT_JOB), as a number (FNV-1a); 0: it does not say. */
static uint64_t own_job(void)
{
    const char *name = getenv("RUNFLAT_JOB");
    uint64_t hash = 0xcbf29ce484222325u;
    if (!name || !*name)
        return 0;
    while (*name)
        hash = (hash ^ (unsigned char)*name++) * 0x100000001b3u;
    return hash;
}

/* The folder of this host; false: the launch names none. */
static bool own_folder(char *path)
{
    char host[256] = "";
    if (!has_store())
        return false;
    gethostname(host, sizeof host - 1);
    return snprintf(path, PATH_ROOM, "%s/%s", getenv("RUNFLAT_STORE"), host) < PATH_ROOM;
}

static bool write_copy(const char *folder, const struct copy *copy)
{
    char path[PATH_ROOM + 64], own[PATH_ROOM + 96];
    struct head head = {.job = own_job(),
                        .rank = copy->rank,
                        .version = copy->version,
                        .pass = copy->pass,
                        .bytes = copy->bytes,
                        .checksum = copy->checksum};
    memcpy(head.magic, MAGIC, sizeof head.magic);
    snprintf(path, sizeof path, "%s/rank-%d.%020ld", folder, copy->rank, (long)copy->version);
    /* Two processes of a host may hold the same copy. */
    snprintf(own, sizeof own, "%s.%d", path, (int)getpid());
    FILE *file = fopen(own, "wb");
    bool good = file && fwrite(&head, sizeof head, 1, file) == 1 &&
                fwrite(copy->data, 1, copy->bytes, file) == copy->bytes;
    /* On the disk before the one before it is deleted. */
    good = good && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int why = errno;
    if (file && fclose(file) != 0 && good)
        good = false, why = errno;
    if (good && rename(own, path) != 0)
        good = false, why = errno;
    if (!good) {
        say("%s cannot be written: %s", path, strerror(why));
        unlink(own); /* a part of it takes room that others need */
    }
    return good;
}

/* The names in it are on the disk. Some file systems cannot say so. */
static void sync_folder(const char *folder)
{
    int file = open(folder, O_RDONLY | O_DIRECTORY);
    if (file < 0)
        return;
    fsync(file);
    close(file);
}

/* Whether another process of this host writes the copy of a rank: its own. */
static bool is_written_beside(int rank)
{
    int place = place_of(rank);
    return place >= 0 && place != rf.rank && is_here(place);
}

bool store_copies(int64_t version)
{
    char folder[PATH_ROOM];
    bool good = true;
    if (!own_folder(folder))
        return true;
    mkdir(getenv("RUNFLAT_STORE"), 0700);
    mkdir(folder, 0700);
    for (int at = 0; at < COPIES_MAX; at++)
        if (copies[at].rank >= 0 && copies[at].version == version &&
            !is_written_beside(copies[at].rank))
            good = write_copy(folder, &copies[at]) && good;
    sync_folder(folder);
    return good;
}

/* The rank and version of a file by its name. */
static bool read_name(const char *name, int *rank, long *version)
{
    int length = 0;
    return sscanf(name, "rank-%d.%ld%n", rank, version, &length) == 2 && !name[length];
}

/* A file that a process was writing which is gone. */
static bool is_left(const char *name)
{
    int rank, process, length = 0;
    long version;
    return sscanf(name, "rank-%d.%ld.%d%n", &rank, &version, &process, &length) == 3 &&
           !name[length] && kill(process, 0) != 0 && errno == ESRCH;
}

void forget_stored(int64_t version)
{
    char folder[PATH_ROOM], path[PATH_ROOM + 300];
    DIR *listing = own_folder(folder) ? opendir(folder) : NULL;
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        int rank;
        long old;
        bool is_old =
            read_name(entry->d_name, &rank, &old) && old < version && find_copy(rank, version);
        if (is_old || is_left(entry->d_name)) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            unlink(path);
        }
    }
    if (listing)
        closedir(listing);
}

static bool read_head(FILE *file, struct head *head)
{
    return file && fread(head, sizeof *head, 1, file) == 1 &&
           memcmp(head->magic, MAGIC, sizeof head->magic) == 0;
}

static bool is_of_own_job(const struct head *head)
{
    return own_job() == 0 || head->job == own_job();
}

/* Reads a copy of this job, of a pass or (-1) of any. */
static void read_copy(const char *path, int64_t of_pass)
{
    struct head head;
    FILE *file = fopen(path, "rb");
    bool good = read_head(file, &head);
    if (good && (!is_of_own_job(&head) || (of_pass >= 0 && head.pass != of_pass))) {
        fclose(file);
        return;
    }
    struct copy *copy = good ? new_copy((int)head.rank, head.version, head.bytes) : NULL;
    good = copy && fread(copy->data, 1, copy->bytes, file) == copy->bytes;
    if (good) {
        seal_copy(copy);
        copy->pass = head.pass;
    }
    good = good && copy->checksum == head.checksum;
    if (copy && !good)
        drop_copy(copy);
    if (!good)
        say("%s: damaged, or there is no memory for it; left out", path);
    if (file)
        fclose(file);
}

bool load_stored_copy(int rank, int64_t version, int64_t of_pass)
{
    char path[PATH_ROOM + 300];
    const char *store = getenv("RUNFLAT_STORE");
    DIR *listing = has_store() ? opendir(store) : NULL;
    bool found = false;
    for (struct dirent *entry; listing && !found && (entry = readdir(listing));) {
        int length = snprintf(path, sizeof path, "%s/%s/rank-%d.%020ld", store, entry->d_name, rank,
                              (long)version);
        if (entry->d_name[0] == '.' || length >= (int)sizeof path || access(path, R_OK) != 0)
            continue;
        read_copy(path, of_pass);
        found = find_copy(rank, version);
    }
    if (listing)
        closedir(listing);
    return found;
}

static int is_copy(const struct dirent *entry)
{
    int rank;
    long version;
    return read_name(entry->d_name, &rank, &version);
}

static int is_part(const struct dirent *entry)
{
    return is_left(entry->d_name);
}

/* Whether a file is one that a job goes on from that begins again. */
static bool is_gone_on_from(const char *path)
{
    struct head head;
    FILE *file = fopen(path, "rb");
    bool is = read_head(file, &head) && is_of_own_job(&head);
    if (file)
        fclose(file);
    return is;
}

void clear_store(bool goes_on)
{
    char folder[PATH_ROOM], path[PATH_ROOM + 300], aside[PATH_ROOM + 320];
    struct dirent **entries = NULL, **parts = NULL;
    bool is_there = own_folder(folder);
    int others = 0, count = is_there ? scandir(folder, &entries, is_copy, alphasort) : 0;
    for (int at = 0; at < count; at++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[at]->d_name);
        snprintf(aside, sizeof aside, "%s.before", path);
        if (!goes_on || !is_gone_on_from(path))
            others += rename(path, aside) == 0;
        free(entries[at]);
    }
    free(entries);
    if (others > 0)
        say("%d checkpoints of an earlier job in %s are set aside (.before): to go on from such, "
            "start with `runflat mpi run --resume` (RUNFLAT_RESTART=1)",
            others, folder);
    count = is_there ? scandir(folder, &parts, is_part, alphasort) : 0;
    for (int at = 0; at < count; at++) {
        snprintf(path, sizeof path, "%s/%s", folder, parts[at]->d_name);
        unlink(path);
        free(parts[at]);
    }
    free(parts);
}

void load_stored(int turn, int turns)
{
    char folder[PATH_ROOM], path[PATH_ROOM + 300];
    struct dirent **entries = NULL;
    int count = own_folder(folder) ? scandir(folder, &entries, is_copy, alphasort) : 0;
    for (int at = 0; at < count; at++) {
        if (at % turns == turn) {
            snprintf(path, sizeof path, "%s/%s", folder, entries[at]->d_name);
            read_copy(path, -1);
        }
        free(entries[at]);
    }
    free(entries);
}
