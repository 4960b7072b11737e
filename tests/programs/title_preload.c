/*
 * title_preload.c - a library to preload that writes TITLE over the program's arguments and environment, as
 * setproctitle does. Then /proc/PID/cmdline has the title, and /proc/PID/environ has no variables. The program keeps
 * its variables and arguments.
 */
#include <stdlib.h>
#include <string.h>

extern char **environ;

__attribute__((constructor)) static void write_title(int argc, char **argv)
{
    const char *title = getenv("TITLE");
    int count = 0;
    if (!title || !(title = strdup(title)))
        return;
    while (environ[count])
        count++;
    char **copy = calloc((size_t)count + 1, sizeof *copy), *end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
    for (int i = 0; copy && i < count; i++) {
        if (environ[i] == end)
            end += strlen(environ[i]) + 1;
        copy[i] = strdup(environ[i]);
    }
    size_t room = (size_t)(end - argv[0]);
    if (!copy || strlen(title) >= room)
        return;
    environ = copy;
    for (int i = 1; i < argc; i++)
        argv[i] = strdup(argv[i]);
    memset(argv[0], 0, room);
    strcpy(argv[0], title);
}
