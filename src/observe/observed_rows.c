/* Counts kernels of an observed process. See observed_rows.h. */
#include "observe/observed_rows.h"
#include "stats/histogram.h"

#include <stdlib.h>
#include <string.h>

bool rtl_observed_rows_grow(struct rtl_observed_rows *rows, uint32_t count)
{
    if (count <= rows->count)
        return true;
    uint32_t room = count + count / 2 + 64;
    struct rtl_observed_row *more = realloc(rows->at, room * sizeof *more);
    if (!more)
        return false;
    memset(more + rows->count, 0, (room - rows->count) * sizeof *more);
    rows->at = more;
    rows->count = room;
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

static bool copy_row_histogram(const struct rtl_observed_row *row, struct rtl_snapshot *s, struct rtl_histogram_copy *h)
{
    uint32_t octaves = 0;
    for (int o = 0; o < RTL_OCTAVES_MAX; o++)
        octaves += row->octave[o] != NULL;
    h->octaves = octaves ? rtl_snapshot_allocate(s, octaves * sizeof *h->octaves) : NULL;
    if (octaves && !h->octaves)
        return false;
    h->count = row->timed;
    h->total_ns = row->total_ns;
    h->min_ns = row->min_ns;
    h->max_ns = row->max_ns;
    for (int o = 0; o < RTL_OCTAVES_MAX; o++) {
        if (!row->octave[o])
            continue;
        struct rtl_octave *to = &h->octaves[h->octave_count++];
        to->octave = (uint8_t)o;
        memcpy(to->bucket, row->octave[o], sizeof to->bucket);
    }
    return true;
}

bool rtl_observed_rows_copy(struct rtl_observed_rows *rows, const struct rtl_kernel_names *names,
                            enum rtl_convention convention, struct rtl_snapshot *s)
{
    uint32_t count = rtl_kernel_names_count(names);
    count = count < rows->count ? count : rows->count;
    s->kernels = calloc(count ? count : 1, sizeof *s->kernels);
    if (!s->kernels)
        return false;
    bool estimated = false, all_timed = true; /* those that can be timed: kernels with a name */
    for (uint32_t i = RTL_KERNEL_FIRST; i < count; i++)
        all_timed &= rows->at[i].timed || !rows->at[i].calls || rtl_kernel_names_is_own(names, i);
    for (uint32_t i = 0; i < count; i++) {
        struct rtl_observed_row *row = &rows->at[i];
        struct rtl_kernel_snapshot *k = &s->kernels[s->kernel_count];
        uint32_t length;
        if (!row->calls)
            continue;
        k->id = i;
        k->name = rtl_kernel_names_text(names, i, &length);
        k->name_length = length;
        k->calls = row->calls;
        k->untimed = row->calls - row->timed;
        memcpy(k->grid, row->last.grid, sizeof k->grid);
        memcpy(k->workgroup, row->last.workgroup, sizeof k->workgroup);
        k->lds_bytes = row->last.group_bytes;
        k->scratch_bytes = row->last.private_bytes;
        update_estimate(rows, row, convention, all_timed);
        k->estimated_ns = row->estimated_ns;
        if (!copy_row_histogram(row, s, &k->histogram))
            return false;
        s->kernel_count++;
        s->timed += row->timed;
        estimated |= row->estimated_ns != 0;
    }
    s->in_force = estimated ? RTL_ACTIVITY_TIMING : RTL_ACTIVITY_COUNTING;
    return true;
}
