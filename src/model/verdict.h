/*
 * The verdict why a GPU is idle: a sentence with a reason and a next step. Pure.
 *
 * The library divides idle time by cause (RTL_CAUSES in tables.h). The cause with most idle time is the verdict. A
 * steady program must keep its verdict, so two rules hold it (rtl_verdict_hold):
 *  - The causes are those of the last 10 s at least, or of the window if that is longer.
 *  - Another cause replaces the held one after it had half as much time again in 3 frames in a row. A GPU becomes busy
 *    below 5 % idle, and idle above 8 %.
 *
 * The rule, in this order:
 *  FAILED     an error stopped one of its queues
 *  UNKNOWN    the mode, or a first frame, leaves the times unknown, or a tenth of the dispatches was not timed
 *  NO_WORK    no dispatch, and nothing in flight
 *  NO_END     no kernel ended, and packets are in flight: a long kernel, or a hang
 *  UNKNOWN    several processes use the GPU: the sum of their times is a bound, and their gaps are not the GPU's
 *  BUSY       hardly idle
 *  the verdict of the held cause; IDLE if causes are not recorded, or none has any time yet
 */
#ifndef RTL_MODEL_VERDICT_H
#define RTL_MODEL_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/tables.h"

/* X(symbol, JSON value, words on screen, meaning) */
#define RTL_VERDICTS(X)                                                                                       \
    X(UNKNOWN, "unknown", "not known", "the mode, or too few timed dispatches, don't permit a verdict")       \
    X(FAILED, "queue_error", "queue error", "an error stopped a queue, which accepts no more work")           \
    X(NO_WORK, "no_work", "no work", "nothing was submitted in the window")                                   \
    X(NO_END, "no_end", "nothing ends", "kernels are in flight, but none ended in the window")                \
    X(BUSY, "busy", "busy", "kernels ran for at least 95 % of the time")                                      \
    X(BETWEEN, "between_kernels", "short gaps", "most idle time is in gaps below 10 microseconds")            \
    X(COPIES, "copies", "copies", "copies ran in most of the idle time")                                      \
    X(HOST_LATE, "host_late", "host late", "no kernel was queued in most of the idle time: the host is late") \
    X(WAITING, "waiting", "barrier", "kernels waited behind a barrier in most of the idle time")              \
    X(STARTING, "starting", "slow start", "kernels were queued without a barrier, and the GPU started late")  \
    X(IDLE, "idle", "idle", "idle for an unknown reason")

#define RTL_ENUM_VERDICT(sym, ...) RTL_VERDICT_##sym,
enum rtl_verdict { RTL_VERDICTS(RTL_ENUM_VERDICT) RTL_VERDICT_COUNT };
#undef RTL_ENUM_VERDICT

/* Why a GPU's times are unknown. X(symbol, JSON value, sentence, its short form) */
#define RTL_UNKNOWNS(X)                                                           \
    X(NOTHING, "", "nothing was timed", "not timed")                              \
    X(OFF, "mode_off", "mode off counts nothing (M)", "mode off")                 \
    X(COUNTING, "counting", "mode auto counts without times", "mode auto")        \
    X(FIRST, "first_frame", "the first frame has no window", "first frame")       \
    X(SWITCHED, "mode_changed", "the mode changed in the window", "mode changed") \
    X(OBSERVED, "observed", "observed from outside without times", "observed")    \
    X(UNTIMED, "untimed", "too few dispatches were timed (?)", "not timed")

#define RTL_ENUM_UNKNOWN(sym, ...) RTL_UNKNOWN_##sym,
enum rtl_unknown { RTL_UNKNOWNS(RTL_ENUM_UNKNOWN) RTL_UNKNOWN_COUNT };
#undef RTL_ENUM_UNKNOWN

/* A GPU's verdict in the frames before. All zeros: none yet. */
struct rtl_held_verdict {
    bool busy, any;
    enum rtl_cause cause; /* if `any` */
    uint32_t against;     /* frames in a row in which another cause was clearly larger */
};

struct rtl_gpu_facts {
    enum rtl_unknown unknown;     /* why busy and idle are not measured */
    double busy;                  /* 0..1; below 0: not measured */
    uint32_t users;               /* processes that have used it, if several are watched */
    double untimed;               /* share of the dispatches */
    bool causes_known;            /* false: an older library or recording */
    struct rtl_held_verdict held; /* as of the latest frame */
    uint64_t waits;               /* kernels with a known wait */
    uint64_t dispatches, depth;   /* in the window; in flight now */
    double copies;                /* share of the window; below 0: none timed */
    char call[48];                /* the call with most of the host's time; "": unknown */
    double call_share;            /* its share of the window, for one thread */
    char queue[48];               /* "queue 3": the one whose kernels waited most in the longest gaps; "": unknown */
    char error[64], error_kernel[64]; /* first error that stopped a queue, "": none; its kernel, "": not known */
    char error_queue[48];             /* "queue 2" */
    uint32_t error_queues;            /* queues that it stopped: several if the cause is known only by GPU */
};

/* Update the held verdict with the evidence of a frame: the share of busy time, and the time of each cause. */
void rtl_verdict_hold(struct rtl_held_verdict *held, double busy, const double cause[RTL_CAUSE_COUNT]);

enum rtl_verdict rtl_verdict_of(const struct rtl_gpu_facts *facts);
/* The value in JSON, the words on screen, and their short form. */
struct rtl_verdict_words {
    const char *key, *words, *brief;
};
struct rtl_verdict_words rtl_unknown_words(enum rtl_unknown unknown);
struct rtl_verdict_words rtl_verdict_words(enum rtl_verdict verdict);
struct rtl_verdict_words rtl_cause_words(enum rtl_cause cause);

/* Write the verdict as a sentence: "idle 24%: kernels wait behind a barrier on queue 3 (Tab)". The key in brackets
 * opens the screen with more. If the sentence exceeds `columns`, a shorter form keeps the reason: "idle 24%: barrier",
 * "barrier". */
void rtl_verdict_text(enum rtl_verdict verdict, const struct rtl_gpu_facts *facts, int columns, char *out, size_t size);

#endif
