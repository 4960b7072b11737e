/*
 * libFuzzer target: the reader of the API segment, and the output of rtl-top api. The segment is as librtl-hip.so
 * writes it, with patched words, or cut short.
 *
 * The input is patches of 12 bytes: the part (header, rows, memory, counters, buckets, threads, queues, nodes,
 * launches, events, pairs, their buckets, size), number of the entry (2 bytes), word in it (1 byte), value (8 bytes).
 * A patch of size cuts the file.
 *
 * fuzz: -timeout=10 -rss_limit_mb=1024 -max_len=480
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command/output.h"
#include "fuzz.h"
#include "model/merge_totals.h"
#include "model/model_range.h"
#include "shm/hip_api_reader.h"

enum { RECORDS = 64 };

#define PAIRS_AT RTL_HIP_API_EVENTS_OF(RTL_HIP_API_BLOCKS, RECORDS)

static int file;

static void put(const void *bytes, size_t count, uint64_t at)
{
    MUST(pwrite(file, bytes, count, (off_t)at) == (ssize_t)count);
}

/* Three functions on two threads, a range, memory. */
static void lay_out(void)
{
    static const char *const names[] = {"hipMalloc", "hipLaunchKernel", "hipEventQuery"};
    struct rtl_hip_api_header h = {.magic = RTL_HIP_API_MAGIC,
                                   .major = RTL_HIP_API_MAJOR,
                                   .minor = RTL_HIP_API_MINOR,
                                   .events = RECORDS,
                                   .nodes_used = 5,
                                   .kernels_used = 8,
                                   .header_bytes = sizeof h,
                                   .size = PAIRS_AT + RTL_HIP_API_PAIRS_SIZE,
                                   .pairs_at = PAIRS_AT,
                                   .pairs_used = 3,
                                   .rows_at = RTL_HIP_API_ROWS_AT,
                                   .memory_at = RTL_HIP_API_MEMORY_AT,
                                   .counters_at = RTL_HIP_API_COUNTERS_AT,
                                   .buckets_at = RTL_HIP_API_BUCKETS_AT,
                                   .pid = 1,
                                   .blocks_used = 3};
    struct rtl_hip_api_memory memory = {.in_use = 8192, .peak = 1 << 20, .allocations = 2};
    MUST(ftruncate(file, 0) == 0 && ftruncate(file, (off_t)(PAIRS_AT + RTL_HIP_API_PAIRS_SIZE)) == 0);
    put(&h, sizeof h, 0);
    put(&memory, sizeof memory, RTL_HIP_API_MEMORY_AT);
    for (uint32_t i = 0; i < 4; i++) {
        const char *name = i < 3 ? names[i] : "decode\n\033[2J";
        uint32_t number = i < 3 ? i : RTL_HIP_API_FUNCTIONS + 7;
        struct rtl_hip_api_row row = {.state = 1, .kind = i < 3 ? i + 1 : RTL_HIP_API_RANGE, .in_use = i ? 0 : 8192};
        row.text_bytes = (uint32_t)strlen(name);
        memcpy(row.text, name, row.text_bytes);
        row.code[0] = (struct rtl_hip_api_code){.code = 600, .count = 3};
        put(&row, sizeof row, RTL_HIP_API_ROWS_AT + number * sizeof row);
        for (uint32_t block = 0; block < (i < 3 ? 3u : 1u); block++) {
            struct rtl_hip_api_counters c = {.total_ns = 5000, .most_ns = 4000, .bytes = 64, .calls = 3};
            uint64_t count = 3;
            uint32_t cell = RTL_HIP_API_CELL(block, number);
            put(&c, sizeof c, RTL_HIP_API_COUNTERS_AT + cell * sizeof c);
            put(&count, sizeof count,
                RTL_HIP_API_BUCKETS_AT + cell * sizeof(struct rtl_hip_api_buckets) + 8 * (100 + i));
        }
    }
}

