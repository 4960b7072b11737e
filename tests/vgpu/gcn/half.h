/*
 * half.h - f16 and bf16 to float and back, to nearest even; portable.
 */
#ifndef VGPU_GCN_HALF_H
#define VGPU_GCN_HALF_H

#include <stdint.h>
#include <string.h>

static inline float gcn_bits_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t gcn_float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline float gcn_half_float(uint32_t h)
{
    uint32_t sign = (h & 0x8000) << 16, exponent = h >> 10 & 31, fraction = h & 0x3ff;
    if (exponent == 31)
        return gcn_bits_float(sign | 0x7f800000 | fraction << 13);
    if (exponent)
        return gcn_bits_float(sign | (exponent + 112) << 23 | fraction << 13);
    float f = (float)fraction * 0x1p-24f;
    return sign ? -f : f;
}

/* A float that is the exact result rounded once to float may be rounded again to f16 without harm for +, -, *, / and
 * square roots: 24 bits are at least twice 11 and 2 more. */
static inline uint32_t gcn_float_half(float f)
{
    uint32_t bits = gcn_float_bits(f), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
    if (a > 0x7f800000)
        return sign | 0x7e00 | (a >> 13 & 0x3ff);
    if (a >= 0x477ff000) /* rounds to 65536 or is infinite */
        return sign | 0x7c00;
    if (a < 0x38800000) {                        /* smaller than the smallest normal: counts 2^-24 */
        float scaled = gcn_bits_float(a) + 0.5f; /* its last place is 2^-24: the sum rounds as it should */
        return sign | (gcn_float_bits(scaled) - 0x3f000000);
    }
    return sign | ((a + 0xfff + (a >> 13 & 1) - 0x38000000) >> 13);
}

static inline uint32_t gcn_float_half_towards_zero(float f)
{
    uint32_t bits = gcn_float_bits(f), sign = bits >> 16 & 0x8000, a = bits & 0x7fffffff;
    if (a > 0x7f800000)
        return sign | 0x7e00 | (a >> 13 & 0x3ff);
    if (a == 0x7f800000)
        return sign | 0x7c00;
    if (a >= 0x47800000)
        return sign | 0x7bff;
    if (a < 0x38800000)
        return sign | (uint32_t)(gcn_bits_float(a) * 0x1p24f);
    return sign | (a - 0x38000000) >> 13;
}

static inline float gcn_bf16_float(uint32_t h)
{
    return gcn_bits_float(h << 16);
}

#endif
