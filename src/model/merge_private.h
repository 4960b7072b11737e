/* What a merge is made of. Only the files merge*.c use it. */
#ifndef RTL_MODEL_MERGE_PRIVATE_H
#define RTL_MODEL_MERGE_PRIVATE_H

#include "model/merge_parts.h"
#include "model/merge_totals.h"

enum { RTL_MERGE_INDEX = 4 * RTL_KERNELS_MAX }; /* a power of two */

/* A kernel as it is now; its group is as it was when it was last made. */
struct rtl_merged_kernel {
    char *name; /* NULL = no kernel has this id */
    size_t length;
    uint64_t hash;
    struct rtl_part **parts; /* by member, then row */
    uint32_t count, room;
    bool dirty;
    struct rtl_group *group;
};

struct rtl_merged_member {
    bool taken, adopted;
    struct rtl_member member;
    struct rtl_part **rows; /* by its own kernel ids: the merge's part, or NULL */
    uint32_t row_count;
    struct rtl_merge_totals rest;
    bool has_rest;
    uint32_t late_ids; /* what it had of names and ids that are kept for late ones */
    size_t late_names;
};

struct rtl_merge {
    struct rtl_merged_kernel kernels[RTL_KERNELS_MAX];
    uint32_t next_id;                /* all below are named or left out for good */
    uint32_t index[RTL_MERGE_INDEX]; /* by hash: id + 1 */
    size_t names_bytes;
    uint32_t dirty[RTL_KERNELS_MAX], dirty_count;
    struct rtl_gpu_table gpus;
    struct rtl_merged_member members[RTL_MEMBERS_MAX];
    uint32_t next_member;
    struct rtl_merge_totals gone; /* of those that ended earlier */
    bool any_gone;
    bool numbered;                       /* GPUs have been shown: their numbers stay */
    size_t charged[RTL_MEMBERS_MAX + 1]; /* bytes of parts by the member's place; of those that are added up last */
    size_t share;                        /* of one, of the moment */
    size_t groups_charged;
    struct rtl_packing packing; /* empty between two uses */
};

/* The id of a name, a new one if need be; RTL_KERNEL_OTHER when there is no more room. */
uint32_t rtl_merge_id(struct rtl_merge *merge, struct rtl_merged_member *member, const char *name, size_t length);
/* The kernel's group has to be made anew. */
void rtl_merge_mark_dirty(struct rtl_merge *merge, uint32_t id);

#endif
