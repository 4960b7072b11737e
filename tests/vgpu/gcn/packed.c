/*
 * packed.c - packed instructions with two values in a register (VOP3P), mixed precision, dot products. The instruction
 * selects which half of each source goes into which half of the result.
 */
#include "half_lanes.h"
#include "vector_math.h"
#include "wave.h"

/* The half of source n for the low or the high half of the result, negated if the instruction says so. */
static uint32_t half_of(const struct gcn_inst *in, unsigned n, uint32_t value, bool high, bool is_float)
{
    unsigned sel = high ? in->op_sel_hi >> n & 1 : in->op_sel >> n & 1;
    unsigned neg = high ? in->abs >> n & 1 : in->neg >> n & 1;
    uint32_t h = value >> sel * 16 & 0xffff;
    return is_float && neg ? h ^ 0x8000 : h;
}

/* A 16-bit constant is in the low half; for floats it is the f16 constant. */
static const union gcn_lane *source(struct gcn_wave *w, const struct gcn_inst *in, unsigned n, bool is_float,
                                    union gcn_lane *room)
{
    uint16_t code = in->src[n];
    const union gcn_lane *from = gcn_plain(w, in, code, room);
    if (code >= GCN_INLINE_FLOAT && code <= GCN_INLINE_FLOAT + 8 && is_float)
        for (unsigned l = 0; l < GCN_LANES; l++)
            room[l].u = code == GCN_INLINE_FLOAT + 8 ? 0x3118 : gcn_float_half(room[l].f);
    return from;
}

#define FLOATS P(v_pk_add_f16, a + b) P(v_pk_mul_f16, a *b) P(v_pk_min_f16, lesser(a, b)) P(v_pk_max_f16, greater(a, b))
#define SIGNED                                                          \
    P(v_pk_mad_i16, in->clamp ? (int16_t)signed16(a *b + c) : a *b + c) \
    P(v_pk_add_i16, in->clamp ? (int16_t)signed16(a + b) : a + b)       \
    P(v_pk_sub_i16, in->clamp ? (int16_t)signed16(a - b) : a - b)       \
    P(v_pk_ashrrev_i16, b >> (a & 15)) P(v_pk_max_i16, MAX(a, b)) P(v_pk_min_i16, MIN(a, b))
#define UNSIGNED                                                      \
    P(v_pk_mul_lo_u16, a *b)                                          \
    P(v_pk_lshlrev_b16, b << (a & 15))                                \
    P(v_pk_lshrrev_b16, b >> (a & 15))                                \
    P(v_pk_mad_u16, in->clamp &&a *b + c > 65535 ? 65535 : a * b + c) \
    P(v_pk_add_u16, in->clamp &&a + b > 65535 ? 65535 : a + b)        \
    P(v_pk_sub_u16, in->clamp &&a < b ? 0 : a - b) P(v_pk_max_u16, MAX(a, b)) P(v_pk_min_u16, MIN(a, b))

/* One half of each lane of a source. */
static inline void source_halves(const struct gcn_inst *in, unsigned n, const union gcn_lane *from, unsigned high,
                                 bool is_float, uint32_t *to)
{
    unsigned shift = ((high ? in->op_sel_hi : in->op_sel) >> n & 1) * 16;
    uint32_t flip = is_float && (high ? in->abs : in->neg) >> n & 1 ? 0x8000 : 0;
    for (unsigned l = 0; l < GCN_LANES; l++)
        to[l] = (from[l].u >> shift & 0xffff) ^ flip;
}

#define LOOP(name, type, from, result)                                                             \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in)                            \
    {                                                                                              \
        union gcn_lane ar[GCN_LANES], br[GCN_LANES], cr[GCN_LANES], out[2][GCN_LANES];             \
        const union gcn_lane *ap = source(w, in, 0, false, ar), *bp = source(w, in, 1, false, br), \
                             *cp = source(w, in, 2, false, cr);                                    \
        for (unsigned h = 0; h < 2; h++) {                                                         \
            uint32_t ah[GCN_LANES], bh[GCN_LANES], ch[GCN_LANES];                                  \
            source_halves(in, 0, ap, h, false, ah);                                                \
            source_halves(in, 1, bp, h, false, bh);                                                \
            source_halves(in, 2, cp, h, false, ch);                                                \
            for (unsigned l = 0; l < GCN_LANES; l++) {                                             \
                type a = from(ah[l]), b = from(bh[l]), c = from(ch[l]);                            \
                (void)c;                                                                           \
                out[h][l].u = (result);                                                            \
            }                                                                                      \
        }                                                                                          \
        for (unsigned l = 0; l < GCN_LANES; l++)                                                   \
            out[0][l].u |= out[1][l].u << 16;                                                      \
        gcn_put32(w, in, out[0]);                                                                  \
    }

