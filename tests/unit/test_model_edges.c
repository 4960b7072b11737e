/* The model where one comparison decides: how long ago a window begins, which queues have a depth. */
#include "tui_synth.h"

#define SECONDS(s) ((uint64_t)((s)*1e9))

static struct synth *p;
static struct rtl_model *m;

static int setup(void **state)
{
    (void)state;
    p = synth_create(2, 4);
    m = rtl_model_create();
    return m ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    return 0;
}

/* A timer that comes a little early or late doesn't make ten seconds eleven. */
static void a_late_timer(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    for (int t = 1; t <= 20; t++) {
        synth_record(p, a, 1000, 1);
        synth_tick(p, m, SECONDS(t));
    }
    synth_tick(p, m, SECONDS(20.99));
    assert_int_equal(m->span_ns, SECONDS(20.99) - SECONDS(11));
    synth_tick(p, m, SECONDS(21.6)); /* but nine and a half are not ten */
    assert_int_equal(m->span_ns, SECONDS(21.6) - SECONDS(11));
}

/* What a destroyed queue had in flight will never complete: it is neither depth nor a reason to call the worker stuck.
 */
static void destroyed_queues_have_no_depth(void **state)
{
    (void)state;
    synth_record(p, synth_kernel(p, "a"), 1000, 30);
    p->heartbeat_ns = SECONDS(1);
    p->queues[1].injected += 7;
    p->queues[2].injected += 3;
    for (int t = 1; t < 20; t++) {
        struct rtl_snapshot s = synth_snapshot(p, SECONDS(t));
        s.queues[1].live = false;
        s.queues[2].live = t < 10;
        assert_true(rtl_model_add(m, &s, 1));
        assert_int_equal(rtl_model_in_flight(m), t < 10 ? 3 : 0);
        assert_int_equal(m->gpus[0].depth, t < 10 ? 3 : 0);
        assert_int_equal(m->gpus[1].depth, 0);
        assert_int_equal(m->gpus[1].queues, 1);
        assert_int_equal(m->state, t >= 3 && t < 10 ? RTL_TARGET_STALE : RTL_TARGET_LIVE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_late_timer, setup, teardown),
        cmocka_unit_test_setup_teardown(destroyed_queues_have_no_depth, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
