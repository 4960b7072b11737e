/* The library's arithmetic: ticks and lines, table layouts, options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "intercept/base/hsa_clock.h"
#include "intercept/base/hsa_table.h"
#include "intercept/base/env_settings.h"
#include "intercept/track/pending.h"
#include "intercept/track/signal_pool.h"

/* --- ticks --- */

static void durations_are_exact(void **state)
{
    static const uint64_t rates[] = {1000000, 25000000, 27000000, 48000000, 100000000, 99999999, 1000000000};
    (void)state;
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        struct rtl_tick_rate rate = rtl_tick_rate(rates[i]);
        for (uint64_t ticks = 0; ticks < 3600 * rates[i]; ticks = ticks * 3 + 1) {
            unsigned __int128 exact = ((unsigned __int128)ticks * 1000000000u + rates[i] / 2) / rates[i];
            uint64_t got = rtl_ticks_to_ns(&rate, ticks), want = (uint64_t)exact;
            assert_true(got + 1 >= want && got <= want + 1);
        }
    }
    struct rtl_tick_rate hundred = rtl_tick_rate(100000000);
    assert_int_equal(rtl_ticks_to_ns(&hundred, 0), 0);
    assert_int_equal(rtl_ticks_to_ns(&hundred, 1), 10);
    assert_int_equal(rtl_ticks_to_ns(&hundred, 123456789012345ull), 1234567890123450ull);
    struct rtl_tick_rate odd = rtl_tick_rate(48000000); /* a tick is 20.8 ns: to the nearest */
    assert_int_equal(rtl_ticks_to_ns(&odd, 1), 21);
    assert_int_equal(rtl_ticks_to_ns(&odd, 2), 42);
    assert_int_equal(rtl_ticks_to_ns(&odd, 4), 83);
}

static void tick_rates_are_guessed(void **state)
{
    (void)state;
    assert_int_equal(rtl_tick_rate_guess(1000000, 10000000), 100000000);
    assert_int_equal(rtl_tick_rate_guess(1000000, 10004000), 100000000); /* 400 ppm off */
    assert_int_equal(rtl_tick_rate_guess(1000000, 39990000), 25000000);
    assert_int_equal(rtl_tick_rate_guess(1000000, 37037000), 27000000);
    assert_int_equal(rtl_tick_rate_guess(1000000, 30303030), 33000000); /* no known rate: as measured */
    assert_int_equal(rtl_tick_rate_guess(1000000, 0), 0);
    assert_int_equal(rtl_tick_rate_guess(0, 1000), 0);
    assert_int_equal(rtl_tick_rate_guess(1, 1000000000), 0); /* no counter has 1 Hz */
}

static void the_counter_follows_the_clock(void **state)
{
    (void)state;
    struct rtl_tsc_line line;
    uint64_t tsc = 5000000000ull, ns = 77000000000ull;
    rtl_tsc_line_start(&line, tsc, ns);
    /* 2.5 GHz; polled every 5 ms for 10 s, each point off by up to 100 ns */
    for (int i = 1; i <= 2000; i++) {
        rtl_tsc_line_update(&line, tsc + (uint64_t)i * 12500000, ns + (uint64_t)i * 5000000 + (uint64_t)(rand() % 100));
        uint64_t x = tsc + (uint64_t)i * 12500000 - 2500000, want = ns + (uint64_t)i * 5000000 - 1000000;
        uint64_t got = rtl_line_at(&line.line, x);
        assert_true(got + 300 > want && got < want + 300);
    }
    assert_false(line.broken);
    /* long before the last point: parts per million of the distance */
    uint64_t got = rtl_line_at(&line.line, tsc + 12500000), want = ns + 5000000;
    assert_true(got + 5000 > want && got < want + 5000);
}

static void a_jumping_counter_is_detected(void **state)
{
    (void)state;
    struct rtl_tsc_line line;
    rtl_tsc_line_start(&line, 1000, 1000);
    for (uint64_t i = 1; i <= 20; i++)
        rtl_tsc_line_update(&line, 1000 + i * 500000000, 1000 + i * 200000000);
    assert_false(line.broken);
    struct rtl_tsc_line back = line;
    rtl_tsc_line_update(&back, 1000, 1000 + 21 * 200000000ull);
    assert_true(back.broken);
    rtl_tsc_line_update(&line, 1000 + 21 * 500000000ull + 400000000, 1000 + 21 * 200000000ull);
    assert_true(line.broken);
}

enum { TSC_LOOK = 5000000 }; /* ns */

