/*
 * What rtl-top api shows: functions first, then ranges and marks, the longest total first; then memory in use.
 */
#include "command/hip_api_output.h"
#include "model/model_range.h"
#include "stats/histogram.h"
#include "text/names.h"
#include "text/quote.h"
#include "text/text.h"
#include "text/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* hipError_t, those that programs meet: X(code, name) */
#define CODES(X)                                  \
    X(1, "hipErrorInvalidValue")                  \
    X(2, "hipErrorOutOfMemory")                   \
    X(3, "hipErrorNotInitialized")                \
    X(4, "hipErrorDeinitialized")                 \
    X(9, "hipErrorInvalidConfiguration")          \
    X(17, "hipErrorInvalidDevicePointer")         \
    X(21, "hipErrorInvalidMemcpyDirection")       \
    X(98, "hipErrorInvalidDeviceFunction")        \
    X(100, "hipErrorNoDevice")                    \
    X(101, "hipErrorInvalidDevice")               \
    X(200, "hipErrorInvalidImage")                \
    X(201, "hipErrorInvalidContext")              \
    X(209, "hipErrorNoBinaryForGpu")              \
    X(400, "hipErrorInvalidHandle")               \
    X(500, "hipErrorNotFound")                    \
    X(600, "hipErrorNotReady")                    \
    X(700, "hipErrorIllegalAddress")              \
    X(701, "hipErrorLaunchOutOfResources")        \
    X(702, "hipErrorLaunchTimeOut")               \
    X(704, "hipErrorPeerAccessAlreadyEnabled")    \
    X(712, "hipErrorHostMemoryAlreadyRegistered") \
    X(713, "hipErrorHostMemoryNotRegistered")     \
    X(719, "hipErrorLaunchFailure")               \
    X(720, "hipErrorCooperativeLaunchTooLarge")   \
    X(801, "hipErrorNotSupported")                \
    X(900, "hipErrorStreamCaptureUnsupported")    \
    X(901, "hipErrorStreamCaptureInvalidated")    \
    X(906, "hipErrorStreamCaptureImplicit")       \
    X(999, "hipErrorUnknown")

static const char *code_name(uint32_t code)
{
    switch (code) {
#define NAME(number, name) \
    case number:           \
        return name;
        CODES(NAME)
#undef NAME
    default:
        return NULL;
    }
}

static const char *kind_name(unsigned kind)
{
    switch (kind) {
#define NAME(sym, number, name, text) \
    case number:                      \
        return name;
        RTL_HIP_API_KINDS(NAME)
#undef NAME
    default:
        return "unknown";
    }
}

static bool is_range(const struct rtl_hip_api_row_copy *row)
{
    return row->kind == RTL_HIP_API_RANGE || row->kind == RTL_HIP_API_MARK;
}

/* The nearest rank: the smallest value that as large a share of the calls doesn't exceed. */
static uint64_t quantile(const struct rtl_hip_api_row_copy *row, double share)
{
    uint64_t seen = 0, rank = (uint64_t)(share * (double)row->calls);
    rank = (double)rank < share * (double)row->calls || rank == 0 ? rank + 1 : rank;
    for (uint32_t i = 0; row->buckets && i < RTL_HIP_API_BUCKETS; i++) {
        seen += row->buckets->count[i];
        if (seen >= rank) {
            uint64_t middle = rtl_bucket_middle(i);
            return middle < row->most_ns ? middle : row->most_ns;
        }
    }
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct rtl_hip_api_row_copy *a = left, *b = right;
    if (is_range(a) != is_range(b))
        return is_range(a) - is_range(b);
    if (a->total_ns != b->total_ns)
        return a->total_ns < b->total_ns ? 1 : -1;
    return a->calls != b->calls ? (a->calls < b->calls ? 1 : -1) : memcmp(a->text, b->text, sizeof a->text);
}

static void name_of(const struct rtl_hip_api_row_copy *row, char *out, size_t size)
{
    rtl_text_escape(out, size, row->text, row->text_bytes);
}

static void print_errors(const struct rtl_hip_api_row_copy *row)
{
    for (int i = 0; i < RTL_HIP_API_CODES; i++) {
        if (!row->code[i].count || row->code[i].code == RTL_HIP_API_NOT_READY)
            continue;
        const char *name = code_name(row->code[i].code);
        printf("%22s %" PRIu64 " x %" PRIu32 " %s\n", "", row->code[i].count, row->code[i].code, name ? name : "");
    }
    if (row->codes_more)
        printf("%22s %" PRIu64 " x other codes\n", "", row->codes_more);
}

