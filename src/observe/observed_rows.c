/* Counts kernels of an observed process. See observed_rows.h. */
#include "observe/observed_rows.h"
#include "base/array.h"
#include "stats/histogram.h"

#include <stdlib.h>
#include <string.h>

bool rtl_observed_rows_grow(struct rtl_observed_rows *rows, uint32_t count)
{
    uint32_t before = rows->count;
    if (!rtl_grow(&rows->at, &rows->count, count, sizeof *rows->at))
        return false;
    if (rows->count > before)
        memset(rows->at + before, 0, (rows->count - before) * sizeof *rows->at);
    return true;
}

void rtl_observed_rows_free(struct rtl_observed_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        for (int o = 0; o < RTL_OCTAVES_MAX; o++)
            free(rows->at[i].octave[o]);
    free(rows->at);
    *rows = (struct rtl_observed_rows){0};
}

bool rtl_observed_row_time(struct rtl_observed_row *row, uint64_t ns)
{
    uint32_t bucket = rtl_bucket_of(ns), octave = bucket / RTL_CHUNK_BUCKETS;
    if (!row->octave[octave] && !(row->octave[octave] = calloc(RTL_CHUNK_BUCKETS, sizeof **row->octave)))
        return false;
    row->octave[octave][bucket % RTL_CHUNK_BUCKETS]++;
    row->min_ns = row->timed && row->min_ns < ns ? row->min_ns : ns;
    row->max_ns = row->max_ns > ns ? row->max_ns : ns;
    row->total_ns += ns;
    row->timed++;
    return true;
}

/* Update a kernel's estimated time: with exact times, their mean for each call; otherwise its time at the head of
 * queues, if the convention is known. Adds only what is new since the last update. */
static void update_estimate(const struct rtl_observed_rows *rows, struct rtl_observed_row *row,
                            enum rtl_convention convention, bool all_timed)
{
    uint64_t head = 0;
    if (convention == RTL_CONVENTION_EARLY && rows->early_ns)
        head = (uint64_t)((double)row->early_ns * (double)rows->early_all_ns / (double)rows->early_ns);
    else if (convention == RTL_CONVENTION_LATE && rows->late_ns)
        head = (uint64_t)((double)row->late_ns * (double)rows->late_all_ns / (double)rows->late_ns);
    uint64_t calls = row->calls - row->estimated_calls;
    if (convention == RTL_CONVENTION_UNKNOWN && !all_timed)
        return; /* nothing is lost: added once the convention is known */
    if (row->timed)
        row->estimated_ns += (uint64_t)((double)row->total_ns / (double)row->timed * (double)calls);
    else if (head > row->estimated_head_ns)
        row->estimated_ns += head - row->estimated_head_ns;
    row->estimated_calls = row->calls;
    row->estimated_head_ns = head > row->estimated_head_ns ? head : row->estimated_head_ns;
}

bool rtl_observed_rows_copy(struct rtl_observed_rows *rows, const struct rtl_kernel_names *names,
                            enum rtl_convention convention, struct rtl_snapshot *s)
{
    uint32_t count = names->rows < rows->count ? names->rows : rows->count;
    s->kernels = calloc(count ? count : 1, sizeof *s->kernels);
    if (!s->kernels)
        return false;
    bool estimated = false, all_timed = true; /* those that can be timed: kernels with a name */
    for (uint32_t i = RTL_KERNEL_FIRST; i < count; i++)
        all_timed &= rows->at[i].timed || !rows->at[i].calls || rtl_kernel_names_is_own(names, i);
    for (uint32_t i = 0; i < count; i++) {
        struct rtl_observed_row *row = &rows->at[i];
        struct rtl_kernel_snapshot *k = &s->kernels[s->kernel_count];
        if (!row->calls)
            continue;
        k->id = i;
        k->name = names->name[i];
        k->name_length = names->length[i];
        k->calls = row->calls;
        k->untimed = row->calls - row->timed;
        memcpy(k->grid, row->last.grid, sizeof k->grid);
        memcpy(k->workgroup, row->last.workgroup, sizeof k->workgroup);
        k->lds_bytes = row->last.group_bytes;
        k->scratch_bytes = row->last.private_bytes;
        update_estimate(rows, row, convention, all_timed);
        k->estimated_ns = row->estimated_ns;
        k->histogram = (struct rtl_histogram_copy){
            .count = row->timed, .total_ns = row->total_ns, .min_ns = row->min_ns, .max_ns = row->max_ns};
        if (!rtl_snapshot_set_octaves(s, &k->histogram, row->octave))
            return false;
        s->kernel_count++;
        s->timed += row->timed;
        estimated |= row->estimated_ns != 0;
    }
    s->in_force = estimated ? RTL_ACTIVITY_TIMING : RTL_ACTIVITY_COUNTING;
    return true;
}
