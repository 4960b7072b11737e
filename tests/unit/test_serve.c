/* rtl-top serve: classes of histograms, series that are shown and hidden, pages, addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/page.h"
#include "serve/parse.h"
#include "serve/ranked.h"
#include "stats/histogram.h"

static void every_bucket_is_in_its_values_class(void **state)
{
    (void)state;
    uint32_t last = 0;
    for (uint32_t b = 0; b < 35 * 64; b++) {
        uint64_t low = rtl_bucket_low(b), most = low + rtl_bucket_width(b) - 1;
        uint32_t number = rtl_prom_bucket_of(low);
        assert_true(number == last || number == last + 1);
        last = number;
        if (number < RTL_PROM_BUCKET_LAST)
            assert_true(most <= rtl_prom_bucket_upper_ns(number));
        if (number)
            assert_true(low > rtl_prom_bucket_upper_ns(number - 1));
    }
    assert_int_equal(last, RTL_PROM_BUCKET_LAST);
    assert_int_equal(rtl_prom_bucket_upper_ns(0), 511);
    assert_int_equal(rtl_prom_bucket_upper_ns(4), 1023);
}

static void shrinking_counts_add_nothing(void **state)
{
    (void)state;
    struct rtl_octave then[2] = {{.octave = 5, .bucket = {[3] = 10}}, {.octave = 9, .bucket = {[1] = 4}}};
    struct rtl_octave now[3] = {{.octave = 4, .bucket = {[0] = 1}},
                                {.octave = 5, .bucket = {[3] = 12, [4] = 1}},
                                {.octave = 9, .bucket = {[1] = 2}}};
    uint64_t coarse[RTL_OCTAVES_MAX] = {[20] = 3};
    struct rtl_histogram_copy a = {.count = 14, .total_ns = 500, .octave_count = 2, .octaves = then};
    struct rtl_histogram_copy b = {.count = 19, .total_ns = 900, .octave_count = 3, .octaves = now, .coarse = coarse};
    struct rtl_prom_buckets classes = {0};
    rtl_prom_buckets_grow(&classes, &a, &b);
    assert_int_equal(classes.values, 1 + 2 + 1 + 3);
    assert_int_equal(classes.sum_ns, 400);
    assert_int_equal(classes.count[rtl_prom_bucket_of(rtl_bucket_low(5 * 64 + 3))], 3);
    assert_int_equal(classes.count[rtl_prom_bucket_of(rtl_bucket_low(9 * 64 + 1))], 0);
    b.total_ns = 1;
    b.count++;
    rtl_prom_buckets_grow(&classes, &a, &b);
    assert_int_equal(classes.sum_ns, 400);
    struct rtl_prom_buckets whole = {0};
    rtl_prom_buckets_grow(&whole, NULL, &a);
    assert_int_equal(whole.values, 14);
    assert_int_equal(whole.sum_ns, 500);
    struct rtl_histogram_copy later = a; /* the total of a call that the buckets already had */
    later.total_ns += 70;
    rtl_prom_buckets_grow(&whole, &a, &later);
    assert_int_equal(whole.values, 14);
    assert_int_equal(whole.sum_ns, 570);
}

/* A process with time in a series holds the series. */
static void took(struct rtl_ranked *r, const char *name, uint64_t ns)
{
    bool added = false;
    uint32_t number = rtl_ranked_find(r, name, strlen(name), 0, &added);
    struct rtl_tally *t = rtl_ranked_tally(r, number);
    if (added)
        rtl_ranked_hold(r, number);
    t->calls++;
    t->times.values++;
    t->times.sum_ns += ns;
}

/* Sum over all series, shown or hidden. */
static uint64_t sum_of(const struct rtl_ranked *r)
{
    uint64_t sum = r->other.times.sum_ns + r->ended.times.sum_ns;
    for (uint32_t i = 0; i < r->count; i++)
        sum += r->series[i].own ? r->series[i].own->times.sum_ns : 0;
    return sum;
}

static const struct rtl_series *series(struct rtl_ranked *r, const char *name)
{
    return &r->series[rtl_ranked_find(r, name, strlen(name), 0, NULL)];
}

