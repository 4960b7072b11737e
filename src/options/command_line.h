/* The command line of the screen and of the jobs: words into options. */
#ifndef RTL_OPTIONS_COMMAND_LINE_H
#define RTL_OPTIONS_COMMAND_LINE_H

#include "options/options.h"

/*
 * Parses "rtl-top [options]" and "rtl-top JOB [options] ARGUMENT"; `text` is allocated for DONE (lines) and WRONG (a
 * line without its newline), NULL otherwise.
 */
enum rtl_parsed rtl_command_line_parse(int argc, char **argv, struct rtl_options *options, char **text);

#endif
