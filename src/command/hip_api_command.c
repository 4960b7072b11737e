/* rtl-top api: prints once what HIP calls and roctx ranges cost the host's threads of a process: functions, then ranges
 * and marks, the longest total first; then memory in use. */
#include "command/output.h"
#include "model/model_range.h"
#include "options/arguments.h"
#include "options/complain.h"
#include "shm/hip_api_reader.h"
#include "stats/quantile.h"
#include "text/names.h"
#include "text/quote.h"
#include "text/text.h"
#include "text/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Frequent values of hipError_t; NULL for others. */
static const char *code_name(uint32_t code)
{
    static const char *const names[1000] = {[1] = "hipErrorInvalidValue",
                                            [2] = "hipErrorOutOfMemory",
                                            [3] = "hipErrorNotInitialized",
                                            [4] = "hipErrorDeinitialized",
                                            [9] = "hipErrorInvalidConfiguration",
                                            [17] = "hipErrorInvalidDevicePointer",
                                            [21] = "hipErrorInvalidMemcpyDirection",
                                            [98] = "hipErrorInvalidDeviceFunction",
                                            [100] = "hipErrorNoDevice",
                                            [101] = "hipErrorInvalidDevice",
                                            [200] = "hipErrorInvalidImage",
                                            [201] = "hipErrorInvalidContext",
                                            [209] = "hipErrorNoBinaryForGpu",
                                            [400] = "hipErrorInvalidHandle",
                                            [500] = "hipErrorNotFound",
                                            [600] = "hipErrorNotReady",
                                            [700] = "hipErrorIllegalAddress",
                                            [701] = "hipErrorLaunchOutOfResources",
                                            [702] = "hipErrorLaunchTimeOut",
                                            [704] = "hipErrorPeerAccessAlreadyEnabled",
                                            [712] = "hipErrorHostMemoryAlreadyRegistered",
                                            [713] = "hipErrorHostMemoryNotRegistered",
                                            [719] = "hipErrorLaunchFailure",
                                            [720] = "hipErrorCooperativeLaunchTooLarge",
                                            [801] = "hipErrorNotSupported",
                                            [900] = "hipErrorStreamCaptureUnsupported",
                                            [901] = "hipErrorStreamCaptureInvalidated",
                                            [906] = "hipErrorStreamCaptureImplicit",
                                            [999] = "hipErrorUnknown"};
    return code < 1000 ? names[code] : NULL;
}

/* A process's HIP API in the order of the output. */
struct hip_api_tables {
    const struct rtl_snapshot *snapshot;
    const struct rtl_hip_api_snapshot *api;
    pid_t pid;
    struct rtl_names *names;
    const struct rtl_hip_api_row_snapshot **rows; /* functions, then ranges and marks; the longest total first */
    struct rtl_range_kernel *kernels;
    uint32_t kernel_count;
};

static int compare_printed_rows(const void *left, const void *right)
{
    const struct rtl_hip_api_row_snapshot *const *l = left, *const *r = right, *a = *l, *b = *r;
    if (rtl_hip_api_is_range(a) != rtl_hip_api_is_range(b))
        return rtl_hip_api_is_range(a) - rtl_hip_api_is_range(b);
    if (a->histogram.total_ns != b->histogram.total_ns)
        return a->histogram.total_ns < b->histogram.total_ns ? 1 : -1;
    if (a->histogram.count != b->histogram.count)
        return a->histogram.count < b->histogram.count ? 1 : -1;
    return rtl_hip_api_compare_rows(a, b);
}

static const char *kernel_name(const struct hip_api_tables *t, uint32_t i)
{
    const struct rtl_kernel_snapshot *k = t->kernels[i].kernel;
    return rtl_names_form(t->names, k->id, k->name, k->name_length, RTL_NAME_FULL);
}

#define TIME(ns) rtl_format_time(ns, RTL_UNIT_AUTO).text

/* --- table --- */

