/* Native queues: which packets are published, when and with which contents; and queues that others write to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "native_fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t kernel(unsigned n)
{
    return 0x10000 + 64 * n; /* names don't matter here: they count as unknown */
}

static hsa_queue_t *queue;

static int begin(void **state)
{
    (void)state;
    native_size = SLOTS;
    native_queue.hsa_queue.base_address = NULL;
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

static bool has_signal(uint64_t index)
{
    return slot_of(index)->completion_signal.handle != 0;
}

static uint32_t way(void)
{
    return AT(native_line()->path);
}

static void a_packet_gets_its_signal_before_the_doorbell(void **state)
{
    (void)state;
    assert_int_equal(way(), RTL_QUEUE_PATH_WORD(RTL_PATH_NATIVE, RTL_REASON_ASKED_FOR));
    uint64_t index = app_add(1), dispatches = AT(native_line()->dispatches), completed = AT(native_line()->completed);
    assert_int_equal(index, 0);
    assert_int_equal(app_load(), 1);
    assert_int_equal(real_load(queue), 0); /* reserved, but not published */
    put(index, kernel(1));
    assert_false(has_signal(index));
    app_ring(index);
    assert_true(has_signal(index));
    assert_int_equal(real_load(queue), 1);
    assert_int_equal(atomic_load(&rings), 1);
    assert_int_equal(rung[0], 0);
    assert_int_equal(AT(native_line()->dispatches), dispatches + 1);
    assert_int_equal(gpu_takes(8), 1);
    wait_completed(native_line(), completed + 1);
    assert_int_equal(sum_untimed(native_line()), 0);
}

static void long_batches_are_published_in_parts(void **state)
{
    (void)state;
    uint64_t first = app_add(200);
    for (uint64_t i = 0; i < 200; i++)
        put(first + i, kernel(1));
    app_ring(first + 199);
    assert_int_equal(real_load(queue), 200);
    assert_true(atomic_load(&rings) >= 3);
    for (uint32_t i = 1; i < atomic_load(&rings); i++)
        assert_true(rung[i] > rung[i - 1]);
    assert_int_equal(rung[atomic_load(&rings) - 1], 199);
    for (uint64_t i = 0; i < 200; i++)
        assert_int_equal(has_signal(i), true);
    gpu_takes(200);
}

static void slots_are_reserved_by_storing_and_exchanging(void **state)
{
    (void)state;
    app_store(2);
    put(0, kernel(1));
    put(1, kernel(1));
    app_ring(1);
    assert_int_equal(real_load(queue), 2);
    assert_int_equal(app_cas(1, 9), 2); /* the index has another value */
    assert_int_equal(app_load(), 2);
    assert_int_equal(app_cas(2, 3), 2);
    put(2, kernel(1));
    app_ring(2);
    assert_int_equal(real_load(queue), 3);
    assert_true(has_signal(2));
    gpu_takes(3);
}

/* Rule: only the thread that reserved a slot reports it as complete; a header alone doesn't. */
static void a_header_in_another_threads_slot_is_no_packet(void **state)
{
    (void)state;
    other.object = kernel(2);
    other_does(RESERVES);
    other_does(WRITES_HEADER); /* no body yet */
    uint64_t mine = app_add(1);
    put(mine, kernel(1));
    app_ring(mine);
    assert_int_equal(real_load(queue), 0);
    assert_int_equal(atomic_load(&rings), 0);
    other_does(WRITES_BODY);
    other_does(RINGS);
    assert_int_equal(real_load(queue), 2); /* and this thread's packet with it */
    assert_int_equal(rung[atomic_load(&rings) - 1], 1);
    assert_true(has_signal(0) && has_signal(1));
    gpu_takes(2);
}

/* Rule: a slot after a full ring still holds the previous lap's packet, with a valid header. */
static void a_full_ring_is_not_overrun(void **state)
{
    (void)state;
    uint64_t dispatches = AT(native_line()->dispatches);
    uint64_t first = app_add(SLOTS);
    for (uint64_t i = 0; i < SLOTS; i++)
        put(first + i, kernel(1));
    app_ring(first + SLOTS - 1);
    assert_int_equal(real_load(queue), SLOTS);
    uint64_t signal = slot_of(0)->completion_signal.handle, beyond = app_add(1);
    app_ring(beyond); /* too early: no free slot yet */
    assert_int_equal(real_load(queue), SLOTS);
    assert_int_equal(slot_of(0)->completion_signal.handle, signal);
    gpu_takes(1);
    put(beyond, kernel(2));
    app_ring(beyond);
    assert_int_equal(real_load(queue), SLOTS + 1);
    assert_int_equal(AT(native_line()->dispatches), dispatches + SLOTS + 1);
    gpu_takes(SLOTS);
}

/* The doorbell rings for the later packet first. The GPU waits for the first packet, and so does the library. */
static void the_order_of_doorbells_does_not_matter(void **state)
{
    (void)state;
    uint64_t a = app_add(1);
    other_does(RESERVES); /* so that this thread's two slots are not adjacent */
    uint64_t b = app_add(1);
    other.object = kernel(2);
    other_does(WRITES);
    other_does(RINGS);
    put(b, kernel(1));
    app_ring(b);
    assert_int_equal(real_load(queue), 0);
    put(a, kernel(1));
    app_ring(a);
    assert_int_equal(real_load(queue), 3);
    assert_true(has_signal(0) && has_signal(1) && has_signal(2));
    gpu_takes(3);
}

static void one_thread_may_reserve_and_another_ring(void **state)
{
    (void)state;
    uint64_t mine = app_add(1);
    put(mine, kernel(1));
    other.index = mine;
    other_does(RINGS);
    assert_int_equal(real_load(queue), 1);
    assert_true(has_signal(0));
    mine = app_add(3);
    for (uint64_t i = 0; i < 3; i++)
        put(mine + i, kernel(1));
    other.index = mine + 2;
    other_does(RINGS);
    assert_int_equal(real_load(queue), 4);
    assert_true(has_signal(1) && has_signal(2) && has_signal(3));
    gpu_takes(4);
}

/* A queue in which one thread rings for another thread's packets, and a header in a slot not rung for yet. */
static void a_header_not_rung_for_is_no_packet(void **state)
{
    (void)state;
    uint64_t mine = app_add(1);
    put(mine, kernel(1));
    other.index = mine;
    other_does(RINGS);
    mine = app_add(1);
    put(mine, kernel(1));
    other.object = kernel(2);
    other_does(RESERVES);
    other_does(WRITES_HEADER); /* no body yet */
    app_ring(mine);
    assert_int_equal(real_load(queue), 2);
    other_does(WRITES_BODY);
    other_does(RINGS);
    assert_int_equal(real_load(queue), 3);
    assert_true(has_signal(2));
    gpu_takes(3);
}

/* A thread that reserved nothing rings with the number of slots, as some programs count. */
static void a_doorbell_beyond_the_reserved_slots_rings_for_all(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        put(app_add(1), kernel(1));
    other.index = 3;
    other_does(RINGS);
    assert_int_equal(real_load(queue), 3);
    put(app_add(1), kernel(1));
    other.index = UINT64_MAX;
    other_does(RINGS);
    assert_int_equal(real_load(queue), 4);
    assert_int_equal(rung[atomic_load(&rings) - 1], 3); /* never the application's value */
    gpu_takes(4);
}

/* The doorbell rings before the packet is written. There is no second doorbell, so the worker has to poll the slot. */
static void a_packet_written_after_its_doorbell_is_published(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        uint64_t mine = app_add(1);
        app_ring(mine);
        assert_int_equal(real_load(queue), mine);
        put(mine, kernel(1));
        WAIT_UNTIL(real_load(queue) == mine + 1);
        gpu_takes(1);
    }
    assert_int_equal(way(), RTL_QUEUE_PATH_WORD(RTL_PATH_NATIVE, RTL_REASON_ASKED_FOR));
}

