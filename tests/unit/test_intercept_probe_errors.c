/*
 * Who is told of a queue's errors where kernels may be probed: for each of several queues its own user, whatever is
 * made and destroyed meanwhile; and where the application has nobody to be told, the runtime.
 */
#include "probe_fixture.h"

/* What the runtime was given for the queues that were made, in that order. */
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

/* The runtime says that the i-th queue has failed: of all users only `user` is told. */
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
    make_queue(app_is_told, &told[1]); /* another thread's, at the same address */
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t not_destroyed(hsa_queue_t *queue)
{
    (void)queue;
    return HSA_STATUS_ERROR_INVALID_QUEUE;
}

static void address_used_again(void **state)
{
    (void)state;
    queues = 0;
    make_queue(app_is_told, &told[0]);
    fails(0, 0);
    rtl_tool.hsa.queue_destroy = gone_and_made_again;
    app_queue_destroy(&the_queue);
    assert_int_equal(queues, 2);
    fails(1, 1);
    make_queue(app_is_told, &told[2]); /* uses what the first one had */
    fails(1, 1);
    fails(2, 2);
    assert_ptr_equal(given[2].data, given[0].data);
    app_queue_destroy(&the_queue);
    app_queue_destroy(&the_queue);
}

static void not_gone(void **state)
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

static void nobody_to_tell(void **state)
{
    (void)state;
    queues = 0;
    make_queue(NULL, &told[6]);
    assert_null(given[0].error);
    assert_ptr_equal(given[0].data, &told[6]);
    app_queue_destroy(&the_queue);
}

static int load_with_errors(void **state)
{
    (void)state;
    load_library();
    app_queue_destroy(&the_queue);
    rtl_tool.hsa.amd_queue_intercept_create = queue_with_errors;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(address_used_again),
        cmocka_unit_test(not_gone),
        cmocka_unit_test(nobody_to_tell),
    };
    return cmocka_run_group_tests(tests, load_with_errors, unload_it);
}
