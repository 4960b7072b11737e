/*
 * Merges snapshots without their kernels: counters, GPUs by PCI address, copies by GPU and direction, and queues. Pure.
 */
#ifndef RTL_MODEL_MERGE_TOTALS_H
#define RTL_MODEL_MERGE_TOTALS_H

#include "shm/hip_api_snapshot.h"
#include "shm/segment_reader.h"

/* Identifies a GPU: PCI address, and UUID if known; without an address, the process and its number there. */
struct rtl_gpu_key {
    uint32_t bdf, member, gpu; /* member and gpu: only without a PCI address */
    char uuid[RTL_AGENT_UUID_MAX + 1];
};

/* GPUs by their number on the screen. */
struct rtl_gpu_table {
    struct rtl_gpu_key keys[RTL_AGENTS_MAX];
    bool taken[RTL_AGENTS_MAX];
};

/* One process's snapshot without kernels; GPUs have their numbers on the screen. */
struct rtl_merge_totals {
    struct rtl_snapshot snapshot;
    bool queues; /* false after the process ended: drop its queues, except those that an error stopped */
    bool folded; /* several processes: drop these, too */
};

/* Number the snapshot's new GPUs by PCI address; with `keep`, by their numbers in the process. */
void rtl_gpu_table_add(struct rtl_gpu_table *table, uint32_t member, const struct rtl_snapshot *snapshot, bool keep);

/* Copy a snapshot without kernels. GPUs get their numbers of the table, queue slots start at `slots`, and queues get
 * the pid. False without memory. */
bool rtl_merge_totals_copy(struct rtl_gpu_table *table, uint32_t member, uint32_t slots, pid_t pid,
                           const struct rtl_snapshot *from, struct rtl_snapshot *to);

/* Sort the GPUs by PCI address; to[old number] is the new number. */
void rtl_gpu_table_sort(struct rtl_gpu_table *table, uint32_t to[RTL_AGENTS_MAX]);
void rtl_merge_totals_renumber(struct rtl_snapshot *rest, const uint32_t to[RTL_AGENTS_MAX]);

/* Put the sum of HIP calls and ranges into out->hip_api; NULL if no process has them. False without memory. */
bool rtl_merge_hip_api(const struct rtl_hip_api_snapshot *const *from, uint32_t count, struct rtl_snapshot *out);

/* Sum the totals of all processes. False without memory: *out is empty. */
bool rtl_merge_totals_sum(const struct rtl_merge_totals *rests, uint32_t count, struct rtl_snapshot *out);

#endif
