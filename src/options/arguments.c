/* Parses command lines. See arguments.h. */
#include "options/arguments.h"
#include "base/version.h"
#include "options/complain.h"
#include "shm/segment.h"
#include "shm/segment_reader.h"
#include "text/nearest.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONG_ONLY = 0x1000 }; /* + the option's number: getopt's value for an option without a letter */

static char *make_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *make_line(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    return text ? text : strdup("out of memory");
}

void rtl_arguments_begin(struct rtl_arguments *a, enum rtl_command command, bool in_order, int argc, char **argv)
{
    const struct rtl_option_info *o;
    size_t used = 0;
    *a = (struct rtl_arguments){.argc = argc, .argv = argv, .command = command, .value = ""};
    if (in_order)
        a->letters[used++] = '+';
    a->letters[used++] = ':';
    for (int i = 0; i < RTL_ARGUMENTS_MAX && (o = rtl_command_option(command, i)); i++) {
        a->longs[i] = (struct option){.name = o->name,
                                      .has_arg = *o->argument ? required_argument : no_argument,
                                      .val = o->letter ? o->letter : LONG_ONLY + i};
        if (o->letter) {
            a->letters[used++] = (char)o->letter;
            if (*o->argument)
                a->letters[used++] = ':';
        }
    }
    optind = 0; /* resets getopt: tests parse more than once */
}

/* Writes a hint such as "'rtl-top diff --help' lists the options". */
static const char *make_help_hint(const struct rtl_arguments *a, char text[80])
{
    const char *name = rtl_commands[a->command].name;
    snprintf(text, 80, "'rtl-top %s%s--help%s' lists the options", name, *name ? " " : "", *name ? "" : " all");
    return text;
}

/* Returns the name of the option that the user probably meant, or "". */
static const char *find_nearest(const struct rtl_arguments *a, const char *word)
{
    const struct rtl_option_info *o;
    const char *best = "";
    unsigned best_distance = 0;
    char name[RTL_NEAREST_MAX + 2];
    size_t length = strcspn(word, "=");
    if (length >= sizeof name)
        return best;
    memcpy(name, word, length);
    name[length] = '\0';
    for (int i = 0; (o = rtl_command_option(a->command, i)); i++) {
        unsigned distance = rtl_word_meant(name, o->name);
        if (distance && (!*best || distance < best_distance)) {
            best = o->name;
            best_distance = distance;
        }
    }
    return best;
}

/* Explains getopt's '?': an unknown option, an argument that the option doesn't take, or an ambiguous abbreviation. */
static char *explain_unknown(const struct rtl_arguments *a)
{
    const char *word = a->argv[optind - 1];
    const struct rtl_option_info *o;
    char help[80];
    bool known = optopt >= LONG_ONLY;
    size_t length;
    for (int i = 0; !known && optopt && (o = rtl_command_option(a->command, i)); i++)
        known = o->letter == optopt;
    if (known)
        return make_line("%s: that option takes no argument", word);
    if (optopt)
        return make_line("no option -%c; %s", optopt, make_help_hint(a, help));
    const char *hint = find_nearest(a, word + strspn(word, "-"));
    length = strcspn(word + 2, "=");
    int like = 0;
    for (int i = 0; (o = rtl_command_option(a->command, i)); i++)
        like += length && !strncmp(o->name, word + 2, length);
    if (*hint && like <= 1)
        return make_line("no option %s; did you mean --%s? %s", word, hint, make_help_hint(a, help));
    return make_line("no option %s%s; %s", word, like > 1 ? ": several options begin with it" : "",
                     make_help_hint(a, help));
}

int rtl_arguments_next(struct rtl_arguments *a)
{
    const struct rtl_command_info *c = &rtl_commands[a->command];
    const struct rtl_option_info *o;
    char help[80];
    int number = 0, got = getopt_long(a->argc, a->argv, a->letters, a->longs, NULL);
    if (got == ':') {
        a->wrong = make_line("%s needs an argument; %s", a->argv[optind - 1], make_help_hint(a, help));
        return -1;
    }
    if (got == '?') {
        a->wrong = explain_unknown(a);
        return -1;
    }
    if (got == -1) {
        a->first = optind;
        return -1;
    }
    if (got >= LONG_ONLY)
        number = got - LONG_ONLY;
    else
        while ((o = rtl_command_option(a->command, number)) && o->letter != got)
            number++;
    a->value = optarg ? optarg : "";
    if (number < c->own_count)
        return number;
    enum rtl_option shared = c->shared[number - c->own_count];
    if (shared == RTL_OPTION_HELP) {
        bool all = a->command != RTL_COMMAND_NONE || (optind < a->argc && !strcmp(a->argv[optind], "all"));
        a->help = all ? rtl_command_help(a->command) : rtl_command_card();
        if (!a->help)
            a->wrong = make_line("out of memory");
        return -1;
    }
    return RTL_SHARED + (int)shared;
}

