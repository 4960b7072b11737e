/*
 * A runtime that passes batches of packets. No available release does; this stand-in follows the source of ROCr's
 * intercept queue from 7.2 on. A doorbell takes all packets from the last one up to the first INVALID one or the write
 * index, passes them in one call, then frees their slots. The releases differ in where wrapped packets lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime_fixture.h"

#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>

#include "intercept/hooks/queue_selftest.h"

enum kind {
    SINGLE,  /* one packet a call, up to 7.1 */
    WHOLE,   /* wrapped packets are copied into a buffer as large as the queue: 7.13 */
    PAST,    /* the address in the ring, whatever the count: 7.2.0 */
    LIMITED, /* copied into a buffer of 256 packets: 7.2.1 to 7.2.4 */
};
static enum kind kind;

struct queue {
    union {
        hsa_queue_t shown;
        amd_queue_t whole;
    };
    packet_t *ring; /* ends at an inaccessible page */
    size_t bytes;
    uint64_t write, next;
    packet_t *buffer;
    rtl_packet_handler handler;
    void *data;
};
static uint64_t beyond, calls, most;
static uint64_t next_id; /* a runtime numbers all its queues in sequence */

static hsa_status_t batching_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                    void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **made)
{
    struct queue *queue = calloc(1, sizeof *queue);
    (void)agent, (void)type, (void)error, (void)data, (void)private_segment, (void)group_segment;
    queue->bytes = size * sizeof(packet_t);
    char *memory = mmap(NULL, queue->bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + queue->bytes, 4096, PROT_NONE);
    queue->ring = (packet_t *)(void *)memory;
    for (uint32_t i = 0; i < size; i++)
        queue->ring[i].header = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
    queue->buffer = kind == WHOLE ? malloc(queue->bytes) : kind == LIMITED ? malloc(256 * sizeof(packet_t)) : NULL;
    queue->shown.base_address = queue->ring;
    queue->shown.size = size;
    queue->shown.id = next_id++;
    queue->shown.doorbell_signal.handle = (uintptr_t)queue;
    *made = &queue->shown;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t batching_destroy(hsa_queue_t *shown)
{
    struct queue *queue = (struct queue *)shown;
    if (shown == &the_queue)
        return HSA_STATUS_SUCCESS;
    munmap(queue->ring, queue->bytes + 4096);
    free(queue->buffer);
    free(queue);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t batching_register(hsa_queue_t *shown, rtl_packet_handler registered, void *data)
{
    struct queue *queue = (struct queue *)shown;
    queue->handler = registered;
    queue->data = handler_data = data;
    return HSA_STATUS_SUCCESS;
}

static void store_write_index(const hsa_queue_t *shown, uint64_t index)
{
    ((struct queue *)(uintptr_t)shown)->write = index;
}

static void take_in_order(const void *packets, uint64_t count)
{
    memcpy(&written[written_count], packets, count * sizeof(packet_t));
    written_count += count;
}

static rtl_packet_writer writer_of_batches = take_in_order;

static void ring_doorbell(hsa_signal_t signal, hsa_signal_value_t value)
{
    struct queue *queue = (struct queue *)(uintptr_t)signal.handle;
    uint64_t size = queue->shown.size, mask = size - 1, n = 0;
    (void)value;
    while (queue->next + n < queue->write && n < size &&
           queue->ring[(queue->next + n) & mask].header != HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE)
        n++;
    for (uint64_t done = 0; done < n;) {
        uint64_t count = kind == SINGLE ? 1 : n, at = queue->next & mask;
        const packet_t *packets = &queue->ring[at];
        if (at + count > size && kind != PAST) {
            uint64_t room = kind == LIMITED && count > 256 ? 256 : count;
            beyond += count - room; /* here the runtime itself writes out of bounds */
            for (uint64_t i = 0; i < room; i++)
                queue->buffer[i] = queue->ring[(at + i) & mask];
            packets = queue->buffer;
            count = room;
        }
        calls++;
        most = count > most ? count : most;
        queue->handler(packets, count, queue->next, queue->data, writer_of_batches);
        for (uint64_t i = 0; i < count; i++)
            queue->ring[(queue->next + i) & mask].header = HSA_PACKET_TYPE_INVALID << HSA_PACKET_HEADER_TYPE;
        queue->next += count;
        done += count;
    }
}

/* Load a runtime of that kind, with the table of a release that may batch. */
static void load(enum kind wanted)
{
    kind = wanted;
    fill_tables();
    ext.version[1] = 16 + 84 * 8;
    core.slot[9] = (void *)batching_destroy;
    core.slot[16] = (void *)store_write_index;
    core.slot[42] = (void *)ring_doorbell;
    ext.slot[37] = (void *)batching_create;
    ext.slot[38] = (void *)batching_register;
    assert_true(OnLoad(&root, 1, 0, NULL));
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    assert_int_equal(freeze((hsa_executable_t){9}, NULL), HSA_STATUS_SUCCESS);
}

static hsa_queue_t *app_queue_of(uint32_t size)
{
    hsa_queue_t *queue = NULL;
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t,
                           hsa_queue_t **) = core.slot[7];
    assert_int_equal(create((hsa_agent_t){77}, size, 0, NULL, NULL, 0, 0, &queue), HSA_STATUS_SUCCESS);
    return queue;
}

/* True for a signal that measures the GPU's progress and belongs to no dispatch (throttle.h). */
static bool is_gauge(hsa_signal_t signal)
{
    const struct rtl_tracker *tracker = handler_data;
    bool is = false;
    for (int i = 0; i < RTL_MARKS; i++)
        is |= tracker->guarded && signal.handle == tracker->marker[i].signal.handle;
    return is;
}

/* Write runs of packets of all kinds and all lengths up to the queue's, wrapping again and again. */
static void feed(uint32_t size, unsigned rounds, uint64_t want_most)
{
    static packet_t sent[RING];
    hsa_queue_t *shown = app_queue_of(size);
    struct queue *queue = (struct queue *)shown;
    assert_ptr_not_equal(shown, &the_queue);
    struct rtl_queue *line = counters_of();
    uint64_t dispatches = AT(line->dispatches), untimed = sum_untimed(line), completed = AT(line->completed);
    uint64_t packets = AT(line->packets), kernels = 0, all = 0;
    calls = most = 0;
    for (unsigned round = 0; round < rounds; round++) {
        uint64_t n = round == 0 ? size : 1 + (uint64_t)rand() % size, ours = 0;
        written_count = 0;
        for (uint64_t i = 0; i < n; i++) {
            int sort = rand() % 4;
            sent[i] = sort == 0   ? other_packet(HSA_PACKET_TYPE_BARRIER_AND, all + i)
                      : sort == 1 ? kernel_packet(KERNEL, app_signal(1).handle)
                                  : kernel_packet(KERNEL, 0);
            if (sort == 0)
                sent[i].completion_signal.handle = 0;
            sent[i].reserved2 = all + i; /* all differ */
            kernels += sort != 0;
            queue->ring[(queue->write + i) & (size - 1)] = sent[i];
        }
        all += n;
        store_write_index(shown, queue->write + n);
        ring_doorbell(shown->doorbell_signal, 0);
        for (uint64_t i = 0; i < n; i++) { /* as sent and in order, except for our signals */
            hsa_signal_t carried = written[i].completion_signal;
            written[i].completion_signal = sent[i].completion_signal;
            assert_memory_equal(&written[i], &sent[i], sizeof sent[i]);
            written[i].completion_signal = carried;
            if (carried.handle) {
                complete(&written[i], 50000000, 10);
                ours += !is_gauge(carried);
            }
        }
        if (written_count > n) { /* followed by a marker */
            assert_true(is_gauge(written[n].completion_signal));
            complete(&written[n], 50000000, 10);
            written_count--;
        }
        assert_int_equal(written_count, n);
        wait_completed(line, completed += ours);
        for (uint64_t i = 0; i < n; i++)
            if (sent[i].completion_signal.handle)
                app_signal_destroy(sent[i].completion_signal);
    }
    assert_int_equal(AT(line->dispatches), dispatches + kernels);
    assert_int_equal(AT(line->packets), packets + all);
    assert_int_equal(sum_untimed(line), untimed); /* every dispatch was timed */
    assert_int_equal(most, want_most);
    app_queue_destroy(shown);
}

static void packets_one_at_a_time_are_timed(void **state)
{
    (void)state;
    load(SINGLE);
    feed(64, 100, 1);
    OnUnload();
}

/* Under a sanitizer the heap isn't glibc's, and its growth proves nothing. All tests use one answer, because a thread
 * that ends meanwhile may free memory.
 */
static bool heap_tells(void)
{
    static enum { UNASKED, NO, YES } answer;
    if (!answer) {
        size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
        void *volatile some = malloc(1 << 20);
        size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
        free(some);
        answer = after >= before + (1 << 19) ? YES : NO;
    }
    return answer == YES;
}

static void batches_of_any_length_are_timed(void **state)
{
    (void)state;
    load(heap_tells() ? WHOLE : SINGLE);
    app_queue_destroy(app_queue_of(64));
    kind = WHOLE;
    feed(64, 300, 64);
    feed(1024, 40, 1024);
    assert_int_equal(AT(rtl_tool.segment.header->notes) & RTL_NOTE_BATCH_UNSAFE, 0);
    OnUnload();
}

/* If such a runtime is used anyway, nothing after the ring is read, and the GPU gets the right packets. */
static void batches_that_run_past_the_ring_are_put_in_order(void **state)
{
    (void)state;
    load(SINGLE);
    app_queue_destroy(app_queue_of(64)); /* this time the tested runtime is safe */
    kind = PAST;
    feed(64, 300, 64);
    OnUnload();
}

static void unsafe_runtimes_get_plain_queues(void **state)
{
    static const enum kind unsafe[] = {LIMITED, PAST};
    (void)state;
    for (int i = 0; i < 2; i++) {
        uint64_t refused = AT(rtl_tool.segment.header->queues_refused);
        load(unsafe[i]);
        assert_ptr_equal(app_queue_of(4096), &the_queue); /* a plain queue */
        assert_ptr_equal(app_queue_of(4096), &the_queue);
        assert_int_equal(AT(rtl_tool.segment.header->queues_refused), refused + 2);
        assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_BATCH_UNSAFE);
        OnUnload();
    }
    assert_int_equal(beyond, 0); /* the test itself did no harm */
}

