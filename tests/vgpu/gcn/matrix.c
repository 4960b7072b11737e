/*
 * matrix.c - products of small matrices (MFMA), as gfx90a has them: which lane and register holds which element.
 *
 * A wave holds blocks of MxK, KxN and MxN matrices. A lane has some neighbouring elements of a row of A and of a column
 * of B; which row is its number modulo M, which k or block the rest of it says. The result lies in registers as
 * result() says. The broadcasts that the instructions can do beside (cbsz, abid, blgp) are used by no compiler.
 */
#include "half.h"
#include "wave.h"

enum element { F32, F16, BF16, I8, F64 };

struct shape {
    enum gcn_op op;
    uint8_t m, k, blocks; /* MxN with N = M */
    enum element element;
    uint8_t each; /* elements of A and B a lane */
};

static const struct shape shapes[] = {
    {GCN_v_mfma_f32_32x32x1f32, 32, 1, 2, F32, 1},      {GCN_v_mfma_f32_16x16x1f32, 16, 1, 4, F32, 1},
    {GCN_v_mfma_f32_4x4x1f32, 4, 1, 16, F32, 1},        {GCN_v_mfma_f32_32x32x2f32, 32, 2, 1, F32, 1},
    {GCN_v_mfma_f32_16x16x4f32, 16, 4, 1, F32, 1},      {GCN_v_mfma_f32_32x32x4f16, 32, 4, 2, F16, 4},
    {GCN_v_mfma_f32_16x16x4f16, 16, 4, 4, F16, 4},      {GCN_v_mfma_f32_4x4x4f16, 4, 4, 16, F16, 4},
    {GCN_v_mfma_f32_32x32x8f16, 32, 8, 1, F16, 4},      {GCN_v_mfma_f32_16x16x16f16, 16, 16, 1, F16, 4},
    {GCN_v_mfma_i32_32x32x4i8, 32, 4, 2, I8, 4},        {GCN_v_mfma_i32_16x16x4i8, 16, 4, 4, I8, 4},
    {GCN_v_mfma_i32_4x4x4i8, 4, 4, 16, I8, 4},          {GCN_v_mfma_i32_32x32x8i8, 32, 8, 1, I8, 4},
    {GCN_v_mfma_i32_16x16x16i8, 16, 16, 1, I8, 4},      {GCN_v_mfma_f32_32x32x4bf16_1k, 32, 4, 2, BF16, 4},
    {GCN_v_mfma_f32_16x16x4bf16_1k, 16, 4, 4, BF16, 4}, {GCN_v_mfma_f32_4x4x4bf16_1k, 4, 4, 16, BF16, 4},
    {GCN_v_mfma_f32_32x32x8bf16_1k, 32, 8, 1, BF16, 4}, {GCN_v_mfma_f32_16x16x16bf16_1k, 16, 16, 1, BF16, 4},
    {GCN_v_mfma_f32_32x32x2bf16, 32, 2, 2, BF16, 2},    {GCN_v_mfma_f32_16x16x2bf16, 16, 2, 4, BF16, 2},
    {GCN_v_mfma_f32_4x4x2bf16, 4, 2, 16, BF16, 2},      {GCN_v_mfma_f32_32x32x4bf16, 32, 4, 1, BF16, 2},
    {GCN_v_mfma_f32_16x16x8bf16, 16, 8, 1, BF16, 2},    {GCN_v_mfma_f64_16x16x4f64, 16, 4, 1, F64, 1},
    {GCN_v_mfma_f64_4x4x4f64, 4, 4, 4, F64, 1},
};

static const struct shape *shape_of(enum gcn_op op)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].op == op)
            return &shapes[i];
    return NULL;
}

/* lane, and which of its elements, that holds element (row or column, k) of a block */
static unsigned lane_of(const struct shape *s, unsigned row, unsigned k, unsigned block)
{
    if (s->element == F64 && s->m == 4)
        return row + 4 * block + 16 * k;
    return row + s->m * (k / s->each + s->k / s->each * block);
}

