/*
 * Restricts the model's rows to the kernels that calls in one roctx range, and in the ranges inside it, have launched.
 * A range has histograms of its timed kernels. Untimed counts, launch times and trends are known only for all
 * dispatches of a kernel.
 */
#ifndef RTL_MODEL_MODEL_RANGE_H
#define RTL_MODEL_MODEL_RANGE_H

#include "model/model_data.h"

enum { RTL_RANGE_PATH_MAX = 64 }; /* the library records no deeper ranges */

struct rtl_range_choice {
    uint32_t depth; /* names in path, outer ones first */
    struct {
        uint32_t bytes;
        char name[RTL_HIP_API_TEXT + 1];
    } path[RTL_RANGE_PATH_MAX];
    struct rtl_sample latest, base, before, zero; /* as in the model, with the range's kernels only */
};

/* Choose the range of a row of the tree in model->hip_api. NULL if it owns no kernels (never pushed), or without
 * memory.
 */
struct rtl_range_choice *rtl_range_choose(const struct rtl_model *model, const struct rtl_hip_api_model_row *row);
/* "step > forward" as safe text; "" for NULL. */
void rtl_range_text(const struct rtl_range_choice *range, char *out, size_t size);

/* Likewise for a node. */
void rtl_range_node_text(const struct rtl_hip_api_snapshot *calls, uint32_t node, char *out, size_t size);

/* A kernel and the innermost range that launched it, since the start. */
struct rtl_range_kernel {
    const struct rtl_hip_api_pair_snapshot *pair;
    const struct rtl_kernel_snapshot *kernel; /* in the snapshot */
};
/* List a snapshot's kernels by range, then by descending time, in *out, which the caller frees. Return the count;
 * without memory 0, and *out is NULL. */
uint32_t rtl_range_kernels(const struct rtl_snapshot *snapshot, struct rtl_range_kernel **out);

/* Remake the snapshots of model->range. False without memory. */
bool rtl_range_make(struct rtl_model *model);
void rtl_range_free(struct rtl_range_choice *range);

#endif
