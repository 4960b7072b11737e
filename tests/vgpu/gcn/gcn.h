/*
 * gcn.h - runs the code of a kernel on the host: what whoever dispatches gives and gets.
 *
 * Nothing in this folder knows the software GPU or the driver: memory is what `find` finds.
 */
#ifndef VGPU_GCN_GCN_H
#define VGPU_GCN_GCN_H

#include "isa.h"

/* a piece of GPU memory: addresses from va on lie in the host at `host` */
struct gcn_span {
    uint64_t va, bytes;
    char *host;
};

/* What waves took, by the compute unit that they ran on (bits 8 to 15 of HW_ID, the number of the die above them): the
 * interpreter's own account. A cycle is what the counted clock counts. Several threads add to it. */
enum { GCN_DIE_UNITS = 256, GCN_DIES = 8, GCN_UNITS = GCN_DIES * GCN_DIE_UNITS, GCN_CYCLES = 4 };
struct gcn_account {
    _Atomic uint64_t waves[GCN_UNITS], cycles[GCN_UNITS];
    /* where a wave slot had a wave before: from the one's end to the other's beginning */
    _Atomic uint64_t gaps[GCN_UNITS], gap_cycles[GCN_UNITS];
    _Atomic uint64_t gap_powers[64]; /* by the highest bit set in them and `gap_more`, */
    uint64_t gap_more;               /* which whoever wants it sets */
};

/* How long operations are under way, in cycles of the counted clock; what waits for them took is added up by where they
 * are: `words` words from va on. Several threads add to it. */
struct gcn_waits {
    uint32_t vector, scalar, lds;
    uint64_t va;
    uint32_t words;
    _Atomic uint64_t *passes, *cycles;
};

/* what a dispatch packet and its kernel's descriptor say */
struct gcn_launch {
    enum gcn_target target;
    uint64_t object; /* address of the kernel descriptor */
    uint32_t grid[3];
    uint16_t group[3];
    uint32_t lds_bytes, private_bytes; /* of a workgroup, of a work-item */
    uint64_t kernarg, packet, queue, dispatch_id;
    /* which allocation has this address; false: none. Called by several threads. */
    bool (*find)(uint64_t va, struct gcn_span *span);
    unsigned threads; /* workgroups run on as many at a time */
    /* workgroups are on the compute units in turn: across the dies, on each across its engines. Of all dies; 0 is 1 */
    unsigned units, engines, dies;
    /* s_memtime: 0: the host's clock, in ns; else this much when the dispatch begins, and GCN_CYCLES more an
     * instruction of a wave and of those that its slot had before it */
    uint64_t counted_clock;
    struct gcn_account *account; /* NULL: nobody wants it */
    struct gcn_waits *waits;     /* NULL: nothing is waited for */
    uint32_t unset;              /* what scalar registers hold that nobody fills */
};

enum gcn_end {
    GCN_DONE,
    GCN_FAULT,       /* an address that is no memory */
    GCN_NOT_MODELLED /* an instruction or mode that this interpreter doesn't have */
};

struct gcn_report {
    uint64_t address;      /* FAULT: the one that is no memory */
    uint64_t pc;           /* where it happened */
    uint32_t raw[3];       /* NOT_MODELLED: the instruction */
    unsigned words;        /* of raw */
    char what[96];         /* in words */
    uint64_t instructions; /* executed, of waves */
    uint64_t waves;
};

/* runs the whole grid; any thread, one dispatch at a time */
enum gcn_end gcn_run(const struct gcn_launch *launch, struct gcn_report *report);
/* the threads are gone in a child of fork */
void gcn_reset_after_fork(void);

#endif
