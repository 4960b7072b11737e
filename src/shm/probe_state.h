/*
 * The library's state of a probe: one entry in the segment (RTL_SECTION_PROBE) and, on a GPU of several dies, one entry
 * for each further die (RTL_SECTION_PROBE_DIES); only in a process started with RTL_PROBE=1. This header is the
 * contract; viewers make requests through probe_page.h, waves write probe.h.
 *
 * There are two sections because an entry may grow only so far (RTL_STRIDE_GROWTH). The library lays them out one
 * behind the other, as one struct; a reader uses the sections.
 *
 * Only the worker writes it (page_fd and page_inode: load), under `sequence`, which is odd during a write (release
 * before and after). A reader copies everything; the copy is consistent if the sequence is even and the same before and
 * after. Its attempts are bounded. Counters restart with each PREPARE and only grow until the next.
 */
#ifndef RTL_SHM_PROBE_STATE_H
#define RTL_SHM_PROBE_STATE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/probe.h"

/* Phase of a probe. X(symbol, number, JSON value, text on screen) */
#define RTL_PROBE_PHASES(X)                                            \
    X(IDLE, 0, "idle", "no probe")                                     \
    X(PREPARED, 1, "prepared", "its block is allocated")               \
    X(ARMED, 2, "armed", "armed")                                      \
    X(ENDING, 3, "ending", "disarmed, a probed dispatch is in flight") \
    X(OVER, 4, "over", "over")

/*
 * Why the library refused a request or ended its probe. The viewer's reasons to make no copy of a kernel are
 * RTL_PROBE_REFUSALS (probe/refusals.h). X(symbol, number, JSON value, text on screen); the text continues "the probe
 * ended: ".
 */
#define RTL_PROBE_ENDS_WHY(X)                                                                           \
    X(NONE, 0, "", "")                                                                                  \
    X(DONE, 1, "done", "as many dispatches as were wanted were probed")                                 \
    X(DISARMED, 2, "disarmed", "it was disarmed")                                                       \
    X(UNWATCHED, 3, "unwatched", "nobody watched any more")                                             \
    X(KERNEL_GONE, 4, "kernel_gone", "the program has unloaded the kernel")                             \
    X(QUEUE_ERROR, 5, "queue_error",                                                                    \
      "a queue failed while a probed dispatch was in flight: not again in this process")                \
    X(SHUTDOWN, 6, "shutdown", "the runtime was shut down")                                             \
    X(NO_KERNEL, 7, "no_kernel", "the process has no such kernel on that GPU")                          \
    X(NO_BLOCK, 8, "no_block", "there is no GPU memory for its numbers")                                \
    X(BAD_REQUEST, 9, "bad_request", "the request was invalid")                                         \
    X(BAD_CODE, 10, "bad_code", "its code differs from the request")                                    \
    X(NOT_LOADED, 11, "not_loaded", "the runtime didn't load its code")                                 \
    X(NO_NUMBERS, 12, "no_numbers", "its numbers could not be copied from the GPU")                     \
    X(NOT_TIMED, 13, "not_timed", "dispatches aren't timed in this mode")                               \
    X(STUCK, 14, "stuck", "a probed dispatch doesn't end")                                              \
    X(QUEUE_GONE, 15, "queue_gone", "the queue of a probed dispatch was destroyed before it had ended") \
    X(NOT_PERMITTED, 16, "not_permitted", "the viewer may not trace the process (ptrace)")

#define RTL_PROBE_PHASE_ENUM(sym, num, json, text) RTL_PROBE_PHASE_##sym = (num),
enum rtl_probe_phase { RTL_PROBE_PHASES(RTL_PROBE_PHASE_ENUM) RTL_PROBE_PHASE_COUNT };
#undef RTL_PROBE_PHASE_ENUM

#define RTL_PROBE_WHY_ENUM(sym, num, json, text) RTL_PROBE_WHY_##sym = (num),
enum rtl_probe_why { RTL_PROBE_ENDS_WHY(RTL_PROBE_WHY_ENUM) RTL_PROBE_WHY_COUNT };
#undef RTL_PROBE_WHY_ENUM

/* bytes that every version has; bytes of the section PROBE in this version */
enum { RTL_PROBE_STATE_FIRST = 3288, RTL_PROBE_STATE_BYTES = 3840 };

struct rtl_probe_die { /* worker */
    uint64_t busy[RTL_PROBE_UNITS];
};

