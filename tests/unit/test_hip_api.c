/* The API segment's reader: threads, links, nodes, launches and events, of libraries old and new and of damaged ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/hip_api_reader.h"
#include "shm/hash.h"
#include "shm/hip_api_snapshot.h"

enum { RECORDS = 1024 };

static int file = -1;
static struct rtl_snapshot snapshot;
static struct rtl_hip_api_header header;

static void put(const void *bytes, size_t count, uint64_t at)
{
    assert_int_equal(pwrite(file, bytes, count, (off_t)at), count);
}

static int begin(void **state)
{
    (void)state;
    file = memfd_create("api", MFD_CLOEXEC);
    header =
        (struct rtl_hip_api_header){.magic = RTL_HIP_API_MAGIC,
                                    .major = RTL_HIP_API_MAJOR,
                                    .minor = RTL_HIP_API_MINOR,
                                    .header_bytes = sizeof header,
                                    .size = RTL_HIP_API_EVENTS_OF(RTL_HIP_API_BLOCKS, RECORDS) + RTL_HIP_API_PAIRS_SIZE,
                                    .pairs_at = RTL_HIP_API_EVENTS_OF(RTL_HIP_API_BLOCKS, RECORDS),
                                    .rows_at = RTL_HIP_API_ROWS_AT,
                                    .memory_at = RTL_HIP_API_MEMORY_AT,
                                    .counters_at = RTL_HIP_API_COUNTERS_AT,
                                    .buckets_at = RTL_HIP_API_BUCKETS_AT,
                                    .pid = 1,
                                    .events = RECORDS,
                                    .blocks_used = 1};
    if (file < 0 || ftruncate(file, (off_t)header.size) != 0)
        return -1;
    put(&header, sizeof header, 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rtl_snapshot_free(&snapshot);
    return close(file);
}

static void name(uint32_t row, const char *text)
{
    struct rtl_hip_api_row r = {.state = 1,
                                .kind = row < RTL_HIP_API_FUNCTIONS ? RTL_HIP_API_LAUNCH : RTL_HIP_API_RANGE};
    r.text_bytes = (uint32_t)strlen(text);
    memcpy(r.text, text, r.text_bytes);
    put(&r, sizeof r, RTL_HIP_API_ROWS_AT + row * sizeof r);
}

static void open_row(uint32_t row, uint64_t open)
{
    put(&open, sizeof open,
        RTL_HIP_API_ROWS_AT + row * sizeof(struct rtl_hip_api_row) + offsetof(struct rtl_hip_api_row, open));
}

static void node(uint32_t number, uint32_t parent, uint32_t row, uint64_t kernels)
{
    struct rtl_hip_api_node n = {
        .state = 1, .parent = parent, .row = row, .kernels = kernels, .kernels_ns = 10 * kernels};
    put(&n, sizeof n, RTL_HIP_API_NODES_AT + number * sizeof n);
}

/* Read the segment into `snapshot`, whose rows of kernels are all named. */
static enum rtl_reader_status read_segment(void)
{
    static char names[16][8];
    char why[200];
    rtl_snapshot_free(&snapshot);
    enum rtl_reader_status status =
        (snapshot.kernels = calloc(16, sizeof *snapshot.kernels)) ? RTL_READER_OK : RTL_READER_USAGE;
    for (uint32_t i = 0; i < 16; i++) {
        snprintf(names[i], sizeof names[i], "k%u", i);
        snapshot.kernels[i] = (struct rtl_kernel_snapshot){.id = i, .name = names[i], .name_length = strlen(names[i])};
    }
    snapshot.kernel_count = 16;
    return status ? status
                  : rtl_hip_api_read(file, &(struct rtl_hip_api_request){.pid = 1}, &snapshot, why, sizeof why);
}

static uint64_t kernel_hash(uint32_t row)
{
    return rtl_hash(snapshot.kernels[row].name, snapshot.kernels[row].name_length);
}

