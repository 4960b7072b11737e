/*
 * The kernels of one range of roctx: the model's rows are made of what calls in it, and in the ranges in it, have
 * launched, instead of all. Of a kernel that was timed there is its histogram there; what was only counted, how long
 * launches took and how the time went earlier are known of the whole kernel only.
 */
#ifndef RTL_MODEL_MODEL_RANGE_H
#define RTL_MODEL_MODEL_RANGE_H

#include "model/model_data.h"

enum { RTL_RANGE_PATH_MAX = 64 }; /* as deep as a library follows ranges */

/* X(member of rtl_model, member here): the snapshots that rows are made of */
#define RTL_RANGE_SPANS(X) \
    X(latest)              \
    X(base)                \
    X(before)              \
    X(zero)

struct rtl_range_choice {
    uint32_t depth; /* names in path, outer ones first */
    struct {
        uint32_t bytes;
        char name[RTL_HIP_API_TEXT + 1];
    } path[RTL_RANGE_PATH_MAX];
#define RTL_DECLARE_SPAN(span) struct rtl_sample span;
    RTL_RANGE_SPANS(RTL_DECLARE_SPAN) /* their kernels are those of the range */
#undef RTL_DECLARE_SPAN
};

/* The range of a row of the tree in model->calls. NULL: it owns no kernels (it was never pushed), or without memory. */
struct rtl_range_choice *rtl_range_choose(const struct rtl_model *model, const struct rtl_hip_api_model_row *row);
/* "step > forward", untrusted names made safe; "" of none. */
void rtl_range_text(const struct rtl_range_choice *range, char *out, size_t size);

/* The path of a node likewise. */
void rtl_range_node_text(const struct rtl_hip_api_snapshot *calls, uint32_t node, char *out, size_t size);

/* A kernel in the very range that launched it, since the start. */
struct rtl_range_kernel {
    const struct rtl_hip_api_pair_snapshot *pair;
    const struct rtl_kernel_snapshot *kernel; /* in the snapshot */
};
/* All of a snapshot, by range, then the longest first, into *out, which the caller frees. Their number; with no memory
 * 0 and *out is NULL. */
uint32_t rtl_range_kernels(const struct rtl_snapshot *snapshot, struct rtl_range_kernel **out);

/* Makes the snapshots of model->range anew. False without memory. */
bool rtl_range_make(struct rtl_model *model);
void rtl_range_free(struct rtl_range_choice *range);

#endif
