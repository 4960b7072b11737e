/*
 * vector.c - vector arithmetic by lane. vector_ops.h defines what is computed; this file fetches, loops and stores.
 * Inactive lanes are computed too, so that compilers vectorise the loops.
 */
#include "vector_math.h"
#include "vector_ops.h"
#include "wave.h"

/* For each type: how a source is fetched, which member has its value, how a result is stored. */
#define T_u32  uint32_t
#define T_i32  int32_t
#define T_f32  float
#define T_u16  uint32_t
#define T_i16  int32_t
#define T_f16  float
#define T_u64  uint64_t
#define T_i64  int64_t
#define T_f64  double
#define T_u16k uint32_t
#define T_i16k int32_t
#define T_f16k float

#define SRC32(kind, n, x)               \
    union gcn_lane x##_room[GCN_LANES]; \
    const union gcn_lane *x##_from = gcn_src(w, in, n, kind, x##_room);
#define SRC64(kind, n, x)               \
    union gcn_wide x##_room[GCN_LANES]; \
    const union gcn_wide *x##_from = gcn_src64(w, in, n, kind, x##_room);
#define SRC_u32(n, x) SRC32(GCN_U32, n, x)
#define SRC_i32(n, x) SRC32(GCN_I32, n, x)
#define SRC_f32(n, x) SRC32(GCN_F32, n, x)
#define SRC_u16(n, x) SRC32(GCN_U16, n, x)
#define SRC_i16(n, x) SRC32(GCN_I16, n, x)
#define SRC_f16(n, x) SRC32(GCN_F16, n, x)
#define SRC_u64(n, x) SRC64(GCN_U64, n, x)
#define SRC_i64(n, x) SRC64(GCN_I64, n, x)
#define SRC_f64(n, x) SRC64(GCN_F64, n, x)

#define IN_u32  .u
#define IN_i32  .i
#define IN_f32  .f
#define IN_u16  .u
#define IN_i16  .i
#define IN_f16  .f
#define IN_u64  .u
#define IN_i64  .i
#define IN_f64  .d
#define IN_u16k .u
#define IN_i16k .i
#define IN_f16k .f

#define OUT_u32  union gcn_lane
#define OUT_i32  union gcn_lane
#define OUT_f32  union gcn_lane
#define OUT_u16  union gcn_lane
#define OUT_i16  union gcn_lane
#define OUT_f16  union gcn_lane
#define OUT_u64  union gcn_wide
#define OUT_i64  union gcn_wide
#define OUT_f64  union gcn_wide
#define OUT_u16k union gcn_lane
#define OUT_i16k union gcn_lane
#define OUT_f16k union gcn_lane

#define PUT_u32  gcn_put32(w, in, out)
#define PUT_i32  gcn_put32(w, in, out)
#define PUT_f32  gcn_put_f32(w, in, out)
#define PUT_u16  gcn_put16(w, in, out, false)
#define PUT_i16  gcn_put16(w, in, out, false)
#define PUT_f16  gcn_put_f16(w, in, out, false)
#define PUT_u64  gcn_put64(w, in, out)
#define PUT_i64  gcn_put64(w, in, out)
#define PUT_f64  gcn_put_f64(w, in, out)
#define PUT_u16k gcn_put16(w, in, out, true)
#define PUT_i16k gcn_put16(w, in, out, true)
#define PUT_f16k gcn_put_f16(w, in, out, true)

#define V1(name, td, ta, result)                                        \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in) \
    {                                                                   \
        SRC_##ta(0, a) OUT_##td out[GCN_LANES];                         \
        for (unsigned l = 0; l < GCN_LANES; l++) {                      \
            T_##ta a = a_from[l] IN_##ta;                               \
            out[l] IN_##td = (T_##td)(result);                          \
        }                                                               \
        PUT_##td;                                                       \
    }
#define V2(name, td, ta, tb, result)                                    \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in) \
    {                                                                   \
        SRC_##ta(0, a) SRC_##tb(1, b) OUT_##td out[GCN_LANES];          \
        for (unsigned l = 0; l < GCN_LANES; l++) {                      \
            T_##ta a = a_from[l] IN_##ta;                               \
            T_##tb b = b_from[l] IN_##tb;                               \
            out[l] IN_##td = (T_##td)(result);                          \
        }                                                               \
        PUT_##td;                                                       \
    }
#define V3(name, td, ta, tb, tc, result)                                      \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in)       \
    {                                                                         \
        SRC_##ta(0, a) SRC_##tb(1, b) SRC_##tc(2, c) OUT_##td out[GCN_LANES]; \
        for (unsigned l = 0; l < GCN_LANES; l++) {                            \
            T_##ta a = a_from[l] IN_##ta;                                     \
            T_##tb b = b_from[l] IN_##tb;                                     \
            T_##tc c = c_from[l] IN_##tc;                                     \
            out[l] IN_##td = (T_##td)(result);                                \
        }                                                                     \
        PUT_##td;                                                             \
    }
#define VA V3
/* Conversion to 8-bit floats; a mode bit makes overflow saturate. */
#define SATURATES           (w->mode >> GCN_MODE_OVERFLOW & 1)
#define TO_FP8(x)           gcn_float_small(GCN_FP8, x, SATURATES)
#define TO_BF8(x)           gcn_float_small(GCN_BF8, x, SATURATES)
#define FP8_BY_CHANCE(x, y) gcn_float_small_by_chance(GCN_FP8, x, y, SATURATES)
#define BF8_BY_CHANCE(x, y) gcn_float_small_by_chance(GCN_BF8, x, y, SATURATES)
GCN_VECTOR_ONE
GCN_VECTOR_TWO
GCN_VECTOR_THREE
GCN_VECTOR_ACCUMULATE
#undef V1
#undef V2
#undef V3
#undef VA

static void no_effect(struct gcn_wave *w, const struct gcn_inst *in)
{
    (void)w, (void)in;
}

gcn_execute *gcn_vector_execute(enum gcn_op op)
{
    switch (op) {
#define V1(name, ...) \
    case GCN_##name:  \
        return x_##name;
#define V2 V1
#define V3 V1
#define VA V1
        GCN_VECTOR_ONE GCN_VECTOR_TWO GCN_VECTOR_THREE GCN_VECTOR_ACCUMULATE;
    case GCN_v_nop:
    case GCN_v_clrexcp:
        return no_effect;
    default:
        return NULL;
    }
}
