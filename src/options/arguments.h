/* Parses the words of a command line by the table of its command (commands.h): option after option, --help, and one
 * line for each error with the option or command that the user probably meant. */
#ifndef RTL_OPTIONS_ARGUMENTS_H
#define RTL_OPTIONS_ARGUMENTS_H

#include <getopt.h>
#include <sys/types.h>

#include "options/commands.h"

enum {
    RTL_ARGUMENTS_MAX = 64, /* options of a command */
    RTL_GO_ON = -1,         /* not an exit status: the command continues */
    RTL_SHARED = 0x100,     /* numbers from RTL_SHARED on are RTL_SHARED + RTL_OPTION_x (options.h), lower ones the
                               command's own options */
};

struct rtl_arguments {
    int argc;
    char **argv; /* argv[0] is the command's name */
    enum rtl_command command;
    const char *value; /* of the option, or "" */
    int first;         /* after the last option: index of the first other word; getopt reorders argv */
    char *help;        /* output of --help; the exit status is 0 */
    char *wrong;       /* one line for rtl_complain; the exit status is 1 */
    struct option longs[RTL_ARGUMENTS_MAX + 1];
    char letters[2 * RTL_ARGUMENTS_MAX + 3];
};

/* `in_order`: options end at the first other word, because the rest is another program's command line. */
void rtl_arguments_begin(struct rtl_arguments *a, enum rtl_command command, bool in_order, int argc, char **argv);

/* Returns the next option. Returns -1 after the last option, with --help, and after an error. */
int rtl_arguments_next(struct rtl_arguments *a);

/* Parses the option's value as one process's number. Otherwise prints a message and returns false. */
bool rtl_arguments_pid(const struct rtl_arguments *a, pid_t *pid);

/* Call after the last option. Prints the help or the error, frees both, and returns true with the exit status in
 * `*status`; returns false if there is neither. */
bool rtl_arguments_done(struct rtl_arguments *a, int *status);

/* Returns a message, allocated, if a word in place of a command is probably a misspelt command. Otherwise NULL: the
 * word names processes. */
char *rtl_arguments_no_command(const char *word);

/* Parses "rtl-top [options]" and "rtl-top JOB [options] ARGUMENT". `text` is allocated for DONE (lines) and WRONG (a
 * line without its newline), NULL otherwise. */
enum rtl_parsed rtl_command_line_parse(int argc, char **argv, struct rtl_options *options, char **text);

#endif
