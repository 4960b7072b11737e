/* The API segment's reader: threads, links, nodes, launches and events, from old, new and damaged libraries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/api_reader.h"
#include "shm/calls.h"

enum { RECORDS = 1024 };

static int file = -1;
static struct rtl_api_header header;

static void put(const void *bytes, size_t count, uint64_t at)
{
    assert_int_equal(pwrite(file, bytes, count, (off_t)at), count);
}

static int begin(void **state)
{
    (void)state;
    file = memfd_create("api", MFD_CLOEXEC);
    header = (struct rtl_api_header){.magic = RTL_API_MAGIC,
                                     .major = RTL_API_MAJOR,
                                     .minor = RTL_API_MINOR,
                                     .header_bytes = sizeof header,
                                     .size = RTL_API_EVENTS_OF(RTL_API_BLOCKS, RECORDS) + RTL_API_PAIRS_SIZE,
                                     .pairs_at = RTL_API_EVENTS_OF(RTL_API_BLOCKS, RECORDS),
                                     .rows_at = RTL_API_ROWS_AT,
                                     .memory_at = RTL_API_MEMORY_AT,
                                     .counters_at = RTL_API_COUNTERS_AT,
                                     .buckets_at = RTL_API_BUCKETS_AT,
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
    return close(file);
}

static void name(uint32_t row, const char *text)
{
    struct rtl_api_row r = {.state = 1, .kind = row < RTL_API_FUNCTIONS ? RTL_API_LAUNCH : RTL_API_RANGE};
    r.text_bytes = (uint32_t)strlen(text);
    memcpy(r.text, text, r.text_bytes);
    put(&r, sizeof r, RTL_API_ROWS_AT + row * sizeof r);
}

static void node(uint32_t number, uint32_t parent, uint32_t row, uint64_t kernels)
{
    struct rtl_api_node n = {.state = 1, .parent = parent, .row = row, .kernels = kernels, .kernels_ns = 10 * kernels};
    put(&n, sizeof n, RTL_API_NODES_AT + number * sizeof n);
}

static void linked_threads_are_summed(void **state)
{
    (void)state;
    struct rtl_api_copy copy;
    char why[200];
    for (uint64_t i = 0; i < RTL_API_QUEUES; i++) {
        struct rtl_api_queue q = {.linked = i, .unlinked = {i % 2, 3}};
        put(&q, sizeof q, RTL_API_QUEUES_AT + i * sizeof q);
    }
    struct rtl_api_thread t = {.tid = 42, .node = 2, .now = RTL_API_NOW(7, 123456789), .last = RTL_API_NOW(255, 99)};
    put(&t, sizeof t, RTL_API_THREADS_AT + 5 * sizeof t);
    name(RTL_API_FUNCTIONS + 3, "decode");
    node(0, 0, 0, 11);
    node(2, 0, RTL_API_FUNCTIONS + 3, 5);
    header.nodes_used = 3;
    struct rtl_api_counters c = {.calls = 4, .total_ns = 400, .most_ns = 300};
    struct rtl_api_buckets buckets;
    uint64_t four = 4;
    put(&c, sizeof c, RTL_API_LAUNCHES_AT + 9 * sizeof c);
    put(&four, sizeof four, RTL_API_LAUNCH_BUCKETS_AT + 9 * sizeof buckets + 100 * 8);
    header.kernels_used = 10;
    put(&header, sizeof header, 0);

    assert_int_equal(rtl_api_read(file, &copy, why, sizeof why), RTL_READER_OK);
    assert_true(copy.links);
    assert_int_equal(copy.linked.linked, 127 * 64);
    assert_int_equal(copy.linked.unlinked[RTL_API_UNLINKED_OUTSIDE], 64);
    assert_int_equal(copy.linked.unlinked[RTL_API_UNLINKED_QUEUE_THREAD], 3 * 128);
    assert_int_equal(copy.thread[5].tid, 42);
    assert_int_equal(RTL_API_NOW_ROW(copy.thread[5].now), 7);
    assert_int_equal(RTL_API_NOW_NS(copy.thread[5].now), 123456789);
    assert_int_equal(RTL_API_NOW_ROW(copy.thread[5].last), 255);
    assert_int_equal(copy.node_count, 3);
    assert_int_equal(copy.nodes[0].kernels, 11);
    assert_int_equal(copy.nodes[2].kernels, 5);
    assert_int_equal(copy.node_text_bytes[2], 6);
    assert_memory_equal(copy.node_text[2], "decode", 6);
    assert_int_equal(copy.launch_count, 1);
    assert_int_equal(copy.launches[0].kernel, 9);
    assert_int_equal(copy.launches[0].calls, 4);
    assert_true(rtl_api_read_launches(file, 9, &buckets));
    assert_int_equal(buckets.count[100], 4);
    assert_false(rtl_api_read_launches(file, RTL_API_KERNELS, &buckets));
    rtl_api_free(&copy);
}

static void pair(uint32_t number, uint32_t node, uint32_t kernel, uint64_t calls)
{
    struct rtl_api_pair p = {.node = node, .kernel = kernel, .calls = calls, .total_ns = 100 * calls, .most_ns = 150};
    put(&p, sizeof p, header.pairs_at + number * sizeof p);
    put(&calls, sizeof calls,
        header.pairs_at + RTL_API_PAIR_BUCKETS_AT + number * sizeof(struct rtl_api_buckets) + 100 * 8);
}

/* Only pairs of existing nodes count, and only in a slot where they can lie. */
static void only_pairs_of_existing_nodes_count(void **state)
{
    (void)state;
    struct rtl_api_copy copy;
    struct rtl_api_buckets buckets;
    char why[200];
    name(RTL_API_FUNCTIONS + 3, "decode");
    node(0, 0, 0, 0);
    node(2, 0, RTL_API_FUNCTIONS + 3, 5);
    header.nodes_used = 3;
    header.pairs_used = 7;
    header.pairs_over = 4;
    put(&header, sizeof header, 0);
    pair(0, 2, 9, 5);
    pair(1, 0, 9, 5);               /* no range */
    pair(2, 1, 9, 5);               /* not READY */
    pair(3, 3, 9, 5);               /* after the last node */
    pair(4, 2, RTL_API_KERNELS, 5); /* no kernel */
    pair(5, 2, 10, 0);              /* no count yet */
    pair(6, 2, 11, 1);
    assert_int_equal(rtl_api_read(file, &copy, why, sizeof why), RTL_READER_OK);
    assert_int_equal(copy.pair_count, 2);
    assert_int_equal(copy.pairs[0].kernel, 9);
    assert_int_equal(copy.pairs[0].total_ns, 500);
    assert_int_equal(copy.pairs[1].number, 6);
    assert_int_equal(copy.pairs[1].kernel, 11);
    assert_true(rtl_api_read_pair(file, &copy, 0, &buckets));
    assert_int_equal(buckets.count[100], 5);
    assert_false(rtl_api_read_pair(file, &copy, RTL_API_PAIRS, &buckets));
    rtl_api_free(&copy);
    const struct rtl_api_pair elsewhere = {.node = 2, .kernel = 9, .calls = 5};
    put(&elsewhere, sizeof elsewhere, RTL_API_EVENTS_AT - 64);
    const uint64_t wrong[] = {0, header.pairs_at + 64, header.pairs_at - 8, RTL_API_EVENTS_AT - 64, UINT64_MAX - 63};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rtl_api_header h = header;
        h.pairs_at = wrong[i];
        put(&h, sizeof h, 0);
        assert_int_equal(rtl_api_read(file, &copy, why, sizeof why), RTL_READER_OK);
        assert_int_equal(copy.pair_count, 0);
        assert_int_equal(copy.node_count, 3);
        rtl_api_free(&copy);
    }
    header.minor = 1; /* an older library without pairs */
    put(&header, sizeof header, 0);
    assert_int_equal(rtl_api_read(file, &copy, why, sizeof why), RTL_READER_OK);
    assert_int_equal(copy.pair_count, 0);
    rtl_api_free(&copy);
}

