/* The library's arithmetic: ticks and lines, the union of busy intervals, table layouts, options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "intercept/base/busy.h"
#include "intercept/base/clock.h"
#include "intercept/base/hsa_table.h"
#include "intercept/base/settings.h"

/* --- ticks --- */

static void durations_are_exact(void **state)
{
    static const uint64_t rates[] = {1000000, 25000000, 27000000, 48000000, 100000000, 99999999, 1000000000};
    (void)state;
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct rtl_tick_rate rate = rtl_tick_rate(rates[i]);
        for (uint64_t ticks = 0; ticks < 3600 * rates[i]; ticks = ticks * 3 + 1) {
            unsigned __int128 exact = ((unsigned __int128)ticks * 1000000000u + rates[i] / 2) / rates[i];
            uint64_t got = rtl_ticks_to_ns(&rate, ticks), want = (uint64_t)exact;
            assert_true(got + 1 >= want && got <= want + 1);
        }
    }
    struct rtl_tick_rate hundred = rtl_tick_rate(100000000);
    assert_int_equal(rtl_ticks_to_ns(&hundred, 0), 0);
    assert_int_equal(rtl_ticks_to_ns(&hundred, 1), 10);
    assert_int_equal(rtl_ticks_to_ns(&hundred, 123456789012345ull), 1234567890123450ull);
    struct rtl_tick_rate odd = rtl_tick_rate(48000000); /* a tick is 20.8 ns: to the nearest */
    assert_int_equal(rtl_ticks_to_ns(&odd, 1), 21);
    assert_int_equal(rtl_ticks_to_ns(&odd, 2), 42);
    assert_int_equal(rtl_ticks_to_ns(&odd, 4), 83);
}

static void rates_are_guessed(void **state)
{
    (void)state;
    assert_int_equal(rtl_tick_rate_guess(1000000, 10000000), 100000000);
    assert_int_equal(rtl_tick_rate_guess(1000000, 10004000), 100000000); /* 400 ppm off */
    assert_int_equal(rtl_tick_rate_guess(1000000, 39990000), 25000000);
    assert_int_equal(rtl_tick_rate_guess(1000000, 37037000), 27000000);
    assert_int_equal(rtl_tick_rate_guess(1000000, 30303030), 33000000); /* none that is known: as measured */
    assert_int_equal(rtl_tick_rate_guess(1000000, 0), 0);
    assert_int_equal(rtl_tick_rate_guess(0, 1000), 0);
    assert_int_equal(rtl_tick_rate_guess(1, 1000000000), 0); /* 1 Hz is nobody's counter */
}

static void counter_follows_the_clock(void **state)
{
    (void)state;
    struct rtl_tsc_line line;
    uint64_t tsc = 5000000000ull, ns = 77000000000ull;
    rtl_tsc_line_start(&line, tsc, ns);
    /* 2.5 GHz; looks every 5 ms for 10 s, each off by up to 100 ns */
    for (int i = 1; i <= 2000; i++) {
        rtl_tsc_line_update(&line, tsc + (uint64_t)i * 12500000, ns + (uint64_t)i * 5000000 + (uint64_t)(rand() % 100));
        uint64_t x = tsc + (uint64_t)i * 12500000 - 2500000, want = ns + (uint64_t)i * 5000000 - 1000000;
        uint64_t got = rtl_line_at(&line.line, x);
        assert_true(got + 300 > want && got < want + 300);
    }
    assert_false(line.broken);
    /* long before the last look: parts per million of the distance */
    uint64_t got = rtl_line_at(&line.line, tsc + 12500000), want = ns + 5000000;
    assert_true(got + 5000 > want && got < want + 5000);
}

static void jumping_counter_is_noticed(void **state)
{
    (void)state;
    struct rtl_tsc_line line;
    rtl_tsc_line_start(&line, 1000, 1000);
    for (uint64_t i = 1; i <= 20; i++)
        rtl_tsc_line_update(&line, 1000 + i * 500000000, 1000 + i * 200000000);
    assert_false(line.broken);
    struct rtl_tsc_line back = line;
    rtl_tsc_line_update(&back, 1000, 1000 + 21 * 200000000ull);
    assert_true(back.broken);
    rtl_tsc_line_update(&line, 1000 + 21 * 500000000ull + 400000000, 1000 + 21 * 200000000ull);
    assert_true(line.broken);
}

