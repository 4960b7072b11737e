/*
 * vector_math.h - arithmetic of vector instructions for which C has no operator, as AMD's manuals define it.
 */
#ifndef VGPU_GCN_VECTOR_MATH_H
#define VGPU_GCN_VECTOR_MATH_H

#include "small_float.h"

#include <stdbool.h>

#include <math.h>

#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))

static inline int32_t to_i32(double a)
{
    return a >= 2147483647.0 ? INT32_MAX : a <= -2147483648.0 ? INT32_MIN : isnan(a) ? 0 : (int32_t)a;
}

static inline uint32_t to_u32(double a)
{
    return a >= 4294967295.0 ? UINT32_MAX : a > 0 ? (uint32_t)a : 0;
}

/* If one operand is a NaN, return the other. -0 is less than 0. */
static inline float lesser(float a, float b)
{
    if (a == b)
        return signbit(a) ? a : b;
    return a < b || b != b ? a : b;
}

static inline float greater(float a, float b)
{
    if (a == b)
        return signbit(a) ? b : a;
    return a > b || b != b ? a : b;
}

static inline double lesser64(double a, double b)
{
    if (a == b)
        return signbit(a) ? a : b;
    return a < b || b != b ? a : b;
}

static inline double greater64(double a, double b)
{
    if (a == b)
        return signbit(a) ? b : a;
    return a > b || b != b ? a : b;
}

static inline float middle(float a, float b, float c)
{
    if (a != a || b != b || c != c)
        return lesser(lesser(a, b), c);
    return greater(lesser(a, b), lesser(greater(a, b), c));
}

static inline float sine_of_turns(float a)
{
    return (float)sin(6.283185307179586476925 * ((double)a - floor((double)a)));
}

static inline float cosine_of_turns(float a)
{
    return (float)cos(6.283185307179586476925 * ((double)a - floor((double)a)));
}

static inline uint32_t reverse(uint32_t a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

static inline int exponent_of(double a)
{
    int e = 0;
    if (a == 0 || !isfinite(a))
        return 0;
    frexp(a, &e);
    return e;
}

static inline double mantissa_of(double a)
{
    int e;
    return a == 0 || !isfinite(a) ? a : frexp(a, &e);
}

static inline int32_t low24(int32_t a)
{
    return (int32_t)((uint32_t)a << 8) >> 8;
}

static inline int32_t signed_field(uint32_t a, unsigned at, unsigned width)
{
    if (!width)
        return 0;
    width = MIN(width, 32 - at);
    return (int32_t)(a << (32 - at - width)) >> (32 - width);
}

static inline uint32_t unsigned8(int32_t a)
{
    return (uint32_t)(a < 0 ? 0 : a > 255 ? 255 : a);
}

static inline uint32_t signed16(int32_t a)
{
    return (uint32_t)(a < -32768 ? -32768 : a > 32767 ? 32767 : a);
}

/* Convert to a fraction of 32767 or 65535. */
static inline uint32_t norm16(float a, int32_t least)
{
    float most = least ? 32767.0f : 65535.0f;
    a = nearbyintf(a * most);
    return (uint32_t)(isnan(a) ? 0 : a > most ? (int32_t)most : a < (float)least ? least : (int32_t)a);
}

static inline int32_t add_i32(int32_t a, int32_t b, bool clamp)
{
    int64_t d = (int64_t)a + b;
    return clamp && d != (int32_t)d ? (d < 0 ? INT32_MIN : INT32_MAX) : (int32_t)d;
}

static inline int32_t sub_i32(int32_t a, int32_t b, bool clamp)
{
    int64_t d = (int64_t)a - b;
    return clamp && d != (int32_t)d ? (d < 0 ? INT32_MIN : INT32_MAX) : (int32_t)d;
}

static inline uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

static inline uint32_t differences8(uint32_t a, uint32_t b)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i += 8)
        sum += apart(a >> i & 255, b >> i & 255);
    return sum;
}

static inline uint32_t lerp(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t d = 0;
    for (unsigned i = 0; i < 32; i += 8)
        d |= ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1 << i;
    return d;
}

