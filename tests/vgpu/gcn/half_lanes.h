/*
 * half_lanes.h - half.h and fma16 for all lanes at once, in explicit vectors because compilers do not vectorise them.
 * The results are bit-identical, except which of two NaNs a result copies its bits from.
 */
#ifndef VGPU_GCN_HALF_LANES_H
#define VGPU_GCN_HALF_LANES_H

#include "bits.h"

typedef unsigned gcn_words __attribute__((vector_size(32), aligned(4), may_alias));
typedef float gcn_floats __attribute__((vector_size(32), aligned(4), may_alias));

/* Convert n values; from and to may be equal. */
static inline void gcn_halves_floats(const void *from, void *to, unsigned n)
{
    for (unsigned i = 0; i < n; i += GCN_AT_ONCE) {
        gcn_ints h = ((const gcn_ints *)from)[i / GCN_AT_ONCE], rest = h & 0x7fff;
        gcn_floats small = __builtin_convertvector(rest, gcn_floats) * 0x1p-24f;
        gcn_ints normal = (rest << 13) + (112 << 23) + ((rest > 0x7bff) & (112 << 23));
        ((gcn_ints *)to)[i / GCN_AT_ONCE] = (h & 0x8000) << 16 | GCN_EITHER(rest < 0x400, (gcn_ints)small, normal);
    }
}

static inline void gcn_floats_halves(const void *from, void *to, unsigned n)
{
    for (unsigned i = 0; i < n; i += GCN_AT_ONCE) {
        gcn_ints bits = ((const gcn_ints *)from)[i / GCN_AT_ONCE], a = bits & 0x7fffffff;
        gcn_words word = (gcn_words)a; /* overflowed values are replaced below */
        gcn_ints d = (gcn_ints)(word + 0xfff + (word >> 13 & 1) - 0x38000000) >> 13;
        gcn_floats sum = (gcn_floats)a + 0.5f;
        d = GCN_EITHER(a < 0x38800000, (gcn_ints)sum - 0x3f000000, d);
        d = GCN_EITHER(a > 0x477fefff, 0x7c00, d);
        d = GCN_EITHER(a > 0x7f800000, 0x7e00 | (a >> 13 & 0x3ff), d);
        ((gcn_ints *)to)[i / GCN_AT_ONCE] = d | (bits >> 16 & 0x8000);
    }
}

/* The product is exact. The sum's rounding error is known; the sum is rounded to odd, so that the following rounding to
 * f16 is the only one. */
static inline void gcn_fma16_floats(const float *as, const float *bs, const float *cs, float *to, unsigned n)
{
    for (unsigned i = 0; i < n; i += GCN_AT_ONCE) {
        gcn_floats a = *(const gcn_floats *)(as + i), b = *(const gcn_floats *)(bs + i);
        gcn_floats c = *(const gcn_floats *)(cs + i), product = a * b;
        gcn_floats sum = product + c;
        gcn_floats part = sum - product;
        gcn_floats rest = sum - part;
        gcn_floats lost = product - rest;
        rest = c - part;
        lost += rest;
        gcn_ints bits = (gcn_ints)sum, off = (gcn_ints)lost;
        gcn_ints odd = (bits + ((bits ^ off) >> 31)) | 1; /* one less if the error has the other sign */
        gcn_ints rounded = (lost != 0) & ((bits & 0x7f800000) < 0x7f800000);
        *(gcn_ints *)(to + i) = GCN_EITHER(rounded, odd, bits);
    }
}

#endif
