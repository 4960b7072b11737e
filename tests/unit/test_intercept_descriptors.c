/*
 * Queues made from descriptors, by a runtime newer than any available one. The library finds the function in the
 * runtime's table. It makes an intercept queue, with the requested priority and mask, where it can; other descriptors
 * go to the runtime unchanged and count as not seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../programs/intercept_described.h"
#include "runtime_fixture.h"

#include "intercept/track/app_signals.h"

enum { SLOT_BATCH = 78, SLOT_CREATE = 79, SLOT_ACQUIRE = 80, MASK_REDUCED = 44 };

static amd_queue_t its_whole; /* queue that the runtime makes itself */
#define its_own its_whole.hsa_queue
static hsa_status_t its_answer, priority_answer;
static int mask_answer, made, counted, destroyed, priorities, priority, masks;
static const struct description *made_from;
static rtl_queue_error given_error; /* the last queue's error callback */
static void *given_data;

static hsa_status_t runtime_creates(hsa_agent_t agent, struct description *d, uint32_t count)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    (void)agent;
    made_from = d;
    given_error = (rtl_queue_error)d->error;
    given_data = d->data;
    counted += (int)count;
    for (uint32_t i = 0; i < count; i++) {
        d[i].queue = its_answer == HSA_STATUS_SUCCESS ? &its_own : NULL;
        made += d[i].queue != NULL;
        status = its_answer;
    }
    return status;
}

static hsa_status_t runtime_lends(hsa_agent_t agent, uint32_t type, int of_priority, void *error, void *data,
                                  uint64_t flags, hsa_queue_t **queue)
{
    (void)agent, (void)type, (void)of_priority, (void)flags;
    given_error = (rtl_queue_error)error;
    given_data = data;
    if (queue)
        *queue = &its_own;
    return queue ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

static hsa_status_t sets_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t wanted)
{
    (void)queue;
    priorities++;
    priority = (int)wanted;
    return priority_answer;
}

static hsa_status_t sets_mask(const hsa_queue_t *queue, uint32_t bits, const uint32_t *mask)
{
    (void)queue;
    masks += bits == 64 && mask[1] == 7;
    return (hsa_status_t)mask_answer;
}

static hsa_status_t destroys(hsa_queue_t *queue)
{
    (void)queue;
    destroyed++;
    return HSA_STATUS_SUCCESS;
}

/* --- exported like the runtime's, which is found in its table; the library looks it up by name, so this program
 * exports its symbols ---
 */

#define EXPORT __attribute__((visibility("default")))
EXPORT hsa_status_t hsa_amd_queue_create(hsa_agent_t agent, struct description *d, uint32_t count);
EXPORT hsa_status_t hsa_amd_counted_queue_acquire(hsa_agent_t agent, uint32_t type, int of_priority, void *error,
                                                  void *data, uint64_t flags, hsa_queue_t **queue);

hsa_status_t hsa_amd_queue_create(hsa_agent_t agent, struct description *d, uint32_t count)
{
    return ((hsa_status_t(*)(hsa_agent_t, struct description *, uint32_t))ext.slot[SLOT_CREATE])(agent, d, count);
}

hsa_status_t hsa_amd_counted_queue_acquire(hsa_agent_t agent, uint32_t type, int of_priority, void *error, void *data,
                                           uint64_t flags, hsa_queue_t **queue)
{
    return (
        (hsa_status_t(*)(hsa_agent_t, uint32_t, int, void *, void *, uint64_t, hsa_queue_t **))ext.slot[SLOT_ACQUIRE])(
        agent, type, of_priority, error, data, flags, queue);
}

/* --- tests --- */

static uint64_t refused(void)
{
    return AT(rtl_tool.segment.header->queues_refused);
}

static void load(void)
{
    fill_tables();
    ext.version[1] = 16 + 84 * 8;
    ext.version[2] = 0x10;
    core.slot[9] = (void *)destroys;
    ext.slot[10] = (void *)sets_mask;
    ext.slot[39] = (void *)sets_priority;
    ext.slot[SLOT_CREATE] = (void *)runtime_creates;
    ext.slot[SLOT_ACQUIRE] = (void *)runtime_lends;
    assert_true(OnLoad(&root, 1, 0, NULL));
    its_answer = priority_answer = HSA_STATUS_SUCCESS;
    mask_answer = 0;
}