static void print_row(const struct rtl_hip_api_row_copy *row)
{
    char name[4 * RTL_HIP_API_TEXT + 1];
    bool any = row->calls, range = is_range(row);
    name_of(row, name, sizeof name);
    printf("%8s %9s %8s %8s %8s", rtl_format_count(row->calls).text,
           any ? rtl_format_time(row->total_ns, RTL_UNIT_AUTO).text : RTL_NONE,
           any ? rtl_format_time(quantile(row, 0.5), RTL_UNIT_AUTO).text : RTL_NONE,
           any ? rtl_format_time(quantile(row, 0.99), RTL_UNIT_AUTO).text : RTL_NONE,
           any ? rtl_format_time(row->most_ns, RTL_UNIT_AUTO).text : RTL_NONE);
    if (range)
        printf(" %7s %8s  %s%s\n", "", row->open ? rtl_format_count(row->open).text : "", name,
               row->kind == RTL_HIP_API_MARK ? " (mark)" : "");
    else
        printf(" %7s %8s  %s\n", rtl_format_count(row->errors).text,
               row->bytes ? rtl_format_bytes(row->bytes).text : RTL_NONE, name);
    print_errors(row);
}

static void print_memory(const struct rtl_hip_api_copy *copy)
{
    bool any = false;
    for (uint32_t i = 0; i < RTL_HIP_API_PLACES; i++)
        any |= copy->memory[i].peak != 0;
    if (!any)
        return;
    puts("\nMEMORY     IN USE     PEAK  ALLOCATIONS");
    for (uint32_t i = 0; i < RTL_HIP_API_PLACES; i++) {
        const struct rtl_hip_api_memory *m = &copy->memory[i];
        char place[24];
        if (!m->peak)
            continue;
        snprintf(place, sizeof place, i == RTL_HIP_API_GPUS ? "host" : "GPU %u", i);
        printf("%-8s %8s %8s %12" PRIu64 "\n", place, rtl_format_bytes(m->in_use).text, rtl_format_bytes(m->peak).text,
               m->allocations);
    }
    for (uint32_t i = 0; i < copy->count; i++) {
        char name[4 * RTL_HIP_API_TEXT + 1];
        if (!copy->rows[i].in_use)
            continue;
        name_of(&copy->rows[i], name, sizeof name);
        printf("%17s by %s\n", rtl_format_bytes(copy->rows[i].in_use).text, name);
    }
}

/* --- kernels by range --- */

struct list {
    struct rtl_names *names;
    struct rtl_range_kernel *kernels;
    uint32_t count;
};

static struct list list_of(const struct rtl_snapshot *snapshot)
{
    struct list list = {.names = snapshot ? rtl_names_create() : NULL};
    if (list.names)
        list.count = rtl_range_kernels(snapshot, &list.kernels);
    return list;
}

static void free_list(struct list *list)
{
    free(list->kernels);
    rtl_names_free(list->names);
}

static const char *kernel_name(const struct list *list, uint32_t i)
{
    const struct rtl_kernel_snapshot *k = list->kernels[i].kernel;
    return rtl_names_form(list->names, k->id, k->name, k->name_length, RTL_NAME_FULL);
}

static void quantiles_of(const struct rtl_histogram_copy *h, uint64_t out[2])
{
    static const double q[] = {0.5, 0.99};
    out[0] = out[1] = 0;
    rtl_quantiles(NULL, h, q, 2, out);
}

static void print_ranges(const struct list *list, const struct rtl_hip_api_snapshot *calls)
{
    if (list->count)
        puts("\n   TIMED  GPU TIME      P50      P99      MAX  KERNEL IN RANGE");
    for (uint32_t i = 0; i < list->count; i++) {
        const struct rtl_histogram_copy *h = &list->kernels[i].pair->histogram;
        char range[2048];
        uint64_t q[2];
        quantiles_of(h, q);
        if (!i || list->kernels[i].pair->node != list->kernels[i - 1].pair->node) {
            rtl_range_node_text(calls, list->kernels[i].pair->node, range, sizeof range);
            printf("%46s %s\n", "", range);
        }
        printf("%8s %9s %8s %8s %8s    %s\n", rtl_format_count(h->count).text,
               rtl_format_time(h->total_ns, RTL_UNIT_AUTO).text, rtl_format_time(q[0], RTL_UNIT_AUTO).text,
               rtl_format_time(q[1], RTL_UNIT_AUTO).text, rtl_format_time(h->max_ns, RTL_UNIT_AUTO).text,
               kernel_name(list, i));
    }
}

