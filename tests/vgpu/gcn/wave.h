/*
 * wave.h - a wave of 64 work-items and its workgroup, and access to operands and memory.
 *
 * A wave belongs to one thread from begin to end. Threads share only the memory that `find` returns, and the dispatch
 * (read only).
 */
#ifndef VGPU_GCN_WAVE_H
#define VGPU_GCN_WAVE_H

#include "gcn.h"

#include <string.h>

enum { GCN_LANES = 64, GCN_LDS_MAX = 65536, GCN_WAVES_MAX = 16, GCN_SPANS = 8 };

union gcn_lane {
    uint32_t u;
    int32_t i;
    float f;
};

union gcn_wide {
    uint64_t u;
    int64_t i;
    double d;
    uint32_t half[2];
};

/* Modelled bits of the mode register; the README describes the arithmetic. */
enum { GCN_MODE_OVERFLOW = 23 };

enum gcn_wave_state { GCN_RUNS, GCN_AT_BARRIER, GCN_ENDED, GCN_YIELDS, GCN_AT_GRID };

/* Flat addresses that lead to LDS and to a work-item's private memory. */
#define GCN_SHARED_APERTURE  0x1000000000000ull
#define GCN_PRIVATE_APERTURE 0x2000000000000ull
/* Base of the buffer for a wave's scratch; never a valid memory address. */
#define GCN_SCRATCH_BASE 0x7e0000000000ull

struct gcn_worker;

/* Operations that a counter of s_waitcnt counts, with the times of their completion. */
struct gcn_under_way {
    uint64_t done[64];
    unsigned count;
};

struct gcn_wave {
    union gcn_lane v[512][GCN_LANES]; /* the upper half: accumulation registers */
    uint32_t s[128];                  /* with vcc, m0 and exec at their operand codes */
    uint64_t at;                      /* address of the current instruction */
    uint64_t pc;                      /* address of the next instruction */
    bool scc;
    bool waits_at_grid;
    bool index_on; /* s_set_gpr_idx_on */
    uint32_t mode;
    enum gcn_wave_state state;
    struct gcn_worker *worker;
    uint64_t written; /* DPP: lanes that the current instruction writes */
    char *scratch;
    uint64_t instructions; /* number begun */
    uint64_t waited;       /* cycles in addition to those of instructions */
    struct gcn_under_way vm, lgkm;
    uint64_t arrived_in; /* AT_GRID: the barrier's `passed` when this wave arrived */
    uint32_t hw_id;      /* its place, as in the register HW_ID */
    uint32_t die;        /* its die, as in XCC_ID */
    uint64_t begun;      /* cycles from the dispatch's beginning to its own */
};

struct gcn_worker {
    const struct gcn_launch *launch;
    struct gcn_span spans[GCN_SPANS]; /* recent results of `find` */
    unsigned next_span;
    uint32_t lds_bytes;
    uint64_t scratch_bytes; /* of one wave */
    enum gcn_end end;
    struct gcn_report report;
    struct gcn_code *code;
    struct gcn_wave *waves[GCN_WAVES_MAX];
    unsigned count;           /* number of waves in the workgroup */
    unsigned share;           /* instructions in a wave's turn */
    bool alive;               /* its workgroup has begun but not ended */
    _Atomic uint64_t idle_at; /* in a thread's first worker: value of gcn_moves since which the thread has had no work;
                                 0: it has work */
    uint64_t turns;           /* number of turns run */
    struct gcn_worker *more;  /* next worker of this thread, for another workgroup that is alive at the same time */
    char *scratch;
    uint64_t scratch_room;
    char lds[GCN_LDS_MAX];
};

typedef void gcn_execute(struct gcn_wave *w, const struct gcn_inst *in);
/* Execution functions by enum gcn_op. Each file has its own; gcn_find_execute asks all files. */
gcn_execute *gcn_scalar_execute(enum gcn_op op);
gcn_execute *gcn_memory_execute(enum gcn_op op);
gcn_execute *gcn_buffer_execute(enum gcn_op op);
gcn_execute *gcn_lds_execute(enum gcn_op op);
gcn_execute *gcn_vector_execute(enum gcn_op op);
gcn_execute *gcn_compare_execute(enum gcn_op op);
gcn_execute *gcn_packed_execute(enum gcn_op op);
gcn_execute *gcn_lanes_execute(enum gcn_op op);
gcn_execute *gcn_matrix_execute(enum gcn_op op);
gcn_execute *gcn_grid_execute(enum gcn_op op);
/* The AVX2 and FMA versions. */
gcn_execute *gcn_memory_execute_avx2(enum gcn_op op);
gcn_execute *gcn_lds_execute_avx2(enum gcn_op op);
gcn_execute *gcn_vector_execute_avx2(enum gcn_op op);
gcn_execute *gcn_compare_execute_avx2(enum gcn_op op);
gcn_execute *gcn_packed_execute_avx2(enum gcn_op op);
gcn_execute *gcn_lanes_execute_avx2(enum gcn_op op);
#ifdef GCN_AVX2 /* these call operand_avx2.c */
#define gcn_scalar   gcn_scalar_avx2
#define gcn_scalar64 gcn_scalar64_avx2
#define gcn_slow_src gcn_slow_src_avx2
#define gcn_src64    gcn_src64_avx2
#define gcn_plain    gcn_plain_avx2
#define gcn_put32    gcn_put32_avx2
#define gcn_put_f32  gcn_put_f32_avx2
#define gcn_put16    gcn_put16_avx2
#define gcn_put_f16  gcn_put_f16_avx2
#define gcn_put64    gcn_put64_avx2
#define gcn_put_f64  gcn_put_f64_avx2
#define gcn_mask     gcn_mask_avx2
#endif

