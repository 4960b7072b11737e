/*
 * Matrix products in the software GPU's interpreter: each instruction's result on whole numbers equals loops over
 * matrices built from the lanes' elements.
 */
#include "gcn_fixture.h"

#include "../vgpu/gcn/small_float.h"

enum type { F32, XF32, F16, BF16, I8, I32, FP8, BF8, F64 };

/* Names and numbers are LLVM's. A lane has `each` elements of A. For sparse ones k counts all elements of A, including
 * its zeros.
 */
static const struct instruction {
    enum gcn_target target;
    const char *name;
    unsigned number, m, k, blocks, each;
    enum type a, b;
    bool sparse;
} instructions[] = {
    /* clang-format off */
    {GCN_GFX90A, "v_mfma_f32_32x32x1f32", 64, 32, 1, 2, 1, F32, F32, false},
    {GCN_GFX90A, "v_mfma_f32_16x16x1f32", 65, 16, 1, 4, 1, F32, F32, false},
    {GCN_GFX90A, "v_mfma_f32_4x4x1f32", 66, 4, 1, 16, 1, F32, F32, false},
    {GCN_GFX90A, "v_mfma_f32_32x32x2f32", 68, 32, 2, 1, 1, F32, F32, false},
    {GCN_GFX90A, "v_mfma_f32_16x16x4f32", 69, 16, 4, 1, 1, F32, F32, false},
    {GCN_GFX90A, "v_mfma_f32_32x32x4f16", 72, 32, 4, 2, 4, F16, F16, false},
    {GCN_GFX90A, "v_mfma_f32_16x16x4f16", 73, 16, 4, 4, 4, F16, F16, false},
    {GCN_GFX90A, "v_mfma_f32_4x4x4f16", 74, 4, 4, 16, 4, F16, F16, false},
    {GCN_GFX90A, "v_mfma_f32_32x32x8f16", 76, 32, 8, 1, 4, F16, F16, false},
    {GCN_GFX90A, "v_mfma_f32_16x16x16f16", 77, 16, 16, 1, 4, F16, F16, false},
    {GCN_GFX90A, "v_mfma_i32_32x32x4i8", 80, 32, 4, 2, 4, I8, I8, false},
    {GCN_GFX90A, "v_mfma_i32_16x16x4i8", 81, 16, 4, 4, 4, I8, I8, false},
    {GCN_GFX90A, "v_mfma_i32_4x4x4i8", 82, 4, 4, 16, 4, I8, I8, false},
    {GCN_GFX90A, "v_mfma_i32_32x32x8i8", 84, 32, 8, 1, 4, I8, I8, false},
    {GCN_GFX90A, "v_mfma_i32_16x16x16i8", 85, 16, 16, 1, 4, I8, I8, false},
    {GCN_GFX90A, "v_mfma_f32_32x32x4bf16_1k", 99, 32, 4, 2, 4, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f32_16x16x4bf16_1k", 100, 16, 4, 4, 4, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f32_4x4x4bf16_1k", 101, 4, 4, 16, 4, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f32_32x32x8bf16_1k", 102, 32, 8, 1, 4, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f32_16x16x16bf16_1k", 103, 16, 16, 1, 4, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f32_32x32x2bf16", 104, 32, 2, 2, 2, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f32_16x16x2bf16", 105, 16, 2, 4, 2, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f32_4x4x2bf16", 107, 4, 2, 16, 2, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f32_32x32x4bf16", 108, 32, 4, 1, 2, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f32_16x16x8bf16", 109, 16, 8, 1, 2, BF16, BF16, false},
    {GCN_GFX90A, "v_mfma_f64_16x16x4f64", 110, 16, 4, 1, 1, F64, F64, false},
    {GCN_GFX90A, "v_mfma_f64_4x4x4f64", 111, 4, 4, 4, 1, F64, F64, false},
    {GCN_GFX942, "v_mfma_f32_16x16x8_xf32", 62, 16, 8, 1, 2, XF32, XF32, false},
    {GCN_GFX942, "v_mfma_f32_32x32x4_xf32", 63, 32, 4, 1, 2, XF32, XF32, false},
    {GCN_GFX942, "v_mfma_f32_32x32x1_2b_f32", 64, 32, 1, 2, 1, F32, F32, false},
    {GCN_GFX942, "v_mfma_f32_16x16x1_4b_f32", 65, 16, 1, 4, 1, F32, F32, false},
    {GCN_GFX942, "v_mfma_f32_4x4x1_16b_f32", 66, 4, 1, 16, 1, F32, F32, false},
    {GCN_GFX942, "v_mfma_f32_32x32x2_f32", 68, 32, 2, 1, 1, F32, F32, false},
    {GCN_GFX942, "v_mfma_f32_16x16x4_f32", 69, 16, 4, 1, 1, F32, F32, false},
    {GCN_GFX942, "v_mfma_f32_32x32x4_2b_f16", 72, 32, 4, 2, 4, F16, F16, false},
    {GCN_GFX942, "v_mfma_f32_16x16x4_4b_f16", 73, 16, 4, 4, 4, F16, F16, false},
    {GCN_GFX942, "v_mfma_f32_4x4x4_16b_f16", 74, 4, 4, 16, 4, F16, F16, false},
    {GCN_GFX942, "v_mfma_f32_32x32x8_f16", 76, 32, 8, 1, 4, F16, F16, false},
    {GCN_GFX942, "v_mfma_f32_16x16x16_f16", 77, 16, 16, 1, 4, F16, F16, false},
    {GCN_GFX942, "v_mfma_i32_32x32x4_2b_i8", 80, 32, 4, 2, 4, I8, I8, false},
    {GCN_GFX942, "v_mfma_i32_16x16x4_4b_i8", 81, 16, 4, 4, 4, I8, I8, false},
    {GCN_GFX942, "v_mfma_i32_4x4x4_16b_i8", 82, 4, 4, 16, 4, I8, I8, false},
    {GCN_GFX942, "v_mfma_i32_32x32x16_i8", 86, 32, 16, 1, 8, I8, I8, false},
    {GCN_GFX942, "v_mfma_i32_16x16x32_i8", 87, 16, 32, 1, 8, I8, I8, false},
    {GCN_GFX942, "v_mfma_f32_32x32x4_2b_bf16", 93, 32, 4, 2, 4, BF16, BF16, false},
    {GCN_GFX942, "v_mfma_f32_16x16x4_4b_bf16", 94, 16, 4, 4, 4, BF16, BF16, false},
    {GCN_GFX942, "v_mfma_f32_4x4x4_16b_bf16", 95, 4, 4, 16, 4, BF16, BF16, false},
    {GCN_GFX942, "v_mfma_f32_32x32x8_bf16", 96, 32, 8, 1, 4, BF16, BF16, false},
    {GCN_GFX942, "v_mfma_f32_16x16x16_bf16", 97, 16, 16, 1, 4, BF16, BF16, false},
    {GCN_GFX942, "v_smfmac_f32_16x16x32_f16", 98, 16, 32, 1, 4, F16, F16, true},
    {GCN_GFX942, "v_smfmac_f32_32x32x16_f16", 100, 32, 16, 1, 4, F16, F16, true},
    {GCN_GFX942, "v_smfmac_f32_16x16x32_bf16", 102, 16, 32, 1, 4, BF16, BF16, true},
    {GCN_GFX942, "v_smfmac_f32_32x32x16_bf16", 104, 32, 16, 1, 4, BF16, BF16, true},
    {GCN_GFX942, "v_smfmac_i32_16x16x64_i8", 106, 16, 64, 1, 8, I8, I8, true},
    {GCN_GFX942, "v_smfmac_i32_32x32x32_i8", 108, 32, 32, 1, 8, I8, I8, true},
    {GCN_GFX942, "v_mfma_f64_16x16x4_f64", 110, 16, 4, 1, 1, F64, F64, false},
    {GCN_GFX942, "v_mfma_f64_4x4x4_4b_f64", 111, 4, 4, 4, 1, F64, F64, false},
    {GCN_GFX942, "v_mfma_f32_16x16x32_bf8_bf8", 112, 16, 32, 1, 8, BF8, BF8, false},
    {GCN_GFX942, "v_mfma_f32_16x16x32_bf8_fp8", 113, 16, 32, 1, 8, BF8, FP8, false},
    {GCN_GFX942, "v_mfma_f32_16x16x32_fp8_bf8", 114, 16, 32, 1, 8, FP8, BF8, false},
    {GCN_GFX942, "v_mfma_f32_16x16x32_fp8_fp8", 115, 16, 32, 1, 8, FP8, FP8, false},
    {GCN_GFX942, "v_mfma_f32_32x32x16_bf8_bf8", 116, 32, 16, 1, 8, BF8, BF8, false},
    {GCN_GFX942, "v_mfma_f32_32x32x16_bf8_fp8", 117, 32, 16, 1, 8, BF8, FP8, false},
    {GCN_GFX942, "v_mfma_f32_32x32x16_fp8_bf8", 118, 32, 16, 1, 8, FP8, BF8, false},
    {GCN_GFX942, "v_mfma_f32_32x32x16_fp8_fp8", 119, 32, 16, 1, 8, FP8, FP8, false},
    {GCN_GFX942, "v_smfmac_f32_16x16x64_bf8_bf8", 120, 16, 64, 1, 8, BF8, BF8, true},
    {GCN_GFX942, "v_smfmac_f32_16x16x64_bf8_fp8", 121, 16, 64, 1, 8, BF8, FP8, true},
    {GCN_GFX942, "v_smfmac_f32_16x16x64_fp8_bf8", 122, 16, 64, 1, 8, FP8, BF8, true},
    {GCN_GFX942, "v_smfmac_f32_16x16x64_fp8_fp8", 123, 16, 64, 1, 8, FP8, FP8, true},
    {GCN_GFX942, "v_smfmac_f32_32x32x32_bf8_bf8", 124, 32, 32, 1, 8, BF8, BF8, true},
    {GCN_GFX942, "v_smfmac_f32_32x32x32_bf8_fp8", 125, 32, 32, 1, 8, BF8, FP8, true},
    {GCN_GFX942, "v_smfmac_f32_32x32x32_fp8_bf8", 126, 32, 32, 1, 8, FP8, BF8, true},
    {GCN_GFX942, "v_smfmac_f32_32x32x32_fp8_fp8", 127, 32, 32, 1, 8, FP8, FP8, true},
    /* clang-format on */
};

/* The first registers of A, B, the indices, and C, which also holds the result. The data have 64 values of each
 * register from A's on; the result's registers follow at OUT.
 */
enum { A = 4, B = 8, INDEX = 12, C = 16, END = 48, OUT = 64 };
enum { SIDE = 32, DEPTH = 64, BLOCKS = 16, ACCUMULATION = 1 << 23 };

static uint32_t random_below(uint32_t n)
{
    static uint32_t x = 12345;
    x = x * 1664525u + 1013904223u;
    return (x >> 8) % n;
}

static enum type type_of_result(const struct instruction *x)
{
    return x->a == F64 ? F64 : x->a == I8 ? I32 : F32;
}

static unsigned bits_of(enum type t)
{
    return t == F64 ? 64 : t == F16 || t == BF16 ? 16 : t == I8 || t == FP8 || t == BF8 ? 8 : 32;
}

/* store element `which` of a lane's elements in registers from `reg` on */
static void put(unsigned reg, unsigned lane, unsigned which, enum type t, int value)
{
    float f = (float)value;
    double d = value;
    unsigned bits = bits_of(t);
    uint64_t word = 0;
    if (t == F64)
        memcpy(&word, &d, sizeof word);
    else
        word = t == F32 || t == XF32 ? gcn_float_bits(f)
               : t == F16            ? gcn_float_half(f)
               : t == BF16           ? gcn_float_bits(f) >> 16
               : t == FP8            ? gcn_float_small(GCN_FP8, f, false)
               : t == BF8            ? gcn_float_small(GCN_BF8, f, false)
               : t == I8             ? (uint8_t)value
                                     : (uint32_t)value;
    uint32_t *at = &data[(reg - A + which * bits / 32) * LANES + lane];
    *at |= (uint32_t)(word << which * bits % 32);
    if (t == F64)
        at[LANES] = (uint32_t)(word >> 32);
}

/* read an element of the result, or of the earlier contents */
static double get(unsigned reg, unsigned lane, unsigned which, enum type t)
{
    const uint32_t *at = &data[(reg - A + which * bits_of(t) / 32) * LANES + lane];
    uint64_t word = t == F64 ? at[0] | (uint64_t)at[LANES] << 32 : at[0];
    double d;
    memcpy(&d, &word, sizeof d);
    return t == F64 ? d : t == I32 ? (double)(int32_t)at[0] : (double)gcn_bits_float(at[0]);
}

/* row, column and block of an element of the result */
static void result_at(const struct instruction *x, unsigned lane, unsigned which, unsigned *row, unsigned *column,
                      unsigned *block)
{
    *column = lane % x->m;
    if (x->m == 4 && x->a == F64) {
        *row = lane / 16;
        *block = lane / 4 % 4;
    } else if (x->m == 4) {
        *row = which;
        *block = lane / 4;
    } else if (x->a == F64) {
        *row = lane / 16 + 4 * which;
        *block = 0;
    } else {
        unsigned rows = x->m == 32 ? 16 : 4; /* of a block, in a lane */
        *row = which % rows / 4 * 8 + lane / x->m * 4 + which % 4;
        *block = which / rows;
    }
}

/* load the registers from the data, execute the product and store the result */
static unsigned program(const struct instruction *x, bool accumulate, unsigned cbsz, unsigned abid, uint32_t *words)
{
    static const uint32_t begin[] = {0xc0060180, 0, 0x24020082, 0xbf8cc07f}; /* s_load_dwordx2 s[6:7]; v1 = 4 * v0 */
    uint32_t bank = accumulate ? ACCUMULATION : 0;
    unsigned n = sizeof begin / sizeof *begin;
    memcpy(words, begin, sizeof begin);
    for (uint32_t r = A; r < END; r++) {
        words[n++] = 0xdc508000; /* global_load_dword v1, s[6:7] */
        words[n++] = 0x00060001 | r << 24 | (r >= C ? bank : 0);
        words[n++] = 0x680202ff; /* v_add_u32 v1, 0x100, v1 */
        words[n++] = 0x100;
    }
    words[n++] = 0xd3800000 | x->number << 16 | (uint32_t)accumulate << 15 | abid << 11 | cbsz << 8 | C;
    words[n++] = (0x100 | A) | (0x100 | B) << 9 | (0x100u | (x->sparse ? INDEX : C)) << 18;
    const uint32_t again[] = {0x24020082, 0x680202ff, OUT * LANES * 4}; /* v1 = 4 * v0; v_add_u32 v1, OUT.., v1 */
    memcpy(words + n, again, sizeof again);
    n += sizeof again / sizeof *again;
    for (uint32_t r = C; r < END; r++) {
        words[n++] = 0xdc708000; /* global_store_dword v1, s[6:7] */
        words[n++] = 0x00060001 | r << 8 | bank;
        words[n++] = 0x680202ff;
        words[n++] = 0x100;
    }
    words[n++] = 0xbf810000;
    return n;
}

static double a[BLOCKS][SIDE][DEPTH], b[BLOCKS][SIDE][DEPTH]; /* b by columns */

/* fill the registers of the factors, and the matrices; the indices are `shift` bits up in their register */
static void make_factors(const struct instruction *x, unsigned shift)
{
    unsigned depth = x->sparse ? x->each * 2 : x->each; /* the part of k that a lane has */
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    for (unsigned l = 0; l < LANES; l++) {
        unsigned row = l % x->m, block = l / x->m / (x->k / depth), k0 = l / x->m % (x->k / depth) * depth;
        if (x->a == F64 && x->m == 4) {
            block = l / 4 % 4;
            k0 = l / 16;
        }
        uint32_t index = 0;
        for (unsigned i = 0; i < x->each; i++) {
            int value = (int)random_below(7) - 3;
            unsigned k = i;
            if (x->sparse) { /* two of four neighbours, the lower one first */
                uint32_t of_pair =
                    i % 2 ? (index >> (i - 1) * 2) + 1 + random_below(3 - (index >> (i - 1) * 2 & 3)) : random_below(3);
                index |= (of_pair & 3) << i * 2;
                k = i / 2 * 4 + (of_pair & 3);
            }
            put(A, l, i, x->a, value);
            a[block][row][k0 + k] = value;
        }
        data[(INDEX - A) * LANES + l] = index << shift | ~((uint32_t)((1ull << x->each * 2) - 1) << shift);
        for (unsigned i = 0; i < depth; i++) {
            int value = (int)random_below(7) - 3;
            put(B, l, i, x->b, value);
            b[block][row][k0 + i] = value;
        }
    }
}

static void product_is_right(const struct instruction *x, bool accumulate, unsigned cbsz, unsigned abid)
{
    struct gcn_report report;
    struct gcn_inst in;
    char name[64];
    uint32_t words[512];
    enum type t = type_of_result(x);
    unsigned results = x->m * x->m * x->blocks / LANES;
    memset(data, 0, sizeof data);
    make_factors(x, cbsz ? 0 : abid * x->each * 2);
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; i < results; i++)
            put(C, l, i, t, (int)random_below(100));
    unsigned n = program(x, accumulate, cbsz, abid, words);
    struct gcn_launch launch = ready(x->target, words, n, LANES, 1);
    unsigned product = 4 + (END - A) * 4;
    assert_true(gcn_decode(x->target, words + product, n - product, &in));
    gcn_inst_name(&in, name, sizeof name);
    assert_string_equal(name, x->name);
    if (gcn_run(&launch, &report) != GCN_DONE)
        fail_msg("%s: %s", x->name, report.what);
    for (unsigned l = 0; l < LANES; l++)
        for (unsigned i = 0; i < results; i++) {
            unsigned row, column, block;
            result_at(x, l, i, &row, &column, &block);
            double want = get(C, l, i, t), got = get(OUT + A, l, i, t);
            for (unsigned k = 0; k < x->k; k++)
                want += a[block][row][k] * b[block][column][k];
            if (got != want)
                fail_msg("%s, block %u, row %u, column %u: %g instead of %g", x->name, block, row, column, got, want);
        }
}

