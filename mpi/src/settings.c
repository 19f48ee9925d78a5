#include "settings.h"

#include "state.h"

#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

double decimal_of(const char *text, char **end)
{
    static locale_t plain;
    if (!plain)
        plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain ? strtod_l(text, end, plain) : strtod(text, end);
}

double seconds_of(const char *variable, double otherwise)
{
    const char *given = getenv(variable);
    double seconds = given ? decimal_of(given, NULL) : 0;
    return seconds > 0 ? seconds : otherwise;
}

int count_of(const char *variable)
{
    const char *given = getenv(variable);
    char *end = NULL;
    long count = given ? strtol(given, &end, 10) : 0;
    return count > 0 && count <= INT_MAX && !*end ? (int)count : 0;
}

void check_settings(void)
{
    static const char *const counts[] = {"RUNFLAT_SPARES", "RUNFLAT_PARITY"};
    static const char *const times[] = {"RUNFLAT_STEP_LIMIT_S", "RUNFLAT_STOPPED_S",
                                        "RUNFLAT_MEET_S", "RUNFLAT_WATCH_MS"};
    const char *exhausted = getenv("RUNFLAT_ON_EXHAUSTED");
    for (size_t at = 0; at < sizeof times / sizeof *times; at++) {
        const char *given = getenv(times[at]);
        char *end = NULL;
        bool is_time = given && decimal_of(given, &end) > 0 && !*end;
        bool is_word = given && at == 3 && strcmp(given, "events") == 0;
        if (given && *given && !is_time && !is_word)
            say("%s=%s is no time; it is left out", times[at], given);
    }
    for (size_t at = 0; at < sizeof counts / sizeof *counts; at++) {
        const char *given = getenv(counts[at]);
        if (given && *given && strcmp(given, "0") != 0 && count_of(counts[at]) == 0)
            say("%s=%s is no number of processes; it is left out", counts[at], given);
    }
    if (exhausted && *exhausted && strcmp(exhausted, "shrink") != 0 &&
        strcmp(exhausted, "stop") != 0)
        say("RUNFLAT_ON_EXHAUSTED=%s is neither `shrink` nor `stop`; it is left out", exhausted);
}
