/*
 * bits.h - between a mask of 64 lanes and a value a lane: 0, or all bits set where the mask has its bit. Loops over the
 * values become vectors, loops over the mask don't.
 */
#ifndef VGPU_GCN_BITS_H
#define VGPU_GCN_BITS_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline void gcn_bits_lanes(uint64_t mask, uint32_t lane[64])
{
    static const uint32_t bit[32] = {1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
                                     1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
                                     1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
                                     1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
    uint32_t low = (uint32_t)mask, high = (uint32_t)(mask >> 32);
    for (unsigned l = 0; l < 32; l++)
        lane[l] = low & bit[l] ? ~0u : 0;
    for (unsigned l = 0; l < 32; l++)
        lane[l + 32] = high & bit[l] ? ~0u : 0;
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
