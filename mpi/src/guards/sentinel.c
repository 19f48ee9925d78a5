#include "guards/sentinel.h"

#include "guards/bounded.h"
#include "state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Words: the process, when it started, in how many looks it may be found stopped, the file for events, its rank. The fields of
 * /proc/PID/stat after the name in brackets: the first is the state, the 20th the start. It is nobody's child, so that the program does
 * not meet it where it waits for its own; its number is printed. */
static const char script[] =
    "( process=$1 started=$2 allowed=$3 events=$4 rank=$5 found=0\n"
    "while sleep 0.1 && read -r line < /proc/$process/stat; do\n"
    "  set -- ${line##*) }\n"
    "  [ \"${20}\" = \"$started\" ] || exit\n"
    "  if [ \"$1\" = T ]; then found=$((found + 1)); else found=0; fi\n"
    "  [ $found -ge $allowed ] || continue\n"
    "  [ -z \"$events\" ] || printf '{\"t\": %s, \"rank\": %d, \"event\": \"fenced\", "
    "\"of\": %d}\\n' $(date +%s.%N) $rank $rank >> \"$events\"\n"
    "  kill -9 $process\n"
    "  exit\n"
    "done ) > /dev/null & echo $!";

static pid_t sentinel;

/* Between vfork and exec: what this process has open must end with it, but for a pipe to print to. */
static void leave_files(int output)
{
    dup2(output, STDOUT_FILENO);
    if (syscall(SYS_close_range, 3u, ~0u, 0) != 0)
        for (int file = 3; file < 4096; file++)
            close(file);
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    open("/dev/null", O_RDONLY);
    open("/dev/null", O_WRONLY);
}

/* The number that is printed; 0: none. */
static pid_t read_number(int input)
{
    char text[24] = "";
    ssize_t length, all = 0;
    while (all < (ssize_t)sizeof text - 1 &&
           (length = read(input, text + all, sizeof text - 1 - (size_t)all)) > 0)
        all += length;
    return (pid_t)atoi(text);
}

void start_sentinel(uint64_t started, double allowed_s)
{
    char process[24], start[24], allowed[24], rank[24], events[4096] = "";
    const char *folder = getenv("RUNFLAT_EVENTS");
    snprintf(process, sizeof process, "%d", (int)getpid());
    snprintf(start, sizeof start, "%" PRIu64, started);
    snprintf(allowed, sizeof allowed, "%d", (int)(10 * allowed_s + 0.5));
    snprintf(rank, sizeof rank, "%d", rf.rank);
    if (folder)
        snprintf(events, sizeof events, "%s/rank-%d.jsonl", folder, rf.rank);
    char *words[] = {"sh", "-c", (char *)script, "sh", process, start, allowed, events, rank, NULL};
    char *environment[] = {"PATH=/usr/bin:/bin", NULL};
    /* Not fork: pages of this process would be copied when it writes to them. */
    int pipe_ends[2];
    pid_t child = pipe2(pipe_ends, O_CLOEXEC) == 0 ? vfork() : -1;
    if (child == 0) {
        leave_files(pipe_ends[1]);
        execve("/bin/sh", words, environment);
        end_at_once(127);
    }
    if (child > 0) {
        close(pipe_ends[1]);
        sentinel = read_number(pipe_ends[0]);
        close(pipe_ends[0]);
        waitpid(child, NULL, 0);
    }
    if (sentinel == 0)
        say("no process watches over this one, which is alone on its host: /bin/sh did not start");
}

void stop_sentinel(void)
{
    if (sentinel > 0)
        kill(sentinel, SIGKILL);
    sentinel = 0;
}
