/* Steps of a probe's plan (probing/), with a library that answers as the test says. */
#ifndef PROBING_FIXTURE_H
#define PROBING_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "probing/probe_plan.h"

#define SEC 1000000000ull
static struct rtl_probe_plan p;
static struct rtl_probe_state library;
static struct rtl_probe_plan_seen seen;
static uint64_t now;
static uint16_t number; /* number of the last request */
static unsigned asked[RTL_PROBE_ASK_DISARM + 1];

static inline int begin(void **state)
{
    (void)state;
    memset(&library, 0, sizeof library);
    memset(asked, 0, sizeof asked);
    now = 1000 * SEC;
    number = 40;
    seen = (struct rtl_probe_plan_seen){.alive = true, .state = &library};
    const struct rtl_probe_plan_targets plan = {
        .target = {{0x1000, 2}, {0x2000, 3}}, .targets = 2, .wanted = 5, .every = 10, .ends_shift = 7};
    rtl_probe_plan_begin(&p, &plan, now);
    return 0;
}

static inline enum rtl_probe_plan_do look(uint64_t ns)
{
    now += ns;
    enum rtl_probe_plan_do act = rtl_probe_plan_step(&p, &seen, now);
    if (act == RTL_PROBING_DO_ASK) {
        asked[p.ask]++;
        rtl_probe_plan_asked(&p, ++number, now);
        seen.number = number; /* the page holds it */
    }
    return act;
}

static inline void answer(enum rtl_probe_phase phase, enum rtl_probe_why why)
{
    library.number = number;
    library.phase = (uint8_t)phase;
    library.why = (uint8_t)why;
}

static inline void prepare(void)
{
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    assert_int_equal(p.ask, RTL_PROBE_ASK_PREPARE);
    assert_int_equal(p.request.kernel_object, 0x1000);
    assert_int_equal(p.request.agent, 2);
    assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
    library.kernel_object = 0x1000;
    library.agent = 2;
    library.block = 0x7000;
    answer(RTL_PROBE_PHASE_PREPARED, RTL_PROBE_WHY_NONE);
    assert_int_equal(look(0), RTL_PROBING_DO_PATCH);
    assert_int_equal(p.state.block, 0x7000);
}

static inline void arm(void)
{
    prepare();
    assert_int_equal(look(0), RTL_PROBING_DO_PATCH); /* until the patch is ready */
    rtl_probe_plan_patched(&p, RTL_PROBE_NONE, 0xabcd, 3000, now);
    assert_int_equal(look(0), RTL_PROBING_DO_ASK);
    assert_int_equal(p.ask, RTL_PROBE_ASK_ARM);
    assert_int_equal(p.request.code_hash, 0xabcd);
    assert_int_equal(p.request.code_bytes, 3000);
    assert_int_equal(p.request.every, 10);
    assert_int_equal(p.request.wanted, 5);
    assert_int_equal(p.request.ends_shift, 7);
    assert_true(rtl_probe_plan_holds(&p));
    assert_int_equal(look(SEC), RTL_PROBING_DO_WAIT);
    assert_false(p.counted);
    answer(RTL_PROBE_PHASE_ARMED, RTL_PROBE_WHY_NONE);
    assert_int_equal(look(0), RTL_PROBING_DO_WAIT);
    assert_true(p.counted);
}

/* Check that nothing is left in the library, and check the message. */
static inline void over(enum rtl_probe_plan_over why, const char *text)
{
    char got[300];
    for (int i = 0; i < 20 && p.stage != RTL_PROBING_AT_END; i++)
        if (look(SEC) == RTL_PROBING_DO_ASK && p.ask == RTL_PROBE_ASK_DISARM)
            answer(RTL_PROBE_PHASE_OVER, RTL_PROBE_WHY_DISARMED);
    assert_int_equal(p.stage, RTL_PROBING_AT_END);
    assert_int_equal(look(0), RTL_PROBING_DO_END);
    assert_false(rtl_probe_plan_holds(&p));
    rtl_probe_plan_text(&p, got, sizeof got);
    assert_string_equal(got, text);
    assert_int_equal(p.over, why);
}

#endif
