/* The union of busy intervals and its gaps (intercept/base/busy.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/base/busy.h"
#include "intercept/base/hsa_clock.h"

/* The expected union: marks every unit. */
struct marks {
    unsigned char *mark;
    uint64_t size;
};

static uint64_t mark(struct marks *m, uint64_t start, uint64_t end)
{
    uint64_t n = 0;
    for (uint64_t i = start; i < end && i < m->size; i++) {
        n += !m->mark[i];
        m->mark[i] = 1;
    }
    return n;
}

static void intervals_in_order_are_exact(void **state)
{
    (void)state;
    struct rtl_busy busy = {0};
    uint64_t at = 1000, sum = 0;
    for (int i = 0; i < 1000000; i++) {
        uint64_t length = (uint64_t)(i % 7), gap = (uint64_t)(i % 5);
        rtl_busy_add(&busy, at, at + length);
        sum += length;
        at += length + gap;
    }
    assert_int_equal(rtl_busy_total(&busy), sum);
}

static void slightly_unordered_intervals_are_exact(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 200; seed++) {
        srand(seed);
        struct rtl_busy busy = {0};
        struct marks m = {calloc(1, 3000), 3000};
        uint64_t want = 0;
        for (int i = 0; i < 100; i++) { /* fewer than the list holds: nothing is ever joined */
            uint64_t start = (uint64_t)(rand() % 2900), end = start + (uint64_t)(rand() % 60);
            want += mark(&m, start, end);
            rtl_busy_add(&busy, start, end);
            assert_int_equal(rtl_busy_total(&busy), want);
        }
        free(m.mark);
    }
}

static void a_long_kernel_beside_many_short_ones_is_counted(void **state)
{
    (void)state;
    /* queue 1: 20,000 kernels of 30 with gaps of 70; queue 0: one kernel over all of them, which ends last */
    struct rtl_busy busy = {0};
    for (uint64_t i = 0; i < 20000; i++)
        rtl_busy_add(&busy, 1000 + i * 100, 1000 + i * 100 + 30);
    assert_int_equal(rtl_busy_total(&busy), 600000);
    rtl_busy_add(&busy, 1000, 1000 + 2000000);
    assert_int_equal(rtl_busy_total(&busy), 2000000);
    /* over the newer half: the older edge falls into a hull */
    memset(&busy, 0, sizeof busy);
    for (uint64_t i = 0; i < 20000; i++)
        rtl_busy_add(&busy, 1000 + i * 100, 1000 + i * 100 + 30);
    rtl_busy_add(&busy, 1000 + 1000000, 1000 + 2000000);
    assert_true(rtl_busy_total(&busy) > 1300000 * 99 / 100 && rtl_busy_total(&busy) < 1300000 * 101 / 100);
}

static void unordered_sums_are_near_and_never_above_the_span(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        srand(seed);
        struct rtl_busy busy = {0};
        struct marks m = {calloc(1, 2000000), 2000000};
        uint64_t want = 0, before = 0, at = 0;
        while (at < 1800000) { /* four queues, kernels reported at their end, some very long */
            at += (uint64_t)(rand() % 40);
            uint64_t length = (uint64_t)(rand() % 100 ? rand() % 30 : rand() % 20000);
            uint64_t start = at > length ? at - length : 0;
            want += mark(&m, start, at);
            rtl_busy_add(&busy, start, at);
            assert_true(rtl_busy_total(&busy) >= before);
            before = rtl_busy_total(&busy);
            assert_true(busy.count <= RTL_BUSY_SPANS);
            for (uint32_t i = 0; i < busy.count; i++) {
                assert_true(busy.span[i].covered <= busy.span[i].end - busy.span[i].start);
                assert_true(i == 0 || busy.span[i].start > busy.span[i - 1].end);
            }
        }
        assert_true(rtl_busy_total(&busy) <= at);
        assert_true(rtl_busy_total(&busy) > want * 99 / 100 && rtl_busy_total(&busy) < want * 101 / 100);
        free(m.mark);
    }
}

/* --- gaps --- */

struct idle {
    uint64_t count[RTL_IDLE_COUNT], total[RTL_IDLE_COUNT];
};

