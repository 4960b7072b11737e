/* rtl-top api: prints once what HIP calls and roctx ranges cost the host's threads of a process. */
#include "command/hip_api_output.h"
#include "record/db.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "shm/hip_api_reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct api_wish {
    pid_t pids[RTL_PIDS_MAX];
    uint32_t count;
    enum rtl_hip_api_form form;
};

/* Parse "4711" or "4711,4712". */
static bool parse_pids(struct api_wish *wish, const char *text)
{
    char *end;
    for (;; text = end + 1) {
        long number = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : 0;
        if (number <= 0 || (*end && *end != ',') || number > INT32_MAX || wish->count == RTL_PIDS_MAX)
            return false;
        wish->pids[wish->count++] = (pid_t)number;
        if (!*end)
            return true;
    }
}

static int parse_options(struct api_wish *wish, int argc, char **argv)
{
    struct rtl_arguments a;
    int status;
    rtl_arguments_begin(&a, RTL_COMMAND_API, false, argc, argv);
    for (int o; (o = rtl_arguments_next(&a)) >= 0;) {
        switch (o) {
        case RTL_API_PID:
            if (!parse_pids(wish, a.value)) {
                rtl_complain("-p needs the number of a process, several as 4711,4712, not '%s'", a.value);
                return RTL_READER_USAGE;
            }
            break;
        case RTL_API_AS_JSON:
            wish->form = RTL_HIP_API_JSON;
            break;
        case RTL_API_AS_CSV:
            wish->form = RTL_HIP_API_CSV;
            break;
        default:
            break; /* -b is the table, the default */
        }
    }
    if (rtl_arguments_done(&a, &status))
        return status;
    if (a.first < argc) {
        rtl_complain("rtl-top api takes no '%s': rtl-top api -p PID", argv[a.first]);
        return RTL_READER_USAGE;
    }
    if (!wish->count) {
        rtl_complain("which process? rtl-top api -p PID");
        return RTL_READER_USAGE;
    }
    return RTL_GO_ON;
}

/* Show one process. Returns 0, or the exit status after a complaint. */
static int show_process(pid_t pid, enum rtl_hip_api_form form)
{
    struct rtl_hip_api_request request = {.pid = pid};
    struct rtl_snapshot snapshot = {0};
    char why[512];
    int fd, status = (int)rtl_hip_api_open(pid, &fd, why, sizeof why);
    if (!status) {
        /* kernels of ranges have names if the process has a segment of kernels, too */
        if (rtl_reader_try(pid, &request.reader) == RTL_READER_OK)
            rtl_reader_snapshot(request.reader, &snapshot);
        status = (int)rtl_hip_api_read(fd, &request, &snapshot, why, sizeof why);
        close(fd);
    }
    if (status)
        rtl_complain("%s", why);
    else if (!rtl_hip_api_print(&snapshot, pid, form)) {
        rtl_complain("out of memory");
        status = RTL_READER_USAGE;
    }
    rtl_snapshot_free(&snapshot);
    rtl_reader_close(request.reader);
    return status;
}

int rtl_api_command(int argc, char **argv)
{
    struct api_wish wish = {0};
    int first = 0, status = parse_options(&wish, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    for (uint32_t i = 0; i < wish.count; i++) {
        if (i && wish.form == RTL_HIP_API_TABLE)
            putchar('\n');
        status = show_process(wish.pids[i], wish.form);
        first = first ? first : status;
        if (wish.form == RTL_HIP_API_CSV && !status)
            wish.form = RTL_HIP_API_CSV_MORE;
    }
    return !rtl_stdout_written() ? (int)RTL_DB_FULL : first;
}
