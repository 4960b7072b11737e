/*
 * gcn.h - the interface of the interpreter, which runs a kernel's code on the host.
 *
 * This folder depends neither on the software GPU nor on the driver; `find` supplies the memory.
 */
#ifndef VGPU_GCN_GCN_H
#define VGPU_GCN_GCN_H

#include "isa.h"

/* A range of GPU memory: address va and up is at `host`. */
struct gcn_span {
    uint64_t va, bytes;
    char *host;
};

/* Counters of the waves on each compute unit (index: bits 8 to 15 of HW_ID, with the die's number above them). A cycle
 * is one count of the counted clock. Several threads add to it. */
enum { GCN_DIE_UNITS = 256, GCN_DIES = 8, GCN_UNITS = GCN_DIES * GCN_DIE_UNITS, GCN_CYCLES = 4 };
struct gcn_account {
    _Atomic uint64_t waves[GCN_UNITS], cycles[GCN_UNITS];
    /* Gaps of a wave slot: from the end of one wave to the beginning of the next. */
    _Atomic uint64_t gaps[GCN_UNITS], gap_cycles[GCN_UNITS];
    _Atomic uint64_t gap_powers[64]; /* histogram: highest bit set in gap + gap_more */
    uint64_t gap_more;               /* set by the reader of gap_powers */
};

/* Latency of operations, in cycles of the counted clock. `passes` and `cycles` add up the waits at each instruction
 * word: `words` words from va on. Several threads add to it. */
struct gcn_waits {
    uint32_t vector, scalar, lds;
    uint64_t va;
    uint32_t words;
    _Atomic uint64_t *passes, *cycles;
};

/* Contents of a dispatch packet and its kernel's descriptor. */
struct gcn_launch {
    enum gcn_target target;
    uint64_t object; /* address of the kernel descriptor */
    uint32_t grid[3];
    uint16_t group[3];
    uint32_t lds_bytes, private_bytes; /* per workgroup, per work-item */
    uint64_t kernarg, packet, queue, dispatch_id;
    /* The allocation that has this address; false: none. Called by several threads. */
    bool (*find)(uint64_t va, struct gcn_span *span);
    unsigned threads; /* workgroups that run at the same time */
    /* Workgroups go to the compute units in turn: across the dies, then across a die's engines. Totals of all dies; 0
     * counts as 1. */
    unsigned units, engines, dies;
    /* s_memtime reads: 0: the host's clock, in ns. Otherwise this value at the dispatch's begin, plus GCN_CYCLES for
     * each instruction of the wave and of the earlier waves of its slot. */
    uint64_t counted_clock;
    struct gcn_account *account; /* NULL: do not account */
    struct gcn_waits *waits;     /* NULL: operations have no latency */
    uint32_t unset;              /* value of uninitialised scalar registers */
};

enum gcn_end {
    GCN_DONE,
    GCN_FAULT,       /* an unmapped address */
    GCN_NOT_MODELLED /* an unsupported instruction or mode */
};

struct gcn_report {
    uint64_t address;      /* FAULT: the unmapped address */
    uint64_t pc;           /* address of the instruction */
    uint32_t raw[3];       /* NOT_MODELLED: the instruction */
    unsigned words;        /* length of raw, in words */
    char what[96];         /* description */
    uint64_t instructions; /* number executed, summed over waves */
    uint64_t waves;
};

/* Run the complete grid. Any thread, one dispatch at a time. */
enum gcn_end gcn_run(const struct gcn_launch *launch, struct gcn_report *report);
/* Call in a child of fork, which has none of the threads. */
void gcn_reset_after_fork(void);

#endif
