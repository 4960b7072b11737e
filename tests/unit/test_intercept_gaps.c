/* Idle time divided by cause, and the longest gaps (intercept/base/busy.h). One unit is a tick at 100 MHz: 10 ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/base/busy.h"

enum { MS = 100000, HZ = 100000000 };

static struct rtl_busy busy;

static int setup(void **state)
{
    (void)state;
    memset(&busy, 0, sizeof busy);
    rtl_busy_classes(&busy, HZ);
    return 0;
}

/* A kernel in row `row` of queue 3, submitted at `submit`. */
static void kernel(uint64_t start, uint64_t end, uint64_t submit, uint16_t row, int known)
{
    rtl_busy_add_kernel(&busy, start, end, submit,
                        (struct rtl_busy_kernel){row, 3, (uint8_t)(RTL_BUSY_KERNEL | known)});
}

static void causes_are(uint64_t small, uint64_t no_work, uint64_t copies, uint64_t barrier, uint64_t queued,
                       uint64_t unknown)
{
    const uint64_t wanted[RTL_CAUSE_COUNT] = {small, no_work, copies, barrier, queued, unknown};
    rtl_busy_settle(&busy, 0);
    for (int c = 0; c < RTL_CAUSE_COUNT; c++)
        assert_int_equal(busy.cause_total[c], wanted[c]);
}

static void a_gap_is_divided_at_the_submission(void **state)
{
    (void)state;
    kernel(0, 10 * MS, 0, 5, RTL_BUSY_SUBMIT);
    kernel(20 * MS, 30 * MS, 17 * MS, 6, RTL_BUSY_SUBMIT);                    /* 7 ms without work, 3 ms queued */
    kernel(34 * MS, 40 * MS, 25 * MS, 7, RTL_BUSY_SUBMIT | RTL_BUSY_BARRIER); /* submitted before the gap */
    kernel(45 * MS, 50 * MS, 0, 8, 0);                                        /* time of submission not known */
    kernel(50 * MS + 999, 51 * MS, 50 * MS + 5, 9, RTL_BUSY_SUBMIT);          /* a gap of 9.99 us */
    causes_are(999, 7 * MS, 0, 4 * MS, 3 * MS, 5 * MS);
}

static void copies_come_before_other_causes(void **state)
{
    (void)state;
    kernel(0, 10 * MS, 0, 5, RTL_BUSY_SUBMIT);
    rtl_busy_add_copy(&busy, 8 * MS, 12 * MS);  /* from within the kernel: 2 ms in the gap */
    rtl_busy_add_copy(&busy, 14 * MS, 15 * MS); /* before the submission */
    rtl_busy_add_copy(&busy, 16 * MS, 18 * MS); /* behind it */
    rtl_busy_add_copy(&busy, 11 * MS, 13 * MS); /* reported late; joins the first one */
    kernel(20 * MS, 30 * MS, 17 * MS, 6, RTL_BUSY_SUBMIT);
    /* copies 10-13, 14-15, 16-18; no work 13-14, 15-16; queued 18-20 */
    causes_are(0, 2 * MS, 6 * MS, 0, 2 * MS, 0);
    assert_int_equal(busy.copies, 0); /* no later gap needs them */
    assert_int_equal(busy.longest_count[0], 1);
    assert_int_equal(busy.longest[0][0].copies, 6 * MS);
    assert_int_equal(busy.longest[0][0].cause, RTL_CAUSE_COPIES);
}

static void more_copies_than_the_list_holds_are_joined(void **state)
{
    (void)state;
    kernel(0, 10, 0, 5, RTL_BUSY_SUBMIT);
    for (uint64_t i = 0; i < 10000; i++)
        rtl_busy_add_copy(&busy, 1000 + i * 100, 1000 + i * 100 + 99);
    assert_true(busy.copies <= RTL_BUSY_COPIES);
    kernel(2000000, 2000010, 2000000, 6, RTL_BUSY_SUBMIT);
    rtl_busy_settle(&busy, 0);
    assert_true(busy.cause_total[RTL_CAUSE_COPIES] >= 10000 * 99 && busy.cause_total[RTL_CAUSE_COPIES] <= 10000 * 100);
    assert_int_equal(busy.cause_total[RTL_CAUSE_COPIES] + busy.cause_total[RTL_CAUSE_NO_WORK], 2000000 - 10);
}

/* The kernels at the edges of a span that was merged from several queues: the first to start, the last to end. */
static void a_gap_has_the_kernels_at_its_edges(void **state)
{
    (void)state;
    kernel(0, 10 * MS, 0, 5, RTL_BUSY_SUBMIT);
    kernel(1 * MS, 12 * MS, 0, 6, RTL_BUSY_SUBMIT);
    kernel(2 * MS, 3 * MS, 0, 7, RTL_BUSY_SUBMIT);
    kernel(21 * MS, 22 * MS, 20 * MS, 8, RTL_BUSY_SUBMIT);
    kernel(20 * MS, 30 * MS, 19 * MS, 9, RTL_BUSY_SUBMIT | RTL_BUSY_BARRIER); /* another queue, reported later */
    rtl_busy_settle(&busy, 0);
    const struct rtl_busy_gap *gap = &busy.longest[0][0];
    assert_int_equal(busy.longest_count[0], 1);
    assert_int_equal(gap->start, 12 * MS);
    assert_int_equal(gap->end, 20 * MS);
    assert_int_equal(gap->before.row, 6);
    assert_int_equal(gap->after.row, 9);
    assert_int_equal(gap->after.queue, 3);
    assert_int_equal(gap->no_work, 7 * MS);
    assert_int_equal(gap->cause, RTL_CAUSE_NO_WORK);
    assert_int_equal(busy.cause_total[RTL_CAUSE_BARRIER], 1 * MS);
}

