/* rtl-top serve's pages as Protocol Buffers: native buckets, the error of their quantiles, and protoc's decoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "serve/page.h"
#include "serve/proto.h"
#include "stats/histogram.h"

/* --- buckets --- */

/* Add a histogram given as plain counts by bucket. */
static void grow_by_counts(struct rtl_prom_buckets *to, const uint64_t counts[35 * 64], uint64_t total_ns)
{
    struct rtl_octave octaves[35];
    for (uint32_t i = 0; i < 35; i++) {
        octaves[i].octave = (uint8_t)i;
        memcpy(octaves[i].bucket, &counts[i * 64], sizeof octaves[i].bucket);
    }
    rtl_prom_buckets_grow(to, NULL,
                          &(struct rtl_histogram_copy){.total_ns = total_ns, .octave_count = 35, .octaves = octaves});
}

static double edge(int number)
{
    return pow(2, (double)(number + RTL_PROM_NATIVE_FIRST) / 8);
}

static void every_bucket_maps_by_its_middle(void **state)
{
    (void)state;
    int last = -1;
    assert_int_equal(rtl_prom_native_of(0), -1);
    for (uint32_t b = 1; b < 35 * 64; b++) {
        double low = (double)rtl_bucket_low(b) / 1e9;
        double most = (double)(rtl_bucket_low(b) + rtl_bucket_width(b) - 1) / 1e9;
        int number = rtl_prom_native_of(b);
        assert_true(number >= last && number < RTL_PROM_NATIVE_COUNT);
        assert_true((low + most) / 2 > edge(number - 1) && (low + most) / 2 <= edge(number));
        /* values on the wrong side of an edge are near it */
        assert_true(most <= edge(number) * 1.0079 && low >= edge(number - 1) / 1.0079);
        last = number;
    }
    assert_int_equal(last, RTL_PROM_NATIVE_COUNT - 1);
    /* a second is the last value of its bucket */
    assert_int_equal(rtl_prom_native_of(rtl_bucket_of(990000000)) + RTL_PROM_NATIVE_FIRST, 0);
    assert_int_equal(rtl_prom_native_of(rtl_bucket_of(1020000000)) + RTL_PROM_NATIVE_FIRST, 1);
    assert_int_equal(rtl_prom_native_of(UINT32_MAX), RTL_PROM_NATIVE_COUNT - 1);
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void spans_cover_counted_buckets(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint64_t count[RTL_PROM_NATIVE_COUNT] = {0}, said[RTL_PROM_NATIVE_COUNT] = {0};
        struct rtl_prom_native_span spans[RTL_PROM_NATIVE_SPANS];
        uint32_t from[RTL_PROM_NATIVE_SPANS];
        for (uint32_t i = 0; i < RTL_PROM_NATIVE_COUNT; i++)
            count[i] = round == 1 ? i % 4 == 0 : random_bits() % (1 + (uint64_t)round % 40) == 0 && round;
        uint32_t spanned = rtl_prom_native_spans(count, spans, from);
        assert_true(spanned <= RTL_PROM_NATIVE_SPANS);
        int32_t at = 0;
        for (uint32_t i = 0; i < spanned; i++) {
            at += spans[i].offset;
            assert_int_equal(at - RTL_PROM_NATIVE_FIRST, from[i]);
            assert_true(spans[i].length > 0 && (!i || spans[i].offset > RTL_PROM_NATIVE_GAP));
            for (uint32_t n = 0; n < spans[i].length; n++, at++)
                said[at - RTL_PROM_NATIVE_FIRST] = count[at - RTL_PROM_NATIVE_FIRST];
        }
        assert_memory_equal(said, count, sizeof said);
    }
}

