/*
 * Packs histograms, of which the viewer keeps thousands: one word of number and count for each bucket in use. A kernel
 * with a few calls takes a few words, while each octave takes half a kilobyte.
 *
 * Counts are exact below 2^52. Packed coarsely, an octave is one word; quantiles are then as coarse as those of a
 * histogram for which the writer had no memory. Pure.
 */
#ifndef RTL_MODEL_PACKED_H
#define RTL_MODEL_PACKED_H

#include "shm/segment_reader.h"

enum { RTL_PACKED_COARSE_MOST = RTL_OCTAVES_MAX }; /* most words of a coarsely packed histogram */

/* Sums histograms between two forms. Empty (zeros) between two uses. */
struct rtl_packing {
    uint64_t bucket[RTL_OCTAVES_MAX * RTL_CHUNK_BUCKETS];
    uint64_t coarse[RTL_OCTAVES_MAX];
    uint64_t octaves; /* bits: octaves in use in `bucket` */
    bool any_coarse;
};

void rtl_packing_add(struct rtl_packing *packing, const struct rtl_histogram_copy *histogram);
void rtl_packing_add_words(struct rtl_packing *packing, const uint64_t *words, uint32_t count);

/* Return the number of words; write the words and clear the packing. */
uint32_t rtl_packing_words(const struct rtl_packing *packing, bool coarsely);
void rtl_packing_pack(struct rtl_packing *packing, bool coarsely, uint64_t *words);

/* Return the bytes of octaves and coarse counts; write them to `storage` for `histogram`, and clear the packing. */
size_t rtl_packing_bytes(const struct rtl_packing *packing, bool coarsely);
void rtl_packing_unpack(struct rtl_packing *packing, bool coarsely, struct rtl_histogram_copy *histogram,
                        void *storage);

/* Return the highest bucket of the words; UINT32_MAX if some counts are known by octave only. */
uint32_t rtl_packed_last(const uint64_t *words, uint32_t count);

#endif