/* Nested nodes, a kernel's launches, and events of two blocks, one of which has wrapped around. */
static void lay_out_links(void)
{
    for (uint32_t i = 0; i < 5; i++) {
        struct rtl_hip_api_node node = {
            .state = 1, .row = RTL_HIP_API_FUNCTIONS + 7, .parent = i > 2 ? i - 1 : 0, .count = 3, .kernels = i};
        put(&node, sizeof node, RTL_HIP_API_NODES_AT + i * sizeof node);
    }
    struct rtl_hip_api_counters c = {.calls = 3, .total_ns = 5000, .most_ns = 4000};
    struct rtl_hip_api_queue queue = {.linked = 3, .unlinked = {1, 2, 3, 4}};
    put(&c, sizeof c, RTL_HIP_API_LAUNCHES_AT + 7 * sizeof c);
    for (uint32_t i = 0; i < 3; i++) {
        struct rtl_hip_api_pair pair = {.node = 1 + i, .kernel = 7, .calls = 3, .total_ns = 5000, .most_ns = 4000};
        uint64_t count = 3;
        put(&pair, sizeof pair, PAIRS_AT + i * sizeof pair);
        put(&count, sizeof count,
            PAIRS_AT + RTL_HIP_API_PAIR_BUCKETS_AT + i * sizeof(struct rtl_hip_api_buckets) + 8 * (100 + i));
    }
    put(&queue, sizeof queue, RTL_HIP_API_QUEUES_AT);
    for (uint32_t block = 0; block < 2; block++) {
        uint64_t written = block ? RECORDS + 10 : 10;
        struct rtl_hip_api_thread thread = {
            .tid = 9, .node = 2, .now = RTL_HIP_API_NOW(1, 77), .last = RTL_HIP_API_NOW(2, 76), .events = written};
        put(&thread, sizeof thread, RTL_HIP_API_THREADS_AT + block * sizeof thread);
        for (uint64_t n = 1; n <= written; n++) {
            struct rtl_hip_api_event event = {.sequence = n, .id = n, .start_ns = n, .end_ns = n + 1, .row = 1};
            put(&event, sizeof event, RTL_HIP_API_EVENTS_OF(block, RECORDS) + (n - 1) % RECORDS * sizeof event);
        }
    }
}

/* From the beginning, and once more behind a call that says where to go on: it ends, and each is counted once. */
static void read_events(void)
{
    struct rtl_hip_api_events events;
    struct rtl_hip_api_event out[7];
    if (!rtl_hip_api_events_begin(file, &events))
        return;
    uint64_t got = 0, from = 0, to = 0;
    for (uint32_t i = 0; i < RTL_HIP_API_BLOCKS; i++)
        from += events.next[i];
    for (uint32_t n; (n = rtl_hip_api_events(file, &events, out, 7)) > 0; got += n)
        for (uint32_t i = 0; i < n; i++)
            MUST(out[i].sequence != 0);
    for (uint32_t i = 0; i < RTL_HIP_API_BLOCKS; i++)
        to += events.next[i];
    MUST(to - from == got + events.lost && got <= RTL_HIP_API_BLOCKS * events.records);
}

static void patch(const uint8_t *data)
{
    static const struct {
        uint64_t at, entries, bytes;
    } parts[] = {{0, 1, sizeof(struct rtl_hip_api_header)},
                 {RTL_HIP_API_ROWS_AT, RTL_HIP_API_ROWS, sizeof(struct rtl_hip_api_row)},
                 {RTL_HIP_API_MEMORY_AT, RTL_HIP_API_PLACES, sizeof(struct rtl_hip_api_memory)},
                 {RTL_HIP_API_COUNTERS_AT, RTL_HIP_API_CELLS, sizeof(struct rtl_hip_api_counters)},
                 {RTL_HIP_API_BUCKETS_AT, RTL_HIP_API_CELLS, sizeof(struct rtl_hip_api_buckets)},
                 {RTL_HIP_API_THREADS_AT, RTL_HIP_API_BLOCKS, sizeof(struct rtl_hip_api_thread)},
                 {RTL_HIP_API_QUEUES_AT, RTL_HIP_API_QUEUES, sizeof(struct rtl_hip_api_queue)},
                 {RTL_HIP_API_NODES_AT, 8, sizeof(struct rtl_hip_api_node)},
                 {RTL_HIP_API_LAUNCHES_AT, 8, sizeof(struct rtl_hip_api_counters)},
                 {RTL_HIP_API_EVENTS_AT, 2 * RECORDS, sizeof(struct rtl_hip_api_event)},
                 {PAIRS_AT, 8, sizeof(struct rtl_hip_api_pair)},
                 {PAIRS_AT + RTL_HIP_API_PAIR_BUCKETS_AT, 4, sizeof(struct rtl_hip_api_buckets)}};
    enum { PARTS = sizeof parts / sizeof *parts };
    uint64_t value, number = (uint64_t)(data[1] | data[2] << 8);
    memcpy(&value, data + 4, sizeof value);
    unsigned part = data[0] % (PARTS + 1);
    if (part == PARTS)
        MUST(ftruncate(file, (off_t)(value % (PAIRS_AT + RTL_HIP_API_PAIRS_SIZE))) == 0);
    else
        put(&value, sizeof value,
            parts[part].at + number % parts[part].entries * parts[part].bytes + data[3] * 8u % parts[part].bytes);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    file = memfd_create("fuzz", MFD_CLOEXEC);
    MUST(file >= 0 && freopen("/dev/null", "w", stdout));
    /* a count of blocks beyond the limit reads as the limit */
    static const uint8_t all_blocks[12] = {[3] = 24, 255, 255, 255, 255, 255, 255, 255, 255};
    struct rtl_snapshot s = {0};
    lay_out();
    lay_out_links();
    patch(all_blocks);
    MUST(rtl_hip_api_read(file, &(struct rtl_hip_api_request){.pid = 1}, &s, NULL, 0) == RTL_READER_OK);
    MUST(s.hip_api->rows[0].histogram.count == 9 && s.hip_api->links && s.hip_api->node_count == 4 &&
         s.hip_api->linked == 3);
    rtl_snapshot_free(&s);
    read_events();
    return 0;
}

