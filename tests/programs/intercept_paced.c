/*
 * intercept_paced.c - dispatches one kernel at a time, repeatedly, with the host busy in between: intercept_paced
 * KERNEL EVERY_US [signalled]. Kernel number KERNEL of the family "pace" every EVERY_US microseconds, with "signalled"
 * on the program's completion signal; until SIGTERM. The script sets the kernel's duration.
 */
#include "intercept_hsa.h"

#include <signal.h>

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    (void)number;
    stop = 1;
}

int main(int argc, char **argv)
{
    static struct family pace;
    unsigned kernel = argc > 2 ? (unsigned)atoi(argv[1]) : FAMILY;
    long every = argc > 2 ? atol(argv[2]) * 1000 : 0;
    bool signalled = argc > 3 && strcmp(argv[3], "signalled") == 0;
    if (kernel >= FAMILY || every <= 0)
        die("a kernel from 0 to 99, and microseconds");
    if (!open_runtime())
        die("no GPU");
    load_family(&pace, "pace");
    hsa_queue_t *queue = open_queue(1024);
    hsa_signal_t done = {0};
    if (signalled)
        must(hsa_signal_create(0, 0, NULL, &done), "signal");
    signal(SIGTERM, on_signal);
    while (!stop) {
        if (signalled)
            hsa_signal_store_relaxed(done, 1);
        launch_packet(queue, pace.object[kernel], done, BARRIER_BIT, true);
        if (signalled)
            hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
        nanosleep(&(struct timespec){every / 1000000000, every % 1000000000}, NULL);
    }
    return 0;
}
