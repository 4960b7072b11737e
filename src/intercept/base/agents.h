/* The process's GPUs. Found with the first queue: some releases don't have them ready in OnLoad. */
#ifndef RTL_INTERCEPT_AGENTS_H
#define RTL_INTERCEPT_AGENTS_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/base/busy.h"
#include "intercept/base/hsa_clock.h"
#include "shm/segment.h"

struct rtl_gpu {
    /* create; constant once the agent is counted, except for the handle */
    hsa_agent_t agent;        /* 0 when the runtime goes */
    uint32_t index;           /* in the segment */
    struct rtl_agent *shared; /* in the segment; NULL beyond its size */
    /* worker */
    struct rtl_tick_rate rate; /* create, if the runtime knows it; else hz is 0 until the worker has measured it */
    struct rtl_line line;      /* ticks to CLOCK_MONOTONIC; slope 0 = none yet */
    struct rtl_calibration calibration; /* the source of `line` */
    uint64_t near_from, near_ticks;     /* an end within near_ticks of near_from needs no check (ticks.h) */
    uint64_t long_ticks;                /* longer durations are checked */
    uint32_t refused;                   /* successive ends that were refused */
    bool distrusted;                    /* the runtime's conversion of ticks is wrong */
    /* sums of earlier loads of the runtime */
    uint64_t busy_before_ns;
    struct rtl_idle idle_before[RTL_IDLE_COUNT];
    uint64_t cause_before_ns[RTL_CAUSE_COUNT];
    struct rtl_gpu_gaps *gaps; /* create: in the segment; NULL: no memory for it */
    uint64_t gaps_published;   /* busy.changes then */
    uint64_t gaps_version;     /* its version */
    struct rtl_busy busy; /* worker; in ticks. Last, because most of it is arrays that are touched as they are used */
};

/* Return the agent's GPU, NULL if it is none. Iterates over the agents if it isn't known yet. */
struct rtl_gpu *rtl_gpu_find(hsa_agent_t agent);

/* Any: the same without iterating; NULL also for a GPU that isn't known yet. No lock. */
struct rtl_gpu *rtl_gpu_known(hsa_agent_t agent);

/* Any: return the GPU with that index in the segment while its runtime is loaded, else NULL. No lock. */
struct rtl_gpu *rtl_gpu_at(uint32_t index);

/* Set the GPU's tick rate. Create if the runtime knows it, else worker. */
void rtl_gpu_set_rate(struct rtl_gpu *gpu, uint64_t hz);

/* Worker: busy time over all loads. */
uint64_t rtl_gpu_busy_ns(struct rtl_gpu *gpu);

/* Worker: publish the GPUs' idle gaps. A gap is counted once it is a second older than the newest kernel; with `all`
 * at once, when nothing is in flight that could have begun in it. */
void rtl_gpus_publish_idle(bool all);

/* Worker, at its end: carry the sums over to the next load and clear everything else. */
void rtl_gpus_carry_over(void);

/* Load: forget the agents' handles when the runtime goes. */
void rtl_gpus_forget(void);

#endif