static struct description usual(void)
{
    return (struct description){.version = 1, .size_bytes = RING * 64};
}

/* Request one queue. Return the result. */
static hsa_status_t ask_for(struct description *d)
{
    made = counted = destroyed = priorities = masks = 0;
    priority = -1;
    d->queue = NULL;
    return hsa_amd_queue_create((hsa_agent_t){77}, d, 1);
}

static void assert_intercepted(struct description *d)
{
    uint64_t before = refused();
    assert_int_equal(ask_for(d), HSA_STATUS_SUCCESS);
    assert_ptr_equal(d->queue, &the_queue);
    assert_int_equal(counted, 0);
    assert_int_equal(refused(), before);
    app_queue_destroy(d->queue);
}

static void assert_left_to_the_runtime(struct description *d)
{
    uint64_t before = refused();
    assert_int_equal(ask_for(d), HSA_STATUS_SUCCESS);
    assert_ptr_equal(made_from, d); /* unchanged */
    assert_ptr_equal(d->queue, &its_own);
    assert_int_equal(made, 1);
    assert_int_equal(refused(), before + 1);
    its_answer = HSA_STATUS_ERROR_INVALID_ARGUMENT; /* a failed request counts nothing */
    assert_int_equal(ask_for(d), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_null(d->queue);
    assert_int_equal(refused(), before + 1);
    its_answer = HSA_STATUS_SUCCESS;
}

static void slots_are_found_and_hooked(void **state)
{
    (void)state;
    load();
    assert_ptr_not_equal(ext.slot[SLOT_CREATE], (void *)runtime_creates);
    assert_ptr_not_equal(ext.slot[SLOT_ACQUIRE], (void *)runtime_lends);
    for (int i = 74; i < 84; i++)
        if (i != SLOT_CREATE && i != SLOT_ACQUIRE)
            assert_ptr_equal(ext.slot[i], (void *)nothing); /* unchanged */
    assert_int_equal(AT(rtl_tool.segment.header->notes) & RTL_NOTE_QUEUE_NOT_INTERCEPTED, 0);
    assert_true(atomic_load(&rtl_app_signals_followed));
}

static void supported_descriptors_get_an_intercept_queue(void **state)
{
    static const uint32_t mask[2] = {1, 7};
    (void)state;
    struct description d = usual();
    d.priority = HSA_AMD_QUEUE_PRIORITY_NORMAL;
    assert_intercepted(&d);
    assert_int_equal(priorities, 0); /* this is the default anyway */
    packet_t p = kernel_packet(KERNEL, 0);
    ask_for(&d);
    hand_over(&p, 1);
    assert_int_not_equal(written[0].completion_signal.handle, 0);
    complete(&written[0], 1000000, 7);
    wait_completed(counters_of(), 1);
    app_queue_destroy(d.queue);

    d.priority = HSA_AMD_QUEUE_PRIORITY_HIGH;
    assert_intercepted(&d);
    assert_int_equal(priorities, 1);
    assert_int_equal(priority, HSA_AMD_QUEUE_PRIORITY_HIGH);
    d.compute.mask = mask;
    d.compute.mask_bits = 64;
    assert_intercepted(&d);
    assert_int_equal(masks, 1);
    mask_answer = MASK_REDUCED; /* a reduced mask is a success */
    assert_intercepted(&d);
    assert_int_equal(AT(rtl_tool.segment.header->notes) & RTL_NOTE_RING_MOVED, 0);
    d.flags = 1; /* its ring is in GPU memory */
    assert_intercepted(&d);
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_RING_MOVED);
    rtl_tool.settings.queues = RTL_QUEUES_NATIVE; /* a native queue can't virtualise such a ring */
    assert_intercepted(&d);
    assert_int_equal(AT(counters_of()->path), RTL_QUEUE_PATH_WORD(RTL_PATH_INTERCEPT, RTL_REASON_RING_ELSEWHERE));
    rtl_tool.settings.queues = RTL_QUEUES_INTERCEPT;

    mask_answer = HSA_STATUS_ERROR; /* a queue that refuses the mask becomes a plain one */
    assert_left_to_the_runtime(&d);
    assert_int_equal(destroyed, 1);
    d.compute.mask_bits = 0;
    d.compute.mask = NULL;
    priority_answer = HSA_STATUS_ERROR;
    assert_left_to_the_runtime(&d);
    assert_int_equal(destroyed, 1);
    priority_answer = HSA_STATUS_SUCCESS;
    mask_answer = 0;
}

