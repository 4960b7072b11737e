/* rtl-top help [COMMAND|all]: prints the same as --help. */
#include "options/arguments.h"
#include "options/complain.h"
#include "shm/segment_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rtl_help_command(int argc, char **argv)
{
    struct rtl_arguments a;
    int status = rtl_arguments_read(&a, RTL_COMMAND_HELP, false, NULL, NULL, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    const char *name = a.first < argc ? argv[a.first] : "";
    bool all = !strcmp(name, "all");
    enum rtl_command command = *name ? rtl_command_find(name) : RTL_COMMAND_NONE;
    if (argc - a.first > 1)
        return RTL_WRONG("help needs the name of one command, not also %s", argv[a.first + 1]);
    if (*name && !all && command == RTL_COMMAND_NONE) {
        char *meant = rtl_arguments_no_command(name);
        if (meant)
            rtl_complain("%s", meant);
        else
            rtl_complain("no command '%s'; 'rtl-top help' lists them", name);
        free(meant);
        return RTL_READER_USAGE;
    }
    char *text = rtl_command_help(command, all);
    if (!text)
        return RTL_WRONG("out of memory");
    fputs(text, stdout);
    free(text);
    return rtl_stdout_written() ? 0 : RTL_READER_USAGE;
}