static void print_times(const struct rtl_histogram_copy *h)
{
    uint64_t q[2];
    rtl_p50_p99(h, q);
    const uint64_t ns[] = {h->total_ns, q[0], q[1], h->max_ns};
    printf("%8s", rtl_format_count(h->count).text);
    for (int i = 0; i < 4; i++)
        printf(" %*s", i ? 8 : 9, h->count ? TIME(ns[i]) : RTL_NONE);
}

static void print_errors(const struct rtl_hip_api_codes *codes)
{
    for (int i = 0; codes && i < RTL_HIP_API_CODES; i++) {
        if (!codes->code[i].count || codes->code[i].code == RTL_HIP_API_NOT_READY)
            continue;
        const char *name = code_name(codes->code[i].code);
        printf("%22s %" PRIu64 " x %" PRIu32 " %s\n", "", codes->code[i].count, codes->code[i].code, name ? name : "");
    }
    if (codes && codes->more)
        printf("%22s %" PRIu64 " x other codes\n", "", codes->more);
}

static void print_api_row(const struct rtl_hip_api_row_snapshot *row)
{
    char name[4 * RTL_HIP_API_TEXT + 1];
    rtl_text_escape(name, sizeof name, row->name, row->name_bytes);
    print_times(&row->histogram);
    if (rtl_hip_api_is_range(row))
        printf(" %7s %8s  %s%s\n", "", row->open ? rtl_format_count(row->open).text : "", name,
               row->kind == RTL_HIP_API_MARK ? " (mark)" : "");
    else
        printf(" %7s %8s  %s\n", rtl_format_count(row->errors).text,
               row->bytes ? rtl_format_bytes(row->bytes).text : RTL_NONE, name);
    print_errors(row->codes);
}

static void print_memory(const struct hip_api_tables *t)
{
    if (!t->api->memory_count)
        return;
    puts("\nMEMORY      IN USE     PEAK  ALLOCATIONS");
    for (uint32_t i = 0; i < t->api->memory_count; i++) {
        const struct rtl_hip_api_memory_snapshot *m = &t->api->memory[i];
        char place[24];
        snprintf(place, sizeof place, m->place == RTL_HIP_API_GPUS ? "host" : "device %u", m->place);
        printf("%-9s %8s %8s %12" PRIu64 "\n", place, rtl_format_bytes(m->in_use).text, rtl_format_bytes(m->peak).text,
               m->allocations);
    }
    for (uint32_t i = 0; i < t->api->count; i++) {
        char name[4 * RTL_HIP_API_TEXT + 1];
        if (!t->rows[i]->in_use)
            continue;
        rtl_text_escape(name, sizeof name, t->rows[i]->name, t->rows[i]->name_bytes);
        printf("%17s by %s\n", rtl_format_bytes(t->rows[i]->in_use).text, name);
    }
}

static void print_range_kernels(const struct hip_api_tables *t)
{
    if (t->kernel_count)
        puts("\n   TIMED  GPU TIME      P50      P99      MAX  KERNEL IN RANGE");
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        const struct rtl_hip_api_pair_snapshot *pair = t->kernels[i].pair;
        char range[2048];
        if (!i || pair->node != t->kernels[i - 1].pair->node) {
            rtl_range_node_text(t->api, pair->node, range, sizeof range);
            printf("%46s %s\n", "", range);
        }
        print_times(&pair->histogram);
        printf("    %s\n", kernel_name(t, i));
    }
}

