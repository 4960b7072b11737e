/*
 * Runtimes loaded one after another in a process, each from its own library: this program stands for one library, a
 * table in allocated memory for another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime_fixture.h"
#include "intercept/load.h"

/* Named as AMD's runtimes call it. */
extern int rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void), uint32_t version,
                                                  void **tables, uint64_t count, uint64_t *id);

/* Return the root of another runtime's table, with the same core and amd_ext tables. */
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

static void an_earlier_untraced_runtime_ends(void **state)
{
    (void)state;
    fill_tables();
    core.version[0] = 9; /* an unknown layout */
    assert_true(OnLoad(&root, 1, 0, NULL));
    core.version[0] = 2;
    assert_true(OnLoad(other_root(), 1, 0, NULL));
    assert_true(is_traced());
    OnUnload(); /* from this program, whose runtime was the first one */
    assert_true(is_traced());
    rtl_unload();
    assert_false(is_traced());
}

static void a_queue_created_after_the_unload_is_untimed(void **state)
{
    (void)state;
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    OnUnload();
    hsa_queue_t *queue = app_queue(); /* the very first one */
    struct rtl_tracker *tracker = handler_data;
    assert_null(tracker->pool);
    assert_int_equal(atomic_load(&tracker->reason), RTL_UNTIMED_SHUTDOWN);
    app_queue_destroy(queue);
}

static void late_calls_during_an_unknown_runtime_do_no_harm(void **state)
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

/* --- a table that the runtime registers inside hsa_init, under its own lock --- */

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

static void a_new_table_during_a_late_hsa_init_does_not_deadlock(void **state)
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
    pthread_mutex_lock(&runtime_lock); /* the next hsa_init holds the runtime's lock */
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
        cmocka_unit_test(an_earlier_untraced_runtime_ends),
        cmocka_unit_test(a_queue_created_after_the_unload_is_untimed),
        cmocka_unit_test(late_calls_during_an_unknown_runtime_do_no_harm),
        cmocka_unit_test(a_new_table_during_a_late_hsa_init_does_not_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
