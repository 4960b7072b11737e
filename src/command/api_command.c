/* rtl-top api: what the calls of HIP and the ranges of roctx cost the host's threads of one process, once. */
#include "command/api_output.h"
#include "session/commands.h"
#include "session/complain.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 0x1000, JSON = LONG, CSV };

struct wish {
    pid_t pid;
    enum rtl_api_form form;
};

static bool parse_pid(const char *text, pid_t *pid)
{
    char *end;
    long number = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
    if (number <= 0 || *end || number > INT32_MAX)
        return false;
    *pid = (pid_t)number;
    return true;
}

static int parse(struct wish *wish, int argc, char **argv)
{
    static const struct option longs[] = {
        {"json", no_argument, NULL, JSON}, {"csv", no_argument, NULL, CSV}, {NULL, 0, NULL, 0}};
    optind = 0;
    for (int c; (c = getopt_long(argc, argv, ":p:b", longs, NULL)) != -1;) {
        switch (c) {
        case 'p':
            if (!parse_pid(optarg, &wish->pid)) {
                rtl_complain("-p wants the number of a process, not '%s'", optarg);
                return RTL_READER_USAGE;
            }
            break;
        case 'b':
            break; /* the table is all there is so far */
        case JSON:
        case CSV:
            wish->form = c == JSON ? RTL_API_JSON : RTL_API_CSV;
            break;
        case ':':
            rtl_complain("%s needs an argument", argv[optind - 1]);
            return RTL_READER_USAGE;
        default:
            rtl_complain_of_option("rtl-top api", LONG, argv[optind - 1]);
            return RTL_READER_USAGE;
        }
    }
    if (optind < argc || !wish->pid) {
        rtl_complain(optind < argc ? "rtl-top api takes no '%s': rtl-top api -p PID"
                                   : "which process? rtl-top api -p PID",
                     optind < argc ? argv[optind] : "");
        return RTL_READER_USAGE;
    }
    return 0;
}

int rtl_api_command(int argc, char **argv)
{
    struct wish wish = {0};
    struct rtl_api_copy copy;
    char why[512];
    int fd, status = parse(&wish, argc, argv);
    if (status)
        return status;
    status = (int)rtl_api_open(wish.pid, &fd, why, sizeof why);
    if (!status) {
        status = (int)rtl_api_read(fd, &copy, why, sizeof why);
        if (!status)
            rtl_api_print(&copy, wish.pid, wish.form);
        rtl_api_free(&copy);
        close(fd);
    }
    if (status) {
        rtl_complain("%s", why);
        return status;
    }
    if (fflush(stdout) && errno != EPIPE) {
        rtl_complain("cannot write: %s", strerror(errno));
        return RTL_READER_USAGE;
    }
    return 0;
}
