/* The process's GPUs: found at the first queue, because not every release has them ready in OnLoad. */
#ifndef RTL_INTERCEPT_AGENTS_H
#define RTL_INTERCEPT_AGENTS_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/base/busy.h"
#include "intercept/base/hsa_clock.h"
#include "shm/segment.h"

struct rtl_gpu {
    /* create; constant once the agent is counted in, but for the handle */
    hsa_agent_t agent;        /* forgotten when the runtime goes */
    uint32_t index;           /* in the segment */
    struct rtl_agent *shared; /* in the segment, or NULL beyond its size */
    /* worker */
    struct rtl_tick_rate rate; /* create where the runtime tells another; else hz is 0 until the worker has measured */
    struct rtl_line line;      /* ticks to CLOCK_MONOTONIC; slope 0 = none yet */
    struct rtl_calibration calibration; /* where the line comes from */
    uint64_t near_from, near_ticks;     /* ends in so many ticks from there on are near the line (ticks.h) */
    uint64_t long_ticks;                /* what takes longer is looked at */
    uint32_t refused;                   /* ends in a row that weren't believed */
    bool distrusted;                    /* the runtime's conversion of ticks isn't believed */
    /* of earlier loads of the runtime */
    uint64_t busy_before_ns;
    struct rtl_idle idle_before[RTL_IDLE_COUNT];
    struct rtl_busy busy; /* worker; in ticks. The last: most of it is arrays that are touched as they are used */
};

/* The GPU of that agent; NULL when it is none. Takes stock of the agents when it isn't known yet. */
struct rtl_gpu *rtl_gpu_find(hsa_agent_t agent);

/* Any: the same where no stock has to be taken: NULL also when it isn't known yet. No lock. */
struct rtl_gpu *rtl_gpu_known(hsa_agent_t agent);

/* Any: the GPU at that place in the segment, while its runtime is loaded; else NULL. No lock. */
struct rtl_gpu *rtl_gpu_at(uint32_t index);

/* Sets the rate of its ticks. Create where the runtime tells it, else worker. */
void rtl_gpu_set_rate(struct rtl_gpu *gpu, uint64_t hz);

/* Worker: how long it was busy, over all loads. */
uint64_t rtl_gpu_busy_ns(struct rtl_gpu *gpu);

/*
 * Worker: publishes how the GPUs were idle. Gaps are counted when they lie a second behind the newest kernel, or at
 * once with `all`, when nothing is in flight that could have begun in them.
 */
void rtl_gpus_publish_idle(bool all);

/* Worker, at its end: what it has measured goes over to the next load, the rest begins anew there. */
void rtl_gpus_carry_over(void);

/* Load: forgets the agents' handles: the runtime is going. */
void rtl_gpus_forget(void);

#endif
