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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earlier_one_that_was_not_traced_ends),
        cmocka_unit_test(queue_that_is_made_too_late),
        cmocka_unit_test(late_calls_while_an_unknown_one_comes),
    };
    return cmocka_run_group_tests(tests, NULL, free_all);
}
