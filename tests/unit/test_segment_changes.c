/*
 * Snapshots of changes only: together they equal a full snapshot, whatever the writer does before and during the read.
 * Where nothing changed, almost nothing is read.
 */
#include "segment_fixture.h"

#include <stdio.h>

#include "shm/reader_private.h"

enum { KERNELS_MOST = 400, QUEUES = 4, SNAPSHOTS = 160 };

struct play {
    struct rtl_segment segment;
    struct rtl_recorder *recorder;
    struct rtl_reader *reader;
    uint32_t kernels;
    uint64_t random;
    struct rtl_snapshot taken[SNAPSHOTS]; /* the table points into these */
    uint32_t count;
    const struct rtl_kernel_snapshot *table[KERNELS_MOST];
    uint64_t loads;
    bool in_between; /* the writer works while the reader reads */
};

static int start(void **state)
{
    struct play *p = calloc(1, sizeof *p);
    fixture_segment(&p->segment);
    p->recorder = rtl_recorder_create(&p->segment);
    p->random = 0x9e3779b97f4a7c15ull;
    p->kernels = RTL_KERNEL_FIRST;
    p->reader = fixture_reader(&p->segment);
    rtl_segment_set_state(&p->segment, RTL_STATE_LIVE);
    *state = p;
    return 0;
}

static int end(void **state)
{
    struct play *p = *state;
    for (uint32_t i = 0; i < p->count; i++)
        rtl_snapshot_free(&p->taken[i]);
    rtl_reader_close(p->reader);
    rtl_recorder_destroy(p->recorder);
    fixture_drop(&p->segment);
    free(p);
    return 0;
}

static void add_kernels(struct play *p, uint32_t count)
{
    char name[40];
    while (count-- && p->kernels < KERNELS_MOST) {
        snprintf(name, sizeof name, "kernel %u", p->kernels);
        assert_int_equal(fixture_kernel(&p->segment, name), p->kernels++);
    }
}

/* The library's order: the row, then the queue. The worker's order: the histogram, then the queue. */
static void dispatch(struct play *p, uint32_t k, uint32_t slot, bool timed)
{
    struct rtl_queue *q = &p->segment.queues[slot];
    struct rtl_dispatches *d = &p->segment.dispatches[(size_t)slot * RTL_KERNELS_MAX + k];
    q->generation = 2;
    d->calls++;
    q->dispatches++;
    q->packets++;
    d->grid[0] = (uint32_t)(fixture_random(&p->random) % 1000);
    if (!timed) {
        d->untimed++;
        ++*rtl_queue_untimed(q, fixture_random(&p->random) % 2 ? RTL_UNTIMED_OWN_SIGNAL : RTL_UNTIMED_UNWATCHED);
        return;
    }
    q->injected++;
}

static void finish(struct play *p, uint32_t k, uint32_t slot)
{
    struct rtl_queue *q = &p->segment.queues[slot];
    if (fixture_random(&p->random) % 20 == 0) {
        rtl_recorder_untimed(p->recorder, k);
        q->untimed[RTL_UNTIMED_BAD_TIME]++;
    } else {
        rtl_recorder_record(p->recorder, k, fixture_random(&p->random) % 100000);
        rtl_recorder_record(p->recorder, RTL_HISTOGRAM_WAIT(slot), fixture_random(&p->random) % 5000);
    }
    q->completed++;
    p->segment.header->passes++;
}

static void work(struct play *p, uint32_t dispatches, uint32_t kernels)
{
    for (uint32_t i = 0; i < dispatches; i++) {
        uint32_t k = (uint32_t)(fixture_random(&p->random) % kernels) % p->kernels;
        uint32_t slot = (uint32_t)(fixture_random(&p->random) % QUEUES);
        bool timed = fixture_random(&p->random) % 4;
        dispatch(p, k, slot, timed);
        if (timed)
            finish(p, k, slot);
    }
}