bool rtl_arguments_pid(const struct rtl_arguments *a, pid_t *pid)
{
    uint64_t number;
    if (!rtl_parse_number(a->value, 1, INT32_MAX, &number)) {
        rtl_complain("-p needs a pid, not '%s'", a->value);
        return false;
    }
    *pid = (pid_t)number;
    return true;
}

bool rtl_arguments_done(struct rtl_arguments *a, int *status)
{
    bool done = a->help || a->wrong;
    *status = a->wrong ? RTL_READER_USAGE : 0;
    if (a->wrong) {
        rtl_complain("%s", a->wrong);
    } else if (a->help) {
        fputs(a->help, stdout);
        if (!rtl_stdout_written())
            *status = RTL_READER_USAGE;
    }
    free(a->help);
    free(a->wrong);
    a->help = a->wrong = NULL;
    return done;
}

char *rtl_arguments_no_command(const char *word)
{
    const char *best = NULL;
    unsigned best_distance = 0;
    if (rtl_command_find(word) != RTL_COMMAND_NONE)
        return make_line("the command comes first: rtl-top %s ...; 'rtl-top %s --help' explains it", word, word);
    for (int i = 0; i < RTL_COMMAND_NONE; i++) {
        unsigned distance = rtl_word_meant(word, rtl_commands[i].name);
        if (distance && (!best || distance < best_distance)) {
            best = rtl_commands[i].name;
            best_distance = distance;
        }
    }
    if (best)
        return make_line("no command '%s'; did you mean %s? 'rtl-top --help' lists them", word, best);
    return NULL;
}

/* --- the screen and its jobs --- */

#define WRONG(text, ...) (*(text) = make_line(__VA_ARGS__), RTL_PARSED_WRONG)

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* Makes the output of --version, except for the versions of libraries, which main prints. */
static enum rtl_parsed make_version(char **text)
{
    if (asprintf(text,
                 "rtl-top " RTL_VERSION " (reads segments of version %u.x, %u.%u its own)\n"
                 "built with " COMPILER "\n"
                 "tested with ROCr " RTL_RELEASES_TESTED ", on a software GPU\n",
                 RTL_SEGMENT_MAJOR, RTL_SEGMENT_MAJOR, RTL_SEGMENT_MINOR) < 0)
        *text = NULL;
    return RTL_PARSED_DONE;
}

/* Sets the option that belongs to the job's one argument. */
static enum rtl_parsed set_job_argument(struct rtl_arguments *a, struct rtl_options *options, char **text)
{
    const struct rtl_command_info *job = &rtl_commands[a->command];
    int words = a->argc - a->first;
    if (words != 1)
        return WRONG(text, "%s needs %s %s%s%s; 'rtl-top %s --help' explains it", job->name,
                     job->sets == RTL_OPTION_MODE ? "one" : "the name of one", job->arguments,
                     words ? ", not also " : "", words ? a->argv[a->first + 1] : "", job->name);
    return rtl_options_set(options, job->sets, a->argv[a->first], text);
}

/* Without an output, "rtl-top record" prints nothing and only writes the recording; the option -w shows the screen. */
static enum rtl_parsed finish_job(enum rtl_command command, struct rtl_options *options, char **text)
{
    if (command == RTL_COMMAND_RECORD) {
        if (options->output == RTL_OUTPUT_SCREEN) {
            if (options->file)
                return WRONG(text, "-o needs -b, --json or --csv");
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
        command = RTL_COMMAND_NONE; /* a command with a function parses its own words */
    bool job = command != RTL_COMMAND_NONE;
    enum rtl_parsed result = RTL_PARSED_RUN;
    *text = NULL;
    rtl_options_default(options);
    rtl_arguments_begin(&a, command, false, argc - job, argv + job);
    for (int option; (option = rtl_arguments_next(&a)) >= 0;) {
        if (option == RTL_SHARED + RTL_OPTION_VERSION) {
            options->asked |= 1ull << RTL_OPTION_VERSION;
            return make_version(text);
        }
        result = rtl_options_set(options, (enum rtl_option)(option - RTL_SHARED), a.value, text);
        if (result != RTL_PARSED_RUN)
            return result;
    }
    *text = a.help ? a.help : a.wrong;
    if (*text)
        return a.help ? RTL_PARSED_DONE : RTL_PARSED_WRONG;
    for (int i = a.first; !job && i < argc && result == RTL_PARSED_RUN;
         i++) { /* words without an option mean the same as after -p */
        if ((*text = rtl_arguments_no_command(argv[i])))
            return RTL_PARSED_WRONG;
        result = rtl_options_set(options, RTL_OPTION_PID, argv[i], text);
    }
    if (job)
        result = set_job_argument(&a, options, text);
    if (result == RTL_PARSED_RUN && job)
        result = finish_job(command, options, text);
    return result == RTL_PARSED_RUN ? rtl_options_check(options, text) : result;
}