/* The gaps between marks (one unit is a tick at 100 MHz), except before the first and after the last mark. */
static struct idle gaps_of(const struct marks *m)
{
    static const uint64_t below[] = {1000, 10000, 100000, 1000000, 10000000, UINT64_MAX};
    struct idle idle = {{0}, {0}};
    uint64_t last = 0;
    bool any = false;
    for (uint64_t i = 0; i < m->size; i++) {
        if (!m->mark[i])
            continue;
        uint64_t gap = any ? i - last - 1 : 0;
        for (int c = 0; gap && c < RTL_IDLE_COUNT; c++)
            if (gap < below[c]) {
                idle.count[c]++;
                idle.total[c] += gap;
                break;
            }
        any = true;
        last = i;
    }
    return idle;
}

static void gap_classes_have_exact_bounds(void **state)
{
    (void)state;
    static const uint64_t rates[] = {100000000, 27000000, 1000000000};
    for (unsigned r = 0; r < 3; r++) {
        struct rtl_busy busy = {0};
        struct rtl_tick_rate rate = rtl_tick_rate(rates[r]);
        rtl_busy_classes(&busy, rates[r]);
        uint64_t at = 1, want[RTL_IDLE_COUNT] = {0};
        for (uint64_t gap = 1; gap < 60 * rates[r]; gap = gap * 5 / 4 + 1) {
            rtl_busy_add(&busy, at, at + 10);
            at += 10 + gap;
            uint64_t ns = rtl_ticks_to_ns(&rate, gap);
            want[ns < 10000 ? 0 : ns < 100000 ? 1 : ns < 1000000 ? 2 : ns < 10000000 ? 3 : ns < 100000000 ? 4 : 5]++;
        }
        rtl_busy_add(&busy, at, at + 10);
        rtl_busy_settle(&busy, 0);
        for (int c = 0; c < RTL_IDLE_COUNT; c++)
            assert_int_equal(busy.idle_count[c], want[c]);
    }
    struct rtl_busy busy = {0}; /* exactly at a bound: 10 us is not below 10 us */
    rtl_busy_classes(&busy, 100000000);
    rtl_busy_add(&busy, 0, 10);
    rtl_busy_add(&busy, 10 + 999, 2000);
    rtl_busy_add(&busy, 2000 + 1000, 4000);
    rtl_busy_settle(&busy, 0);
    assert_int_equal(busy.idle_count[0], 1);
    assert_int_equal(busy.idle_count[1], 1);
    assert_int_equal(busy.idle_total[1], 1000);
}

static void few_gaps_are_exact_in_any_order(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 100; seed++) {
        srand(seed);
        struct rtl_busy busy = {0};
        struct marks m = {calloc(1, 300000), 300000};
        rtl_busy_classes(&busy, 100000000);
        for (int i = 0; i < 100; i++) { /* fewer than the list holds: nothing is ever joined */
            uint64_t start = (uint64_t)(rand() % 299000), end = start + (uint64_t)(rand() % (seed % 2 ? 30 : 9000));
            mark(&m, start, end);
            rtl_busy_add(&busy, start, end);
        }
        struct idle want = gaps_of(&m);
        rtl_busy_settle(&busy, 0);
        rtl_busy_settle(&busy, 0); /* a second call changes nothing */
        assert_memory_equal(busy.idle_count, want.count, sizeof want.count);
        assert_memory_equal(busy.idle_total, want.total, sizeof want.total);
        free(m.mark);
    }
}

/* Queues report in turn, each the kernels that ended since its last turn: runs that reach back. */
static void runs_of_many_queues_are_exact(void **state)
{
    enum { QUEUES = 8, SIZE = 6000 };
    (void)state;
    for (unsigned seed = 0; seed < 300; seed++) {
        srand(seed);
        struct rtl_busy busy = {0};
        struct marks m = {calloc(1, SIZE), SIZE};
        uint64_t next[QUEUES] = {0}, want = 0, now = 0;
        rtl_busy_classes(&busy, 100000000);
        for (int left = 200; left > 0;) { /* fewer than the list holds: nothing is ever joined */
            now += (uint64_t)(rand() % 300);
            for (int q = 0; q < QUEUES; q++)
                while (left > 0 && next[q] < now && next[q] < SIZE) {
                    uint64_t end = next[q] + (uint64_t)(rand() % (seed % 3 ? 20 : 200));
                    want += mark(&m, next[q], end < SIZE ? end : SIZE);
                    rtl_busy_add(&busy, next[q], end < SIZE ? end : SIZE);
                    next[q] = end + (uint64_t)(rand() % (seed % 2 ? 3 : 300));
                    left--;
                }
            left -= now >= SIZE;
            assert_int_equal(rtl_busy_total(&busy), want);
        }
        struct idle gaps = gaps_of(&m);
        rtl_busy_settle(&busy, 0);
        assert_memory_equal(busy.idle_count, gaps.count, sizeof gaps.count);
        assert_memory_equal(busy.idle_total, gaps.total, sizeof gaps.total);
        free(m.mark);
    }
}