static void print_table(const struct rtl_hip_api_copy *copy, const struct list *list,
                        const struct rtl_hip_api_snapshot *calls)
{
    bool ranges = false;
    puts("   CALLS     TOTAL      P50      P99      MAX  ERRORS    BYTES  FUNCTION");
    for (uint32_t i = 0; i < copy->count; i++) {
        if (is_range(&copy->rows[i]) && !ranges)
            puts("\n   COUNT     TOTAL      P50      P99      MAX             OPEN  RANGE");
        ranges |= is_range(&copy->rows[i]);
        print_row(&copy->rows[i]);
    }
    print_ranges(list, calls);
    print_memory(copy);
    const struct rtl_hip_api_header *h = &copy->header;
    if (h->pairs_over)
        printf("\nkernels missing in the lists of their ranges %" PRIu64 "\n", h->pairs_over);
    if (h->ranges_other || h->ranges_deep || h->ranges_unfinished || h->pops_unbalanced || h->allocations_lost)
        printf("\nranges without a row of their own %" PRIu64 ", nested too deep %" PRIu64
               ", unfinished at a thread's end %" PRIu64 ", ends without a beginning %" PRIu64
               "; allocations not followed %" PRIu64 "\n",
               h->ranges_other, h->ranges_deep, h->ranges_unfinished, h->pops_unbalanced, h->allocations_lost);
}

static void put(void *out, const char *bytes, size_t count)
{
    fwrite(bytes, 1, count, out);
}

static void csv_ranges(const struct list *list, const struct rtl_hip_api_snapshot *calls, pid_t pid)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct rtl_histogram_copy *h = &list->kernels[i].pair->histogram;
        char range[2048];
        uint64_t q[2];
        quantiles_of(h, q);
        rtl_range_node_text(calls, list->kernels[i].pair->node, range, sizeof range);
        printf("%d,", (int)pid);
        rtl_quote_csv(put, stdout, kernel_name(list, i));
        printf(",kernel,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",,,,,", h->count, h->total_ns, q[0],
               q[1], h->max_ns);
        rtl_quote_csv(put, stdout, range);
        putchar('\n');
    }
}

static void print_csv(const struct rtl_hip_api_copy *copy, pid_t pid, const struct list *list,
                      const struct rtl_hip_api_snapshot *calls, bool head)
{
    if (head)
        puts("pid,name,kind,calls,total_ns,p50_ns,p99_ns,max_ns,errors,bytes,in_use_bytes,open,range");
    for (uint32_t i = 0; i < copy->count; i++) {
        const struct rtl_hip_api_row_copy *row = &copy->rows[i];
        char name[RTL_HIP_API_TEXT + 1];
        memcpy(name, row->text, row->text_bytes);
        name[row->text_bytes] = '\0';
        printf("%d,", (int)pid);
        rtl_quote_csv(put, stdout, name);
        printf(",%s,%" PRIu64 ",", kind_name(row->kind), row->calls);
        if (row->calls)
            printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->total_ns, quantile(row, 0.5),
                   quantile(row, 0.99), row->most_ns);
        else
            printf(",,,");
        printf(",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",\n", row->errors, row->bytes, row->in_use, row->open);
    }
    csv_ranges(list, calls, pid);
}

static void json_text(const char *text)
{
    rtl_quote_json(put, stdout, text);
}

static void json_row(const struct rtl_hip_api_row_copy *row)
{
    char name[RTL_HIP_API_TEXT + 1];
    bool first = true;
    memcpy(name, row->text, row->text_bytes);
    name[row->text_bytes] = '\0';
    fputs("{\"name\":", stdout);
    json_text(name);
    printf(",\"kind\":\"%s\",\"calls\":%" PRIu64, kind_name(row->kind), row->calls);
    if (row->calls)
        printf(",\"total_ns\":%" PRIu64 ",\"p50_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64 ",\"max_ns\":%" PRIu64,
               row->total_ns, quantile(row, 0.5), quantile(row, 0.99), row->most_ns);
    if (is_range(row)) {
        printf(",\"open\":%" PRIu64 "}", row->open);
        return;
    }
    printf(",\"errors\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"in_use_bytes\":%" PRIu64 ",\"codes\":[", row->errors,
           row->bytes, row->in_use);
    for (int i = 0; i < RTL_HIP_API_CODES; i++) {
        const char *code = code_name(row->code[i].code);
        if (!row->code[i].count)
            continue;
        printf("%s{\"code\":%" PRIu32 ",\"count\":%" PRIu64, first ? "" : ",", row->code[i].code, row->code[i].count);
        if (code)
            printf(",\"name\":\"%s\"", code);
        putchar('}');
        first = false;
    }
    printf("],\"other_codes\":%" PRIu64 "}", row->codes_more);
}

