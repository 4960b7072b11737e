/* The options of the screen and of the jobs. getopt's tables, --help, completions and the tests of the manual use this
 * table. arguments.h parses command lines into struct rtl_options. */
#ifndef RTL_OPTIONS_OPTIONS_H
#define RTL_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "model/columns.h"
#include "options/theme_names.h"
#include "text/names.h"
#include "text/units.h"

/* X(symbol, letter (0 = none), long name, argument ("" = none), meaning) */
#define RTL_OPTIONS(X)                                                                                      \
    X(PID, 'p', "pid", "PID", "processes to watch: PID, PID,PID.. or a program's name; -p is optional")     \
    X(ALL, 'a', "all", "", "watch all traced processes that you may access")                                \
    X(NO_CHILDREN, 0, "no-children", "", "exclude descendants of the processes of -p")                      \
    X(OBSERVE, 0, "observe", "", "observe from outside, even if traced: exact calls, estimated times")      \
    X(NO_OBSERVE, 0, "no-observe", "", "never observe from outside: only traced processes")                 \
    X(OBSERVE_CPU, 0, "observe-cpu", "PERCENT", "share of a core that observing may use: 10% (default 5%)") \
    X(DELAY, 'd', "delay", "SECS", "seconds between frames: 0.5, 2, 500ms (default 1)")                     \
    X(FRAMES, 'n', "frames", "N", "stop after N frames")                                                    \
    X(BATCH, 'b', "batch", "", "print plain text tables; needs no terminal")                                \
    X(JSON, 0, "json", "", "print one JSON object per line and frame")                                      \
    X(CSV, 0, "csv", "", "print comma-separated values, a line per kernel and frame")                       \
    X(OUTPUT, 'o', "output", "FILE", "write output of -b, --json or --csv to FILE; - is standard output")   \
    X(WRITE, 'w', "write", "FILE", "record the watched processes into FILE, one frame per interval")        \
    X(REPLAY, 'r', "replay", "FILE", "replay a recording; -p and --recording select one of several")        \
    X(SNAPSHOT, 0, "snapshot", "FILE", "add the current statistics to FILE and exit")                       \
    X(TRACE, 0, "trace", "FILE", "record every timed dispatch into FILE (needs RTL_TRACE=1 at start)")      \
    X(MODE, 0, "mode", "MODE", "switch the process to MODE: off, lite, default or auto")                    \
    X(RECORDING, 0, "recording", "N", "replay recording N of the file")                                     \
    X(FORCE, 0, "force", "", "let -o replace files; -w, --snapshot, --trace files that are not recordings") \
    X(SORT, 's', "sort", "KEY", "sort by KEY, -KEY reverses; '-s help' lists the keys")                     \
    X(FILTER, 'F', "filter", "TEXT", "show only kernels whose full, short or mangled name contains TEXT")   \
    X(WINDOW, 0, "window", "SECS", "time window of the table: the last SECS, or 'all' (default 10)")        \
    X(STEP, 0, "step", "PATTERN", "show costs per run of the roctx range or kernel PATTERN (default auto)") \
    X(NAMES, 0, "names", "FORM", "show names as short, template, full or mangled (default short)")          \
    X(UNITS, 0, "units", "UNIT", "show times in auto, ns, us, ms or s (default auto)")                      \
    X(CAPTION, 0, "caption", "FILE", "show the first line of FILE above the keys: for demonstrations")      \
    X(THEME, 0, "theme", "THEME", "colours: default, contrast, mono or light")                              \
    X(NO_COLOR, 'C', "no-color", "", "no colours (also: NO_COLOR in the environment)")                      \
    X(ASCII, 'U', "ascii", "", "draw in ASCII only (also: a locale that is not UTF-8)")                     \
    X(NO_MOUSE, 'M', "no-mouse", "", "leave the mouse to the terminal")                                     \
    X(HELP, 'h', "help", "", "print this help")                                                             \
    X(VERSION, 'V', "version", "", "print the version, and the versions it was built and tested with")