static void print_table(const struct hip_api_tables *t)
{
    const struct rtl_hip_api_snapshot *api = t->api;
    bool ranges = false;
    puts("   CALLS     TOTAL      P50      P99      MAX  ERRORS    BYTES  FUNCTION");
    for (uint32_t i = 0; i < api->count; i++) {
        if (rtl_hip_api_is_range(t->rows[i]) && !ranges)
            puts("\n   COUNT     TOTAL      P50      P99      MAX             OPEN  RANGE");
        ranges |= rtl_hip_api_is_range(t->rows[i]);
        print_api_row(t->rows[i]);
    }
    print_range_kernels(t);
    print_memory(t);
    uint64_t unlinked = rtl_hip_api_unlinked_sum(api);
    if (unlinked)
        printf("\ndispatches without a recorded call %" PRIu64 " of %" PRIu64 " (rtl-top check -p %d)\n", unlinked,
               api->linked + unlinked, (int)t->pid);
    if (api->pairs_over)
        printf("\nkernels missing in the lists of their ranges %" PRIu64 "\n", api->pairs_over);
    if (api->ranges_other || api->ranges_deep || api->ranges_unfinished || api->pops_unbalanced ||
        api->allocations_lost)
        printf("\nranges without a row of their own %" PRIu64 ", nested too deep %" PRIu64
               ", unfinished at a thread's end %" PRIu64 ", ends without a beginning %" PRIu64
               "; allocations not followed %" PRIu64 "\n",
               api->ranges_other, api->ranges_deep, api->ranges_unfinished, api->pops_unbalanced,
               api->allocations_lost);
}

/* --- CSV --- */

static void csv_line(const struct hip_api_tables *t, const char *name, const char *kind,
                     const struct rtl_histogram_copy *h)
{
    uint64_t q[2];
    rtl_p50_p99(h, q);
    printf("%d,", (int)t->pid);
    rtl_quote_csv(rtl_quote_to_file, stdout, name);
    printf(",%s,%" PRIu64 ",", kind, h->count);
    if (h->count)
        printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", h->total_ns, q[0], q[1], h->max_ns);
    else
        printf(",,,,");
}

static void print_csv(const struct hip_api_tables *t, bool header)
{
    if (header)
        puts("pid,name,kind,calls,total_ns,p50_ns,p99_ns,max_ns,errors,bytes,in_use_bytes,open,range");
    for (uint32_t i = 0; i < t->api->count; i++) {
        const struct rtl_hip_api_row_snapshot *row = t->rows[i];
        const char *kind = rtl_hip_api_kind_key(row->kind);
        csv_line(t, row->name, kind ? kind : "unknown", &row->histogram);
        printf("%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",\n", row->errors, row->bytes, row->in_use, row->open);
    }
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        const struct rtl_hip_api_pair_snapshot *pair = t->kernels[i].pair;
        char range[2048];
        rtl_range_node_text(t->api, pair->node, range, sizeof range);
        csv_line(t, kernel_name(t, i), "kernel", &pair->histogram);
        printf(",,,,");
        rtl_quote_csv(rtl_quote_to_file, stdout, range);
        putchar('\n');
    }
}

/* --- JSON --- */

static void put_return_codes(struct json_writer *w, struct json_object *o, const struct rtl_hip_api_codes *codes)
{
    struct json_object *array = array_in(w, o, "codes");
    for (int i = 0; codes && i < RTL_HIP_API_CODES; i++) {
        if (!codes->code[i].count)
            continue;
        struct json_object *code = object_at_end(w, array);
        put_number(w, code, "code", codes->code[i].code);
        put_number(w, code, "count", codes->code[i].count);
        if (code_name(codes->code[i].code))
            put_text(w, code, "name", code_name(codes->code[i].code));
    }
    put_number(w, o, "other_codes", codes ? codes->more : 0);
}

static bool print_api_json(const struct hip_api_tables *t)
{
    struct json_writer w = {0};
    struct json_object *root = json_object_new_object(), *array;
    put_number(&w, root, "pid", (uint64_t)t->pid);
    put_number(&w, root, "start_time_ns", t->api->start_real_ns);
    for (int ranges = 0; ranges < 2; ranges++) {
        array = array_in(&w, root, ranges ? "ranges" : "api");
        for (uint32_t i = 0; i < t->api->count; i++) {
            if (rtl_hip_api_is_range(t->rows[i]) != ranges)
                continue;
            struct json_object *o = object_at_end(&w, array);
            rtl_json_hip_api_row(&w, o, t->rows[i]);
            if (!ranges)
                put_return_codes(&w, o, t->rows[i]->codes);
        }
    }
    rtl_json_range_kernels(&w, root, t->snapshot, t->names);
    rtl_json_hip_api_rest(&w, root, t->api);
    put_number(&w, root, "shared_threads", t->api->shared_threads);
    return json_print_line(&w, root, stdout);
}

