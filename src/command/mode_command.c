/* --mode: switches the mode of live processes and reports when it takes effect. */
#include "command/run.h"
#include "model/labels.h"
#include "options/complain.h"
#include "watch/proc_scan.h"
#include "shm/control_client.h"

#include <stdio.h>
#include <time.h>

enum { POLL_NS = 5000000 };
static const uint64_t PATIENCE_NS = 1000000000; /* a process that dispatches switches within milliseconds */

/* Waits until the request is in force; then returns true with the mode in force. */
static bool wait_in_force(struct rtl_reader *reader, uint16_t number, struct rtl_in_force *now)
{
    for (uint64_t waited = 0; waited < PATIENCE_NS; waited += POLL_NS) {
        if (rtl_reader_in_force(reader, now) && (int16_t)(now->number - number) >= 0)
            return true;
        if (!rtl_reader_alive(reader))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return false;
}

static int change_mode(const struct rtl_options *options, struct rtl_reader *reader, pid_t pid)
{
    char why[512], title[160];
    struct rtl_control_link link;
    struct rtl_in_force before = {0}, now = {0};
    enum rtl_reader_status status = rtl_control_open(reader, &link, why, sizeof why);
    if (status != RTL_READER_OK)
        return rtl_refuse((int)status, "%s", why);
    if (!rtl_reader_in_force(reader, &before)) {
        rtl_control_close(&link);
        return rtl_refuse(RTL_READER_VERSION, "the segment of process %d is damaged: it has no valid mode", (int)pid);
    }
    rtl_proc_title(pid, "", title, sizeof title);
    bool calls = rtl_reader_has_calls(reader); /* calls are recorded in all modes; with them, default is called hip */
    const char *mode = rtl_mode_label(rtl_mode_with(calls, (unsigned)options->mode)),
               *was = rtl_mode_label(rtl_mode_with(calls, before.mode));
    uint16_t number = rtl_control_request_mode(reader, &link, (enum rtl_mode)options->mode);
    bool taken =
        before.mode != options->mode && wait_in_force(reader, number, &now); /* the same mode: nothing to wait for */
    rtl_control_close(&link);
    if (!taken && !rtl_reader_alive(reader))
        return rtl_refuse(RTL_READER_EXITED, "process %d exited before it switched the mode", (int)pid);
    if (before.mode == options->mode && (!taken || now.mode == before.mode))
        printf("process %d (%s): mode %s, as before\n", (int)pid, title, mode);
    else if (!taken)
        printf("process %d (%s): mode %s from its next dispatch on, %s until then\n", (int)pid, title, mode, was);
    else if (now.mode != options->mode)
        printf("process %d (%s): mode %s: another viewer has requested it meanwhile\n", (int)pid, title,
               rtl_mode_label(rtl_mode_with(calls, now.mode)));
    else
        printf("process %d (%s): mode %s, was %s\n", (int)pid, title, mode, was);
    return 0;
}

int rtl_change_mode(const struct rtl_options *options, struct rtl_process_set *set)
{
    int status = 0;
    pid_t pid;
    struct rtl_reader *reader;
    for (uint32_t i = 0; (reader = rtl_process_set_reader(set, i, &pid)); i++) {
        int one = change_mode(options, reader, pid);
        status = one ? one : status;
    }
    return status;
}