static void the_largest_series_are_shown_and_never_go_back(void **state)
{
    (void)state;
    const uint64_t minute = 60000000000ull;
    struct rtl_ranked r;
    rtl_ranked_init(&r, 2, 0);
    took(&r, "a", 10);
    took(&r, "b", 1000);
    took(&r, "c", 500);
    rtl_ranked_settle(&r, 1, NULL, NULL);
    assert_true(series(&r, "b")->shown && series(&r, "c")->shown && !series(&r, "a")->shown);
    assert_int_equal(r.other.times.sum_ns, 10);
    assert_int_equal(r.other.calls, 1);
    /* within a minute no series is replaced; new time counts for "other" */
    took(&r, "a", 100000);
    rtl_ranked_settle(&r, 2, NULL, NULL);
    assert_true(!series(&r, "a")->shown);
    assert_int_equal(r.other.times.sum_ns, 100010);
    uint64_t others = r.other.times.sum_ns, c = series(&r, "c")->own->times.sum_ns;
    took(&r, "a", 7);
    rtl_ranked_settle(&r, 1 + minute, NULL, NULL);
    assert_true(series(&r, "a")->shown && series(&r, "b")->shown && !series(&r, "c")->shown);
    assert_int_equal(r.shown, 2);
    assert_int_equal(r.other.times.sum_ns, others);
    assert_int_equal(series(&r, "a")->own->times.sum_ns, 7);
    /* a hidden series keeps its sum, and continues from there */
    took(&r, "c", 5000000);
    rtl_ranked_settle(&r, 2 + 2 * minute, NULL, NULL);
    assert_true(series(&r, "c")->shown);
    assert_int_equal(series(&r, "c")->own->times.sum_ns, c + 5000000);
    assert_int_equal(sum_of(&r), 10 + 1000 + 500 + 100000 + 7 + 5000000);
    rtl_ranked_free(&r);
}

static void the_number_of_series_is_bounded(void **state)
{
    (void)state;
    struct rtl_ranked r;
    char name[32];
    rtl_ranked_init(&r, 10, 0);
    for (int i = 0; i < RTL_SERIES_MAX + 100; i++) {
        snprintf(name, sizeof name, "kernel %d", i);
        took(&r, name, 1);
    }
    rtl_ranked_settle(&r, 1, NULL, NULL);
    assert_int_equal(r.count, RTL_SERIES_MAX);
    assert_int_equal(r.shown, 10);
    assert_int_equal(sum_of(&r), RTL_SERIES_MAX + 100);
    assert_int_equal(rtl_ranked_find(&r, "kernel 5", 8, 0, NULL), 5);
    bool added = false;
    assert_int_equal(rtl_ranked_find(&r, "kernel 5", 8, 1, &added), RTL_SERIES_OTHER);
    assert_false(added);
    rtl_ranked_free(&r);
}

static uint32_t forgotten;

static void note_forgotten(void *context, uint32_t number)
{
    assert_ptr_equal(context, &forgotten);
    forgotten = number;
}

static void released_series_go_into_ended(void **state)
{
    (void)state;
    const uint64_t minute = 60000000000ull;
    struct rtl_ranked r;
    rtl_ranked_init(&r, 1, 0);
    took(&r, "a", 1000);
    took(&r, "b", 10);
    rtl_ranked_settle(&r, 1, NULL, NULL);
    uint32_t a = rtl_ranked_find(&r, "a", 1, 0, NULL), b = rtl_ranked_find(&r, "b", 1, 0, NULL);
    assert_true(r.series[a].shown && !r.series[b].shown);
    /* a shown series stays after its last release; a hidden one goes with its last holder */
    rtl_ranked_hold(&r, b);
    rtl_ranked_release(&r, a);
    rtl_ranked_release(&r, b);
    rtl_ranked_settle(&r, 2, note_forgotten, &forgotten);
    assert_int_equal(rtl_ranked_living(&r), 2);
    took(&r, "b", 1000000);
    rtl_ranked_settle(&r, 2 + minute, note_forgotten, &forgotten);
    assert_true(r.series[b].shown);
    assert_int_equal(forgotten, a);
    assert_int_equal(rtl_ranked_living(&r), 1);
    assert_int_equal(r.ended.times.sum_ns, 1000);
    assert_int_equal(r.ended.calls, 1);
    assert_int_equal(r.text, 1);
    assert_int_equal(rtl_ranked_find(&r, "a", 1, 0, NULL), RTL_SERIES_OTHER);
    /* then its slot is reused, and no count is lost */
    took(&r, "c", 5);
    assert_int_equal(rtl_ranked_find(&r, "c", 1, 0, NULL), a);
    rtl_ranked_settle(&r, 3 + minute, NULL, NULL);
    assert_int_equal(sum_of(&r), 1000 + 10 + 1000000 + 5);
    rtl_ranked_release(&r, RTL_SERIES_OTHER);
    rtl_ranked_free(&r);
    /* series with an expiry time, for holders that never release */
    bool added;
    rtl_ranked_init(&r, 0, minute);
    rtl_ranked_find(&r, "a", 1, 0, &added);
    rtl_ranked_settle(&r, minute - 1, NULL, NULL);
    rtl_ranked_find(&r, "a", 1, 0, NULL);
    rtl_ranked_settle(&r, 2 * minute - 2, NULL, NULL);
    assert_int_equal(rtl_ranked_living(&r), 1);
    rtl_ranked_settle(&r, 2 * minute - 1, NULL, NULL);
    assert_int_equal(rtl_ranked_living(&r), 0);
    rtl_ranked_free(&r);
}