/*
 * --- a GPU that is slower than the program ---
 *
 * Behind the queue lies the hardware queue of the same size. Packets that don't fit into it can hang these runtimes.
 */
static struct {
    packet_t *slot;
    uint64_t size;
    _Atomic uint64_t written, taken;
    _Atomic bool over;
    uint64_t overflowed, most;
} hardware;

static void put_into_hardware(const void *packets, uint64_t count)
{
    uint64_t written_so_far = atomic_load(&hardware.written), under_way = written_so_far - atomic_load(&hardware.taken);
    hardware.most = under_way + count > hardware.most ? under_way + count : hardware.most;
    hardware.overflowed += under_way + count > hardware.size;
    while (atomic_load(&hardware.written) + count - atomic_load(&hardware.taken) > hardware.size)
        sched_yield();
    for (uint64_t i = 0; i < count; i++)
        hardware.slot[(written_so_far + i) % hardware.size] = ((const packet_t *)packets)[i];
    atomic_store(&hardware.written, written_so_far + count);
}

static void *take_slowly(void *data)
{
    while (!atomic_load(&hardware.over) || atomic_load(&hardware.taken) < atomic_load(&hardware.written)) {
        nanosleep(&(struct timespec){0, 20000}, NULL);
        uint64_t taken = atomic_load(&hardware.taken);
        if (taken == atomic_load(&hardware.written))
            continue;
        packet_t packet = hardware.slot[taken % hardware.size];
        /* before its signal completes: this thread may be delayed in between */
        atomic_store(&hardware.taken, taken + 1);
        if (packet.completion_signal.handle)
            complete(&packet, 60000000 + taken * 100, 10);
    }
    return data;
}

