/*
 * lanes.c - vector instructions that do not compute one value from a lane's values: carries, selection by a mask, lanes
 * read and written from scalar registers, the steps of a division, 64-bit products.
 */
#include "bits.h"
#include "vector_math.h"
#include "wave.h"

static uint64_t mask_operand(const struct gcn_wave *w, const struct gcn_inst *in)
{
    return gcn_scalar64(w, in, in->src[2], false);
}

static void cndmask(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane ar[GCN_LANES], br[GCN_LANES], out[GCN_LANES];
    const union gcn_lane *a = gcn_src(w, in, 0, GCN_U32, ar), *b = gcn_src(w, in, 1, GCN_U32, br);
    gcn_either(mask_operand(w, in), b, a, out);
    gcn_put32(w, in, out);
}

/* Sums and differences with a carry out, some also with a carry in. */
static void carry(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane ar[GCN_LANES], br[GCN_LANES], out[GCN_LANES];
    const union gcn_lane *a = gcn_src(w, in, 0, GCN_U32, ar), *b = gcn_src(w, in, 1, GCN_U32, br), *t;
    bool with_carry = in->op == GCN_v_addc_co_u32 || in->op == GCN_v_subb_co_u32 || in->op == GCN_v_subbrev_co_u32;
    bool adds = in->op == GCN_v_add_co_u32 || in->op == GCN_v_addc_co_u32;
    if (in->op == GCN_v_subrev_co_u32 || in->op == GCN_v_subbrev_co_u32) {
        t = a;
        a = b;
        b = t;
    }
    uint32_t carries[GCN_LANES], over[GCN_LANES]; /* 0 or -1 */
    gcn_bits_lanes(with_carry ? mask_operand(w, in) : 0, carries);
    if (adds)
        for (unsigned l = 0; l < GCN_LANES; l++) {
            uint32_t sum = a[l].u + b[l].u, d = sum - carries[l];
            over[l] = 0u - (uint32_t)((sum < a[l].u) | (d < sum));
            out[l].u = d;
        }
    else
        for (unsigned l = 0; l < GCN_LANES; l++) {
            uint32_t difference = a[l].u - b[l].u, d = difference + carries[l];
            over[l] = 0u - (uint32_t)((difference > a[l].u) | (d > difference));
            out[l].u = d;
        }
    if (in->clamp)
        for (unsigned l = 0; l < GCN_LANES; l++)
            out[l].u = adds ? out[l].u | over[l] : out[l].u & ~over[l];
    uint64_t mask = gcn_mask(w, in);
    gcn_put32(w, in, out);
    gcn_set_pair(w, in->sdst, gcn_lanes_bits(over) & mask);
}

static unsigned first_lane(const struct gcn_wave *w)
{
    uint64_t exec = gcn_exec(w);
    return exec ? (unsigned)__builtin_ctzll(exec) : 0;
}

static void readfirstlane(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane room[GCN_LANES];
    w->s[in->sdst] = gcn_plain(w, in, in->src[0], room)[first_lane(w)].u;
}

static void readlane(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane room[GCN_LANES];
    w->s[in->sdst] = gcn_plain(w, in, in->src[0], room)[gcn_scalar(w, in, in->src[1]) & 63].u;
}

static void writelane(struct gcn_wave *w, const struct gcn_inst *in)
{
    w->v[in->dst - GCN_VGPR][gcn_scalar(w, in, in->src[1]) & 63].u = gcn_scalar(w, in, in->src[0]);
}

static void swap(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane *a = w->v[in->dst - GCN_VGPR], *b = w->v[(in->src[0] - GCN_VGPR) & 511];
    uint64_t mask = gcn_exec(w);
    for (unsigned l = 0; l < GCN_LANES; l++)
        if (mask >> l & 1) {
            uint32_t t = a[l].u;
            a[l].u = b[l].u;
            b[l].u = t;
        }
}

static void move_lanes(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane room[GCN_LANES];
    gcn_put32(w, in, gcn_plain(w, in, in->src[0], room));
}

static void mad64(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane ar[GCN_LANES], br[GCN_LANES];
    union gcn_wide cr[GCN_LANES], out[GCN_LANES];
    const union gcn_lane *a = gcn_src(w, in, 0, GCN_U32, ar), *b = gcn_src(w, in, 1, GCN_U32, br);
    const union gcn_wide *c = gcn_src64(w, in, 2, in->op == GCN_v_mad_i64_i32 ? GCN_I64 : GCN_U64, cr);
    uint64_t over = 0;
    for (unsigned l = 0; l < GCN_LANES; l++) {
        uint64_t product;
        if (in->op == GCN_v_mad_i64_i32) {
            product = (uint64_t)((int64_t)a[l].i * b[l].i);
            int64_t d;
            over |= (uint64_t)__builtin_add_overflow((int64_t)product, c[l].i, &d) << l;
        } else {
            product = (uint64_t)a[l].u * b[l].u;
            over |= (uint64_t)(product + c[l].u < product) << l;
        }
        out[l].u = product + c[l].u;
    }
    gcn_put64(w, in, out);
    gcn_set_pair(w, in->sdst, over & gcn_exec(w));
}

/* First step of a division: scale numerator or denominator so that every intermediate result is a normal number; sdst
 * says whether the last product must be scaled back. Exponents as stored. */
struct scaling {
    int bias, bits, far; /* of the type; exponents this far apart overflow */
    int by;              /* in powers of two */
};

static int stored_exponent(double a, const struct scaling *t)
{
    int e;
    if (a == 0)
        return 0;
    frexp(a, &e);
    e += t->bias - 1;
    return e > 0 ? e : 0;
}

