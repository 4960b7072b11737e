/*
 * links_check.c - compares links with what hip_links.hip did. It reads the rings of a process that holds, with
 * RTL_TRACE.
 *
 * links_check PID [FILE]: FILE is hip_links' output. Prints, each a line:
 *   pair FUNCTION KERNEL N         dispatches of that kernel that are linked to calls of that function
 *   copies FUNCTION N              copies by an engine
 *   alone KERNEL N                 dispatches that are linked to no call
 *   rows N wrong N                 dispatches by FILE's threads; those not linked to exactly their call
 *   order N wrong N                calls with several linked dispatches; those whose ordinals do not follow the grids
 *   range N wrong N                links; those with another range or begin time than their call's
 *   sums A B C D                   ns from calls' begins to their kernels' starts, by the events and by the histograms;
 *                                  ns of the linked kernels, by the events and by the ranges
 *   nested N wrong N               calls, ranges and marks in a range; those outside of their thread's range
 *   lost N                         events of either ring that were overwritten
 *   counted linked N REASON N ...  the segment's counts of all dispatches
 *   copied linked N unlinked N
 *   node PATH count N kernels N copies N ns N
 *   launches KERNEL N least NS     latencies in the histogram, and the shortest bucket's
 *   thread TID function NAME|none last NAME|none
 * Exit status 1 if something cannot be read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shm/hash.h"
#include "shm/hip_api_reader.h"
#include "shm/segment_reader.h"

enum { THREADS = 64, CALLS_MAX = 1 << 22, EVENTS_MAX = 1 << 22 };

static struct rtl_hip_api_event *calls;
static struct rtl_linked_event *ops;
static uint64_t call_count, op_count, lost;
static struct {
    long tid;
    unsigned long launches;
    uint64_t *id; /* of its launches, in order */
    uint64_t n;
} threads[THREADS];
static unsigned thread_count;
static uint64_t latency_ns, kernels_ns; /* sums over the events */

static void die(const char *why)
{
    fprintf(stderr, "links_check: %s\n", why);
    exit(1);
}

