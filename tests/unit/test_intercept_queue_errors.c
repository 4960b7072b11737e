/*
 * Queue errors in the segment: status and kernel of the first error, for an error of the queue and for an error of its
 * GPU. The error callback and the runtime get the error, too. The next queue in the slot has no error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "native_fixture.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    rtl_queue_error error;
    void *data;
} given;
static hsa_amd_system_event_callback_t event_handler;
static int told, status_told;

static hsa_status_t make_native(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    given.error = error;
    given.data = data;
    return make_plain(agent, size, type, error, data, private_segment, group_segment, queue);
}

static hsa_status_t registered(hsa_amd_system_event_callback_t callback, void *data)
{
    assert_null(data);
    event_handler = callback;
    return HSA_STATUS_SUCCESS;
}

static void app_is_told(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    assert_ptr_equal(queue, &native_queue.hsa_queue);
    assert_ptr_equal(data, &told);
    status_told = (int)status;
    told++;
}

static struct rtl_queue *line; /* the queue in the segment */

static void create_queue(hsa_queue_type32_t type, rtl_queue_error error, void *data)
{
    hsa_queue_t *queue = NULL;
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t,
                           hsa_queue_t **) = core.slot[7];
    assert_int_equal(create((hsa_agent_t){77}, SLOTS, type, error, data, 0, 0, &queue), HSA_STATUS_SUCCESS);
}

static void make_queue(rtl_queue_error error)
{
    told = 0;
    create_queue(HSA_QUEUE_TYPE_MULTI, error, &told);
    line = &rtl_tool.segment.queues[0];
}

static void load(const char *mode, const char *messages)
{
    setenv("RTL_MODE", mode, 1);
    setenv("HSA_ENABLE_QUEUE_FAULT_MESSAGE", "0", 1);
    setenv("HSA_ENABLE_VM_FAULT_MESSAGE", messages, 1);
    fill_native_tables();
    core.slot[7] = (void *)make_native;
    ext.slot[36] = (void *)registered;
    event_handler = NULL;
    assert_true(OnLoad(&root, 1, 0, NULL));
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    freeze((hsa_executable_t){5}, NULL);
}

static void unload(void)
{
    app_queue_destroy(&native_queue.hsa_queue);
    OnUnload();
}

static void dispatch(uint64_t object)
{
    uint64_t index = app_add(1);
    packet_t packet = kernel_packet(object, 0);
    uint16_t header = packet.header;
    packet.header = HSA_PACKET_TYPE_INVALID;
    *slot_of(index) = packet;
    __atomic_store_n(&slot_of(index)->header, header, __ATOMIC_RELEASE);
    app_ring(index);
}

static hsa_status_t gpu_fails(uint64_t agent, int type)
{
    hsa_amd_event_t event = {.event_type = (hsa_amd_event_type_t)type};
    event.memory_fault.agent.handle = agent;
    return event_handler(&event, NULL);
}

#define ROW_OF_KERNEL RTL_KERNEL_FIRST /* the only kernel with a name */

static void assert_error(uint32_t status, uint32_t kernel)
{
    assert_int_equal(AT(line->error), status);
    assert_int_equal(AT(line->error_kernel), kernel);
    assert_int_equal(AT(line->error_mono_ns) != 0, status != 0);
}

static void the_first_error_and_its_kernel_are_published(void **state)
{
    (void)state;
    load("default", "1");
    make_queue(app_is_told);
    assert_error(0, 0);
    dispatch(KERNEL);
    __atomic_store_n(&native_queue.read_dispatch_id, 1, __ATOMIC_RELEASE); /* launched, not completed */
    given.error(HSA_STATUS_ERROR_EXCEPTION, &native_queue.hsa_queue, given.data);
    assert_error(HSA_STATUS_ERROR_EXCEPTION, ROW_OF_KERNEL + 1);
    given.error(HSA_STATUS_ERROR, &native_queue.hsa_queue, given.data);
    assert_error(HSA_STATUS_ERROR_EXCEPTION, ROW_OF_KERNEL + 1);
    assert_true(told == 2 && status_told == HSA_STATUS_ERROR);
    app_queue_destroy(&native_queue.hsa_queue);
    assert_error(HSA_STATUS_ERROR_EXCEPTION, ROW_OF_KERNEL + 1); /* stays after the queue's destruction */
    make_queue(app_is_told);
    assert_error(0, 0);
    given.error(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, &native_queue.hsa_queue, given.data); /* nothing in flight */
    assert_error(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, 0);
    unload();
}

static void without_a_callback_the_runtimes_setting_decides(void **state)
{
    (void)state;
    load("default", "1");
    make_queue(NULL);
    assert_non_null(given.error);
    given.error(HSA_STATUS_ERROR, &native_queue.hsa_queue, given.data); /* without message the process goes on */
    assert_error(HSA_STATUS_ERROR, 0);
    unload();
}

