/*
 * The words of a command line against the table of its command: one option after the other, --help, and what is wrong
 * in one line, with what was probably meant.
 */
#ifndef RTL_OPTIONS_ARGUMENTS_H
#define RTL_OPTIONS_ARGUMENTS_H

#include <getopt.h>
#include <sys/types.h>

#include "options/commands.h"

enum {
    RTL_ARGUMENTS_MAX = 64, /* options of a command */
    RTL_GO_ON = -1,         /* no exit status: the command goes on */
    RTL_SHARED = 0x100,     /* RTL_SHARED + RTL_OPTION_x is an option of options.h; what is below, the command's own */
};

struct rtl_arguments {
    int argc;
    char **argv; /* from the command's name on */
    enum rtl_command command;
    const char *value; /* of the option, or "" */
    int first;         /* after the last option: the first word that is none; argv is put in order */
    char *help;        /* --help was asked for: print this, and end with status 0 */
    char *wrong;       /* one line, for rtl_complain; status 1 */
    struct option longs[RTL_ARGUMENTS_MAX + 1];
    char letters[2 * RTL_ARGUMENTS_MAX + 3];
};

/* `in_order`: options end at the first word that is none, because what follows is another program's. */
void rtl_arguments_begin(struct rtl_arguments *a, enum rtl_command command, bool in_order, int argc, char **argv);

/* The next option, or -1 after the last one, with --help, or when something is wrong. */
int rtl_arguments_next(struct rtl_arguments *a);

/* Parses the option's value as the number of one process. False after a message when the value is no such number. */
bool rtl_arguments_pid(const struct rtl_arguments *a, pid_t *pid);

/*
 * For after the last option. True when there is nothing more to do: the help was printed, or what was wrong told;
 * `*status` is the exit status then. Frees what is to be freed.
 */
bool rtl_arguments_done(struct rtl_arguments *a, int *status);

/* A line on a word in the place of a command that was probably meant to be one. Allocated; NULL when it was not: then
 * it names processes. */
char *rtl_arguments_no_command(const char *word);

/*
 * Parses "rtl-top [options]" and "rtl-top JOB [options] ARGUMENT"; `text` is allocated for DONE (lines) and WRONG (a
 * line without its newline), NULL otherwise.
 */
enum rtl_parsed rtl_command_line_parse(int argc, char **argv, struct rtl_options *options, char **text);

#endif
