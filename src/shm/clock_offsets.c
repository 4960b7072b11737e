/* Reads the offsets of clocks from /proc and from the system. See clock_offsets.h. */
#include "shm/clock_offsets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "shm/proc_file.h"

enum { NAME = 64, LOOKS = 5 };

/* Read a namespace's name, as "time:[4026531834]"; "" and errno on failure. */
static const char *read_name(pid_t pid, const char *file, char name[NAME])
{
    char path[RTL_PROC_PATH_MAX];
    ssize_t n = readlink(rtl_proc_path(path, pid, "ns/%s", file), name, NAME - 1);
    name[n > 0 ? n : 0] = '\0';
    return name;
}

/* Find "monotonic SECONDS NS". */
static bool parse_clock(const char *text, const char *clock, int64_t *offset)
{
    long long seconds, ns;
    const char *at = strstr(text, clock);
    if (!at || sscanf(at + strlen(clock), " %12lld %10lld", &seconds, &ns) != 2 || seconds >> 32 > 0 ||
        seconds >> 32 < -1 || ns < 0 || ns >= 1000000000)
        return false;
    *offset = (int64_t)seconds * 1000000000 + ns;
    return true;
}

bool rtl_clock_offsets_parse(const char *text, struct rtl_clock_offsets *offsets)
{
    return parse_clock(text, "monotonic", &offsets->mono_ns) && parse_clock(text, "boottime", &offsets->boot_ns);
}

/* timens_offsets is of time_for_children, which differs from the process's own namespace after unshare without fork. */
static bool read_offsets(pid_t pid, const char *namespace, struct rtl_clock_offsets *offsets)
{
    char children[NAME], text[256];
    return !strcmp(namespace, read_name(pid, "time_for_children", children)) &&
           rtl_process_file(pid, "timens_offsets", text, sizeof text) > 0 && rtl_clock_offsets_parse(text, offsets);
}

bool rtl_clocks_read(pid_t pid, struct rtl_clocks *clocks)
{
    char own[NAME], its[NAME];
    *clocks = (struct rtl_clocks){.own = {0, 0}};
    if (!*read_name(0, "time", own) && errno == ENOENT)
        return true; /* no time namespaces: Linux before 5.6 */
    bool known = *own && read_offsets(0, own, &clocks->own);
    bool its_known = *read_name(pid, "time", its) && read_offsets(pid, its, &clocks->its);
    if (*its && !strcmp(own, its)) { /* one namespace: no difference, even if the offsets are unknown */
        clocks->own = its_known ? clocks->its : clocks->own;
        clocks->its = clocks->own;
        return true;
    }
    clocks->ahead_ns = clocks->its.mono_ns - clocks->own.mono_ns;
    return known && its_known;
}

int64_t rtl_boot_offset_between(int64_t least, int64_t most, int64_t before)
{
    if (least <= 0 && most >= 0)
        return 0;
    return least <= before && before <= most ? before : least + (most - least) / 2;
}

int64_t rtl_boot_offset(const struct rtl_clock_offsets *own, int64_t before)
{
    int64_t least = INT64_MIN, most = INT64_MAX;
    for (int i = 0; i < LOOKS; i++) {
        uint64_t first = rtl_mono_ns(), boot = rtl_clock_ns(CLOCK_BOOTTIME), last = rtl_mono_ns();
        int64_t low = (int64_t)(boot - last) - (own->boot_ns - own->mono_ns), high = low + (int64_t)(last - first);
        bool slept = low > most || high < least; /* suspended between two readings */
        least = slept || low > least ? low : least;
        most = slept || high < most ? high : most;
    }
    return rtl_boot_offset_between(least, most, before);
}