typedef void pack_floats(const float *a, const float *b, const float *c, float *to);

/* Float halves: all these instructions convert f16 to float and back. */
static inline void packed_floats(struct gcn_wave *w, const struct gcn_inst *in, unsigned sources, pack_floats *compute)
{
    union gcn_lane room[3][GCN_LANES], out[2][GCN_LANES];
    const union gcn_lane *from[3];
    for (unsigned n = 0; n < sources; n++)
        from[n] = source(w, in, n, true, room[n]);
    for (unsigned h = 0; h < 2; h++) {
        float f[3][GCN_LANES], to[GCN_LANES];
        for (unsigned n = 0; n < sources; n++) {
            uint32_t half[GCN_LANES];
            source_halves(in, n, from[n], h, true, half);
            gcn_halves_floats(half, f[n], GCN_LANES);
        }
        compute(f[0], f[1], f[2], to);
        if (in->clamp)
            for (unsigned l = 0; l < GCN_LANES; l++)
                to[l] = to[l] > 0 ? (to[l] < 1 ? to[l] : 1) : 0;
        gcn_floats_halves(to, out[h], GCN_LANES);
    }
    for (unsigned l = 0; l < GCN_LANES; l++)
        out[0][l].u |= out[1][l].u << 16;
    gcn_put32(w, in, out[0]);
}

static void fma_floats(const float *a, const float *b, const float *c, float *to)
{
    gcn_fma16_floats(a, b, c, to, GCN_LANES);
}

