/*
 * bits.h - converts between a mask of 64 lanes and a value a lane: 0, or all bits set where the mask has its bit.
 * Compilers vectorise loops over the values, but not loops over the mask.
 */
#ifndef VGPU_GCN_BITS_H
#define VGPU_GCN_BITS_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Eight lanes. */
typedef int32_t gcn_ints __attribute__((vector_size(32), aligned(4), may_alias));
enum { GCN_AT_ONCE = 8 };
#define GCN_EITHER(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
static const gcn_ints gcn_bit_of_lane = {1, 2, 4, 8, 16, 32, 64, 128};

static inline void gcn_bits_lanes(uint64_t mask, void *lane)
{
    for (unsigned i = 0; i < 64 / GCN_AT_ONCE; i++)
        ((gcn_ints *)lane)[i] = (gcn_bit_of_lane & (int32_t)(mask >> i * GCN_AT_ONCE & 0xff)) != 0;
}

/* to = mask ? one : other. `to` may be either source. */
static inline void gcn_either(uint64_t mask, const void *one, const void *other, void *to)
{
    for (unsigned i = 0; i < 64 / GCN_AT_ONCE; i++) {
        gcn_ints on = (gcn_bit_of_lane & (int32_t)(mask >> i * GCN_AT_ONCE & 0xff)) != 0;
        ((gcn_ints *)to)[i] = GCN_EITHER(on, ((const gcn_ints *)one)[i], ((const gcn_ints *)other)[i]);
    }
}

static inline uint64_t gcn_lanes_bits(const uint32_t lane[64])
{
    uint64_t mask = 0;
#ifdef __SSE2__
    for (unsigned l = 0; l < 64; l += 16) {
        const __m128i *at = (const __m128i *)(const void *)(lane + l);
        __m128i one = _mm_packs_epi32(_mm_loadu_si128(at), _mm_loadu_si128(at + 1));
        __m128i two = _mm_packs_epi32(_mm_loadu_si128(at + 2), _mm_loadu_si128(at + 3));
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_packs_epi16(one, two)) << l;
    }
#else
    for (unsigned l = 0; l < 64; l++)
        mask |= (uint64_t)(lane[l] & 1) << l;
#endif
    return mask;
}

#endif
