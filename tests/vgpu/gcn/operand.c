/*
 * operand.c - reads an instruction's operands by lane, with all modifiers, and stores its results.
 *
 * gcn_src in wave.h is the fast path for plain registers. This file handles the other operands: constants, scalar
 * registers, negated and absolute values, halves of registers, SDWA's bytes and words, DPP's other lanes.
 */
#include "bits.h"
#include "half.h"
#include "half_lanes.h"
#include "wave.h"

#include <math.h>

static uint32_t inline_constant(uint16_t code)
{
    static const uint32_t floats[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                      0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    if (code >= GCN_INLINE_FLOAT && code <= GCN_INLINE_FLOAT + 8)
        return floats[code - GCN_INLINE_FLOAT];
    return code <= 192 ? (uint32_t)(code - GCN_INLINE_INT) : (uint32_t)(192 - code);
}

static bool is_inline_float(uint16_t code)
{
    return code >= GCN_INLINE_FLOAT && code <= GCN_INLINE_FLOAT + 8;
}

uint32_t gcn_scalar(const struct gcn_wave *w, const struct gcn_inst *in, uint16_t code)
{
    if (code < GCN_INLINE_INT)
        return w->s[code];
    switch (code) {
    case GCN_LITERAL:
        return in->literal;
    case GCN_SHARED_BASE:
    case GCN_PRIVATE_BASE:
        return 0; /* the lower half */
    case GCN_SHARED_LIMIT:
    case GCN_PRIVATE_LIMIT:
        return 0xffffffff;
    case GCN_VCCZ:
        return gcn_pair(w, GCN_VCC) == 0;
    case GCN_EXECZ:
        return gcn_exec(w) == 0;
    case GCN_SCC:
        return w->scc;
    default:
        return inline_constant(code);
    }
}

uint64_t gcn_scalar64(const struct gcn_wave *w, const struct gcn_inst *in, uint16_t code, bool is_signed)
{
    if (code < GCN_INLINE_INT - 1)
        return gcn_pair(w, code);
    switch (code) {
    case GCN_LITERAL:
        return is_signed ? (uint64_t)(int64_t)(int32_t)in->literal : in->literal;
    case GCN_SHARED_BASE:
    case GCN_SHARED_LIMIT:
        return GCN_SHARED_APERTURE | gcn_scalar(w, in, code);
    case GCN_PRIVATE_BASE:
    case GCN_PRIVATE_LIMIT:
        return GCN_PRIVATE_APERTURE | gcn_scalar(w, in, code);
    default:
        break;
    }
    uint32_t bits = gcn_scalar(w, in, code);
    if (is_inline_float(code)) {
        union gcn_wide d = {.d = code == GCN_INLINE_FLOAT + 8 ? 0.15915494309189532 : gcn_bits_float(bits)};
        return d.u;
    }
    return (uint64_t)(int64_t)(int32_t)bits;
}

/* The lane from which this lane's value comes; -1: none. */
static int dpp_source(unsigned control, int lane)
{
    int row = lane & ~15, in_row = lane & 15, n = (int)(control & 15), from;
    if (control < 0x100)
        return (lane & ~3) | (int)(control >> (lane & 3) * 2 & 3);
    switch (control & 0x1f0) {
    case 0x100: /* row_shl */
        return in_row + n < 16 ? lane + n : -1;
    case 0x110: /* row_shr */
        return in_row >= n ? lane - n : -1;
    case 0x120: /* row_ror */
        return row | ((in_row - n) & 15);
    case 0x150: /* row_newbcast */
        return row | n;
    default:
        break;
    }
    switch (control) {
    case 0x130: /* wave_shl:1 */
        return lane + 1 < GCN_LANES ? lane + 1 : -1;
    case 0x134: /* wave_rol:1 */
        return (lane + 1) % GCN_LANES;
    case 0x138: /* wave_shr:1 */
        return lane - 1;
    case 0x13c: /* wave_ror:1 */
        return (lane + GCN_LANES - 1) % GCN_LANES;
    case 0x140: /* row_mirror */
        return row | (15 - in_row);
    case 0x141: /* row_half_mirror */
        return (lane & ~7) | (7 - (lane & 7));
    case 0x142: /* row_bcast:15 */
        return row - 1;
    case 0x143: /* row_bcast:31 */
        from = (lane & ~31) - 1;
        return from;
    default:
        return -1;
    }
}

/* Fill in each lane's source lane, and decide which lanes are written. */
static void dpp_lanes(struct gcn_wave *w, const struct gcn_inst *in, int from[GCN_LANES])
{
    uint64_t exec = gcn_exec(w), written = 0;
    for (int l = 0; l < GCN_LANES; l++) {
        from[l] = dpp_source(in->dpp, l);
        if (from[l] >= 0 && !(exec >> from[l] & 1))
            from[l] = -1;
        bool on = (in->row_mask >> (l >> 4) & 1) && (in->bank_mask >> ((l & 15) >> 2) & 1);
        if (on && (from[l] >= 0 || in->bound_ctrl))
            written |= 1ull << l;
    }
    w->written = written;
}

uint64_t gcn_mask(const struct gcn_wave *w, const struct gcn_inst *in)
{
    return in->sub == GCN_BY_DPP ? gcn_exec(w) & w->written : gcn_exec(w);
}

const union gcn_lane *gcn_plain(struct gcn_wave *w, const struct gcn_inst *in, uint16_t code, union gcn_lane *buffer)
{
    if (code >= GCN_VGPR && code < GCN_VGPR + 512)
        return w->v[code - GCN_VGPR];
    uint32_t value = gcn_scalar(w, in, code);
    for (unsigned l = 0; l < GCN_LANES; l++)
        buffer[l].u = value;
    return buffer;
}

static void select_part(union gcn_lane *b, unsigned sel, bool sext)
{
    if (sel == GCN_SEL_DWORD)
        return;
    unsigned shift = sel >= GCN_SEL_WORD0 ? (sel & 1) * 16u : sel * 8u;
    unsigned over = sel >= GCN_SEL_WORD0 ? 16 : 24; /* number of register bits that the value does not use */
    gcn_ints *at = (gcn_ints *)b;
    for (unsigned i = 0; i < GCN_LANES / GCN_AT_ONCE; i++) {
        gcn_ints upper = at[i] << (over - shift); /* move the value to the highest bits */
        at[i] = upper >> over;
        if (!sext)
            at[i] &= (int32_t)(UINT32_MAX >> over);
    }
}

/* Value of a constant for a 16-bit operand. */
static uint32_t constant16(const struct gcn_inst *in, uint16_t code, uint32_t bits)
{
    (void)in;
    if (code == GCN_INLINE_FLOAT + 8)
        return 0x3118;
    return is_inline_float(code) ? gcn_float_half(gcn_bits_float(bits)) : bits & 0xffff;
}

static void convert_lanes(union gcn_lane *b, enum gcn_kind kind, bool neg, bool abs)
{
    switch (kind) {
    case GCN_F16:
        gcn_halves_floats(b, b, GCN_LANES);
        break;
    case GCN_U16:
        for (unsigned l = 0; l < GCN_LANES; l++)
            b[l].u &= 0xffff;
        break;
    case GCN_I16:
        for (unsigned l = 0; l < GCN_LANES; l++)
            b[l].i = (int16_t)b[l].u;
        break;
    default:
        break;
    }
    /* Change the sign bit only, for any type: v_cndmask_b32 and v_mov_b32 have modifiers too. */
    uint32_t keep = abs ? 0x7fffffff : 0xffffffff, flip = neg ? 0x80000000 : 0;
    if ((neg || abs) && (kind == GCN_F32 || kind == GCN_F16 || kind == GCN_U32))
        for (unsigned l = 0; l < GCN_LANES; l++)
            b[l].u = (b[l].u & keep) ^ flip;
}

const union gcn_lane *gcn_slow_src(struct gcn_wave *w, const struct gcn_inst *in, unsigned n, enum gcn_kind kind,
                                   union gcn_lane *buffer)
{
    uint16_t code = in->src[n];
    bool small = kind >= GCN_U16 && kind <= GCN_F16;
    const union gcn_lane *from = gcn_plain(w, in, code, buffer);
    if (from == buffer && kind <= GCN_F32 && in->sub == GCN_PLAIN && !((in->neg | in->abs) >> n & 1))
        return buffer;
    int lanes[GCN_LANES];
    if (from != buffer)
        memcpy(buffer, from, sizeof *buffer * GCN_LANES);
    else if (small && code >= GCN_INLINE_INT && code < GCN_VGPR) {
        uint32_t value = constant16(in, code, buffer[0].u);
        for (unsigned l = 0; l < GCN_LANES; l++)
            buffer[l].u = value;
    }
    if (in->sub == GCN_BY_DPP && n == 0) {
        dpp_lanes(w, in, lanes);
        union gcn_lane other[GCN_LANES];
        memcpy(other, buffer, sizeof other);
        for (unsigned l = 0; l < GCN_LANES; l++)
            buffer[l].u = lanes[l] < 0 ? 0 : other[lanes[l]].u;
    } else if (in->sub == GCN_BY_SDWA && n < 2) {
        select_part(buffer, in->sel[n], in->sext >> n & 1);
    } else if (in->format == GCN_VOP3 && small && in->op_sel >> n & 1) {
        for (unsigned l = 0; l < GCN_LANES; l++)
            buffer[l].u >>= 16;
    }
    convert_lanes(buffer, kind, in->neg >> n & 1, in->abs >> n & 1);
    return buffer;
}

const union gcn_wide *gcn_src64(struct gcn_wave *w, const struct gcn_inst *in, unsigned n, enum gcn_kind kind,
                                union gcn_wide *buffer)
{
    uint16_t code = in->src[n];
    if (code >= GCN_VGPR) {
        const union gcn_lane *low = w->v[code - GCN_VGPR], *high = w->v[(code - GCN_VGPR + 1) % 512];
        int lanes[GCN_LANES];
        bool moved = in->sub == GCN_BY_DPP && n == 0;
        if (moved)
            dpp_lanes(w, in, lanes);
        for (int l = 0; l < GCN_LANES; l++) {
            int from = moved ? lanes[l] : l;
            buffer[l].u = from < 0 ? 0 : low[from].u | (uint64_t)high[from].u << 32;
        }
    } else {
        uint64_t value = gcn_scalar64(w, in, code, kind == GCN_I64);
        if (code == GCN_LITERAL && kind == GCN_F64)
            value = (uint64_t)in->literal << 32;
        for (unsigned l = 0; l < GCN_LANES; l++)
            buffer[l].u = value;
    }
    if (kind == GCN_F64) {
        uint64_t keep = in->abs >> n & 1 ? INT64_MAX : UINT64_MAX, flip = (uint64_t)(in->neg >> n & 1) << 63;
        for (unsigned l = 0; l < GCN_LANES; l++)
            buffer[l].u = (buffer[l].u & keep) ^ flip;
    }
    return buffer;
}

/* SDWA: insert the result into its part of the register. */
static uint32_t placed(const struct gcn_inst *in, uint32_t old, uint32_t value)
{
    if (in->dst_sel == GCN_SEL_DWORD)
        return value;
    unsigned bits = in->dst_sel >= GCN_SEL_WORD0 ? 16 : 8;
    unsigned shift = in->dst_sel >= GCN_SEL_WORD0 ? (in->dst_sel - GCN_SEL_WORD0) * 16u : in->dst_sel * 8u;
    uint32_t field = (1u << bits) - 1, part = (value & field) << shift;
    if (in->dst_unused == 2)
        return (old & ~(field << shift)) | part;
    if (in->dst_unused == 1 && value >> (bits - 1) & 1 && shift + bits < 32)
        part |= ~0u << (shift + bits);
    return part;
}

void gcn_put32(struct gcn_wave *w, const struct gcn_inst *in, const union gcn_lane *value)
{
    union gcn_lane *to = w->v[in->dst - GCN_VGPR];
    uint64_t mask = gcn_mask(w, in);
    if (in->sub == GCN_BY_SDWA && in->dst_sel != GCN_SEL_DWORD) {
        for (unsigned l = 0; l < GCN_LANES; l++)
            if (mask >> l & 1)
                to[l].u = placed(in, to[l].u, value[l].u);
        return;
    }
    if (mask == UINT64_MAX) {
        memcpy(to, value, sizeof *to * GCN_LANES);
        return;
    }
    gcn_either(mask, value, to, to);
}

/* Output modifiers of floats. Clamp turns NaN into 0, as with DX10_CLAMP, which compilers leave on. */
static float modified(const struct gcn_inst *in, float f)
{
    static const float by[] = {1, 2, 4, 0.5f};
    f = in->omod ? f * by[in->omod] : f;
    if (in->clamp)
        f = f > 0 ? (f < 1 ? f : 1) : 0;
    return f;
}

void gcn_put_f32(struct gcn_wave *w, const struct gcn_inst *in, union gcn_lane *value)
{
    if (in->omod || in->clamp)
        for (unsigned l = 0; l < GCN_LANES; l++)
            value[l].f = modified(in, value[l].f);
    gcn_put32(w, in, value);
}

/* A 16-bit result clears the other half, except for instructions that keep it or select the half. */
void gcn_put16(struct gcn_wave *w, const struct gcn_inst *in, const union gcn_lane *value, bool keep)
{
    union gcn_lane *to = w->v[in->dst - GCN_VGPR];
    union gcn_lane out[GCN_LANES];
    bool high = in->format == GCN_VOP3 && in->op_sel & 8;
    if (in->sub == GCN_BY_SDWA) {
        gcn_put32(w, in, value);
        return;
    }
    uint32_t stays = high ? 0xffff : keep ? 0xffff0000 : 0;
    unsigned shift = high ? 16 : 0;
    for (unsigned l = 0; l < GCN_LANES; l++)
        out[l].u = (to[l].u & stays) | (value[l].u & 0xffff) << shift;
    gcn_put32(w, in, out);
}

void gcn_put_f16(struct gcn_wave *w, const struct gcn_inst *in, union gcn_lane *value, bool keep)
{
    if (in->omod || in->clamp)
        for (unsigned l = 0; l < GCN_LANES; l++)
            value[l].f = modified(in, value[l].f);
    gcn_floats_halves(value, value, GCN_LANES);
    gcn_put16(w, in, value, keep);
}

void gcn_put64(struct gcn_wave *w, const struct gcn_inst *in, const union gcn_wide *value)
{
    union gcn_lane *low = w->v[in->dst - GCN_VGPR], *high = w->v[(in->dst - GCN_VGPR + 1) % 512];
    uint64_t mask = gcn_mask(w, in);
    uint32_t on[GCN_LANES];
    gcn_bits_lanes(mask, on);
    for (unsigned l = 0; l < GCN_LANES; l++)
        low[l].u = (value[l].half[0] & on[l]) | (low[l].u & ~on[l]);
    for (unsigned l = 0; l < GCN_LANES; l++)
        high[l].u = (value[l].half[1] & on[l]) | (high[l].u & ~on[l]);
}

void gcn_put_f64(struct gcn_wave *w, const struct gcn_inst *in, union gcn_wide *value)
{
    static const double by[] = {1, 2, 4, 0.5};
    for (unsigned l = 0; l < GCN_LANES && (in->omod || in->clamp); l++) {
        double d = value[l].d * by[in->omod];
        value[l].d = in->clamp ? (d > 0 ? (d < 1 ? d : 1) : 0) : d;
    }
    gcn_put64(w, in, value);
}
