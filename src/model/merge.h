/*
 * Merges the snapshots of several processes into one: kernels by full name, GPUs by PCI address, all queues, and sums
 * of the other counters. The snapshot keeps each process's numbers (struct rtl_parts), so that the viewer can compare
 * processes over any window.
 *
 * Frames share unchanged kernels: a kernel's group (its sum and its parts) is replaced only when one of its parts
 * changes. Numbers in snapshots are untrusted; sums may wrap. The memory of all processes is bounded, and each has its
 * share (merge_parts.h; for names and ids merge.c), so that no process can starve the others. The merge owns the names
 * and outlives its snapshots. Pure; one thread.
 */
#ifndef RTL_MODEL_MERGE_H
#define RTL_MODEL_MERGE_H

#include "model/merge_parts.h"

struct rtl_merge;
struct rtl_merge *rtl_merge_create(void); /* NULL without memory */
void rtl_merge_free(struct rtl_merge *merge);

/* Add a process and return its number, or RTL_MEMBER_GONE if there is no room. */
uint32_t rtl_merge_join(struct rtl_merge *merge, const struct rtl_member_info *info);
/* Replace the facts about the process that are read from outside. Its label stays if the new label is empty, and its
 * title if the new title is unknown ("?"). */
void rtl_merge_describe(struct rtl_merge *merge, uint32_t number, const struct rtl_member_info *info);
/* As the first update: process `number` was watched alone so far, and its kernels, queues and GPUs keep their ids and
 * numbers. Without this call, GPUs are numbered by PCI address. */
bool rtl_merge_adopt(struct rtl_merge *merge, uint32_t number, const struct rtl_snapshot *snapshot);
/* Set the process's current snapshot. False without memory: the process keeps some of its previous numbers. */
bool rtl_merge_update(struct rtl_merge *merge, uint32_t number, const struct rtl_snapshot *snapshot);
/* The process has ended: keep its counts, drop its queues. */
void rtl_merge_leave(struct rtl_merge *merge, uint32_t number);
/* Like rtl_merge_leave, but free the process's memory: add its counts to those of processes that ended earlier. */
void rtl_merge_drop(struct rtl_merge *merge, uint32_t number);
/* Return the memory for the process's kernels, in bytes. */
size_t rtl_merge_memory(struct rtl_merge *merge, uint32_t number);
/* Make the merged snapshot. False without memory. */
bool rtl_merge_make(struct rtl_merge *merge, uint64_t mono_ns, struct rtl_snapshot *out);

/* Sum at most `kernels` changed kernels in advance, because the first sum of many processes takes long. False when none
 * are left. */
bool rtl_merge_sum_some(struct rtl_merge *merge, uint32_t kernels);
/* As rtl_merge_make, before all processes have been added: the GPUs' numbers are not final. */
bool rtl_merge_make_partly(struct rtl_merge *merge, uint64_t mono_ns, struct rtl_snapshot *out);

/* Remove all processes, but keep names, ids and the GPUs' numbers: a replay went back, and the same processes join
 * again in the same order. Snapshots stay valid. */
void rtl_merge_rewind(struct rtl_merge *merge);

/* Return the group of a kernel of a merged snapshot; NULL if the snapshot is of one process. */
const struct rtl_group *rtl_group_of(const struct rtl_snapshot *snapshot, const struct rtl_kernel_snapshot *kernel);
const struct rtl_member *rtl_member_of(const struct rtl_snapshot *snapshot, uint32_t number);

#endif
