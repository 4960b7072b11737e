/*
 * The recorder. Its fast and slow paths store a value by the same rule. Full tables and pools lose nothing. Minima and
 * maxima are right at the ends of the range. Pages exist ahead of need, and memory stays small.
 */
#include "limits_fixture.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "stats/histogram.h"
#include "stats/quantile.h"

struct setup {
    struct rtl_segment segment;
    struct rtl_recorder *recorder;
    struct rtl_reader *reader;
};

static int start(void **state)
{
    struct setup *s = calloc(1, sizeof *s);
    fixture_segment(&s->segment);
    s->recorder = rtl_recorder_create(&s->segment);
    s->reader = fixture_reader(&s->segment);
    *state = s;
    return s->recorder ? 0 : 1;
}

static int stop(void **state)
{
    struct setup *s = *state;
    rtl_reader_close(s->reader);
    rtl_recorder_destroy(s->recorder);
    fixture_drop(&s->segment);
    free(s);
    return 0;
}

static void take(struct setup *s, struct rtl_snapshot *snapshot)
{
    memset(snapshot, 0, sizeof *snapshot);
    assert_int_equal(rtl_reader_snapshot(s->reader, snapshot), RTL_READER_OK);
}

/* Both paths put every value into the bucket of rtl_bucket_of. */
static void values_land_in_their_buckets(void **state)
{
    struct setup *s = *state;
    static uint64_t want[RTL_OCTAVES_MAX * RTL_CHUNK_BUCKETS];
    uint64_t seed = 99, total = 0, min = UINT64_MAX, max = 0, count = 0;
    uint32_t kernel = fixture_kernel(&s->segment, "k");
    struct rtl_snapshot snapshot;

    for (int i = 0; i < 300000; i++) {
        uint64_t v = fixture_random(&seed) >> (22 + fixture_random(&seed) % 42);
        if (i < RTL_CHUNK_BUCKETS * 35)
            v = rtl_bucket_low((uint32_t)i);
        want[rtl_bucket_of(v)]++;
        total += v;
        count++;
        min = v < min ? v : min;
        max = v > max ? v : max;
        rtl_recorder_record(s->recorder, RTL_HISTOGRAM_KERNEL(kernel), v);
    }
    take(s, &snapshot);
    const struct rtl_histogram_copy *h = &fixture_find(&snapshot, kernel)->histogram;
    assert_int_equal(h->count, count);
    assert_int_equal(h->total_ns, total);
    assert_int_equal(h->min_ns, min);
    assert_int_equal(h->max_ns, max);
    assert_int_equal(h->octave_count, 35);
    for (uint32_t i = 0; i < h->octave_count; i++)
        assert_memory_equal(h->octaves[i].bucket, &want[h->octaves[i].octave * RTL_CHUNK_BUCKETS],
                            sizeof h->octaves[i].bucket);
    rtl_snapshot_free(&snapshot);
}

static void the_ends_of_the_range_are_counted(void **state)
{
    struct setup *s = *state;
    const uint64_t values[] = {1000, 0, 63, 64, RTL_VALUE_MAX, RTL_VALUE_MAX + 1, 1ull << 50, 128, 65};
    uint64_t total = 0;
    struct rtl_snapshot snapshot;
    uint32_t kernel = fixture_kernel(&s->segment, "k");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        rtl_recorder_record(s->recorder, RTL_HISTOGRAM_KERNEL(kernel), values[i]);
        total += values[i];
        take(s, &snapshot);
        const struct rtl_histogram_copy *h = &fixture_find(&snapshot, kernel)->histogram;
        assert_int_equal(h->count, i + 1);
        assert_int_equal(fixture_sum(h), i + 1);
        assert_int_equal(h->total_ns, total);
        assert_int_equal(h->min_ns, i == 0 ? 1000 : 0);
        assert_int_equal(h->max_ns, i < 4 ? 1000 : i == 4 ? RTL_VALUE_MAX : i == 5 ? RTL_VALUE_MAX + 1 : 1ull << 50);
        rtl_snapshot_free(&snapshot);
    }
}