/* A doorbell beyond a full ring: no call reports the free slot, so the worker goes on polling. */
static void a_doorbell_beyond_a_full_ring_keeps_the_worker_awake(void **state)
{
    (void)state;
    uint64_t first = app_add(SLOTS + 1);
    for (uint64_t i = 0; i < SLOTS; i++) {
        *slot_of(first + i) = (packet_t){.header = HSA_PACKET_TYPE_INVALID}; /* no kernel, so none is in flight */
        __atomic_store_n(&slot_of(first + i)->header, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE,
                         __ATOMIC_RELEASE);
    }
    app_ring(first + SLOTS);
    assert_int_equal(real_load(queue), SLOTS);
    uint64_t rounds = AT(rtl_tool.segment.header->passes);
    /* far more rounds than the worker stays awake without cause */
    WAIT_UNTIL(AT(rtl_tool.segment.header->passes) > rounds + 300);
    gpu_takes(1);
    put(first + SLOTS, kernel(1));
    WAIT_UNTIL(real_load(queue) == SLOTS + 1);
    gpu_takes(SLOTS);
}

/* A complete packet without a doorbell, before a packet with one: it is published as it is, and counted. */
static void a_packet_without_a_doorbell_is_published_untimed(void **state)
{
    (void)state;
    uint64_t let_go = AT(*rtl_queue_untimed(native_line(), RTL_UNTIMED_LET_GO));
    uint64_t dispatches = AT(native_line()->dispatches);
    other.object = kernel(2);
    other_does(RESERVES);
    other_does(WRITES);
    uint64_t mine = app_add(1);
    put(mine, kernel(1));
    app_ring(mine);
    WAIT_UNTIL(real_load(queue) == 2);
    assert_false(has_signal(0));
    assert_int_equal(AT(*rtl_queue_untimed(native_line(), RTL_UNTIMED_LET_GO)), let_go + (has_signal(1) ? 1 : 2));
    assert_int_equal(AT(native_line()->dispatches), dispatches + 2);
    gpu_takes(2);
    other_does(RINGS); /* a late doorbell for a published packet: no effect */
    mine = app_add(1);
    put(mine, kernel(1));
    app_ring(mine);
    assert_int_equal(real_load(queue), 3);
    assert_true(has_signal(2));
    gpu_takes(1);
}

