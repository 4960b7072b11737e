/* The software GPU's f16 arithmetic for many lanes at a time equals that for one value, to the bit. */
#include "../vgpu/gcn/bits.h"
#include "../vgpu/gcn/half_lanes.h"
#include "../vgpu/gcn/vector_math.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { LANES = 64 };

static uint32_t random32(void)
{
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static void halves_become_floats(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 0x10000; first += LANES) {
        uint32_t half[LANES];
        float f[LANES];
        for (uint32_t l = 0; l < LANES; l++)
            half[l] = first + l;
        gcn_halves_floats(half, f, LANES);
        for (uint32_t l = 0; l < LANES; l++)
            assert_int_equal(gcn_float_bits(f[l]), gcn_float_bits(gcn_half_float(first + l)));
    }
}

/* every exponent, and fractions close to rounding limits */
static void floats_become_halves(void **state)
{
    (void)state;
    static const uint32_t fractions[] = {0,        1,        0xfff,    0x1000,   0x1001,   0x1fff,   0x2fff,
                                         0x3000,   0x3001,   0x3fffff, 0x400000, 0x400001, 0x555555, 0x7fefff,
                                         0x7ff000, 0x7fffff, 0x7fcfff, 0x200000, 0x1000ff, 0x2aaaaa};
    for (uint32_t high = 0; high < 512; high++)
        for (unsigned i = 0; i + GCN_AT_ONCE / 2 <= sizeof fractions / sizeof *fractions; i += GCN_AT_ONCE / 2) {
            float f[GCN_AT_ONCE];
            uint32_t half[GCN_AT_ONCE];
            for (unsigned l = 0; l < GCN_AT_ONCE; l++)
                f[l] = gcn_bits_float(high << 23 | (l & 1 ? random32() & 0x7fffff : fractions[i + l / 2]));
            gcn_floats_halves(f, half, GCN_AT_ONCE);
            for (unsigned l = 0; l < GCN_AT_ONCE; l++)
                assert_int_equal(half[l], gcn_float_half(f[l]));
        }
}

/* factors near 1, with addends up to the product's size: sums on and near the middle between two results */
static void fused_multiply_adds_are_exact(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        uint32_t half[3][LANES];
        float f[3][LANES], d[LANES];
        for (unsigned n = 0; n < 3; n++) {
            for (unsigned l = 0; l < LANES; l++) {
                half[n][l] = random32() & 0xffff;
                if (round & 1)
                    half[n][l] = (half[n][l] & 0x83ff) | (10 + random32() % (n < 2 ? 8 : 16)) << 10;
                if (n && (half[n][l] & 0x7fff) > 0x7c00)
                    half[n][l] &= 0x83ff; /* of several NaNs any may be the result */
            }
            gcn_halves_floats(half[n], f[n], LANES);
        }
        gcn_fma16_floats(f[0], f[1], f[2], d, LANES);
        gcn_floats_halves(d, d, LANES);
        for (unsigned l = 0; l < LANES; l++)
            assert_int_equal(gcn_float_bits(d[l]), gcn_float_half(fma16(f[0][l], f[1][l], f[2][l])));
    }
}

static void masks_become_lane_masks(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 1000; round++) {
        uint64_t mask = random32() | (uint64_t)random32() << 32;
        uint32_t lane[LANES];
        mask = round < 64 ? 1ull << round : round == 64 ? 0 : round == 65 ? UINT64_MAX : mask;
        gcn_bits_lanes(mask, lane);
        for (unsigned l = 0; l < LANES; l++)
            assert_int_equal(lane[l], mask >> l & 1 ? UINT32_MAX : 0);
        assert_true(gcn_lanes_bits(lane) == mask);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_become_floats),
        cmocka_unit_test(floats_become_halves),
        cmocka_unit_test(fused_multiply_adds_are_exact),
        cmocka_unit_test(masks_become_lane_masks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