/* A value beyond the range, then ordinary ones: the minimum follows. */
static void the_minimum_follows_a_first_value_beyond_the_range(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot;
    /* volatile: the compiler must not know them */
    volatile uint64_t values[] = {UINT64_MAX >> 1, UINT64_MAX >> 2, 5000};
    uint32_t kernel = fixture_kernel(&s->segment, "k");
    for (int i = 0; i < 3; i++)
        rtl_recorder_record(s->recorder, RTL_HISTOGRAM_KERNEL(kernel), values[i]);
    take(s, &snapshot);
    const struct rtl_histogram_copy *h = &fixture_find(&snapshot, kernel)->histogram;
    assert_int_equal(h->count, 3);
    assert_int_equal(h->min_ns, 5000);
    assert_int_equal(h->max_ns, UINT64_MAX >> 1);
    rtl_snapshot_free(&snapshot);
}

static void every_row_and_rows_beyond_are_counted(void **state)
{
    struct setup *s = *state;
    enum { EXTRA = 5000 };
    char name[40];
    uint64_t seed = 3, recorded = 0;
    struct rtl_snapshot snapshot;
    for (uint32_t i = RTL_KERNEL_FIRST; i < RTL_KERNELS_MAX + EXTRA; i++) {
        int length = snprintf(name, sizeof name, "_Z6kernelILi%uEEvPf", i);
        uint32_t row = rtl_segment_add_kernel(&s->segment, name, (uint32_t)length, i);
        assert_int_equal(row, i < RTL_KERNELS_MAX ? i : RTL_KERNEL_OTHER);
        s->segment.dispatches[row].calls += 3;
        for (int n = 0; n < 3; n++, recorded++)
            rtl_recorder_record(s->recorder, RTL_HISTOGRAM_KERNEL(row), 1000 + fixture_random(&seed) % 1000);
        rtl_recorder_prepare(s->recorder);
    }
    s->segment.queues[0].generation = 2;
    s->segment.queues[0].dispatches = recorded;
    take(s, &snapshot);
    assert_int_equal(snapshot.kernel_count, RTL_KERNELS_MAX - 1); /* all but the row of unknown kernels */
    assert_int_equal(snapshot.kernels_over, EXTRA);
    assert_int_equal(snapshot.notes, RTL_NOTE_KERNELS_FULL);
    assert_int_equal(snapshot.timed, recorded);
    assert_int_equal(snapshot.counted, recorded);
    const struct rtl_kernel_snapshot *other = fixture_find(&snapshot, RTL_KERNEL_OTHER);
    assert_string_equal(other->name, "(other kernels)");
    assert_int_equal(other->calls, 3 * EXTRA);
    assert_int_equal(other->histogram.count, 3 * EXTRA);
    assert_false(other->histogram.approximate);
    for (uint32_t i = 1; i < snapshot.kernel_count; i++) {
        snprintf(name, sizeof name, "_Z6kernelILi%uEEvPf", snapshot.kernels[i].id);
        assert_string_equal(snapshot.kernels[i].name, name);
        assert_int_equal(snapshot.kernels[i].calls, 3);
        assert_int_equal(snapshot.kernels[i].histogram.count, 3);
    }
    rtl_snapshot_free(&snapshot);
}

