/* rtl-top api: what the calls of HIP and the ranges of roctx cost the host's threads of one process, once. */
#include "command/api_output.h"
#include "record/db.h"
#include "session/arguments.h"
#include "session/complain.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wish {
    pid_t pid;
    enum rtl_api_form form;
    bool told; /* the help was asked for: that is all */
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
    struct rtl_arguments a;
    int status;
    rtl_arguments_begin(&a, RTL_COMMAND_API, false, argc, argv);
    for (int o; (o = rtl_arguments_next(&a)) >= 0;) {
        switch (o) {
        case RTL_API_PID:
            if (!parse_pid(a.value, &wish->pid)) {
                rtl_complain("-p wants the number of a process, not '%s'", a.value);
                return RTL_READER_USAGE;
            }
            break;
        case RTL_API_AS_JSON:
            wish->form = RTL_API_JSON;
            break;
        case RTL_API_AS_CSV:
            wish->form = RTL_API_CSV;
            break;
        default:
            break; /* -b is the table, which is all there is so far */
        }
    }
    if (rtl_arguments_done(&a, &status))
        return wish->told = true, status;
    if (a.first < argc) {
        rtl_complain("rtl-top api takes no '%s': rtl-top api -p PID", argv[a.first]);
        return RTL_READER_USAGE;
    }
    if (!wish->pid) {
        rtl_complain("which process? rtl-top api -p PID");
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
    if (status || wish.told)
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
    return rtl_stdout_written() ? 0 : RTL_DB_FULL;
}
