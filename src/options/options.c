/* Parses the values of options and checks their combination. See options.h. */
#include "options/options.h"
#include "model/labels.h"
#include "model/model.h"
#include "record/db.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define OPTION(sym, letter_, name_, argument_, meaning_) \
    [RTL_OPTION_##sym] = {.letter = letter_, .name = name_, .argument = argument_, .meaning = meaning_},
const struct rtl_option_info rtl_options[RTL_OPTION_COUNT] = {RTL_OPTIONS(OPTION)};
#undef OPTION

enum rtl_parsed rtl_options_wrong(char **text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (vasprintf(text, format, args) < 0)
        *text = strdup("out of memory");
    va_end(args);
    return RTL_PARSED_WRONG;
}

#define WRONG(text, ...) rtl_options_wrong(text, __VA_ARGS__)

static enum rtl_parsed sort_help(char **text)
{
    size_t size;
    FILE *out = open_memstream(text, &size);
    if (!out)
        return RTL_PARSED_DONE;
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        if (rtl_columns[i].order != RTL_ORDER_NO)
            fprintf(out, "%-8s %s\n", rtl_columns[i].key, rtl_columns[i].meaning);
    fclose(out);
    return RTL_PARSED_DONE;
}

bool rtl_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    if (!*text || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return !errno && *value >= least && *value <= most;
}

bool rtl_parse_percent(const char *text, double least, double most, double *share)
{
    char *end;
    size_t length = strspn(text, "0123456789.");
    double value = strtod(text, &end);
    if (!length || end != text + length || (*end && strcmp(end, "%") != 0) || value < least || value > most)
        return false;
    *share = value / 100;
    return true;
}

/* Finds the word that is not a number in a list of numbers such as "4711,abc". Returns its length, 0 if none. */
static size_t find_no_number(const char *list, const char **word)
{
    bool numbers = false;
    size_t length, found = 0;
    for (const char *at = list;; at += length + 1) {
        length = strcspn(at, ",");
        if (length && strspn(at, "0123456789") >= length)
            numbers = true;
        else if (!found) {
            *word = at;
            found = length;
        }
        if (!at[length])
            return numbers ? found : 0;
    }
}

/* Parses "4711", "4711,4712" or the name of a command. */
static enum rtl_parsed set_pid(struct rtl_options *o, const char *arg, char **text)
{
    char one[16];
    uint64_t value;
    if (!*arg || *arg == '-' || (strlen(arg) >= RTL_FILTER_MAX && strspn(arg, "0123456789,") != strlen(arg)))
        return WRONG(text, "-p needs a pid, several pids such as 4711,4712, or a command's name, not '%s'", arg);
    const char *word = "";
    size_t wrong = find_no_number(arg, &word);
    if (wrong)
        return WRONG(text, "-p '%s': '%.*s' is not a pid; give pids such as 4711,4712, or one name", arg, (int)wrong,
                     word);
    if (strspn(arg, "0123456789,") != strlen(arg)) {
        if (o->process && strcmp(o->process, arg) != 0)
            return WRONG(text, "-p takes one name, not '%s' and '%s'", o->process, arg);
        o->process = arg;
        return RTL_PARSED_RUN;
    }
    for (const char *at = arg;; at++) {
        size_t length = strcspn(at, ",");
        snprintf(one, sizeof one, "%.*s", (int)length, at);
        if (length >= sizeof one || !rtl_parse_number(one, 1, 0x7fffffff, &value))
            return WRONG(text, "-p needs pids such as 4711 or 4711,4712, not '%s'", arg);
        bool twice = false;
        for (uint32_t i = 0; i < o->pid_count; i++)
            twice |= o->pids[i] == (pid_t)value;
        if (!twice && o->pid_count == RTL_PIDS_MAX)
            return WRONG(text, "-p takes at most %d processes; --all takes more", RTL_PIDS_MAX);
        if (!twice)
            o->pids[o->pid_count++] = (pid_t)value;
        at += length;
        if (!*at)
            break;
    }
    o->pid = o->pids[0];
    return RTL_PARSED_RUN;
}

static enum rtl_parsed set_output(struct rtl_options *o, enum rtl_output output, char **text)
{
    if (o->output != RTL_OUTPUT_SCREEN && o->output != output)
        return WRONG(text, "-b, --json and --csv exclude one another");
    o->output = output;
    return RTL_PARSED_RUN;
}

/* Sets a member that needs no check. False for any other option. */
static bool set_plain_member(struct rtl_options *o, enum rtl_option option, const char *arg)
{
    bool *const flags[RTL_OPTION_COUNT] = {
        [RTL_OPTION_ALL] = &o->all,           [RTL_OPTION_NO_CHILDREN] = &o->no_children,
        [RTL_OPTION_FORCE] = &o->force,       [RTL_OPTION_NO_MOUSE] = &o->no_mouse,
        [RTL_OPTION_NO_COLOR] = &o->no_color, [RTL_OPTION_ASCII] = &o->ascii,
    };
    const char **const texts[RTL_OPTION_COUNT] = {
        [RTL_OPTION_OUTPUT] = &o->file,       [RTL_OPTION_WRITE] = &o->write, [RTL_OPTION_REPLAY] = &o->replay,
        [RTL_OPTION_SNAPSHOT] = &o->snapshot, [RTL_OPTION_TRACE] = &o->trace, [RTL_OPTION_CAPTION] = &o->caption,
    };
    if (flags[option])
        *flags[option] = true;
    if (texts[option])
        *texts[option] = arg;
    return flags[option] || texts[option];
}

enum rtl_parsed rtl_options_set(struct rtl_options *o, enum rtl_option option, const char *arg, char **text)
{
    *text = NULL;
    if (!*arg && !strcmp(rtl_options[option].argument, "FILE"))
        return WRONG(text, "--%s needs the name of a file, not ''", rtl_options[option].name);
    o->asked |= 1ull << option;
    if (set_plain_member(o, option, arg))
        return RTL_PARSED_RUN;
    switch (option) {
    case RTL_OPTION_PID:
        return set_pid(o, arg, text);
    case RTL_OPTION_OBSERVE:
        o->observe = 1;
        break;
    case RTL_OPTION_NO_OBSERVE:
        o->observe = -1;
        break;
    case RTL_OPTION_OBSERVE_CPU:
        if (!rtl_parse_percent(arg, 0.1, 100, &o->observe_cpu))
            return WRONG(text, "--observe-cpu needs a share of a core from 0.1%% to 100%%, such as 10%%, not '%s'",
                         arg);
        break;
    case RTL_OPTION_DELAY:
        if (!rtl_parse_interval(arg, &o->delay_ns))
            return WRONG(text, "-d needs seconds from 0.05 to 3600, such as 0.5, 2 or 500ms, not '%s'", arg);
        break;
    case RTL_OPTION_FRAMES:
        if (!rtl_parse_number(arg, 1, INT64_MAX, &o->frames))
            return WRONG(text, "-n needs a number of frames from 1, not '%s'", arg);
        break;
    case RTL_OPTION_BATCH:
        return set_output(o, RTL_OUTPUT_TEXT, text);
    case RTL_OPTION_JSON:
        return set_output(o, RTL_OUTPUT_JSON, text);
    case RTL_OPTION_CSV:
        return set_output(o, RTL_OUTPUT_CSV, text);
    case RTL_OPTION_RECORDING: {
        uint64_t value;
        if (!rtl_parse_number(arg, 1, INT64_MAX, &value))
            return WRONG(text, "--recording needs the number of a recording, not '%s'", arg);
        o->recording = (int64_t)value;
        break;
    }
    case RTL_OPTION_SORT:
        if (!strcmp(arg, "help"))
            return sort_help(text);
        if (!rtl_column_parse(arg, &o->sort, &o->reverse))
            return WRONG(text, "-s does not know the key '%s'; 'rtl-top -s help' lists them", arg);
        break;
    case RTL_OPTION_FILTER:
        if (strlen(arg) >= RTL_FILTER_MAX)
            return WRONG(text, "-F takes at most %d bytes", RTL_FILTER_MAX - 1);
        o->filter = arg;
        break;
    case RTL_OPTION_WINDOW:
        if (!strcmp(arg, "all"))
            o->window_ns = RTL_WINDOW_ALL;
        else if (!rtl_parse_interval(arg, &o->window_ns))
            return WRONG(text, "--window needs seconds from 0.05 to 3600, or 'all', not '%s'", arg);
        break;
    case RTL_OPTION_STEP:
        if (!*arg)
            return WRONG(text, "--step needs the name of a kernel or roctx range, a part of it, or auto, not ''");
        o->step = strcmp(arg, "auto") ? arg : NULL;
        break;
    case RTL_OPTION_NAMES:
        if (!rtl_name_form_parse(arg, &o->names))
            return WRONG(text, "--names needs short, template, full or mangled, not '%s'", arg);
        break;
    case RTL_OPTION_UNITS:
        if (!rtl_unit_parse(arg, &o->units))
            return WRONG(text, "--units needs auto, ns, us, ms or s, not '%s'", arg);
        break;
    case RTL_OPTION_MODE:
        o->mode = rtl_mode_parse(arg);
        if (o->mode < 0)
#define NAME(sym, num, name, text) " " name
            return WRONG(text, "--mode needs one of" RTL_MODES(NAME) ", not '%s'%s", arg,
                         strcmp(arg, RTL_MODE_HIP) ? "" : "; start the process with it: rtl-top run --mode hip");
#undef NAME
        break;
    case RTL_OPTION_THEME:
        if (!rtl_theme_parse(arg, &o->theme))
#define NAME(sym, name, text) " " name
            return WRONG(text, "--theme needs one of" RTL_THEMES(NAME) ", not '%s'", arg);
#undef NAME
        break;
    default:
        break;
    }
    return RTL_PARSED_RUN;
}

enum rtl_parsed rtl_options_check(struct rtl_options *o, char **text)
{
    bool named = rtl_options_name_process(o), stream = o->output != RTL_OUTPUT_SCREEN;
    bool has_window = rtl_option_asked(o, RTL_OPTION_WINDOW);
    const struct {
        bool wrong;
        const char *message;
    } rules[] = {
        {o->file && !stream, "-o needs -b, --json or --csv"},
        {o->replay && (o->write || o->snapshot), "-r shows a recording: it can't be combined with -w or --snapshot"},
        {o->trace && (o->replay || o->snapshot),
         "--trace records live processes: it can't be combined with -r or --snapshot"},
        {o->snapshot && (o->write || stream),
         "--snapshot writes one snapshot and ends: it can't be combined with -w, -b, --json or --csv"},
        {rtl_option_asked(o, RTL_OPTION_OBSERVE) && rtl_option_asked(o, RTL_OPTION_NO_OBSERVE),
         "--observe and --no-observe exclude one another"},
        {o->observe > 0 && (o->replay || o->trace || o->mode >= 0),
         "--observe watches from outside: it can't be combined with -r, --trace or --mode"},
        {o->all && (o->pid_count || o->process), "--all watches all processes: it can't be combined with -p"},
        {o->pid_count && o->process, "-p takes pids or a name, not both"},
        {o->replay && (o->all || o->process || o->pid_count > 1),
         "-r shows a recording: give -p at most one pid, which selects one of several"},
        {o->snapshot && !named, "--snapshot needs a process: -p PID"},
        {o->mode >= 0 && (o->replay || o->snapshot || o->trace || o->write || stream),
         "--mode switches the mode and ends: it can't be combined with -r, -w, -b and similar options"},
        {o->mode >= 0 && !named, "--mode needs a process: -p PID"},
        {o->recording && !o->replay, "--recording needs -r"},
        {o->force && !o->write && !o->snapshot && !o->trace && !o->file, "--force needs -o, -w, --snapshot or --trace"},
        {has_window && o->output == RTL_OUTPUT_JSON,
         "--window can't be combined with --json, whose window is the last interval"},
    };
    *text = NULL;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong)
            return WRONG(text, "%s", rules[i].message);
    if (!has_window && o->output != RTL_OUTPUT_SCREEN)
        o->window_ns = RTL_WINDOW_INTERVAL;
    return RTL_PARSED_RUN;
}

void rtl_options_default(struct rtl_options *options)
{
    *options = (struct rtl_options){.delay_ns = RTL_SEC,
                                    .filter = "",
                                    .window_ns = 10 * RTL_SEC,
                                    .sort = RTL_COLUMN_TIME,
                                    .mode = -1,
                                    .observe_cpu = 0.05};
}
