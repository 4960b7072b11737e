/* A viewer's probe, step by step: each refusal, each end, and libraries that give false answers. */
#include "probing_fixture.h"

#include <stdlib.h>

#include "probe/stubs.h"

static void a_probe_runs_from_request_to_end(void **state)
{
    (void)state;
    arm();
    for (uint64_t i = 1; i <= 5; i++) {
        library.dispatches = 10 * i;
        library.probed = i;
        library.recorded = i;
        assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
        assert_int_equal(p.state.recorded, i);
    }
    assert_false(rtl_probe_plan_is_done(&p));
    library.waves = 77;
    answer(RTL_PROBE_PHASE_OVER, RTL_PROBE_WHY_DONE);
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    assert_true(rtl_probe_plan_is_done(&p));
    assert_int_equal(p.state.waves, 77);
    assert_string_equal(rtl_probe_plan_word(&p), "done");
    assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 0); /* nothing to disarm */
    over(RTL_PROBING_LIBRARY, "the probe ended: as many dispatches as were wanted were probed");
}

static void a_probe_done_before_it_was_seen_armed_ends(void **state)
{
    (void)state;
    prepare();
    rtl_probe_plan_patched(&p, RTL_PROBE_NONE, 1, 3000, now);
    look(0);
    library.dispatches = 50;
    library.probed = library.recorded = 5;
    answer(RTL_PROBE_PHASE_OVER, RTL_PROBE_WHY_DONE);
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    assert_true(rtl_probe_plan_is_done(&p) && p.counted);
    assert_int_equal(p.state.recorded, 5);
}

static void refusals_of_the_library_get_a_message(void **state)
{
    static const struct {
        enum rtl_probe_why why;
        bool armed; /* refused at the second step */
        const char *text;
    } cases[] = {
        {RTL_PROBE_WHY_NO_BLOCK, false, "it can't be probed: there is no GPU memory for its numbers; free some of it"},
        {RTL_PROBE_WHY_QUEUE_ERROR, false,
         "it can't be probed: a queue failed while a probed dispatch was in flight: not again in this process; start "
         "it anew to probe it again"},
        {RTL_PROBE_WHY_NOT_TIMED, false,
         "it can't be probed: dispatches aren't timed in this mode; have them timed: rtl-top mode -p PID default"},
        {RTL_PROBE_WHY_SHUTDOWN, false, "not probed: the runtime was shut down"},
        {RTL_PROBE_WHY_BAD_CODE, true,
         "it can't be probed: its code differs from the request; --keep DIR keeps the code for who looks into it"},
        {RTL_PROBE_WHY_NOT_LOADED, true,
         "it can't be probed: the runtime didn't load its code (status 0x1001); --keep DIR keeps the code for who "
         "looks into it"},
        {RTL_PROBE_WHY_BAD_REQUEST, true,
         "it can't be probed: the request was invalid; --keep DIR keeps the code for who looks into it"},
        {RTL_PROBE_WHY_KERNEL_GONE, true, "not probed: the program has unloaded the kernel"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int phase = RTL_PROBE_PHASE_IDLE; phase < RTL_PROBE_PHASE_COUNT; phase++) {
            if (phase == RTL_PROBE_PHASE_ARMED || phase == RTL_PROBE_PHASE_ENDING ||
                (phase == RTL_PROBE_PHASE_PREPARED && !cases[i].armed))
                continue;
            begin(state);
            if (cases[i].armed) {
                prepare();
                rtl_probe_plan_patched(&p, RTL_PROBE_NONE, 1, 3000, now);
            }
            look(0);
            library.status = cases[i].why == RTL_PROBE_WHY_NOT_LOADED ? 0x1001 : 0;
            answer((enum rtl_probe_phase)phase, cases[i].why);
            look(0);
            over(RTL_PROBING_LIBRARY, cases[i].text);
            assert_int_equal(asked[RTL_PROBE_ASK_DISARM], phase == RTL_PROBE_PHASE_PREPARED);
        }
}

static void each_end_of_a_probe_gets_a_message(void **state)
{
    static const struct {
        enum rtl_probe_why why;
        const char *word, *text;
    } cases[] = {
        {RTL_PROBE_WHY_DISARMED, "disarmed", "the probe ended: it was disarmed"},
        {RTL_PROBE_WHY_UNWATCHED, "unwatched",
         "the probe ended: nobody watched any more; was rtl-top stopped meanwhile?"},
        {RTL_PROBE_WHY_KERNEL_GONE, "kernel_gone", "the probe ended: the program has unloaded the kernel"},
        {RTL_PROBE_WHY_SHUTDOWN, "shutdown", "the probe ended: the runtime was shut down"},
        {RTL_PROBE_WHY_NO_NUMBERS, "no_numbers", "the probe ended: its numbers could not be copied from the GPU"},
        {RTL_PROBE_WHY_STUCK, "stuck", "the probe ended: a probed dispatch doesn't end"},
        {RTL_PROBE_WHY_NONE, "unknown", "the probe ended: for a reason that only a newer rtl-top knows"},
        {(enum rtl_probe_why)200, "unknown", "the probe ended: for a reason that only a newer rtl-top knows"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(state);
        arm();
        library.recorded = library.probed = 3;
        answer(RTL_PROBE_PHASE_OVER, cases[i].why);
        assert_int_equal(look(0), RTL_PROBING_DO_END);
        assert_string_equal(rtl_probe_plan_word(&p), cases[i].word);
        over(RTL_PROBING_LIBRARY, cases[i].text);
        assert_int_equal(p.state.recorded, 3); /* and its numbers stay */
        assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 0);
    }
}

/* Each GPU has its own code object; only the library knows which. */
static void the_kernel_of_the_other_gpu_is_tried(void **state)
{
    (void)state;
    look(0);
    answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NO_KERNEL);
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    assert_int_equal(p.request.kernel_object, 0x2000);
    assert_int_equal(p.request.agent, 3);
    assert_int_equal(p.stage, RTL_PROBING_AT_PREPARE);
    answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NO_KERNEL);
    look(0);
    over(RTL_PROBING_LIBRARY, "it can't be probed: the process has no such kernel on that GPU; was it unloaded?");
    assert_int_equal(asked[RTL_PROBE_ASK_PREPARE], 2);
}

