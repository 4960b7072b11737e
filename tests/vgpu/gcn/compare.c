/*
 * compare.c - vector comparisons: a bit a lane into a pair of scalar registers, 0 for inactive lanes. v_cmpx also
 * writes exec.
 */
#include "bits.h"
#include "wave.h"

#include <math.h>

static void put_mask(struct gcn_wave *w, const struct gcn_inst *in, uint64_t bits, bool into_exec)
{
    bits &= gcn_exec(w);
    gcn_set_pair(w, in->sdst, bits);
    if (into_exec)
        gcn_set_pair(w, GCN_EXEC, bits);
}

#define LOOP32(kind, member, type, result)                                                     \
    union gcn_lane ar[GCN_LANES], br[GCN_LANES];                                               \
    const union gcn_lane *ap = gcn_src(w, in, 0, kind, ar), *bp = gcn_src(w, in, 1, kind, br); \
    uint32_t lane[GCN_LANES];                                                                  \
    for (unsigned l = 0; l < GCN_LANES; l++) {                                                 \
        type a = ap[l].member, b = bp[l].member;                                               \
        (void)a, (void)b;                                                                      \
        lane[l] = 0u - (uint32_t)(result);                                                     \
    }                                                                                          \
    uint64_t bits = gcn_lanes_bits(lane);
#define LOOP64(kind, member, type, result)                                                         \
    union gcn_wide ar[GCN_LANES], br[GCN_LANES];                                                   \
    const union gcn_wide *ap = gcn_src64(w, in, 0, kind, ar), *bp = gcn_src64(w, in, 1, kind, br); \
    uint32_t lane[GCN_LANES];                                                                      \
    for (unsigned l = 0; l < GCN_LANES; l++) {                                                     \
        type a = ap[l].member, b = bp[l].member;                                                   \
        (void)a, (void)b;                                                                          \
        lane[l] = 0u - (uint32_t)(result);                                                         \
    }                                                                                              \
    uint64_t bits = gcn_lanes_bits(lane);
#define LOOP_f16(result) LOOP32(GCN_F16, f, float, result)
#define LOOP_f32(result) LOOP32(GCN_F32, f, float, result)
#define LOOP_f64(result) LOOP64(GCN_F64, d, double, result)
#define LOOP_i16(result) LOOP32(GCN_I16, i, int32_t, result)
#define LOOP_u16(result) LOOP32(GCN_U16, u, uint32_t, result)
#define LOOP_i32(result) LOOP32(GCN_I32, i, int32_t, result)
#define LOOP_u32(result) LOOP32(GCN_U32, u, uint32_t, result)
#define LOOP_i64(result) LOOP64(GCN_I64, i, int64_t, result)
#define LOOP_u64(result) LOOP64(GCN_U64, u, uint64_t, result)

/* n.. is the negation, so it also holds for unordered operands */
/* clang-format off */
#define FLOATS(ty) \
    C(f, ty, 0) C(lt, ty, a < b) C(eq, ty, a == b) C(le, ty, a <= b) C(gt, ty, a > b) C(lg, ty, a < b || a > b) \
    C(ge, ty, a >= b) C(o, ty, a == a && b == b) C(u, ty, a != a || b != b) C(nge, ty, !(a >= b)) \
    C(nlg, ty, !(a < b || a > b)) C(ngt, ty, !(a > b)) C(nle, ty, !(a <= b)) C(neq, ty, a != b) \
    C(nlt, ty, !(a < b)) C(tru, ty, 1)
#define INTS(ty) \
    C(f, ty, 0) C(lt, ty, a < b) C(eq, ty, a == b) C(le, ty, a <= b) C(gt, ty, a > b) C(ne, ty, a != b) \
    C(ge, ty, a >= b) C(t, ty, 1)
/* clang-format on */
#define ALL FLOATS(f16) FLOATS(f32) FLOATS(f64) INTS(i16) INTS(u16) INTS(i32) INTS(u32) INTS(i64) INTS(u64)

#define C(relation, t, result)                                                     \
    static void x_##relation##_##t(struct gcn_wave *w, const struct gcn_inst *in)  \
    {                                                                              \
        LOOP_##t(result) put_mask(w, in, bits, false);                             \
    }                                                                              \
    static void xx_##relation##_##t(struct gcn_wave *w, const struct gcn_inst *in) \
    {                                                                              \
        LOOP_##t(result) put_mask(w, in, bits, true);                              \
    }
ALL
#undef C

    /* Membership in ten classes, by the bits of b: signalling and quiet NaN, -inf, -normal, -denormal, -0, +0 ...
     * +inf. */
    static unsigned
    class_of(int kind, bool negative, bool quiet)
{
    switch (kind) {
    case FP_NAN:
        return quiet ? 1 : 0;
    case FP_INFINITE:
        return negative ? 2 : 9;
    case FP_NORMAL:
        return negative ? 3 : 8;
    case FP_SUBNORMAL:
        return negative ? 4 : 7;
    default:
        return negative ? 5 : 6;
    }
}

static void class32(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane ar[GCN_LANES], br[GCN_LANES];
    bool half = in->op == GCN_v_cmp_class_f16 || in->op == GCN_v_cmpx_class_f16;
    const union gcn_lane *a = gcn_src(w, in, 0, half ? GCN_F16 : GCN_F32, ar), *b = gcn_src(w, in, 1, GCN_U32, br);
    uint64_t bits = 0;
    for (unsigned l = 0; l < GCN_LANES; l++) {
        int kind = fpclassify(a[l].f);
        if (half && kind == FP_NORMAL && fabsf(a[l].f) < 0x1p-14f)
            kind = FP_SUBNORMAL;
        bits |= (uint64_t)(b[l].u >> class_of(kind, a[l].u >> 31, a[l].u >> 22 & 1) & 1) << l;
    }
    put_mask(w, in, bits, in->op == GCN_v_cmpx_class_f16 || in->op == GCN_v_cmpx_class_f32);
}

static void class64(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_wide ar[GCN_LANES];
    union gcn_lane br[GCN_LANES];
    const union gcn_wide *a = gcn_src64(w, in, 0, GCN_F64, ar);
    const union gcn_lane *b = gcn_src(w, in, 1, GCN_U32, br);
    uint64_t bits = 0;
    for (unsigned l = 0; l < GCN_LANES; l++)
        bits |= (uint64_t)(b[l].u >> class_of(fpclassify(a[l].d), a[l].u >> 63, a[l].u >> 51 & 1) & 1) << l;
    put_mask(w, in, bits, in->op == GCN_v_cmpx_class_f64);
}

gcn_execute *gcn_compare_execute(enum gcn_op op)
{
    switch (op) {
#define C(relation, t, result)        \
    case GCN_v_cmp_##relation##_##t:  \
        return x_##relation##_##t;    \
    case GCN_v_cmpx_##relation##_##t: \
        return xx_##relation##_##t;
        ALL
#undef C
            case GCN_v_cmp_class_f16 : case GCN_v_cmpx_class_f16 : case GCN_v_cmp_class_f32 : case GCN_v_cmpx_class_f32
            : return class32;
    case GCN_v_cmp_class_f64:
    case GCN_v_cmpx_class_f64:
        return class64;
    default:
        return NULL;
    }
}