static void meanwhile(void *context, uint64_t offset)
{
    struct play *p = context;
    (void)offset;
    p->loads++;
    if (p->in_between && fixture_random(&p->random) % 200 == 0) {
        p->in_between = false; /* no interruption in here */
        work(p, 3, KERNELS_MOST);
        p->in_between = true;
    }
}

static uint32_t take(struct play *p)
{
    assert_true(p->count < SNAPSHOTS);
    struct rtl_snapshot *s = &p->taken[p->count++];
    assert_int_equal(rtl_reader_changes(p->reader, s), RTL_READER_OK);
    for (uint32_t i = 0; i < s->kernel_count; i++) {
        assert_true(!i || s->kernels[i - 1].id < s->kernels[i].id);
        assert_true(s->kernels[i].untimed + s->kernels[i].histogram.count <= s->kernels[i].calls);
        p->table[s->kernels[i].id] = &s->kernels[i];
    }
    return s->kernel_count;
}

static void assert_same_histogram(const struct rtl_histogram_copy *a, const struct rtl_histogram_copy *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->total_ns, b->total_ns);
    assert_int_equal(a->min_ns, b->min_ns);
    assert_int_equal(a->max_ns, b->max_ns);
    assert_int_equal(a->approximate, b->approximate);
    assert_int_equal(a->octave_count, b->octave_count);
    for (uint32_t o = 0; o < a->octave_count; o++) {
        assert_int_equal(a->octaves[o].octave, b->octaves[o].octave);
        assert_memory_equal(a->octaves[o].bucket, b->octaves[o].bucket, sizeof a->octaves[o].bucket);
    }
}

/* Check that the table equals a full snapshot taken now. */
static void assert_whole(struct play *p)
{
    struct rtl_snapshot whole;
    const struct rtl_snapshot *last = &p->taken[p->count - 1];
    uint32_t known = 0;
    assert_int_equal(rtl_reader_snapshot(p->reader, &whole), RTL_READER_OK);
    for (uint32_t i = 0; i < KERNELS_MOST; i++)
        known += p->table[i] != NULL;
    assert_int_equal(known, whole.kernel_count);
    for (uint32_t i = 0; i < whole.kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &whole.kernels[i], *t = p->table[k->id];
        assert_non_null(t);
        assert_string_equal(t->name, k->name);
        assert_int_equal(t->calls, k->calls);
        assert_int_equal(t->untimed, k->untimed);
        assert_memory_equal(t->grid, k->grid, sizeof k->grid);
        assert_same_histogram(&t->histogram, &k->histogram);
    }
    assert_int_equal(last->timed, whole.timed);
    assert_int_equal(last->counted, whole.counted);
    assert_int_equal(last->untimed_total, whole.untimed_total);
    assert_int_equal(last->queue_count, whole.queue_count);
    assert_int_equal(last->passes, whole.passes);
    rtl_snapshot_free(&whole);
}

static void changes_add_up_to_a_full_snapshot(void **state)
{
    struct play *p = *state;
    for (int round = 0; round < SNAPSHOTS; round++) {
        if (round % 10 == 0)
            add_kernels(p, 1 + round / 4);
        /* in some rounds all kernels, in some the same few, or none */
        work(p, round % 7 ? 30 : 0, round % 13 ? 12 : KERNELS_MOST);
        take(p);
        assert_whole(p);
    }
}

static void only_changed_rows_are_returned(void **state)
{
    struct play *p = *state;
    add_kernels(p, KERNELS_MOST);
    work(p, 5000, KERNELS_MOST);
    assert_true(take(p) > 300);
    assert_int_equal(take(p), 0);
    dispatch(p, 17, 2, false);
    dispatch(p, 300, 1, true);
    assert_int_equal(take(p), 2);
    finish(p, 300, 1);
    assert_int_equal(take(p), 1);
    assert_int_equal(take(p), 0);
    assert_whole(p);
}

