/*
 * wave.h - a wave of 64 work-items, its workgroup, and how instructions reach operands and memory.
 *
 * A wave belongs to one thread from its beginning to its end; what several threads share is the memory that `find`
 * finds, and the dispatch (read only).
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

/* bits of the mode that are looked at: of all else arithmetic is as the README says */
enum { GCN_MODE_OVERFLOW = 23 };

enum gcn_wave_state { GCN_RUNS, GCN_AT_BARRIER, GCN_ENDED, GCN_YIELDS, GCN_AT_GRID };

/* where flat addresses lead to LDS and to a work-item's own memory instead of memory */
#define GCN_SHARED_APERTURE  0x1000000000000ull
#define GCN_PRIVATE_APERTURE 0x2000000000000ull
/* the base of the buffer that a wave's own memory is reached by; never memory of anybody */
#define GCN_SCRATCH_BASE 0x7e0000000000ull

struct gcn_worker;

/* operations that a counter of s_waitcnt counts: when each is done */
struct gcn_under_way {
    uint64_t done[64];
    unsigned count;
};

struct gcn_wave {
    union gcn_lane v[512][GCN_LANES]; /* the upper half: accumulation registers */
    uint32_t s[128];                  /* with vcc, m0 and exec in their places */
    uint64_t at;                      /* address of the instruction that runs */
    uint64_t pc;                      /* of the instruction behind the one that runs */
    bool scc;
    bool waits_at_grid;
    bool index_on; /* s_set_gpr_idx_on */
    uint32_t mode;
    enum gcn_wave_state state;
    struct gcn_worker *worker;
    uint64_t written; /* DPP: lanes that are written, of the instruction that runs */
    char *scratch;
    uint64_t instructions; /* that it has begun */
    uint64_t waited;       /* cycles beside those of instructions */
    struct gcn_under_way vm, lgkm;
    uint64_t arrived_in; /* AT_GRID: how often all had come to that barrier when it came */
    uint32_t hw_id;      /* where it runs, as the register of that name says it */
    uint32_t die;        /* of which, as XCC_ID says it */
    uint64_t begun;      /* cycles from the dispatch's beginning to its own */
};

struct gcn_worker {
    const struct gcn_launch *launch;
    struct gcn_span spans[GCN_SPANS]; /* found lately */
    unsigned next_span;
    uint32_t lds_bytes;
    uint64_t scratch_bytes; /* of a wave */
    enum gcn_end end;
    struct gcn_report report;
    struct gcn_code *code;
    struct gcn_wave *waves[GCN_WAVES_MAX];
    unsigned count;           /* of them that the workgroup has */
    unsigned share;           /* instructions of a wave until the next one's turn */
    bool alive;               /* its workgroup has begun and hasn't ended */
    _Atomic uint64_t idle_at; /* of a thread's first: its thread has nothing to do since so many moves; 0: it has */
    uint64_t turns;           /* that it has had */
    struct gcn_worker *more;  /* the same thread's, of workgroups that are alive at the same time */
    char *scratch;
    uint64_t scratch_room;
    char lds[GCN_LDS_MAX];
};

typedef void gcn_execute(struct gcn_wave *w, const struct gcn_inst *in);
/* by enum gcn_op; each file fills in its own, gcn_find_execute asks them */
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
/* the same for processors that have AVX2 and FMA */
gcn_execute *gcn_memory_execute_avx2(enum gcn_op op);
gcn_execute *gcn_lds_execute_avx2(enum gcn_op op);
gcn_execute *gcn_vector_execute_avx2(enum gcn_op op);
gcn_execute *gcn_compare_execute_avx2(enum gcn_op op);
gcn_execute *gcn_packed_execute_avx2(enum gcn_op op);
gcn_execute *gcn_lanes_execute_avx2(enum gcn_op op);
#ifdef GCN_AVX2 /* they use operand.c's of that kind */
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

/* what code objects say of a kernel */
struct gcn_descriptor {
    uint32_t group_bytes, private_bytes, kernarg_bytes, reserved0;
    int64_t entry;
    uint32_t reserved1[5];
    uint32_t rsrc3, rsrc1, rsrc2;
    uint16_t properties, preload;
    uint32_t reserved2;
};
_Static_assert(sizeof(struct gcn_descriptor) == 64, "kernel descriptor");

