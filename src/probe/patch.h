/*
 * A probed copy of a kernel: from the code object that has it, a code object of its own that has the kernel alone,
 * whose waves record how long they took. Pure: bytes in, bytes out. README.md says how and why.
 */
#ifndef RTL_PROBE_PATCH_H
#define RTL_PROBE_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/refusals.h"
#include "probe/stubs.h"

struct rtl_probe_order {
    const void *code; /* the code object, as it was given to the runtime */
    size_t bytes;
    const char *kernel;  /* its name, as dispatches are counted under: without ".kd" */
    uint64_t object;     /* where the runtime has loaded its descriptor; 0: not known */
    uint64_t block;      /* GPU address of the block (src/shm/probe.h), a multiple of 8 */
    unsigned ends_shift; /* how coarse `ends` is; RTL_STUB_ENDS_SHIFT_MAX at most */
    bool gaps;           /* there is a table of slots, too; the page alone otherwise */
    bool dies;           /* there are RTL_PROBE_BLOCK_DIES, a page and a table for each */
    bool waits;          /* the copy times waits instead of what compute units do */
    uint32_t round;      /* registers are for some of them: this copy's are those of this round, counted from 0 */
};

struct rtl_probe_wait {
    uint32_t at;   /* bytes from the entry to the s_waitcnt */
    uint32_t word; /* that it is */
    uint32_t from; /* to the third instruction before it, or one nearer: code begins there, or wasn't looked at */
};

struct rtl_probe_patch {
    void *code; /* free it with rtl_probe_patch_free */
    size_t bytes;
    uint32_t instructions, ends, pcs; /* what was found: instructions in all, places where it ends, that read the pc */
    uint32_t kept;                    /* the first of the registers that keep the clock */
    uint32_t waits, rounds;           /* s_waitcnt in all; copies that it takes to time each once */
    uint32_t timed;                   /* by this copy: */
    struct rtl_probe_wait wait[RTL_STUB_WAITS_MAX]; /* the first is pair 1 of the block */
    uint32_t sgprs_before, sgprs_after;             /* scalar registers that a wave is given */
    /* of a refusal that is about an instruction: where in its code, from its entry, and its first word */
    uint64_t at;
    uint32_t word;
};

/* RTL_PROBE_NONE: *patch is a probed copy; else why there is none, and patch->code is NULL. Takes memory and time that
 * the code object's size and the reach of a branch bound. */
enum rtl_probe_refusal rtl_probe_patch(const struct rtl_probe_order *order, struct rtl_probe_patch *patch);

void rtl_probe_patch_free(struct rtl_probe_patch *patch);

/* For people: goes on from "it can't be probed: ". */
const char *rtl_probe_refusal_text(enum rtl_probe_refusal refusal);

#endif