/* The runtime keeps the callback of a cooperative queue's first user as long as there are users. */
static void a_cooperative_queues_users_share_relays(void **state)
{
    int another;
    (void)state;
    load("default", "1");
    create_queue(HSA_QUEUE_TYPE_COOPERATIVE, app_is_told, &told);
    void *first = given.data;
    create_queue(HSA_QUEUE_TYPE_COOPERATIVE, app_is_told, &another);
    assert_ptr_not_equal(given.data, first);
    app_queue_destroy(&native_queue.hsa_queue);
    app_queue_destroy(&native_queue.hsa_queue);
    make_queue(NULL);
    assert_ptr_not_equal(given.data, first);
    app_queue_destroy(&native_queue.hsa_queue);
    create_queue(HSA_QUEUE_TYPE_COOPERATIVE, app_is_told, &told);
    assert_ptr_equal(given.data, first);
    given.error(HSA_STATUS_ERROR, &native_queue.hsa_queue, given.data);
    assert_int_equal(told, 1);
    app_queue_destroy(&native_queue.hsa_queue);
    create_queue(HSA_QUEUE_TYPE_COOPERATIVE, NULL, NULL);
    line = &rtl_tool.segment.queues[0];
    given.error(HSA_STATUS_ERROR, &native_queue.hsa_queue, given.data);
    assert_error(HSA_STATUS_ERROR, 0);
    unload();
}

static void a_gpus_error_reaches_queues_with_a_kernel_in_flight(void **state)
{
    (void)state;
    load("default", "1");
    make_queue(app_is_told);
    assert_int_equal(gpu_fails(77, 0), HSA_STATUS_ERROR); /* the other handlers get the event, too */
    assert_error(0, 0);
    dispatch(KERNEL);
    assert_int_equal(gpu_fails(78, 0), HSA_STATUS_ERROR); /* another GPU */
    assert_int_equal(gpu_fails(77, 3), HSA_STATUS_ERROR); /* an event of a later release */
    assert_error(0, 0);
    assert_int_equal(gpu_fails(77, 0), HSA_STATUS_ERROR);
    assert_error(HSA_STATUS_ERROR_MEMORY_FAULT, ROW_OF_KERNEL + 1);
    assert_int_equal(told, 0);
    unload();
    load("default", "0"); /* with a handler the runtime would write a core dump */
    assert_null(event_handler);
    make_queue(NULL);
    unload();
}

static const struct {
    uint64_t objects[2], read;
    uint32_t kernel;
} by_index[] = {
    {{KERNEL, KERNEL}, 0, ROW_OF_KERNEL + 1},
    {{KERNEL, KERNEL}, 1, ROW_OF_KERNEL + 1},
    {{KERNEL, KERNEL + 64}, 0, ROW_OF_KERNEL + 1},
    {{KERNEL + 64, KERNEL}, 1, 0}, /* either */
    {{KERNEL, 0}, 1, ROW_OF_KERNEL + 1},
    {{0, KERNEL}, 1, ROW_OF_KERNEL + 1},
    {{KERNEL, KERNEL}, 2, 0}, /* consumed */
};
enum { BY_INDEX = sizeof by_index / sizeof *by_index };

static void submit_barrier(void)
{
    uint64_t index = app_add(1);
    *slot_of(index) = (packet_t){.header = HSA_PACKET_TYPE_INVALID};
    __atomic_store_n(&slot_of(index)->header, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE, __ATOMIC_RELEASE);
    app_ring(index);
}

/* Return the number of the first case with another kernel, BY_INDEX if there is none. */
static int first_wrong_case(void)
{
    for (int i = 0; i < BY_INDEX; i++) {
        load("auto", "1"); /* no viewer: nothing is timed */
        make_queue(app_is_told);
        for (int k = 0; k < 2; k++) {
            if (by_index[i].objects[k])
                dispatch(by_index[i].objects[k]);
            else
                submit_barrier();
        }
        __atomic_store_n(&native_queue.read_dispatch_id, by_index[i].read, __ATOMIC_RELEASE);
        given.error(HSA_STATUS_ERROR_EXCEPTION, &native_queue.hsa_queue, given.data);
        if (AT(line->error) != HSA_STATUS_ERROR_EXCEPTION || AT(line->error_kernel) != by_index[i].kernel)
            return i;
        unload();
    }
    return BY_INDEX;
}

/* The read index shows the packet that runs, or the next one. In a child, because a process keeps its first mode. */
static void untimed_kernels_are_known_by_the_read_index(void **state)
{
    int status = 0;
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(first_wrong_case());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), BY_INDEX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untimed_kernels_are_known_by_the_read_index), /* before any load in this process */
        cmocka_unit_test(the_first_error_and_its_kernel_are_published),
        cmocka_unit_test(without_a_callback_the_runtimes_setting_decides),
        cmocka_unit_test(a_cooperative_queues_users_share_relays),
        cmocka_unit_test(a_gpus_error_reaches_queues_with_a_kernel_in_flight),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