/* The kernel is idle, and the library has no other one: the plan waits for this one, no longer than for a single one.
 */
static void an_idle_kernel_without_alternative_is_waited_for(void **state)
{
    (void)state;
    arm();
    assert_int_equal(look(RTL_PROBING_WAIT_NS), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(1), RTL_PROBING_DO_ASK);
    assert_int_equal(p.request.kernel_object, 0x2000);
    answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NO_KERNEL);
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    assert_int_equal(p.ask, RTL_PROBE_ASK_PREPARE);
    assert_int_equal(p.request.kernel_object, 0x1000);
    answer(RTL_PROBE_PHASE_PREPARED, RTL_PROBE_WHY_NONE);
    assert_int_equal(look(0), RTL_PROBING_DO_PATCH);
    rtl_probe_plan_patched(&p, RTL_PROBE_NONE, 0xabcd, 3000, now);
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    answer(RTL_PROBE_PHASE_ARMED, RTL_PROBE_WHY_NONE);
    assert_int_equal(look(0), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(RTL_PROBING_QUIET_NS), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(1), RTL_PROBING_DO_WAIT);
    over(RTL_PROBING_NO_DISPATCH, "the probe ended: no dispatch of it came for 10 s; probe a kernel that runs now");
    assert_int_equal(asked[RTL_PROBE_ASK_PREPARE], 3);
}

/* The kernel was unloaded meanwhile. */
static void an_unloaded_kernel_without_alternative_ends(void **state)
{
    (void)state;
    arm();
    look(RTL_PROBING_WAIT_NS + 1);
    for (int i = 0; i < 2; i++) {
        answer(RTL_PROBE_PHASE_IDLE, RTL_PROBE_WHY_NO_KERNEL);
        look(0);
    }
    over(RTL_PROBING_LIBRARY, "it can't be probed: the process has no such kernel on that GPU; was it unloaded?");
}

static void dispatches_on_the_other_gpu_are_probed(void **state)
{
    (void)state;
    arm();
    library.dispatches = 3;
    assert_int_equal(look(RTL_PROBING_TRY_NS), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(1), RTL_PROBING_DO_ASK);
    assert_int_equal(p.ask, RTL_PROBE_ASK_PREPARE);
    assert_int_equal(p.request.kernel_object, 0x2000);
    assert_int_equal(look(0), RTL_PROBING_DO_WAIT); /* the library's state is the previous request's */
    library.kernel_object = 0x2000;
    library.agent = 3;
    library.block = 0x8000;
    answer(RTL_PROBE_PHASE_PREPARED, RTL_PROBE_WHY_NONE);
    assert_int_equal(look(0), RTL_PROBING_DO_PATCH); /* again: the copy has another block */
    assert_int_equal(look(0), RTL_PROBING_DO_PATCH); /* until the patch is ready */
    assert_int_equal(p.state.block, 0x8000);
    rtl_probe_plan_patched(&p, RTL_PROBE_NONE, 2, 3000, now);
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    library.dispatches = 0;
    answer(RTL_PROBE_PHASE_ARMED, RTL_PROBE_WHY_NONE);
    assert_int_equal(look(0), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(RTL_PROBING_WAIT_NS + 1), RTL_PROBING_DO_WAIT); /* there is no third GPU */
    assert_int_equal(p.target, 1);
    begin(state); /* one probed dispatch is enough to stay */
    arm();
    library.dispatches = 9;
    library.probed = 1;
    assert_int_equal(look(2 * RTL_PROBING_WAIT_NS - 1), RTL_PROBING_DO_WAIT);
    assert_int_equal(p.target, 0);
    begin(state); /* without probed dispatches, the kernel may run on another GPU */
    arm();
    assert_int_equal(look(RTL_PROBING_WAIT_NS), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(1), RTL_PROBING_DO_ASK);
    assert_int_equal(p.target, 1);
}

