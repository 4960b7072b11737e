/* The clock that times calls is read while it is written, in every order of steps (interleave.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "interleave.h"

#include "shm/hip_api_clock.h"

enum { LINES = 3, TICK = 1000 };
static struct rtl_hip_api_clock step_clock;
static const struct rtl_line step_line[LINES] = {{10, 5000, 1}, {400, 70000, 2}, {700, 900000, 4}};
static uint64_t got, got_at;

static void set(void)
{
    memset(&step_clock, 0, sizeof step_clock);
    rtl_hip_api_clock_set(&step_clock, &step_line[0], 100000);
    got = 0;
    stepping.watches = 0;
    step_watch(&step_clock, sizeof step_clock);
}

static void writes(void)
{
    rtl_hip_api_clock_set(&step_clock, &step_line[1], 100000);
    rtl_hip_api_clock_stop(&step_clock);
    rtl_hip_api_clock_set(&step_clock, &step_line[2], 100000);
}

static void reads(void)
{
    uint64_t version = rtl_hip_api_clock_version(&step_clock);
    got = version ? rtl_hip_api_clock_at(&step_clock, version, TICK) : 0;
    got_at = version;
}

static const char *is_of_one_line(void)
{
    if (got && (got_at > LINES || got != rtl_line_at(&step_line[got_at - 1], TICK)))
        return "a time from two lines, or from another line";
    return step_clock.version == LINES ? NULL : "the last line isn't there";
}

static void a_reader_never_mixes_two_lines(void **state)
{
    void (*const bodies[])(void) = {writes, reads};
    (void)state;
    assert_null(step_all_orders(set, bodies, 2, is_of_one_line));
    print_message("# %llu orders\n", (unsigned long long)stepping.runs);
    assert_true(stepping.runs > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_reader_never_mixes_two_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