/* Rows come by name, each once, and nodes behind their parents. */
static void check(const struct rtl_snapshot *s)
{
    const struct rtl_hip_api_snapshot *c = s->hip_api;
    struct rtl_snapshot other = {0};
    MUST(c->count <= RTL_HIP_API_ROWS && c->node_count <= RTL_HIP_API_NODES && c->launch_count <= 1 &&
         c->pair_count <= RTL_HIP_API_PAIRS);
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t sum = 0;
        MUST(c->rows[i].name_bytes <= RTL_HIP_API_TEXT &&
             (!i || rtl_hip_api_compare_rows(&c->rows[i - 1], &c->rows[i]) < 0));
        for (uint32_t o = 0; o < c->rows[i].histogram.octave_count; o++) {
            MUST(c->rows[i].histogram.octaves[o].octave < RTL_OCTAVES_MAX);
            for (uint32_t b = 0; b < RTL_CHUNK_BUCKETS; b++)
                sum += c->rows[i].histogram.octaves[o].bucket[b];
        }
        MUST(sum == c->rows[i].histogram.count);
    }
    for (uint32_t i = 0; i < c->node_count; i++)
        MUST(i ? c->nodes[i].parent < i : !c->nodes[i].parent);
    for (uint32_t i = 0; i < c->thread_count; i++)
        MUST(c->threads[i].row <= c->count && c->threads[i].last_row <= c->count);
    for (uint32_t i = 0; i < c->pair_count; i++)
        MUST(c->pairs[i].node && c->pairs[i].node < c->node_count &&
             rtl_hip_api_find_pair(c, c->pairs[i].node, c->pairs[i].kernel) == &c->pairs[i]);
    const struct rtl_hip_api_snapshot *both[] = {c, c};
    MUST(rtl_merge_hip_api(both, 2, &other) && other.hip_api->pair_count <= c->pair_count);
    struct rtl_range_kernel *list;
    MUST(rtl_range_kernels(s, &list) == c->pair_count && list);
    free(list);
    rtl_snapshot_free(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char kernel[] = "kernel";
    struct rtl_kernel_snapshot kernels[] = {{.id = 7, .name = kernel, .name_length = sizeof kernel - 1}};
    struct rtl_snapshot s = {.kernels = kernels, .kernel_count = 1};
    char why[256] = "";
    lay_out();
    lay_out_links();
    for (size_t at = 0; at + 12 <= size; at += 12)
        patch(data + at);
    enum rtl_reader_status status =
        rtl_hip_api_read(file, &(struct rtl_hip_api_request){.pid = 4711}, &s, why, sizeof why);
    MUST((status == RTL_READER_OK) == !why[0] && (status == RTL_READER_OK || status == RTL_READER_VERSION));
    MUST((status == RTL_READER_OK) == (s.hip_api != NULL));
    if (s.hip_api) {
        check(&s);
        MUST(rtl_hip_api_print(&s, 1, RTL_HIP_API_TABLE) && rtl_hip_api_print(&s, 1, RTL_HIP_API_JSON) &&
             rtl_hip_api_print(&s, 1, RTL_HIP_API_CSV));
    }
    s.kernels = NULL;
    rtl_snapshot_free(&s);
    read_events();
    return 0;
}
