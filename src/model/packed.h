/*
 * Histograms of which thousands are kept: the buckets that hold something, each a word of its number and its count. A
 * kernel that was called a few times takes a few words, where its octaves take half a kilobyte each.
 *
 * Counts are exact below 2^52, which no honest segment reaches. Packed coarsely, what an octave holds is one word: its
 * quantiles are then as coarse as those of histograms for which the writer had no memory. Pure.
 */
#ifndef RTL_MODEL_PACKED_H
#define RTL_MODEL_PACKED_H

#include "shm/segment_reader.h"

enum { RTL_PACKED_COARSE_MOST = RTL_OCTAVES_MAX }; /* words of one that is packed coarsely */

/* Where histograms are added up on their way from one form to another. Empty (zeros) between two uses. */
struct rtl_packing {
    uint64_t bucket[RTL_OCTAVES_MAX * RTL_CHUNK_BUCKETS];
    uint64_t coarse[RTL_OCTAVES_MAX];
    uint64_t octaves; /* bits: those that have something in `bucket` */
    bool any_coarse;
};

void rtl_packing_add(struct rtl_packing *packing, const struct rtl_histogram_copy *histogram);
void rtl_packing_add_words(struct rtl_packing *packing, const uint64_t *words, uint32_t count);

/* Words that it takes; then writes them, and empties it. */
uint32_t rtl_packing_words(const struct rtl_packing *packing, bool coarsely);
void rtl_packing_pack(struct rtl_packing *packing, bool coarsely, uint64_t *words);

/* Bytes that octaves and coarse counts take; then makes them `histogram`'s, and empties it. */
size_t rtl_packing_bytes(const struct rtl_packing *packing, bool coarsely);
void rtl_packing_unpack(struct rtl_packing *packing, bool coarsely, struct rtl_histogram_copy *histogram,
                        void *storage);

/* The highest bucket of words that hold something; UINT32_MAX where some of it is only known by octave. */
uint32_t rtl_packed_last(const uint64_t *words, uint32_t count);

#endif
