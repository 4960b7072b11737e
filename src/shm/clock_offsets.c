/* Reads the clocks of time namespaces from /proc. See clock_offsets.h. */
#include "shm/clock_offsets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 64 };

/* /proc/PID/FILE, of this process with pid 0. */
static void path_of(pid_t pid, const char *file, char path[NAME])
{
    if (pid)
        snprintf(path, NAME, "/proc/%d/%s", (int)pid, file);
    else
        snprintf(path, NAME, "/proc/self/%s", file);
}

/* The name of a namespace ("time:[4026531834]"); "" and errno when it can't be read. */
static void read_namespace(pid_t pid, const char *file, char name[NAME])
{
    char path[NAME];
    path_of(pid, file, path);
    ssize_t n = readlink(path, name, NAME - 1);
    name[n > 0 ? n : 0] = '\0';
}

static bool read_file(pid_t pid, struct rtl_clock_offsets *offsets)
{
    char path[NAME], text[256];
    path_of(pid, "timens_offsets", path);
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    return rtl_clock_offsets_parse(text, offsets);
}

/* Finds "monotonic SECONDS NS". */
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

bool rtl_clock_offsets_read(pid_t pid, struct rtl_clock_offsets *offsets)
{
    char own[NAME], its[NAME], children[NAME];
    *offsets = (struct rtl_clock_offsets){0, 0};
    read_namespace(0, "ns/time", own);
    if (!*own && errno == ENOENT)
        return true; /* Linux before 5.6 has none */
    read_namespace(pid, "ns/time", its);
    read_namespace(pid, "ns/time_for_children", children);
    /* the file is about the namespace of children: not its own after an unshare without a fork */
    if (*its && !strcmp(its, children) && read_file(pid, offsets))
        return true;
    if (!*its || strcmp(its, own) != 0)
        return false;
    /* both have the same clocks, whichever they are */
    read_namespace(0, "ns/time_for_children", children);
    if (strcmp(own, children) != 0 || !read_file(0, offsets))
        *offsets = (struct rtl_clock_offsets){0, 0};
    return true;
}