static void a_refused_patch_ends_the_probe(void **state)
{
    (void)state;
    prepare();
    rtl_probe_plan_patched(&p, RTL_PROBE_WAVE32, 0, 0, now);
    over(RTL_PROBING_REFUSED, "it can't be probed: its waves have 32 lanes");
    assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 1); /* its block is freed */
    assert_int_equal(asked[RTL_PROBE_ASK_ARM], 0);
}

static void missing_code_ends_the_probe(void **state)
{
    (void)state;
    rtl_probe_plan_begin(&p, &(struct rtl_probe_plan_targets){.every = 1}, now);
    over(RTL_PROBING_NO_CODE, "it can't be probed: its code is not found in the process; does its runtime keep "
                              "a list for debuggers?");
    assert_int_equal(asked[RTL_PROBE_ASK_PREPARE] + asked[RTL_PROBE_ASK_DISARM], 0);
}

static void a_silent_library_ends_the_probe(void **state)
{
    (void)state;
    look(0);
    assert_int_equal(look(RTL_PROBING_ANSWER_NS - 1), RTL_PROBING_DO_WAIT);
    look(1);
    assert_int_equal(p.over, RTL_PROBING_NO_ANSWER);
    assert_int_equal(look(0), RTL_PROBING_DO_ASK); /* in case it wakes up */
    assert_int_equal(p.ask, RTL_PROBE_ASK_DISARM);
    assert_int_equal(look(0), RTL_PROBING_DO_END); /* no second wait */
    over(RTL_PROBING_NO_ANSWER, "not probed: its library doesn't answer; does the process hang, or dispatch nothing?");
    begin(state);
    prepare();
    rtl_probe_plan_patched(&p, RTL_PROBE_NONE, 1, 3000, now);
    look(0);
    look(RTL_PROBING_ANSWER_NS);
    assert_int_equal(p.over, RTL_PROBING_NO_ANSWER);
}

static void without_dispatches_the_probe_ends(void **state)
{
    (void)state;
    p.plan.targets = 1;
    arm();
    library.dispatches = 4;
    look(SEC);
    for (int i = 0; i < 10; i++)
        assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
    look(1);
    over(RTL_PROBING_NO_DISPATCH, "the probe ended: no dispatch of it came for 10 s; probe a kernel that runs now");
    assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 1);
    begin(state); /* dispatches come, but none is probed */
    p.plan.targets = 1;
    arm();
    for (int i = 0; i < 30 && p.over == RTL_PROBING_NOT; i++) {
        library.dispatches += 3;
        look(SEC);
    }
    over(RTL_PROBING_NOT_PROBED, "the probe ended: its dispatches run, but none of them is probed; they may run "
                                 "on another GPU, or their packets may be of a kind that probes skip");
    begin(state); /* one in ten of a few takes time */
    p.plan.targets = 1;
    arm();
    for (int i = 0; i < 30; i++) {
        library.dispatches += i % 2;
        library.recorded = library.probed = library.dispatches / 10;
        assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
    }
}