static void agent_clocks_are_calibrated(void **state)
{
    (void)state;
    static const double ppms[] = {0, 50, -50, 400};
    for (unsigned p = 0; p < 4; p++) {
        struct rtl_calibration c = {.residuals = 0};
        const uint64_t hz = 100000000, x0 = 123456789012ull, y0 = 5000000000000ull;
        const double slope = 1e9 / ((double)hz * (1 + ppms[p] / 1e6));
        srand(p);
        for (int i = 0; i <= 1000;
             i++) { /* every 20 ms for 20 s, each point off by up to 100 ns, the slope by 20 ppm */
            uint64_t x = x0 + (uint64_t)i * 2000000, y = y0 + (uint64_t)((double)i * 2000000 * slope);
            rtl_calibration_add(&c, hz, x, y + (uint64_t)(rand() % 100), slope * (1 + (rand() % 40 - 20) / 1e6));
            assert_int_equal(c.line.x, x);
            assert_true(c.residual_ns <= (i < 10 ? 600 : 140));
            if (i < 50)
                continue;
            assert_true(c.drift_ppm > ppms[p] - 1 && c.drift_ppm < ppms[p] + 1);
            uint64_t early = rtl_line_at(&c.line, x - 50000000), want = y - (uint64_t)(50000000 * slope);
            assert_true(early + 800 > want && early < want + 800); /* half a second before */
        }
        assert_int_equal(c.residuals, 1000);
        assert_in_range(c.drift_over_ns, 5000000000ull, 10100000000ull);
        /* an hour later the line before says nothing on how good lines are */
        uint64_t most = c.residual_most_ns, x = c.line.x + 360000000000ull;
        rtl_calibration_add(&c, hz, x, c.line.y + 3700000000000ull, slope);
        assert_int_equal(c.residuals, 1000);
        assert_int_equal(c.residual_most_ns, most);
        assert_int_equal(c.drift_over_ns, 0); /* the clocks don't fit together any more: a jump, not a drift */
        assert_true(c.line.x == x && c.line.slope == slope);
    }
}

/* --- busy --- */

/* What the union is, by marking every unit. */
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

static void in_order_is_exact(void **state)
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
    assert_int_equal(busy.total, sum);
}

static void small_disorder_is_exact(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 200; seed++) {
        srand(seed);
        struct rtl_busy busy = {0};
        struct marks m = {calloc(1, 3000), 3000};
        uint64_t want = 0;
        for (int i = 0; i < 100; i++) { /* fewer than there are spans: nothing is ever joined */
            uint64_t start = (uint64_t)(rand() % 2900), end = start + (uint64_t)(rand() % 60);
            want += mark(&m, start, end);
            rtl_busy_add(&busy, start, end);
            assert_int_equal(busy.total, want);
        }
        free(m.mark);
    }
}

static void long_kernel_beside_many_short_ones(void **state)
{
    (void)state;
    /* queue 1: 20,000 kernels of 30 with gaps of 70; queue 0: one kernel over all of them, which ends last */
    struct rtl_busy busy = {0};
    for (uint64_t i = 0; i < 20000; i++)
        rtl_busy_add(&busy, 1000 + i * 100, 1000 + i * 100 + 30);
    assert_int_equal(busy.total, 600000);
    rtl_busy_add(&busy, 1000, 1000 + 2000000);
    assert_int_equal(busy.total, 2000000);
    /* over the newer half: the older edge falls into a hull */
    memset(&busy, 0, sizeof busy);
    for (uint64_t i = 0; i < 20000; i++)
        rtl_busy_add(&busy, 1000 + i * 100, 1000 + i * 100 + 30);
    rtl_busy_add(&busy, 1000 + 1000000, 1000 + 2000000);
    assert_true(busy.total > 1300000 * 99 / 100 && busy.total < 1300000 * 101 / 100);
}

static void disorder_stays_near_and_never_above_the_span(void **state)
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
            assert_true(busy.total >= before);
            before = busy.total;
            assert_true(busy.count <= RTL_BUSY_SPANS);
            for (uint32_t i = 0; i < busy.count; i++) {
                assert_true(busy.span[i].covered <= busy.span[i].end - busy.span[i].start);
                assert_true(i == 0 || busy.span[i].start > busy.span[i - 1].end);
            }
        }
        assert_true(busy.total <= at);
        assert_true(busy.total > want * 99 / 100 && busy.total < want * 101 / 100);
        free(m.mark);
    }
}

/* --- idle --- */

struct idle {
    uint64_t count[RTL_IDLE_COUNT], total[RTL_IDLE_COUNT];
};