/* A kernel's descriptor in a code object. */
struct gcn_descriptor {
    uint32_t group_bytes, private_bytes, kernarg_bytes, reserved0;
    int64_t entry;
    uint32_t reserved1[5];
    uint32_t rsrc3, rsrc1, rsrc2;
    uint16_t properties, preload;
    uint32_t reserved2;
};
_Static_assert(sizeof(struct gcn_descriptor) == 64, "kernel descriptor");

/* begin.c: set up a wave with the work-items from number `first` on of workgroup `id`. */
void gcn_begin_wave(struct gcn_wave *w, const struct gcn_descriptor *d, const uint32_t id[3], unsigned first);

/* grid.c: call before a dispatch, and in a child of fork. */
void gcn_grid_begin(void);
void gcn_grid_after_fork(void);
/* Counts events that a waiting wave may depend on; an unchanged value means that nothing has moved. Any thread. */
extern _Atomic uint64_t gcn_moves;
/* wait.c: account for an executed instruction, if the launch has `waits`. */
void gcn_wait(struct gcn_wave *w, const struct gcn_inst *in);

/* slots.c: choose the slots and begin times of a workgroup's waves, which are set up but have not run. Waits for
 * threads that occupy all of the slots. */
void gcn_slots_occupy(const struct gcn_launch *g, uint64_t group, struct gcn_wave **waves, unsigned count);
/* Release the slots of a workgroup that has ended. */
void gcn_slots_release(struct gcn_wave **waves, unsigned count);
/* Call before a dispatch, and in a child of fork. */
void gcn_slots_begin(void);
void gcn_slots_after_fork(void);

/* ---- scalar operands (operand.c) ---- */

static inline uint64_t gcn_pair(const struct gcn_wave *w, unsigned r)
{
    return w->s[r] | (uint64_t)w->s[r + 1] << 32;
}

static inline void gcn_set_pair(struct gcn_wave *w, unsigned r, uint64_t value)
{
    w->s[r] = (uint32_t)value;
    w->s[r + 1] = (uint32_t)(value >> 32);
}

static inline uint64_t gcn_exec(const struct gcn_wave *w)
{
    return gcn_pair(w, GCN_EXEC);
}

/* Number of its compute unit, over all dies. */
static inline unsigned gcn_unit(const struct gcn_wave *w)
{
    return w->die * GCN_DIE_UNITS + (w->hw_id >> 8 & 0xff);
}

uint32_t gcn_scalar(const struct gcn_wave *w, const struct gcn_inst *in, uint16_t code);
/* 64 bits; a 32-bit literal is sign extended if `is_signed`. */
uint64_t gcn_scalar64(const struct gcn_wave *w, const struct gcn_inst *in, uint16_t code, bool is_signed);

/* ---- vector operands (operand.c): a value a lane ---- */

/* f16 is passed as float, 16-bit integers as 32-bit ones. */
enum gcn_kind { GCN_U32, GCN_I32, GCN_F32, GCN_U16, GCN_I16, GCN_F16, GCN_U64, GCN_I64, GCN_F64 };

const union gcn_lane *gcn_slow_src(struct gcn_wave *w, const struct gcn_inst *in, unsigned n, enum gcn_kind kind,
                                   union gcn_lane *buffer);
const union gcn_wide *gcn_src64(struct gcn_wave *w, const struct gcn_inst *in, unsigned n, enum gcn_kind kind,
                                union gcn_wide *buffer);
/* gcn_src without modifiers, SDWA and DPP. */
const union gcn_lane *gcn_plain(struct gcn_wave *w, const struct gcn_inst *in, uint16_t code, union gcn_lane *buffer);

static inline const union gcn_lane *gcn_src(struct gcn_wave *w, const struct gcn_inst *in, unsigned n,
                                            enum gcn_kind kind, union gcn_lane *buffer)
{
    if (kind <= GCN_F32 && in->src[n] >= GCN_VGPR && in->sub == GCN_PLAIN && !((in->neg | in->abs) >> n & 1))
        return w->v[in->src[n] - GCN_VGPR];
    return gcn_slow_src(w, in, n, kind, buffer);
}

/* Store for the active lanes. */
void gcn_put32(struct gcn_wave *w, const struct gcn_inst *in, const union gcn_lane *value);
void gcn_put_f32(struct gcn_wave *w, const struct gcn_inst *in, union gcn_lane *value);
void gcn_put16(struct gcn_wave *w, const struct gcn_inst *in, const union gcn_lane *value, bool keep);
void gcn_put_f16(struct gcn_wave *w, const struct gcn_inst *in, union gcn_lane *value, bool keep);
void gcn_put64(struct gcn_wave *w, const struct gcn_inst *in, const union gcn_wide *value);
void gcn_put_f64(struct gcn_wave *w, const struct gcn_inst *in, union gcn_wide *value);
/* The lanes that the instruction may write. */
uint64_t gcn_mask(const struct gcn_wave *w, const struct gcn_inst *in);

/* ---- memory (reach.c) ---- */

/* Host address of these bytes. NULL: a fault, which ends the dispatch. */
char *gcn_reach(struct gcn_wave *w, uint64_t va, uint32_t bytes);
/* gcn_reach without the fault. NULL also if the bytes span more than one allocation. */
char *gcn_reach_all(struct gcn_wave *w, uint64_t va, uint64_t bytes);
/* End the dispatch: `what` is not modelled. */
void gcn_not_modelled(struct gcn_wave *w, const struct gcn_inst *in, const char *what);

#endif
