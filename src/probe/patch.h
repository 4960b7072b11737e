/*
 * Makes a probed copy of a kernel: from the code object that has it, a code object with this kernel alone, whose waves
 * record their times. Pure: bytes in, bytes out. README.md explains method and reasons.
 */
#ifndef RTL_PROBE_PATCH_H
#define RTL_PROBE_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/refusals.h"
#include "probe/stubs.h"

struct rtl_probe_order {
    const void *code; /* the code object as the runtime got it */
    size_t bytes;
    const char *kernel;  /* the name under which dispatches are counted, without ".kd" */
    uint64_t object;     /* load address of its descriptor; 0: not known */
    uint64_t block;      /* GPU address of the block (src/shm/probe.h), a multiple of 8 */
    unsigned ends_shift; /* resolution of `ends`; RTL_STUB_ENDS_SHIFT_MAX at most */
    bool gaps;           /* the block has a table of slots; otherwise only the page */
    bool dies;           /* the block has RTL_PROBE_BLOCK_DIES: a page and a table for each die */
    bool waits;          /* time waits instead of compute units */
    uint32_t round;      /* registers suffice for some waits: this copy times those of this round, from 0 */
};

struct rtl_probe_wait {
    uint32_t at;   /* bytes from the entry to the s_waitcnt */
    uint32_t word; /* that instruction */
    uint32_t
        from; /* bytes to the third instruction before it, or a nearer one if code begins there or wasn't followed */
};

struct rtl_probe_patch {
    void *code; /* freed by rtl_probe_patch_free */
    size_t bytes;
    uint32_t instructions, ends, pcs;               /* number of instructions, of ends, of reads of the pc */
    uint32_t kept;                                  /* the first of the registers that keep the clock */
    uint32_t waits, rounds;                         /* number of s_waitcnt; copies needed to time each once */
    uint32_t timed;                                 /* by this copy */
    struct rtl_probe_wait wait[RTL_STUB_WAITS_MAX]; /* the first one is pair 1 of the block */
    uint32_t sgprs_before, sgprs_after;             /* scalar registers allocated for a wave */
    /* of a refused instruction: its offset from the entry, and its first word */
    uint64_t at;
    uint32_t word;
};

/* Make a copy. RTL_PROBE_NONE: *patch is a probed copy; otherwise the reason, and patch->code is NULL. The code
 * object's size and the reach of a branch bound memory and time. */
enum rtl_probe_refusal rtl_probe_patch(const struct rtl_probe_order *order, struct rtl_probe_patch *patch);

void rtl_probe_patch_free(struct rtl_probe_patch *patch);

/* Return text that continues "it can't be probed: ". */
const char *rtl_probe_refusal_text(enum rtl_probe_refusal refusal);

#endif
