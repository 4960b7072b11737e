/*
 * Snapshots of changes: of ten thousand kernels a process calls a few hundred in a second, and a viewer of many such
 * processes must not read all rows each time.
 *
 * This needs nothing new from the writer. The queues give the sums over all rows: each dispatch counts in a row and in
 * its queue, and so does each completion that the worker accounts for. The reader first reads rows that changed lately.
 * If the sums then agree, no other row has changed; otherwise it reads all rows, as for a whole snapshot. It reads rows
 * before sums, and the writer counts in a row first: a count seen in a row and not yet in the sum may hide an equal
 * count of another row, which shows once the sum has caught up.
 *
 * A writer that lies only delays its own numbers. The reader never touches holes of the file: it reads single rows only
 * where a pass along the data has found something before.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "shm/snapshot_builder.h"

enum {
    QUIET_FRAMES = 60, /* a row that changed stays in the hot list for so long */
    NEAR = 2,
    FAR = 6, /* rows to prefetch ahead */
};

struct changes {
    struct rtl_snapshot_builder t;
    struct rtl_seen *seen;
    uint32_t rows, room; /* rows in use now; capacity of out->kernels */
};

void rtl_reader_forget(struct rtl_reader *reader)
{
    if (reader->seen)
        reader->seen->any = false;
}

static bool fail_memory(struct changes *c)
{
    c->t.no_memory = true;
    return false;
}

/* Make room for all rows in use; new rows are hot. */
static bool make_row_room(struct changes *c)
{
    struct rtl_seen *seen = c->seen;
    uint32_t room = seen->room;
    if (!rtl_grow(&seen->hot, &room, c->rows, sizeof *seen->hot) ||
        !rtl_grow(&seen->row, &seen->room, c->rows, sizeof *seen->row))
        return fail_memory(c);
    for (; seen->rows < c->rows; seen->rows++) {
        seen->row[seen->rows] = (struct rtl_seen_row){.hot = seen->any};
        if (seen->any)
            seen->hot[seen->hot_count++] = seen->rows;
    }
    return true;
}

/* --- rows --- */

/* Put the row into the snapshot with its current histogram. */
static bool append_row(struct changes *c, uint32_t i)
{
    struct rtl_snapshot *s = c->t.out;
    struct rtl_seen_row *row = &c->seen->row[i];
    if (!rtl_grow(&s->kernels, &c->room, s->kernel_count + 1u, sizeof *s->kernels))
        return fail_memory(c);
    struct rtl_kernel_snapshot *k = &s->kernels[s->kernel_count];
    *k = (struct rtl_kernel_snapshot){.id = i, .name = rtl_reader_name(c->t.reader, i, &c->t.damaged)};
    if (c->t.damaged || !rtl_build_histogram(&c->t, RTL_HISTOGRAM_KERNEL(i), &k->histogram, &k->untimed))
        return false;
    k->name_length = k->name ? c->t.reader->name_length[i] : 0;
    c->seen->accounted += k->histogram.count + k->untimed - row->count - row->failed;
    c->seen->timed += k->histogram.count - row->count;
    c->seen->huge |= k->histogram.count >> 48 != 0; /* the sum can't reach that without such a row */
    row->count = k->histogram.count;
    row->failed = k->untimed;
    row->unsettled = (k->histogram.approximate && !k->histogram.coarse) || !k->name;
    row->listed = true;
    s->kernel_count++;
    return true;
}

static bool refresh_histogram(struct changes *c, uint32_t i)
{
    const struct rtl_seen_row *row = &c->seen->row[i];
    struct rtl_histogram h;
    if (row->listed)
        return true;
    if (!rtl_build_fetch(&c->t, RTL_SECTION_HISTOGRAMS, i, 0, &h, sizeof h))
        return false;
    return (!row->unsettled && h.count == row->count && h.untimed == row->failed) || append_row(c, i);
}

/* Sum the completions that the worker has accounted for, over all queues. */
static bool sum_completions(struct changes *c, uint64_t *sum)
{
    *sum = 0;
    for (uint32_t q = 0; q < c->t.reader->queues; q++) {
        uint64_t completed;
        if (!rtl_build_fetch(&c->t, RTL_SECTION_QUEUES, q, offsetof(struct rtl_queue, completed), &completed,
                             sizeof completed))
            return false;
        *sum += completed;
    }
    return true;
}

/* Rows of the list lie far apart in memory: prefetch the next ones while one is read. */
static void expect_histogram(const struct changes *c, uint32_t at)
{
    const struct rtl_seen *seen = c->seen;
    const struct rtl_reader *r = c->t.reader;
    if (at + FAR < seen->hot_count) {
        rtl_expect_entry(r, RTL_SECTION_HISTOGRAMS, seen->hot[at + FAR], sizeof(struct rtl_histogram));
        rtl_expect_entry(r, RTL_SECTION_DIRECTORY, seen->hot[at + FAR], sizeof(struct rtl_directory));
    }
    struct rtl_directory directory;
    if (at + NEAR >= seen->hot_count || !seen->row[seen->hot[at + NEAR]].count ||
        !rtl_fetch_entry(r, RTL_SECTION_DIRECTORY, seen->hot[at + NEAR], 0, &directory, sizeof directory))
        return;
    for (uint32_t o = 0; o < RTL_OCTAVES_MAX; o++)
        if (directory.chunk[o])
            rtl_expect_entry(r, RTL_SECTION_CHUNKS, directory.chunk[o], sizeof(struct rtl_chunk));
}