static void gaps_in_order_are_exact(void **state)
{
    (void)state;
    struct rtl_busy busy = {0};
    rtl_busy_classes(&busy, 100000000);
    uint64_t at = 1000, count = 0, total = 0;
    for (int i = 0; i < 1000000; i++) {
        uint64_t length = (uint64_t)(1 + i % 7), gap = (uint64_t)(i % 5);
        rtl_busy_add(&busy, at, at + length);
        if (i % 97 == 0)
            rtl_busy_settle(&busy, 5000);
        count += gap > 0 && i < 999999;
        total += i < 999999 ? gap : 0;
        at += length + gap;
    }
    assert_true(busy.idle_count[0] < count); /* the newest are not settled yet */
    rtl_busy_settle(&busy, 0);
    assert_int_equal(busy.idle_count[0], count);
    assert_int_equal(busy.idle_total[0], total);
}

static void a_long_kernel_leaves_no_gap(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) { /* as in a_long_kernel_beside_many_short_ones_is_counted */
        struct rtl_busy busy = {0};
        rtl_busy_classes(&busy, 100000000);
        for (uint64_t i = 0; i < 20000; i++) {
            rtl_busy_add(&busy, 1000 + i * 100, 1000 + i * 100 + 30);
            rtl_busy_settle(&busy, 3000000);
        }
        rtl_busy_add(&busy, 1000 + (uint64_t)half * 1000000, 1000 + 2000000);
        rtl_busy_settle(&busy, 0);
        if (!half)
            assert_int_equal(busy.idle_count[0], 0);
        else
            assert_in_range(busy.idle_count[0], 9900, 10100);
        assert_true(busy.idle_total[0] + rtl_busy_total(&busy) > 1999900 &&
                    busy.idle_total[0] + rtl_busy_total(&busy) <= 2000000);
    }
}

static void idle_plus_busy_is_the_time(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 10; seed++) {
        srand(seed);
        struct rtl_busy busy = {0};
        struct marks m = {calloc(1, 20000000), 20000000};
        uint64_t at = 30000, first = at, before = 0;
        rtl_busy_classes(&busy, 100000000);
        while (at < 19000000) { /* queues with kernels of very different length, reported at their end */
            at += (uint64_t)(rand() % (rand() % 20 ? 60 : 12000));
            uint64_t length = (uint64_t)(rand() % 200 ? 1 + rand() % 40 : rand() % 20000);
            mark(&m, at - length, at);
            first = at - length < first ? at - length : first;
            rtl_busy_add(&busy, at - length, at);
            rtl_busy_settle(&busy, 25000); /* longer than the longest kernel */
            uint64_t sum = 0;
            for (int c = 0; c < RTL_IDLE_COUNT; c++)
                sum += busy.idle_count[c];
            assert_true(sum >= before);
            before = sum;
        }
        rtl_busy_settle(&busy, 0);
        struct idle want = gaps_of(&m);
        uint64_t idle = 0;
        for (int c = 0; c < RTL_IDLE_COUNT; c++) {
            assert_true(busy.idle_count[c] * 100 >= want.count[c] * 97 &&
                        busy.idle_count[c] * 100 <= want.count[c] * 103 + 100);
            assert_true(busy.idle_total[c] * 100 >= want.total[c] * 98 &&
                        busy.idle_total[c] * 100 <= want.total[c] * 102);
            idle += busy.idle_total[c];
        }
        assert_true(idle + rtl_busy_total(&busy) > (at - first) * 999 / 1000 &&
                    idle + rtl_busy_total(&busy) < (at - first) * 1001 / 1000);
        free(m.mark);
    }
}

/* Short kernels on one queue, and sometimes a long one on another, reported in the order of a worker that loses the CPU
 * between polling the two queues.
 */