bool rtl_hip_api_print(const struct rtl_snapshot *snapshot, pid_t pid, enum rtl_hip_api_form form)
{
    struct hip_api_tables t = {.snapshot = snapshot, .api = snapshot->hip_api, .pid = pid, .names = rtl_names_create()};
    t.rows = calloc(t.api->count + 1, sizeof *t.rows);
    t.kernel_count = rtl_range_kernels(snapshot, &t.kernels);
    bool ok = t.names && t.rows && t.kernels;
    for (uint32_t i = 0; ok && i < t.api->count; i++)
        t.rows[i] = &t.api->rows[i];
    if (ok && t.api->count)
        qsort(t.rows, t.api->count, sizeof *t.rows, compare_printed_rows);
    if (ok && form == RTL_HIP_API_JSON)
        ok = print_api_json(&t);
    else if (ok && form == RTL_HIP_API_TABLE)
        print_table(&t);
    else if (ok)
        print_csv(&t, form == RTL_HIP_API_CSV);
    free(t.kernels);
    free(t.rows);
    rtl_names_free(t.names);
    return ok;
}

/* --- the command --- */

struct api_wish {
    struct rtl_options options; /* the processes */
    int form;                   /* enum rtl_hip_api_form */
};

static int parse_options(struct api_wish *wish, int argc, char **argv)
{
    const struct rtl_own_value own[RTL_API_OWN_COUNT] = {
        [RTL_API_TABLES] = {.choice = &wish->form, .value = RTL_HIP_API_TABLE},
        [RTL_API_AS_JSON] = {.choice = &wish->form, .value = RTL_HIP_API_JSON},
        [RTL_API_AS_CSV] = {.choice = &wish->form, .value = RTL_HIP_API_CSV},
    };
    struct rtl_arguments a;
    int status = rtl_arguments_read(&a, RTL_COMMAND_API, false, own, &wish->options, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    if (a.first < argc)
        return RTL_WRONG("rtl-top api takes no '%s': rtl-top api -p PID", argv[a.first]);
    if (!wish->options.pid_count || wish->options.process)
        return RTL_WRONG("which process? rtl-top api -p PID");
    return RTL_GO_ON;
}

/* Show one process. Returns 0, or the exit status after a complaint. */
static int show_process(pid_t pid, enum rtl_hip_api_form form)
{
    struct rtl_hip_api_request request = {.pid = pid};
    struct rtl_snapshot snapshot = {0};
    char why[512];
    int fd, status = (int)rtl_hip_api_open(pid, &fd, why, sizeof why);
    if (!status) {
        /* kernels of ranges have names if the process has a segment of kernels, too */
        if (rtl_reader_try(pid, &request.reader) == RTL_READER_OK)
            rtl_reader_snapshot(request.reader, &snapshot);
        status = (int)rtl_hip_api_read(fd, &request, &snapshot, why, sizeof why);
        close(fd);
    }
    if (status)
        rtl_complain("%s", why);
    else if (!rtl_hip_api_print(&snapshot, pid, form))
        status = RTL_WRONG("out of memory");
    rtl_snapshot_free(&snapshot);
    rtl_reader_close(request.reader);
    return status;
}

int rtl_api_command(int argc, char **argv)
{
    struct api_wish wish = {0};
    int first = 0, status = parse_options(&wish, argc, argv);
    if (status != RTL_GO_ON)
        return status;
    for (uint32_t i = 0; i < wish.options.pid_count; i++) {
        if (i && wish.form == RTL_HIP_API_TABLE)
            putchar('\n');
        status = show_process(wish.options.pids[i], wish.form);
        first = first ? first : status;
        if (wish.form == RTL_HIP_API_CSV && !status)
            wish.form = RTL_HIP_API_CSV_MORE;
    }
    return rtl_exit_status(first);
}
