/*
 * Quantiles, windows and bins against exact sorting: values pass through the recorder, the segment and a snapshot, and
 * a quantile must lie within 1/128 of the value at the nearest rank.
 */
#include "segment_fixture.h"

#include <math.h>
#include <stdio.h>

#include "stats/histogram_sum.h"
#include "stats/quantile.h"

enum { VALUES = 60000 };

static const double wanted[] = {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0};
enum { WANTED = sizeof wanted / sizeof *wanted };

static uint64_t seed;

static double normal(void)
{
    double u = fixture_unit(&seed), v = fixture_unit(&seed);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
}

static double lognormal(int i)
{
    (void)i;
    return 20000 * exp(0.6 * normal());
}

static double bimodal(int i)
{
    (void)i;
    return fixture_unit(&seed) < 0.97 ? 74000 * exp(0.05 * normal()) : 2800000 * exp(0.1 * normal());
}

static double pareto(int i)
{
    (void)i;
    return 1000 / pow(fixture_unit(&seed), 1 / 1.1);
}

static double uniform(int i)
{
    (void)i;
    return 100 + 1e6 * fixture_unit(&seed);
}

static double constant(int i)
{
    (void)i;
    return 41800;
}

/* A clock of 100 MHz: only every tenth nanosecond occurs. */
static double quantised(int i)
{
    (void)i;
    return 10 * floor(20 + 30 * fixture_unit(&seed));
}

/* Three values far apart: ranks at the edge of a gap. */
static double with_gaps(int i)
{
    return i % 2 == 0 ? 150 : i % 100 == 1 ? 900000000000.0 : 5000000;
}

static double wide(int i)
{
    (void)i;
    return exp(log(100) + fixture_unit(&seed) * log(1e10));
}

static double rising(int i)
{
    return 500 + i * 37.0;
}

static const struct {
    const char *name;
    double (*value)(int i);
} distributions[] = {
    {"lognormal", lognormal}, {"bimodal", bimodal},   {"pareto", pareto},
    {"uniform", uniform},     {"constant", constant}, {"quantised", quantised},
    {"with gaps", with_gaps}, {"wide", wide},         {"rising", rising},
};
enum { DISTRIBUTIONS = sizeof distributions / sizeof *distributions };

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Return the smallest value whose cumulative share reaches q, by sorting. */
static uint64_t exact(const uint64_t *sorted, uint64_t n, double q)
{
    uint64_t rank = 1;
    while (rank < n && (double)rank < q * (double)n * (1 - 1e-14))
        rank++;
    return sorted[rank - 1];
}

static void assert_quantiles(const char *name, const struct rtl_histogram_copy *earlier,
                             const struct rtl_histogram_copy *later, uint64_t *values, uint64_t n)
{
    uint64_t got[WANTED];
    qsort(values, n, sizeof *values, compare);
    assert_true(rtl_quantiles(earlier, later, wanted, WANTED, got));
    for (int i = 0; i < WANTED; i++) {
        uint64_t want = exact(values, n, wanted[i]), off = got[i] > want ? got[i] - want : want - got[i];
        if (off * 128 > want)
            fail_msg("%s: the quantile %g is %llu, exactly %llu", name, wanted[i], (unsigned long long)got[i],
                     (unsigned long long)want);
    }
}

struct setup {
    struct rtl_segment segment;
    struct rtl_recorder *recorder;
    struct rtl_reader *reader;
    uint32_t kernel[DISTRIBUTIONS];
};