enum sort { KERNELS, BARRIERS, SIGNALLED, MIXED };

/* Submit this many packets, up to `together` a doorbell. Return false when the GPU thread got no CPU for half a second.
 */
static bool flood(uint32_t size, uint64_t packets, uint64_t together, enum sort sort)
{
    static hsa_signal_t signals_used[1 << 13];
    hsa_queue_t *shown = app_queue_of(size);
    struct queue *queue = (struct queue *)shown;
    struct rtl_queue *line = counters_of();
    const struct rtl_tracker *tracker = handler_data;
    uint64_t dispatches = AT(line->dispatches), kernels = 0, signalled = 0, untimed = sum_untimed(line);
    pthread_t gpu;
    assert_true(packets < sizeof signals_used / sizeof signals_used[0]);
    memset(&hardware, 0, sizeof hardware);
    hardware.slot = calloc(size, sizeof(packet_t));
    hardware.size = size;
    writer_of_batches = put_into_hardware;
    pthread_create(&gpu, NULL, take_slowly, NULL);
    for (uint64_t sent = 0, n; sent < packets; sent += n) {
        n = together == 1 ? 1 : 1 + (uint64_t)rand() % together;
        for (uint64_t i = 0; i < n; i++) {
            unsigned dice = sort == MIXED ? (unsigned)rand() % 3 : sort;
            packet_t p = dice == BARRIERS    ? other_packet(HSA_PACKET_TYPE_BARRIER_AND, 0)
                         : dice == SIGNALLED ? kernel_packet(KERNEL, app_signal(1).handle)
                                             : kernel_packet(KERNEL, 0);
            if (dice == BARRIERS)
                p.completion_signal.handle = 0;
            else
                kernels++;
            if (dice == SIGNALLED)
                signals_used[signalled++] = p.completion_signal;
            queue->ring[(queue->write + i) & (size - 1)] = p;
        }
        store_write_index(shown, queue->write + n);
        ring_doorbell(shown->doorbell_signal, 0);
    }
    atomic_store(&hardware.over, true);
    pthread_join(gpu, NULL);
    writer_of_batches = take_in_order;
    bool gave_up = tracker->stuck_at != UINT64_MAX;
    assert_int_equal(AT(line->dispatches), dispatches + kernels);
    if (!gave_up) {
        assert_int_equal(hardware.overflowed, 0);
        assert_true(hardware.most > size / 2); /* otherwise the test tested nothing */
    }
    app_queue_destroy(shown); /* after this all dispatches are accounted for */
    assert_int_equal(sum_untimed(line), untimed);
    for (uint64_t i = 0; i < signalled; i++)
        app_signal_destroy(signals_used[i]);
    free(hardware.slot);
    return !gave_up;
}