static void ever_new_names_use_bounded_memory(void **state)
{
    (void)state;
    struct rtl_ranked r;
    char name[32];
    rtl_ranked_init(&r, 10, 0);
    for (uint32_t round = 0; round < 40; round++) {
        for (uint32_t i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "kernel %u of %u", i, round);
            took(&r, name, 1);
        }
        rtl_ranked_settle(&r, 1 + round, NULL, NULL);
        for (uint32_t i = 0; i < r.count; i++)
            rtl_ranked_release(&r, i);
    }
    rtl_ranked_settle(&r, 100, NULL, NULL);
    assert_int_equal(rtl_ranked_living(&r), 10);
    assert_true(r.count < 2100);
    assert_int_equal(sum_of(&r), 40000);
    for (uint32_t i = 0; i < r.count; i++) /* the remaining series are found */
        if (r.series[i].name)
            assert_int_equal(rtl_ranked_find(&r, r.series[i].name, r.series[i].length, 0, NULL), i);
    rtl_ranked_free(&r);
}

static void sums_saturate(void **state)
{
    (void)state;
    struct rtl_prom_buckets classes = {0}, more = {.values = 1ull << 62, .sum_ns = UINT64_MAX - 5};
    more.count[3] = more.native[7] = 1ull << 62;
    rtl_prom_buckets_add(&classes, &more);
    rtl_prom_buckets_add(&classes, &more);
    assert_true(classes.values == 1ull << 62 && classes.count[3] == 1ull << 62 && classes.native[7] == 1ull << 62);
    assert_true(classes.sum_ns == UINT64_MAX);
    struct rtl_octave octave = {.bucket = {[5] = UINT64_MAX, [6] = 3}};
    classes = (struct rtl_prom_buckets){0};
    rtl_prom_buckets_grow(&classes, NULL, &(struct rtl_histogram_copy){.octave_count = 1, .octaves = &octave});
    assert_int_equal(classes.values, 3);
}

static void labels_are_escaped_and_cut(void **state)
{
    (void)state;
    struct rtl_page page;
    char longest[400];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    memcpy(longest + RTL_PAGE_VALUE - 1, "\xc3\xa4", 2);
    rtl_page_begin(&page, RTL_FORMAT_OPENMETRICS, 2);
    rtl_page_metric(&page, RTL_METRIC_PROCESS);
    rtl_page_labels(&page, (const char *[]){"1", "", "say \"\\hi\"\n\xff", longest, "", ""});
    rtl_page_count(&page, 1);
    assert_true(rtl_page_end(&page));
    assert_non_null(strstr(page.text, "rtl_process_info{pid=\"1\",command=\"say \\\"\\\\hi\\\"\\n?\",user=\"x"));
    assert_null(strchr(page.text, (char)0xc3)); /* half a character would be invalid */
    assert_true(page.used < 900);
    assert_non_null(strstr(page.text, "# TYPE rtl_process info\n"));
    assert_string_equal(page.text + page.used - 6, "# EOF\n");
    rtl_page_free(&page);
}

