/* A page of metrics. See page.h. */
#include "serve/page.h"
#include "serve/proto.h"
#include "text/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct rtl_metric_info rtl_metrics[RTL_METRIC_COUNT] = {
#define METRIC(sym, name_, type_, labels_, meaning_) \
    [RTL_METRIC_##sym] = {.name = name_, .labels = labels_, .meaning = meaning_, .type = RTL_METRIC_TYPE_##type_},
    RTL_METRICS(METRIC)
#undef METRIC
};

static const struct {
    const char *openmetrics, *text;
    unsigned number, field;
} types[] = {
#define TYPE(sym, openmetrics_, text_, number_, field_) \
    [RTL_METRIC_TYPE_##sym] = {openmetrics_, text_, number_, field_},
    RTL_METRIC_TYPES(TYPE)
#undef TYPE
};

/* Numbers of the fields of io.prometheus.client's messages. */
enum { FAMILY_NAME = 1, FAMILY_HELP, FAMILY_TYPE, FAMILY_METRIC };
enum { METRIC_LABEL = 1 }; /* the value's field: RTL_METRIC_TYPES */
enum { LABEL_NAME = 1, LABEL_VALUE };
enum { VALUE = 1 }; /* of a counter, of a gauge */
enum { SUMMARY_COUNT = 1, SUMMARY_SUM };
enum {
    HISTOGRAM_COUNT = 1,
    HISTOGRAM_SUM,
    HISTOGRAM_BUCKET,
    HISTOGRAM_SCHEMA = 5,
    HISTOGRAM_ZERO_THRESHOLD,
    HISTOGRAM_ZERO_COUNT,
    HISTOGRAM_SPAN = 12,
    HISTOGRAM_DELTA,
};
enum { BUCKET_COUNT = 1, BUCKET_MOST };
enum { SPAN_OFFSET = 1, SPAN_LENGTH };

static bool has_room(struct rtl_page *page, size_t bytes)
{
    if (page->failed || bytes < page->room - page->used)
        return !page->failed;
    size_t room = page->room ? page->room : 1 << 16;
    while (room <= page->used + bytes && room < RTL_PAGE_MAX)
        room *= 2;
    char *text = room > page->used + bytes ? realloc(page->text, room) : NULL;
    page->failed = !text;
    if (text) {
        page->text = text;
        page->room = room;
    }
    return text != NULL;
}

static void print_page(struct rtl_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_page(struct rtl_page *page, const char *format, ...)
{
    enum { LINE = 8192 }; /* longer than all labels */
    va_list args;
    if (!has_room(page, LINE))
        return;
    va_start(args, format);
    int n = vsnprintf(page->text + page->used, LINE, format, args);
    va_end(args);
    page->failed |= n < 0 || n >= LINE;
    page->used += page->failed ? 0 : (size_t)n;
}

void rtl_page_begin(struct rtl_page *page, enum rtl_format format, unsigned parts)
{
    *page = (struct rtl_page){.format = format, .parts = parts};
}

/* Insert the length in front of the family. */
static void end_family(struct rtl_page *page)
{
    char head[RTL_PROTO_VARINT];
    size_t length = page->used - page->family, n = rtl_proto_varint(head, length);
    if (!page->in_family || !has_room(page, n))
        return;
    memmove(page->text + page->family + n, page->text + page->family, length);
    memcpy(page->text + page->family, head, n);
    page->used += n;
    page->in_family = false;
}

bool rtl_page_end(struct rtl_page *page)
{
    end_family(page);
    if (page->format == RTL_FORMAT_OPENMETRICS)
        print_page(page, "# EOF\n");
    return !page->failed;
}

void rtl_page_free(struct rtl_page *page)
{
    free(page->text);
    page->text = NULL;
    page->used = page->room = 0;
}

static const char *suffix(enum rtl_metric_type type)
{
    if (type == RTL_METRIC_TYPE_COUNTER)
        return "_total";
    return type == RTL_METRIC_TYPE_INFO ? "_info" : "";
}

static bool ends(const char *name, const char *with)
{
    size_t length = strlen(name), end = strlen(with);
    return length > end && !strcmp(name + length - end, with);
}

static void begin_family(struct rtl_page *page, const struct rtl_metric_info *m)
{
    char name[96];
    size_t meaning = strlen(m->meaning);
    end_family(page);
    if (!has_room(page, sizeof name + meaning + 3 * RTL_PROTO_FIELD))
        return;
    page->family = page->used;
    page->in_family = true;
    int length = snprintf(name, sizeof name, "%s%s", m->name, suffix(m->type));
    page->used += rtl_proto_bytes(page->text + page->used, FAMILY_NAME, name, (size_t)length);
    page->used += rtl_proto_bytes(page->text + page->used, FAMILY_HELP, m->meaning, meaning);
    page->used += rtl_proto_number(page->text + page->used, FAMILY_TYPE, types[m->type].number);
}

void rtl_page_metric(struct rtl_page *page, enum rtl_metric metric)
{
    const struct rtl_metric_info *m = &rtl_metrics[metric];
    bool openmetrics = page->format == RTL_FORMAT_OPENMETRICS;
    /* HELP and TYPE name the metric in OpenMetrics, its samples in the older format */
    const char *end = openmetrics ? "" : suffix(m->type);
    page->metric = metric;
    page->labels_used = 0;
    *page->labels = '\0';
    if (page->format == RTL_FORMAT_PROTOBUF) {
        begin_family(page, m);
        return;
    }
    print_page(page, "# HELP %s%s %s\n", m->name, end, m->meaning);
    print_page(page, "# TYPE %s%s %s\n", m->name, end, openmetrics ? types[m->type].openmetrics : types[m->type].text);
    if (openmetrics && (ends(m->name, "_seconds") || ends(m->name, "_bytes")))
        print_page(page, "# UNIT %s %s\n", m->name, strrchr(m->name, '_') + 1);
}

/* Copy up to RTL_PAGE_VALUE bytes without splitting a character; invalid UTF-8 becomes '?'. `text`: escape quotes,
 * backslashes and newlines. */
static size_t copy_value(char *out, const char *value, bool text)
{
    size_t used = 0, left = strlen(value), copied = 0;
    while (left) {
        uint32_t code;
        size_t n = rtl_utf8_decode(value, left, &code);
        size_t bytes = n ? n : 1;
        if (copied + bytes > RTL_PAGE_VALUE)
            break;
        if (text && (*value == '\\' || *value == '"' || *value == '\n')) {
            out[used++] = '\\';
            out[used++] = *value == '\n' ? 'n' : *value;
        } else if (!n) {
            out[used++] = '?';
        } else {
            memcpy(out + used, value, n);
            used += n;
        }
        copied += bytes;
        value += bytes;
        left -= bytes;
    }
    return used;
}

static size_t write_text_label(char *out, bool first, const char *name, size_t length, const char *value)
{
    size_t used = (size_t)sprintf(out, "%s%.*s=\"", first ? "" : ",", (int)length, name);
    used += copy_value(out + used, value, true);
    out[used++] = '"';
    return used;
}

static size_t write_label_pair(char *out, const char *name, size_t length, const char *value)
{
    char text[RTL_PAGE_VALUE];
    size_t used = rtl_proto_bytes(out, LABEL_NAME, name, length);
    used += rtl_proto_bytes(out + used, LABEL_VALUE, text, copy_value(text, value, false));
    return rtl_proto_wrap(out, METRIC_LABEL, used);
}

void rtl_page_labels(struct rtl_page *page, const char *const *values)
{
    const char *at = rtl_metrics[page->metric].labels;
    size_t used = 0;
    for (int i = 0; *at && i < RTL_PAGE_LABELS; i++) {
        size_t length = strcspn(at, ",");
        if (*values[i] && page->format == RTL_FORMAT_PROTOBUF)
            used += write_label_pair(page->labels + used, at, length, values[i]);
        else if (*values[i])
            used += write_text_label(page->labels + used, !used, at, length, values[i]);
        at += length + (at[length] == ',');
    }
    page->labels[used] = '\0';
    page->labels_used = used;
}

/* --- samples as text --- */

/* Write NAME{LABELS,MORE} and a blank. */
static void write_name(struct rtl_page *page, const char *end, const char *more)
{
    bool labels = *page->labels, braces = labels || *more;
    print_page(page, "%s%s%s%s%s%s%s ", rtl_metrics[page->metric].name, end, braces ? "{" : "", page->labels,
               labels && *more ? "," : "", more, braces ? "}" : "");
}

/* Exact seconds: 1.5, 0.000000511 */
static void format_seconds(char out[32], uint64_t ns)
{
    int n = snprintf(out, 32, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
    while (out[n - 1] == '0' && out[n - 2] != '.')
        out[--n] = '\0';
}

static void write_summary(struct rtl_page *page, uint64_t values, uint64_t sum_ns)
{
    char text[32];
    format_seconds(text, sum_ns);
    write_name(page, "_sum", "");
    print_page(page, "%s\n", text);
    write_name(page, "_count", "");
    print_page(page, "%" PRIu64 "\n", values);
}

static void write_buckets(struct rtl_page *page, const struct rtl_prom_buckets *buckets)
{
    uint64_t below = 0;
    for (uint32_t i = 0; i < RTL_PROM_BUCKET_LAST; i++) {
        char edge[32], more[48];
        below += buckets->count[i];
        if (i % (RTL_PROM_BUCKET_PARTS / page->parts))
            continue;
        format_seconds(edge, rtl_prom_bucket_upper_ns(i));
        snprintf(more, sizeof more, "le=\"%s\"", edge);
        write_name(page, "_bucket", more);
        print_page(page, "%" PRIu64 "\n", below);
    }
    write_name(page, "_bucket", "le=\"+Inf\"");
    print_page(page, "%" PRIu64 "\n", buckets->values);
}

/* --- samples as messages --- */

enum {
    METRIC_MOST = 2 * (RTL_PAGE_LABELS * (2 * RTL_PAGE_VALUE + 24)) + RTL_PROM_BUCKET_COUNT * 3 * RTL_PROTO_FIELD +
                  RTL_PROM_NATIVE_SPANS * 3 * RTL_PROTO_FIELD + RTL_PROM_NATIVE_COUNT * RTL_PROTO_VARINT + 1024,
};

/* Write the labels; return the position of the value behind them, or NULL without room. */
static char *begin_metric(struct rtl_page *page)
{
    if (!has_room(page, METRIC_MOST))
        return NULL;
    memcpy(page->text + page->used, page->labels, page->labels_used);
    return page->text + page->used + page->labels_used;
}

static void end_metric(struct rtl_page *page, char *at, size_t used)
{
    used = rtl_proto_wrap(at, types[rtl_metrics[page->metric].type].field, used);
    page->used += rtl_proto_wrap(page->text + page->used, FAMILY_METRIC, page->labels_used + used);
}

static void encode_value(struct rtl_page *page, double value)
{
    char *at = begin_metric(page);
    if (at)
        end_metric(page, at, rtl_proto_double(at, VALUE, value));
}

static double seconds_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

static void encode_summary(struct rtl_page *page, uint64_t values, uint64_t sum_ns)
{
    char *at = begin_metric(page);
    if (!at)
        return;
    size_t n = rtl_proto_number(at, SUMMARY_COUNT, values);
    end_metric(page, at, n + rtl_proto_double(at + n, SUMMARY_SUM, seconds_of(sum_ns)));
}

static size_t encode_buckets(const struct rtl_page *page, const struct rtl_prom_buckets *buckets, char *at)
{
    size_t used = 0;
    uint64_t below = 0;
    for (uint32_t i = 0; i < RTL_PROM_BUCKET_LAST; i++) {
        below += buckets->count[i];
        if (i % (RTL_PROM_BUCKET_PARTS / page->parts))
            continue;
        size_t n = rtl_proto_number(at + used, BUCKET_COUNT, below);
        n += rtl_proto_double(at + used + n, BUCKET_MOST, seconds_of(rtl_prom_bucket_upper_ns(i)));
        used += rtl_proto_wrap(at + used, HISTOGRAM_BUCKET, n);
    }
    return used;
}

/* Each bucket is encoded as the difference to the previous one. */
static size_t encode_native(const struct rtl_prom_buckets *buckets, char *at)
{
    struct rtl_prom_native_span spans[RTL_PROM_NATIVE_SPANS];
    uint32_t from[RTL_PROM_NATIVE_SPANS], count = rtl_prom_native_spans(buckets->native, spans, from);
    size_t used = rtl_proto_signed(at, HISTOGRAM_SCHEMA, RTL_PROM_NATIVE_SCHEMA), deltas = 0;
    uint64_t before = 0;
    used += rtl_proto_double(at + used, HISTOGRAM_ZERO_THRESHOLD, RTL_PROM_NATIVE_ZERO);
    used += rtl_proto_number(at + used, HISTOGRAM_ZERO_COUNT, buckets->zero);
    for (uint32_t i = 0; i < count; i++) {
        size_t n = rtl_proto_signed(at + used, SPAN_OFFSET, spans[i].offset);
        n += rtl_proto_number(at + used + n, SPAN_LENGTH, spans[i].length);
        used += rtl_proto_wrap(at + used, HISTOGRAM_SPAN, n);
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t n = from[i]; n < from[i] + spans[i].length; n++) {
            int64_t delta = (int64_t)(buckets->native[n] - before);
            deltas += rtl_proto_varint(at + used + deltas, rtl_proto_zigzag(delta));
            before = buckets->native[n];
        }
    return used + (deltas ? rtl_proto_wrap(at + used, HISTOGRAM_DELTA, deltas) : 0);
}

static void encode_histogram(struct rtl_page *page, const struct rtl_prom_buckets *buckets)
{
    char *at = begin_metric(page);
    if (!at)
        return;
    size_t n = rtl_proto_number(at, HISTOGRAM_COUNT, buckets->values);
    n += rtl_proto_double(at + n, HISTOGRAM_SUM, seconds_of(buckets->sum_ns));
    n += encode_buckets(page, buckets, at + n);
    end_metric(page, at, n + encode_native(buckets, at + n));
}

/* --- samples --- */

static void add_value(struct rtl_page *page, double value, const char *text)
{
    if (page->format == RTL_FORMAT_PROTOBUF) {
        encode_value(page, value);
        return;
    }
    write_name(page, suffix(rtl_metrics[page->metric].type), "");
    print_page(page, "%s\n", text);
}

void rtl_page_count(struct rtl_page *page, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    add_value(page, (double)value, text);
}

void rtl_page_seconds(struct rtl_page *page, uint64_t ns)
{
    char text[32];
    format_seconds(text, ns);
    add_value(page, seconds_of(ns), text);
}

void rtl_page_summary(struct rtl_page *page, uint64_t values, uint64_t sum_ns)
{
    if (page->format == RTL_FORMAT_PROTOBUF)
        encode_summary(page, values, sum_ns);
    else
        write_summary(page, values, sum_ns);
}

void rtl_page_histogram(struct rtl_page *page, const struct rtl_prom_buckets *buckets)
{
    if (page->format == RTL_FORMAT_PROTOBUF) {
        encode_histogram(page, buckets);
    } else {
        write_buckets(page, buckets);
        write_summary(page, buckets->values, buckets->sum_ns);
    }
}