/* begin.c: the work-items from number `first` on, of the workgroup `id` */
void gcn_begin_wave(struct gcn_wave *w, const struct gcn_descriptor *d, const uint32_t id[3], unsigned first);

/* grid.c: before a dispatch */
void gcn_grid_begin(void);
void gcn_grid_after_fork(void);
/* counts what somebody may wait for: whoever looks and finds it as it was has seen nothing move. Any thread. */
extern _Atomic uint64_t gcn_moves;
/* wait.c: of an instruction that was executed, where the launch has `waits` */
void gcn_wait(struct gcn_wave *w, const struct gcn_inst *in);

/* slots.c: where a workgroup's waves run, and from when on; each of them was begun, and none has run so far. Waits for
 * threads that have all of the slots. */
void gcn_slots_take(const struct gcn_launch *g, uint64_t group, struct gcn_wave **waves, unsigned count);
/* it has ended */
void gcn_slots_give(struct gcn_wave **waves, unsigned count);
/* before a dispatch; in a child of fork */
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

/* the compute unit that it runs on, of all dies */
static inline unsigned gcn_unit(const struct gcn_wave *w)
{
    return w->die * GCN_DIE_UNITS + (w->hw_id >> 8 & 0xff);
}

uint32_t gcn_scalar(const struct gcn_wave *w, const struct gcn_inst *in, uint16_t code);
/* 64 bits; a literal of 32 is extended with its sign if `is_signed` */
uint64_t gcn_scalar64(const struct gcn_wave *w, const struct gcn_inst *in, uint16_t code, bool is_signed);

/* ---- vector operands (operand.c): a value a lane ---- */

/* f16 is handed over as float, 16-bit integers as 32-bit ones */
enum gcn_kind { GCN_U32, GCN_I32, GCN_F32, GCN_U16, GCN_I16, GCN_F16, GCN_U64, GCN_I64, GCN_F64 };

const union gcn_lane *gcn_slow_src(struct gcn_wave *w, const struct gcn_inst *in, unsigned n, enum gcn_kind kind,
                                   union gcn_lane *buffer);
const union gcn_wide *gcn_src64(struct gcn_wave *w, const struct gcn_inst *in, unsigned n, enum gcn_kind kind,
                                union gcn_wide *buffer);
/* the same without a modifier, SDWA and DPP */
const union gcn_lane *gcn_plain(struct gcn_wave *w, const struct gcn_inst *in, uint16_t code, union gcn_lane *buffer);

static inline const union gcn_lane *gcn_src(struct gcn_wave *w, const struct gcn_inst *in, unsigned n,
                                            enum gcn_kind kind, union gcn_lane *buffer)
{
    if (kind <= GCN_F32 && in->src[n] >= GCN_VGPR && in->sub == GCN_PLAIN && !((in->neg | in->abs) >> n & 1))
        return w->v[in->src[n] - GCN_VGPR];
    return gcn_slow_src(w, in, n, kind, buffer);
}

/* stores for the lanes that are on */
void gcn_put32(struct gcn_wave *w, const struct gcn_inst *in, const union gcn_lane *value);
void gcn_put_f32(struct gcn_wave *w, const struct gcn_inst *in, union gcn_lane *value);
void gcn_put16(struct gcn_wave *w, const struct gcn_inst *in, const union gcn_lane *value, bool keep);
void gcn_put_f16(struct gcn_wave *w, const struct gcn_inst *in, union gcn_lane *value, bool keep);
void gcn_put64(struct gcn_wave *w, const struct gcn_inst *in, const union gcn_wide *value);
void gcn_put_f64(struct gcn_wave *w, const struct gcn_inst *in, union gcn_wide *value);
/* which lanes the instruction may write */
uint64_t gcn_mask(const struct gcn_wave *w, const struct gcn_inst *in);

/* ---- memory (reach.c) ---- */

/* where the host finds these bytes; NULL: a fault, which ends the dispatch */
char *gcn_reach(struct gcn_wave *w, uint64_t va, uint32_t bytes);
/* the same without the fault: NULL also if they lie in more than one allocation */
char *gcn_reach_all(struct gcn_wave *w, uint64_t va, uint64_t bytes);
/* the dispatch ends here: what it met isn't modelled */
void gcn_not_modelled(struct gcn_wave *w, const struct gcn_inst *in, const char *what);

#endif