static uint64_t loads_of(struct play *p)
{
    p->loads = 0;
    take(p);
    return p->loads;
}

static void unchanged_rows_are_not_read(void **state)
{
    struct play *p = *state;
    if (!p->reader->base)
        skip();
    p->reader->meanwhile = meanwhile;
    p->reader->meanwhile_context = p;
    add_kernels(p, KERNELS_MOST);
    work(p, 5000, KERNELS_MOST);
    uint64_t first = loads_of(p), quiet = loads_of(p);
    const uint32_t lines = KERNELS_MOST * sizeof(struct rtl_dispatches) / 8; /* of one queue */
    assert_true(first > (QUEUES + 1) * lines);
    work(p, 100, 5);
    loads_of(p); /* the first snapshot has to find them */
    work(p, 100, 5);
    uint64_t few = loads_of(p);
    assert_true(few < quiet + 5 * (2 * QUEUES * 8 + 3 * 64 * 8));
    assert_true(few < quiet + (QUEUES + 1) * lines);
    /* with contradicting sums a snapshot costs as much as a full one, and returns the segment's values */
    p->segment.queues[0].dispatches++;
    p->segment.queues[0].completed++;
    assert_true(loads_of(p) > quiet + QUEUES * lines);
    p->reader->meanwhile = NULL;
    assert_whole(p);
    work(p, 10, KERNELS_MOST);
    take(p);
    assert_whole(p);
}

/* A row missed because the writer was in the middle of it comes with the next snapshot. */
static void a_writer_during_the_read_hides_no_change(void **state)
{
    struct play *p = *state;
    p->reader->meanwhile = meanwhile;
    p->reader->meanwhile_context = p;
    for (int round = 0; round < SNAPSHOTS / 2; round++) {
        add_kernels(p, 5);
        work(p, 20, round % 9 ? 12 : KERNELS_MOST);
        p->in_between = true;
        take(p);
        p->in_between = false;
        take(p);
        p->reader->meanwhile = NULL;
        assert_whole(p);
        p->reader->meanwhile = meanwhile;
    }
}

static void all_rows_come_again_after_a_forget(void **state)
{
    struct play *p = *state;
    add_kernels(p, 50);
    work(p, 500, 50);
    uint32_t all = take(p);
    rtl_reader_forget(p->reader);
    assert_int_equal(take(p), all);
    assert_int_equal(take(p), 0);
    assert_whole(p);
}

/* A writer died before it named a row, or within a record: the row comes each time. */
static void an_incomplete_row_comes_again(void **state)
{
    struct play *p = *state;
    add_kernels(p, 20);
    work(p, 200, 20);
    take(p);
    p->segment.kernels[9].state = RTL_KERNEL_FREE;
    rtl_reader_close(p->reader);
    memset(p->table, 0, sizeof p->table);
    p->reader = fixture_reader(&p->segment);
    take(p);
    assert_string_equal(p->table[9]->name, "(unnamed kernel)");
    p->segment.kernels[9].state = RTL_KERNEL_READY;
    take(p);
    assert_string_equal(p->table[9]->name, "kernel 9");
    p->segment.histograms[5].count++;
    p->segment.queues[0].completed++;
    take(p);
    assert_true(p->table[5]->histogram.approximate);
    p->segment.histograms[5].count--;
    p->segment.queues[0].completed--;
    take(p);
    assert_false(p->table[5]->histogram.approximate);
    assert_whole(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(changes_add_up_to_a_full_snapshot, start, end),
        cmocka_unit_test_setup_teardown(only_changed_rows_are_returned, start, end),
        cmocka_unit_test_setup_teardown(unchanged_rows_are_not_read, start, end),
        cmocka_unit_test_setup_teardown(a_writer_during_the_read_hides_no_change, start, end),
        cmocka_unit_test_setup_teardown(all_rows_come_again_after_a_forget, start, end),
        cmocka_unit_test_setup_teardown(an_incomplete_row_comes_again, start, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