static void links_are_summed(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < RTL_HIP_API_QUEUES; i++) {
        struct rtl_hip_api_queue q = {.linked = i, .unlinked = {i % 2, 3}};
        put(&q, sizeof q, RTL_HIP_API_QUEUES_AT + i * sizeof q);
    }
    struct rtl_hip_api_thread t = {
        .tid = 42, .node = 2, .now = RTL_HIP_API_NOW(7, 123456789), .last = RTL_HIP_API_NOW(255, 99)};
    put(&t, sizeof t, RTL_HIP_API_THREADS_AT + 5 * sizeof t);
    name(7, "hipFree");
    name(255, "hipMalloc");
    open_row(7, 1);
    name(RTL_HIP_API_FUNCTIONS + 3, "decode");
    node(0, 0, 0, 11);
    node(2, 0, RTL_HIP_API_FUNCTIONS + 3, 5);
    header.nodes_used = 3;
    struct rtl_hip_api_counters c = {.calls = 4, .total_ns = 400, .most_ns = 300};
    struct rtl_hip_api_buckets buckets;
    uint64_t four = 4;
    put(&c, sizeof c, RTL_HIP_API_LAUNCHES_AT + 9 * sizeof c);
    put(&four, sizeof four, RTL_HIP_API_LAUNCH_BUCKETS_AT + 9 * sizeof buckets + 100 * 8);
    header.kernels_used = 10;
    put(&header, sizeof header, 0);

    assert_int_equal(read_segment(), RTL_READER_OK);
    const struct rtl_hip_api_snapshot *api = snapshot.hip_api;
    assert_true(api->links);
    assert_int_equal(api->linked, 127 * 64);
    assert_int_equal(api->unlinked[RTL_HIP_API_UNLINKED_OUTSIDE], 64);
    assert_int_equal(api->unlinked[RTL_HIP_API_UNLINKED_QUEUE_THREAD], 3 * 128);
    assert_int_equal(api->thread_count, 1);
    assert_int_equal(api->threads[0].tid, 42);
    assert_string_equal(api->rows[api->threads[0].row - 1].name, "hipFree");
    assert_int_equal(api->threads[0].since_ns, 123456789);
    assert_int_equal(api->threads[0].last_row, 0); /* a row that counts nothing is left out */
    assert_int_equal(api->threads[0].last_ns, 99);
    assert_int_equal(api->node_count, 2);
    assert_int_equal(api->nodes[0].kernels, 11);
    assert_int_equal(api->nodes[1].kernels, 5);
    assert_string_equal(api->nodes[1].name, "decode");
    assert_int_equal(api->launch_count, 1);
    assert_int_equal(api->launches[0].kernel, kernel_hash(9));
    assert_int_equal(api->launches[0].histogram.count, 4);
    assert_int_equal(api->launches[0].histogram.total_ns, 400);
    assert_int_equal(api->launches[0].histogram.octaves[0].octave, 1);
    assert_int_equal(api->launches[0].histogram.octaves[0].bucket[100 - 64], 4);
    assert_int_equal(api->launches[0].histogram.min_ns, 100);
}

static void rows_have_their_return_codes(void **state)
{
    (void)state;
    struct rtl_hip_api_row r = {.state = 1, .kind = RTL_HIP_API_COPY, .text_bytes = 1, .text = "b", .in_use = 7};
    r.code[1] = (struct rtl_hip_api_code){.code = 2, .count = 3};
    r.codes_more = 9;
    put(&r, sizeof r, RTL_HIP_API_ROWS_AT);
    name(1, "a");
    open_row(1, 2);
    assert_int_equal(read_segment(), RTL_READER_OK);
    const struct rtl_hip_api_snapshot *api = snapshot.hip_api;
    assert_int_equal(api->count, 2);
    assert_null(api->rows[0].codes);
    assert_int_equal(api->rows[1].codes->code[1].count, 3);
    assert_int_equal(api->rows[1].codes->more, 9);
    struct rtl_snapshot copy = {0};
    assert_true(rtl_hip_api_copy_to(api, &copy));
    assert_null(copy.hip_api->rows[1].codes);
    assert_int_equal(copy.hip_api->rows[1].in_use, 7);
    rtl_snapshot_free(&copy);
}