static bool refresh_histograms(struct changes *c)
{
    struct rtl_seen *seen = c->seen;
    uint64_t accounted;
    bool ok = true;
    for (uint32_t i = 0; ok && i < c->rows && !seen->any; i++)
        ok = append_row(c, i);
    for (uint32_t i = 0; ok && i < seen->hot_count && seen->any; i++) {
        expect_histogram(c, i);
        ok = refresh_histogram(c, seen->hot[i]);
    }
    if (!ok || !seen->any || !sum_completions(c, &accounted) || accounted == seen->accounted)
        return ok && !c->t.damaged;
    for (uint32_t i = 0; ok && i < c->rows; i++)
        ok = refresh_histogram(c, i);
    return ok;
}

/* --- cells --- */

static void expect_cells(const struct changes *c, uint32_t at)
{
    const struct rtl_snapshot *s = c->t.out;
    for (uint32_t q = 0; q < s->queue_count && at < s->kernel_count; q++)
        rtl_expect_entry(c->t.reader, RTL_SECTION_DISPATCHES,
                         s->queues[q].slot * c->t.reader->view[RTL_SECTION_KERNELS].capacity + s->kernels[at].id,
                         sizeof(struct rtl_dispatches));
}

/* Read all cells of a row that have data into `k`. */
static bool read_cells(struct changes *c, uint32_t i, struct rtl_kernel_snapshot *k)
{
    const struct rtl_snapshot *s = c->t.out;
    uint64_t busiest = 0;
    for (uint32_t q = 0; q < s->queue_count; q++) {
        struct rtl_dispatches cell;
        uint32_t slot = s->queues[q].slot;
        if (!rtl_build_is_there(&c->t, slot, i))
            continue;
        if (!rtl_build_fetch(&c->t, RTL_SECTION_DISPATCHES, slot * c->t.reader->view[RTL_SECTION_KERNELS].capacity + i,
                             0, &cell, sizeof cell))
            return false;
        rtl_build_cell(k, &busiest, &cell);
    }
    return true;
}

static void note_cells(struct changes *c, uint32_t i, uint64_t calls, uint64_t untimed)
{
    struct rtl_seen_row *row = &c->seen->row[i];
    c->seen->calls += calls - row->calls;
    c->seen->untimed += untimed - row->untimed;
    row->calls = calls;
    row->untimed = untimed;
}

/* Add launch sizes and calls to a row of the snapshot; its histogram was copied before. */
static bool fill_in_cells(struct changes *c, struct rtl_kernel_snapshot *k)
{
    uint64_t failed = k->untimed;
    k->calls = k->untimed = 0;
    if (!read_cells(c, k->id, k))
        return false;
    note_cells(c, k->id, k->calls, k->untimed);
    k->untimed = rtl_plus(k->untimed, failed);
    return true;
}

/* Put a row into the snapshot if its cells have changed. */
static bool compare_cells(struct changes *c, const struct rtl_kernel_snapshot *now)
{
    const struct rtl_seen_row *row = &c->seen->row[now->id];
    if (row->listed || (row->calls == now->calls && row->untimed == now->untimed))
        return true;
    return append_row(c, now->id) && fill_in_cells(c, &c->t.out->kernels[c->t.out->kernel_count - 1]);
}

/* Find out whether the rows add up to the queues' counts. */
static bool are_accounted(struct changes *c, bool *all)
{
    const struct rtl_snapshot *s = c->t.out;
    uint64_t calls = 0, untimed = 0;
    for (uint32_t i = 0; i < s->queue_count; i++) {
        struct rtl_queue q = {0};
        const size_t from = offsetof(struct rtl_queue, dispatches), to = offsetof(struct rtl_queue, completed),
                     reasons = offsetof(struct rtl_queue, untimed);
        if (!rtl_build_fetch(&c->t, RTL_SECTION_QUEUES, s->queues[i].slot, reasons, q.untimed, sizeof q.untimed) ||
            !rtl_build_fetch(&c->t, RTL_SECTION_QUEUES, s->queues[i].slot, from, &q.dispatches, to - from))
            return false;
        calls += q.dispatches;
        for (unsigned r = 0; r < RTL_UNTIMED_LIMIT; r++)
            if (r < RTL_UNTIMED_LINES / 2 || r >= RTL_UNTIMED_LINES) /* the worker's reasons: no cell counts them */
                untimed += *rtl_queue_untimed(&q, r);
    }
    *all = calls == c->seen->calls && untimed == c->seen->untimed;
    return true;
}