struct rtl_probe_state {
    /* load */
    uint32_t page_fd; /* the process's descriptor of the probe page */
    uint32_t pad0;
    uint64_t page_inode; /* its inode, to check that it still is that page; 0: no page */
    /* worker: all members below */
    uint32_t sequence; /* odd: being written */
    uint16_t number;   /* of the last request that the library carried out */
    uint8_t phase;     /* enum rtl_probe_phase */
    uint8_t why;       /* enum rtl_probe_why: why the library refused the request or ended the probe */
    uint32_t status;   /* hsa_status_t of the runtime's refusal; 0: none */
    uint32_t agent;    /* index into the agents */
    uint32_t kernel;   /* row; RTL_KERNEL_UNKNOWN before its first dispatch */
    uint32_t every;
    uint32_t code_bytes, ends_shift;
    uint64_t kernel_object, probed_object; /* of the original and of the copy (0: not loaded) */
    uint64_t block;                        /* GPU address of the block; 0: none */
    uint64_t code_hash;
    uint64_t wanted;
    uint64_t armed_mono_ns; /* time of arming; 0: never */
    uint64_t dispatches;    /* of that kernel object while armed */
    uint64_t probed;        /* dispatches that ran the copy; also counted untimed, under the reason "probed" */
    uint64_t recorded;      /* probed dispatches whose numbers are below */
    /* of the recorded dispatches, from the GPU's timestamps, ns */
    uint64_t duration_total_ns, duration_min_ns, duration_max_ns;
    uint64_t waves_expected; /* from the grids */
    /* sums of the blocks; cycles of the shader clock */
    uint64_t waves, sum, min, max;
    /* time from the end of half of a dispatch's waves, or earlier, to the end of the last wave, ns */
    uint64_t tails; /* dispatches with a known tail */
    uint64_t tail_total_ns, tail_max_ns;
    uint64_t tail_step_ns;                   /* resolution of tails */
    uint64_t durations[RTL_PROBE_DURATIONS]; /* waves by the highest bit set in their cycles */
    uint64_t busy[RTL_PROBE_UNITS];          /* cycles by compute unit (numbered as in probe.h) of the first die */
    uint64_t tail_ns[RTL_PROBE_DURATIONS];   /* dispatches by the highest bit set in their tail, ns */
    /* since minor version 8; viewers read 0 before */
    uint64_t block_bytes;               /* size of `block`; 0: RTL_PROBE_BLOCK_BYTES */
    uint64_t gap_sum;                   /* cycles of empty wave slots between waves */
    uint64_t gaps[RTL_PROBE_DURATIONS]; /* gaps by the highest bit set in their cycles */
    /* since minor version 9; viewers read 0 before */
    uint64_t dies;     /* dies with pages and tables at `block`; 0: one */
    uint64_t key_at;   /* load: address of the requests' key in the process (probe_page.h); 0: an older library */
    uint64_t accepted; /* requests accepted so far; worker (release), independent of the other fields */
    /* the section PROBE_DIES: of the further dies */
    struct rtl_probe_die die[RTL_PROBE_DIES - 1];
};
static_assert(offsetof(struct rtl_probe_state, sequence) == 16 &&
                  offsetof(struct rtl_probe_state, kernel_object) == 48 &&
                  offsetof(struct rtl_probe_state, durations) == 216 &&
                  offsetof(struct rtl_probe_state, block_bytes) == RTL_PROBE_STATE_FIRST &&
                  offsetof(struct rtl_probe_state, dies) == 3816 &&
                  offsetof(struct rtl_probe_state, die) == RTL_PROBE_STATE_BYTES && RTL_PROBE_STATE_BYTES % 64 == 0,
              "probe state");

/* Return the cycles of a unit below RTL_PROBE_UNITS_ALL. */
static inline uint64_t rtl_probe_busy(const struct rtl_probe_state *state, uint32_t unit)
{
    uint32_t die = unit / RTL_PROBE_UNITS, there = unit % RTL_PROBE_UNITS;
    return die ? state->die[die - 1].busy[there] : state->busy[there];
}

/* Return the number of possible units, over all dies. */
static inline uint32_t rtl_probe_units(const struct rtl_probe_state *state)
{
    return state->dies > 1 ? RTL_PROBE_UNITS_ALL : RTL_PROBE_UNITS;
}

#endif