/* A thread that often loses the CPU before its doorbell must not make the library trust headers. */
static void late_doorbells_do_not_make_headers_count(void **state)
{
    (void)state;
    other.object = kernel(2);
    for (int i = 0; i < 3; i++) {
        other_does(RESERVES);
        other_does(WRITES);
        uint64_t mine = app_add(1);
        put(mine, kernel(1));
        app_ring(mine);
        WAIT_UNTIL(real_load(queue) == mine + 1);
        other_does(RINGS);
        gpu_takes(2);
    }
    assert_false(atomic_load(&native_of()->loose));
}

/* One packet without a doorbell, in a queue that always had them: the packet is published, the queue stays native. */
static void one_missing_doorbell_keeps_the_queue_native(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        put(app_add(1), kernel(1));
        app_ring(i);
    }
    put(app_add(1), kernel(1));
    WAIT_UNTIL(real_load(queue) == 3);
    app_ring(2);
    put(app_add(1), kernel(1));
    app_ring(3);
    assert_int_equal(way(), RTL_QUEUE_PATH_WORD(RTL_PATH_NATIVE, RTL_REASON_ASKED_FOR));
    assert_true(has_signal(3));
    gpu_takes(4);
}

/* The complete process stops between a packet and its doorbell, as under a debugger: that time must not count as delay.
 */
