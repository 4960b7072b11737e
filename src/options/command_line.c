/* Words into options. See command_line.h. */
#include "options/command_line.h"
#include "base/version.h"
#include "options/arguments.h"
#include "shm/segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRONG(text, ...) (*(text) = asprintf(text, __VA_ARGS__) < 0 ? NULL : *(text), RTL_PARSED_WRONG)

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* What somebody wants to know who is told of a fault. main adds the libraries. */
static enum rtl_parsed version(char **text)
{
    if (asprintf(text,
                 "rtl-top " RTL_VERSION " (reads segments of version %u.x, %u.%u its own)\n"
                 "built with " COMPILER "\n"
                 "tested with ROCr " RTL_RELEASES_TESTED ", on a software GPU\n",
                 RTL_SEGMENT_MAJOR, RTL_SEGMENT_MAJOR, RTL_SEGMENT_MINOR) < 0)
        *text = NULL;
    return RTL_PARSED_DONE;
}

/* The one word of a job that is no option. */
static enum rtl_parsed take_argument(struct rtl_arguments *a, struct rtl_options *options, char **text)
{
    const struct rtl_command_info *job = &rtl_commands[a->command];
    int words = a->argc - a->first;
    if (words != 1)
        return WRONG(text, "%s wants %s %s%s%s; 'rtl-top %s --help' shows what it takes", job->name,
                     job->sets == RTL_OPTION_MODE ? "one" : "the name of one", job->arguments,
                     words ? ", not also " : "", words ? a->argv[a->first + 1] : "", job->name);
    return rtl_options_set(options, job->sets, a->argv[a->first], text);
}

/* What goes without saying for a job, and not for the option of the same kind, which is for the screen. */
static enum rtl_parsed finish_job(enum rtl_command command, struct rtl_options *options, char **text)
{
    if (command == RTL_COMMAND_RECORD) {
        if (options->output ==
            RTL_OUTPUT_SCREEN) { /* a recorder alone: nothing is shown, nothing but the file written */
            if (options->file)
                return WRONG(text, "-o goes with -b, --json or --csv");
            options->output = RTL_OUTPUT_TEXT;
            options->file = "/dev/null";
        }
    }
    return RTL_PARSED_RUN;
}

enum rtl_parsed rtl_command_line_parse(int argc, char **argv, struct rtl_options *options, char **text)
{
    struct rtl_arguments a;
    enum rtl_command command = argc > 1 ? rtl_command_find(argv[1]) : RTL_COMMAND_NONE;
    if (rtl_commands[command].sets == RTL_OPTION_COUNT)
        command = RTL_COMMAND_NONE; /* those with a function of their own read their words themselves */
    bool job = command != RTL_COMMAND_NONE;
    enum rtl_parsed result = RTL_PARSED_RUN;
    *text = NULL;
    rtl_options_default(options);
    rtl_arguments_begin(&a, command, false, argc - job, argv + job);
    for (int option; (option = rtl_arguments_next(&a)) >= 0;) {
        if (option == RTL_SHARED + RTL_OPTION_VERSION) {
            options->asked |= 1ull << RTL_OPTION_VERSION;
            return version(text);
        }
        result = rtl_options_set(options, (enum rtl_option)(option - RTL_SHARED), a.value, text);
        if (result != RTL_PARSED_RUN)
            return result;
    }
    *text = a.help ? a.help : a.wrong;
    if (*text)
        return a.help ? RTL_PARSED_DONE : RTL_PARSED_WRONG;
    for (int i = a.first; !job && i < argc && result == RTL_PARSED_RUN; i++) { /* as after -p */
        if ((*text = rtl_arguments_no_command(argv[i])))
            return RTL_PARSED_WRONG;
        result = rtl_options_set(options, RTL_OPTION_PID, argv[i], text);
    }
    if (job)
        result = take_argument(&a, options, text);
    if (result == RTL_PARSED_RUN && job)
        result = finish_job(command, options, text);
    return result == RTL_PARSED_RUN ? rtl_options_check(options, text) : result;
}
