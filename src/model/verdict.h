/*
 * Why a GPU is not busy, in words, from what the segment has. Pure.
 *
 * Facts are of the window. A gap is a time in which none of the GPU's timed kernels ran; gaps come in size classes
 * (tables.h), and the class that most of the idle time lies in is what is judged. `wait` is how long a packet lay in
 * its queue before it started. Each gap ends with one kernel. So
 *  - when fewer kernels waited as long as such a gap than there were gaps, the others found an empty queue for a part
 * of the gap: the host was late;
 *  - when fewer kernels waited less than that than there were gaps, the others were there all the time and something
 *    held them: a barrier, a dependency, another queue.
 * Where both are possible (kernels come in bursts and wait for one another), the looks of the last minute decide: in
 * how many of them nothing was in flight.
 *
 * The rule, in this order:
 *  UNKNOWN    busy isn't measured, or more than a tenth of the dispatches was not timed
 *  NO_WORK    no dispatch, and nothing is in flight
 *  NO_END     no kernel ended, and something is in flight: a long one, or it hangs
 *  UNKNOWN    several processes have it: the sum of what they have of it is a bound, their gaps aren't the GPU's
 *  BUSY       idle for less than 5 %
 *  BETWEEN    gaps below 10 us: what the GPU itself takes between two kernels can't be told from who came late
 *  COPIES     copies took at least as long as half of the idle time
 *  HOST_LATE  at least half of the gaps ended with a kernel that had not waited that long; or, of 10 looks at least,
 *             nothing was in flight in half as many as the GPU was idle in
 *  WAITING    likewise the other way; or nothing was in flight in less than a quarter of as many, 4 of them at least
 *  IDLE       none of these can be said
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
    double busy;                         /* 0..1, below 0 = not measured */
    uint32_t users;                      /* of several processes: those that had work on it */
    double untimed;                      /* share of the dispatches */
    double idle[RTL_IDLE_COUNT];         /* share of the window by class; below 0 = not measured */
    uint64_t gaps[RTL_IDLE_COUNT];       /* how many */
    uint64_t waits;                      /* kernels whose wait is known */
    uint64_t long_waits[RTL_IDLE_COUNT]; /* those that waited at least as long as the shortest gap of the class */
    uint64_t dispatches, depth;          /* in the window; in flight now */
    double copies;                       /* share of the window, below 0 = none timed */
    char call[48];                       /* in which the host was most of the time; "" = none is known */
    double call_share;                   /* of the window, of one thread's time */
    uint32_t looks, empty_looks;         /* of the last minute; those that found nothing in flight */
    double looks_idle;                   /* mean idle share over them */
};

enum rtl_verdict rtl_verdict_of(const struct rtl_gpu_facts *facts);
const char *rtl_verdict_key(enum rtl_verdict verdict);
const char *rtl_verdict_words(enum rtl_verdict verdict);

/* The class that most of the idle time lies in, -1 when there is none. */
int rtl_idle_class(const double idle[RTL_IDLE_COUNT]);
/* Its bounds: "<10µs", "1-10ms", "over 100ms". */
const char *rtl_idle_class_text(int idle_class);

/* "idle 31%: gaps 1-10ms, queue empty: host late"; in at most `columns`, the causes first: "idle 31%: host late",
 * "host late". */
void rtl_verdict_text(enum rtl_verdict verdict, const struct rtl_gpu_facts *facts, int columns, char *out, size_t size);

#endif