static void each_matrix_product_is_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        for (unsigned accumulate = 0; accumulate < 2; accumulate++)
            product_is_right(&instructions[i], accumulate, 0, 0);
}

/* a register has several sets of indices; the instruction selects one, or the first one */
static void sparse_products_select_their_indices(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        const struct instruction *x = &instructions[i];
        for (unsigned set = 1; x->sparse && set < 16 / x->each; set++) {
            product_is_right(x, false, 0, set);
            product_is_right(x, false, 1, set);
        }
    }
}

/* one lane's element of either factor, all others 0: returns their product */
static double product_of(enum gcn_target target, unsigned number, uint32_t one, uint32_t other, unsigned blgp,
                         double add)
{
    struct gcn_report report;
    const struct instruction x = {.target = target, .number = number, .m = 16, .k = 4, .blocks = 1, .each = 1};
    uint32_t words[512];
    unsigned n = program(&x, false, 0, 0, words);
    uint64_t bits;
    words[4 + (END - A) * 4 + 1] |= blgp << 29;
    memset(data, 0, sizeof data);
    data[0] = one;
    data[(B - A) * LANES] = other;
    if (blgp) { /* with f64 it is the upper half */
        data[LANES] = one;
        data[(B - A + 1) * LANES] = other;
        data[0] = data[(B - A) * LANES] = 0;
        memcpy(&bits, &add, sizeof bits);
        data[(C - A + 1) * LANES] = (uint32_t)(bits >> 32);
    }
    struct gcn_launch launch = ready(target, words, n, LANES, 1);
    assert_int_equal(gcn_run(&launch, &report), GCN_DONE);
    return get(OUT + A, 0, 0, blgp ? F64 : F32);
}