static void each_format_has_its_own_names(void **state)
{
    (void)state;
    struct rtl_page page;
    struct rtl_prom_buckets classes = {.values = 3, .sum_ns = 1500000001};
    classes.count[4] = 2;
    classes.count[RTL_PROM_BUCKET_LAST] = 1;
    for (int openmetrics = 0; openmetrics < 2; openmetrics++) {
        rtl_page_begin(&page, openmetrics ? RTL_FORMAT_OPENMETRICS : RTL_FORMAT_TEXT, 1);
        rtl_page_metric(&page, RTL_METRIC_GPU_BUSY);
        rtl_page_labels(&page, (const char *[]){"0000:03:00.0"});
        rtl_page_seconds(&page, 2500000000);
        rtl_page_metric(&page, RTL_METRIC_RANGES);
        rtl_page_histogram(&page, &classes);
        assert_true(rtl_page_end(&page));
        assert_non_null(
            strstr(page.text, openmetrics ? "# TYPE rtl_gpu_busy_seconds counter\n# UNIT rtl_gpu_busy_seconds seconds\n"
                                          : "# TYPE rtl_gpu_busy_seconds_total counter\n"));
        assert_non_null(strstr(page.text, "\nrtl_gpu_busy_seconds_total{gpu=\"0000:03:00.0\"} 2.5\n"));
        assert_non_null(strstr(
            page.text, "_bucket{le=\"0.000000511\"} 0\nrtl_range_duration_seconds_bucket{le=\"0.000001023\"} 2\n"));
        assert_non_null(
            strstr(page.text, "_bucket{le=\"17.179869183\"} 2\nrtl_range_duration_seconds_bucket{le=\"+Inf\"} 3\n"));
        assert_non_null(strstr(page.text, "_sum 1.500000001\nrtl_range_duration_seconds_count 3\n"));
        rtl_page_free(&page);
    }
}

static void a_page_is_complete_or_empty(void **state)
{
    (void)state;
    struct rtl_page page;
    rtl_page_begin(&page, RTL_FORMAT_OPENMETRICS, 4);
    for (int i = 0; i < 1 << 21; i++)
        rtl_page_metric(&page, RTL_METRIC_SERVE);
    assert_true(page.used <= RTL_PAGE_MAX);
    assert_false(rtl_page_end(&page));
    rtl_page_free(&page);
}

static void addresses_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *host;
        unsigned port;
    } good[] = {{"127.0.0.1:9000", "127.0.0.1", 9000},  {":9000", RTL_SERVE_HOST, 9000}, {"9000", RTL_SERVE_HOST, 9000},
                {"0.0.0.0", "0.0.0.0", RTL_SERVE_PORT}, {"localhost:0", "localhost", 0}, {"[::1]:65535", "::1", 65535},
                {"[::]", "::", RTL_SERVE_PORT}};
    static const char *const bad[] = {"",     ":",      "::1",    "1:2:3", "a:b",      "a:65536", "[::1",
                                      "[]:1", "[::1]x", "[::1]:", "99999", "a:123456", "a: 1",    ":-1"};
    struct rtl_address a;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(rtl_address_parse(good[i].text, &a));
        assert_string_equal(a.host, good[i].host);
        assert_int_equal(a.port, good[i].port);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (rtl_address_parse(bad[i], &a))
            fail_msg("'%s' was accepted as an address", bad[i]);
    char longest[300];
    memset(longest, 'h', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_false(rtl_address_parse(longest, &a));
}