static double scale(double s0, double denominator, double numerator, const struct scaling *t, bool *back)
{
    int en = stored_exponent(numerator, t), ed = stored_exponent(denominator, t);
    bool of_denominator = s0 == denominator, of_numerator = s0 == numerator;
    *back = false;
    if (denominator == 0 || numerator == 0)
        return NAN;
    if (!isfinite(denominator) || !isfinite(numerator))
        return s0;
    bool inverse_small = ed >= 2 * t->bias - 1; /* 1/denominator is subnormal */
    bool quotient_small = en - ed + t->bias <= 1;
    if (en - ed >= t->far) {
        *back = true;
        return of_denominator ? ldexp(s0, t->by) : s0;
    }
    if (ed == 0)
        return ldexp(s0, t->by);
    if (inverse_small && quotient_small) {
        *back = true;
        return of_denominator ? ldexp(s0, -t->by) : s0;
    }
    if (inverse_small)
        return ldexp(s0, -t->by);
    if (quotient_small) {
        *back = true;
        return of_numerator ? ldexp(s0, t->by) : s0;
    }
    return en <= t->bits ? ldexp(s0, t->by) : s0;
}

static const struct scaling f32 = {127, 23, 96, 64}, f64 = {1023, 53, 768, 128};

static void div_scale32(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane ar[GCN_LANES], br[GCN_LANES], cr[GCN_LANES], out[GCN_LANES];
    const union gcn_lane *a = gcn_src(w, in, 0, GCN_F32, ar), *b = gcn_src(w, in, 1, GCN_F32, br),
                         *c = gcn_src(w, in, 2, GCN_F32, cr);
    uint64_t marks = 0, mask = gcn_exec(w);
    for (unsigned l = 0; l < GCN_LANES; l++) {
        bool back;
        out[l].f = (float)scale((double)a[l].f, (double)b[l].f, (double)c[l].f, &f32, &back);
        marks |= (uint64_t)back << l;
    }
    gcn_put32(w, in, out);
    gcn_set_pair(w, in->sdst, marks & mask);
}

static void div_scale64(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_wide ar[GCN_LANES], br[GCN_LANES], cr[GCN_LANES], out[GCN_LANES];
    const union gcn_wide *a = gcn_src64(w, in, 0, GCN_F64, ar), *b = gcn_src64(w, in, 1, GCN_F64, br),
                         *c = gcn_src64(w, in, 2, GCN_F64, cr);
    uint64_t marks = 0, mask = gcn_exec(w);
    for (unsigned l = 0; l < GCN_LANES; l++) {
        bool back;
        out[l].d = scale(a[l].d, b[l].d, c[l].d, &f64, &back);
        marks |= (uint64_t)back << l;
    }
    gcn_put64(w, in, out);
    gcn_set_pair(w, in->sdst, marks & mask);
}

static void div_fmas32(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_lane ar[GCN_LANES], br[GCN_LANES], cr[GCN_LANES], out[GCN_LANES];
    const union gcn_lane *a = gcn_src(w, in, 0, GCN_F32, ar), *b = gcn_src(w, in, 1, GCN_F32, br),
                         *c = gcn_src(w, in, 2, GCN_F32, cr);
    uint64_t vcc = gcn_pair(w, GCN_VCC);
    for (unsigned l = 0; l < GCN_LANES; l++) {
        out[l].f = fmaf(a[l].f, b[l].f, c[l].f);
        if (vcc >> l & 1)
            out[l].f = ldexpf(out[l].f, fabsf(c[l].f) >= 2 ? 64 : -64);
    }
    gcn_put_f32(w, in, out);
}

static void div_fmas64(struct gcn_wave *w, const struct gcn_inst *in)
{
    union gcn_wide ar[GCN_LANES], br[GCN_LANES], cr[GCN_LANES], out[GCN_LANES];
    const union gcn_wide *a = gcn_src64(w, in, 0, GCN_F64, ar), *b = gcn_src64(w, in, 1, GCN_F64, br),
                         *c = gcn_src64(w, in, 2, GCN_F64, cr);
    uint64_t vcc = gcn_pair(w, GCN_VCC);
    for (unsigned l = 0; l < GCN_LANES; l++) {
        out[l].d = fma(a[l].d, b[l].d, c[l].d);
        if (vcc >> l & 1)
            out[l].d = ldexp(out[l].d, fabs(c[l].d) >= 2 ? 128 : -128);
    }
    gcn_put_f64(w, in, out);
}

gcn_execute *gcn_lanes_execute(enum gcn_op op)
{
    switch (op) {
    case GCN_v_cndmask_b32:
        return cndmask;
    case GCN_v_add_co_u32:
    case GCN_v_sub_co_u32:
    case GCN_v_subrev_co_u32:
    case GCN_v_addc_co_u32:
    case GCN_v_subb_co_u32:
    case GCN_v_subbrev_co_u32:
        return carry;
    case GCN_v_readfirstlane_b32:
        return readfirstlane;
    case GCN_v_readlane_b32:
        return readlane;
    case GCN_v_writelane_b32:
        return writelane;
    case GCN_v_swap_b32:
        return swap;
    case GCN_v_accvgpr_read_b32:
    case GCN_v_accvgpr_write_b32:
        return move_lanes;
    case GCN_v_mad_u64_u32:
    case GCN_v_mad_i64_i32:
        return mad64;
    case GCN_v_div_scale_f32:
        return div_scale32;
    case GCN_v_div_scale_f64:
        return div_scale64;
    case GCN_v_div_fmas_f32:
        return div_fmas32;
    case GCN_v_div_fmas_f64:
        return div_fmas64;
    default:
        return NULL;
    }
}
