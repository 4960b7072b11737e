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
    int status;
    rtl_arguments_begin(&a, RTL_COMMAND_HELP, false, argc, argv);
    while (rtl_arguments_next(&a) >= 0)
        ;
    if (rtl_arguments_done(&a, &status))
        return status;
    const char *name = a.first < argc ? argv[a.first] : "";
    bool all = !strcmp(name, "all");
    enum rtl_command command = *name ? rtl_command_find(name) : RTL_COMMAND_NONE;
    if (argc - a.first > 1 || (*name && !all && command == RTL_COMMAND_NONE)) {
        char *meant = argc - a.first > 1 ? NULL : rtl_arguments_no_command(name);
        if (meant)
            rtl_complain("%s", meant);
        else if (argc - a.first > 1)
            rtl_complain("help needs the name of one command, not also %s", argv[a.first + 1]);
        else
            rtl_complain("no command '%s'; 'rtl-top help' lists them", name);
        free(meant);
        return RTL_READER_USAGE;
    }
    char *text = *name ? rtl_command_help(command) : rtl_command_card();
    if (!text) {
        rtl_complain("out of memory");
        return RTL_READER_USAGE;
    }
    fputs(text, stdout);
    free(text);
    return rtl_stdout_written() ? 0 : RTL_READER_USAGE;
}