static void json_rows(const struct rtl_hip_api_copy *copy, bool ranges)
{
    bool first = true;
    for (uint32_t i = 0; i < copy->count; i++) {
        if (is_range(&copy->rows[i]) != ranges)
            continue;
        fputs(first ? "\n" : ",\n", stdout);
        json_row(&copy->rows[i]);
        first = false;
    }
}

static void json_ranges(const struct list *list, const struct rtl_hip_api_snapshot *calls)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct rtl_histogram_copy *h = &list->kernels[i].pair->histogram;
        uint32_t path[RTL_RANGE_PATH_MAX], depth = 0;
        uint64_t q[2];
        quantiles_of(h, q);
        fputs(i ? ",\n{\"range\":[" : "\n{\"range\":[", stdout);
        for (uint32_t n = list->kernels[i].pair->node; n && depth < RTL_RANGE_PATH_MAX; n = calls->nodes[n].parent)
            path[depth++] = n;
        for (uint32_t d = depth; d--;) {
            char name[4 * RTL_HIP_API_TEXT + 1];
            rtl_text_escape(name, sizeof name, calls->nodes[path[d]].name, calls->nodes[path[d]].name_bytes);
            json_text(name);
            fputs(d ? "," : "", stdout);
        }
        fputs("],\"kernel\":", stdout);
        json_text(kernel_name(list, i));
        printf(",\"timed\":%" PRIu64 ",\"total_ns\":%" PRIu64 ",\"p50_ns\":%" PRIu64 ",\"p99_ns\":%" PRIu64
               ",\"max_ns\":%" PRIu64 "}",
               h->count, h->total_ns, q[0], q[1], h->max_ns);
    }
}

static void print_json(const struct rtl_hip_api_copy *copy, pid_t pid, const struct list *list,
                       const struct rtl_hip_api_snapshot *calls)
{
    const struct rtl_hip_api_header *h = &copy->header;
    bool first = true;
    printf("{\"pid\":%d,\"start_time_ns\":%" PRIu64 ",\n\"api\":[", (int)pid, h->start_real_ns);
    json_rows(copy, false);
    fputs("],\n\"ranges\":[", stdout);
    json_rows(copy, true);
    fputs("],\n\"range_kernels\":[", stdout);
    json_ranges(list, calls);
    fputs("],\n\"memory\":[", stdout);
    for (uint32_t i = 0; i < RTL_HIP_API_PLACES; i++) {
        const struct rtl_hip_api_memory *m = &copy->memory[i];
        if (!m->peak)
            continue;
        printf("%s{\"place\":\"%s\"", first ? "" : ",", i == RTL_HIP_API_GPUS ? "host" : "gpu");
        if (i < RTL_HIP_API_GPUS)
            printf(",\"gpu\":%u", i);
        printf(",\"in_use_bytes\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 ",\"allocations\":%" PRIu64 "}", m->in_use,
               m->peak, m->allocations);
        first = false;
    }
    printf("],\n\"ranges_other\":%" PRIu64 ",\"ranges_deep\":%" PRIu64 ",\"ranges_unfinished\":%" PRIu64
           ",\"ends_unbalanced\":%" PRIu64 ",\"allocations_lost\":%" PRIu64 ",\"shared_threads\":%" PRIu64
           ",\"pairs_over\":%" PRIu64 "}\n",
           h->ranges_other, h->ranges_deep, h->ranges_unfinished, h->pops_unbalanced, h->allocations_lost,
           h->shared_threads, h->pairs_over);
}

void rtl_hip_api_print(struct rtl_hip_api_copy *copy, pid_t pid, const struct rtl_snapshot *kernels,
                       enum rtl_hip_api_form form)
{
    struct list list = list_of(kernels);
    const struct rtl_hip_api_snapshot *calls = kernels ? kernels->calls : NULL;
    if (copy->count)
        qsort(copy->rows, copy->count, sizeof *copy->rows, compare);
    if (form == RTL_HIP_API_JSON)
        print_json(copy, pid, &list, calls);
    else if (form == RTL_HIP_API_CSV || form == RTL_HIP_API_CSV_MORE)
        print_csv(copy, pid, &list, calls, form == RTL_HIP_API_CSV);
    else
        print_table(copy, &list, calls);
    free_list(&list);
}