/* Read the data of all queues, as for a whole snapshot. */
static bool refresh_all_cells(struct changes *c)
{
    struct rtl_snapshot *s = c->t.out, all = {.queues = s->queues, .queue_count = s->queue_count};
    all.kernels = rtl_build_array(&c->t, c->rows, sizeof *all.kernels);
    all.kernel_count = c->rows;
    if (!all.kernels)
        return false;
    c->t.out = &all;
    bool ok = rtl_build_dispatches(&c->t);
    c->t.out = s;
    for (uint32_t i = 0; ok && i < s->kernel_count; i++) { /* replace their cells by the ones just read */
        struct rtl_kernel_snapshot *k = &s->kernels[i], *found = &all.kernels[k->id];
        uint64_t failed = c->seen->row[k->id].failed;
        note_cells(c, k->id, found->calls, found->untimed);
        k->calls = found->calls;
        k->untimed = rtl_plus(found->untimed, failed);
        memcpy(k->grid, found->grid, sizeof k->grid);
        memcpy(k->workgroup, found->workgroup, sizeof k->workgroup);
        k->lds_bytes = found->lds_bytes;
        k->scratch_bytes = found->scratch_bytes;
    }
    for (uint32_t i = 0; ok && i < c->rows; i++) {
        all.kernels[i].id = i;
        ok = compare_cells(c, &all.kernels[i]);
    }
    free(all.kernels);
    return ok;
}

static bool refresh_cells(struct changes *c)
{
    struct rtl_seen *seen = c->seen;
    bool all = false, ok = true;
    c->t.there = seen->there;
    if (!seen->any || seen->hot_count > c->rows / 2 || c->t.out->kernel_count > c->rows / 2)
        return refresh_all_cells(c);
    for (uint32_t i = 0; ok && i < c->t.out->kernel_count; i++) {
        expect_cells(c, i + NEAR);
        ok = fill_in_cells(c, &c->t.out->kernels[i]);
    }
    for (uint32_t i = 0; ok && i < seen->hot_count; i++) {
        struct rtl_kernel_snapshot k = {.id = seen->hot[i]};
        if (!seen->row[k.id].listed)
            ok = read_cells(c, k.id, &k) && compare_cells(c, &k);
    }
    return ok && are_accounted(c, &all) && (all || refresh_all_cells(c));
}

/* --- the whole --- */

/* Make rows that changed hot, and drop rows that have been quiet for QUIET_FRAMES. */
static void update_hot_rows(struct changes *c)
{
    struct rtl_seen *seen = c->seen;
    const struct rtl_snapshot *s = c->t.out;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        struct rtl_seen_row *row = &seen->row[s->kernels[i].id];
        row->quiet = 0;
        row->listed = false;
        if (!row->hot &&
            (seen->any || row->unsettled)) { /* in the first snapshot every row changed, which says nothing */
            row->hot = true;
            seen->hot[seen->hot_count++] = s->kernels[i].id;
        }
    }
    for (uint32_t i = 0; i < seen->hot_count; i++) {
        struct rtl_seen_row *row = &seen->row[seen->hot[i]];
        row->hot = row->quiet++ < QUIET_FRAMES;
        if (row->hot)
            seen->hot[kept++] = seen->hot[i];
    }
    seen->hot_count = kept;
}

static int compare_kernel_ids(const void *a, const void *b)
{
    const struct rtl_kernel_snapshot *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void finish_snapshot(struct changes *c)
{
    struct rtl_snapshot *s = c->t.out;
    if (!rtl_build_compact(s))
        qsort(s->kernels, s->kernel_count, sizeof *s->kernels, compare_kernel_ids);
    s->timed = c->seen->timed;
    for (uint32_t i = 0; i < c->rows && c->seen->huge; i++)
        s->timed = i ? rtl_plus(s->timed, c->seen->row[i].count) : c->seen->row[i].count;
}

enum rtl_reader_status rtl_reader_changes(struct rtl_reader *reader, struct rtl_snapshot *snapshot)
{
    struct changes c;
    if (!reader->seen && !(reader->seen = calloc(1, sizeof *reader->seen)))
        return RTL_READER_USAGE;
    c.seen = reader->seen;
    c.room = 0;
    if (!rtl_build_header(&c.t, reader, snapshot, &c.rows))
        return RTL_READER_VERSION;
    if (c.rows < c.seen->rows)
        c.rows = c.seen->rows; /* rows never disappear */
    if (make_row_room(&c) && refresh_histograms(&c) && rtl_build_queues(&c.t) && refresh_cells(&c) &&
        rtl_build_copies(&c.t) && rtl_build_agents(&c.t)) {
        update_hot_rows(&c);
        finish_snapshot(&c);
        c.seen->any = true;
        return RTL_READER_OK;
    }
    for (uint32_t i = 0; i < snapshot->kernel_count; i++)
        c.seen->row[snapshot->kernels[i].id].listed = false;
    c.seen->any = false;
    rtl_snapshot_free(snapshot);
    return c.t.no_memory ? RTL_READER_USAGE : RTL_READER_VERSION;
}
