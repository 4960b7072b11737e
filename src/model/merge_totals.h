/*
 * Merges what snapshots have beside kernels: sums, GPUs by PCI address, copies by GPU and direction, queues one after
 * another. merge.c knows the processes. Pure.
 */
#ifndef RTL_MODEL_MERGE_TOTALS_H
#define RTL_MODEL_MERGE_TOTALS_H

#include "shm/segment_reader.h"

/* What tells a GPU from others: its PCI address and its UUID where it has one; else the process that has it. */
struct rtl_gpu_key {
    uint32_t bdf, member, gpu; /* the last two: of one without a PCI address, its number in that process */
    char uuid[RTL_AGENT_UUID_MAX + 1];
};

/* GPUs by their number on screen. */
struct rtl_gpu_table {
    struct rtl_gpu_key keys[RTL_AGENTS_MAX];
    bool taken[RTL_AGENTS_MAX];
};

/* One process's share: its snapshot without kernels, GPUs numbered as on screen. */
struct rtl_merge_totals {
    struct rtl_snapshot snapshot;
    bool queues; /* false once it has ended: they are left out */
};

/* Numbers for the snapshot's GPUs that have none so far, in the order of their PCI addresses; `keep`: their own. */
void rtl_gpu_table_add(struct rtl_gpu_table *table, uint32_t member, const struct rtl_snapshot *snapshot, bool keep);

/*
 * A copy of the snapshot without kernels. GPUs have their numbers of the table; slots of queues count from `slots`, and
 * queues have the pid. False without memory.
 */
bool rtl_merge_totals_copy(struct rtl_gpu_table *table, uint32_t member, uint32_t slots, pid_t pid,
                           const struct rtl_snapshot *from, struct rtl_snapshot *to);

/* Orders the GPUs by PCI address; to[number before] is the number now. */
void rtl_gpu_table_sort(struct rtl_gpu_table *table, uint32_t to[RTL_AGENTS_MAX]);
void rtl_merge_totals_renumber(struct rtl_snapshot *rest, const uint32_t to[RTL_AGENTS_MAX]);

/* The sum. False without memory: then there is none. */
bool rtl_merge_totals_sum(const struct rtl_merge_totals *rests, uint32_t count, struct rtl_snapshot *out);

#endif