static void pair(uint32_t number, uint32_t node, uint32_t kernel, uint64_t calls)
{
    struct rtl_hip_api_pair p = {
        .node = node, .kernel = kernel, .calls = calls, .total_ns = 100 * calls, .most_ns = 150};
    put(&p, sizeof p, header.pairs_at + number * sizeof p);
    put(&calls, sizeof calls,
        header.pairs_at + RTL_HIP_API_PAIR_BUCKETS_AT + number * sizeof(struct rtl_hip_api_buckets) + 100 * 8);
}

/* The reader keeps pairs of existing nodes only, and only where pairs can lie. */
static void pairs_are_of_nodes(void **state)
{
    (void)state;
    name(RTL_HIP_API_FUNCTIONS + 3, "decode");
    node(0, 0, 0, 0);
    node(2, 0, RTL_HIP_API_FUNCTIONS + 3, 5);
    header.nodes_used = 3;
    header.pairs_used = 7;
    header.pairs_over = 4;
    put(&header, sizeof header, 0);
    pair(0, 2, 9, 5);
    pair(1, 0, 9, 5);                   /* of no range */
    pair(2, 1, 9, 5);                   /* not READY */
    pair(3, 3, 9, 5);                   /* beyond the last node */
    pair(4, 2, RTL_HIP_API_KERNELS, 5); /* no kernel */
    pair(5, 2, 10, 0);                  /* has counted nothing */
    pair(6, 2, 11, 1);
    assert_int_equal(read_segment(), RTL_READER_OK);
    assert_int_equal(snapshot.hip_api->pair_count, 2);
    const struct rtl_hip_api_pair_snapshot *found = rtl_hip_api_find_pair(snapshot.hip_api, 1, kernel_hash(9));
    assert_non_null(found);
    assert_int_equal(found->histogram.total_ns, 500);
    assert_int_equal(found->histogram.octaves[0].bucket[100 - 64], 5);
    assert_non_null(rtl_hip_api_find_pair(snapshot.hip_api, 1, kernel_hash(11)));
    const struct rtl_hip_api_pair elsewhere = {.node = 2, .kernel = 9, .calls = 5};
    put(&elsewhere, sizeof elsewhere, RTL_HIP_API_EVENTS_AT - 64);
    const uint64_t wrong[] = {0, header.pairs_at + 64, header.pairs_at - 8, RTL_HIP_API_EVENTS_AT - 64,
                              UINT64_MAX - 63};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rtl_hip_api_header h = header;
        h.pairs_at = wrong[i];
        put(&h, sizeof h, 0);
        assert_int_equal(read_segment(), RTL_READER_OK);
        assert_int_equal(snapshot.hip_api->pair_count, 0);
        assert_int_equal(snapshot.hip_api->node_count, 2);
    }
    header.minor = 1; /* a library without pairs */
    put(&header, sizeof header, 0);
    assert_int_equal(read_segment(), RTL_READER_OK);
    assert_int_equal(snapshot.hip_api->pair_count, 0);
}

static void no_node_is_above_itself(void **state)
{
    (void)state;
    name(RTL_HIP_API_FUNCTIONS, "a");
    node(2, 3, RTL_HIP_API_FUNCTIONS, 2);
    node(3, 2, RTL_HIP_API_FUNCTIONS, 1);
    node(4, 4, RTL_HIP_API_FUNCTIONS, 2);
    node(5, UINT32_MAX, UINT32_MAX, 2);
    node(0, 7, 0, 1);
    header.nodes_used = UINT64_MAX;
    header.kernels_used = UINT64_MAX;
    put(&header, sizeof header, 0);
    assert_int_equal(read_segment(), RTL_READER_OK);
    const struct rtl_hip_api_snapshot *api = snapshot.hip_api;
    assert_int_equal(api->node_count, 2); /* only impossible nodes are left out */
    assert_int_equal(api->nodes[0].parent + api->nodes[1].parent, 0);
    assert_int_equal(api->nodes[0].kernels, 1);
    assert_int_equal(api->nodes[1].kernels, 1);
}