/* Gaps between marks, one unit a tick of 100 MHz: nothing before the first and behind the last. */
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

static void classes_have_their_bounds(void **state)
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
    struct rtl_busy busy = {0}; /* just at a bound: 10 us is no longer below 10 us */
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
        for (int i = 0; i < 100; i++) { /* fewer than there are spans: nothing is ever joined */
            uint64_t start = (uint64_t)(rand() % 299000), end = start + (uint64_t)(rand() % (seed % 2 ? 30 : 9000));
            mark(&m, start, end);
            rtl_busy_add(&busy, start, end);
        }
        struct idle want = gaps_of(&m);
        rtl_busy_settle(&busy, 0);
        rtl_busy_settle(&busy, 0); /* once is enough */
        assert_memory_equal(busy.idle_count, want.count, sizeof want.count);
        assert_memory_equal(busy.idle_total, want.total, sizeof want.total);
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

static void no_gap_under_a_long_kernel(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) { /* as long_kernel_beside_many_short_ones: over all, over the newer half */
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
        assert_true(busy.idle_total[0] + busy.total > 1999900 && busy.idle_total[0] + busy.total <= 2000000);
    }
}

static void idle_and_busy_are_all_of_the_time(void **state)
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
            rtl_busy_settle(&busy, 25000); /* longer than the longest */
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
        assert_true(idle + busy.total > (at - first) * 999 / 1000 && idle + busy.total < (at - first) * 1001 / 1000);
        free(m.mark);
    }
}

/* Short kernels on one queue, now and then a long one on another: in the order in which a worker reports them that is
 * kept from the CPU between its look at the one queue and at the other. */
static void late_worker_is_right_to_a_percent(void **state)
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
        assert_in_range(busy.total, union_of_all * 99 / 100, union_of_all * 101 / 100);
        for (int c = 0; c < RTL_IDLE_COUNT; c++) {
            uint64_t most = want.count[c] + gaps / 100 + 1;
            assert_true(busy.idle_count[c] <= most && busy.idle_count[c] + gaps / 100 + 1 >= want.count[c]);
            assert_true(busy.idle_total[c] <= want.total[c] + idle / 100 &&
                        busy.idle_total[c] + idle / 100 >= want.total[c]);
        }
    }
    free(m.mark);
}

