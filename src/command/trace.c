/* --trace: records alone until a signal or the end, or beside frames or the screen. */
#include "command/run.h"
#include "command/tracers.h"
#include "base/clock.h"
#include "record/outfile.h"
#include "options/complain.h"
#include "watch/heartbeat.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop_requests; /* at 2, don't write the remaining events of the ring */

static void on_signal(int number)
{
    (void)number;
    stop_requests = stop_requests ? 2 : 1;
}

/* Returns the signals that end a recording. SIGHUP stays ignored if it is (nohup). SIGINT doesn't: shells ignore it for
 * background jobs, which then get it from kill. */
static sigset_t stop_signals(void)
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

/* Call before the file is created, so that a signal never leaves it incomplete. */
static void handle_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t handled = stop_signals();
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&handled, number) == 1)
            sigaction(number, &action, NULL);
}

/* Waits for the end of the time, of all processes, or a signal. */
static void wait_alone(const struct rtl_options *o, struct rtl_process_set *set, struct rtl_tracers *tracers)
{
    uint64_t from = rtl_mono_ns();
    while (!stop_requests) {
        bool others = rtl_process_set_poll(set) && !rtl_tracers_trouble(tracers);
        if (!others && !rtl_tracers_are_running(tracers))
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
static void wait_for_end(struct rtl_tracers *tracers)
{
    uint64_t from = rtl_mono_ns();
    rtl_tracers_ask_to_end(tracers, false);
    for (bool said = false; rtl_tracers_are_running(tracers);) {
        if (stop_requests > 1)
            rtl_tracers_ask_to_end(tracers, true);
        else if (!said && rtl_mono_ns() - from > 1000000000) {
            rtl_complain("writing what is left in the ring: another signal (Ctrl-C) leaves it out");
            said = true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
}

struct tracing {
    struct rtl_tracers *tracers;
    sigset_t stop_signals;
};

/* Thread beside frames: at a signal, ends the recording properly, then the program by that signal. Reports a recording
 * that fails, for example because the disk is full. */
static void *wait_for_signal(void *data)
{
    const struct tracing *t = data;
    const char *tracers_trouble = NULL;
    int number;
    do {
        number = sigtimedwait(&t->stop_signals, NULL, &(struct timespec){.tv_sec = 1});
        if (!tracers_trouble && (tracers_trouble = rtl_tracers_trouble(t->tracers)))
            rtl_complain("the trace has ended: %s", tracers_trouble);
    } while (number < 0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &(int){0}); /* from here on, this thread ends the program */
    rtl_tracers_stop(t->tracers);
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

static const char *tracers_trouble(void *tracers)
{
    return rtl_tracers_trouble(tracers);
}

int rtl_trace(const struct rtl_options *o, struct rtl_process_set *set, rtl_watcher *watch)
{
    struct tracing tracing = {.stop_signals = stop_signals()};
    bool alone = o->output == RTL_OUTPUT_SCREEN && !o->write;
    if (alone && !o->launch) /* signals go to the started command, whose end ends the recording */
        handle_signals();
    int status = rtl_tracers_start(o, set, &tracing.tracers);
    if (status)
        return status;
    if (alone) {
        wait_alone(o, set, tracing.tracers);
        wait_for_end(tracing.tracers);
    } else if (o->output == RTL_OUTPUT_SCREEN) {
        status = watch(o, set, &(struct rtl_trace_status){.trouble = tracers_trouble, .context = tracing.tracers});
    } else {
        status = stream_traced(o, set, &tracing);
    }
    int traced = rtl_tracers_stop(tracing.tracers);
    return traced ? traced : status;
}
