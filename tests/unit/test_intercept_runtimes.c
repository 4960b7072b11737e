/*
 * Runtimes that come one after the other in a process, from libraries of their own: this program stands for one
 * library, and a table that lies in allocated memory for another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime_fixture.h"
#include "intercept/load.h"

/* As AMD's runtimes call it. */
extern int rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void), uint32_t version,
                                                  void **tables, uint64_t count, uint64_t *id);

/* The root of another runtime's table; its core and amd_ext are the same. */
static void *other_root(void)
{
    static void *made;
    if (!made)
        made = malloc(sizeof root);
    assert_non_null(made);
    memcpy(made, &root, sizeof root);
    return made;
}

static bool is_traced(void)
{
    return AT(rtl_tool.segment.header->state) == RTL_STATE_LIVE;
}

static int free_all(void **state)
{
    free(other_root());
    return free_signals(state);
}

static void earlier_one_that_was_not_traced_ends(void **state)
{
    (void)state;
    fill_tables();
    core.version[0] = 9; /* of no known layout */
    assert_true(OnLoad(&root, 1, 0, NULL));
    core.version[0] = 2;
    assert_true(OnLoad(other_root(), 1, 0, NULL));
    assert_true(is_traced());
    OnUnload(); /* from this program, whose runtime was the first */
    assert_true(is_traced());
    rtl_unload();
    assert_false(is_traced());
}

static void queue_that_is_made_too_late(void **state)
{
    (void)state;
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    OnUnload();
    hsa_queue_t *queue = app_queue(); /* the first one of all */
    struct rtl_tracker *tracker = handler_data;
    assert_null(tracker->pool);
    assert_int_equal(atomic_load(&tracker->reason), RTL_UNTIMED_SHUTDOWN);
    app_queue_destroy(queue);
}

static void late_calls_while_an_unknown_one_comes(void **state)
{
    (void)state;
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    OnUnload();
    core.version[0] = 9;
    assert_true(OnLoad(other_root(), 1, 0, NULL));
    core.version[0] = 2;
    hsa_queue_t *queue = app_queue(); /* through the first one's hooks */
    assert_non_null(queue);
    app_queue_destroy(queue);
}

/* --- a table that the runtime registers, inside hsa_init and under a lock of its own --- */

static pthread_mutex_t runtime_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool at_the_lock, is_registered;

static hsa_status_t opens(void)
{
    atomic_store(&at_the_lock, true);
    pthread_mutex_lock(&runtime_lock);
    pthread_mutex_unlock(&runtime_lock);
    return HSA_STATUS_SUCCESS;
}

static void *registers(void *data)
{
    void *tables[] = {&root};
    uint64_t id = 0;
    rocprofiler_register_library_api_table("hsa", NULL, 0, tables, 1, &id);
    atomic_store(&is_registered, true);
    return data;
}

static void *opens_late(void *data)
{
    hsa_status_t (*hook)(void) = *(hsa_status_t(**)(void))data;
    assert_int_equal(hook(), HSA_STATUS_SUCCESS);
    return NULL;
}

static void await(const atomic_bool *what)
{
    for (int i = 0; i < patience() && !atomic_load(what); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_true(atomic_load(what));
}

static void shut_down(void)
{
    hsa_status_t (*hook)(void) = core.slot[1];
    assert_int_equal(hook(), HSA_STATUS_SUCCESS);
}

static void next_table_while_a_thread_opens_through_the_last(void **state)
{
    (void)state;
    pthread_t late, next;
    fill_tables();
    core.slot[0] = (void *)opens;
    registers(NULL);
    assert_true(is_traced());
    static void *hook;
    hook = core.slot[0];
    shut_down();
    assert_false(is_traced());

    fill_tables();
    core.slot[0] = (void *)opens;
    atomic_store(&is_registered, false);
    pthread_mutex_lock(&runtime_lock); /* the next hsa_init is in the runtime */
    assert_int_equal(pthread_create(&late, NULL, opens_late, &hook), 0);
    await(&at_the_lock);
    assert_int_equal(pthread_create(&next, NULL, registers, NULL), 0);
    await(&is_registered);
    pthread_mutex_unlock(&runtime_lock);
    assert_int_equal(pthread_join(next, NULL), 0);
    assert_int_equal(pthread_join(late, NULL), 0);
    shut_down();
    assert_true(is_traced()); /* it was opened twice */
    shut_down();
    assert_false(is_traced());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earlier_one_that_was_not_traced_ends),
        cmocka_unit_test(queue_that_is_made_too_late),
        cmocka_unit_test(late_calls_while_an_unknown_one_comes),
        cmocka_unit_test(next_table_while_a_thread_opens_through_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
