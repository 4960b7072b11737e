/*
 * A page of metrics in one of three formats: OpenMetrics 1.0, Prometheus's text format (0.0.4), or delimited messages
 * of Protocol Buffers, whose histograms have native and classic buckets. Pure.
 *
 * Begin each metric once, then add its samples. Label values are untrusted text of other processes: they are escaped
 * and cut here. The size is bounded: a page without room becomes failed and is never cut.
 */
#ifndef RTL_SERVE_PAGE_H
#define RTL_SERVE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/prom_buckets.h"
#include "serve/metrics.h"
#include "serve/parse.h"

enum {
    RTL_PAGE_MAX = 32 << 20,
    RTL_PAGE_VALUE = 200, /* bytes of a label value before escaping */
    RTL_PAGE_LABELS = 6,
};

struct rtl_page {
    char *text;
    size_t used, room;
    enum rtl_format format;
    bool failed;
    unsigned parts; /* buckets in each factor of two: 1, 2 or 4 */
    enum rtl_metric metric;
    size_t family, labels_used; /* family: Protocol Buffers: start of the metric, whose length is not written yet */
    bool in_family;
    char labels[RTL_PAGE_LABELS * (2 * RTL_PAGE_VALUE + 24)];
};

void rtl_page_begin(struct rtl_page *page, enum rtl_format format, unsigned parts);
/* Write the last line. False if the page has failed. */
bool rtl_page_end(struct rtl_page *page);
void rtl_page_free(struct rtl_page *page);

/* Begin a metric: write its name, meaning, type and unit. */
void rtl_page_metric(struct rtl_page *page, enum rtl_metric metric);
/* Set the labels of the next samples: one value for each label of the metric; "" omits the label. */
void rtl_page_labels(struct rtl_page *page, const char *const *values);
/* Add a sample of each type; an info has the count 1. */
void rtl_page_count(struct rtl_page *page, uint64_t value);
void rtl_page_seconds(struct rtl_page *page, uint64_t ns);
void rtl_page_histogram(struct rtl_page *page, const struct rtl_prom_buckets *buckets);
void rtl_page_summary(struct rtl_page *page, uint64_t values, uint64_t sum_ns);

#endif
