/*
 * The memory that a merge spends on kernels: their parts and groups (merge.h), counted, shared and bounded.
 *
 * Each process has its share of what parts may take, those that older snapshots hold included. Who has used it up gets
 * parts with coarse histograms, one a row, which are written anew in place: its sums stay exact, its quantiles are
 * coarse (and marked as approximate), and where it was when a window began is no longer known. Groups, the sums, have a
 * bound of their own for all: beyond it their histograms are coarse.
 */
#ifndef RTL_MODEL_MERGE_PARTS_H
#define RTL_MODEL_MERGE_PARTS_H

#include "model/merge_data.h"
#include "model/packed.h"

#define RTL_PARTS_BYTES_MAX  (512ull << 20) /* of all processes together */
#define RTL_PARTS_SHARE_MAX  (64ull << 20)  /* of one */
#define RTL_GROUPS_BYTES_MAX (192ull << 20)

/* The part's histogram, whose buckets lie in `room`. */
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

/* Adds what it holds to `packing`. */
void rtl_part_add(const struct rtl_part *part, struct rtl_packing *packing);

void rtl_part_release(struct rtl_part *part);
void rtl_group_release(struct rtl_group *group);

/*
 * A part with the numbers of `kernel` and the histogram that is in `packing`, which is empty afterwards; its bytes are
 * added to *charged until it is gone. `coarse`: it can be written anew. NULL without memory.
 */
struct rtl_part *rtl_part_make(const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing, bool coarse,
                               size_t *charged);
void rtl_part_rewrite(struct rtl_part *part, const struct rtl_kernel_snapshot *kernel, struct rtl_packing *packing);

/* The sum of parts, as a group that shares them. NULL without memory. */
struct rtl_group *rtl_group_make(struct rtl_part *const *parts, uint32_t count, struct rtl_packing *packing,
                                 size_t *charged);

#endif