static void a_delayed_worker_is_right_to_a_percent(void **state)
{
    enum { SHORT = 3000, LONG = 10, MOST = SHORT + LONG, SIZE = 40000000 };
    static struct {
        uint64_t start, end;
        bool told;
    } kernel[MOST]; /* the long ones first */
    struct marks m = {malloc(SIZE), SIZE};
    (void)state;
    for (unsigned seed = 0; seed < 20; seed++) {
        srand(seed);
        struct rtl_busy busy = {0};
        uint64_t at = 100000, now = at, beside = 0, union_of_all = 0, idle = 0, gaps = 0;
        rtl_busy_classes(&busy, 100000000);
        memset(m.mark, 0, SIZE);
        for (int i = 0; i < SHORT; i++) {
            if (i % (SHORT / LONG) == 0) {
                int n = i / (SHORT / LONG);
                kernel[n].start = at + 200 > beside ? at + 200 : beside;
                kernel[n].end = beside = kernel[n].start + 2000 + (uint64_t)rand() % 198000;
            }
            kernel[LONG + i].start = at;
            kernel[LONG + i].end = at + 300;
            at += 1000 + (uint64_t)rand() % 800;
        }
        for (int i = 0; i < MOST; i++) {
            union_of_all += mark(&m, kernel[i].start, kernel[i].end);
            kernel[i].told = false;
        }
        for (int left = MOST; left;) {
            now += 5000 + (uint64_t)rand() % 95000; /* its rounds are at most a millisecond apart */
            for (int i = 0; i < MOST; i++) {
                if ((i == 0 || i == LONG) && rand() % 10 == 0)
                    now += 300000 + (uint64_t)rand() % 9700000;
                if (kernel[i].told || kernel[i].end > now)
                    continue;
                rtl_busy_add(&busy, kernel[i].start, kernel[i].end);
                kernel[i].told = true;
                left--;
            }
            rtl_busy_settle(&busy, 100000000);
        }
        rtl_busy_settle(&busy, 0);
        struct idle want = gaps_of(&m);
        for (int c = 0; c < RTL_IDLE_COUNT; c++) {
            idle += want.total[c];
            gaps += want.count[c];
        }
        assert_in_range(rtl_busy_total(&busy), union_of_all * 99 / 100, union_of_all * 101 / 100);
        for (int c = 0; c < RTL_IDLE_COUNT; c++) {
            uint64_t most = want.count[c] + gaps / 100 + 1;
            assert_true(busy.idle_count[c] <= most && busy.idle_count[c] + gaps / 100 + 1 >= want.count[c]);
            assert_true(busy.idle_total[c] <= want.total[c] + idle / 100 &&
                        busy.idle_total[c] + idle / 100 >= want.total[c]);
        }
    }
    free(m.mark);
}

static void the_list_of_spans_always_has_room(void **state)
{
    (void)state;
    /* distances that double: the worst case for hulls that are short compared with their age */
    struct rtl_busy busy = {0};
    rtl_busy_classes(&busy, 100000000);
    uint64_t newest = 1ull << 62;
    for (int round = 0; round < 30; round++)
        for (int i = 0; i < 62; i++) {
            uint64_t start = newest - (1ull << 62 >> i) + (uint64_t)round * 3;
            rtl_busy_add(&busy, start, start + 1);
            assert_true(busy.count <= RTL_BUSY_SPANS);
        }
    rtl_busy_settle(&busy, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_in_order_are_exact),
        cmocka_unit_test(slightly_unordered_intervals_are_exact),
        cmocka_unit_test(a_long_kernel_beside_many_short_ones_is_counted),
        cmocka_unit_test(unordered_sums_are_near_and_never_above_the_span),
        cmocka_unit_test(gap_classes_have_exact_bounds),
        cmocka_unit_test(few_gaps_are_exact_in_any_order),
        cmocka_unit_test(runs_of_many_queues_are_exact),
        cmocka_unit_test(gaps_in_order_are_exact),
        cmocka_unit_test(a_long_kernel_leaves_no_gap),
        cmocka_unit_test(idle_plus_busy_is_the_time),
        cmocka_unit_test(a_delayed_worker_is_right_to_a_percent),
        cmocka_unit_test(the_list_of_spans_always_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