static void a_stopped_probe_keeps_its_reason(void **state)
{
    (void)state;
    arm();
    library.recorded = library.probed = 2;
    look(0);
    rtl_probe_plan_stop(&p, RTL_PROBING_STOPPED, now);
    rtl_probe_plan_stop(&p, RTL_PROBING_TIMEOUT, now); /* the first reason counts */
    assert_true(rtl_probe_plan_holds(&p));
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    assert_int_equal(p.ask, RTL_PROBE_ASK_DISARM);
    answer(RTL_PROBE_PHASE_ENDING, RTL_PROBE_WHY_DISARMED);
    assert_int_equal(look(0), RTL_PROBING_DO_WAIT); /* one dispatch is in flight, and delivers numbers */
    library.recorded = library.probed = 3;
    answer(RTL_PROBE_PHASE_OVER, RTL_PROBE_WHY_DISARMED);
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    assert_int_equal(p.state.recorded, 3);
    over(RTL_PROBING_STOPPED, "the probe ended: it was stopped");
    begin(state); /* the library never ends it: the wait is bounded */
    arm();
    rtl_probe_plan_stop(&p, RTL_PROBING_STOPPED, now);
    look(0);
    answer(RTL_PROBE_PHASE_ENDING, RTL_PROBE_WHY_DISARMED);
    assert_int_equal(look(RTL_PROBING_ANSWER_NS - 1), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(1), RTL_PROBING_DO_END);
    begin(state);
    p.plan.total_ns = 2 * SEC;
    arm(); /* two seconds */
    look(1);
    assert_int_equal(p.over, RTL_PROBING_TIMEOUT);
    over(RTL_PROBING_TIMEOUT, "the probe ended: the time for it is over; --timeout gives it more, --every probes more "
                              "of its dispatches");
    begin(state); /* before any request */
    rtl_probe_plan_stop(&p, RTL_PROBING_STOPPED, now);
    over(RTL_PROBING_STOPPED, "not probed: it was stopped");
    assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 0);
}

/* --- answers that no library gives --- */

static void numbers_that_go_back_end_the_probe(void **state)
{
    static const size_t fields[] = {
        offsetof(struct rtl_probe_state, dispatches), offsetof(struct rtl_probe_state, probed),
        offsetof(struct rtl_probe_state, recorded), offsetof(struct rtl_probe_state, waves)};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        begin(state);
        arm();
        library.dispatches = library.probed = library.recorded = library.waves = UINT64_MAX;
        assert_int_equal(look(0), RTL_PROBING_DO_WAIT);
        *(uint64_t *)(void *)((char *)&library + fields[i]) = 3;
        look(0);
        assert_int_equal(p.over, RTL_PROBING_DAMAGED);
        assert_int_equal(p.state.dispatches, UINT64_MAX); /* the last valid value */
        over(RTL_PROBING_DAMAGED, "the probe ended: its library's numbers are impossible; the segment is damaged");
        assert_int_equal(asked[RTL_PROBE_ASK_DISARM], 1);
    }
}

static void an_unreadable_state_ends_the_probe(void **state)
{
    (void)state;
    seen.state = NULL;
    assert_int_equal(look(RTL_PROBING_READ_NS - 1), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(1), RTL_PROBING_DO_END);
    over(RTL_PROBING_UNREADABLE, "it can't be probed: its numbers can't be read: the library keeps writing them; "
                                 "the segment is damaged");
    begin(state);
    arm();
    seen.state = NULL; /* a single failed read doesn't matter */
    assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
    seen.state = &library;
    assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
    seen.state = NULL;
    assert_int_equal(look(RTL_PROBING_READ_NS - SEC), RTL_PROBING_DO_WAIT);
    assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
    assert_int_equal(p.over, RTL_PROBING_UNREADABLE);
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    assert_int_equal(look(0), RTL_PROBING_DO_END);
}

static void senseless_answers_end_the_probe(void **state)
{
    for (int i = 0; i < 5; i++) {
        begin(state);
        look(0);
        library.kernel_object = i == 0 ? 0x999 : 0x1000;
        library.agent = i == 1 ? 7 : 2;
        library.block = i == 2 ? 0 : 0x7000;
        answer(i == 3   ? RTL_PROBE_PHASE_ARMED
               : i == 4 ? RTL_PROBE_PHASE_COUNT
                        : RTL_PROBE_PHASE_PREPARED,
               RTL_PROBE_WHY_NONE);
        look(0);
        over(RTL_PROBING_DAMAGED, "it can't be probed: its library's numbers are impossible; the segment is damaged");
    }
    for (int phase = 0; phase < 256; phase++) {
        if (phase == RTL_PROBE_PHASE_ARMED || phase == RTL_PROBE_PHASE_ENDING || phase == RTL_PROBE_PHASE_OVER)
            continue;
        begin(state);
        arm();
        answer((enum rtl_probe_phase)phase, RTL_PROBE_WHY_NONE);
        look(0);
        assert_int_equal(p.over, RTL_PROBING_DAMAGED);
    }
    begin(state);
    library.phase = 200;
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    assert_int_equal(p.over, RTL_PROBING_DAMAGED);
}