/* Poll a 2 GHz counter every 5 ms, with a clock that is off by `ppm`; the last point is off by `disturbed` ns. */
static void look_on(struct rtl_tsc_line *line, int looks, double ppm, int64_t disturbed)
{
    uint64_t tsc = line->line.x, ns = line->line.y;
    for (int i = 1; i <= looks; i++)
        rtl_tsc_line_update(
            line, tsc + (uint64_t)i * 2 * TSC_LOOK,
            ns + (uint64_t)((double)i * TSC_LOOK * (1 + ppm / 1e6) + (i == looks ? (double)disturbed : 0)));
}

/* A line is used for times after its last point only while the previous line was right. */
static void a_line_is_extrapolated_only_if_it_fits(void **state)
{
    struct rtl_tsc_line line;
    (void)state;
    rtl_tsc_line_start(&line, 1000, 1000);
    assert_false(line.fits);
    look_on(&line, 19, 0, 0);
    assert_false(line.fits); /* too short to know the counter's rate */
    look_on(&line, 1, 0, 0);
    assert_true(line.fits);
    look_on(&line, 1000, 0, 0);
    assert_true(line.fits);
    uint64_t x = line.line.x + 2 * RTL_TSC_LINE_USED_NS, want = line.line.y + RTL_TSC_LINE_USED_NS;
    uint64_t ahead = rtl_line_at(&line.line, x);
    assert_true(ahead + 1 >= want && ahead <= want + 1);
    look_on(&line, 1, 0, 900);
    assert_true(line.fits);
    look_on(&line, 1, 0, -900);
    look_on(&line, 1, 0, 1100); /* an interrupted poll */
    assert_false(line.fits);
    look_on(&line, 1, 0, -1100); /* must not spoil the next one */
    assert_false(line.fits);
    look_on(&line, 1, 0, 0);
    assert_true(line.fits);
    look_on(&line, 1, 300, 0); /* the clock is slewed: 1.5 us per poll */
    assert_false(line.fits);
    look_on(&line, 40, 300, 0);
    assert_false(line.fits);
    look_on(&line, 600, 300, 0); /* for so long that it becomes the rate */
    assert_true(line.fits);
    look_on(&line, 1, 300, -(TSC_LOOK / 2)); /* set back, nearly to the earlier time */
    assert_false(line.fits);
    look_on(&line, 700, 300, 0);
    assert_true(line.fits);
    assert_false(line.broken);
    /* no poll for a minute: the old line is no reference now, and was not in use */
    rtl_tsc_line_update(&line, line.line.x + 120000000000, line.line.y + 60001000000);
    assert_true(line.fits);
    look_on(&line, 1, 0, 0);
    assert_true(line.fits);
    struct rtl_tsc_line back = line;
    rtl_tsc_line_update(&back, line.line.x + 1, line.line.y - 1);
    assert_false(back.fits || back.broken);
    rtl_tsc_line_update(&line, line.line.x - 1, line.line.y + 1);
    assert_true(line.broken);
    assert_false(line.fits);
    look_on(&line, 700, 0, 0);
    assert_false(line.fits);
}

static void agent_clocks_are_calibrated(void **state)
{
    (void)state;
    static const double ppms[] = {0, 50, -50, 400};
    for (unsigned p = 0; p < 4; p++) {
        struct rtl_calibration c = {.residuals = 0};
        const uint64_t hz = 100000000, x0 = 123456789012ull, y0 = 5000000000000ull;
        const double slope = 1e9 / ((double)hz * (1 + ppms[p] / 1e6));
        srand(p);
        for (int i = 0; i <= 1000;
             i++) { /* every 20 ms for 20 s, each point off by up to 100 ns, the slope by 20 ppm */
            uint64_t x = x0 + (uint64_t)i * 2000000, y = y0 + (uint64_t)((double)i * 2000000 * slope);
            rtl_calibration_add(&c, hz, x, y + (uint64_t)(rand() % 100), slope * (1 + (rand() % 40 - 20) / 1e6));
            assert_int_equal(c.line.x, x);
            assert_true(c.residual_ns <= (i < 10 ? 600 : 140));
            if (i < 50)
                continue;
            assert_true(c.drift_ppm > ppms[p] - 1 && c.drift_ppm < ppms[p] + 1);
            uint64_t early = rtl_line_at(&c.line, x - 50000000), want = y - (uint64_t)(50000000 * slope);
            assert_true(early + 800 > want && early < want + 800); /* half a second before */
        }
        assert_int_equal(c.residuals, 1000);
        assert_in_range(c.drift_over_ns, 5000000000ull, 10100000000ull);
        /* an hour later the previous line says nothing about the error of lines */
        uint64_t most = c.residual_most_ns, x = c.line.x + 360000000000ull;
        rtl_calibration_add(&c, hz, x, c.line.y + 3700000000000ull, slope);
        assert_int_equal(c.residuals, 1000);
        assert_int_equal(c.residual_most_ns, most);
        assert_int_equal(c.drift_over_ns, 0); /* the clocks differ by a jump, which is no drift */
        assert_true(c.line.x == x && c.line.slope == slope);
    }
}