#define RTL_ENUM_OPTION(sym, ...) RTL_OPTION_##sym,
enum rtl_option { RTL_OPTIONS(RTL_ENUM_OPTION) RTL_OPTION_COUNT };
#undef RTL_ENUM_OPTION
_Static_assert(RTL_OPTION_COUNT <= 64, "each option is a bit");

struct rtl_launch;

enum { RTL_PIDS_MAX = 128 };
enum rtl_output { RTL_OUTPUT_SCREEN, RTL_OUTPUT_TEXT, RTL_OUTPUT_JSON, RTL_OUTPUT_CSV };

struct rtl_options {
    pid_t pid; /* the first of pids; 0 = none */
    pid_t pids[RTL_PIDS_MAX];
    uint32_t pid_count;
    const char *process; /* name of the processes to watch; NULL = not by name */
    bool all, no_children;
    bool apart;         /* show processes separately, even a single one */
    bool list_first;    /* the screen begins with the list of processes */
    int observe;        /* observe from outside: 1 all, -1 none, 0 the processes of -p that aren't traced */
    double observe_cpu; /* share of a core */
    uint64_t delay_ns;
    uint64_t frames; /* 0 = endless */
    enum rtl_output output;
    const char *file;                      /* NULL = stdout */
    const char *write, *replay, *snapshot; /* file names, or NULL */
    int64_t recording;                     /* 0 = the newest */
    bool force;
    enum rtl_column sort;
    bool reverse;
    const char *filter; /* "" = all */
    uint64_t window_ns; /* or RTL_WINDOW_* (model.h) */
    const char *step;   /* the range or kernel that marks a step; NULL = automatic */
    enum rtl_name_form names;
    enum rtl_unit units;
    const char *trace, *caption; /* files, or NULL */
    int mode;                    /* the mode to switch to, or -1 */
    bool no_mouse;
    enum rtl_theme theme;
    uint32_t columns;                        /* bits by enum rtl_column; 0 = as many as fit */
    uint8_t column_places[RTL_COLUMN_COUNT]; /* order of the columns (columns.h) */
    uint64_t asked;                          /* bits by enum rtl_option: the options of the command line */
    bool no_color, ascii;
    struct rtl_launch *launch; /* the command that rtl-top has started and watches, or NULL */
};

enum rtl_parsed {
    RTL_PARSED_RUN,   /* continue */
    RTL_PARSED_DONE,  /* print `text` to stdout; exit status 0 */
    RTL_PARSED_WRONG, /* pass `text`, which is not escaped, to rtl_complain; exit status 1 */
};

/* True if the options select processes, so that the user needn't choose. */
static inline bool rtl_options_name_process(const struct rtl_options *options)
{
    return options->pid_count || options->process || options->all;
}

/* Sets the default values. */
void rtl_options_default(struct rtl_options *options);

/* Sets *text to a line without its newline, allocated. Returns RTL_PARSED_WRONG. */
enum rtl_parsed rtl_options_wrong(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets one option. `text` is allocated for DONE (lines) and WRONG (a line without its newline). */
enum rtl_parsed rtl_options_set(struct rtl_options *options, enum rtl_option option, const char *value, char **text);

/* Checks the combination of options after the last one. */
enum rtl_parsed rtl_options_check(struct rtl_options *options, char **text);

static inline bool rtl_option_asked(const struct rtl_options *options, enum rtl_option option)
{
    return options->asked >> option & 1;
}

/* Parses a percentage such as "10%" or "0.5"; false for other text or one outside [least, most]. */
bool rtl_parse_percent(const char *text, double least, double most, double *share);
/* Parses decimal digits; false for other text or a number outside [least, most]. */
bool rtl_parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value);

struct rtl_option_info {
    int letter;
    const char *name, *argument, *meaning;
};
extern const struct rtl_option_info rtl_options[RTL_OPTION_COUNT];

#endif