static void a_nodes_parent_always_precedes_it(void **state)
{
    (void)state;
    struct rtl_api_copy copy;
    char why[200];
    node(2, 3, RTL_API_FUNCTIONS, 1);
    node(3, 2, RTL_API_FUNCTIONS, 1);
    node(4, 4, RTL_API_FUNCTIONS, 1);
    node(5, UINT32_MAX, UINT32_MAX, 1);
    node(0, 7, 0, 1);
    header.nodes_used = UINT64_MAX;
    header.kernels_used = UINT64_MAX;
    put(&header, sizeof header, 0);
    assert_int_equal(rtl_api_read(file, &copy, why, sizeof why), RTL_READER_OK);
    assert_int_equal(copy.node_count, RTL_API_NODES);
    for (uint32_t i = 1; i < copy.node_count; i++)
        assert_true(copy.nodes[i].parent < i);
    assert_int_equal(copy.nodes[0].parent, 0);
    assert_int_equal(copy.nodes[3].kernels, 1); /* only the impossible pairs are left out */
    assert_int_equal(copy.nodes[2].kernels + copy.nodes[4].kernels + copy.nodes[5].kernels, 0);
    rtl_api_free(&copy);
}

/* Two nodes of one name in one place, which only a damaged segment has: the first one stands for both, also for their
 * children.
 */
