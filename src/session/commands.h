/*
 * Commands: "rtl-top NAME ..." with arguments of their own. One line each, from which main, --help and the tests of the
 * manual are made.
 */
#ifndef RTL_SESSION_COMMANDS_H
#define RTL_SESSION_COMMANDS_H

/* X(symbol, name, function (argc, argv from the name on; returns an exit status), arguments, meaning) */
#define RTL_COMMANDS(X)                                                                                                \
    X(DIFF, "diff", rtl_diff_command, "A.db B.db [--fail-over PCT] [-n N] [--json] [--recordings A,B] [--cumulative]", \
      "which kernels got slower or faster from A to B")                                                                \
    X(EXPORT, "export", rtl_export_command, "FILE.db --perfetto OUT.json[.gz] | --csv OUT.csv[.gz] [--force]",         \
      "a trace for Perfetto, or as a table")                                                                           \
    X(ENV, "env", rtl_env_command, "[--shell bash|fish|systemd|docker|json] [--mode MODE] [--trace] [--library FILE]", \
      "what to put into the environment of a process that is to be traced")                                            \
    X(RUN, "run", rtl_run_command, "[OPTIONS] [--mode MODE] [--library FILE] -- COMMAND [ARGUMENTS]",                  \
      "start COMMAND traced and watch it")                                                                             \
    X(CHECK, "check", rtl_check_command, "[--library FILE] -- COMMAND | -p PID",                                       \
      "whether a command would be traced, or a process is, and what to do where not")                                  \
    X(NAMES, "names", rtl_names_command, "[-w COLUMNS] [--names FORM] [--family] [-U] <LIST",                          \
      "what the screen shows for kernel names, a line each")

#define RTL_DECLARE_COMMAND(sym, name, function, arguments, meaning) int function(int argc, char **argv);
RTL_COMMANDS(RTL_DECLARE_COMMAND)
#undef RTL_DECLARE_COMMAND

#endif