/* With any answers the plan ends, and disarms every request. */
static void any_library_ends_and_is_disarmed(void **state)
{
    int held = 0;
    srand(1);
    for (int round = 0; round < 3000; round++) {
        begin(state);
        p.plan.total_ns = 60 * SEC;
        int steps = 0;
        for (; steps < 400 && p.stage != RTL_PROBING_AT_END; steps++) {
            if (rand() % 3 == 0) {
                unsigned char *bytes = (unsigned char *)&library;
                bytes[rand() % 64] = (unsigned char)(rand() % 8);
            }
            if (rand() % 2)
                answer((enum rtl_probe_phase)(rand() % 6), (enum rtl_probe_why)(rand() % 3 ? 0 : rand() % 16));
            library.block = (uint64_t)(rand() % 4) * 8;
            library.dispatches += (uint64_t)rand() % 3;
            seen.state = rand() % 8 ? &library : NULL;
            seen.heartbeat = (uint16_t)(rand() % 50 == 0);
            seen.beats = rand() % 2;
            if (rand() % 100 == 0)
                seen.number = (uint16_t)(rand() % 60);
            if (rand() % 100 == 0)
                rtl_probe_plan_stop(&p, RTL_PROBING_STOPPED, now);
            if (look(SEC / 4) == RTL_PROBING_DO_PATCH && rand() % 2)
                rtl_probe_plan_patched(&p, rand() % 2 ? RTL_PROBE_NONE : RTL_PROBE_CALL, 1, 100, now);
            held += rtl_probe_plan_holds(&p);
        }
        assert_false(rtl_probe_plan_holds(&p));
        assert_in_range(steps, 1, 399);
        assert_int_not_equal(p.over, RTL_PROBING_NOT);
        char text[300];
        rtl_probe_plan_text(&p, text, sizeof text);
        assert_true(strlen(text) > 10 && *rtl_probe_plan_word(&p));
    }
    assert_true(held > 0);
}

/* --- arithmetic --- */

static void tail_step_and_probe_interval_are_chosen(void **state)
{
    (void)state;
    assert_int_equal(rtl_probe_plan_ends_shift(0, 25000000), 0);
    assert_int_equal(rtl_probe_plan_ends_shift(2560, 25000000), 0); /* 64 ticks, four times of them 256: just covered */
    assert_int_equal(rtl_probe_plan_ends_shift(2600, 25000000), 1);
    assert_int_equal(rtl_probe_plan_ends_shift(1000000, 100000000), 11); /* 400,000 in 256 steps of 2048 */
    assert_int_equal(rtl_probe_plan_ends_shift(UINT64_MAX, UINT64_MAX), RTL_STUB_ENDS_SHIFT_MAX);
    assert_int_equal(rtl_probe_plan_every(0), 10);
    assert_int_equal(rtl_probe_plan_every(900), 10);
    assert_int_equal(rtl_probe_plan_every(1001), 11);
    assert_int_equal(rtl_probe_plan_every(50000), 500);
    assert_int_equal(rtl_probe_plan_every(1e300), RTL_PROBE_EVERY_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_probe_runs_from_request_to_end, begin),
        cmocka_unit_test_setup(a_probe_done_before_it_was_seen_armed_ends, begin),
        cmocka_unit_test_setup(refusals_of_the_library_get_a_message, begin),
        cmocka_unit_test_setup(each_end_of_a_probe_gets_a_message, begin),
        cmocka_unit_test_setup(the_kernel_of_the_other_gpu_is_tried, begin),
        cmocka_unit_test_setup(an_idle_kernel_without_alternative_is_waited_for, begin),
        cmocka_unit_test_setup(an_unloaded_kernel_without_alternative_ends, begin),
        cmocka_unit_test_setup(dispatches_on_the_other_gpu_are_probed, begin),
        cmocka_unit_test_setup(a_refused_patch_ends_the_probe, begin),
        cmocka_unit_test_setup(missing_code_ends_the_probe, begin),
        cmocka_unit_test_setup(a_silent_library_ends_the_probe, begin),
        cmocka_unit_test_setup(without_dispatches_the_probe_ends, begin),
        cmocka_unit_test_setup(a_stopped_probe_keeps_its_reason, begin),
        cmocka_unit_test_setup(numbers_that_go_back_end_the_probe, begin),
        cmocka_unit_test_setup(an_unreadable_state_ends_the_probe, begin),
        cmocka_unit_test_setup(senseless_answers_end_the_probe, begin),
        cmocka_unit_test_setup(any_library_ends_and_is_disarmed, begin),
        cmocka_unit_test(tail_step_and_probe_interval_are_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
