/* Links between calls and the packets that they submit: a packet belongs to the thread that reserved its slot,
 * whichever thread publishes it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "native_fixture.h"

#include <sys/mman.h>

#include "intercept/track/links.h"
#include "shm/hip_api_clock.h"
#include "shm/hip_api_link.h"

/* Replaces librtl-hip.so's: the test sets each thread's call. */
rtl_hip_api_link_function rtl_api_link;

static __thread struct rtl_hip_api_call mine;
static struct rtl_hip_api_call others;
static pthread_t main_thread;
static char *segment;
static struct rtl_hip_api_clock api_clock;
static uint32_t link_bytes = sizeof(struct rtl_hip_api_link);

static struct rtl_hip_api_call *call_of_thread(void)
{
    return pthread_equal(pthread_self(), main_thread) ? &mine : &others;
}

__attribute__((visibility("default"))) const struct rtl_hip_api_link *rtl_api_link(void)
{
    static struct rtl_hip_api_link link;
    link = (struct rtl_hip_api_link){RTL_HIP_API_LINK_VERSION, link_bytes, call_of_thread, (void *)segment, &api_clock};
    return &link;
}

static struct rtl_hip_api_header *header(void)
{
    return (void *)segment;
}

static struct rtl_hip_api_queue *counted(void)
{
    return (struct rtl_hip_api_queue *)(void *)(segment + RTL_HIP_API_QUEUES_AT) + native_of()->tracker->slot;
}

static struct rtl_hip_api_node *node(uint32_t number)
{
    return (struct rtl_hip_api_node *)(void *)(segment + RTL_HIP_API_NODES_AT) + number;
}

static struct rtl_hip_api_pair *pair(uint32_t number)
{
    return (struct rtl_hip_api_pair *)(void *)(segment + header()->pairs_at) + number;
}

/* Sum a node's kernels over its pairs, and check their buckets. */
static uint64_t kernels_of_pairs(uint32_t of)
{
    const struct rtl_hip_api_buckets *b = (const void *)(segment + header()->pairs_at + RTL_HIP_API_PAIR_BUCKETS_AT);
    uint64_t calls = 0, counted = 0, total = 0;
    for (uint32_t i = 0; i < AT(header()->pairs_used) && i < RTL_HIP_API_PAIRS; i++) {
        if (AT(pair(i)->node) != of)
            continue;
        calls += AT(pair(i)->calls);
        total += AT(pair(i)->total_ns);
        for (uint32_t j = 0; j < RTL_HIP_API_BUCKETS; j++)
            counted += AT(b[i].count[j]);
    }
    assert_int_equal(calls, counted);
    assert_int_equal(total, calls ? AT(node(of)->kernels_ns) : 0);
    return calls;
}

static uint64_t launches(void)
{
    const struct rtl_hip_api_counters *c = (const void *)(segment + RTL_HIP_API_LAUNCHES_AT);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < AT(header()->kernels_used); i++)
        sum += AT(c[i].calls);
    return sum;
}