static int start(void **state)
{
    struct setup *s = calloc(1, sizeof *s);
    seed = 4711;
    fixture_segment(&s->segment);
    s->recorder = rtl_recorder_create(&s->segment);
    s->reader = fixture_reader(&s->segment);
    for (int i = 0; i < DISTRIBUTIONS; i++)
        s->kernel[i] = fixture_kernel(&s->segment, distributions[i].name);
    *state = s;
    return 0;
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

static void record_all(struct setup *s, uint64_t (*values)[VALUES], uint64_t total[DISTRIBUTIONS])
{
    for (int d = 0; d < DISTRIBUTIONS; d++) {
        total[d] = 0;
        for (int i = 0; i < VALUES; i++) {
            values[d][i] = (uint64_t)distributions[d].value(i);
            total[d] += values[d][i];
            rtl_recorder_record(s->recorder, RTL_HISTOGRAM_KERNEL(s->kernel[d]), values[d][i]);
        }
    }
}

static void quantiles_since_the_start_equal_sorting(void **state)
{
    struct setup *s = *state;
    uint64_t(*values)[VALUES] = malloc(sizeof(uint64_t[DISTRIBUTIONS][VALUES])), total[DISTRIBUTIONS];
    struct rtl_snapshot snapshot = {0};

    record_all(s, values, total);
    assert_int_equal(rtl_reader_snapshot(s->reader, &snapshot), RTL_READER_OK);
    for (int d = 0; d < DISTRIBUTIONS; d++) {
        const struct rtl_kernel_snapshot *k = fixture_find(&snapshot, s->kernel[d]);
        assert_non_null(k);
        assert_string_equal(k->name, distributions[d].name);
        assert_false(k->histogram.approximate);
        assert_int_equal(k->histogram.count, VALUES);
        assert_int_equal(k->histogram.total_ns, total[d]);
        assert_quantiles(distributions[d].name, NULL, &k->histogram, values[d], VALUES);
        assert_int_equal(k->histogram.min_ns, values[d][0]);
        assert_int_equal(k->histogram.max_ns, values[d][VALUES - 1]);
        struct rtl_window w = rtl_window_between(NULL, &k->histogram);
        assert_int_equal(w.min_ns, values[d][0]);
        assert_int_equal(w.max_ns, values[d][VALUES - 1]);
    }
    rtl_snapshot_free(&snapshot);
    free(values);
}

/* Earlier values have another distribution, which must not affect the window. */
static void quantiles_in_a_window_equal_sorting(void **state)
{
    struct setup *s = *state;
    uint64_t(*values)[VALUES] = malloc(sizeof(uint64_t[DISTRIBUTIONS][VALUES])), total[DISTRIBUTIONS];
    struct rtl_snapshot before = {0}, after = {0};

    for (int d = 0; d < DISTRIBUTIONS; d++)
        for (int i = 0; i < 3000; i++)
            rtl_recorder_record(s->recorder, RTL_HISTOGRAM_KERNEL(s->kernel[d]),
                                (uint64_t)distributions[(d + 4) % DISTRIBUTIONS].value(i));
    assert_int_equal(rtl_reader_snapshot(s->reader, &before), RTL_READER_OK);
    record_all(s, values, total);
    assert_int_equal(rtl_reader_snapshot(s->reader, &after), RTL_READER_OK);
    for (int d = 0; d < DISTRIBUTIONS; d++) {
        const struct rtl_histogram_copy *a = &fixture_find(&before, s->kernel[d])->histogram;
        const struct rtl_histogram_copy *b = &fixture_find(&after, s->kernel[d])->histogram;
        struct rtl_window w = rtl_window_between(a, b);
        assert_int_equal(w.count, VALUES);
        assert_int_equal(w.total_ns, total[d]);
        assert_false(w.approximate);
        assert_quantiles(distributions[d].name, a, b, values[d], VALUES);
        /* the edges of the first and last bucket that grew enclose the values, at most a bucket away from them */
        assert_true(w.min_ns <= values[d][0] && (values[d][0] - w.min_ns) * 64 <= values[d][0]);
        assert_true(w.max_ns >= values[d][VALUES - 1] &&
                    (w.max_ns - values[d][VALUES - 1]) * 64 <= values[d][VALUES - 1]);
        /* and nothing in a window is beyond the values since the start */
        assert_true(w.min_ns >= b->min_ns && w.max_ns <= b->max_ns);

        uint64_t none[WANTED];
        w = rtl_window_between(b, b);
        assert_int_equal(w.count, 0);
        assert_int_equal(w.min_ns, 0);
        assert_false(rtl_quantiles(b, b, wanted, WANTED, none));
        w = rtl_window_between(b, a); /* another process: counts shrank */
        assert_int_equal(w.count, 0);
        assert_false(rtl_quantiles(b, a, wanted, WANTED, none));
    }
    rtl_snapshot_free(&before);
    rtl_snapshot_free(&after);
    free(values);
}

static void bins_hold_every_value_once(void **state)
{
    struct setup *s = *state;
    uint64_t(*values)[VALUES] = malloc(sizeof(uint64_t[DISTRIBUTIONS][VALUES])), total[DISTRIBUTIONS];
    /* edges on bucket edges, so that the bins are exact */
    const double edges[] = {128, 256, 1024, 65536, 1 << 20, 1ull << 30};
    enum { EDGES = sizeof edges / sizeof *edges };
    struct rtl_snapshot snapshot = {0};

    record_all(s, values, total);
    assert_int_equal(rtl_reader_snapshot(s->reader, &snapshot), RTL_READER_OK);
    for (int d = 0; d < DISTRIBUTIONS; d++) {
        uint64_t bins[EDGES - 1], want[EDGES - 1] = {0};
        for (int i = 0; i < VALUES; i++) {
            int bin = 0;
            while (bin < EDGES - 2 && (double)values[d][i] >= edges[bin + 1])
                bin++;
            want[bin]++;
        }
        rtl_bin(NULL, &fixture_find(&snapshot, s->kernel[d])->histogram, edges, EDGES, bins);
        assert_memory_equal(bins, want, sizeof bins);
    }
    rtl_snapshot_free(&snapshot);
    free(values);
}

/* Ranks at small counts, where an off-by-one shows: 1..200 values, all different. */
static void small_counts_use_the_nearest_rank(void **state)
{
    struct setup *s = *state;
    uint64_t values[200];
    struct rtl_snapshot snapshot = {0};
    for (uint64_t n = 1; n <= 200; n++) {
        values[n - 1] = 1000 + 100 * n; /* further apart than a bucket's width */
        rtl_recorder_record(s->recorder, RTL_HISTOGRAM_KERNEL(s->kernel[0]), values[n - 1]);
        assert_int_equal(rtl_reader_snapshot(s->reader, &snapshot), RTL_READER_OK);
        assert_quantiles("small", NULL, &fixture_find(&snapshot, s->kernel[0])->histogram, values, n);
        rtl_snapshot_free(&snapshot);
    }
}

/* Counts known per octave only: the answer stays in the octave and is marked as approximate. */
static void coarse_counts_stay_in_their_octave(void **state)
{
    (void)state;
    uint64_t coarse[RTL_OCTAVES_MAX] = {[6] = 100, [9] = 1, [10] = 37};
    struct rtl_histogram_copy h = {
        .count = 138, .min_ns = 2100, .max_ns = 60000, .approximate = true, .coarse = coarse};
    uint64_t got[3];
    const double q[3] = {0.01, 0.5, 0.99};
    assert_true(rtl_quantiles(NULL, &h, q, 3, got));
    /* the geometric middle: at most 41.5 % off from either end of [2048, 4095] and [32768, 65535] */
    assert_in_range(got[0], 4095 * 0.7, 2048 * 1.415);
    assert_in_range(got[1], 4095 * 0.7, 2048 * 1.415);
    assert_in_range(got[2], 65535 * 0.7, 32768 * 1.415);
    struct rtl_window w = rtl_window_between(NULL, &h);
    assert_int_equal(w.count, 138);
    assert_true(w.approximate);
    assert_int_equal(w.min_ns, 2048);
    assert_int_equal(w.max_ns, 65535);
    const double edges[] = {0, 4096, 32768, 1 << 20};
    uint64_t bins[3];
    rtl_bin(NULL, &h, edges, 4, bins);
    assert_int_equal(bins[0], 100);
    assert_int_equal(bins[1], 1);
    assert_int_equal(bins[2], 37);
}

/* Make one octave of a histogram by hand. */
static struct rtl_histogram_copy by_hand(struct rtl_octave *octave, uint64_t min, uint64_t max)
{
    struct rtl_histogram_copy h = {.min_ns = min, .max_ns = max, .octave_count = 1, .octaves = octave};
    for (int b = 0; b < RTL_CHUNK_BUCKETS; b++)
        h.count += octave->bucket[b];
    return h;
}

/* A window's last bucket ends at the exact maximum if it holds it, even as its very first value. */
static void exact_extremes_narrow_the_window(void **state)
{
    (void)state;
    const uint32_t first = rtl_bucket_of(4096), last = first + 40;
    const uint64_t low = rtl_bucket_low(last), width = rtl_bucket_width(last);
    assert_int_equal(first % RTL_CHUNK_BUCKETS, 0);
    for (uint64_t into = 0; into < width; into++) {
        struct rtl_octave before = {.octave = (uint8_t)(first / 64), .bucket = {1, 1}}, after = before;
        after.bucket[20]++;
        after.bucket[40]++;
        struct rtl_histogram_copy a = by_hand(&before, 4096, rtl_bucket_low(first + 1)),
                                  b = by_hand(&after, 4096, low + into);
        struct rtl_window w = rtl_window_between(&a, &b);
        assert_int_equal(w.count, 2);
        assert_int_equal(w.max_ns, low + into);
        assert_int_equal(w.min_ns, rtl_bucket_low(first + 20)); /* the minimum was before the window */
        assert_false(w.approximate);
        /* and at the other end: a new minimum that is the last value of its bucket */
        before.bucket[0] = before.bucket[1] = 0;
        before.bucket[60] = 5;
        after = before;
        after.bucket[3]++;
        a = by_hand(&before, rtl_bucket_low(first + 60), rtl_bucket_low(first + 60));
        b = by_hand(&after, rtl_bucket_low(first + 3) + into, rtl_bucket_low(first + 60));
        w = rtl_window_between(&a, &b);
        assert_int_equal(w.min_ns, rtl_bucket_low(first + 3) + into);
        assert_int_equal(w.max_ns, rtl_bucket_low(first + 3) + rtl_bucket_width(first + 3) - 1);
    }
}

/* An approximate snapshot makes every window approximate that begins or ends with it. */
static void an_approximate_snapshot_makes_its_windows_approximate(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        struct rtl_octave before = {.octave = 6, .bucket = {5}}, after = {.octave = 6, .bucket = {5, 3}};
        struct rtl_histogram_copy a = by_hand(&before, 2048, 2048), b = by_hand(&after, 2048, 2100);
        uint64_t coarse[RTL_OCTAVES_MAX] = {[9] = 2};
        a.approximate = which == 1;
        b.approximate = which == 2;
        if (which == 3) {
            b.coarse = coarse;
            b.count += 2;
        }
        assert_int_equal(rtl_window_between(&a, &b).approximate, which != 0);
        assert_int_equal(rtl_window_between(NULL, &b).approximate, which == 2);
    }
}

