/* --trace: the recorder alone, until it is told to stop, or in the background of frames and screen. */
#include "command/run.h"
#include "base/clock.h"
#include "record/outfile.h"
#include "record/tracer.h"
#include "session/complain.h"
#include "session/target.h"
#include "session/heartbeat.h"
#include "text/text.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t told_to_stop; /* how often; at 2 the rest of the ring is not written */

static void on_signal(int number)
{
    (void)number;
    told_to_stop = told_to_stop ? 2 : 1;
}

/* The signals that end a recording. A hangup that is ignored already stays ignored (nohup). An interrupt does not:
 * shells ignore it for what they start in the background, and there it was sent by kill. */
static sigset_t stops(void)
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

/* Called before the file is made: from then on a signal ends the recording in order. */
static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t handled = stops();
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&handled, number) == 1)
            sigaction(number, &action, NULL);
}

/* Until the time is over, the recorder has ended or a signal comes. */
static void wait_alone(const struct rtl_options *o, struct rtl_targets *targets, struct rtl_tracer *tracer)
{
    uint64_t from = rtl_mono_ns();
    while (!told_to_stop && rtl_tracer_running(tracer)) {
        rtl_targets_heartbeat(targets, NULL);
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

/* Lets it write what is left in the ring, which may be much, unless another signal comes. */
static void wait_for_end(struct rtl_tracer *tracer)
{
    uint64_t from = rtl_mono_ns();
    rtl_tracer_end(tracer, false);
    for (bool said = false; rtl_tracer_running(tracer);) {
        if (told_to_stop > 1)
            rtl_tracer_end(tracer, true);
        else if (!said && rtl_mono_ns() - from > 1000000000) {
            rtl_complain("writing what is left in the ring: another signal (Ctrl-C) leaves it out");
            said = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

struct tracing {
    struct rtl_tracer *tracer;
    const char *file, *title;
    pid_t pid;
    sigset_t stops;
};

/* Ends the recording and says how it went; its exit status. */
static int end(const struct tracing *t)
{
    struct rtl_tracer_result result = rtl_tracer_stop(t->tracer);
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
                 (unsigned long long)(result.rows - result.copies), copies, (int)t->pid, t->title, t->file,
                 (unsigned long long)result.lost, lost, calls, before, left_out, unknown);
    return 0;
}

/* While frames are written: a signal ends the recording in order, then the program as the signal would have. A
 * recording that ends by itself, because the disk is full, say, is reported when it does. */
static void *wait_for_signal(void *data)
{
    const struct tracing *t = data;
    const char *trouble = NULL;
    int number;
    do {
        number = sigtimedwait(&t->stops, NULL, &(struct timespec){.tv_sec = 1});
        if (!trouble && (trouble = rtl_tracer_trouble(t->tracer)))
            rtl_complain("the trace has ended: %s", trouble);
    } while (number < 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &(int){0}); /* from here on this thread ends the program */
    end(t);
    rtl_outfile_clean();
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &t->stops, NULL);
    raise(number);
    return NULL;
}

/* What goes into a stream, while a thread waits for the signals that end it. */
static int stream_traced(const struct rtl_options *o, struct rtl_targets *targets, struct tracing *tracing)
{
    pthread_t waiter;
    if (o->launch)
        return rtl_batch(o, targets);
    pthread_sigmask(SIG_BLOCK, &tracing->stops, NULL);
    bool waits = pthread_create(&waiter, NULL, wait_for_signal, tracing) == 0;
    int status = rtl_batch(o, targets);
    if (waits) {
        pthread_cancel(waiter); /* sigtimedwait is where it is, and a cancellation point */
        pthread_join(waiter, NULL);
    }
    return status;
}

static const char *trouble(void *tracer)
{
    return rtl_tracer_trouble(tracer);
}

int rtl_trace(const struct rtl_options *o, struct rtl_targets *targets, rtl_watcher *watch)
{
    char why[600], title[160];
    pid_t pid = rtl_targets_pid(targets);
    if (!rtl_targets_only(targets)) {
        rtl_complain("--trace records one process, and there are %u: choose one with -p PID",
                     (unsigned)rtl_targets_count(targets));
        return RTL_READER_USAGE;
    }
    struct tracing tracing = {.file = o->trace, .title = title, .pid = pid, .stops = stops()};
    rtl_target_title(pid, "", title, sizeof title);
    struct rtl_tracer_options options = {.pid = pid,
                                         .title = title,
                                         .file = o->trace,
                                         .force = o->force,
                                         .escape = rtl_text_escape,
                                         .look_ns = o->delay_ns};
    bool alone = o->output == RTL_OUTPUT_SCREEN && !o->write;
    if (alone && !o->launch) /* signals are passed on to what was started, and its end ends the recording */
        handle_signals();
    int status = rtl_tracer_start(&options, &tracing.tracer, why, sizeof why);
    if (status) {
        rtl_complain("%s", why);
        return status;
    }
    if (alone) {
        wait_alone(o, targets, tracing.tracer);
        wait_for_end(tracing.tracer);
    } else if (o->output == RTL_OUTPUT_SCREEN) {
        status = watch(o, targets, &(struct rtl_background){.trouble = trouble, .context = tracing.tracer});
    } else {
        status = stream_traced(o, targets, &tracing);
    }
    int traced = end(&tracing);
    return traced ? traced : status;
}
