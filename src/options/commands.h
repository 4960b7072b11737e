/*
 * The commands "rtl-top NAME ...": main, --help, suggestions, completions and the tests of the manual use this table.
 *
 * To add a command, add a row to RTL_COMMANDS, a table of its options RTL_<SYMBOL>_OPTIONS, which may be empty, and
 * RTL_<SYMBOL>_SHARED, its options from options.h. All commands have --help. The command's function reads its words
 * with rtl_arguments_read (arguments.h).
 */
#ifndef RTL_OPTIONS_COMMANDS_H
#define RTL_OPTIONS_COMMANDS_H

#include "options/options.h"

/*
 * JOB(symbol, name, option that its one argument sets, argument, meaning): the same action as the option, with the
 * options that fit it.
 *
 * COMMAND(symbol, name, function, arguments, meaning): the function gets argc and argv from the name on and returns the
 * exit status.
 */
#define RTL_COMMANDS(JOB, COMMAND)                                                                                     \
    JOB(RECORD, "record", WRITE, "FILE", "record a process into FILE, one frame per interval")                         \
    JOB(REPLAY, "replay", REPLAY, "FILE", "replay a recording")                                                        \
    JOB(SNAPSHOT, "snapshot", SNAPSHOT, "FILE", "add the current statistics of a process to FILE")                     \
    JOB(TRACE, "trace", TRACE, "FILE", "record every timed dispatch into FILE (needs RTL_TRACE=1 at start)")           \
    JOB(MODE, "mode", MODE, "MODE", "switch a process to MODE: off, lite, default or auto")                            \
    COMMAND(RUN, "run", rtl_run_command, "-- COMMAND", "start COMMAND traced and watch it; exit with its status")      \
    COMMAND(ENV, "env", rtl_env_command, "", "print the environment variables that trace a process")                   \
    COMMAND(CHECK, "check", rtl_check_command, "-- COMMAND", "report whether COMMAND would be traced, and how")        \
    COMMAND(LIST, "list", rtl_list_command, "", "list processes that use a GPU: where, how busy, traced or not")       \
    COMMAND(DIFF, "diff", rtl_diff_command, "A.db B.db", "show which kernels got slower or faster from A to B")        \
    COMMAND(EXPORT, "export", rtl_export_command, "FILE.db",                                                           \
            "convert a trace to JSON for Perfetto, rocprofv3 JSON or CSV")                                             \
    COMMAND(HTML, "html", rtl_html_command, "FILE.db [B.db]", "write a recording, a trace or a diff as one HTML page") \
    COMMAND(NAMES, "names", rtl_names_command, "<LIST", "print kernel names as the screen shows them, one per line")   \
    COMMAND(API, "api", rtl_api_command, "-p PID", "print host time in HIP calls and roctx ranges, and memory in use") \
    COMMAND(PROBE, "probe", rtl_probe_command, "-p PID -k NAME",                                                       \
            "measure a kernel's waves: duration, balance over the GPU, waits")                                         \
    COMMAND(SERVE, "serve", rtl_serve_command, "[ADDR:PORT]", "serve statistics of all processes to Prometheus")       \
    COMMAND(REPORT, "report", rtl_report_command, "", "print facts for a bug report: versions, queues, notes, counts") \
    COMMAND(COMPLETIONS, "completions", rtl_completions_command, "SHELL", "print completions for bash, zsh or fish")   \
    COMMAND(HELP, "help", rtl_help_command, "[COMMAND]", "print the help of rtl-top or of a command, like --help")

/* X(example without "rtl-top", gist): printed by "rtl-top --help" on one screen, the most used commands first. */
#define RTL_COMMAND_EXAMPLES(X)                                                   \
    X("run -- python3 serve.py", "start a command traced and watch it")           \
    X("env --shell docker", "print the variables that trace a process")           \
    X("check -- python3 serve.py", "report what prevents tracing")                \
    X("list", "list the processes that use a GPU")                                \
    X("record -p PID run.db", "record what the screen shows, without it")         \
    X("replay run.db", "show a recording: pause, step, jump")                     \
    X("snapshot -p PID a.db", "save all statistics since the start")              \
    X("diff a.db b.db --fail-over 10%", "show which kernels got slower")          \
    X("trace -p PID trace.db", "record every dispatch and copy")                  \
    X("export trace.db --csv t.csv", "convert a trace, also for Perfetto")        \
    X("html run.db -o run.html", "write a page for a browser: charts and tables") \
    X("mode -p PID auto", "switch between off, lite, default and auto")           \
    X("api -p PID", "print HIP calls, ranges and memory in use")                  \
    X("probe -p PID -k gemm", "measure a kernel's waves and their waits")         \
    X("serve", "publish metrics for Prometheus")                                  \
    X("report >report.txt", "collect facts for a question or a bug report")       \
    X("names -w 43 <names.txt", "shorten kernel names as the screen does")        \
    X("completions bash", "print completions for bash, zsh or fish")              \
    X("help record", "print the options of a command")

