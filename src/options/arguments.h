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

/* Where rtl_arguments_read stores the value of a command's own option. Without a place, the option of options.h with
 * the same name is set. */
struct rtl_own_value {
    bool *flag; /* becomes true */
    int *choice, value;
    const char **text;
    pid_t *pid;
    uint64_t *number, least, most;
    const char *needs; /* completes "-n needs ..., not 'x'": for a number, which is followed by `most` behind a blank,
                          and for a text that can't be empty */
    bool (*add)(void *to, const char *value, const char **wrong); /* for an option that can be repeated */
    void *to;
};

/* Reads all options: own ones into own[option], the others into `options`. `in_order`: options end at the first other
 * word, because the rest is another program's command line. Returns RTL_GO_ON, or the exit status after
 * the help or a message. */
int rtl_arguments_read(struct rtl_arguments *a, enum rtl_command command, bool in_order,
                       const struct rtl_own_value *own, struct rtl_options *options, int argc, char **argv);

/* Returns a message, allocated, if a word in place of a command is probably a misspelt command. Otherwise NULL: the
 * word names processes. */
char *rtl_arguments_no_command(const char *word);

/* Parses "rtl-top [options]" and "rtl-top JOB [options] ARGUMENT". `text` is allocated for DONE (lines) and WRONG (a
 * line without its newline), NULL otherwise. */
enum rtl_parsed rtl_command_line_parse(int argc, char **argv, struct rtl_options *options, char **text);

#endif