static void xf32_rounds_to_its_precision(void **state)
{
    (void)state;
    enum { XF32_16X16X8 = 62, F32_16X16X4 = 69 };
    const uint32_t one = 0x3f800000, tie = 0x3f801000, odd_tie = 0x3f803000, above = 0x3f801001;
    assert_true(product_of(GCN_GFX942, XF32_16X16X8, tie, one, 0, 0) == 1);
    assert_true(product_of(GCN_GFX942, XF32_16X16X8, one, odd_tie, 0, 0) == 1 + 0x1p-9);
    assert_true(product_of(GCN_GFX942, XF32_16X16X8, above, one, 0, 0) == 1 + 0x1p-10);
    assert_true(product_of(GCN_GFX942, F32_16X16X4, tie, one, 0, 0) == 1 + 0x1p-11);
}

/* of products of f64: of A, B and C */
static void f64_products_negate_their_operands(void **state)
{
    (void)state;
    enum { F64_16X16X4 = 110 };
    const uint32_t two = 0x40000000, three = 0x40080000;
    static const double want[] = {0, -5, -5, 7, 5, -7, -7, 5};
    for (unsigned sign = 1; sign < 8; sign++)
        assert_true(product_of(GCN_GFX942, F64_16X16X4, two, three, sign, 1) == want[sign]);
}

static void unmodelled_matrix_options_are_refused(void **state)
{
    (void)state;
    struct gcn_report report;
    uint32_t words[512];
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        if (instructions[i].number != 76) /* 32x32x8 of f16 */
            continue;
        unsigned n = program(&instructions[i], false, 1, 0, words); /* broadcasts */
        struct gcn_launch launch = ready(instructions[i].target, words, n, LANES, 1);
        assert_int_equal(gcn_run(&launch, &report), GCN_NOT_MODELLED);
        assert_non_null(strstr(report.what, "broadcasts"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_matrix_product_is_right),          cmocka_unit_test(sparse_products_select_their_indices),
        cmocka_unit_test(xf32_rounds_to_its_precision),          cmocka_unit_test(f64_products_negate_their_operands),
        cmocka_unit_test(unmodelled_matrix_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
