/*
 * matrix.c - products of small matrices (MFMA) of gfx90a and gfx942: which lane and register holds which element.
 *
 * A wave holds blocks of MxK, KxN and MxN matrices. A lane has some neighbouring elements of a row of A and of a column
 * of B. Its number modulo M selects the row, the quotient selects k or the block. result() has the layout of the
 * result. No compiler uses the instructions' broadcasts (cbsz, abid, blgp), so they are not modelled.
 *
 * Sparse products (SMFMAC) have two of every four neighbours in a row of A; a register holds their indices.
 */
#include "small_float.h"
#include "wave.h"

enum element { F32, XF32, F16, BF16, I8, FP8, BF8, F64 };
enum { ELEMENTS = 1024, RESULTS = 2048 }; /* at most, over all blocks */

struct shape {
    enum gcn_op op;
    uint8_t m, k, blocks; /* MxN with N = M */
    uint8_t each;         /* elements of A in a lane */
    enum element a, b;
    bool sparse; /* k includes the missing elements; B has twice as many elements in a lane */
};

#define DENSE(name, m, k, blocks, each, a, b) {GCN_v_mfma_##name, m, k, blocks, each, a, b, false},
#define SPARSE(name, m, k, each, a, b)        {GCN_v_smfmac_##name, m, k, 1, each, a, b, true},
/* gfx90a and gfx942 have different names for these. */
#define BOTH(old, new, m, k, blocks, each, both) \
    DENSE(old, m, k, blocks, each, both, both) DENSE(new, m, k, blocks, each, both, both)

/* clang-format off */
static const struct shape shapes[] = {
    BOTH(f32_32x32x1f32, f32_32x32x1_2b_f32, 32, 1, 2, 1, F32)
    BOTH(f32_16x16x1f32, f32_16x16x1_4b_f32, 16, 1, 4, 1, F32)
    BOTH(f32_4x4x1f32, f32_4x4x1_16b_f32, 4, 1, 16, 1, F32)
    BOTH(f32_32x32x2f32, f32_32x32x2_f32, 32, 2, 1, 1, F32)
    BOTH(f32_16x16x4f32, f32_16x16x4_f32, 16, 4, 1, 1, F32)
    BOTH(f32_32x32x4f16, f32_32x32x4_2b_f16, 32, 4, 2, 4, F16)
    BOTH(f32_16x16x4f16, f32_16x16x4_4b_f16, 16, 4, 4, 4, F16)
    BOTH(f32_4x4x4f16, f32_4x4x4_16b_f16, 4, 4, 16, 4, F16)
    BOTH(f32_32x32x8f16, f32_32x32x8_f16, 32, 8, 1, 4, F16)
    BOTH(f32_16x16x16f16, f32_16x16x16_f16, 16, 16, 1, 4, F16)
    BOTH(i32_32x32x4i8, i32_32x32x4_2b_i8, 32, 4, 2, 4, I8)
    BOTH(i32_16x16x4i8, i32_16x16x4_4b_i8, 16, 4, 4, 4, I8)
    BOTH(i32_4x4x4i8, i32_4x4x4_16b_i8, 4, 4, 16, 4, I8)
    DENSE(i32_32x32x8i8, 32, 8, 1, 4, I8, I8)
    DENSE(i32_16x16x16i8, 16, 16, 1, 4, I8, I8)
    DENSE(i32_32x32x16_i8, 32, 16, 1, 8, I8, I8)
    DENSE(i32_16x16x32_i8, 16, 32, 1, 8, I8, I8)
    BOTH(f32_32x32x4bf16_1k, f32_32x32x4_2b_bf16, 32, 4, 2, 4, BF16)
    BOTH(f32_16x16x4bf16_1k, f32_16x16x4_4b_bf16, 16, 4, 4, 4, BF16)
    BOTH(f32_4x4x4bf16_1k, f32_4x4x4_16b_bf16, 4, 4, 16, 4, BF16)
    BOTH(f32_32x32x8bf16_1k, f32_32x32x8_bf16, 32, 8, 1, 4, BF16)
    BOTH(f32_16x16x16bf16_1k, f32_16x16x16_bf16, 16, 16, 1, 4, BF16)
    DENSE(f32_32x32x2bf16, 32, 2, 2, 2, BF16, BF16)
    DENSE(f32_16x16x2bf16, 16, 2, 4, 2, BF16, BF16)
    DENSE(f32_4x4x2bf16, 4, 2, 16, 2, BF16, BF16)
    DENSE(f32_32x32x4bf16, 32, 4, 1, 2, BF16, BF16)
    DENSE(f32_16x16x8bf16, 16, 8, 1, 2, BF16, BF16)
    BOTH(f64_16x16x4f64, f64_16x16x4_f64, 16, 4, 1, 1, F64)
    BOTH(f64_4x4x4f64, f64_4x4x4_4b_f64, 4, 4, 4, 1, F64)
    DENSE(f32_16x16x8_xf32, 16, 8, 1, 2, XF32, XF32)
    DENSE(f32_32x32x4_xf32, 32, 4, 1, 2, XF32, XF32)
    DENSE(f32_16x16x32_bf8_bf8, 16, 32, 1, 8, BF8, BF8)
    DENSE(f32_16x16x32_bf8_fp8, 16, 32, 1, 8, BF8, FP8)
    DENSE(f32_16x16x32_fp8_bf8, 16, 32, 1, 8, FP8, BF8)
    DENSE(f32_16x16x32_fp8_fp8, 16, 32, 1, 8, FP8, FP8)
    DENSE(f32_32x32x16_bf8_bf8, 32, 16, 1, 8, BF8, BF8)
    DENSE(f32_32x32x16_bf8_fp8, 32, 16, 1, 8, BF8, FP8)
    DENSE(f32_32x32x16_fp8_bf8, 32, 16, 1, 8, FP8, BF8)
    DENSE(f32_32x32x16_fp8_fp8, 32, 16, 1, 8, FP8, FP8)
    SPARSE(f32_16x16x32_f16, 16, 32, 4, F16, F16)
    SPARSE(f32_16x16x32_bf16, 16, 32, 4, BF16, BF16)
    SPARSE(f32_32x32x16_f16, 32, 16, 4, F16, F16)
    SPARSE(f32_32x32x16_bf16, 32, 16, 4, BF16, BF16)
    SPARSE(i32_16x16x64_i8, 16, 64, 8, I8, I8)
    SPARSE(f32_16x16x64_bf8_bf8, 16, 64, 8, BF8, BF8)
    SPARSE(f32_16x16x64_bf8_fp8, 16, 64, 8, BF8, FP8)
    SPARSE(f32_16x16x64_fp8_bf8, 16, 64, 8, FP8, BF8)
    SPARSE(f32_16x16x64_fp8_fp8, 16, 64, 8, FP8, FP8)
    SPARSE(i32_32x32x32_i8, 32, 32, 8, I8, I8)
    SPARSE(f32_32x32x32_bf8_bf8, 32, 32, 8, BF8, BF8)
    SPARSE(f32_32x32x32_bf8_fp8, 32, 32, 8, BF8, FP8)
    SPARSE(f32_32x32x32_fp8_bf8, 32, 32, 8, FP8, BF8)
    SPARSE(f32_32x32x32_fp8_fp8, 32, 32, 8, FP8, FP8)
};
/* clang-format on */