/* Two nodes of one place, which no honest library makes: the first stands for both, also for what is below them. */
static void siblings_of_one_name_are_one(void **state)
{
    (void)state;
    struct rtl_hip_api_source source = {.fd = file};
    struct rtl_snapshot s = {0};
    name(RTL_HIP_API_FUNCTIONS, "outer");
    name(RTL_HIP_API_FUNCTIONS + 1, "inner");
    name(RTL_HIP_API_FUNCTIONS + 2, "inner"); /* nor two rows of one name */
    node(0, 0, 0, 0);
    node(2, 0, RTL_HIP_API_FUNCTIONS, 1);
    node(3, 0, RTL_HIP_API_FUNCTIONS, 2);
    node(4, 2, RTL_HIP_API_FUNCTIONS + 1, 3);
    node(5, 3, RTL_HIP_API_FUNCTIONS + 2, 4);
    node(6, 5, RTL_HIP_API_FUNCTIONS, 5);
    header.nodes_used = 7;
    put(&header, sizeof header, 0);
    rtl_hip_api_source_read(&source, 1, NULL, &s);
    assert_non_null(s.hip_api);
    assert_int_equal(s.hip_api->node_count, 4);
    for (uint32_t i = 1; i < 4; i++) {
        assert_int_equal(s.hip_api->nodes[i].parent, i - 1);
        assert_string_equal(s.hip_api->nodes[i].name, i == 2 ? "inner" : "outer");
        assert_int_equal(s.hip_api->nodes[i].kernels, 2 * i - 1);
    }
    rtl_snapshot_free(&s);
}

static void segments_without_links_are_read(void **state)
{
    (void)state;
    struct rtl_hip_api_events events;
    header.minor = 0;
    put(&header, sizeof header, 0);
    assert_int_equal(ftruncate(file, (off_t)RTL_HIP_API_THREADS_AT), 0);
    assert_int_equal(read_segment(), RTL_READER_OK);
    assert_false(snapshot.hip_api->links);
    assert_int_equal(snapshot.hip_api->node_count + snapshot.hip_api->launch_count, 0);
    assert_false(rtl_hip_api_events_begin(file, &events));

    header.minor = RTL_HIP_API_MINOR; /* the header claims links, the file is too short */
    put(&header, sizeof header, 0);
    assert_int_equal(read_segment(), RTL_READER_VERSION);
    assert_null(snapshot.hip_api);
}

/* --- events --- */

static void event(uint32_t block, uint64_t number)
{
    struct rtl_hip_api_event e = {.sequence = number, .id = 1000 * block + number, .tid = block};
    put(&e, sizeof e, RTL_HIP_API_EVENTS_OF(block, RECORDS) + (number - 1) % RECORDS * sizeof e);
}

static void head(uint32_t block, uint64_t number)
{
    struct rtl_hip_api_thread t = {.events = number};
    put(&t, sizeof t, RTL_HIP_API_THREADS_AT + block * sizeof t);
}

static void write_events(uint32_t block, uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n <= to; n++)
        event(block, n);
    head(block, to);
}

