/*
 * A probe as a viewer tells of it, on the screen and in recordings: how far it is, what it has measured so far, why it
 * is over. Live it comes from probing/probe_session.h, of a recording from recorded_probe.h.
 */
#ifndef RTL_RECORD_PROBE_TOLD_H
#define RTL_RECORD_PROBE_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/probe_state.h"

struct rtl_probe_told {
    bool there;      /* one was asked for: its numbers stay when it is over */
    bool runs;       /* it isn't over */
    uint32_t kernel; /* row */
    char stage[64];  /* where it stands */
    char over[240];  /* why it is over, once it is */
    char ended[32];  /* the same as one word */
    bool counted;    /* there are numbers: */
    struct rtl_probe_state state;
    bool on_gpu;                   /* it is known which one: */
    uint32_t gpu;                  /* number on screen */
    uint32_t every, compute_units; /* 0: not known */
};

#endif