static const struct shape *shape_of(enum gcn_op op)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].op == op)
            return &shapes[i];
    return NULL;
}

/* Lane that holds element (row or column, k) of a block: the k-th of `all` elements, `each` in a lane. */
static unsigned lane_of(const struct shape *s, unsigned row, unsigned k, unsigned block, unsigned all, unsigned each)
{
    if (s->a == F64 && s->m == 4)
        return row + 4 * block + 16 * k;
    return row + s->m * (k / each + all / each * block);
}

/* Lane and register of element (row, column) of a result block. */
static void result(const struct shape *s, unsigned row, unsigned column, unsigned block, unsigned *lane, unsigned *reg)
{
    if (s->a == F64) {
        *lane = s->m == 4 ? column + 4 * block + 16 * row : column + 16 * (row % 4);
        *reg = s->m == 4 ? 0 : row / 4;
    } else if (s->m == 32) {
        *lane = column + 32 * (row / 4 % 2);
        *reg = row / 8 * 4 + row % 4 + 16 * block;
    } else if (s->m == 16) {
        *lane = column + 16 * (row / 4);
        *reg = row % 4 + 4 * block;
    } else {
        *lane = column + 4 * block;
        *reg = row;
    }
}

/* Round a float to its upper 19 bits, to nearest even, as libraries for the hardware convert f32 to xf32. */
static float xf32(float f)
{
    uint32_t bits = gcn_float_bits(f);
    if ((bits & 0x7f800000) != 0x7f800000)
        bits += 0xfff + (bits >> 13 & 1);
    return gcn_bits_float(bits & ~0x1fffu);
}

static double element(const struct gcn_wave *w, enum element kind, unsigned first, unsigned lane, unsigned i)
{
    switch (kind) {
    case F16:
        return (double)gcn_half_float(w->v[(first + i / 2) & 511][lane].u >> i % 2 * 16 & 0xffff);
    case BF16:
        return (double)gcn_bf16_float(w->v[(first + i / 2) & 511][lane].u >> i % 2 * 16 & 0xffff);
    case I8:
        return (double)(int8_t)(w->v[(first + i / 4) & 511][lane].u >> i % 4 * 8);
    case FP8:
    case BF8:
        return (double)gcn_small_float(kind == FP8 ? GCN_FP8 : GCN_BF8,
                                       w->v[(first + i / 4) & 511][lane].u >> i % 4 * 8);
    case F64: {
        union gcn_wide d = {.half = {w->v[first][lane].u, w->v[(first + 1) & 511][lane].u}};
        return d.d;
    }
    case XF32:
        return (double)xf32(w->v[(first + i) & 511][lane].f);
    default:
        return (double)w->v[first][lane].f;
    }
}