static void siblings_of_one_name_are_merged(void **state)
{
    (void)state;
    struct rtl_calls_source source = {.fd = file};
    struct rtl_snapshot s = {0};
    name(RTL_API_FUNCTIONS, "outer");
    name(RTL_API_FUNCTIONS + 1, "inner");
    name(RTL_API_FUNCTIONS + 2, "inner"); /* nor two rows of one name */
    node(0, 0, 0, 0);
    node(2, 0, RTL_API_FUNCTIONS, 1);
    node(3, 0, RTL_API_FUNCTIONS, 2);
    node(4, 2, RTL_API_FUNCTIONS + 1, 3);
    node(5, 3, RTL_API_FUNCTIONS + 2, 4);
    node(6, 5, RTL_API_FUNCTIONS, 5);
    header.nodes_used = 7;
    put(&header, sizeof header, 0);
    rtl_calls_take(&source, 1, NULL, &s);
    assert_non_null(s.calls);
    assert_int_equal(s.calls->node_count, 4);
    for (uint32_t i = 1; i < 4; i++) {
        assert_int_equal(s.calls->nodes[i].parent, i - 1);
        assert_string_equal(s.calls->nodes[i].name, i == 2 ? "inner" : "outer");
        assert_int_equal(s.calls->nodes[i].kernels, 2 * i - 1);
    }
    rtl_snapshot_free(&s);
}

static void segments_without_links_are_read(void **state)
{
    (void)state;
    struct rtl_api_copy copy;
    struct rtl_api_events events;
    char why[200];
    header.minor = 0;
    put(&header, sizeof header, 0);
    assert_int_equal(ftruncate(file, (off_t)RTL_API_THREADS_AT), 0);
    assert_int_equal(rtl_api_read(file, &copy, why, sizeof why), RTL_READER_OK);
    assert_false(copy.links);
    assert_int_equal(copy.node_count + copy.launch_count, 0);
    rtl_api_free(&copy);
    assert_false(rtl_api_events_begin(file, &events));

    header.minor = RTL_API_MINOR; /* a library that claims to have them */
    put(&header, sizeof header, 0);
    assert_int_equal(rtl_api_read(file, &copy, why, sizeof why), RTL_READER_VERSION);
    rtl_api_free(&copy);
}

/* --- events --- */

static void event(uint32_t block, uint64_t number)
{
    struct rtl_api_event e = {.sequence = number, .id = 1000 * block + number, .tid = block};
    put(&e, sizeof e, RTL_API_EVENTS_OF(block, RECORDS) + (number - 1) % RECORDS * sizeof e);
}

static void head(uint32_t block, uint64_t number)
{
    struct rtl_api_thread t = {.events = number};
    put(&t, sizeof t, RTL_API_THREADS_AT + block * sizeof t);
}

static void write_events(uint32_t block, uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n <= to; n++)
        event(block, n);
    head(block, to);
}