static void unknown_descriptors_are_passed_on(void **state)
{
    static const uint32_t mask[2] = {1, 7};
    (void)state;
    struct description odd[9];
    for (int i = 0; i < 9; i++)
        odd[i] = usual();
    odd[0].flags = 2;
    odd[1].traffic_class = 1;
    odd[2].reserved_header[2] = 1;
    odd[3].reserved[19] = 1;
    odd[4].size_bytes = 3 * 64;
    odd[5].size_bytes = 32;
    odd[6].compute.mask = mask;
    odd[7].compute.mask = mask;
    odd[7].compute.mask_bits = 40;
    odd[8].compute.reserved[0] = 1;
    for (int i = 0; i < 9; i++)
        assert_left_to_the_runtime(&odd[i]);
    struct description next[2] = {usual(), usual()};
    next[1].version = 2; /* then even the first one's size is unknown */
    uint64_t before = refused();
    counted = 0;
    assert_int_equal(hsa_amd_queue_create((hsa_agent_t){77}, next, 2), HSA_STATUS_SUCCESS);
    assert_ptr_equal(made_from, next);
    assert_int_equal(counted, 2);
    assert_int_equal(refused(), before + 1);
}

static void the_first_error_of_several_is_returned(void **state)
{
    (void)state;
    struct description d[3] = {usual(), usual(), usual()};
    d[1].traffic_class = 1;
    its_answer = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    assert_int_equal(hsa_amd_queue_create((hsa_agent_t){77}, d, 3), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    its_answer = HSA_STATUS_SUCCESS;
    assert_ptr_equal(d[0].queue, &the_queue);
    assert_null(d[1].queue);
    assert_ptr_equal(d[2].queue, &the_queue); /* created all the same */
    OnUnload();
}

static void queues_of_other_engines_count_no_kernels(void **state)
{
    hsa_queue_t *queue = NULL;
    (void)state;
    load();
    uint64_t before = refused();
    assert_true(atomic_load(&rtl_app_signals_followed));
    struct description d = usual();
    d.engine = 1;
    assert_int_equal(ask_for(&d), HSA_STATUS_SUCCESS);
    assert_ptr_equal(d.queue, &its_own);
    assert_int_equal(refused(), before);                  /* it runs no kernels, */
    assert_false(atomic_load(&rtl_app_signals_followed)); /* but may use signals of kernels */
    assert_int_equal(hsa_amd_counted_queue_acquire((hsa_agent_t){77}, 0, 0, NULL, NULL, 0, &queue), HSA_STATUS_SUCCESS);
    assert_ptr_equal(queue, &its_own);
    assert_int_equal(refused(), before + 1);
    assert_int_not_equal(hsa_amd_counted_queue_acquire((hsa_agent_t){77}, 0, 0, NULL, NULL, 0, NULL),
                         HSA_STATUS_SUCCESS);
    assert_int_equal(refused(), before + 1);
    OnUnload();
}

/* --- errors, where kernels may be probed --- */

static hsa_status_t intercept_with_errors(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                          rtl_queue_error error, void *data, uint32_t private_segment,
                                          uint32_t group_segment, hsa_queue_t **queue)
{
    given_error = error;
    given_data = data;
    return intercept_queue(agent, size, type, error, data, private_segment, group_segment, queue);
}

static int told, told_other;
static void app_is_told(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    assert_int_equal(status, HSA_STATUS_ERROR_EXCEPTION);
    assert_non_null(queue);
    ++*(int *)data;
}

/* The queue's errors reach the application through the library. */
static void assert_relayed(int *to, hsa_queue_t *queue)
{
    int before = *to;
    assert_non_null(given_error);
    assert_true(given_error != app_is_told);
    given_error(HSA_STATUS_ERROR_EXCEPTION, queue, given_data);
    assert_int_equal(*to, before + 1);
}

static void errors_are_relayed(void **state)
{
    (void)state;
    hsa_queue_t *queue = NULL;
    hsa_status_t (*intercept)(hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t,
                              hsa_queue_t **) = NULL;
    load();
    assert_non_null(rtl_tool.segment.probe);
    rtl_tool.hsa.amd_queue_intercept_create = intercept_with_errors;
    struct description d = usual();
    d.error = app_is_told;
    d.data = &told;
    for (int plain = 0; plain < 2; plain++) {
        d.traffic_class = (uint32_t)plain;
        assert_int_equal(ask_for(&d), HSA_STATUS_SUCCESS);
        assert_ptr_equal(d.queue, plain ? &its_own : &the_queue);
        assert_relayed(&told, d.queue);
        assert_true(d.error == app_is_told); /* the application's descriptor is unchanged */
        assert_ptr_equal(d.data, &told);
        app_queue_destroy(d.queue);
    }
    void *relay = given_data;
    its_answer = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    assert_int_equal(ask_for(&d), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_true(d.error == app_is_told);
    assert_ptr_equal(given_data, relay); /* it was free again, and is free now */
    its_answer = HSA_STATUS_SUCCESS;

    /* another tool makes an intercept queue: one relay is enough */
    intercept = ext.slot[37];
    assert_int_equal(intercept((hsa_agent_t){77}, RING, 0, app_is_told, &told, 0, 0, &queue), HSA_STATUS_SUCCESS);
    assert_relayed(&told, queue);
    assert_ptr_equal(given_data, relay);
    rtl_queue_error ours = given_error;
    hsa_queue_t *again = NULL;
    assert_int_equal(intercept((hsa_agent_t){77}, RING, 0, ours, relay, 0, 0, &again), HSA_STATUS_SUCCESS);
    assert_ptr_equal(given_data, relay);
    app_queue_destroy(again);
    app_queue_destroy(queue);

    /* borrowed queues keep their relay forever; those with the same callback share one */
    hsa_agent_t agent = {77};
    assert_int_equal(hsa_amd_counted_queue_acquire(agent, 0, 0, (void *)app_is_told, &told, 0, &queue),
                     HSA_STATUS_SUCCESS);
    assert_relayed(&told, queue);
    relay = given_data;
    assert_int_equal(hsa_amd_counted_queue_acquire(agent, 0, 0, (void *)app_is_told, &told, 0, &queue),
                     HSA_STATUS_SUCCESS);
    assert_ptr_equal(given_data, relay);
    assert_int_equal(hsa_amd_counted_queue_acquire(agent, 0, 0, (void *)app_is_told, &told_other, 0, &queue),
                     HSA_STATUS_SUCCESS);
    assert_relayed(&told_other, queue);
    static char others[400];
    for (size_t i = 0; i < sizeof others; i++)
        assert_int_equal(hsa_amd_counted_queue_acquire(agent, 0, 0, (void *)app_is_told, &others[i], 0, &queue),
                         HSA_STATUS_SUCCESS);
    assert_true(given_error == app_is_told); /* the number of relays is bounded */
    assert_ptr_equal(given_data, &others[399]);
    assert_int_equal(hsa_amd_counted_queue_acquire(agent, 0, 0, NULL, &told, 0, &queue), HSA_STATUS_SUCCESS);
    assert_null(given_error);
    OnUnload();
}

int main(void)
{
    setenv("RTL_PROBE", "1", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_found_and_hooked),
        cmocka_unit_test(supported_descriptors_get_an_intercept_queue),
        cmocka_unit_test(unknown_descriptors_are_passed_on),
        cmocka_unit_test(the_first_error_of_several_is_returned),
        cmocka_unit_test(queues_of_other_engines_count_no_kernels),
        cmocka_unit_test(errors_are_relayed),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