static void queues_do_not_fill_up_with_batches(void **state)
{
    static const uint64_t lengths[] = {1, 8, 48, 64};
    (void)state;
    load(heap_tells() ? WHOLE : SINGLE);
    rtl_tool.fragile = !heap_tells(); /* then batches can't be recognised: as on a runtime before 6.0 */
    app_queue_destroy(app_queue_of(64));
    kind = WHOLE;
    for (int length = 0; length < 4; length++)
        for (enum sort sort = KERNELS; sort <= MIXED; sort++) {
            bool done = false;
            for (int again = 0; again < 20 && !done; again++)
                done = flood(64, 700, lengths[length], sort);
            assert_true(done);
        }
    OnUnload();
}

/* Test queues of the library don't count: the displayed numbers are those of a run without the library. */
static void queues_have_the_numbers_of_an_untraced_run(void **state)
{
    static const enum kind kinds[] = {SINGLE, WHOLE, WHOLE, SINGLE};
    uint64_t without_us = 0;
    (void)state;
    next_id = 0;
    for (int k = 0; k < 4; k++) {
        if (k == 2) /* loaded again: numbers from the start */
            next_id = without_us = 0;
        load(heap_tells() ? kinds[k] : SINGLE);
        hsa_queue_t *queues[3];
        uint64_t before = 0;
        for (int i = 0; i < 3; i++) {
            queues[i] = app_queue_of(64);
            assert_int_equal(AT(counters_of()->queue_id), without_us + (uint64_t)i);
            assert_true(queues[i]->id > AT(counters_of()->queue_id)); /* the runtime's own id is unchanged */
            assert_true(i == 0 || queues[i]->id == before + 1);
            before = queues[i]->id;
        }
        without_us += 3;
        for (int i = 0; i < 3; i++)
            app_queue_destroy(queues[i]);
        OnUnload();
    }
}

/* The stand-in is faithful: a larger queue overruns its buffer, as in the release. */
static void the_limited_runtime_overruns_its_buffer(void **state)
{
    hsa_queue_t *shown = NULL;
    (void)state;
    load(LIMITED);
    batching_create((hsa_agent_t){77}, 512, 0, NULL, NULL, 0, 0, &shown);
    struct queue *queue = (struct queue *)shown;
    atomic_store(&rtl_hot.recording, false); /* the handler only passes packets on */
    batching_register(shown, rtl_dispatch, NULL);
    queue->next = queue->write = 200;
    for (int i = 0; i < 512; i++)
        queue->ring[i] = other_packet(HSA_PACKET_TYPE_BARRIER_AND, 1);
    store_write_index(shown, 200 + 512);
    written_count = 0;
    ring_doorbell(shown->doorbell_signal, 0);
    atomic_store(&rtl_hot.recording, true);
    assert_true(beyond > 0);
    batching_destroy(shown);
    OnUnload();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_one_at_a_time_are_timed),
        cmocka_unit_test(batches_of_any_length_are_timed),
        cmocka_unit_test(batches_that_run_past_the_ring_are_put_in_order),
        cmocka_unit_test(queues_do_not_fill_up_with_batches),
        cmocka_unit_test(queues_have_the_numbers_of_an_untraced_run),
        cmocka_unit_test(unsafe_runtimes_get_plain_queues),
        cmocka_unit_test(the_limited_runtime_overruns_its_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
