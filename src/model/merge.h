/*
 * Makes one snapshot of the snapshots of several processes: kernels by full name, GPUs by PCI address, queues one after
 * another, sums of the rest. What came from which process stays known (struct rtl_parts), so that processes can be
 * compared over any window that the model has.
 *
 * Nothing of a frame is copied that the frame before had, too: a kernel's group (its sum and its parts) is made anew
 * when one of its parts has changed, and is shared by all snapshots until then. Numbers in snapshots are untrusted;
 * sums may wrap. What all processes together take is bounded, and shared out (merge_parts.h, and for names and ids
 * merge.c): one of them can't take what the others need. Ownership: the merge owns the names and outlives the snapshots
 * that it made. Pure; one thread.
 */
#ifndef RTL_MODEL_MERGE_H
#define RTL_MODEL_MERGE_H

#include "model/merge_data.h"

struct rtl_merge;
struct rtl_merge *rtl_merge_create(void); /* NULL without memory */
void rtl_merge_free(struct rtl_merge *merge);

/* A process comes in; its number, or RTL_MEMBER_GONE when there is no room. */
uint32_t rtl_merge_join(struct rtl_merge *merge, const struct rtl_member_info *info);
/*
 * Before anything else was taken: the first one has been watched alone so far. Its kernels, queues and GPUs keep their
 * ids and numbers, so that the viewer can go on. Without it GPUs have numbers in the order of their PCI addresses.
 */
bool rtl_merge_adopt(struct rtl_merge *merge, uint32_t number, const struct rtl_snapshot *snapshot);
/* Its numbers now. False without memory: then it has those of before. */
bool rtl_merge_update(struct rtl_merge *merge, uint32_t number, const struct rtl_snapshot *snapshot);
/* It has ended: what it counted stays, its queues go. */
void rtl_merge_leave(struct rtl_merge *merge, uint32_t number);
/* All that was taken. False without memory. */
bool rtl_merge_make(struct rtl_merge *merge, uint64_t mono_ns, struct rtl_snapshot *out);

/*
 * For many processes with many kernels, whose first sum takes long: makes the sums of at most so many kernels, which
 * rtl_merge_make then has. False when there are no more.
 */
bool rtl_merge_sum_some(struct rtl_merge *merge, uint32_t kernels);
/* As rtl_merge_make, of those that were taken so far; the GPUs' numbers are not final. */
bool rtl_merge_make_partly(struct rtl_merge *merge, uint64_t mono_ns, struct rtl_snapshot *out);

/*
 * As before the first process came in, but for names, ids and the GPUs' numbers: earlier states follow, from the same
 * processes, which join in the same order. Snapshots that were made stay.
 */
void rtl_merge_rewind(struct rtl_merge *merge);

/* The group of a kernel of a merged snapshot; NULL when it is of one process. */
const struct rtl_group *rtl_group_of(const struct rtl_snapshot *snapshot, const struct rtl_kernel_snapshot *kernel);
const struct rtl_member *rtl_member_of(const struct rtl_snapshot *snapshot, uint32_t number);

#endif
