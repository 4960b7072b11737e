/*
 * half.h - converts f16 and bf16 to float and back, rounding to nearest even; portable.
 */
#ifndef VGPU_GCN_HALF_H
#define VGPU_GCN_HALF_H

#include <stdint.h>
#include <string.h>

/* Inlined into loops, so that compilers vectorise them. */
#define GCN_IN_LOOP static inline __attribute__((always_inline))

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

/* Both conversions are free of branches, so that compilers vectorise loops over them. */
GCN_IN_LOOP float gcn_half_float(uint32_t h)
{
    uint32_t rest = h & 0x7fff, special = rest >= 0x7c00 ? 112u << 23 : 0;
    uint32_t small = gcn_float_bits((float)(int32_t)rest * 0x1p-24f), normal = (rest << 13) + (112u << 23) + special;
    return gcn_bits_float((h & 0x8000) << 16 | (rest < 0x400 ? small : normal));
}

/* A result of +, -, *, / or square root that was rounded to float may be rounded again to f16 without error: a float's
 * 24 bits are at least 2 * 11 + 2. */
GCN_IN_LOOP uint32_t gcn_float_half(float f)
{
    uint32_t bits = gcn_float_bits(f), a = bits & 0x7fffffff;
    uint32_t d = (a + 0xfff + (a >> 13 & 1) - 0x38000000) >> 13;
    /* Below the smallest normal: the sum's last place is worth 2^-24, so the addition rounds correctly. */
    uint32_t small = gcn_float_bits(gcn_bits_float(a) + 0.5f) - 0x3f000000;
    d = a < 0x38800000 ? small : d;
    d = a >= 0x477ff000 ? 0x7c00 : d; /* rounds to 65536 or is infinite */
    d = a > 0x7f800000 ? 0x7e00 | (a >> 13 & 0x3ff) : d;
    return d | (bits >> 16 & 0x8000);
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

static inline uint32_t gcn_float_bf16(float f)
{
    uint32_t bits = gcn_float_bits(f);
    return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

#endif
