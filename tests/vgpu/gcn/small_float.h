/*
 * small_float.h - gfx942's 8-bit floats: fp8 with 3 fraction bits and bf8 with 2. Neither has infinities or a negative
 * zero, whose bits mean NaN. The exponent biases are 8 and 16.
 */
#ifndef VGPU_GCN_SMALL_FLOAT_H
#define VGPU_GCN_SMALL_FLOAT_H

#include "half.h"

#include <math.h>
#include <stdbool.h>

enum { GCN_FP8 = 3, GCN_BF8 = 2, GCN_SMALL_NAN = 0x80 }; /* a kind's value is its number of fraction bits */

/* The stored exponent of 1.0. */
static inline unsigned gcn_small_bias(unsigned kind)
{
    return kind == GCN_FP8 ? 8 : 16;
}

/* Convert the lowest byte. */
static inline float gcn_small_float(unsigned kind, uint32_t byte)
{
    float scale = gcn_bits_float((254 - gcn_small_bias(kind)) << 23);
    float f = gcn_bits_float((byte & 0x7f) << (23 - kind)) * scale;
    return (byte & 0xff) == GCN_SMALL_NAN ? NAN : byte & 0x80 ? -f : f;
}

/* Combine the sign with exponent and fraction d, which may have overflowed. */
static inline uint32_t gcn_small_signed(uint32_t bits, uint32_t d, bool saturate)
{
    if (d > 0x7f)
        return saturate ? (bits >> 24 & 0x80) | 0x7f : GCN_SMALL_NAN;
    return d ? (bits >> 24 & 0x80) | d : 0;
}

/* Round to nearest even. Overflow gives NaN, or with saturate the largest value; infinities always give NaN. */
static inline uint32_t gcn_float_small(unsigned kind, float f, bool saturate)
{
    unsigned shift = 23 - kind, below = 127 - gcn_small_bias(kind); /* exponents below the type's range */
    uint32_t bits = gcn_float_bits(f), a = bits & 0x7fffffff;
    if (a >= 0x7f800000)
        return GCN_SMALL_NAN;
    uint32_t d = ((a + (1u << (shift - 1)) - 1 + (a >> shift & 1)) >> shift) - (below << kind);
    if (a < (below + 1) << 23) { /* the sum's last place is worth the smallest value */
        uint32_t one = (below + 1 + 23 - kind) << 23;
        d = gcn_float_bits(gcn_bits_float(a) + gcn_bits_float(one)) - one;
    }
    return gcn_small_signed(bits, d, saturate);
}

/* Stochastic rounding: add the upper bits of a random number to the lost fraction bits. */
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