/* Read an event as a reader does. */
static const struct rtl_linked_event *event(uint64_t number)
{
    static struct rtl_linked_event copy;
    const struct rtl_segment *s = &rtl_tool.segment;
    uint64_t to[sizeof copy / 8];
    const uint64_t *from = (const uint64_t *)(const void *)((const struct rtl_linked_event *)(const void *)s->events +
                                                            ((number - 1) & s->event_mask));
    for (unsigned i = 0; i < sizeof copy / 8; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
    memcpy(&copy, to, sizeof copy);
    assert_int_equal(copy.record.sequence, number);
    return &copy;
}

static hsa_queue_t *queue;

static int begin(void **state)
{
    (void)state;
    native_size = SLOTS;
    native_queue.hsa_queue.base_address = NULL;
    memset(&mine, 0, sizeof mine);
    memset(&others, 0, sizeof others);
    queue = app_queue();
    other_starts();
    return native_of() ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    other_ends();
    app_queue_destroy(queue);
    return native_of() ? -1 : 0;
}

static uint64_t completed(void)
{
    return __atomic_load_n(&native_line()->completed, __ATOMIC_ACQUIRE); /* and everything recorded before */
}

static void a_packet_belongs_to_its_reserving_thread(void **state)
{
    (void)state;
    uint64_t over = completed(), linked = counted()->linked, events = AT(rtl_tool.segment.ring->head), sum = launches();
    uint64_t kernels[2] = {AT(node(5)->kernels), AT(node(6)->kernels)};
    others = (struct rtl_hip_api_call){.id = 100, .entry_ns = 7, .range = 50, .node = 5, .ordinal = 0};
    mine = (struct rtl_hip_api_call){.id = 200, .entry_ns = 8, .range = 60, .node = 6, .ordinal = 3};
    other.object = 0x10000;
    other_does(RESERVES);
    uint64_t index = app_add(1);
    assert_int_equal(index, other.index + 1);
    assert_int_equal(mine.ordinal, 4);
    put(index, 0x10040);
    app_ring(index); /* the other packet isn't written: nothing is published */
    mine.id = 201;   /* and this thread continues in another call */
    other_does(WRITES);
    other_does(RINGS); /* the other thread publishes both */
    assert_int_equal(gpu_takes(2), 2);
    WAIT_UNTIL(completed() == over + 2);
    assert_int_equal(counted()->linked, linked + 2);
    assert_int_equal(AT(node(5)->kernels), kernels[0] + 1);
    assert_int_equal(AT(node(6)->kernels), kernels[1] + 1);
    assert_int_equal(AT(node(5)->kernels_ns), 10 * 7 * AT(node(5)->kernels));
    assert_int_equal(kernels_of_pairs(5), AT(node(5)->kernels));
    assert_int_equal(kernels_of_pairs(6), AT(node(6)->kernels));
    assert_int_equal(AT(header()->pairs_over), 0);
    assert_true(launches() <= sum + 2);
    for (uint64_t n = events + 1; n <= events + 2; n++) {
        const struct rtl_linked_event *e = event(n);
        bool first = e->record.correlation == 100;
        assert_true(first || e->record.correlation == 200);
        assert_int_equal(e->link.range, first ? 50 : 60);
        assert_int_equal(e->link.entry_ns, first ? 7 : 8);
        assert_int_equal(e->link.node, first ? 5 : 6);
        assert_int_equal(e->link.ordinal, first ? 0 : 3);
    }
}

static void all_reserving_functions_are_linked(void **state)
{
    (void)state;
    uint64_t over = completed(), linked = counted()->linked;
    mine = (struct rtl_hip_api_call){.id = 300};
    assert_int_equal(app_cas(0, 2), 0);
    app_store(5);
    assert_int_equal(app_add(3), 5);
    assert_int_equal(mine.ordinal, 8);
    assert_int_not_equal(app_cas(0, 9), 0); /* fails */
    assert_int_equal(mine.ordinal, 8);
    for (uint64_t i = 0; i < 8; i++)
        put(i, 0x10000);
    app_ring(7);
    assert_int_equal(gpu_takes(8), 8);
    WAIT_UNTIL(completed() == over + 8);
    assert_int_equal(counted()->linked, linked + 8);
}

static void packets_outside_calls_are_counted(void **state)
{
    (void)state;
    uint64_t over = completed(), events = AT(rtl_tool.segment.ring->head);
    struct rtl_hip_api_queue before = *counted();
    mine.range = 12; /* has no meaning without a call */
    put(app_add(1), 0x10000);
    app_ring(0);
    __atomic_fetch_or(&header()->flags, RTL_HIP_API_FLAG_INDIRECT, __ATOMIC_RELAXED);
    put(app_add(1), 0x10000);
    app_ring(1);
    __atomic_fetch_and(&header()->flags, ~(uint64_t)RTL_HIP_API_FLAG_INDIRECT, __ATOMIC_RELAXED);
    assert_int_equal(gpu_takes(2), 2);
    WAIT_UNTIL(completed() == over + 2);
    assert_int_equal(counted()->linked, before.linked);
    assert_int_equal(counted()->unlinked[RTL_HIP_API_UNLINKED_OUTSIDE],
                     before.unlinked[RTL_HIP_API_UNLINKED_OUTSIDE] + 1);
    assert_int_equal(counted()->unlinked[RTL_HIP_API_UNLINKED_QUEUE_THREAD],
                     before.unlinked[RTL_HIP_API_UNLINKED_QUEUE_THREAD] + 1);
    assert_int_equal(event(events + 1)->record.correlation, 0);
    assert_int_equal(event(events + 1)->link.range, 0);
}

/* More slots are reserved than notes fit, before the first packet is published: overwritten notes are lost, and no note
 * goes to another packet.
 */
static void overwritten_notes_link_no_packet(void **state)
{
    (void)state;
    uint64_t over = completed();
    struct rtl_hip_api_queue before = *counted();
    mine = (struct rtl_hip_api_call){.id = 400};
    put(app_add(1), 0x10000);
    mine.id = 401;
    app_add(1 << 13);
    app_ring(0);
    assert_int_equal(gpu_takes(1), 1);
    WAIT_UNTIL(completed() == over + 1);
    WAIT_UNTIL(counted()->unlinked[RTL_HIP_API_UNLINKED_OVERTAKEN] > before.unlinked[RTL_HIP_API_UNLINKED_OVERTAKEN]);
    assert_int_equal(counted()->linked, before.linked);
    assert_int_equal(counted()->unlinked[RTL_HIP_API_UNLINKED_OVERTAKEN],
                     before.unlinked[RTL_HIP_API_UNLINKED_OVERTAKEN] + 1);
}

/* Another queue at the same address starts at index 0 again. */
static void notes_of_an_earlier_queue_are_void(void **state)
{
    mine = (struct rtl_hip_api_call){.id = 500};
    put(app_add(1), 0x10000);
    app_ring(0);
    assert_int_equal(gpu_takes(1), 1);
    end(state);
    begin(state);
    struct rtl_link link = {.call = 1};
    uint64_t over = counted()->unlinked[RTL_HIP_API_UNLINKED_UNNOTED];
    rtl_links_see(native_of()->tracker, 0, 0);
    assert_int_equal(counted()->unlinked[RTL_HIP_API_UNLINKED_UNNOTED], over + 1);
    assert_int_equal(rtl_links_of(0)->call, 0);
    link = rtl_links_now();
    assert_int_equal(link.call, 0);
    mine.id = 501;
    link = rtl_links_now();
    assert_int_equal(link.call, 501);
    assert_int_equal(rtl_links_now().ordinal, 1);
}

/* Record as the worker does: without a range there is no pair, and excess pairs are only counted. */
static void too_many_pairs_are_counted(void **state)
{
    (void)state;
    enum { EACH = 2, KERNELS = 64 };
    uint64_t used = AT(header()->pairs_used), over = AT(header()->pairs_over);
    struct rtl_link *link = (struct rtl_link *)(uintptr_t)rtl_links_of(1), was = *link;
    *link = (struct rtl_link){.call = 1, .node = RTL_HIP_API_NODE_NONE};
    rtl_links_record(1, 9, 0, 100);
    assert_int_equal(AT(header()->pairs_used), used);
    for (uint32_t i = 0; i < RTL_HIP_API_PAIRS + KERNELS; i++)
        for (uint32_t times = 0; times < EACH; times++) {
            link->node = 100 + i / KERNELS;
            rtl_links_record(1, i % KERNELS, 0, 100 + i);
        }
    assert_int_equal(AT(header()->pairs_used), RTL_HIP_API_PAIRS);
    assert_int_equal(AT(header()->pairs_over) - over, EACH * (KERNELS + used));
    assert_int_equal(kernels_of_pairs(100), EACH * KERNELS);
    assert_int_equal(AT(pair((uint32_t)used + 5)->kernel), 5);
    assert_int_equal(AT(pair((uint32_t)used + 5)->most_ns), 105);
    assert_int_equal(AT(pair((uint32_t)used + 5)->calls), EACH);
    *link = was;
}

static void one_goes_by(void)
{
    uint64_t over = completed(), index = app_add(1);
    put(index, 0x10000);
    app_ring(index);
    assert_int_equal(gpu_takes(1), 1);
    WAIT_UNTIL(completed() == over + 1);
}

/* Check the clock's time against the system's before and after. Return false when the clock has no valid line. */
static bool says_the_time(void)
{
    enum { MS = 1000000 };
    uint64_t before = rtl_mono_ns(), version = rtl_hip_api_clock_version(&api_clock);
    uint64_t ns = version ? rtl_hip_api_clock_at(&api_clock, version, rtl_tsc()) : 0;
    if (ns) {
        assert_true(ns + MS >= before);
        assert_true(ns <= rtl_mono_ns() + MS);
    }
    return ns != 0;
}

/* Only while the worker polls the clocks. */
static void calls_use_the_clock_while_the_worker_is_awake(void **state)
{
    (void)state;
    if (!atomic_load(&rtl_hot.tsc))
        skip();
    for (int times = 0; times < 2; times++) {
        bool told = false;
        WAIT_UNTIL(told = told || (one_goes_by(), says_the_time()));
        for (int i = 0; i < 100; i++) {
            one_goes_by();
            says_the_time();
        }
        WAIT_UNTIL(rtl_hip_api_clock_version(&api_clock) == 0); /* the worker is parked */
    }
}

/* A librtl-hip.so without a clock, and one whose clock another librtl.so sets. */
static bool others_clocks_are_let_be(void)
{
    static const char another;
    const struct rtl_line line = {1, 1, 1};
    link_bytes = offsetof(struct rtl_hip_api_link, clock);
    bool linked = rtl_links_find();
    rtl_links_set_clock(&line);
    link_bytes = sizeof(struct rtl_hip_api_link);
    linked &= rtl_hip_api_clock_claim(&api_clock, &another) && rtl_links_find();
    rtl_links_set_clock(&line);
    bool let_be = rtl_hip_api_clock_version(&api_clock) == 0;
    memset(&api_clock, 0, sizeof api_clock);
    return linked && let_be;
}

static int load_library(void **state)
{
    (void)state;
    main_thread = pthread_self();
    segment = mmap(NULL, RTL_HIP_API_SIZE + RTL_HIP_API_PAIRS_SIZE, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (segment == MAP_FAILED)
        return -1;
    header()->minor = RTL_HIP_API_MINOR;
    header()->pairs_at = RTL_HIP_API_SIZE;
    setenv("RTL_MODE", "hip", 1);
    setenv("RTL_TRACE", "64K", 1);
    fill_native_tables();
    if (!others_clocks_are_let_be())
        return -1;
    return OnLoad(&root, 0, 0, NULL) && (header()->flags & RTL_HIP_API_FLAG_LINKED) && rtl_tool.segment.event_links
               ? 0
               : -1;
}

static int unload_library(void **state)
{
    OnUnload();
    return free_signals(state);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_packet_belongs_to_its_reserving_thread),
        TEST(all_reserving_functions_are_linked),
        TEST(packets_outside_calls_are_counted),
        TEST(overwritten_notes_link_no_packet),
        TEST(notes_of_an_earlier_queue_are_void),
        TEST(too_many_pairs_are_counted),
        TEST(calls_use_the_clock_while_the_worker_is_awake),
    };
    return cmocka_run_group_tests(tests, load_library, unload_library);
}
