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
    X(API, "api", rtl_api_command, "-p PID [-b] [--json | --csv]",                                                     \
      "what the calls of HIP and the ranges of roctx cost the host")                                                   \
    X(NAMES, "names", rtl_names_command, "[-w COLUMNS] [--names FORM] [--family] [-U] <LIST",                          \
      "what the screen shows for kernel names, a line each")

#define RTL_DECLARE_COMMAND(sym, name, function, arguments, meaning) int function(int argc, char **argv);
RTL_COMMANDS(RTL_DECLARE_COMMAND)
#undef RTL_DECLARE_COMMAND

#endif