/* X(symbol, letter (0 = none), long name, argument ("" = none), meaning) */
#define RTL_RECORD_OPTIONS(X)
#define RTL_REPLAY_OPTIONS(X)
#define RTL_SNAPSHOT_OPTIONS(X)
#define RTL_TRACE_OPTIONS(X)
#define RTL_MODE_OPTIONS(X)
#define RTL_RUN_OPTIONS(X)                                                                                      \
    X(RUN_MODE, 0, "mode", "MODE|hip", "start in MODE: off, lite, default or auto; hip also records HIP calls") \
    X(RUN_TRACE, 0, "trace", "FILE", "record every timed dispatch into FILE")                                   \
    X(RUN_SNAPSHOT, 0, "snapshot", "FILE", "add its statistics to FILE when it exits")                          \
    X(RUN_PROBE, 0, "probe", "", "allow probes of its kernels (RTL_PROBE=1) by all that may trace it")          \
    X(RUN_PRELOAD, 0, "preload", "", "also preload librtl.so: for runtimes that ignore HSA_TOOLS_LIB")          \
    X(RUN_LIBRARY, 0, "library", "FILE", "the librtl.so to load (default: the one of this rtl-top)")
#define RTL_ENV_OPTIONS(X)                                                                                      \
    X(ENV_SHELL, 0, "shell", "SHELL", "format: bash, fish, systemd, docker or json (default bash)")             \
    X(ENV_MODE, 0, "mode", "MODE|hip", "start in MODE: off, lite, default or auto; hip also records HIP calls") \
    X(ENV_TRACE, 0, "trace", "", "add an event ring, for traces (RTL_TRACE=1)")                                 \
    X(ENV_PROBE, 0, "probe", "", "allow probes of its kernels (RTL_PROBE=1) by all that may trace it")          \
    X(ENV_PRELOAD, 0, "preload", "", "also preload librtl.so: for runtimes that ignore HSA_TOOLS_LIB")          \
    X(ENV_LIBRARY, 0, "library", "FILE", "the librtl.so to load (default: the one of this rtl-top)")
#define RTL_CHECK_OPTIONS(X)                                                                       \
    X(CHECK_PID, 'p', "pid", "PID", "check a running process instead of a command")                \
    X(CHECK_MODE, 0, "mode", "MODE|hip", "as if started in MODE: off, lite, default, auto or hip") \
    X(CHECK_PRELOAD, 0, "preload", "", "as if started with --preload")                             \
    X(CHECK_LIBRARY, 0, "library", "FILE", "the librtl.so to load (default: the one of this rtl-top)")
#define RTL_LIST_OPTIONS(X) X(LIST_JSON, 0, "json", "", "print one JSON object")
#define RTL_DIFF_OPTIONS(X)                                                                                        \
    X(DIFF_FAIL_OVER, 0, "fail-over", "PCT", "exit with status 16 if a kernel's p50 or p99 grew by more than PCT") \
    X(DIFF_ROWS, 'n', "rows", "N", "print only the first N kernels")                                               \
    X(DIFF_JSON, 0, "json", "", "print one JSON object per line and kernel")                                       \
    X(DIFF_RECORDINGS, 0, "recordings", "A,B", "compare recording A of the first file with B of the second")       \
    X(DIFF_CUMULATIVE, 0, "cumulative", "", "count both snapshots of one process from its start")
#define RTL_EXPORT_OPTIONS(X)                                                                                   \
    X(EXPORT_PERFETTO, 0, "perfetto", "FILE", "write JSON for ui.perfetto.dev; compressed if FILE ends in .gz") \
    X(EXPORT_CSV, 0, "csv", "FILE", "write a table; compressed if FILE ends in .gz; - is standard output")      \
    X(EXPORT_ROCPROFV3, 0, "rocprofv3", "FILE", "write JSON as rocprofv3 does; compressed if FILE ends in .gz") \
    X(EXPORT_FORCE, 0, "force", "", "replace existing files")