/* Compute as Prometheus 2.42 does: the bucket that holds the rank, and the fraction into it. */
static double quantile_of(const struct rtl_prom_buckets *classes, double q)
{
    double rank = q * (double)classes->values, below = (double)classes->zero;
    for (int i = 0; i < RTL_PROM_NATIVE_COUNT; i++) {
        double here = (double)classes->native[i];
        if (here > 0 && below + here >= rank)
            return edge(i - 1) + (edge(i) - edge(i - 1)) * (rank - below) / here;
        below += here;
    }
    return INFINITY;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void quantiles_are_off_by_a_bucket_at_most(void **state)
{
    (void)state;
    enum { VALUES = 20000 };
    static uint64_t value[VALUES];
    double worst = 1;
    for (int round = 0; round < 60; round++) {
        uint64_t buckets[35 * 64] = {0};
        struct rtl_prom_buckets classes = {0};
        double middle = 200 * pow(1.4, round % 45), width = 0.01 * pow(1.2, round % 17);
        for (int i = 0; i < VALUES; i++) {
            double u = (double)(random_bits() >> 11) / 9007199254740992.0;
            value[i] = (uint64_t)(middle * exp(width * (2 * u - 1)) * (round % 3 == 0 && i % 80 == 0 ? 12 : 1)) + 1;
            buckets[rtl_bucket_of(value[i])]++;
        }
        qsort(value, VALUES, sizeof *value, by_size);
        grow_by_counts(&classes, buckets, 1);
        for (int q = 1; q < 100; q++) {
            double exact = (double)value[VALUES * q / 100 - 1] / 1e9, said = quantile_of(&classes, q / 100.0);
            double off = said > exact ? said / exact : exact / said;
            worst = off > worst ? off : worst;
        }
    }
    printf("# worst quantile: off by %.1f %%\n", (worst - 1) * 100);
    assert_true(worst < 1.11 && worst > 1.03);
}

/* --- the page --- */

/* Decode the next message of a page with protoc. */
static const char *decode(const struct rtl_page *page, size_t *at)
{
    static char text[1 << 16];
    char path[] = "/tmp/rtl-test-XXXXXX", command[300];
    size_t length = 0;
    for (unsigned shift = 0, more = 1; more; shift += 7) {
        unsigned char byte = (unsigned char)page->text[(*at)++];
        length |= (size_t)(byte & 0x7f) << shift;
        more = byte & 0x80;
    }
    assert_true(length <= page->used - *at);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, page->text + *at, length), length);
    close(fd);
    *at += length;
    snprintf(command, sizeof command,
             "protoc --decode=io.prometheus.client.MetricFamily -Itests/unit tests/unit/metrics.proto <%s", path);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    assert_int_equal(pclose(out), 0);
    unlink(path);
    return text;
}

static void counters_and_infos_are_decoded(void **state)
{
    (void)state;
    struct rtl_page page;
    size_t at = 0;
    rtl_page_begin(&page, RTL_FORMAT_PROTOBUF, 2);
    rtl_page_metric(&page, RTL_METRIC_GPU_BUSY);
    rtl_page_labels(&page, (const char *[]){"0000:03:00.0"});
    rtl_page_seconds(&page, 2500000000);
    rtl_page_labels(&page, (const char *[]){"say \"\\hi\"\n\xff"});
    rtl_page_seconds(&page, 0);
    rtl_page_metric(&page, RTL_METRIC_PROCESS);
    rtl_page_labels(&page, (const char *[]){"1", "", "a b", "", "", ""});
    rtl_page_count(&page, 1);
    rtl_page_metric(&page, RTL_METRIC_API_ERRORS); /* a family without a metric */
    rtl_page_metric(&page, RTL_METRIC_PROCESS_KERNEL);
    rtl_page_labels(&page, (const char *[]){"1", "", "k", "", ""});
    rtl_page_summary(&page, 300, 1500000000);
    assert_true(rtl_page_end(&page));
    assert_string_equal(decode(&page, &at),
                        "name: \"rtl_gpu_busy_seconds_total\"\n"
                        "help: \"time in which a timed kernel ran, summed over processes\"\n"
                        "metric {\n  label {\n    name: \"gpu\"\n    value: \"0000:03:00.0\"\n  }\n"
                        "  counter {\n    value: 2.5\n  }\n}\n"
                        "metric {\n  label {\n    name: \"gpu\"\n    value: \"say \\\"\\\\hi\\\"\\n?\"\n  }\n"
                        "  counter {\n  }\n}\n");
    assert_string_equal(decode(&page, &at), "name: \"rtl_process_info\"\n"
                                            "help: \"traced and observed processes\"\n"
                                            "type: GAUGE\n"
                                            "metric {\n  label {\n    name: \"pid\"\n    value: \"1\"\n  }\n"
                                            "  label {\n    name: \"command\"\n    value: \"a b\"\n  }\n"
                                            "  gauge {\n    value: 1\n  }\n}\n");
    assert_non_null(strstr(decode(&page, &at), "name: \"rtl_api_errors_total\"\n"));
    const char *summary = decode(&page, &at);
    assert_non_null(strstr(summary, "type: SUMMARY\n"));
    assert_non_null(strstr(summary, "  summary {\n    sample_count: 300\n    sample_sum: 1.5\n  }\n"));
    assert_int_equal(at, page.used);
    rtl_page_free(&page);
}

