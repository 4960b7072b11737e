/* The process's GPUs: found at the first queue, because not every release has them ready in OnLoad. */
#ifndef RTL_INTERCEPT_AGENTS_H
#define RTL_INTERCEPT_AGENTS_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "intercept/busy.h"
#include "intercept/clock.h"
#include "shm/segment.h"

struct rtl_gpu {
    /* create; constant once the agent is counted in */
    hsa_agent_t agent;
    uint32_t index;           /* in the segment */
    struct rtl_agent *shared; /* in the segment, or NULL beyond its size */
    /* worker */
    struct rtl_tick_rate rate; /* create where the runtime tells it; else hz is 0 until the worker has measured */
    struct rtl_line line;      /* ticks to CLOCK_MONOTONIC; slope 0 = none yet */
    struct rtl_busy busy;      /* in ticks */
    uint64_t busy_before_ns;   /* of earlier loads of the runtime */
};

/* The GPU of that agent; NULL when it is none. Takes stock of the agents when it isn't known yet. */
struct rtl_gpu *rtl_gpu_find(hsa_agent_t agent);

/* Forgets the agents' handles: the runtime is going. */
void rtl_gpus_forget(void);

#endif
