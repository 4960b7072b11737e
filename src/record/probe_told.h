/*
 * A probe as the screen shows it and recordings store it: its progress, its numbers so far, why it ended. A live probe
 * comes from probing/probe_session.h, a recorded one from recorded_probe.h.
 */
#ifndef RTL_RECORD_PROBE_TOLD_H
#define RTL_RECORD_PROBE_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/probe_state.h"

struct rtl_probe_told {
    bool there;      /* a probe was requested; its numbers stay after its end */
    bool runs;       /* false after its end */
    uint32_t kernel; /* row */
    char stage[64];  /* progress */
    char over[240];  /* reason of the end, after the end */
    char ended[32];  /* the reason as one word */
    bool counted;    /* `state` is valid */
    struct rtl_probe_state state;
    bool on_gpu;                   /* `gpu` is valid */
    uint32_t gpu;                  /* number on screen */
    uint32_t every, compute_units; /* 0: unknown */
};

#endif