static void histograms_are_both_native_and_classic(void **state)
{
    (void)state;
    struct rtl_page page;
    struct rtl_prom_buckets classes = {0};
    uint64_t buckets[35 * 64] = {[0] = 2};
    size_t at = 0;
    buckets[rtl_bucket_of(990000000)] = 5;         /* 0: (0.917, 1] */
    buckets[rtl_bucket_of(1020000000)] = 300;      /* 1 */
    buckets[rtl_bucket_of(1400000000)] = 1;        /* 4: two empty ones between */
    buckets[rtl_bucket_of(60000000000ull)] = 1000; /* 48, beyond the classes */
    grow_by_counts(&classes, buckets, 1500000000);
    rtl_page_begin(&page, RTL_FORMAT_PROTOBUF, 1);
    rtl_page_metric(&page, RTL_METRIC_RANGES);
    rtl_page_labels(&page, (const char *[]){"r"});
    rtl_page_histogram(&page, &classes);
    rtl_page_labels(&page, (const char *[]){"none"});
    rtl_page_histogram(&page, &(struct rtl_prom_buckets){0});
    assert_true(rtl_page_end(&page));
    const char *text = decode(&page, &at);
    assert_int_equal(at, page.used);
    assert_non_null(strstr(text, "type: HISTOGRAM\n"));
    assert_non_null(strstr(text, "  histogram {\n    sample_count: 1308\n    sample_sum: 1.5\n    bucket {\n"));
    assert_non_null(strstr(text, "    bucket {\n      cumulative_count: 308\n      upper_bound: 2.147483647\n    }\n"));
    assert_non_null(strstr(text, "      upper_bound: 17.179869183\n    }\n"
                                 "    schema: 3\n    zero_threshold: 9.3132257461547852e-10\n    zero_count: 2\n"
                                 "    positive_span {\n      length: 5\n    }\n"
                                 "    positive_span {\n      offset: 43\n      length: 1\n    }\n"
                                 "    positive_delta: 5\n    positive_delta: 295\n    positive_delta: -300\n"
                                 "    positive_delta: 0\n    positive_delta: 1\n    positive_delta: 999\n  }\n"));
    /* an empty histogram is native, too: it has a zero bucket */
    const char *none = strstr(text, "    value: \"none\"\n");
    assert_non_null(none);
    assert_non_null(strstr(none, "    schema: 3\n    zero_threshold: "));
    assert_null(strstr(none, "positive"));
    rtl_page_free(&page);
}

static void numbers_have_the_shortest_encoding(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        size_t bytes;
    } numbers[] = {{0, 1}, {127, 1}, {128, 2}, {16383, 2}, {16384, 3}, {UINT64_MAX, RTL_PROTO_VARINT}};
    char out[RTL_PROTO_VARINT];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t value = 0;
        size_t n = rtl_proto_varint(out, numbers[i].value);
        assert_int_equal(n, numbers[i].bytes);
        for (size_t b = 0; b < n; b++)
            value |= (uint64_t)(out[b] & 0x7f) << 7 * b;
        assert_true(value == numbers[i].value);
    }
    assert_int_equal(rtl_proto_zigzag(0), 0);
    assert_int_equal(rtl_proto_zigzag(-1), 1);
    assert_int_equal(rtl_proto_zigzag(1), 2);
    assert_true(rtl_proto_zigzag(INT64_MIN) == UINT64_MAX);
    assert_true(rtl_proto_zigzag(INT64_MAX) == UINT64_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bucket_maps_by_its_middle),        cmocka_unit_test(spans_cover_counted_buckets),
        cmocka_unit_test(quantiles_are_off_by_a_bucket_at_most),  cmocka_unit_test(counters_and_infos_are_decoded),
        cmocka_unit_test(histograms_are_both_native_and_classic), cmocka_unit_test(numbers_have_the_shortest_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
