/*
 * A page of metrics: OpenMetrics 1.0, the text format of Prometheus (0.0.4), or delimited messages of Protocol Buffers,
 * of which the histograms are native ones, with the classic buckets beside them for who wants those. Pure.
 *
 * A metric is begun once, then come its samples; label values are text from other processes: escaped and cut here. A
 * page is bounded: what has no room leaves it failed, never cut.
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
    RTL_PAGE_VALUE = 200, /* bytes of a label's value, before it is escaped */
    RTL_PAGE_LABELS = 6,
};

struct rtl_page {
    char *text;
    size_t used, room;
    enum rtl_format format;
    bool failed;
    unsigned parts; /* classes of a histogram in each factor of two: 1, 2 or 4 */
    enum rtl_metric metric;
    size_t family, labels_used; /* of Protocol Buffers: where the metric begins, which has no length so far */
    bool in_family;
    char labels[RTL_PAGE_LABELS * (2 * RTL_PAGE_VALUE + 24)];
};

void rtl_page_begin(struct rtl_page *page, enum rtl_format format, unsigned parts);
/* The last line. False when the page has failed. */
bool rtl_page_end(struct rtl_page *page);
void rtl_page_free(struct rtl_page *page);

/* Name, meaning, type and unit of what comes now. */
void rtl_page_metric(struct rtl_page *page, enum rtl_metric metric);
/* The labels of the samples that come now: as many values as the metric has labels, "" for those that have none. */
void rtl_page_labels(struct rtl_page *page, const char *const *values);
/* A sample of each type, with the labels as they are. */
void rtl_page_count(struct rtl_page *page, uint64_t value);
void rtl_page_seconds(struct rtl_page *page, uint64_t ns);
void rtl_page_info(struct rtl_page *page);
void rtl_page_histogram(struct rtl_page *page, const struct rtl_prom_buckets *classes);
void rtl_page_summary(struct rtl_page *page, uint64_t values, uint64_t sum_ns);

#endif