/* where element (row, column) of a block of the result is */
static void result(const struct shape *s, unsigned row, unsigned column, unsigned block, unsigned *lane, unsigned *reg)
{
    if (s->element == F64) {
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

static double element(const struct gcn_wave *w, const struct shape *s, unsigned first, unsigned lane, unsigned i)
{
    switch (s->element) {
    case F16:
        return (double)gcn_half_float(w->v[(first + i / 2) & 511][lane].u >> i % 2 * 16 & 0xffff);
    case BF16:
        return (double)gcn_bf16_float(w->v[(first + i / 2) & 511][lane].u >> i % 2 * 16 & 0xffff);
    case I8:
        return (double)(int8_t)(w->v[first][lane].u >> i * 8);
    case F64: {
        union gcn_wide d = {.half = {w->v[first][lane].u, w->v[(first + 1) & 511][lane].u}};
        return d.d;
    }
    default:
        return (double)w->v[first][lane].f;
    }
}

/* the result's register and element as it was, or the constant that stands for all */
static double addend(struct gcn_wave *w, const struct gcn_inst *in, const struct shape *s, unsigned lane, unsigned reg)
{
    uint16_t code = in->src[2];
    unsigned r = code - GCN_VGPR;
    if (code < GCN_VGPR) {
        if (s->element == F64) {
            union gcn_wide d = {.u = gcn_scalar64(w, in, code, true)};
            return d.d;
        }
        uint32_t bits = gcn_scalar(w, in, code);
        return s->element == I8 ? (double)(int32_t)bits : (double)gcn_bits_float(bits);
    }
    if (s->element == F64) {
        union gcn_wide d = {.half = {w->v[(r + reg * 2) & 511][lane].u, w->v[(r + reg * 2 + 1) & 511][lane].u}};
        return d.d;
    }
    union gcn_lane v = w->v[(r + reg) & 511][lane];
    return s->element == I8 ? (double)v.i : (double)v.f;
}

static void product(struct gcn_wave *w, const struct gcn_inst *in)
{
    const struct shape *s = shape_of(in->op);
    double a[16][32][16], b[16][32][16], d[16][32][32];
    if (in->cbsz || in->abid || in->blgp || in->src[0] < GCN_VGPR || in->src[1] < GCN_VGPR) {
        gcn_not_modelled(w, in, "a matrix product that broadcasts blocks or has a constant factor");
        return;
    }
    /* all lanes take part, whatever exec says */
    unsigned first = in->src[0] - GCN_VGPR, second = in->src[1] - GCN_VGPR, to = in->dst - GCN_VGPR, lane, reg;
    for (unsigned n = 0; n < s->blocks; n++)
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned k = 0; k < s->k; k++) {
                lane = lane_of(s, i, k, n);
                a[n][i][k] = element(w, s, first, lane, k % s->each);
                b[n][i][k] = element(w, s, second, lane, k % s->each);
            }
    for (unsigned n = 0; n < s->blocks; n++)
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->m; j++) {
                result(s, i, j, n, &lane, &reg);
                double sum = addend(w, in, s, lane, reg);
                for (unsigned k = 0; k < s->k; k++)
                    sum += a[n][i][k] * b[n][j][k];
                d[n][i][j] = sum;
            }
    for (unsigned n = 0; n < s->blocks; n++)
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->m; j++) {
                result(s, i, j, n, &lane, &reg);
                if (s->element == F64) {
                    union gcn_wide v = {.d = d[n][i][j]};
                    w->v[(to + reg * 2) & 511][lane].u = v.half[0];
                    w->v[(to + reg * 2 + 1) & 511][lane].u = v.half[1];
                } else if (s->element == I8) {
                    w->v[(to + reg) & 511][lane].u = (uint32_t)(int64_t)d[n][i][j];
                } else {
                    w->v[(to + reg) & 511][lane].f = (float)d[n][i][j];
                }
            }
}

gcn_execute *gcn_matrix_execute(enum gcn_op op)
{
    return shape_of(op) ? product : NULL;
}
