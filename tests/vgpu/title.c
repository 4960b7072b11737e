/*
 * title.c - the process title of a program of another release.
 *
 * Its loader starts the program, so process lists would show "ld-linux-x86-64.so.2 --library-path ...". This file sets
 * the command line and name that the program would have if the kernel started it. Only with VGPU_TITLE: a program that
 * restarts itself from its command line needs the loader's.
 */
#include "vgpu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The kernel's bounds of the command line: two numbers of /proc/self/stat. */
static bool command_line(char **start, char **end)
{
    enum { STATE = 3, ARG_START = 48, ARG_END };
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    char *p = strrchr(text, ')'); /* the name may contain any character */
    uintptr_t found[2] = {0, 0};
    for (int field = STATE - 1; p && field <= ARG_END; field++) {
        if (field >= ARG_START)
            found[field - ARG_START] = strtoull(p, NULL, 10);
        p = strchr(p, ' ');
        p = p ? p + 1 : NULL;
    }
    *start = (char *)found[0];
    *end = (char *)found[1];
    return found[0] && found[1] > found[0];
}

void vg_show_program(int argc, char **argv)
{
    static const char loader[] = "/ld-linux-x86-64.so.2";
    char exe[4096], *start, *end;
    if (!getenv("VGPU_TITLE"))
        return;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe);
    if (n < (ssize_t)sizeof loader || memcmp(exe + n - (sizeof loader - 1), loader, sizeof loader - 1) != 0)
        return;
    if (argc < 1 || !command_line(&start, &end) || argv[0] <= start || argv[0] >= end)
        return;
    const char *slash = strrchr(argv[0], '/');
    prctl(PR_SET_NAME, slash ? slash + 1 : argv[0]);
    /* Move the program's arguments to where the loader's were; pointers to them stay valid. */
    size_t gap = (size_t)(argv[0] - start), len = (size_t)(end - argv[0]);
    char *own = malloc(len);
    if (!own)
        return;
    memcpy(own, argv[0], len);
    for (int i = 0; i < argc; i++)
        if (argv[i] >= start + gap && argv[i] < end)
            argv[i] = own + (argv[i] - (start + gap));
    memmove(start, start + gap, len);
    memset(start + len, 0, gap);
}