/* Rows of a drawing: a bucket counts fully if the edges lie on its edges, otherwise it is divided; the sum stays. */
static void edges_within_a_bucket_divide_its_count(void **state)
{
    (void)state;
    const uint32_t at = rtl_bucket_of(4096);
    const double low = 4096, next = (double)rtl_bucket_low(at + 1), high = (double)rtl_bucket_low(at + 2);
    struct rtl_octave octave = {.octave = (uint8_t)(at / 64), .bucket = {1000, 3000}};
    struct rtl_histogram_copy h = by_hand(&octave, 4096, (uint64_t)high - 1);
    uint64_t bins[4];
    rtl_bin(NULL, &h, (const double[]){low, next, high}, 3, bins);
    assert_int_equal(bins[0], 1000);
    assert_int_equal(bins[1], 3000);
    rtl_bin(NULL, &h, (const double[]){low, sqrt(low * next), next, sqrt(next * high), high}, 5, bins);
    assert_int_equal(bins[0], 500);
    assert_int_equal(bins[1], 500);
    assert_int_equal(bins[2], 1500);
    assert_int_equal(bins[3], 1500);
    /* the outermost edges are the values' ends, so they enclose all of the bucket */
    rtl_bin(NULL, &h, (const double[]){sqrt(low * next), next, high}, 3, bins);
    assert_int_equal(bins[0], 1000);
    assert_int_equal(bins[1], 3000);
    const double begin = low * sqrt(next / low), end = next * sqrt(high / next);
    rtl_bin(NULL, &h, (const double[]){begin, sqrt(begin * next), next, sqrt(next * end), end}, 5, bins);
    assert_int_equal(bins[0], 500);
    assert_int_equal(bins[1], 500);
    assert_int_equal(bins[2], 1500);
    assert_int_equal(bins[3], 1500);
    rtl_bin(NULL, &h, (const double[]){1, 2, low, 1e9, 1e10}, 5, bins);
    assert_int_equal(bins[0] + bins[1] + bins[3], 0);
    assert_int_equal(bins[2], 4000);
    rtl_bin(NULL, &h, (const double[]){10, 20, 30}, 3, bins); /* beyond the last edge: into the last bin */
    assert_int_equal(bins[0], 0);
    assert_int_equal(bins[1], 4000);
    /* an octave's count is spread over the octave, without a spike in its middle */
    uint64_t coarse[RTL_OCTAVES_MAX] = {[6] = 3000};
    struct rtl_histogram_copy c = {.count = 3000, .coarse = coarse, .approximate = true};
    rtl_bin(NULL, &c, (const double[]){2048, 2048 * cbrt(2), 2048 * cbrt(4), 4096}, 4, bins);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bins[i], 1000);
}

