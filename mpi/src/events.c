/* What happened when, as lines of JSON, a file a process. */
#include "state.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int file = -1;

double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int event_file(void)
{
    static bool looked;
    const char *folder = getenv("RUNFLAT_EVENTS");
    if (!looked && folder && rf.size > 0) {
        looked = true;
        char path[4096];
        snprintf(path, sizeof path, "%s/rank-%d.jsonl", folder, rf.rank);
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (file < 0)
            say("cannot write events to %s (RUNFLAT_EVENTS)", path);
    }
    return file;
}

/* One write: lines of threads do not mix, and none is lost when the process is killed next. */
static void write_line(const char *line, int length)
{
    if (write(file, line, length) != length)
        file = -1;
}

/* What every line begins with. No number of C's own, which may have a comma in the program's locale. */
static int begin_line(char *line, size_t room, const char *event)
{
    long long us = (long long)(1e6 * wall_s());
    return snprintf(line, room, "{\"t\": %lld.%06lld, \"rank\": %d, \"event\": \"%s\"",
                    us / 1000000, us % 1000000, rf.rank, event);
}

static void note(const char *event, double ms, const char *field, long value)
{
    if (event_file() < 0)
        return;
    char line[256];
    int length = begin_line(line, sizeof line, event);
    long us = (long)(1e3 * ms + 0.5);
    if (ms >= 0)
        length += snprintf(line + length, sizeof line - length, ", \"ms\": %ld.%03ld", us / 1000,
                           us % 1000);
    if (field)
        length += snprintf(line + length, sizeof line - length, ", \"%s\": %ld", field, value);
    length += snprintf(line + length, sizeof line - length, "}\n");
    write_line(line, length);
}

void note_start(void)
{
    char own[256] = "", line[512];
    const char *host = getenv("PMIX_HOSTNAME");
    gethostname(own, sizeof own - 1);
    host = host ? host : own;
    /* No name of a host has what would need escaping. */
    if (strlen(host) >= sizeof own || strpbrk(host, "\"\\"))
        host = "";
    if (event_file() < 0)
        return;
    int length = begin_line(line, sizeof line, "started");
    length += snprintf(line + length, sizeof line - length, ", \"host\": \"%s\"}\n", host);
    write_line(line, length);
}

void note_event(const char *event, double ms)
{
    note(event, ms, NULL, 0);
}

void note_event_of(const char *event, double ms, const char *field, long value)
{
    note(event, ms, field, value);
}

void say(const char *format, ...)
{
    char text[1024];
    int length = rf.size > 0 ? snprintf(text, sizeof text, "runflat: [rank %d] ", rf.rank)
                             : snprintf(text, sizeof text, "runflat: ");
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(text + length, sizeof text - length - 1, format, arguments);
    va_end(arguments);
    length = more < (int)sizeof text - length - 1 ? length + more : (int)sizeof text - 2;
    text[length++] = '\n';
    if (write(STDERR_FILENO, text, length) < 0)
        return;
}