/* --- the table --- */

static void the_table_shift_depends_on_the_release(void **state)
{
    (void)state;
    static const struct {
        uint32_t bytes;
        int shift;
    } known[] = {
        {0x190, 0}, {16 + 51 * 8, 0}, {16 + 55 * 8, 2},  {16 + 67 * 8, 2},  {560, 2},          {16 + 70 * 8, 2},
        {592, 2},   {608, 2},         {16 + 52 * 8, -1}, {16 + 53 * 8, -1}, {16 + 54 * 8, -1}, {0x190 + 3, -1},
        {8, -1},    {0, -1}};
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(rtl_hsa_shift(known[i].bytes), known[i].shift);
}

struct fake_table {
    uint32_t version[4];
    uintptr_t slot[140];
};
struct fake_root {
    uint32_t version[4];
    struct fake_table *core, *ext;
};

static struct fake_root fake_tables(struct fake_table *core, struct fake_table *ext, uint32_t ext_slots)
{
    *core = (struct fake_table){.version = {2, 16 + 125 * 8, 0, 0}};
    *ext = (struct fake_table){.version = {2, 16 + ext_slots * 8, 0, 0}};
    for (uintptr_t i = 0; i < 140; i++) {
        core->slot[i] = 0x10000 + i;
        ext->slot[i] = 0x20000 + i;
    }
    return (struct fake_root){{3, 64, 0, 0}, core, ext};
}

static void api_table_slots_are_found(void **state)
{
    (void)state;
    struct fake_table core, ext;
    struct rtl_hsa hsa;
    char why[200];
    static const uint32_t slots[] = {48, 51, 55, 67, 68, 70, 72, 74};
    for (unsigned i = 0; i < sizeof slots / sizeof slots[0]; i++) {
        struct fake_root root = fake_tables(&core, &ext, slots[i]);
        uintptr_t moved = slots[i] >= 55 ? 2 : 0;
        assert_true(rtl_hsa_save(&root, &hsa, why, sizeof why));
        assert_int_equal((uintptr_t)hsa.queue_create, 0x10007);
        assert_int_equal((uintptr_t)hsa.executable_iterate_symbols, 0x1005e);
        assert_int_equal((uintptr_t)hsa.amd_profiling_set_profiler_enabled, 0x20002);
        assert_int_equal((uintptr_t)hsa.amd_signal_create, 0x2001f + moved);
        assert_int_equal((uintptr_t)hsa.amd_queue_intercept_create, 0x20023 + moved);
        assert_int_equal((uintptr_t)hsa.amd_queue_intercept_register, 0x20024 + moved);
        rtl_hsa_hook(&root, RTL_HSA_amd_queue_intercept_create, (void (*)(void))(uintptr_t)0x42);
        assert_int_equal(ext.slot[35 + moved], 0x42);
        rtl_hsa_hook(&root, RTL_HSA_queue_create, (void (*)(void))(uintptr_t)0x43);
        assert_int_equal(core.slot[7], 0x43);
    }
}

static void tables_that_cannot_be_read_are_refused(void **state)
{
    (void)state;
    struct fake_table core, ext;
    struct rtl_hsa hsa;
    char why[200] = "";
    struct fake_root root = fake_tables(&core, &ext, 53);
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    assert_non_null(strstr(why, "not known"));
    root = fake_tables(&core, &ext, 30); /* before intercept queues existed */
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    root = fake_tables(&core, &ext, 48);
    ext.slot[36] = 0; /* present but empty */
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    assert_non_null(strstr(why, "hsa_amd_queue_intercept_register"));
    root = fake_tables(&core, &ext, 74);
    ext.version[0] = 3; /* an unknown major version */
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    root = fake_tables(&core, &ext, 74);
    core.version[1] = 16 + 90 * 8;
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    root.core = NULL;
    assert_false(rtl_hsa_save(&root, &hsa, why, sizeof why));
    assert_false(rtl_hsa_save(NULL, &hsa, why, sizeof why));
}

/* --- options --- */

static void options_are_parsed(void **state)
{
    (void)state;
    struct rtl_env_settings o = rtl_env_settings_parse(NULL, NULL);
    assert_int_equal(o.mode, RTL_MODE_DEFAULT);
    assert_int_equal(o.signals_limit, 0);
    assert_false(o.mode_unknown || o.signals_unknown);
    assert_int_equal(rtl_env_settings_parse("off", "").mode, RTL_MODE_OFF);
    assert_int_equal(rtl_env_settings_parse("lite", "").mode, RTL_MODE_LITE);
    assert_int_equal(rtl_env_settings_parse("standard", "").mode, RTL_MODE_DEFAULT);
    assert_false(rtl_env_settings_parse("standard", "").mode_unknown);
    assert_int_equal(rtl_env_settings_parse("hip", "").mode, RTL_MODE_DEFAULT);
    assert_false(rtl_env_settings_parse("hip", "").mode_unknown);
    o = rtl_env_settings_parse("fast", "100");
    assert_true(o.mode_unknown);
    assert_int_equal(o.mode, RTL_MODE_DEFAULT);
    assert_int_equal(o.signals_limit, 100);
    assert_int_equal(rtl_env_settings_parse("", "524288").signals_limit, 524288);
    static const char *const bad[] = {"0", "524289", "-1", "12x", "99999999999999999999"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        o = rtl_env_settings_parse("", bad[i]);
        assert_true(o.signals_unknown);
        assert_int_equal(o.signals_limit, 0);
    }
}

