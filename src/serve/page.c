/* A page of metrics as text. See page.h. */
#include "serve/page.h"
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
} types[] = {
#define TYPE(sym, openmetrics_, text_) [RTL_METRIC_TYPE_##sym] = {openmetrics_, text_},
    RTL_METRIC_TYPES(TYPE)
#undef TYPE
};

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

static void put(struct rtl_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct rtl_page *page, const char *format, ...)
{
    enum { LINE = 8192 }; /* labels are the longest that comes */
    va_list args;
    if (!has_room(page, LINE))
        return;
    va_start(args, format);
    int n = vsnprintf(page->text + page->used, LINE, format, args);
    va_end(args);
    page->failed |= n < 0 || n >= LINE;
    page->used += page->failed ? 0 : (size_t)n;
}

void rtl_page_begin(struct rtl_page *page, bool openmetrics, unsigned parts)
{
    *page = (struct rtl_page){.openmetrics = openmetrics, .parts = parts};
}

bool rtl_page_end(struct rtl_page *page)
{
    if (page->openmetrics)
        put(page, "# EOF\n");
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
    return type == RTL_METRIC_TYPE_COUNTER ? "_total" : type == RTL_METRIC_TYPE_INFO ? "_info" : "";
}

static bool ends(const char *name, const char *with)
{
    size_t length = strlen(name), end = strlen(with);
    return length > end && !strcmp(name + length - end, with);
}

void rtl_page_metric(struct rtl_page *page, enum rtl_metric metric)
{
    const struct rtl_metric_info *m = &rtl_metrics[metric];
    /* OpenMetrics names the metric, the older format its samples */
    const char *end = page->openmetrics ? "" : suffix(m->type);
    page->metric = metric;
    *page->labels = '\0';
    put(page, "# HELP %s%s %s\n", m->name, end, m->meaning);
    put(page, "# TYPE %s%s %s\n", m->name, end, page->openmetrics ? types[m->type].openmetrics : types[m->type].text);
    if (page->openmetrics && (ends(m->name, "_seconds") || ends(m->name, "_bytes")))
        put(page, "# UNIT %s %s\n", m->name, strrchr(m->name, '_') + 1);
}

/* As much of the value as RTL_PAGE_VALUE bytes hold, no character cut in two; what is no UTF-8 is a question mark. */
static size_t escape(char *out, const char *value)
{
    size_t used = 0, left = strlen(value), taken = 0;
    while (left) {
        uint32_t code;
        size_t n = rtl_utf8_decode(value, left, &code);
        size_t bytes = n ? n : 1;
        if (taken + bytes > RTL_PAGE_VALUE)
            break;
        if (*value == '\\' || *value == '"' || *value == '\n') {
            out[used++] = '\\';
            out[used++] = *value == '\n' ? 'n' : *value;
        } else if (!n) {
            out[used++] = '?';
        } else {
            memcpy(out + used, value, n);
            used += n;
        }
        taken += bytes;
        value += bytes;
        left -= bytes;
    }
    return used;
}

void rtl_page_labels(struct rtl_page *page, const char *const *values)
{
    const char *at = rtl_metrics[page->metric].labels;
    size_t used = 0;
    for (int i = 0; *at && i < RTL_PAGE_LABELS; i++) {
        size_t length = strcspn(at, ",");
        /* a label without a value is none */
        if (*values[i]) {
            used += (size_t)sprintf(page->labels + used, "%s%.*s=\"", used ? "," : "", (int)length, at);
            used += escape(page->labels + used, values[i]);
            page->labels[used++] = '"';
        }
        at += length + (at[length] == ',');
    }
    page->labels[used] = '\0';
}

/* NAME{LABELS,MORE} and a blank. */
static void name_sample(struct rtl_page *page, const char *end, const char *more)
{
    bool labels = *page->labels, braces = labels || *more;
    put(page, "%s%s%s%s%s%s%s ", rtl_metrics[page->metric].name, end, braces ? "{" : "", page->labels,
        labels && *more ? "," : "", more, braces ? "}" : "");
}

/* Seconds without rounding: 1.5, 0.000000511 */
static void format_seconds(char out[32], uint64_t ns)
{
    int n = snprintf(out, 32, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
    while (out[n - 1] == '0' && out[n - 2] != '.')
        out[--n] = '\0';
}

static void put_seconds(struct rtl_page *page, uint64_t ns)
{
    char text[32];
    format_seconds(text, ns);
    put(page, "%s\n", text);
}

void rtl_page_count(struct rtl_page *page, uint64_t value)
{
    name_sample(page, suffix(rtl_metrics[page->metric].type), "");
    put(page, "%" PRIu64 "\n", value);
}

void rtl_page_seconds(struct rtl_page *page, uint64_t ns)
{
    name_sample(page, suffix(rtl_metrics[page->metric].type), "");
    put_seconds(page, ns);
}

void rtl_page_info(struct rtl_page *page)
{
    rtl_page_count(page, 1);
}

void rtl_page_summary(struct rtl_page *page, uint64_t values, uint64_t sum_ns)
{
    name_sample(page, "_sum", "");
    put_seconds(page, sum_ns);
    name_sample(page, "_count", "");
    put(page, "%" PRIu64 "\n", values);
}

void rtl_page_histogram(struct rtl_page *page, const struct rtl_classes *classes)
{
    uint64_t below = 0;
    for (uint32_t i = 0; i < RTL_CLASS_LAST; i++) {
        char edge[32], more[48];
        below += classes->count[i];
        if (i % (RTL_CLASS_PARTS / page->parts))
            continue;
        format_seconds(edge, rtl_class_most(i));
        snprintf(more, sizeof more, "le=\"%s\"", edge);
        name_sample(page, "_bucket", more);
        put(page, "%" PRIu64 "\n", below);
    }
    name_sample(page, "_bucket", "le=\"+Inf\"");
    put(page, "%" PRIu64 "\n", classes->values);
    rtl_page_summary(page, classes->values, classes->sum_ns);
}