static void a_stopped_process_does_not_count_as_delay(void **state)
{
    (void)state;
    bool timed = false;
    put(app_add(1), kernel(1));
    app_ring(0);
    gpu_takes(1);
    for (int tries = 0; tries < 5 && !timed; tries++) {
        pid_t parent = getpid(), child = fork();
        if (child == 0) {
            while (kill(parent, SIGCONT) == 0)
                usleep(400000);
            _exit(0);
        }
        uint64_t mine = app_add(1), rounds = AT(rtl_tool.segment.header->passes);
        put(mine, kernel(1));
        raise(SIGSTOP);
        WAIT_UNTIL(AT(rtl_tool.segment.header->passes) > rounds + 2);
        raise(SIGSTOP);
        rounds = AT(rtl_tool.segment.header->passes);
        WAIT_UNTIL(AT(rtl_tool.segment.header->passes) > rounds + 2);
        app_ring(mine);
        timed = has_signal(mine);
        gpu_takes(1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    assert_true(timed);
}

/* Another writer moves the queue's own index: from then on the queue is demoted, and its packets are only counted. */
static void a_queue_whose_index_others_write_is_demoted(void **state)
{
    (void)state;
    uint64_t dispatches = AT(native_line()->dispatches);
    uint64_t mine = app_add(1);
    put(mine, kernel(1));
    app_ring(mine);
    gpu_takes(1);
    uint64_t theirs = real_add(queue, 1);
    assert_int_equal(theirs, 1);
    put(theirs, kernel(2));
    assert_int_equal(app_add(1), 2); /* not the same slot again */
    assert_int_equal(way(), RTL_QUEUE_PATH_WORD(RTL_PATH_DEMOTED, RTL_REASON_INDEX_MOVED));
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_QUEUE_DEMOTED);
    put(2, kernel(3));
    app_ring(2);
    assert_int_equal(rung[atomic_load(&rings) - 1], 2); /* the runtime's own function was called */
    assert_int_equal(app_load(), 3);
    assert_int_equal(real_load(queue), 3);
    assert_false(has_signal(1) || has_signal(2));
    gpu_takes(2);
    WAIT_UNTIL(AT(native_line()->dispatches) == dispatches + 3);
    assert_int_equal(app_cas(3, 4), 3);
    assert_int_equal(real_load(queue), 4);
    app_store(5);
    assert_int_equal(real_load(queue), 5);
}

/* A queue never used through the runtime's functions: the worker's polling finds it. */
static void a_queue_used_without_the_runtime_is_demoted(void **state)
{
    (void)state;
    uint64_t dispatches = AT(native_line()->dispatches);
    for (uint64_t i = 0; i < 3; i++) {
        uint64_t theirs = real_add(queue, 1);
        put(theirs, kernel(1));
    }
    WAIT_UNTIL(way() == RTL_QUEUE_PATH_WORD(RTL_PATH_DEMOTED, RTL_REASON_INDEX_MOVED));
    WAIT_UNTIL(AT(native_line()->dispatches) == dispatches + 3);
    assert_int_equal(atomic_load(&rings), 0); /* the library never rings for it */
    gpu_takes(3);
}

/* Slots reserved through the runtime, but the doorbell rings in hardware: no call reaches the library. */
static void a_queue_with_hardware_doorbells_is_demoted(void **state)
{
    (void)state;
    uint64_t mine = app_add(2);
    put(mine, kernel(1));
    put(mine + 1, kernel(1));
    WAIT_UNTIL(way() == RTL_QUEUE_PATH_WORD(RTL_PATH_DEMOTED, RTL_REASON_RINGS_ITSELF));
    assert_int_equal(real_load(queue), 2); /* all reserved slots */
    assert_int_equal(rung[atomic_load(&rings) - 1], 1);
    assert_false(has_signal(0) || has_signal(1));
    assert_int_equal(app_add(1), 2);
    assert_int_equal(real_load(queue), 3);
    gpu_takes(2);
}

/* A few late doorbells keep the queue native. Only a queue without any doorbell call has a hardware doorbell. */
static void a_late_doorbell_keeps_the_queue_native(void **state)
{
    (void)state;
    uint64_t mine = app_add(1);
    put(mine, kernel(1));
    app_ring(mine);
    gpu_takes(1);
    mine = app_add(1);
    put(mine, kernel(1));
    WAIT_UNTIL(real_load(queue) == 2);
    app_ring(mine);
    assert_int_equal(way(), RTL_QUEUE_PATH_WORD(RTL_PATH_NATIVE, RTL_REASON_ASKED_FOR));
    mine = app_add(1);
    put(mine, kernel(1));
    app_ring(mine);
    assert_true(has_signal(mine));
    gpu_takes(2);
}

static void a_cooperative_queue_is_shared_by_reference(void **state)
{
    (void)state;
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t,
                           hsa_queue_t **) = core.slot[7];
    hsa_queue_t *again = NULL;
    assert_int_equal(create((hsa_agent_t){77}, SLOTS, HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL, 0, 0, &again), 0);
    assert_ptr_equal(again, queue);
    struct rtl_native *native = native_of();
    assert_int_equal(native->references, 2);
    app_queue_destroy(again);
    assert_ptr_equal(native_of(), native);
    uint64_t mine = app_add(1);
    put(mine, kernel(1));
    app_ring(mine);
    assert_true(has_signal(mine));
    gpu_takes(1);
}

/* More separate slots than a thread's record holds: none is lost. */
static void more_slots_than_the_record_holds_are_published(void **state)
{
    (void)state;
    enum { MANY = RTL_RESERVATIONS + 8 };
    uint64_t mine[MANY];
    uint64_t dispatches = AT(native_line()->dispatches);
    other.object = kernel(2);
    for (int i = 0; i < MANY; i++) {
        mine[i] = app_add(1);
        put(mine[i], kernel(1));
        other_does(RESERVES);
        other_does(WRITES);
        other_does(RINGS);
    }
    app_ring(mine[MANY - 1]);
    WAIT_UNTIL(real_load(queue) == 2 * MANY);
    assert_int_equal(AT(native_line()->dispatches), dispatches + 2 * MANY);
    gpu_takes(2 * MANY);
}