#define RTL_HTML_OPTIONS(X)                                                                       \
    X(HTML_FILE, 'o', "output", "PAGE", "write the page to PAGE; - is standard output (default)") \
    X(HTML_FORCE, 0, "force", "", "replace an existing page")                                     \
    X(HTML_PID, 'p', "pid", "PID", "show only process PID of the file")
#define RTL_NAMES_OPTIONS(X)                                                                            \
    X(NAMES_WIDTH, 'w', "width", "COLUMNS", "shorten names to fit COLUMNS columns (default: no limit)") \
    X(NAMES_FAMILY, 0, "family", "", "print the kernel's family and a tab before each name")
#define RTL_API_OPTIONS(X)                                                   \
    X(API_PID, 'p', "pid", "PID", "process whose calls and ranges to print") \
    X(API_TABLES, 'b', "batch", "", "print plain text tables (default)")     \
    X(API_AS_JSON, 0, "json", "", "print one JSON object")                   \
    X(API_AS_CSV, 0, "csv", "", "print comma-separated values, a line per function and range")
#define RTL_PROBE_OPTIONS(X)                                                                                 \
    X(PROBE_PID, 'p', "pid", "PID", "process to probe, started with RTL_PROBE=1 (run --probe)")              \
    X(PROBE_KERNEL, 'k', "kernel", "NAME", "kernel to probe: its name, or a part that no other name has")    \
    X(PROBE_WANTED, 'n', "dispatches", "N", "stop after N probed dispatches (default 100)")                  \
    X(PROBE_ONE_IN, 0, "every", "N", "probe one in N dispatches (default: a tenth, at most 100 per second)") \
    X(PROBE_GPU, 0, "gpu", "G", "probe on GPU G, counted from 0 (default: the first that ran it)")           \
    X(PROBE_TIMEOUT, 0, "timeout", "SECS", "stop after SECS in any case (default 60)")                       \
    X(PROBE_STALLS, 0, "stalls", "", "measure the time in each s_waitcnt; -n counts per copy (default 20)")  \
    X(PROBE_AS_JSON, 0, "json", "", "print one JSON object")                                                 \
    X(PROBE_KEEP, 0, "keep", "DIR", "keep original and probed code in DIR, with a description")              \
    X(PROBE_WRITE, 'w', "write", "FILE", "add the results to the recordings in FILE (-r shows them)")        \
    X(PROBE_FORCE, 0, "force", "", "let --keep replace files, and -w a file that is no recording")
#define RTL_SERVE_OPTIONS(X)                                                                                    \
    X(SERVE_PID, 'p', "pid", "PID", "only these processes and their descendants: PID, PID,PID.. or a name")     \
    X(SERVE_KERNELS, 0, "kernels", "N", "give N kernels and N ranges series of their own (default 40)")         \
    X(SERVE_BUCKETS, 0, "buckets", "N", "histogram buckets per factor of two: 1, 2 or 4 (default 2)")           \
    X(SERVE_STEP, 0, "step", "PATTERN", "kernels with PATTERN in their mangled name mark steps (default auto)") \
    X(SERVE_WAKE, 0, "wake", "", "keep processes in mode auto timing, as an open viewer does")                  \
    X(SERVE_OBSERVE, 0, "observe", "", "also observe untraced processes from outside (5% of a core)")           \
    X(SERVE_ALLOW_HOST, 0, "allow-host", "NAME", "answer clients that address this server as NAME or NAME,NAME..")
#define RTL_REPORT_OPTIONS(X)                                                                    \
    X(REPORT_PID, 'p', "pid", "PID", "report only this process (default: all traced processes)") \
    X(REPORT_NAMES, 0, "names", "", "print kernel names instead of hashes")
#define RTL_COMPLETIONS_OPTIONS(X)       \
    X(COMPLETIONS_WORDS, 0, "words", "", \
      "complete the last of the words that follow: rtl-top completions --words -- mode l")

#define RTL_HELP_OPTIONS(X)

/* The options of options.h that several commands have. */
#define RTL_SHARED_STREAM RTL_OPTION_FRAMES, RTL_OPTION_BATCH, RTL_OPTION_JSON, RTL_OPTION_CSV, RTL_OPTION_OUTPUT
#define RTL_SHARED_TABLE  RTL_OPTION_FORCE, RTL_OPTION_SORT, RTL_OPTION_FILTER, RTL_OPTION_WINDOW, RTL_OPTION_STEP
#define RTL_SHARED_SCREEN                                                                                            \
    RTL_OPTION_NAMES, RTL_OPTION_UNITS, RTL_OPTION_CAPTION, RTL_OPTION_THEME, RTL_OPTION_NO_COLOR, RTL_OPTION_ASCII, \
        RTL_OPTION_NO_MOUSE
