/*
 * small_float.h - floats of 8 bits as gfx942 has them: fp8, with 3 bits of fraction, and bf8, with 2. Neither has
 * infinities nor a zero below 0, whose bits mean that it isn't a number; exponents are biased by 8 and by 16.
 */
#ifndef VGPU_GCN_SMALL_FLOAT_H
#define VGPU_GCN_SMALL_FLOAT_H

#include "half.h"

#include <math.h>
#include <stdbool.h>

enum { GCN_FP8 = 3, GCN_BF8 = 2, GCN_SMALL_NAN = 0x80 }; /* kinds are bits of fraction */

/* the exponent of 1.0 as it is stored */
static inline unsigned gcn_small_bias(unsigned kind)
{
    return kind == GCN_FP8 ? 8 : 16;
}

/* by the lowest byte */
static inline float gcn_small_float(unsigned kind, uint32_t byte)
{
    float scale = gcn_bits_float((254 - gcn_small_bias(kind)) << 23);
    float f = gcn_bits_float((byte & 0x7f) << (23 - kind)) * scale;
    return (byte & 0xff) == GCN_SMALL_NAN ? NAN : byte & 0x80 ? -f : f;
}

/* of a fraction and exponent in one, which may be too large by now */
static inline uint32_t gcn_small_signed(uint32_t bits, uint32_t d, bool saturate)
{
    if (d > 0x7f)
        return saturate ? (bits >> 24 & 0x80) | 0x7f : GCN_SMALL_NAN;
    return d ? (bits >> 24 & 0x80) | d : 0;
}

/* To nearest even. What is too large isn't a number, or the largest one there is, but for infinities. */
static inline uint32_t gcn_float_small(unsigned kind, float f, bool saturate)
{
    unsigned shift = 23 - kind, below = 127 - gcn_small_bias(kind); /* exponents that it hasn't */
    uint32_t bits = gcn_float_bits(f), a = bits & 0x7fffffff;
    if (a >= 0x7f800000)
        return GCN_SMALL_NAN;
    uint32_t d = ((a + (1u << (shift - 1)) - 1 + (a >> shift & 1)) >> shift) - (below << kind);
    if (a < (below + 1) << 23) { /* the last place of the sum counts the smallest one */
        uint32_t one = (below + 1 + 23 - kind) << 23;
        d = gcn_float_bits(gcn_bits_float(a) + gcn_bits_float(one)) - one;
    }
    return gcn_small_signed(bits, d, saturate);
}

/* Up or down by chance: the upper bits of a random number are added to what the fraction loses. */
static inline uint32_t gcn_float_small_by_chance(unsigned kind, float f, uint32_t random, bool saturate)
{
    unsigned lost = 23 - kind, below = 127 - gcn_small_bias(kind);
    uint32_t bits = gcn_float_bits(f), a = bits & 0x7fffffff, e = a >> 23;
    random >>= 32 - lost;
    if (a >= 0x7f800000)
        return GCN_SMALL_NAN;
    if (e > below)
        return gcn_small_signed(bits, ((a + random) >> lost) - (below << kind), saturate);
    unsigned further = below + 1 - e;
    uint32_t fraction = e && further < 24 ? ((a & 0x7fffff) | 0x800000) >> further : 0;
    return gcn_small_signed(bits, (fraction + random) >> lost, saturate);
}

#endif