/* More octaves than chunks: later values are coarse and marked so; no count is lost, and other rows stay exact. */
static void without_chunks_values_are_coarse(void **state)
{
    struct setup *s = *state;
    enum { OCTAVES = 5 };
    struct rtl_snapshot snapshot;
    char name[40];
    uint32_t chunks = 0;
    for (uint32_t i = RTL_KERNEL_FIRST; i < RTL_KERNELS_MAX; i++) {
        snprintf(name, sizeof name, "k%u", i);
        fixture_kernel(&s->segment, name);
        for (uint64_t o = 0; o < OCTAVES; o++)
            for (uint64_t n = 0; n < 4; n++)
                rtl_recorder_record(s->recorder, i, (1000ull << 2 * o) + n);
        rtl_recorder_prepare(s->recorder);
    }
    take(s, &snapshot);
    assert_true(snapshot.notes & RTL_NOTE_CHUNKS_FULL);
    assert_int_equal(snapshot.chunks_used, RTL_CHUNKS_MAX);
    assert_int_equal(snapshot.timed, (uint64_t)(RTL_KERNELS_MAX - RTL_KERNEL_FIRST) * OCTAVES * 4);
    assert_int_equal(snapshot.kernel_count, RTL_KERNELS_MAX - RTL_KERNEL_FIRST);
    for (uint32_t i = 0; i < snapshot.kernel_count; i++) {
        const struct rtl_histogram_copy *h = &snapshot.kernels[i].histogram;
        uint64_t q[1];
        chunks += h->octave_count;
        assert_int_equal(h->count, OCTAVES * 4);
        assert_int_equal(fixture_sum(h), OCTAVES * 4);
        assert_int_equal(h->approximate, h->octave_count < OCTAVES);
        assert_int_equal(h->min_ns, 1000);
        assert_int_equal(h->max_ns, (1000 << 2 * (OCTAVES - 1)) + 3);
        assert_true(rtl_quantiles(NULL, h, (double[]){0.5}, 1, q));
        assert_in_range(q[0], 8192, 32767); /* 16000: correct at least to its octave */
    }
    assert_int_equal(chunks, RTL_CHUNKS_MAX);
    /* rows that were complete before stay exact */
    rtl_recorder_record(s->recorder, RTL_KERNEL_FIRST, 1000);
    rtl_snapshot_free(&snapshot);
    take(s, &snapshot);
    assert_false(snapshot.kernels[0].histogram.approximate);
    assert_int_equal(snapshot.kernels[0].histogram.count, OCTAVES * 4 + 1);
    rtl_snapshot_free(&snapshot);
}

static void dispatches_without_times_are_counted(void **state)
{
    struct setup *s = *state;
    struct rtl_snapshot snapshot;
    uint32_t kernel = fixture_kernel(&s->segment, "k");
    rtl_recorder_untimed(s->recorder, RTL_HISTOGRAM_KERNEL(kernel));
    rtl_recorder_untimed(s->recorder, RTL_HISTOGRAM_KERNEL(kernel));
    take(s, &snapshot);
    assert_int_equal(snapshot.kernel_count, 1);
    assert_int_equal(snapshot.kernels[0].untimed, 2);
    assert_int_equal(snapshot.kernels[0].histogram.count, 0);
    assert_int_equal(snapshot.timed, 0);
    rtl_snapshot_free(&snapshot);
}

static uint64_t resident(const struct rtl_segment *segment)
{
    struct stat st;
    assert_int_equal(fstat(segment->fd, &st), 0);
    return (uint64_t)st.st_blocks * 512;
}

/* After prepare, a hundred new kernels of three octaves each cause no page fault in the histograms. */
static void prepare_avoids_later_page_faults(void **state)
{
    struct setup *s = *state;
    char name[16];
    uint32_t rows[80];
    for (int i = 0; i < 80; i++) {
        snprintf(name, sizeof name, "k%d", i);
        rows[i] = fixture_kernel(&s->segment, name);
    }
    uint64_t before = resident(&s->segment);
    rtl_recorder_prepare(s->recorder);
    uint64_t prepared = resident(&s->segment);
    assert_true(prepared > before);
    for (int i = 0; i < 80; i++)
        for (uint64_t v = 1000; v <= 4000; v *= 2)
            rtl_recorder_record(s->recorder, rows[i], v);
    assert_int_equal(resident(&s->segment), prepared);
    rtl_recorder_prepare(s->recorder);
    assert_true(resident(&s->segment) > prepared);
}

