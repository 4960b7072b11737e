/*
 * The verdict why a GPU is idle. Pure.
 *
 * All facts are of the window. In a gap none of the GPU's timed kernels ran. Gaps have size classes (tables.h); the
 * verdict judges the class with most idle time. `wait` is the time of a packet in its queue before its kernel started.
 * Each gap ends with one kernel, so:
 *  - If fewer kernels waited as long as such a gap than there were gaps, then the queue was empty during a part of the
 *    other gaps: the host was late.
 *  - If fewer kernels waited less than that than there were gaps, then packets were queued during the other gaps: a
 *    barrier, a dependency or another queue held them.
 * If both are possible (bursts of kernels that wait for one another), the snapshots of the last minute decide: in how
 * many of them nothing was in flight.
 *
 * The rule, in this order:
 *  FAILED     an error stopped one of its queues
 *  UNKNOWN    busy is not measured, or more than a tenth of the dispatches were not timed
 *  NO_WORK    no dispatch, and nothing in flight
 *  NO_END     no kernel ended, and packets are in flight: a long kernel, or a hang
 *  UNKNOWN    several processes use the GPU: the sum of their times is a bound, and their gaps are not the GPU's
 *  BUSY       idle for less than 5 %
 *  BETWEEN    gaps below 10 us: the GPU's own overhead between kernels is indistinguishable from a late host
 *  COPIES     copies took at least half of the idle time
 *  HOST_LATE  at least half of the gaps ended with a kernel that had not waited as long; or, with at least 10
 *             snapshots, nothing was in flight in at least half of the idle ones
 *  WAITING    at least half of the gaps ended with a kernel that had waited as long; or nothing was in flight in less
 *             than a quarter of the idle snapshots, of which there are at least 4
 *  IDLE       none of the above
 */
#ifndef RTL_MODEL_VERDICT_H
#define RTL_MODEL_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/tables.h"

/* X(symbol, JSON value, words on screen, meaning) */
#define RTL_VERDICTS(X)                                                                                    \
    X(UNKNOWN, "unknown", "not known", "too few dispatches were timed to decide")                          \
    X(FAILED, "queue_error", "queue error", "an error stopped a queue, which accepts no more work")        \
    X(NO_WORK, "no_work", "no work", "nothing was submitted in the window")                                \
    X(NO_END, "no_end", "nothing ends", "kernels are in flight, but none ended in the window")             \
    X(BUSY, "busy", "busy", "kernels ran for at least 95 % of the window")                                 \
    X(BETWEEN, "between_kernels", "between kernels", "most idle time is in gaps below 10 microseconds")    \
    X(COPIES, "copies", "copies", "copies took at least half as long as the idle time")                    \
    X(HOST_LATE, "host_late", "host late", "the queue was empty in the gaps: the host submitted too late") \
    X(WAITING, "waiting", "waiting", "kernels were queued, but a barrier or another queue held them up")   \
    X(IDLE, "idle", "idle", "idle for an unknown reason")

#define RTL_ENUM_VERDICT(sym, ...) RTL_VERDICT_##sym,
enum rtl_verdict { RTL_VERDICTS(RTL_ENUM_VERDICT) RTL_VERDICT_COUNT };
#undef RTL_ENUM_VERDICT

struct rtl_gpu_facts {
    double busy;                         /* 0..1; below 0: not measured */
    uint32_t users;                      /* processes that have used it, if several are watched */
    double untimed;                      /* share of the dispatches */
    double idle[RTL_IDLE_COUNT];         /* share of the window by class; below 0: not measured */
    uint64_t gaps[RTL_IDLE_COUNT];       /* number of gaps by class */
    uint64_t waits;                      /* kernels with a known wait */
    uint64_t long_waits[RTL_IDLE_COUNT]; /* kernels that waited at least as long as the class's shortest gap */
    uint64_t dispatches, depth;          /* in the window; in flight now */
    double copies;                       /* share of the window; below 0: none timed */
    char call[48];                       /* the call with most of the host's time; "": unknown */
    double call_share;                   /* its share of the window, for one thread */
    char error[64], error_kernel[64];    /* first error that stopped a queue, "": none; its kernel, "": not known */
    char error_queue[48];                /* "queue 2" */
    uint32_t error_queues;               /* queues that it stopped: several if the cause is known only by GPU */
    uint32_t looks, empty_looks;         /* snapshots of the last minute; those with nothing in flight */
    double looks_idle;                   /* mean idle share over them */
};

enum rtl_verdict rtl_verdict_of(const struct rtl_gpu_facts *facts);
const char *rtl_verdict_key(enum rtl_verdict verdict);
const char *rtl_verdict_words(enum rtl_verdict verdict);

/* Return the class with most idle time, or -1. */
int rtl_idle_class(const double idle[RTL_IDLE_COUNT]);
/* Return the bounds of a class: "<10µs", "1-10ms", "over 100ms". */
const char *rtl_idle_class_text(int idle_class);

/* "idle 31%: gaps 1-10ms, queue empty: host late"; shorter if it exceeds `columns`: "idle 31%: host late", "host
 * late". */
void rtl_verdict_text(enum rtl_verdict verdict, const struct rtl_gpu_facts *facts, int columns, char *out, size_t size);

#endif