static void the_longest_gaps_of_two_slices_are_kept(void **state)
{
    (void)state;
    uint64_t at = 100 * (uint64_t)HZ, longest = 0;
    kernel(at, at + 10, at, 1, RTL_BUSY_SUBMIT);
    for (int i = 0; i < 1000; i++) { /* 12 s of them: a slice and a part of the next one */
        uint64_t gap = (uint64_t)(1 + i * 7 % 500) * HZ / 20000;
        at += 10 + gap;
        longest = gap > longest ? gap : longest;
        kernel(at, at + 10, at, 1, RTL_BUSY_SUBMIT);
        rtl_busy_settle(&busy, 0);
    }
    assert_int_equal(busy.longest_count[0], RTL_GAPS_A_SLICE);
    assert_int_equal(busy.longest_count[1], RTL_GAPS_A_SLICE);
    uint64_t found = 0;
    for (int slice = 0; slice < 2; slice++)
        for (int i = 0; i < RTL_GAPS_A_SLICE; i++) {
            uint64_t gap = busy.longest[slice][i].end - busy.longest[slice][i].start;
            found = gap > found ? gap : found;
            assert_true(gap >= longest * 9 / 10); /* 16 of 500 lengths, twice */
        }
    assert_int_equal(found, longest);
    at += 30 * (uint64_t)HZ; /* a gap longer than two slices: the others are old */
    kernel(at, at + 10, at, 1, RTL_BUSY_SUBMIT);
    rtl_busy_settle(&busy, 0);
    assert_int_equal(busy.longest_count[0] + busy.longest_count[1], 1);
    uint64_t changes = busy.changes;
    rtl_busy_restart(&busy); /* another mode or another clock */
    assert_int_equal(busy.longest_count[0] + busy.longest_count[1], 0);
    assert_true(busy.changes > changes);
}

/* So many gaps that they become hulls before they are settled: no time is lost, and the longest gap is kept. */
static void hulls_keep_causes_and_the_longest_gap(void **state)
{
    (void)state;
    uint64_t at = 1000, no_work = 0, barrier = 0, small = 0, longest = 0;
    kernel(at, at + 100, at, 1, RTL_BUSY_SUBMIT);
    for (int i = 0; i < 20000; i++) {
        uint64_t gap = i % 3 == 0 ? 500 : i == 11111 ? 90000 : 2000, start = at + 100 + gap;
        bool waits = gap >= 1000 && i % 2;
        small += gap < 1000 ? gap : 0;
        no_work += gap >= 1000 && !waits ? gap : 0;
        barrier += waits ? gap : 0;
        longest = gap > longest ? gap : longest;
        kernel(start, start + 100, waits ? at : start, 1, waits ? RTL_BUSY_SUBMIT | RTL_BUSY_BARRIER : RTL_BUSY_SUBMIT);
        at = start;
        if (i % 64 == 0)
            rtl_busy_settle(&busy, HZ);
    }
    causes_are(small, no_work, 0, barrier, 0, 0);
    uint64_t found = 0;
    for (uint32_t i = 0; i < busy.longest_count[0]; i++) {
        uint64_t gap = busy.longest[0][i].end - busy.longest[0][i].start;
        found = gap > found ? gap : found;
    }
    assert_int_equal(found, longest);
}

/* A kernel that is reported late and ran in a hull's longest gap: it was no gap. */
static void a_late_kernel_ends_the_gap_that_a_hull_remembers(void **state)
{
    (void)state;
    uint64_t at = 1000, from = 0, to = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t gap = i == 100 ? 50000 : 300;
        from = i == 100 ? at : from;
        at += gap;
        to = i == 100 ? at : to;
        kernel(at, at + 100, at, 1, RTL_BUSY_SUBMIT);
        at += 100;
    }
    kernel(from, to, from, 2, RTL_BUSY_SUBMIT);
    rtl_busy_settle(&busy, 0);
    for (uint32_t i = 0; i < busy.longest_count[0]; i++)
        assert_true(busy.longest[0][i].end - busy.longest[0][i].start < 50000);
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_gap_is_divided_at_the_submission),
        TEST(copies_come_before_other_causes),
        TEST(more_copies_than_the_list_holds_are_joined),
        TEST(a_gap_has_the_kernels_at_its_edges),
        TEST(the_longest_gaps_of_two_slices_are_kept),
        TEST(hulls_keep_causes_and_the_longest_gap),
        TEST(a_late_kernel_ends_the_gap_that_a_hull_remembers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
