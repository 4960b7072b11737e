/* rtl-top api: what the calls of HIP and the ranges of roctx cost the host's threads of one process, once. */
#include "command/hip_api_output.h"
#include "record/db.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "shm/hip_api_snapshot.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wish {
    pid_t pids[RTL_PIDS_MAX];
    uint32_t count;
    enum rtl_hip_api_form form;
    bool told; /* the help was asked for: that is all */
};

/* "4711" or "4711,4712"; the others of a list may have none. */
static bool parse_pids(struct wish *wish, const char *text)
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

static int parse(struct wish *wish, int argc, char **argv)
{
    struct rtl_arguments a;
    int status;
    rtl_arguments_begin(&a, RTL_COMMAND_API, false, argc, argv);
    for (int o; (o = rtl_arguments_next(&a)) >= 0;) {
        switch (o) {
        case RTL_API_PID:
            if (!parse_pids(wish, a.value)) {
                rtl_complain("-p wants the number of a process, several as 4711,4712, not '%s'", a.value);
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
            break; /* -b is the table, which is all there is so far */
        }
    }
    if (rtl_arguments_done(&a, &status))
        return wish->told = true, status;
    if (a.first < argc) {
        rtl_complain("rtl-top api takes no '%s': rtl-top api -p PID", argv[a.first]);
        return RTL_READER_USAGE;
    }
    if (!wish->count) {
        rtl_complain("which process? rtl-top api -p PID");
        return RTL_READER_USAGE;
    }
    return 0;
}

/* With the kernels of its ranges, where it has a segment of kernels that can be read. */
static void print(struct rtl_hip_api_copy *copy, pid_t pid, enum rtl_hip_api_form form)
{
    struct rtl_reader *reader = NULL;
    struct rtl_snapshot snapshot = {0};
    struct rtl_hip_api_source calls;
    bool kernels =
        rtl_reader_try(pid, &reader) == RTL_READER_OK && rtl_reader_snapshot(reader, &snapshot) == RTL_READER_OK;
    if (kernels) {
        rtl_hip_api_source_open(&calls);
        rtl_hip_api_source_read(&calls, pid, reader, &snapshot);
        rtl_hip_api_source_close(&calls);
    }
    rtl_hip_api_print(copy, pid, kernels && snapshot.calls ? &snapshot : NULL, form);
    if (kernels)
        rtl_snapshot_free(&snapshot);
    if (reader)
        rtl_reader_close(reader);
}

/* One process; 0, or the exit status after it was said why not. */
static int show(pid_t pid, enum rtl_hip_api_form form)
{
    struct rtl_hip_api_copy copy;
    char why[512];
    int fd, status = (int)rtl_hip_api_open(pid, &fd, why, sizeof why);
    if (!status) {
        status = (int)rtl_hip_api_read(fd, &copy, why, sizeof why);
        if (!status)
            print(&copy, pid, form);
        rtl_hip_api_free(&copy);
        close(fd);
    }
    if (status)
        rtl_complain("%s", why);
    return status;
}

int rtl_api_command(int argc, char **argv)
{
    struct wish wish = {0};
    int first = 0, status = parse(&wish, argc, argv);
    if (status || wish.told)
        return status;
    for (uint32_t i = 0; i < wish.count; i++) {
        if (i && wish.form == RTL_HIP_API_TABLE)
            putchar('\n');
        status = show(wish.pids[i], wish.form);
        first = first ? first : status;
        if (wish.form == RTL_HIP_API_CSV && !status)
            wish.form = RTL_HIP_API_CSV_MORE;
    }
    return !rtl_stdout_written() ? (int)RTL_DB_FULL : first;
}