/* The result register's old element, or the constant that replaces all of them. */
static double addend(struct gcn_wave *w, const struct gcn_inst *in, const struct shape *s, unsigned lane, unsigned reg)
{
    uint16_t code = s->sparse ? in->dst : in->src[2];
    unsigned r = code - GCN_VGPR;
    if (code < GCN_VGPR) {
        if (s->a == F64) {
            union gcn_wide d = {.u = gcn_scalar64(w, in, code, true)};
            return d.d;
        }
        uint32_t bits = gcn_scalar(w, in, code);
        return s->a == I8 ? (double)(int32_t)bits : (double)gcn_bits_float(bits);
    }
    if (s->a == F64) {
        union gcn_wide d = {.half = {w->v[(r + reg * 2) & 511][lane].u, w->v[(r + reg * 2 + 1) & 511][lane].u}};
        return d.d;
    }
    union gcn_lane v = w->v[(r + reg) & 511][lane];
    return s->a == I8 ? (double)v.i : (double)v.f;
}

/* Sparse products: k of the lane's element number `which` of A. A register holds several sets of indices: cbsz 0 lets
 * abid choose, otherwise the first set is used. */
static unsigned sparse_k(const struct gcn_wave *w, const struct gcn_inst *in, const struct shape *s, unsigned lane,
                         unsigned which)
{
    unsigned set = in->cbsz & 3 ? 0 : in->abid % (16 / s->each);
    uint32_t bits = w->v[in->src[2] - GCN_VGPR][lane].u >> set * s->each * 2;
    return which / 2 * 4 + (bits >> which * 2 & 3);
}

static void product(struct gcn_wave *w, const struct gcn_inst *in)
{
    const struct shape *s = shape_of(in->op);
    double a[ELEMENTS], b[ELEMENTS], d[RESULTS];
    uint8_t places[ELEMENTS]; /* k of an element of A */
    /* For f64 products gfx942 uses this field for signs. */
    bool signs = in->op == GCN_v_mfma_f64_16x16x4_f64 || in->op == GCN_v_mfma_f64_4x4x4_4b_f64;
    bool broadcasts = (in->blgp && !signs) || (!s->sparse && (in->cbsz || in->abid));
    double sign = signs && (in->blgp ^ in->blgp >> 1) & 1 ? -1 : 1, sign_c = signs && in->blgp & 4 ? -1 : 1;
    if (broadcasts || in->src[0] < GCN_VGPR || in->src[1] < GCN_VGPR || (s->sparse && in->src[2] < GCN_VGPR)) {
        gcn_not_modelled(w, in, "a matrix product that broadcasts blocks or has a constant factor");
        return;
    }
    /* All lanes take part, independent of exec. */
    unsigned first = in->src[0] - GCN_VGPR, second = in->src[1] - GCN_VGPR, to = in->dst - GCN_VGPR, lane, reg;
    unsigned m = s->m, of_a = s->sparse ? s->k / 2 : s->k, each = s->each, each_b = s->sparse ? each * 2 : each;
    for (unsigned n = 0; n < s->blocks; n++)
        for (unsigned i = 0; i < m; i++) {
            unsigned row = n * m + i;
            for (unsigned k = 0; k < of_a; k++) {
                lane = lane_of(s, i, k, n, of_a, each);
                a[row * of_a + k] = element(w, s->a, first, lane, k % each);
                places[row * of_a + k] =
                    (uint8_t)(s->sparse ? k / each * each_b + sparse_k(w, in, s, lane, k % each) : k);
            }
            for (unsigned k = 0; k < s->k; k++)
                b[row * s->k + k] = element(w, s->b, second, lane_of(s, i, k, n, s->k, each_b), k % each_b);
        }
    for (unsigned n = 0; n < s->blocks; n++)
        for (unsigned i = 0; i < m; i++)
            for (unsigned j = 0; j < m; j++) {
                result(s, i, j, n, &lane, &reg);
                double sum = sign_c * addend(w, in, s, lane, reg);
                for (unsigned k = 0; k < of_a; k++) {
                    unsigned of = (n * m + i) * of_a + k;
                    sum += sign * a[of] * b[(n * m + j) * s->k + places[of]];
                }
                d[(n * m + i) * m + j] = sum;
            }
    for (unsigned n = 0; n < s->blocks; n++)
        for (unsigned i = 0; i < m; i++)
            for (unsigned j = 0; j < m; j++) {
                double sum = d[(n * m + i) * m + j];
                result(s, i, j, n, &lane, &reg);
                if (s->a == F64) {
                    union gcn_wide v = {.d = sum};
                    w->v[(to + reg * 2) & 511][lane].u = v.half[0];
                    w->v[(to + reg * 2 + 1) & 511][lane].u = v.half[1];
                } else if (s->a == I8) {
                    w->v[(to + reg) & 511][lane].u = (uint32_t)(int64_t)sum;
                } else {
                    w->v[(to + reg) & 511][lane].f = (float)sum;
                }
            }
}

gcn_execute *gcn_matrix_execute(enum gcn_op op)
{
    return shape_of(op) ? product : NULL;
}