static void events_are_complete_and_in_order(void **state)
{
    (void)state;
    struct rtl_api_events events;
    static struct rtl_api_event out[4 * RECORDS];
    uint64_t next[3] = {1, 1, 1}, got = 0;
    write_events(0, 1, 10);
    write_events(2, 1, 700);
    assert_true(rtl_api_events_begin(file, &events));
    for (uint32_t n; (n = rtl_api_events(file, &events, out, 97)) > 0; got += n)
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(out[i].id, 1000 * out[i].tid + next[out[i].tid]++);
    assert_int_equal(got, 710);
    assert_int_equal(events.lost, 0);
    write_events(2, 701, 1500); /* across the ring's end */
    assert_int_equal(rtl_api_events(file, &events, out, 4 * RECORDS), 800);
    assert_int_equal(out[799].id, 3500);
    assert_int_equal(rtl_api_events(file, &events, out, 1), 0);
}

static void overwritten_events_are_counted(void **state)
{
    (void)state;
    struct rtl_api_events events;
    static struct rtl_api_event out[4 * RECORDS];
    write_events(1, 1, 100);
    assert_true(rtl_api_events_begin(file, &events));
    assert_int_equal(rtl_api_events(file, &events, out, 40), 40);
    write_events(1, 101, 3000);
    assert_int_equal(rtl_api_events(file, &events, out, 4 * RECORDS), RECORDS);
    assert_int_equal(out[0].id, 1000 + 3000 - RECORDS + 1);
    assert_int_equal(events.lost, 3000 - RECORDS - 40);

    write_events(1, 3001, 3010);
    event(1, 3003 + RECORDS);     /* the next lap's event is there already, */
    struct rtl_api_event e = {0}; /* and one is being written */
    put(&e, sizeof e, RTL_API_EVENTS_OF(1, RECORDS) + 3005 % RECORDS * sizeof e);
    uint64_t lost = events.lost;
    assert_int_equal(rtl_api_events(file, &events, out, 4 * RECORDS), 8);
    assert_int_equal(events.lost, lost + 2);
}

static void a_busy_thread_hides_no_other_threads_events(void **state)
{
    (void)state;
    struct rtl_api_events events;
    static struct rtl_api_event out[RECORDS];
    bool seen = false;
    assert_true(rtl_api_events_begin(file, &events));
    write_events(9, 1, 1);
    for (uint64_t at = 0; at < 50 && !seen; at++) {
        write_events(3, at * 64 + 1, at * 64 + 64);
        uint32_t n = rtl_api_events(file, &events, out, 64);
        for (uint32_t i = 0; i < n; i++)
            seen |= out[i].tid == 9;
    }
    assert_true(seen);
}

static void impossible_rings_are_ignored(void **state)
{
    (void)state;
    struct rtl_api_events events;
    static const uint64_t records[] = {0, 3, RTL_API_EVENTS_MAX, 1ull << 40, UINT64_MAX};
    for (unsigned i = 0; i < sizeof records / sizeof *records; i++) {
        header.events = records[i];
        put(&header, sizeof header, 0);
        assert_false(rtl_api_events_begin(file, &events));
    }
    header.events = RECORDS;
    put(&header, sizeof header, 0);
    head(4, UINT64_MAX);
    assert_true(rtl_api_events_begin(file, &events));
    struct rtl_api_event out;
    assert_int_equal(rtl_api_events(file, &events, &out, 1), 0);
    head(4, INT64_MAX);
    assert_int_equal(rtl_api_events(file, &events, &out, 1), 0);
    assert_int_equal(ftruncate(file, 4096), 0);
    assert_int_equal(rtl_api_events(file, &events, &out, 1), 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(linked_threads_are_summed),          TEST(a_nodes_parent_always_precedes_it),
        TEST(only_pairs_of_existing_nodes_count), TEST(siblings_of_one_name_are_merged),
        TEST(segments_without_links_are_read),    TEST(events_are_complete_and_in_order),
        TEST(overwritten_events_are_counted),     TEST(a_busy_thread_hides_no_other_threads_events),
        TEST(impossible_rings_are_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
