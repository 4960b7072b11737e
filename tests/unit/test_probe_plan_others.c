/* A viewer's probe with other actors: viewers that probe, too, and programs that exit. */
#include "probing_fixture.h"

static void another_viewers_probe_refuses_ours(void **state)
{
    (void)state;
    library.phase = RTL_PROBE_PHASE_ARMED;
    seen.beats = true;
    seen.heartbeat = 7;
    assert_int_equal(look(0), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
    seen.heartbeat = 8;
    assert_int_equal(look(SEC), RTL_PROBING_DO_END);
    over(RTL_PROBING_OTHER_VIEWER,
         "not probed: another viewer has a probe there; one at a time: wait until that is over");
    assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 0); /* that probe continues */
    /* a dead viewer: its heartbeat stands still */
    begin(state);
    library.phase = RTL_PROBE_PHASE_ARMED;
    seen.beats = true;
    for (int i = 0; i < 3; i++)
        assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(SEC), RTL_PROBING_DO_ASK);
    /* or one that ends meanwhile */
    begin(state);
    library.phase = RTL_PROBE_PHASE_ENDING;
    assert_int_equal(look(0), RTL_PROBING_DO_WAIT);
    library.phase = RTL_PROBE_PHASE_OVER;
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
}

static void a_process_that_exits_ends_the_probe(void **state)
{
    (void)state;
    arm();
    library.recorded = library.probed = library.dispatches = 4;
    seen.alive = false;
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    assert_int_equal(p.state.recorded, 4);
    over(RTL_PROBING_EXITED, "the probe ended: the process has exited");
    begin(state);
    arm();
    seen.alive = false;
    seen.state = NULL;
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    begin(state);
    arm();
    rtl_probe_plan_stop(&p, RTL_PROBING_STOPPED, now);
    look(0);
    seen.alive = false;
    assert_int_equal(look(0), RTL_PROBING_DO_END);
}

/* The requested dispatches were probed before the process exited and before the time was over. */
static void a_probe_done_as_the_process_exits_is_done(void **state)
{
    for (int i = 0; i < 4; i++) {
        begin(state);
        p.plan.total_ns = 3 * SEC;
        if (i & 1) {
            arm();
        } else {
            prepare();
            rtl_probe_plan_patched(&p, RTL_PROBE_NONE, 1, 3000, now);
            look(0);
        }
        library.recorded = library.probed = library.dispatches = 5;
        answer(RTL_PROBE_PHASE_OVER, RTL_PROBE_WHY_DONE);
        seen.alive = i & 2;
        assert_int_equal(look(5 * SEC), RTL_PROBING_DO_END);
        assert_true(rtl_probe_plan_is_done(&p) && p.counted);
        assert_int_equal(p.state.recorded, 5);
    }
    begin(state);
    arm();
    answer(RTL_PROBE_PHASE_OVER, RTL_PROBE_WHY_SHUTDOWN);
    seen.alive = false;
    over(RTL_PROBING_EXITED, "the probe ended: the process has exited");
    begin(state); /* the end belongs to another probe */
    arm();
    library.number++;
    library.phase = RTL_PROBE_PHASE_OVER;
    library.why = RTL_PROBE_WHY_DONE;
    seen.alive = false;
    over(RTL_PROBING_EXITED, "the probe ended: the process has exited");
}

static void a_probe_replaced_by_another_viewer_ends(void **state)
{
    (void)state;
    arm();
    library.number += 2;
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    over(RTL_PROBING_REPLACED,
         "the probe ended: another viewer has replaced it; one at a time: wait until that is over");
    assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 0);
}

/* Two viewers begin together: the page holds one request, the second viewer's. */
static void a_simultaneous_request_of_another_viewer_wins(void **state)
{
    static const char text[] = "not probed: another viewer has replaced it; one at a time: wait until that is over";
    (void)state;
    seen.beats = true;
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    seen.number = ++number;
    assert_int_equal(look(SEC), RTL_PROBING_DO_END);
    over(RTL_PROBING_REPLACED, text);
    assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 0);
    begin(state); /* our request was executed before: the code must not overwrite the other request */
    seen.beats = true;
    prepare();
    rtl_probe_plan_patched(&p, RTL_PROBE_NONE, 1, 3000, now);
    seen.number = number + 1;
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    over(RTL_PROBING_REPLACED, text);
    assert_int_equal(asked[RTL_PROBE_ASK_ARM] + asked[RTL_PROBE_ASK_DISARM], 0);
    begin(state); /* nor must the request for the next GPU */
    seen.beats = true;
    look(0);
    answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NO_KERNEL);
    seen.number = number + 1;
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    over(RTL_PROBING_REPLACED, text);
    assert_int_equal(asked[RTL_PROBE_ASK_PREPARE], 1);
    begin(state); /* an invalid word on the page has no meaning */
    look(0);
    seen.number = 0;
    assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
}

/* A viewer stopped by Ctrl-Z lost its probe: the page's new request belongs to another viewer, and stays. */
static void another_viewers_later_request_stays(void **state)
{
    (void)state;
    seen.beats = true;
    arm();
    rtl_probe_plan_stop(&p, RTL_PROBING_STOPPED, now);
    seen.number = number + 2;
    library.number = seen.number;
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    over(RTL_PROBING_STOPPED, "the probe ended: it was stopped");
    assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 0);
    begin(state); /* a request that comes during the disarming isn't waited for */
    seen.beats = true;
    arm();
    rtl_probe_plan_stop(&p, RTL_PROBING_STOPPED, now);
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    library.recorded = library.probed = library.dispatches = 3;
    answer(RTL_PROBE_PHASE_ENDING, RTL_PROBE_WHY_DISARMED);
    seen.number = number + 1;
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    assert_int_equal(p.state.recorded, 3);
    assert_false(rtl_probe_plan_holds(&p));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(another_viewers_probe_refuses_ours, begin),
        cmocka_unit_test_setup(a_process_that_exits_ends_the_probe, begin),
        cmocka_unit_test_setup(a_probe_done_as_the_process_exits_is_done, begin),
        cmocka_unit_test_setup(a_probe_replaced_by_another_viewer_ends, begin),
        cmocka_unit_test_setup(a_simultaneous_request_of_another_viewer_wins, begin),
        cmocka_unit_test_setup(another_viewers_later_request_stays, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