static int by_id(const void *a, const void *b)
{
    const struct rtl_hip_api_event *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_call(const void *a, const void *b)
{
    const struct rtl_linked_event *x = a, *y = b;
    if (x->record.correlation != y->record.correlation)
        return x->record.correlation < y->record.correlation ? -1 : 1;
    return x->link.ordinal < y->link.ordinal ? -1 : x->link.ordinal > y->link.ordinal;
}

static const struct rtl_hip_api_event *call_of(uint64_t id)
{
    struct rtl_hip_api_event key = {.id = id};
    return bsearch(&key, calls, call_count, sizeof *calls, by_id);
}

static void name_of(int fd, uint32_t row, char *to, size_t bytes, unsigned *kind)
{
    char text[RTL_HIP_API_TEXT];
    uint32_t n = rtl_hip_api_read_text(fd, row, text, kind);
    snprintf(to, bytes, "%.*s", (int)n, text);
}

/* Counts of name pairs. */
static struct {
    char what[600];
    unsigned long n;
} tally[512];
static unsigned tallied;

static void count_pair(const char *kind, const char *first, const char *second)
{
    char what[600];
    snprintf(what, sizeof what, "%s %.200s%s%.300s", kind, first, second ? " " : "", second ? second : "");
    unsigned i = 0;
    while (i < tallied && strcmp(tally[i].what, what) != 0)
        i++;
    if (i == tallied && tallied < sizeof tally / sizeof *tally)
        strcpy(tally[tallied++].what, what);
    if (i < tallied)
        tally[i].n++;
}

static void read_threads(const char *file)
{
    char line[200];
    FILE *f = fopen(file, "r");
    while (f && fgets(line, sizeof line, f)) {
        unsigned t;
        long tid;
        unsigned long n;
        if (sscanf(line, "thread %u %ld %lu", &t, &tid, &n) != 3 || t >= THREADS)
            continue;
        threads[t].tid = tid;
        threads[t].launches = n;
        threads[t].id = calloc(n, sizeof *threads[t].id);
        thread_count = t + 1 > thread_count ? t + 1 : thread_count;
    }
    if (!f)
        die("its file can't be read");
    fclose(f);
}

/* Calls must arrive in each thread's order. */
static void note_call(int fd, const struct rtl_hip_api_event *e)
{
    char name[RTL_HIP_API_TEXT + 1];
    unsigned kind = 0;
    name_of(fd, e->row, name, sizeof name, &kind);
    for (unsigned t = 0; kind == RTL_HIP_API_LAUNCH && t < thread_count; t++)
        if (threads[t].tid == (long)e->tid && threads[t].n < threads[t].launches)
            threads[t].id[threads[t].n++] = e->id;
}

static void compare_ranges(void)
{
    unsigned long nested = 0, wrong = 0;
    for (uint64_t i = 0; i < call_count; i++) {
        const struct rtl_hip_api_event *e = &calls[i], *around = e->range ? call_of(e->range) : NULL;
        nested += e->range != 0;
        wrong += e->range &&
                 (!around || around->tid != e->tid || around->start_ns > e->start_ns || around->end_ns < e->end_ns);
    }
    printf("nested %lu wrong %lu\n", nested, wrong);
}

static void compare_ops(int fd, struct rtl_reader *reader)
{
    unsigned long rows = 0, wrong = 0, ordered = 0, disordered = 0, ranges = 0, other = 0;
    qsort(ops, op_count, sizeof *ops, by_call);
    for (uint64_t i = 0; i < op_count; i++) {
        const struct rtl_event_record *r = &ops[i].record;
        const struct rtl_hip_api_event *call = r->correlation ? call_of(r->correlation) : NULL;
        char function[RTL_HIP_API_TEXT + 1] = "?";
        bool copy = r->flags & RTL_EVENT_COPY;
        const char *kernel = copy ? NULL : rtl_reader_kernel_name(reader, r->kernel);
        kernel = copy ? NULL : kernel ? kernel : "?";
        if (call) {
            name_of(fd, call->row, function, sizeof function, NULL);
            ranges++;
            other += call->range != ops[i].link.range || call->start_ns != ops[i].link.entry_ns ||
                     call->node != ops[i].link.node;
            latency_ns += copy || r->start_ns < ops[i].link.entry_ns ? 0 : r->start_ns - ops[i].link.entry_ns;
            kernels_ns += copy ? 0 : r->duration_ns;
        }
        count_pair(copy             ? "copies"
                   : r->correlation ? "pair"
                                    : "alone",
                   copy || r->correlation ? function : kernel, copy || !r->correlation ? NULL : kernel);
        if (copy || (strncmp(kernel, "linked", 6) != 0 && strncmp(kernel, "hsa_00", 6) != 0))
            continue;
        if (i && ops[i - 1].record.correlation == r->correlation && r->correlation) {
            ordered++;
            disordered += ops[i - 1].record.grid[0] >= r->grid[0] || ops[i - 1].link.ordinal >= ops[i].link.ordinal;
        }
        if (!thread_count)
            continue;
        unsigned t = r->grid[1] - 1;
        rows++;
        wrong += t >= thread_count || r->grid[0] == 0 || r->grid[0] > threads[t].n ||
                 threads[t].id[r->grid[0] - 1] != r->correlation;
    }
    printf("rows %lu wrong %lu\norder %lu wrong %lu\nrange %lu wrong %lu\nlost %llu\n", rows, wrong, ordered,
           disordered, ranges, other, (unsigned long long)lost);
    for (unsigned i = 0; i < tallied; i++)
        printf("%s %lu\n", tally[i].what, tally[i].n);
}

static void print_path(const struct rtl_hip_api_snapshot *api, uint32_t node)
{
    if (api->nodes[node].parent)
        print_path(api, api->nodes[node].parent);
    printf("/%s", api->nodes[node].name);
}

static const char *kernel_of_hash(struct rtl_reader *reader, uint64_t hash)
{
    for (uint32_t i = 0; i < RTL_HIP_API_KERNELS; i++) {
        const char *name = rtl_reader_kernel_name(reader, i);
        if (name && rtl_hash(name, strlen(name)) == hash)
            return name;
    }
    return "?";
}

static void print_counters(int fd, struct rtl_reader *reader)
{
    const struct rtl_hip_api_request request = {.reader = reader};
    struct rtl_snapshot snapshot = {0};
    static const char *const reasons[RTL_HIP_API_UNLINKED_LIMIT] = {
#define NAME(sym, number, key, text) [number] = key,
        RTL_HIP_API_UNLINKED(NAME)
#undef NAME
    };
    char why[500];
    if (rtl_hip_api_read(fd, &request, &snapshot, why, sizeof why) != RTL_READER_OK)
        die(why);
    const struct rtl_hip_api_snapshot *api = snapshot.hip_api;
    printf("counted linked %llu", (unsigned long long)api->linked);
    for (int i = 0; i < RTL_HIP_API_UNLINKED_LIMIT; i++)
        if (reasons[i])
            printf(" %s %llu", reasons[i], (unsigned long long)api->unlinked[i]);
    printf("\ncopied linked %llu unlinked %llu\n", (unsigned long long)api->copies_linked,
           (unsigned long long)api->copies_unlinked);
    uint64_t launches_ns = 0, nodes_ns = 0;
    for (uint32_t i = 0; i < api->launch_count; i++)
        launches_ns += api->launches[i].histogram.total_ns;
    for (uint32_t i = 0; i < api->node_count; i++)
        nodes_ns += api->nodes[i].kernels_ns;
    printf("sums %llu %llu %llu %llu\n", (unsigned long long)latency_ns, (unsigned long long)launches_ns,
           (unsigned long long)kernels_ns, (unsigned long long)nodes_ns);
    for (uint32_t i = 0; i < api->node_count; i++) {
        const struct rtl_hip_api_node_snapshot *n = &api->nodes[i];
        if (!n->count && !n->kernels && !n->copies)
            continue;
        printf("node ");
        print_path(api, i);
        printf(" count %llu kernels %llu copies %llu ns %llu\n", (unsigned long long)n->count,
               (unsigned long long)n->kernels, (unsigned long long)n->copies, (unsigned long long)n->kernels_ns);
    }
    for (uint32_t i = 0; i < api->launch_count; i++) {
        const struct rtl_histogram_copy *h = &api->launches[i].histogram;
        uint32_t least = 0;
        while (h->octave_count && least < RTL_CHUNK_BUCKETS - 1 && !h->octaves[0].bucket[least])
            least++;
        printf("launches %s %llu least %u\n", kernel_of_hash(reader, api->launches[i].kernel),
               (unsigned long long)h->count, (h->octave_count ? h->octaves[0].octave * RTL_CHUNK_BUCKETS : 0) + least);
    }
    for (uint32_t i = 0; i < api->thread_count; i++) {
        const struct rtl_hip_api_thread_snapshot *t = &api->threads[i];
        printf("thread %u function %s", t->tid, t->row ? api->rows[t->row - 1].name : "none");
        printf(" last %s\n", t->last_row ? api->rows[t->last_row - 1].name : "none");
    }
    rtl_snapshot_free(&snapshot);
}

int main(int argc, char **argv)
{
    struct rtl_reader *reader;
    struct rtl_events events;
    struct rtl_hip_api_events api_events;
    char why[500];
    int fd;
    if (argc < 2 || rtl_hip_api_open((pid_t)atoi(argv[1]), &fd, why, sizeof why) != RTL_READER_OK)
        die(argc < 2 ? "whose?" : why);
    if (argc > 2)
        read_threads(argv[2]);
    if (rtl_reader_open((pid_t)atoi(argv[1]), &reader, why, sizeof why) != RTL_READER_OK)
        die(why);
    calls = calloc(CALLS_MAX, sizeof *calls);
    ops = calloc(EVENTS_MAX, sizeof *ops);
    if (!calls || !ops)
        die("no memory");
    if (rtl_reader_events_begin(reader, &events) && rtl_hip_api_events_begin(fd, &api_events)) {
        for (uint32_t n;
             (n = rtl_hip_api_events(fd, &api_events, calls + call_count, (uint32_t)(CALLS_MAX - call_count)));)
            call_count += n;
        for (uint32_t n;
             (n = rtl_reader_linked_events(reader, &events, ops + op_count, (uint32_t)(EVENTS_MAX - op_count)));)
            op_count += n;
        /* Includes events overwritten before the first read. */
        lost = events.lost + api_events.lost + events.first;
        for (uint64_t i = 0; i < call_count; i++)
            note_call(fd, &calls[i]);
        qsort(calls, call_count, sizeof *calls, by_id);
        compare_ops(fd, reader);
        compare_ranges();
    }
    print_counters(fd, reader);
    rtl_reader_close(reader);
    close(fd);
    return 0;
}