static void an_empty_histogram_has_no_quantiles(void **state)
{
    (void)state;
    struct rtl_histogram_copy h = {0};
    uint64_t got[WANTED], bin = 1;
    const double edges[] = {0, 10};
    assert_false(rtl_quantiles(NULL, &h, wanted, WANTED, got));
    assert_int_equal(rtl_window_between(NULL, &h).count, 0);
    rtl_bin(NULL, &h, edges, 2, &bin);
    assert_int_equal(bin, 0);
}

/* A process in which the kernel has no timed dispatch adds nothing; its extremes mean nothing. */
static void an_empty_histogram_changes_no_extreme(void **state)
{
    (void)state;
    const struct rtl_histogram_copy none = {.min_ns = 1, .max_ns = 900},
                                    some = {.count = 2, .min_ns = 30, .max_ns = 40};
    const struct rtl_histogram_copy *const both[2][2] = {{&none, &some}, {&some, &none}};
    for (int i = 0; i < 2; i++) {
        struct rtl_histogram_copy sum = rtl_histogram_sum(both[i], 2, NULL);
        assert_int_equal(sum.count, 2);
        assert_int_equal(sum.min_ns, 30);
        assert_int_equal(sum.max_ns, 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_histogram_changes_no_extreme),
        cmocka_unit_test_setup_teardown(quantiles_since_the_start_equal_sorting, start, stop),
        cmocka_unit_test_setup_teardown(quantiles_in_a_window_equal_sorting, start, stop),
        cmocka_unit_test_setup_teardown(bins_hold_every_value_once, start, stop),
        cmocka_unit_test_setup_teardown(small_counts_use_the_nearest_rank, start, stop),
        cmocka_unit_test(coarse_counts_stay_in_their_octave),
        cmocka_unit_test(exact_extremes_narrow_the_window),
        cmocka_unit_test(an_approximate_snapshot_makes_its_windows_approximate),
        cmocka_unit_test(edges_within_a_bucket_divide_its_count),
        cmocka_unit_test(an_empty_histogram_has_no_quantiles),
    };
    return cmocka_run_group_tests_name("quantile", tests, NULL, NULL);
}
