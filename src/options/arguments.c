/* Parses command lines. See arguments.h. */
#include "options/arguments.h"
#include "base/version.h"
#include "options/complain.h"
#include "shm/segment.h"
#include "shm/segment_reader.h"
#include "text/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONG_ONLY = 0x1000, /* + the option's number: getopt's value for an option without a letter */
    SHARED = 0x100,     /* + RTL_OPTION_x (options.h); lower numbers are the command's own options */
};

static void begin_arguments(struct rtl_arguments *a, enum rtl_command command, bool in_order, int argc, char **argv)
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
static void explain_unknown(struct rtl_arguments *a)
{
    const char *word = a->argv[optind - 1];
    const struct rtl_option_info *o;
    char help[80];
    bool known = optopt >= LONG_ONLY;
    size_t length;
    for (int i = 0; !known && optopt && (o = rtl_command_option(a->command, i)); i++)
        known = o->letter == optopt;
    if (known) {
        rtl_options_wrong(&a->wrong, "%s: that option takes no argument", word);
        return;
    }
    if (optopt) {
        rtl_options_wrong(&a->wrong, "no option -%c; %s", optopt, make_help_hint(a, help));
        return;
    }
    const char *hint = find_nearest(a, word + strspn(word, "-"));
    length = strcspn(word + 2, "=");
    int like = 0;
    for (int i = 0; (o = rtl_command_option(a->command, i)); i++)
        like += length && !strncmp(o->name, word + 2, length);
    if (*hint && like <= 1)
        rtl_options_wrong(&a->wrong, "no option %s; did you mean --%s? %s", word, hint, make_help_hint(a, help));
    else
        rtl_options_wrong(&a->wrong, "no option %s%s; %s", word, like > 1 ? ": several options begin with it" : "",
                          make_help_hint(a, help));
}

/* Returns the next option. Returns -1 after the last option, with --help, and after an error. */
static int next_argument(struct rtl_arguments *a)
{
    const struct rtl_command_info *c = &rtl_commands[a->command];
    const struct rtl_option_info *o;
    char help[80];
    int number = 0, got = getopt_long(a->argc, a->argv, a->letters, a->longs, NULL);
    if (got == ':') {
        rtl_options_wrong(&a->wrong, "%s needs an argument; %s", a->argv[optind - 1], make_help_hint(a, help));
        return -1;
    }
    if (got == '?') {
        explain_unknown(a);
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
        bool all = optind < a->argc && !strcmp(a->argv[optind], "all");
        a->help = rtl_command_help(a->command, all);
        if (!a->help)
            rtl_options_wrong(&a->wrong, "out of memory");
        return -1;
    }
    return SHARED + (int)shared;
}

/* Prints the help or the error, and frees both. Returns true with the exit status, false if there is neither. */
static bool finish_arguments(struct rtl_arguments *a, int *status)
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

/* Sets the option of options.h with this name. */
static void set_shared(struct rtl_arguments *a, const char *name, struct rtl_options *options)
{
    int option = 0;
    char *text;
    while (strcmp(rtl_options[option].name, name) != 0)
        option++;
    enum rtl_parsed parsed = rtl_options_set(options, (enum rtl_option)option, a->value, &text);
    if (parsed == RTL_PARSED_WRONG)
        a->wrong = text;
    else if (parsed == RTL_PARSED_DONE)
        a->help = text;
}

/* Stores the value of a command's own option. False if it has no place. */
static bool store_value(struct rtl_arguments *a, const struct rtl_option_info *o, const struct rtl_own_value *v)
{
    uint64_t pid = 0;
    const char *needs = v->pid ? "a pid" : v->needs;
    bool right = true;
    char name[40], most[24] = "";
    if (o->letter)
        snprintf(name, sizeof name, "-%c", o->letter);
    else
        snprintf(name, sizeof name, "--%s", o->name);
    if (v->add) {
        const char *wrong;
        if (!v->add(v->to, a->value, &wrong))
            rtl_options_wrong(&a->wrong, "%s: '%s' %s", name, a->value, wrong);
        return true;
    }
    if (v->flag)
        *v->flag = true;
    else if (v->choice)
        *v->choice = v->value;
    else if (v->pid)
        right = rtl_parse_number(a->value, 1, INT32_MAX, &pid);
    else if (v->number)
        right = rtl_parse_number(a->value, v->least, v->most, v->number);
    else if (v->text)
        right = !needs || *a->value;
    else
        return false;
    if (v->text)
        *v->text = a->value;
    if (v->pid)
        *v->pid = (pid_t)pid;
    if (right)
        return true;
    if (needs[strlen(needs) - 1] == ' ')
        snprintf(most, sizeof most, "%llu", (unsigned long long)v->most);
    rtl_options_wrong(&a->wrong, "%s needs %s%s, not '%s'", name, needs, most, a->value);
    return true;
}

int rtl_arguments_read(struct rtl_arguments *a, enum rtl_command command, bool in_order,
                       const struct rtl_own_value *own, struct rtl_options *options, int argc, char **argv)
{
    int status;
    begin_arguments(a, command, in_order, argc, argv);
    for (int o; !a->wrong && !a->help && (o = next_argument(a)) >= 0;) {
        bool shared = o >= SHARED;
        const struct rtl_option_info *info = shared ? &rtl_options[o - SHARED] : rtl_command_option(command, o);
        if (shared || !own || !store_value(a, info, &own[o]))
            set_shared(a, info->name, options);
    }
    return finish_arguments(a, &status) ? status : RTL_GO_ON;
}

char *rtl_arguments_no_command(const char *word)
{
    char *text = NULL;
    const char *best = NULL;
    unsigned best_distance = 0;
    if (rtl_command_find(word) != RTL_COMMAND_NONE)
        rtl_options_wrong(&text, "the command comes first: rtl-top %s ...; 'rtl-top %s --help' explains it", word,
                          word);
    for (int i = 0; i < RTL_COMMAND_NONE && !text; i++) {
        unsigned distance = rtl_word_meant(word, rtl_commands[i].name);
        if (distance && (!best || distance < best_distance)) {
            best = rtl_commands[i].name;
            best_distance = distance;
        }
    }
    if (best)
        rtl_options_wrong(&text, "no command '%s'; did you mean %s? 'rtl-top --help' lists them", word, best);
    return text;
}

/* --- the screen and its jobs --- */

#define WRONG(text, ...) rtl_options_wrong(text, __VA_ARGS__)

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
    begin_arguments(&a, command, false, argc - job, argv + job);
    for (int option; (option = next_argument(&a)) >= 0;) {
        if (option == SHARED + RTL_OPTION_VERSION) {
            options->asked |= 1ull << RTL_OPTION_VERSION;
            return make_version(text);
        }
        result = rtl_options_set(options, (enum rtl_option)(option - SHARED), a.value, text);
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
