/*
 * The parts and groups of merged kernels (merge.h): reference counted, with bounded memory.
 *
 * Each process has a share of the memory for parts, including those in older snapshots. A process beyond its share gets
 * coarse parts, one per kernel, which are updated in place: sums stay exact, quantiles become approximate, and the
 * part's state at the start of a window is lost. Groups have a common limit; beyond it their histograms are coarse.
 */
#ifndef RTL_MODEL_MERGE_PARTS_H
#define RTL_MODEL_MERGE_PARTS_H

#include "model/merge_data.h"
#include "model/packed.h"

#define RTL_PARTS_BYTES_MAX  (512ull << 20) /* all processes */
#define RTL_PARTS_SHARE_MAX  (64ull << 20)  /* one process */
#define RTL_GROUPS_BYTES_MAX (192ull << 20)

/* The part's histogram, with buckets in `room`. */
struct rtl_unpacked {
    _Alignas(8) char bytes[RTL_OCTAVES_MAX * (sizeof(struct rtl_octave) + sizeof(uint64_t))];
};
struct rtl_histogram_copy rtl_part_histogram(const struct rtl_part *part, struct rtl_unpacked *room);

/* Return the index of the first of `count` parts that is not before (member, row); parts ascend by member, then row. */
uint32_t rtl_part_position(struct rtl_part *const *parts, uint32_t count, uint32_t member, uint32_t row);
static inline bool rtl_part_is(const struct rtl_part *part, uint32_t member, uint32_t row)
{
    return part->member == member && part->row == row;
}

/* Add the part's histogram to `packing`. */
void rtl_part_add(const struct rtl_part *part, struct rtl_packing *packing);

void rtl_part_release(struct rtl_part *part);
void rtl_group_release(struct rtl_group *group);

/* Make a part with the numbers of `kernel` and the histogram in `packing`, which is cleared. Its bytes are charged to
 * *charged until it is freed. Only a coarse part can be rewritten. NULL without memory. */
struct rtl_part *rtl_part_make(const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing, bool coarse,
                               size_t *charged);
void rtl_part_rewrite(struct rtl_part *part, const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing);

/* Make the group of these parts: their sum, with references to them. NULL without memory. */
struct rtl_group *rtl_group_make(struct rtl_part *const *parts, uint32_t count, struct rtl_packing *packing,
                                 size_t *charged);

#endif