static void the_accept_header_selects_the_format(void **state)
{
    (void)state;
#define FAMILIES "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
    static const struct {
        const char *accept;
        enum rtl_format format;
    } headers[] = {
        /* Prometheus's headers: without native histograms, with them, and version 3 */
        {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
         RTL_FORMAT_OPENMETRICS},
        {FAMILIES ",application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,"
                  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
         RTL_FORMAT_PROTOBUF},
        {FAMILIES ";q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
                  "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
         RTL_FORMAT_PROTOBUF},
        {"text/html, Application/OpenMetrics-Text", RTL_FORMAT_OPENMETRICS},
        {"application/openmetrics-text;q=0.9," FAMILIES ";q=0.8", RTL_FORMAT_OPENMETRICS},
        {"text/plain," FAMILIES ";q=0", RTL_FORMAT_TEXT},
        {"Application/vnd.Google.protobuf ; encoding = \"delimited\"\t; Proto=\"io.prometheus.client.MetricFamily\"; "
         "q=0.1",
         RTL_FORMAT_PROTOBUF},
        /* another type or parameter */
        {"application/vnd.google.protobuf", RTL_FORMAT_TEXT},
        {"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", RTL_FORMAT_TEXT},
        {"application/vnd.google.protobuf;proto=Other;encoding=delimited", RTL_FORMAT_TEXT},
        {"application/vnd.google.protobuf;a=\",proto=io.prometheus.client.MetricFamily;encoding=delimited\"",
         RTL_FORMAT_TEXT},
        {"text/plain;a=\",application/openmetrics-text;b=\"", RTL_FORMAT_TEXT},
        {NULL, RTL_FORMAT_TEXT},
        {"", RTL_FORMAT_TEXT},
        {"*/*", RTL_FORMAT_TEXT},
        {",;=,\"", RTL_FORMAT_TEXT},
        {"application/openmetrics-text;q=0", RTL_FORMAT_TEXT},
        {"application/openmetrics-text; q=0.2, text/plain", RTL_FORMAT_TEXT},
        {"application/openmetrics-text;x=q=0;q=0.001", RTL_FORMAT_OPENMETRICS},
        {"application/openmetrics-textual", RTL_FORMAT_TEXT},
        {"application/openmetrics-tex", RTL_FORMAT_TEXT},
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (rtl_accepted(headers[i].accept) != headers[i].format)
            fail_msg("'%s' gives format %d", headers[i].accept, rtl_accepted(headers[i].accept));
}

static void only_names_of_the_server_are_permitted(void **state)
{
    (void)state;
    static struct rtl_hosts hosts;
    const char *wrong;
    static const char *const good[] = {"localhost",  "LocalHost:9833", "localhost.", "a.b.localhost:1",
                                       "127.0.0.1",  "10.1.2.3:9833",  "[::1]",      "[fe80::1]:9833",
                                       "node1",      "NODE1:80",       "node1.:80",  "a.example.com",
                                       "localhost:", "node1 \t"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "evil.example:9833",
                                      "localhost.evil.example",
                                      ":80",
                                      "1.2.3.4.evil.com",
                                      "xlocalhost",
                                      ".localhost",
                                      "[::1",
                                      "[::1]x",
                                      "[::1]:x",
                                      "[evil]",
                                      "[]",
                                      "::1",
                                      "localhost:80:80",
                                      "localhost:80x",
                                      ".",
                                      "node1..",
                                      "node1,localhost",
                                      "localhost evil.example",
                                      "node12",
                                      "node",
                                      "1.2.3",
                                      "evil@localhost",
                                      "0x7f.1"};
    assert_true(rtl_hosts_add(&hosts, "node1.", &wrong) && rtl_hosts_add(&hosts, "a.example.com,b", &wrong));
    assert_int_equal(hosts.count, 3);
    assert_true(rtl_hosts_permit(&hosts, NULL));
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!rtl_hosts_permit(&hosts, good[i]))
            fail_msg("'%s' was refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (rtl_hosts_permit(&hosts, bad[i]))
            fail_msg("'%s' was permitted", bad[i]);
    static const char *const none[] = {"", ",", "a,", "a:80", "*", "a b", ".", "[::1]", "a,,b"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (rtl_hosts_add(&hosts, none[i], &wrong))
            fail_msg("'%s' was accepted as a host name", none[i]);
    char longest[RTL_HOST_NAME_MAX + 10];
    memset(longest, 'h', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_false(rtl_hosts_add(&hosts, longest, &wrong) || rtl_hosts_permit(&hosts, longest));
    while (rtl_hosts_add(&hosts, "c", &wrong))
        assert_true(hosts.count <= RTL_HOSTS_MAX);
    assert_string_equal(wrong, "is one host name too many");
    /* this machine's own name */
    char own[256];
    static struct rtl_hosts others;
    assert_int_equal(gethostname(own, sizeof own - 1), 0);
    rtl_hosts_add_own(&others, true);
    assert_true(rtl_hosts_permit(&others, own) && !rtl_hosts_permit(&others, "evil.example"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bucket_is_in_its_values_class),
        cmocka_unit_test(shrinking_counts_add_nothing),
        cmocka_unit_test(the_largest_series_are_shown_and_never_go_back),
        cmocka_unit_test(the_number_of_series_is_bounded),
        cmocka_unit_test(released_series_go_into_ended),
        cmocka_unit_test(ever_new_names_use_bounded_memory),
        cmocka_unit_test(sums_saturate),
        cmocka_unit_test(labels_are_escaped_and_cut),
        cmocka_unit_test(each_format_has_its_own_names),
        cmocka_unit_test(a_page_is_complete_or_empty),
        cmocka_unit_test(addresses_are_parsed),
        cmocka_unit_test(the_accept_header_selects_the_format),
        cmocka_unit_test(only_names_of_the_server_are_permitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