static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t both = (uint64_t)a << 32 | b;
    uint32_t d = 0;
    for (unsigned i = 0; i < 32; i += 8) {
        uint32_t sel = c >> i & 255, byte = 0;
        if (sel < 8)
            byte = (uint32_t)(both >> sel * 8) & 255;
        else if (sel < 12) /* sign of a 16-bit half, lowest first */
            byte = both >> ((sel - 8) * 16 + 15) & 1 ? 255 : 0;
        else if (sel > 12)
            byte = 255;
        d |= byte << i;
    }
    return d;
}

/* The product has 22 bits; in double, rounding the sum a second time matters only in rare cases. */
static inline float fma16(float a, float b, float c)
{
    double d = (double)a * b + c;
    float f = (float)d;
    /* Round to odd, so that the following rounding to f16 is the only one. */
    if ((double)f != d && isfinite(f)) {
        uint32_t bits = gcn_float_bits(f);
        if (fabs((double)f) > fabs(d))
            bits--;
        f = gcn_bits_float(bits | 1);
    }
    return f;
}

static inline float dot2_f16(uint32_t a, uint32_t b, float c)
{
    float low = gcn_half_float(a & 0xffff) * gcn_half_float(b & 0xffff);
    return (float)((double)gcn_half_float(a >> 16) * gcn_half_float(b >> 16) + (double)low + c);
}

static inline uint32_t pk_fma_f16(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t d = 0;
    for (unsigned i = 0; i < 32; i += 16)
        d |= gcn_float_half(fma16(gcn_half_float(a >> i & 0xffff), gcn_half_float(b >> i & 0xffff),
                                  gcn_half_float(c >> i & 0xffff)))
             << i;
    return d;
}

/* The two lowest bytes as floats; the first is in the lower half. */
static inline uint64_t small_pair(unsigned kind, uint32_t a)
{
    return gcn_float_bits(gcn_small_float(kind, a)) | (uint64_t)gcn_float_bits(gcn_small_float(kind, a >> 8)) << 32;
}

static inline uint32_t with_byte(uint32_t old, unsigned which, uint32_t byte)
{
    return (old & ~(0xffu << which * 8)) | byte << which * 8;
}

/* Sums of products of fields of `bits` bits. */
static inline uint32_t dot_signed(uint32_t a, uint32_t b, unsigned bits)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i += bits)
        sum += (uint32_t)(((int32_t)(a << (32 - bits - i)) >> (32 - bits)) *
                          ((int32_t)(b << (32 - bits - i)) >> (32 - bits)));
    return sum;
}

static inline uint32_t dot_unsigned(uint32_t a, uint32_t b, unsigned bits)
{
    uint32_t sum = 0, field = (1u << bits) - 1;
    for (unsigned i = 0; i < 32; i += bits)
        sum += (a >> i & field) * (b >> i & field);
    return sum;
}

/* Last step of a division: a is the quotient so far, b the denominator, c the numerator. */
static inline double fixup(double a, double b, double c)
{
    double sign = (signbit(b) != 0) != (signbit(c) != 0) ? -1.0 : 1.0;
    if (isnan(c))
        return c;
    if (isnan(b))
        return b;
    if ((b == 0 && c == 0) || (isinf(b) && isinf(c)))
        return NAN;
    if (b == 0 || isinf(c))
        return sign * INFINITY;
    if (isinf(b) || c == 0)
        return sign * 0.0;
    return isnan(a) ? sign * INFINITY : copysign(a, sign);
}

/* Part of 2/pi for reducing huge angles: 53 bits from the b-th group on, scaled for the angle's exponent. */
static inline double trig_preop(double a, uint32_t b)
{
    static const uint32_t two_over_pi[] = {
        0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
        0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
        0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
        0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
        0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc21};
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    unsigned shift = (b & 31) * 53 + (exponent > 1077 ? (unsigned)exponent - 1077 : 0);
    uint64_t mantissa = 0;
    for (unsigned i = 0; i < 53; i++) {
        unsigned at = shift + i;
        unsigned bit =
            at / 32 < sizeof two_over_pi / sizeof *two_over_pi ? two_over_pi[at / 32] >> (31 - at % 32) & 1 : 0;
        mantissa = mantissa << 1 | bit;
    }
    int scale = -53 - (int)shift + (exponent >= 1968 ? 128 : 0);
    return ldexp((double)mantissa, scale);
}

#endif
