/*
 * --trace: records one trace per process (record/tracer.h) into one file, also for processes that join later; alone
 * until a signal or the end, or beside frames or the screen. Failures and losses are reported.
 */
#include "base/array.h"
#include "base/clock.h"
#include "command/run.h"
#include "options/complain.h"
#include "record/outfile.h"
#include "record/tracer.h"
#include "text/text.h"
#include "watch/proc_scan.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* --- the recorders --- */

struct process_tracer {
    struct rtl_tracer *tracer;
    pid_t pid;
    char title[160];
};

struct tracers {
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
static int start_tracer(struct tracers *t, pid_t pid, char *why, size_t why_bytes)
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
                                         .sample_ns = t->options->delay_ns};
    int status = rtl_tracer_start(&options, &one.tracer, why, why_bytes);
    if (!status)
        t->list[t->count++] = one;
    return status;
}

/* Called when a process joins. Keeps a failure as trouble, because a screen would hide a message. */
static void trace_joined(void *context, pid_t pid)
{
    struct tracers *t = context;
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

/* False once all recorders have ended by themselves. */
static bool tracers_are_running(struct tracers *t)
{
    bool running = false;
    pthread_mutex_lock(&t->lock);
    for (uint32_t i = 0; i < t->count; i++)
        running |= rtl_tracer_running(t->list[i].tracer);
    pthread_mutex_unlock(&t->lock);
    return running;
}

/* Returns one line, valid until stop_tracers, if a recorder failed or couldn't start; otherwise NULL. Any thread. */
static const char *find_trouble(void *tracers)
{
    struct tracers *t = tracers;
    pthread_mutex_lock(&t->lock);
    const char *trouble = t->trouble[0] ? t->trouble : NULL;
    for (uint32_t i = 0; i < t->count && !trouble; i++)
        trouble = rtl_tracer_trouble(t->list[i].tracer);
    pthread_mutex_unlock(&t->lock);
    return trouble;
}

/* Calls rtl_tracer_end for all; processes that join later are not recorded. */
static void ask_tracers_to_end(struct tracers *t, bool at_once)
{
    pthread_mutex_lock(&t->lock);
    t->ending = true;
    for (uint32_t i = 0; i < t->count; i++)
        rtl_tracer_end(t->list[i].tracer, at_once);
    pthread_mutex_unlock(&t->lock);
}

static int report_result(const struct tracers *t, const struct process_tracer *one)
{
    struct rtl_tracer_result result = rtl_tracer_stop(one->tracer);
    if (result.status)
        return rtl_refuse(result.status, "%s", result.why);
    const struct rtl_rocpd_state *s = &result.state;
    char copies[40] = "", calls[160] = "", lost[80] = "", before[80] = "", left_out[60] = "", unknown[100] = "";
    if (s->copies)
        snprintf(copies, sizeof copies, " and %llu copies", (unsigned long long)s->copies);
    if (s->calls.calls || s->calls.markers)
        snprintf(calls, sizeof calls,
                 "; %llu calls of HIP, %llu ranges and marks, %llu lost; %llu linked to their call",
                 (unsigned long long)s->calls.calls, (unsigned long long)s->calls.markers,
                 (unsigned long long)s->calls.lost, (unsigned long long)s->calls.linked);
    if (s->events.lost)
        snprintf(lost, sizeof lost, ": a larger event ring holds more (RTL_TRACE=64M)");
    if (s->events.first)
        snprintf(before, sizeof before, "; %llu ended before and are not in it", (unsigned long long)s->events.first);
    if (s->left_out)
        snprintf(left_out, sizeof left_out, "; %llu more were left out", (unsigned long long)s->left_out);
    if (s->unknown)
        snprintf(unknown, sizeof unknown,
                 "; %llu name a queue or GPU that the process does not have, or too many of them",
                 (unsigned long long)s->unknown);
    rtl_complain("%llu dispatches%s of process %d (%s) in %s, %llu lost%s%s%s%s%s",
                 (unsigned long long)(s->rows - s->copies), copies, (int)one->pid, one->title, t->options->trace,
                 (unsigned long long)s->events.lost, lost, calls, before, left_out, unknown);
    return 0;
}

/* Ends all recorders, reports their results and frees them. Returns the exit status. */
static int stop_tracers(struct tracers *t)
{
    rtl_process_set_on_join(t->set, NULL, NULL);
    ask_tracers_to_end(t, false);
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

/* Starts a recorder for each process, and one for each that joins later. Returns 0, or an exit status after a complaint
 * if no process can be recorded or the file can't be written. */
static int start_tracers(const struct rtl_options *options, struct rtl_process_set *set, struct tracers **out)
{
    struct tracers *t = *out = calloc(1, sizeof *t);
    char why[600];
    int status = 0;
    pid_t pid;
    if (!t)
        return RTL_WRONG("out of memory");
    t->options = options;
    t->set = set;
    pthread_mutex_init(&t->lock, NULL);
    for (uint32_t i = 0; !status && rtl_process_set_reader(set, i, &pid); i++) {
        status = start_tracer(t, pid, why, sizeof why);
        if (status)
            rtl_complain("%s", why);
        if (status == RTL_READER_NO_RING && !rtl_process_set_is_single(set)) { /* the other processes are recorded */
            t->status = status;
            status = 0;
        }
    }
    if (!status && !t->count)
        status = t->status;
    if (!status) {
        rtl_process_set_on_join(set, trace_joined, t);
        return 0;
    }
    ask_tracers_to_end(t, true);
    t->status = 0;
    stop_tracers(t);
    return status;
}

/* --- until the end --- */

static volatile sig_atomic_t stop_requests; /* at 2, don't write the remaining events of the ring */

static void on_signal(int number)
{
    (void)number;
    stop_requests = stop_requests ? 2 : 1;
}

sigset_t rtl_stop_signals(void)
{
    struct sigaction hangup;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
        sigaddset(&set, SIGHUP);
    return set;
}

void rtl_handle_stop_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigset_t handled = rtl_stop_signals();
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&handled, number) == 1)
            sigaction(number, &action, NULL);
}

