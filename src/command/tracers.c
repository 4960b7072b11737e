/* Records one trace per process. See tracers.h. */
#include "command/tracers.h"
#include "base/array.h"
#include "record/tracer.h"
#include "options/complain.h"
#include "watch/proc_title.h"
#include "text/text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct process_tracer {
    struct rtl_tracer *tracer;
    pid_t pid;
    char title[160];
};

struct rtl_tracers {
    const struct rtl_options *options;
    struct rtl_process_set *set;
    pthread_mutex_t lock; /* protects the members below: another thread asks for trouble while processes join */
    struct process_tracer *list;
    uint32_t count, room;
    bool ending;
    int status;        /* of the first tracer that failed to start */
    char trouble[600]; /* reason of that failure */
};

/* Returns 0, or an exit status with `why`. */
static int start_tracer(struct rtl_tracers *t, pid_t pid, char *why, size_t why_bytes)
{
    struct process_tracer one = {.pid = pid};
    if (!rtl_grow(&t->list, &t->room, t->count + 1, sizeof *t->list)) {
        snprintf(why, why_bytes, "out of memory: process %d is not recorded", (int)pid);
        return RTL_READER_USAGE;
    }
    rtl_proc_title(pid, "", one.title, sizeof one.title);
    struct rtl_tracer_options options = {.pid = pid,
                                         .title = one.title,
                                         .file = t->options->trace,
                                         .force = t->options->force,
                                         .escape = rtl_text_escape,
                                         .look_ns = t->options->delay_ns};
    int status = rtl_tracer_start(&options, &one.tracer, why, why_bytes);
    if (!status)
        t->list[t->count++] = one;
    return status;
}

/* Called when a process joins. Keeps a failure as trouble, because a screen would hide a message. */
static void trace_joined(void *context, pid_t pid)
{
    struct rtl_tracers *t = context;
    char why[600];
    pthread_mutex_lock(&t->lock);
    int status = t->ending ? 0 : start_tracer(t, pid, why, sizeof why);
    bool gone = status == RTL_READER_NOT_TRACED || status == RTL_READER_NO_PROCESS; /* it has already ended */
    if (status && !gone && !t->status) {
        t->status = status;
        snprintf(t->trouble, sizeof t->trouble, "%s", why);
    }
    pthread_mutex_unlock(&t->lock);
}

int rtl_tracers_start(const struct rtl_options *options, struct rtl_process_set *set, struct rtl_tracers **out)
{
    struct rtl_tracers *t = calloc(1, sizeof *t);
    char why[600] = "out of memory";
    int status = t ? 0 : RTL_READER_USAGE, without = 0;
    pid_t pid;
    *out = t;
    if (t) {
        t->options = options;
        t->set = set;
        pthread_mutex_init(&t->lock, NULL);
    }
    for (uint32_t i = 0; !status && rtl_process_set_reader(set, i, &pid); i++) {
        status = start_tracer(t, pid, why, sizeof why);
        if (status != RTL_READER_NO_RING || rtl_process_set_is_single(set))
            continue;
        rtl_complain("%s", why); /* the other processes are recorded */
        t->status = without = status;
        status = 0;
    }
    if (!status && !t->count && without)
        status = without;
    else if (status)
        rtl_complain("%s", why);
    if (!status) {
        rtl_process_set_on_join(set, trace_joined, t);
        return 0;
    }
    if (t) {
        rtl_tracers_ask_to_end(t, true);
        t->status = 0;
        rtl_tracers_stop(t);
    }
    *out = NULL;
    return status;
}

bool rtl_tracers_are_running(struct rtl_tracers *t)
{
    bool running = false;
    pthread_mutex_lock(&t->lock);
    for (uint32_t i = 0; i < t->count; i++)
        running |= rtl_tracer_running(t->list[i].tracer);
    pthread_mutex_unlock(&t->lock);
    return running;
}

const char *rtl_tracers_trouble(struct rtl_tracers *t)
{
    pthread_mutex_lock(&t->lock);
    const char *trouble = t->trouble[0] ? t->trouble : NULL;
    for (uint32_t i = 0; i < t->count && !trouble; i++)
        trouble = rtl_tracer_trouble(t->list[i].tracer);
    pthread_mutex_unlock(&t->lock);
    return trouble;
}

void rtl_tracers_ask_to_end(struct rtl_tracers *t, bool at_once)
{
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    for (uint32_t i = 0; i < t->count; i++)
        rtl_tracer_end(t->list[i].tracer, at_once);
    pthread_mutex_unlock(&t->lock);
}

static int report_result(const struct rtl_tracers *t, const struct process_tracer *one)
{
    struct rtl_tracer_result result = rtl_tracer_stop(one->tracer);
    if (result.status) {
        rtl_complain("%s", result.why);
        return result.status;
    }
    char copies[40] = "", calls[160] = "", lost[80] = "", before[80] = "", left_out[60] = "", unknown[100] = "";
    if (result.copies)
        snprintf(copies, sizeof copies, " and %llu copies", (unsigned long long)result.copies);
    if (result.calls || result.markers)
        snprintf(calls, sizeof calls,
                 "; %llu calls of HIP, %llu ranges and marks, %llu lost; %llu linked to their call",
                 (unsigned long long)result.calls, (unsigned long long)result.markers,
                 (unsigned long long)result.calls_lost, (unsigned long long)result.linked);
    if (result.lost)
        snprintf(lost, sizeof lost, ": a larger event ring holds more (RTL_TRACE=64M)");
    if (result.before)
        snprintf(before, sizeof before, "; %llu ended before and are not in it", (unsigned long long)result.before);
    if (result.left_out)
        snprintf(left_out, sizeof left_out, "; %llu more were left out", (unsigned long long)result.left_out);
    if (result.unknown)
        snprintf(unknown, sizeof unknown,
                 "; %llu name a queue or GPU that the process does not have, or too many of them",
                 (unsigned long long)result.unknown);
    rtl_complain("%llu dispatches%s of process %d (%s) in %s, %llu lost%s%s%s%s%s",
                 (unsigned long long)(result.rows - result.copies), copies, (int)one->pid, one->title,
                 t->options->trace, (unsigned long long)result.lost, lost, calls, before, left_out, unknown);
    return 0;
}

int rtl_tracers_stop(struct rtl_tracers *t)
{
    rtl_process_set_on_join(t->set, NULL, NULL);
    rtl_tracers_ask_to_end(t, false);
    if (t->trouble[0])
        rtl_complain("%s", t->trouble);
    int status = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        int one = report_result(t, &t->list[i]);
        status = status ? status : one;
    }
    status = status ? status : t->status;
    pthread_mutex_destroy(&t->lock);
    free(t->list);
    free(t);
    return status;
}