static void memory_of_100_kernels_stays_small(void **state)
{
    struct setup *s = *state;
    char name[16];
    uint64_t seed = 5;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "k%d", i);
        uint32_t row = fixture_kernel(&s->segment, name);
        for (int n = 0; n < 5000; n++)
            rtl_recorder_record(s->recorder, row, 5000 + fixture_random(&seed) % 8000);
        rtl_recorder_prepare(s->recorder);
    }
    assert_in_range(resident(&s->segment), 1, 1 << 20);
    /* one kernel's memory: row, histogram, directory, private state, chunks, a queue's line */
    uint64_t each = sizeof(struct rtl_kernel) + sizeof(struct rtl_histogram) + sizeof(struct rtl_directory) +
                    sizeof(struct rtl_recorder_row) + sizeof(struct rtl_recorder_rare) + sizeof(struct rtl_dispatches) +
                    s->segment.header->chunks_used * sizeof(struct rtl_chunk) / 100;
    assert_in_range(each, 1, 2047);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* The system refuses memory: the present pages are used, no other page is touched, and no count is lost. */
static int when_memory_is_refused(void)
{
    struct rtl_segment segment;
    struct rtl_snapshot s;
    struct rtl_reader *reader;
    char why[200];
    if (rtl_segment_create(&segment, &fixture_config, why, sizeof why) != 0)
        return 1;
    struct rtl_recorder *recorder = rtl_recorder_create(&segment);
    uint32_t a = rtl_segment_add_kernel(&segment, "a", 1, 0), b = rtl_segment_add_kernel(&segment, "b", 1, 0);
    rtl_recorder_record(recorder, a, 1000);
    rtl_recorder_prepare(recorder);
    if (!refuse(SYS_madvise, 2, 0, MADV_POPULATE_WRITE, ENOMEM))
        return 2;
    for (uint32_t i = 0; i < 400; i++) { /* more octaves than were prepared */
        char name[16];
        int length = snprintf(name, sizeof name, "k%u", i);
        uint32_t row = rtl_segment_add_kernel(&segment, name, (uint32_t)length, 0);
        rtl_recorder_record(recorder, row, 1000);
        rtl_recorder_prepare(recorder);
    }
    uint64_t blocks = segment.header->chunks_used;
    rtl_recorder_record(recorder, a, 1001); /* its octave exists */
    rtl_recorder_record(recorder, b, 1000);
    if (segment.header->chunks_used != blocks)
        return 3;
    if (rtl_reader_open_fd(dup(segment.fd), &reader, why, sizeof why) != RTL_READER_OK ||
        rtl_reader_snapshot(reader, &s) != RTL_READER_OK)
        return 4;
    uint64_t all = 0;
    for (uint32_t i = 0; i < s.kernel_count; i++)
        all += s.kernels[i].histogram.count + s.kernels[i].untimed;
    if (all != 403)
        return 5;
    if (fixture_find(&s, a)->histogram.count != 2 || fixture_find(&s, b)->untimed != 1)
        return 6;
    return 0;
}

static void refused_memory_loses_no_counts(void **state)
{
    (void)state;
    if (FIXTURE_TSAN)
        skip();
    assert_int_equal(in_child(when_memory_is_refused), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_land_in_their_buckets, start, stop),
        cmocka_unit_test_setup_teardown(the_ends_of_the_range_are_counted, start, stop),
        cmocka_unit_test_setup_teardown(the_minimum_follows_a_first_value_beyond_the_range, start, stop),
        cmocka_unit_test_setup_teardown(every_row_and_rows_beyond_are_counted, start, stop),
        cmocka_unit_test_setup_teardown(without_chunks_values_are_coarse, start, stop),
        cmocka_unit_test_setup_teardown(dispatches_without_times_are_counted, start, stop),
        cmocka_unit_test_setup_teardown(prepare_avoids_later_page_faults, start, stop),
        cmocka_unit_test_setup_teardown(memory_of_100_kernels_stays_small, start, stop),
        cmocka_unit_test(refused_memory_loses_no_counts),
    };
    return cmocka_run_group_tests_name("recorder", tests, NULL, NULL);
}