static int load_library(void **state)
{
    (void)state;
    fill_native_tables();
    return OnLoad(&root, 1, 0, NULL) ? 0 : -1;
}

/* --- the turn to publish (native_turn.h; all orders: test_intercept_native_turns) --- */

static void submits_one(void)
{
    uint64_t index = app_add(1);
    put(index, kernel(1));
    app_ring(index);
}

static bool is_shared(void)
{
    return atomic_load(&native_of()->turn.owner) == RTL_TURN_SHARED;
}

static uint64_t looks(void)
{
    return AT(rtl_tool.segment.header->passes);
}

static void worker_looks(void)
{
    uint64_t before = looks();
    for (int i = 0; i < patience() && looks() < before + 3; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* The queue's only thread may be delayed anywhere: the worker sees differing indices, and leaves the queue to that
 * thread.
 */
static void a_queue_of_one_thread_keeps_its_owner(void **state)
{
    (void)state;
    submits_one();
    assert_false(is_shared());
    atomic_store(&in_index, worker_looks);
    submits_one();
    atomic_store(&in_index, NULL);
    atomic_store(&in_bell, worker_looks);
    submits_one();
    atomic_store(&in_bell, NULL);
    assert_false(is_shared());
    assert_int_equal(real_load(queue), 3);
    assert_int_equal(way(), RTL_QUEUE_PATH_WORD(RTL_PATH_NATIVE, RTL_REASON_ASKED_FOR));
    gpu_takes(3);
}

static void other_submits(void)
{
    atomic_store(&in_bell, NULL);
    other_does(RESERVES);
    other_does(WRITES);
    other_does(RINGS);
}

static void it_submits_more(void)
{
    atomic_store(&in_bell, NULL);
    submits_one();
}

/* Packets that arrive while the owner publishes are left to it, also those of its own signal handler. */
static void packets_that_come_meanwhile_are_left_to_the_owner(void **state)
{
    (void)state;
    other.object = kernel(2);
    for (int i = 0; i < 2; i++) {
        submits_one();
        assert_false(is_shared());
        atomic_store(&in_bell, i ? other_submits : it_submits_more);
        submits_one();
        assert_true(is_shared());
        assert_int_equal(real_load(queue), 3);
        assert_true(has_signal(0) && has_signal(1) && has_signal(2));
        assert_false(rtl_turn_is_taken(&native_of()->turn));
        submits_one();
        assert_int_equal(real_load(queue), 4);
        gpu_takes(4);
        end(state);
        begin(state);
    }
}

static int unload_library(void **state)
{
    (void)state;
    OnUnload();
    return 0;
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_packet_gets_its_signal_before_the_doorbell),
        TEST(long_batches_are_published_in_parts),
        TEST(slots_are_reserved_by_storing_and_exchanging),
        TEST(a_header_in_another_threads_slot_is_no_packet),
        TEST(a_full_ring_is_not_overrun),
        TEST(the_order_of_doorbells_does_not_matter),
        TEST(one_thread_may_reserve_and_another_ring),
        TEST(a_header_not_rung_for_is_no_packet),
        TEST(a_doorbell_beyond_the_reserved_slots_rings_for_all),
        TEST(a_packet_written_after_its_doorbell_is_published),
        TEST(a_doorbell_beyond_a_full_ring_keeps_the_worker_awake),
        TEST(a_packet_without_a_doorbell_is_published_untimed),
        TEST(late_doorbells_do_not_make_headers_count),
        TEST(one_missing_doorbell_keeps_the_queue_native),
        TEST(a_stopped_process_does_not_count_as_delay),
        TEST(a_queue_whose_index_others_write_is_demoted),
        TEST(a_queue_used_without_the_runtime_is_demoted),
        TEST(a_queue_with_hardware_doorbells_is_demoted),
        TEST(a_late_doorbell_keeps_the_queue_native),
        TEST(a_cooperative_queue_is_shared_by_reference),
        TEST(more_slots_than_the_record_holds_are_published),
        TEST(a_queue_of_one_thread_keeps_its_owner),
        TEST(packets_that_come_meanwhile_are_left_to_the_owner),
    };
    return cmocka_run_group_tests(tests, load_library, unload_library);
}