static void the_environment_is_read_within_bounds(void **state)
{
    (void)state;
    static char out[RTL_ENVIRONMENT_MAX], value[2 * RTL_ENVIRONMENT_VALUE_MAX];
#define NAME(name, use) name,
    static const char *const names[] = {RTL_ENVIRONMENT(NAME)};
#undef NAME
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    assert_int_equal(rtl_environment_read(out), 0);
    setenv("HIP_VISIBLE_DEVICES", "", 1);
    setenv("RANK", "5", 1);
    setenv("RANKS", "6", 1);
    assert_int_equal(rtl_environment_read(out), sizeof "RANK=5\0HIP_VISIBLE_DEVICES=");
    assert_memory_equal(out, "RANK=5\0HIP_VISIBLE_DEVICES=", sizeof "RANK=5\0HIP_VISIBLE_DEVICES=");
    memset(value, '1', sizeof value - 1);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i], value, 1);
    uint32_t bytes = rtl_environment_read(out); /* each value is cut */
    assert_int_equal(bytes, RTL_ENVIRONMENT_MAX);
    assert_string_equal(out + RTL_ENVIRONMENT_VALUE_MAX + sizeof "RANK=" - 4, "...");
    value[RTL_ENVIRONMENT_VALUE_MAX] = '\0';
    setenv("RANK", value, 1);
    rtl_environment_read(out);
    assert_string_equal(out + RTL_ENVIRONMENT_VALUE_MAX + sizeof "RANK=" - 4, "111");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
}

/* --- the limit on signals --- */

static void the_signal_limit_follows_the_packets_in_flight(void **state)
{
    (void)state;
    assert_int_equal(rtl_signals_limit(0, 0), 4096);
    assert_int_equal(rtl_signals_limit(0, 64), 4096 + 80);
    assert_int_equal(rtl_signals_limit(0, 4 * 16384), 4096 + 65536 + 16384);
    assert_int_equal(rtl_signals_limit(0, 128ull << 20), 524288); /* whatever queues an application creates */
    assert_int_equal(rtl_signals_limit(0, UINT64_MAX), 524288);
    assert_int_equal(rtl_signals_limit(1, 4 * 16384), 1); /* the user's setting has priority */
    assert_int_equal(rtl_signals_limit(20000, 64), 20000);
    assert_int_equal(rtl_signals_limit(UINT32_MAX, 64), 524288);
    for (uint64_t packets = 0, before = 0; packets < 600000; packets += 1111) {
        uint64_t limit = rtl_signals_limit(0, packets);
        assert_true(limit >= before && (limit > packets + packets / 5 || limit == 524288));
        before = limit;
    }
}

static void the_pending_ring_holds_a_full_queue(void **state)
{
    (void)state;
    assert_int_equal(rtl_pending_slots(0, 0), 4096);
    assert_int_equal(rtl_pending_slots(2049, 0), 8192);
    assert_int_equal(rtl_pending_slots(16384, 0), 32768);
    assert_int_equal(rtl_pending_slots(64, 20000), 32768); /* the worker may collect this many in one round */
    assert_int_equal(rtl_pending_slots(1 << 20, 0), 65536);
    assert_int_equal(rtl_pending_slots(UINT32_MAX, UINT32_MAX), 65536);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_exact),
        cmocka_unit_test(tick_rates_are_guessed),
        cmocka_unit_test(the_counter_follows_the_clock),
        cmocka_unit_test(a_jumping_counter_is_detected),
        cmocka_unit_test(a_line_is_extrapolated_only_if_it_fits),
        cmocka_unit_test(agent_clocks_are_calibrated),
        cmocka_unit_test(the_table_shift_depends_on_the_release),
        cmocka_unit_test(api_table_slots_are_found),
        cmocka_unit_test(tables_that_cannot_be_read_are_refused),
        cmocka_unit_test(options_are_parsed),
        cmocka_unit_test(the_environment_is_read_within_bounds),
        cmocka_unit_test(the_signal_limit_follows_the_packets_in_flight),
        cmocka_unit_test(the_pending_ring_holds_a_full_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