static void the_list_always_has_room(void **state)
{
    (void)state;
    struct rtl_busy busy = {0}; /* distances that double: the worst for hulls that are short beside their age */
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

/* --- the table --- */

static void shift_by_release(void **state)
{
    (void)state;
    static const struct {
        uint32_t bytes;
        int shift;
    } known[] = {
        {0x190, 0}, {16 + 51 * 8, 0}, {16 + 55 * 8, 2},  {16 + 67 * 8, 2},  {560, 2},          {16 + 70 * 8, 2},
        {592, 2},   {608, 2},         {16 + 52 * 8, -1}, {16 + 53 * 8, -1}, {16 + 54 * 8, -1}, {0x190 + 3, -1},
        {8, -1},    {0, -1}};
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(rtl_hsa_shift(known[i].bytes), known[i].shift);
}

struct fake_table {
    uint32_t version[4];
    uintptr_t slot[140];
};
struct fake_root {
    uint32_t version[4];
    struct fake_table *core, *ext;
};

static struct fake_root fake_tables(struct fake_table *core, struct fake_table *ext, uint32_t ext_slots)
{
    *core = (struct fake_table){.version = {2, 16 + 125 * 8, 0, 0}};
    *ext = (struct fake_table){.version = {2, 16 + ext_slots * 8, 0, 0}};
    for (uintptr_t i = 0; i < 140; i++) {
        core->slot[i] = 0x10000 + i;
        ext->slot[i] = 0x20000 + i;
    }
    return (struct fake_root){{3, 64, 0, 0}, core, ext};
}

static void slots_are_found(void **state)
{
    (void)state;
    struct fake_table core, ext;
    struct rtl_hsa hsa;
    char why[200];
    static const uint32_t slots[] = {48, 51, 55, 67, 68, 70, 72, 74};
    for (unsigned i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        struct fake_root root = fake_tables(&core, &ext, slots[i]);
        uintptr_t moved = slots[i] >= 55 ? 2 : 0;
        assert_true(rtl_hsa_save(&root, &hsa, why, sizeof why));
        assert_int_equal((uintptr_t)hsa.queue_create, 0x10007);
        assert_int_equal((uintptr_t)hsa.executable_iterate_symbols, 0x1005e);
        assert_int_equal((uintptr_t)hsa.amd_profiling_set_profiler_enabled, 0x20002);
        assert_int_equal((uintptr_t)hsa.amd_signal_create, 0x2001f + moved);
        assert_int_equal((uintptr_t)hsa.amd_queue_intercept_create, 0x20023 + moved);
        assert_int_equal((uintptr_t)hsa.amd_queue_intercept_register, 0x20024 + moved);
        rtl_hsa_hook(&root, RTL_HSA_amd_queue_intercept_create, (void (*)(void))(uintptr_t)0x42);
        assert_int_equal(ext.slot[35 + moved], 0x42);
        rtl_hsa_hook(&root, RTL_HSA_queue_create, (void (*)(void))(uintptr_t)0x43);
        assert_int_equal(core.slot[7], 0x43);
    }
}

static void tables_that_cannot_be_read_are_refused(void **state)
{
    (void)state;
    struct fake_table core, ext;
    struct rtl_hsa hsa;
    char why[200] = "";
    struct fake_root root = fake_tables(&core, &ext, 53);
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    assert_non_null(strstr(why, "not known"));
    root = fake_tables(&core, &ext, 30); /* before intercept queues */
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    root = fake_tables(&core, &ext, 48);
    ext.slot[36] = 0; /* there, but empty */
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    assert_non_null(strstr(why, "hsa_amd_queue_intercept_register"));
    root = fake_tables(&core, &ext, 74);
    ext.version[0] = 3; /* a major of the future */
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    root = fake_tables(&core, &ext, 74);
    core.version[1] = 16 + 90 * 8;
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    root.core = NULL;
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    assert_false(rtl_hsa_save(NULL, &hsa, why, sizeof why));
}

/* --- options --- */

static void options_are_read(void **state)
{
    (void)state;
    struct rtl_settings o = rtl_settings_parse(NULL, NULL);
    assert_int_equal(o.mode, RTL_MODE_DEFAULT);
    assert_int_equal(o.signals_limit, 4096);
    assert_false(o.mode_unknown || o.signals_unknown);
    assert_int_equal(rtl_settings_parse("off", "").mode, RTL_MODE_OFF);
    assert_int_equal(rtl_settings_parse("lite", "").mode, RTL_MODE_LITE);
    assert_int_equal(rtl_settings_parse("standard", "").mode, RTL_MODE_DEFAULT);
    assert_false(rtl_settings_parse("standard", "").mode_unknown);
    assert_int_equal(rtl_settings_parse("hip", "").mode, RTL_MODE_DEFAULT);
    assert_false(rtl_settings_parse("hip", "").mode_unknown);
    o = rtl_settings_parse("fast", "100");
    assert_true(o.mode_unknown);
    assert_int_equal(o.mode, RTL_MODE_DEFAULT);
    assert_int_equal(o.signals_limit, 100);
    assert_int_equal(rtl_settings_parse("", "32768").signals_limit, 32768);
    static const char *const bad[] = {"0", "32769", "-1", "12x", "99999999999999999999"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        o = rtl_settings_parse("", bad[i]);
        assert_true(o.signals_unknown);
        assert_int_equal(o.signals_limit, 4096);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_exact),
        cmocka_unit_test(rates_are_guessed),
        cmocka_unit_test(counter_follows_the_clock),
        cmocka_unit_test(jumping_counter_is_noticed),
        cmocka_unit_test(agent_clocks_are_calibrated),
        cmocka_unit_test(in_order_is_exact),
        cmocka_unit_test(small_disorder_is_exact),
        cmocka_unit_test(long_kernel_beside_many_short_ones),
        cmocka_unit_test(disorder_stays_near_and_never_above_the_span),
        cmocka_unit_test(classes_have_their_bounds),
        cmocka_unit_test(few_gaps_are_exact_in_any_order),
        cmocka_unit_test(gaps_in_order_are_exact),
        cmocka_unit_test(no_gap_under_a_long_kernel),
        cmocka_unit_test(idle_and_busy_are_all_of_the_time),
        cmocka_unit_test(late_worker_is_right_to_a_percent),
        cmocka_unit_test(the_list_always_has_room),
        cmocka_unit_test(shift_by_release),
        cmocka_unit_test(slots_are_found),
        cmocka_unit_test(tables_that_cannot_be_read_are_refused),
        cmocka_unit_test(options_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
