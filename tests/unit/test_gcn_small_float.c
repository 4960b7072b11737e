/* 8-bit floats in the software GPU's interpreter against their definition: both directions, and stochastic rounding. */
#include "../vgpu/gcn/small_float.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const unsigned kinds[] = {GCN_FP8, GCN_BF8};

/* by definition: sign, exponent with its bias, fraction; the lowest exponent has no hidden bit */
static double defined(unsigned kind, unsigned byte)
{
    int bias = kind == GCN_FP8 ? 8 : 16, exponent = (int)(byte & 0x7f) >> kind;
    double fraction = (byte & ((1u << kind) - 1)) / (double)(1u << kind);
    double size = exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias);
    return byte & 0x80 ? -size : size;
}

static void small_floats_become_floats(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            float f = gcn_small_float(kinds[i], byte | 0xabcdef00);
            if (byte == 0x80)
                assert_true(isnan(f));
            else
                assert_true((double)f == defined(kinds[i], byte));
        }
    assert_true(gcn_small_float(GCN_FP8, 0x7f) == 240);
    assert_true(gcn_small_float(GCN_BF8, 0x7f) == 57344);
}

/* the nearest value, and between two equally near ones the even one; beyond the largest as if there were one more */
static unsigned nearest(unsigned kind, double f)
{
    double size = fabs(f), best = INFINITY;
    unsigned which = 0;
    for (unsigned byte = 0; byte < 0x81; byte++) {
        double there = byte < 0x80 ? defined(kind, byte) : 2 * defined(kind, 0x7f) - defined(kind, 0x7e);
        double apart = fabs(there - size);
        if (apart < best || (apart == best && byte % 2 == 0)) {
            best = apart;
            which = byte;
        }
    }
    return which == 0x80 ? 0x80 : which ? which | (f < 0 ? 0x80 : 0) : 0;
}

static void floats_round_to_the_nearest_even_small_float(void **state)
{
    (void)state;
    static const uint32_t fractions[] = {0,        1,        0x7ffff,  0x80000,  0x80001,  0xfffff,  0x100000,
                                         0x100001, 0x180000, 0x200000, 0x280000, 0x2fffff, 0x300000, 0x300001,
                                         0x3fffff, 0x400000, 0x480000, 0x500000, 0x5fffff, 0x600000, 0x700000,
                                         0x77ffff, 0x780000, 0x780001, 0x7fffff};
    for (unsigned i = 0; i < 2; i++)
        for (uint32_t high = 90; high < 146; high++)
            for (size_t k = 0; k < sizeof fractions / sizeof *fractions; k++)
                for (uint32_t sign = 0; sign < 2; sign++) {
                    float f = gcn_bits_float(sign << 31 | high << 23 | fractions[k]);
                    unsigned want = nearest(kinds[i], (double)f);
                    assert_int_equal(gcn_float_small(kinds[i], f, false), want);
                    /* or the largest one */
                    assert_int_equal(gcn_float_small(kinds[i], f, true), want == 0x80 ? 0x7f | sign << 7 : want);
                }
    for (unsigned i = 0; i < 2; i++)
        for (unsigned saturate = 0; saturate < 2; saturate++) {
            assert_int_equal(gcn_float_small(kinds[i], INFINITY, saturate), 0x80);
            assert_int_equal(gcn_float_small(kinds[i], -NAN, saturate), 0x80);
            assert_int_equal(gcn_float_small(kinds[i], -0.0f, saturate), 0);
            assert_int_equal(gcn_float_small(kinds[i], 1e-40f, saturate), 0);
        }
}

/* With all random numbers of equal steps: rounded up as often as the value is near the upper one. */
static void stochastic_rounding_follows_the_distance(void **state)
{
    (void)state;
    enum { STEPS = 1 << 10 };
    uint32_t x = 12345;
    for (unsigned i = 0; i < 2; i++)
        for (unsigned n = 0; n < 2000; n++) {
            x = x * 1664525u + 1013904223u;
            unsigned byte = x >> 8 & 0x7f, part = x >> 16 & (STEPS - 1), up = 0;
            if (byte == 0x7f)
                continue;
            double low = defined(kinds[i], byte), high = defined(kinds[i], byte + 1);
            float f = (float)(low + (high - low) * part / STEPS);
            if (byte >> kinds[i] == 0 && part % 64) /* below the smallest normal one bits are lost earlier */
                continue;
            for (uint32_t k = 0; k < STEPS; k++) {
                uint32_t got = gcn_float_small_by_chance(kinds[i], -f, k << 22, false);
                assert_true(got == (byte ? byte | 0x80 : 0) || got == ((byte + 1) | 0x80));
                up += got == ((byte + 1) | 0x80);
            }
            assert_int_equal(up, part);
            /* the random number's lower bits have no effect */
            assert_int_equal(gcn_float_small_by_chance(kinds[i], f, 0x7ff, false), byte);
        }
    assert_int_equal(gcn_float_small_by_chance(GCN_FP8, 240, 0xffffffff, false), 0x7f);
    assert_int_equal(gcn_float_small_by_chance(GCN_FP8, 255, 0xffffffff, false), 0x80);
    assert_int_equal(gcn_float_small_by_chance(GCN_FP8, -255, 0xffffffff, true), 0xff);
    assert_int_equal(gcn_float_small_by_chance(GCN_BF8, INFINITY, 0, true), 0x80);
    assert_int_equal(gcn_float_small_by_chance(GCN_BF8, 0, 0xffffffff, false), 0);
    assert_int_equal(gcn_float_small_by_chance(GCN_BF8, 1e-30f, 0xffffffff, false), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_floats_become_floats),
        cmocka_unit_test(floats_round_to_the_nearest_even_small_float),
        cmocka_unit_test(stochastic_rounding_follows_the_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