static void x_v_pk_fma_f16(struct gcn_wave *w, const struct gcn_inst *in)
{
    packed_floats(w, in, 3, fma_floats);
}
#define AS_SIGNED(x)   ((int16_t)(x))
#define AS_UNSIGNED(x) (x)
#define P(name, result)                                                                 \
    static void of_##name(const float *as, const float *bs, const float *cs, float *to) \
    {                                                                                   \
        (void)cs;                                                                       \
        for (unsigned l = 0; l < GCN_LANES; l++) {                                      \
            float a = as[l], b = bs[l];                                                 \
            to[l] = result;                                                             \
        }                                                                               \
    }                                                                                   \
    static void x_##name(struct gcn_wave *w, const struct gcn_inst *in)                 \
    {                                                                                   \
        packed_floats(w, in, 2, of_##name);                                             \
    }
FLOATS
#undef P
#define P(name, result) LOOP(name, int32_t, AS_SIGNED, (uint32_t)(result)&0xffff)
SIGNED
#undef P
#define P(name, result) LOOP(name, uint32_t, AS_UNSIGNED, (result)&0xffff)
UNSIGNED
#undef P

/* Fused multiply-add; each source is f32 or a half of a register. Here `abs` really means absolute value. */
static void fma_mix(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane room[3][GCN_LANES], out[GCN_LANES];
    for (unsigned n = 0; n < 3; n++) {
        bool half = in->op_sel_hi >> n & 1;
        const union gcn_lane *from = source(w, in, n, half, room[n]);
        for (unsigned l = 0; l < GCN_LANES; l++) {
            float f = half ? gcn_half_float(from[l].u >> (in->op_sel >> n & 1) * 16 & 0xffff) : from[l].f;
            f = in->abs >> n & 1 ? fabsf(f) : f;
            room[n][l].f = in->neg >> n & 1 ? -f : f;
        }
    }
    const union gcn_lane *old = w->v[in->dst - GCN_VGPR];
    for (unsigned l = 0; l < GCN_LANES; l++) {
        float f = fmaf(room[0][l].f, room[1][l].f, room[2][l].f);
        if (in->clamp)
            f = f > 0 ? (f < 1 ? f : 1) : 0;
        out[l].f = f;
        if (in->op == GCN_v_fma_mixlo_f16)
            out[l].u = (old[l].u & 0xffff0000) | gcn_float_half(f);
        else if (in->op == GCN_v_fma_mixhi_f16)
            out[l].u = (old[l].u & 0xffff) | gcn_float_half(f) << 16;
    }
    gcn_put32(w, in, out);
}

static void dot(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane ar[GCN_LANES], br[GCN_LANES], cr[GCN_LANES], out[GCN_LANES];
    bool is_float = in->op == GCN_v_dot2_f32_f16;
    const union gcn_lane *a = source(w, in, 0, is_float, ar), *b = source(w, in, 1, is_float, br),
                         *c = gcn_plain(w, in, in->src[2], cr);
    unsigned bits = in->op == GCN_v_dot4_i32_i8 || in->op == GCN_v_dot4_u32_u8   ? 8
                    : in->op == GCN_v_dot8_i32_i4 || in->op == GCN_v_dot8_u32_u4 ? 4
                                                                                 : 16;
    for (unsigned l = 0; l < GCN_LANES; l++) {
        uint32_t x = a[l].u, y = b[l].u;
        switch (in->op) {
        case GCN_v_dot2_f32_f16:
            x = half_of(in, 0, x, false, true) | half_of(in, 0, x, true, true) << 16;
            y = half_of(in, 1, y, false, true) | half_of(in, 1, y, true, true) << 16;
            out[l].f = dot2_f16(x, y, in->neg & 4 ? -c[l].f : c[l].f);
            break;
        case GCN_v_dot2_u32_u16:
        case GCN_v_dot4_u32_u8:
        case GCN_v_dot8_u32_u4:
            out[l].u = c[l].u + dot_unsigned(x, y, bits);
            break;
        default:
            out[l].u = c[l].u + dot_signed(x, y, bits);
        }
    }
    if (in->clamp)
        gcn_not_modelled(w, in, "a dot product that clamps");
    gcn_put32(w, in, out);
}

/* Two f32 at a time, in pairs of registers. */
static void packed_f32(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_wide room[3][GCN_LANES], out[GCN_LANES];
    const union gcn_wide *from[3] = {room[0], room[1], room[2]};
    unsigned sources = in->op == GCN_v_pk_fma_f32 ? 3 : 2;
    for (unsigned n = 0; n < sources; n++) {
        if (in->src[n] >= GCN_INLINE_INT && in->src[n] < GCN_VGPR) { /* the constant is in both halves */
            uint32_t value = gcn_scalar(w, in, in->src[n]);
            for (unsigned l = 0; l < GCN_LANES; l++)
                room[n][l].u = value | (uint64_t)value << 32;
        } else {
            from[n] = gcn_src64(w, in, n, GCN_U64, room[n]);
        }
    }
    if (in->op == GCN_v_pk_mov_b32) { /* the low half from the first source, the high one from the second */
        for (unsigned l = 0; l < GCN_LANES; l++) {
            out[l].half[0] = from[0][l].half[in->op_sel & 1];
            out[l].half[1] = from[1][l].half[in->op_sel >> 1 & 1];
        }
        gcn_put64(w, in, out);
        return;
    }
    for (unsigned h = 0; h < 2; h++) {
        union gcn_lane f[3][GCN_LANES], d[GCN_LANES];
        for (unsigned n = 0; n < sources; n++) {
            unsigned shift = ((h ? in->op_sel_hi : in->op_sel) >> n & 1) * 32;
            uint32_t flip = (uint32_t)((h ? in->abs : in->neg) >> n & 1) << 31;
            for (unsigned l = 0; l < GCN_LANES; l++)
                f[n][l].u = (uint32_t)(from[n][l].u >> shift) ^ flip;
        }
        if (in->op == GCN_v_pk_fma_f32)
            for (unsigned l = 0; l < GCN_LANES; l++)
                d[l].f = fmaf(f[0][l].f, f[1][l].f, f[2][l].f);
        else if (in->op == GCN_v_pk_mul_f32)
            for (unsigned l = 0; l < GCN_LANES; l++)
                d[l].f = f[0][l].f * f[1][l].f;
        else
            for (unsigned l = 0; l < GCN_LANES; l++)
                d[l].f = f[0][l].f + f[1][l].f;
        if (in->clamp)
            for (unsigned l = 0; l < GCN_LANES; l++)
                d[l].f = d[l].f > 0 ? (d[l].f < 1 ? d[l].f : 1) : 0;
        for (unsigned l = 0; l < GCN_LANES; l++)
            out[l].half[h] = d[l].u;
    }
    gcn_put64(w, in, out);
}

gcn_execute *gcn_packed_execute(enum gcn_op op)
{
    switch (op) {
#define P(name, result) \
    case GCN_##name:    \
        return x_##name;
        FLOATS SIGNED UNSIGNED;
#undef P
    case GCN_v_pk_fma_f16:
        return x_v_pk_fma_f16;
    case GCN_v_fma_mix_f32:
    case GCN_v_fma_mixlo_f16:
    case GCN_v_fma_mixhi_f16:
        return fma_mix;
    case GCN_v_dot2_f32_f16:
    case GCN_v_dot2_i32_i16:
    case GCN_v_dot2_u32_u16:
    case GCN_v_dot4_i32_i8:
    case GCN_v_dot4_u32_u8:
    case GCN_v_dot8_i32_i4:
    case GCN_v_dot8_u32_u4:
        return dot;
    case GCN_v_pk_fma_f32:
    case GCN_v_pk_mul_f32:
    case GCN_v_pk_add_f32:
    case GCN_v_pk_mov_b32:
        return packed_f32;
    default:
        return NULL;
    }
}