/* Waits for the end of the time, of all processes, or a signal. */
static void wait_alone(const struct rtl_options *o, struct rtl_process_set *set, struct tracers *tracers)
{
    uint64_t from = rtl_mono_ns();
    while (!stop_requests) {
        bool others = rtl_process_set_poll(set) && !find_trouble(tracers);
        if (!others && !tracers_are_running(tracers))
            return;
        rtl_process_set_send_heartbeat(set, NULL);
        uint64_t over = rtl_mono_ns() - from, rest = 50000000;
        if (o->frames) {
            if (over / o->delay_ns >= o->frames)
                return;
            uint64_t left = o->frames > UINT64_MAX / o->delay_ns ? rest : o->frames * o->delay_ns - over;
            rest = left < rest ? left : rest;
        }
        nanosleep(&(struct timespec){.tv_nsec = (long)rest}, NULL);
    }
}

/* Waits until the remaining events of the ring are written, which may take long, or a second signal. */
static void wait_for_end(struct tracers *tracers)
{
    uint64_t from = rtl_mono_ns();
    ask_tracers_to_end(tracers, false);
    for (bool reported = false; tracers_are_running(tracers);) {
        if (stop_requests > 1)
            ask_tracers_to_end(tracers, true);
        else if (!reported && rtl_mono_ns() - from > 1000000000) {
            rtl_complain("writing the remaining events of the ring: another signal (Ctrl-C) skips them");
            reported = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

struct tracing {
    struct tracers *tracers;
    sigset_t stop_signals;
};

/* Thread beside frames: at a signal, ends the recording properly, then the program by that signal. Reports a recording
 * that fails, for example because the disk is full. */
static void *wait_for_signal(void *data)
{
    const struct tracing *t = data;
    const char *trouble = NULL;
    int number;
    do {
        number = sigtimedwait(&t->stop_signals, NULL, &(struct timespec){.tv_sec = 1});
        if (!trouble && (trouble = find_trouble(t->tracers)))
            rtl_complain("the trace has ended: %s", trouble);
    } while (number < 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &(int){0}); /* from here on, this thread ends the program */
    stop_tracers(t->tracers);
    rtl_outfile_clean();
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &t->stop_signals, NULL);
    raise(number);
    return NULL;
}

/* Writes frames while a thread waits for signals. */
static int stream_traced(const struct rtl_options *o, struct rtl_process_set *set, struct tracing *tracing)
{
    pthread_t waiter;
    if (o->launch)
        return rtl_batch(o, set);
    pthread_sigmask(SIG_BLOCK, &tracing->stop_signals, NULL);
    bool waits = pthread_create(&waiter, NULL, wait_for_signal, tracing) == 0;
    int status = rtl_batch(o, set);
    if (waits) {
        pthread_cancel(waiter); /* the thread is in sigtimedwait, a cancellation point */
        pthread_join(waiter, NULL);
    }
    return status;
}

int rtl_trace(const struct rtl_options *o, struct rtl_process_set *set, rtl_watcher *watch)
{
    struct tracing tracing = {.stop_signals = rtl_stop_signals()};
    bool alone = o->output == RTL_OUTPUT_SCREEN && !o->write;
    /* before the file is created, so that a signal never leaves it incomplete; with a started command, signals go to
     * the command, whose end ends the recording */
    if (alone && !o->launch)
        rtl_handle_stop_signals(on_signal);
    int status = start_tracers(o, set, &tracing.tracers);
    if (status)
        return status;
    if (alone) {
        wait_alone(o, set, tracing.tracers);
        wait_for_end(tracing.tracers);
    } else if (o->output == RTL_OUTPUT_SCREEN) {
        status = watch(o, set, &(struct rtl_trace_status){.trouble = find_trouble, .context = tracing.tracers});
    } else {
        status = stream_traced(o, set, &tracing);
    }
    int traced = stop_tracers(tracing.tracers);
    return traced ? traced : status;
}