static void events_come_whole_and_in_order(void **state)
{
    (void)state;
    struct rtl_hip_api_events events;
    static struct rtl_hip_api_event out[4 * RECORDS];
    uint64_t next[3] = {1, 1, 1}, got = 0;
    write_events(0, 1, 10);
    write_events(2, 1, 700);
    assert_true(rtl_hip_api_events_begin(file, &events));
    for (uint32_t n; (n = rtl_hip_api_events(file, &events, out, 97)) > 0; got += n)
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(out[i].id, 1000 * out[i].tid + next[out[i].tid]++);
    assert_int_equal(got, 710);
    assert_int_equal(events.lost, 0);
    write_events(2, 701, 1500); /* around the ring's end */
    assert_int_equal(rtl_hip_api_events(file, &events, out, 4 * RECORDS), 800);
    assert_int_equal(out[799].id, 3500);
    assert_int_equal(rtl_hip_api_events(file, &events, out, 1), 0);
}

static void overwritten_events_are_counted(void **state)
{
    (void)state;
    struct rtl_hip_api_events events;
    static struct rtl_hip_api_event out[4 * RECORDS];
    write_events(1, 1, 100);
    assert_true(rtl_hip_api_events_begin(file, &events));
    assert_int_equal(rtl_hip_api_events(file, &events, out, 40), 40);
    write_events(1, 101, 3000);
    assert_int_equal(rtl_hip_api_events(file, &events, out, 4 * RECORDS), RECORDS);
    assert_int_equal(out[0].id, 1000 + 3000 - RECORDS + 1);
    assert_int_equal(events.lost, 3000 - RECORDS - 40);

    write_events(1, 3001, 3010);
    event(1, 3003 + RECORDS);         /* the next lap's is there already, */
    struct rtl_hip_api_event e = {0}; /* and one is being written */
    put(&e, sizeof e, RTL_HIP_API_EVENTS_OF(1, RECORDS) + 3005 % RECORDS * sizeof e);
    uint64_t lost = events.lost;
    assert_int_equal(rtl_hip_api_events(file, &events, out, 4 * RECORDS), 8);
    assert_int_equal(events.lost, lost + 2);
}

static void who_writes_much_hides_nobody(void **state)
{
    (void)state;
    struct rtl_hip_api_events events;
    static struct rtl_hip_api_event out[RECORDS];
    bool seen = false;
    assert_true(rtl_hip_api_events_begin(file, &events));
    write_events(9, 1, 1);
    for (uint64_t at = 0; at < 50 && !seen; at++) {
        write_events(3, at * 64 + 1, at * 64 + 64);
        uint32_t n = rtl_hip_api_events(file, &events, out, 64);
        for (uint32_t i = 0; i < n; i++)
            seen |= out[i].tid == 9;
    }
    assert_true(seen);
}

static void rings_that_cannot_be_are_none(void **state)
{
    (void)state;
    struct rtl_hip_api_events events;
    static const uint64_t records[] = {0, 3, RTL_HIP_API_EVENTS_MAX, 1ull << 40, UINT64_MAX};
    for (unsigned i = 0; i < sizeof records / sizeof *records; i++) {
        header.events = records[i];
        put(&header, sizeof header, 0);
        assert_false(rtl_hip_api_events_begin(file, &events));
    }
    header.events = RECORDS;
    put(&header, sizeof header, 0);
    head(4, UINT64_MAX);
    assert_true(rtl_hip_api_events_begin(file, &events));
    struct rtl_hip_api_event out;
    assert_int_equal(rtl_hip_api_events(file, &events, &out, 1), 0);
    head(4, INT64_MAX);
    assert_int_equal(rtl_hip_api_events(file, &events, &out, 1), 0);
    assert_int_equal(ftruncate(file, 4096), 0);
    assert_int_equal(rtl_hip_api_events(file, &events, &out, 1), 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(links_are_summed),
        TEST(rows_have_their_return_codes),
        TEST(no_node_is_above_itself),
        TEST(pairs_are_of_nodes),
        TEST(siblings_of_one_name_are_one),
        TEST(segments_without_links_are_read),
        TEST(events_come_whole_and_in_order),
        TEST(overwritten_events_are_counted),
        TEST(who_writes_much_hides_nobody),
        TEST(rings_that_cannot_be_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