#define RTL_SHARED_PROCESSES RTL_OPTION_PID, RTL_OPTION_ALL, RTL_OPTION_NO_CHILDREN

/* The options of options.h that each command has, in the order of its --help; --help itself ends each list. */
#define RTL_RECORD_SHARED   RTL_SHARED_PROCESSES, RTL_OPTION_DELAY, RTL_SHARED_STREAM, RTL_SHARED_TABLE,
#define RTL_REPLAY_SHARED   RTL_OPTION_PID, RTL_OPTION_RECORDING, RTL_SHARED_STREAM, RTL_SHARED_TABLE, RTL_SHARED_SCREEN,
#define RTL_SNAPSHOT_SHARED RTL_SHARED_PROCESSES, RTL_OPTION_FORCE,
#define RTL_TRACE_SHARED    RTL_OPTION_PID, RTL_OPTION_WRITE, RTL_OPTION_DELAY, RTL_SHARED_STREAM, RTL_SHARED_TABLE,
#define RTL_RUN_SHARED      RTL_OPTION_DELAY, RTL_SHARED_STREAM, RTL_OPTION_WRITE, RTL_SHARED_TABLE, RTL_SHARED_SCREEN,
#define RTL_ENV_SHARED
#define RTL_CHECK_SHARED
#define RTL_MODE_SHARED RTL_SHARED_PROCESSES,
#define RTL_LIST_SHARED RTL_OPTION_DELAY, RTL_OPTION_UNITS, RTL_OPTION_ASCII,
#define RTL_DIFF_SHARED
#define RTL_EXPORT_SHARED
#define RTL_HTML_SHARED  RTL_OPTION_RECORDING, RTL_OPTION_FILTER, RTL_OPTION_STEP,
#define RTL_NAMES_SHARED RTL_OPTION_NAMES, RTL_OPTION_ASCII,
#define RTL_API_SHARED
#define RTL_PROBE_SHARED RTL_OPTION_UNITS, RTL_OPTION_ASCII,
#define RTL_SERVE_SHARED
#define RTL_REPORT_SHARED
#define RTL_COMPLETIONS_SHARED
#define RTL_HELP_SHARED

#define RTL_NO_COMMAND(...)
#define RTL_ENUM_COMMAND(sym, ...)    RTL_COMMAND_##sym,
#define RTL_ENUM_OWN_OPTION(sym, ...) RTL_##sym,
/* Numbers each command's own options from 0: RTL_DIFF_FAIL_OVER. */
#define RTL_ENUM_OWN_OPTIONS(sym, ...) \
    enum rtl_of_##sym{RTL_##sym##_OPTIONS(RTL_ENUM_OWN_OPTION) RTL_##sym##_OWN_COUNT};
#define RTL_DECLARE_COMMAND(sym, name, function, arguments, meaning) int function(int argc, char **argv);

/* RTL_COMMAND_NONE is the screen, "rtl-top [options]": it has all options of options.h. */
enum rtl_command { RTL_COMMANDS(RTL_ENUM_COMMAND, RTL_ENUM_COMMAND) RTL_COMMAND_NONE, RTL_COMMAND_COUNT };
RTL_COMMANDS(RTL_ENUM_OWN_OPTIONS, RTL_ENUM_OWN_OPTIONS)
RTL_COMMANDS(RTL_NO_COMMAND, RTL_DECLARE_COMMAND)
#undef RTL_ENUM_COMMAND
#undef RTL_ENUM_OWN_OPTION
#undef RTL_ENUM_OWN_OPTIONS
#undef RTL_DECLARE_COMMAND

struct rtl_command_info {
    const char *name, *arguments, *meaning;
    enum rtl_option sets; /* the option that a job's argument sets; RTL_OPTION_COUNT if the command has a function */
    const struct rtl_option_info *own;
    const enum rtl_option *shared; /* --help is the last */
    int own_count, shared_count;
};
extern const struct rtl_command_info rtl_commands[RTL_COMMAND_COUNT];

/* Returns the command of that name, or RTL_COMMAND_NONE. */
enum rtl_command rtl_command_find(const char *name);

/* Returns an option of the command by number, first its own ones; NULL after the last. */
const struct rtl_option_info *rtl_command_option(enum rtl_command command, int number);

/* Returns the output of the command's --help, allocated; for RTL_COMMAND_NONE the commands by example on a screen of
 * 80x24, or with `whole` all options. NULL without memory. */
char *rtl_command_help(enum rtl_command command, bool whole);

#endif
