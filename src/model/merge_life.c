/* A merge's beginning and end, and how it begins again. See merge.h. */
#include "model/merge.h"
#include "model/merge_private.h"

#include <stdlib.h>
#include <string.h>

struct rtl_merge *rtl_merge_create(void)
{
    static const char other[] = "(other kernels)";
    struct rtl_merge *merge = calloc(1, sizeof *merge);
    if (!merge)
        return NULL;
    struct rtl_merged_member nobody = {0};
    if (rtl_merge_id(merge, &nobody, other, strlen(other)) != RTL_KERNEL_OTHER ||
        !merge->kernels[RTL_KERNEL_OTHER].name) {
        free(merge);
        return NULL;
    }
    return merge;
}

void rtl_merge_free(struct rtl_merge *merge)
{
    if (!merge)
        return;
    for (uint32_t id = 0; id < RTL_KERNELS_MAX; id++) {
        struct rtl_merged_kernel *k = &merge->kernels[id];
        for (uint32_t i = 0; i < k->count; i++)
            rtl_part_release(k->parts[i]);
        rtl_group_release(k->group);
        free(k->parts);
        free(k->name);
    }
    for (int i = 0; i < RTL_MEMBERS_MAX; i++) {
        if (merge->members[i].has_rest)
            rtl_snapshot_free(&merge->members[i].rest.snapshot);
        free(merge->members[i].rows);
    }
    rtl_snapshot_free(&merge->gone.snapshot);
    free(merge);
}

void rtl_merge_rewind(struct rtl_merge *merge)
{
    for (uint32_t id = 0; id < merge->next_id; id++) {
        struct rtl_merged_kernel *k = &merge->kernels[id];
        for (uint32_t i = 0; i < k->count; i++)
            rtl_part_release(k->parts[i]);
        k->count = 0;
        rtl_merge_mark_dirty(merge, id);
    }
    for (int i = 0; i < RTL_MEMBERS_MAX; i++) {
        struct rtl_merged_member *m = &merge->members[i];
        if (m->has_rest)
            rtl_snapshot_free(&m->rest.snapshot);
        free(m->rows);
        *m = (struct rtl_merged_member){.late_ids = m->late_ids, .late_names = m->late_names};
    }
    rtl_snapshot_free(&merge->gone.snapshot);
    merge->any_gone = false;
    merge->next_member = 0;
}
