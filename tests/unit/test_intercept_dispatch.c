/*
 * The handler of packets called as a runtime calls it, in ways that no release at hand does: batches with barriers and
 * INVALID packets inside, batches that run past the ring, extended dispatches. The runtime here is a stand-in that
 * keeps the contract of hsa_amd_queue_intercept_register: it hands over packets that it owns, and takes what the writer
 * is given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <hsa/amd_hsa_signal.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "intercept/dispatch.h"
#include "intercept/queues.h"
#include "intercept/tool.h"

/* What the library exports; it has no header. */
extern bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
extern void OnUnload(void);

/* --- the stand-in --- */

enum { RING = 1024 };
typedef hsa_kernel_dispatch_packet_t packet_t;

static packet_t ring[RING];
static hsa_queue_t the_queue = {.base_address = ring, .size = RING, .id = 5};
static rtl_packet_handler handler;
static void *handler_data;
static packet_t written[8 * RING];
static uint64_t written_count, writes;
static const void *written_from;
static bool intercept_works = true, hardware_works = true;
static uint32_t segment_sizes[2];

static void take(const void *packets, uint64_t count)
{
    memcpy(&written[written_count], packets, count * sizeof(packet_t));
    written_count += count;
    written_from = packets;
    writes++;
}

static hsa_status_t info(hsa_system_info_t what, void *answer)
{
    if (what == HSA_SYSTEM_INFO_TIMESTAMP) {
        struct timespec t;
        clock_gettime(CLOCK_BOOTTIME, &t);
        *(uint64_t *)answer = (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
    } else {
        *(uint16_t *)answer = 1;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t agents(hsa_status_t (*see)(hsa_agent_t, void *), void *data)
{
    return see((hsa_agent_t){77}, data);
}

static hsa_status_t agent_info(hsa_agent_t agent, hsa_agent_info_t what, void *answer)
{
    if (agent.handle != 77)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (what == HSA_AGENT_INFO_DEVICE)
        *(hsa_device_type_t *)answer = HSA_DEVICE_TYPE_GPU;
    else if (what == HSA_AGENT_INFO_NAME)
        strcpy(answer, "gfx000");
    else if ((int)what == 0xA016)
        *(uint64_t *)answer = 100000000;
    else
        *(uint32_t *)answer = 3;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t plain_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    (void)agent, (void)size, (void)type, (void)error, (void)data, (void)private_segment, (void)group_segment;
    *queue = &the_queue;
    return hardware_works ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static hsa_status_t intercept_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                    void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    (void)agent, (void)size, (void)type, (void)error, (void)data;
    segment_sizes[0] = private_segment;
    segment_sizes[1] = group_segment;
    *queue = &the_queue;
    return intercept_works ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static hsa_status_t intercept_register(hsa_queue_t *queue, rtl_packet_handler registered, void *data)
{
    (void)queue;
    handler = registered;
    handler_data = data;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t queue_gone(hsa_queue_t *queue)
{
    (void)queue;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t profile(hsa_queue_t *queue, int on)
{
    (void)queue;
    return on ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static hsa_status_t convert(hsa_agent_t agent, uint64_t tick, uint64_t *time)
{
    (void)agent;
    *time = tick * 10;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t signal_made(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *consumers, uint64_t attributes,
                                hsa_signal_t *signal)
{
    amd_signal_t *made = NULL;
    (void)n, (void)consumers;
    assert_int_equal(attributes, HSA_AMD_SIGNAL_AMD_GPU_ONLY);
    if (posix_memalign((void **)&made, 64, sizeof *made) != 0)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    memset(made, 0, sizeof *made);
    made->value = value;
    signal->handle = (uintptr_t)made;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t signal_gone(hsa_signal_t signal)
{
    free((void *)(uintptr_t)signal.handle);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t nothing(void)
{
    return HSA_STATUS_SUCCESS;
}

/* One kernel in the only executable there is; its name is longer than a page. */
enum { KERNEL = 0x7000, NAME = 5000 };

static hsa_status_t symbol_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, void *answer)
{
    (void)symbol;
    if (what == HSA_EXECUTABLE_SYMBOL_INFO_TYPE) {
        *(hsa_symbol_kind_t *)answer = HSA_SYMBOL_KIND_KERNEL;
    } else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH) {
        *(uint32_t *)answer = NAME;
    } else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME) {
        memset(answer, 'n', NAME - 3);
        memcpy((char *)answer + NAME - 3, ".kd", 3); /* not terminated, as runtimes do it */
    } else {
        *(uint64_t *)answer = KERNEL;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t symbols(hsa_executable_t executable,
                            hsa_status_t (*see)(hsa_executable_t, hsa_executable_symbol_t, void *), void *data)
{
    return see(executable, (hsa_executable_symbol_t){1}, data);
}

static struct {
    uint32_t version[4];
    void *slot[125];
} core = {{2, 16 + 125 * 8, 0, 0}, {0}};
static struct {
    uint32_t version[4];
    void *slot[74];
} ext = {{2, 16 + 74 * 8, 0x0D, 0}, {0}};
static struct {
    uint32_t version[4];
    void *core, *ext, *more[4];
} root = {{3, 64, 0, 0}, &core, &ext, {0}};

static void fill_tables(void)
{
    for (int i = 0; i < 125; i++)
        core.slot[i] = (void *)nothing;
    for (int i = 0; i < 74; i++)
        ext.slot[i] = (void *)nothing;
    core.slot[2] = (void *)info;
    core.slot[5] = (void *)agents;
    core.slot[6] = (void *)agent_info;
    core.slot[7] = (void *)plain_queue;
    core.slot[9] = (void *)queue_gone;
    core.slot[38] = (void *)signal_gone;
    core.slot[93] = (void *)symbol_info;
    core.slot[94] = (void *)symbols;
    ext.slot[2] = (void *)profile;
    ext.slot[6] = (void *)convert;
    ext.slot[33] = (void *)signal_made;
    ext.slot[37] = (void *)intercept_queue;
    ext.slot[38] = (void *)intercept_register;
}

/* The application's calls, through the table as the runtime's exported functions make them. */
static hsa_queue_t *app_queue(void)
{
    hsa_queue_t *queue = NULL;
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t,
                           hsa_queue_t **) = core.slot[7];
    return create((hsa_agent_t){77}, RING, 0, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue) == HSA_STATUS_SUCCESS ? queue
                                                                                                                : NULL;
}

static void app_queue_destroy(hsa_queue_t *queue)
{
    hsa_status_t (*destroy)(hsa_queue_t *) = core.slot[9];
    assert_int_equal(destroy(queue), HSA_STATUS_SUCCESS);
}

static void hand_over(const packet_t *packets, uint64_t count)
{
    written_count = writes = 0;
    handler(packets, count, 0, handler_data, take);
}

static packet_t kernel_packet(uint64_t object, uint64_t own)
{
    packet_t p;
    memset(&p, 0, sizeof p);
    p.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE;
    p.grid_size_x = 640;
    p.workgroup_size_x = 64;
    p.kernel_object = object;
    p.completion_signal.handle = own;
    return p;
}

static packet_t other_packet(unsigned type, uint64_t filling)
{
    packet_t p;
    memset(&p, 0x5a, sizeof p);
    p.header = (uint16_t)(type << HSA_PACKET_HEADER_TYPE);
    p.reserved2 = filling;
    return p;
}

static void complete(const packet_t *packet, uint64_t start, uint64_t ticks)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)packet->completion_signal.handle;
    signal->start_ts = start;
    signal->end_ts = start + ticks;
    __atomic_fetch_sub(&signal->value, 1, __ATOMIC_RELEASE);
}

/* --- the segment, read directly, as other threads write it --- */

#define AT(counter) __atomic_load_n(&(counter), __ATOMIC_RELAXED)

static struct rtl_queue *line_of(void)
{
    return ((struct rtl_tap *)handler_data)->line;
}

static uint64_t sum_untimed(const struct rtl_queue *line)
{
    uint64_t sum = 0;
    for (int i = 0; i < RTL_UNTIMED_LIMIT; i++)
        sum += AT(line->untimed[i]);
    return sum;
}

static void wait_completed(const struct rtl_queue *line, uint64_t want)
{
    for (int i = 0; i < 2000 && __atomic_load_n(&line->completed, __ATOMIC_ACQUIRE) < want; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(__atomic_load_n(&line->completed, __ATOMIC_ACQUIRE), want);
}

/* --- tests, in the order of one process's life --- */

static void loads_and_taps_a_queue(void **state)
{
    (void)state;
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    assert_ptr_not_equal(core.slot[7], (void *)plain_queue);
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    assert_int_equal(freeze((hsa_executable_t){9}, NULL), HSA_STATUS_SUCCESS);
    assert_ptr_equal(app_queue(), &the_queue);
    assert_non_null(handler);
    assert_int_equal(segment_sizes[0], 0); /* UINT32_MAX isn't passed on */
    assert_int_equal(segment_sizes[1], 0);
}

static void one_packet_is_timed(void **state)
{
    (void)state;
    packet_t p = kernel_packet(KERNEL, 0), before = p;
    hand_over(&p, 1);
    assert_int_equal(writes, 1);
    assert_int_equal(written_count, 1);
    assert_memory_equal(&p, &before, sizeof p); /* the runtime's packet isn't touched */
    assert_int_not_equal(written[0].completion_signal.handle, 0);
    written[0].completion_signal.handle = 0;
    assert_memory_equal(&written[0], &before, sizeof p);

    p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    complete(&written[0], 1000000, 700);
    struct rtl_queue *line = line_of();
    wait_completed(line, 1);
    uint32_t row = RTL_KERNEL_FIRST;
    assert_int_equal(AT(rtl_tool.segment.histograms[row].count), 1);
    assert_int_equal(AT(rtl_tool.segment.histograms[row].total_ns), 7000);
    assert_int_equal(AT(rtl_tool.segment.kernels[row].name_length), NAME - 3);
    assert_int_equal(line->dispatches, 2);
    assert_int_equal(line->injected, 2);
    assert_int_equal(AT(rtl_tool.segment.dispatches[(uint64_t)0 * RTL_KERNELS_MAX + row].calls), 2);
    assert_int_equal(AT(rtl_tool.segment.dispatches[row].grid[0]), 640);
}

static void a_completed_signal_comes_back(void **state)
{
    (void)state;
    struct rtl_queue *line = line_of();
    uint64_t before = line->completed, made = atomic_load(&((struct rtl_tap *)handler_data)->pool->made);
    for (int i = 0; i < 10000; i++) {
        packet_t p = kernel_packet(KERNEL, 0);
        hand_over(&p, 1);
        assert_int_not_equal(written[0].completion_signal.handle, 0);
        complete(&written[0], 2000000 + (uint64_t)i * 100, (uint64_t)(i % 3)); /* 0 ticks are legal */
        if (i % 16 == 15)
            wait_completed(line, before + (uint64_t)i + 1);
    }
    wait_completed(line, before + 10000);
    assert_int_equal(line->untimed[RTL_UNTIMED_BAD_TIME], 0);
    assert_int_equal(atomic_load(&((struct rtl_tap *)handler_data)->pool->made), made); /* none was made for it */
}

static void bad_times_are_counted_so(void **state)
{
    (void)state;
    struct rtl_queue *line = line_of();
    uint64_t before = AT(line->completed);
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    complete(&written[0], 5000, (uint64_t)-100); /* ends before it starts */
    hand_over(&p, 1);
    complete(&written[0], 0, 0); /* never written */
    wait_completed(line, before + 2);
    assert_int_equal(line->untimed[RTL_UNTIMED_BAD_TIME], 2);
}

static void own_signals_and_other_packets_pass_untouched(void **state)
{
    (void)state;
    struct rtl_queue *line = line_of();
    uint64_t own = line->untimed[RTL_UNTIMED_OWN_SIGNAL], dispatches = line->dispatches, packets = AT(line->packets);
    packet_t p = kernel_packet(KERNEL, 0xabc0);
    hand_over(&p, 1);
    assert_ptr_equal(written_from, &p); /* not even copied */
    assert_int_equal(line->untimed[RTL_UNTIMED_OWN_SIGNAL], own + 1);
    for (unsigned type = 0; type < 256; type++) {
        if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH)
            continue;
        packet_t q = other_packet(type, type);
        hand_over(&q, 1);
        assert_ptr_equal(written_from, &q);
        assert_memory_equal(&written[0], &q, sizeof q);
    }
    assert_int_equal(line->dispatches, dispatches + 1);
    assert_int_equal(line->packets, packets + 256);
}

static void extended_dispatches_are_counted_by_their_format(void **state)
{
    (void)state;
    struct rtl_queue *line = line_of();
    uint64_t dispatches = AT(line->dispatches);
    packet_t p = kernel_packet(KERNEL, 0);
    p.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE;
    p.setup = 3; /* amd_format */
    hand_over(&p, 1);
    assert_int_equal(line->untimed[RTL_UNTIMED_FORMAT], 1);
    assert_int_equal(line->dispatches, dispatches + 1);
    p.setup = 2; /* barrier_value */
    hand_over(&p, 1);
    assert_int_equal(line->untimed[RTL_UNTIMED_FORMAT], 1);
    rtl_tool.extended = false; /* an older runtime: the format means nothing there */
    p.setup = 3;
    hand_over(&p, 1);
    rtl_tool.extended = true;
    assert_int_equal(line->untimed[RTL_UNTIMED_FORMAT], 1);
    assert_int_equal(line->dispatches, dispatches + 1);
}

static void batches_are_decided_packet_by_packet(void **state)
{
    (void)state;
    struct rtl_queue *line = line_of();
    static const uint64_t sizes[] = {2, 3, 4, 5, 7, 64, 255, 256, 257, 1000, RING};
    srand(3);
    for (unsigned s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        uint64_t n = sizes[s], kernels = 0, own = 0, timed = 0;
        packet_t *batch = calloc(n, sizeof *batch), *before = calloc(n, sizeof *batch);
        for (uint64_t i = 0; i < n; i++) {
            int kind = rand() % 6;
            batch[i] = kind == 0   ? other_packet(HSA_PACKET_TYPE_INVALID, i)
                       : kind == 1 ? other_packet(HSA_PACKET_TYPE_BARRIER_AND, i)
                       : kind == 2 ? kernel_packet(KERNEL, 0x8000 + i)
                                   : kernel_packet(kind == 3 ? 0x123440 : KERNEL, 0);
            kernels += kind >= 2;
            own += kind == 2;
        }
        memcpy(before, batch, n * sizeof *batch);
        uint64_t dispatches = line->dispatches, injected = line->injected, owned = AT(line->untimed[0]);
        uint64_t completed = AT(line->completed);
        hand_over(batch, n);
        assert_int_equal(writes, 1); /* the runtime's rule: once */
        assert_int_equal(written_count, n);
        assert_memory_equal(batch, before, n * sizeof *batch);
        for (uint64_t i = 0; i < n; i++) {
            bool ours = written[i].completion_signal.handle != before[i].completion_signal.handle;
            if (ours) {
                assert_int_equal(before[i].completion_signal.handle, 0);
                assert_int_equal(before[i].header, HSA_PACKET_TYPE_KERNEL_DISPATCH);
                complete(&written[i], 9000000, 5);
                timed++;
            }
            written[i].completion_signal = before[i].completion_signal;
        }
        assert_memory_equal(written, before, n * sizeof *batch);
        assert_int_equal(line->dispatches, dispatches + kernels);
        assert_int_equal(line->injected, injected + timed);
        assert_int_equal(line->untimed[0], owned + own);
        assert_int_equal(timed, kernels - own);
        wait_completed(line, completed + timed);
        free(batch);
        free(before);
    }
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_UNKNOWN_KERNEL); /* 0x123440 */
}

static void batches_beyond_the_ring_are_only_passed_on(void **state)
{
    (void)state;
    struct rtl_queue *line = line_of();
    uint64_t batch = line->untimed[RTL_UNTIMED_BATCH], dispatches = AT(line->dispatches);
    for (int i = 0; i < RING; i++)
        ring[i] = kernel_packet(KERNEL, 0);
    written_count = writes = 0;
    handler(&ring[RING - 10], 10, 0, handler_data, take); /* up to the end: whole */
    assert_int_equal(line->untimed[RTL_UNTIMED_BATCH], batch);
    assert_int_equal(line->dispatches, dispatches + 10);
    for (int i = 0; i < 10; i++)
        complete(&written[i], 9900000, 1);

    /* larger than the queue: can't be rewritten in the room that there is */
    static packet_t large[2 * RING];
    for (int i = 0; i < 2 * RING; i++)
        large[i] = kernel_packet(KERNEL, 0);
    hand_over(large, 2 * RING);
    assert_ptr_equal(written_from, large);
    assert_int_equal(line->untimed[RTL_UNTIMED_BATCH], batch + 2 * RING);
}

static uint64_t passed_count;
static void pass_only(const void *packets, uint64_t count)
{
    (void)packets;
    passed_count = count;
}

static void batches_past_the_end_of_the_ring_are_not_read(void **state)
{
    (void)state;
    struct rtl_queue *line = line_of();
    uint64_t batch = line->untimed[RTL_UNTIMED_BATCH], dispatches = AT(line->dispatches);
    handler(&ring[RING - 3], 8, 0, handler_data, pass_only);
    assert_int_equal(passed_count, 8);
    assert_int_equal(line->dispatches, dispatches + 3);
    assert_int_equal(line->untimed[RTL_UNTIMED_BATCH], batch + 3);
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_BATCH_UNSAFE);
    handler(&ring[0], 1, 0, handler_data, NULL); /* no writer: nothing to do, no crash */
    handler(&ring[0], 0, 0, handler_data, pass_only);
    assert_int_equal(passed_count, 0);
}

static void destroyed_queue_is_accounted_for(void **state)
{
    (void)state;
    struct rtl_queue *line = line_of();
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    hand_over(&p, 1);
    complete(&written[0], 10000000, 10);
    uint64_t gone = AT(line->untimed[RTL_UNTIMED_QUEUE_GONE]);
    app_queue_destroy(&the_queue);
    /* one_packet_is_timed left one in flight, and this test another */
    assert_int_equal(line->untimed[RTL_UNTIMED_QUEUE_GONE], gone + 2);
    assert_int_equal(line->injected, AT(line->completed));
    assert_int_equal(line->live, 0);
    uint64_t timed = 0;
    for (uint32_t row = 0; row < 4; row++)
        timed += AT(rtl_tool.segment.histograms[row].count);
    assert_int_equal(line->dispatches, timed + sum_untimed(line));
}

static void queue_that_cannot_be_intercepted_is_plain(void **state)
{
    (void)state;
    intercept_works = false;
    assert_ptr_equal(app_queue(), &the_queue);
    assert_int_equal(AT(rtl_tool.segment.header->queues_refused), 1);
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_QUEUE_NOT_INTERCEPTED);
    app_queue_destroy(&the_queue);
    hardware_works = false;
    assert_null(app_queue()); /* the runtime's own error; nothing to count */
    assert_int_equal(AT(rtl_tool.segment.header->queues_refused), 1);
    intercept_works = hardware_works = true;
}

static void late_calls_after_unloading_do_no_harm(void **state)
{
    (void)state;
    assert_ptr_equal(app_queue(), &the_queue);
    struct rtl_queue *line = line_of();
    packet_t p = kernel_packet(KERNEL, 0);
    hand_over(&p, 1);
    uint64_t dispatches = AT(line->dispatches);
    hsa_signal_t in_flight = written[0].completion_signal;
    OnUnload();
    signal_gone(in_flight); /* the library doesn't: a GPU may still write to it */
    assert_int_equal(line->untimed[RTL_UNTIMED_ABANDONED], 1);
    assert_int_equal(AT(rtl_tool.segment.header->state), RTL_STATE_UNLOADED);
    hand_over(&p, 1);
    assert_int_equal(written[0].completion_signal.handle, 0);
    assert_int_equal(line->dispatches, dispatches + 1);
    assert_int_equal(line->untimed[RTL_UNTIMED_SHUTDOWN], 1);
    app_queue_destroy(&the_queue);
    OnUnload();
}

static void loading_again_goes_on(void **state)
{
    (void)state;
    void *old = handler_data;
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    assert_true(OnLoad(&root, 1, 0, NULL)); /* listed twice */
    assert_int_equal(AT(rtl_tool.segment.header->state), RTL_STATE_LIVE);
    assert_ptr_equal(app_queue(), &the_queue);
    assert_ptr_not_equal(handler_data, old); /* a call may still come for the one of before */
    packet_t p = kernel_packet(KERNEL, 0);
    handler(&p, 1, 0, old, take);
    struct rtl_queue *line = line_of();
    uint64_t before = AT(line->completed);
    hand_over(&p, 1);
    complete(&written[0], 11000000, 10);
    wait_completed(line, before + 1);
    app_queue_destroy(&the_queue);
    OnUnload();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_taps_a_queue),
        cmocka_unit_test(one_packet_is_timed),
        cmocka_unit_test(a_completed_signal_comes_back),
        cmocka_unit_test(bad_times_are_counted_so),
        cmocka_unit_test(own_signals_and_other_packets_pass_untouched),
        cmocka_unit_test(extended_dispatches_are_counted_by_their_format),
        cmocka_unit_test(batches_are_decided_packet_by_packet),
        cmocka_unit_test(batches_beyond_the_ring_are_only_passed_on),
        cmocka_unit_test(batches_past_the_end_of_the_ring_are_not_read),
        cmocka_unit_test(destroyed_queue_is_accounted_for),
        cmocka_unit_test(queue_that_cannot_be_intercepted_is_plain),
        cmocka_unit_test(late_calls_after_unloading_do_no_harm),
        cmocka_unit_test(loading_again_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
