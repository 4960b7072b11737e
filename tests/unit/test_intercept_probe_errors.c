/*
 * A queue error reaches the queue's own callback, while other queues are created and destroyed; it reaches none if the
 * queue has no callback.
 */
#include "probe_fixture.h"

/* The callbacks that the runtime got for the created queues, in order. */
static struct {
    rtl_queue_error error;
    void *data;
} given[16];
static int queues;

static hsa_status_t queue_with_errors(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                      void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    given[queues].error = error;
    given[queues++].data = data;
    return intercept_queue(agent, size, type, error, data, private_segment, group_segment, queue);
}

static int told[8];
static void app_is_told(hsa_status_t status, hsa_queue_t *queue, void *data)
{
    assert_int_equal(status, HSA_STATUS_ERROR_EXCEPTION);
    assert_ptr_equal(queue, &the_queue);
    ++*(int *)data;
}

static void make_queue(rtl_queue_error error, void *data)
{
    hsa_queue_t *queue = NULL;
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t,
                           hsa_queue_t **) = core.slot[7];
    assert_int_equal(create((hsa_agent_t){77}, RING, 0, error, data, 0, 0, &queue), HSA_STATUS_SUCCESS);
    assert_ptr_equal(queue, &the_queue);
}

/* The runtime reports an error of the i-th queue: only the callback of `user` is called. */
static void fails(int i, int user)
{
    memset(told, 0, sizeof told);
    given[i].error(HSA_STATUS_ERROR_EXCEPTION, &the_queue, given[i].data);
    for (int k = 0; k < (int)(sizeof told / sizeof *told); k++)
        assert_int_equal(told[k], k == user);
}

static hsa_status_t gone_and_made_again(hsa_queue_t *queue)
{
    (void)queue;
    rtl_tool.hsa.queue_destroy = queue_gone;
    make_queue(app_is_told, &told[1]); /* another thread's queue, at the same address */
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t not_destroyed(hsa_queue_t *queue)
{
    (void)queue;
    return HSA_STATUS_ERROR_INVALID_QUEUE;
}

static void an_error_reaches_the_queue_now_at_its_address(void **state)
{
    (void)state;
    queues = 0;
    make_queue(app_is_told, &told[0]);
    fails(0, 0);
    rtl_tool.hsa.queue_destroy = gone_and_made_again;
    app_queue_destroy(&the_queue);
    assert_int_equal(queues, 2);
    fails(1, 1);
    make_queue(app_is_told, &told[2]); /* uses the first one's relay */
    fails(1, 1);
    fails(2, 2);
    assert_ptr_equal(given[2].data, given[0].data);
    app_queue_destroy(&the_queue);
    app_queue_destroy(&the_queue);
}

static void a_queue_whose_destruction_failed_keeps_its_callback(void **state)
{
    (void)state;
    queues = 0;
    make_queue(app_is_told, &told[3]);
    rtl_tool.hsa.queue_destroy = not_destroyed;
    hsa_status_t (*destroy)(hsa_queue_t *) = core.slot[9];
    assert_int_equal(destroy(&the_queue), HSA_STATUS_ERROR_INVALID_QUEUE);
    rtl_tool.hsa.queue_destroy = queue_gone;
    make_queue(app_is_told, &told[4]);
    fails(0, 3);
    fails(1, 4);
    app_queue_destroy(&the_queue);
    app_queue_destroy(&the_queue);
    make_queue(app_is_told, &told[5]);
    fails(2, 5);
    assert_true(given[2].data == given[0].data || given[2].data == given[1].data);
    app_queue_destroy(&the_queue);
}

static void without_a_callback_no_other_callback_is_called(void **state)
{
    (void)state;
    queues = 0;
    make_queue(NULL, &told[6]);
    fails(0, -1);
    app_queue_destroy(&the_queue);
}

static int load_with_errors(void **state)
{
    (void)state;
    setenv("HSA_ENABLE_QUEUE_FAULT_MESSAGE", "0", 1); /* such a queue's error doesn't end the process */
    load_library();
    app_queue_destroy(&the_queue);
    rtl_tool.hsa.amd_queue_intercept_create = queue_with_errors;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_reaches_the_queue_now_at_its_address),
        cmocka_unit_test(a_queue_whose_destruction_failed_keeps_its_callback),
        cmocka_unit_test(without_a_callback_no_other_callback_is_called),
    };
    return cmocka_run_group_tests(tests, load_with_errors, unload_it);
}
