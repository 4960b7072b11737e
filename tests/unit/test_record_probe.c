/*
 * Probes in recordings: a replay in both directions returns each frame's measurement. Files without probes are read;
 * values that no recorder writes are refused with a message.
 */
#include "tui_synth.h"

#include "recorded_fixture.h"

#include "model/probe_figures.h"
#include "record/replay.h"

static struct synth *p;

static int set_up(void **state)
{
    p = synth_create(1, 1);
    return fixture_begin(state);
}

static int tear_down(void **state)
{
    synth_free(p);
    return fixture_end(state);
}

static enum rtl_db_status add(struct rtl_recording *r, uint64_t t)
{
    struct rtl_snapshot s = synth_snapshot(p, t * RTL_SEC);
    enum rtl_db_status status = rtl_recording_add(r, &s, t, false);
    rtl_snapshot_free(&s);
    return status;
}

/* Make a state after `n` probed dispatches; all its numbers differ. */
static struct rtl_probe_told told(uint64_t n)
{
    struct rtl_probe_told t = {.there = true,
                               .runs = true,
                               .kernel = RTL_KERNEL_FIRST,
                               .stage = "armed",
                               .counted = true,
                               .on_gpu = true,
                               .gpu = 1,
                               .every = 10,
                               .compute_units = 104};
    uint64_t *const numbers[] = {
        &t.state.wanted,
        &t.state.code_hash,
        &t.state.dispatches,
        &t.state.probed,
        &t.state.recorded,
        &t.state.waves_expected,
        &t.state.waves,
        &t.state.sum,
        &t.state.min,
        &t.state.max,
        &t.state.gap_sum,
        &t.state.tails,
        &t.state.tail_total_ns,
        &t.state.tail_max_ns,
        &t.state.tail_step_ns,
        &t.state.duration_min_ns,
        &t.state.duration_max_ns,
        &t.state.duration_total_ns,
        &t.state.dies,
    };
    for (uint64_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = n * 100 + i;
    t.state.code_bytes = (uint32_t)n + 5000;
    t.state.code_hash |= 1ull << 63;
    for (uint64_t i = 0; i < RTL_PROBE_DURATIONS; i++)
        t.state.durations[i] = i % 3 ? 0 : n + i, t.state.tail_ns[i] = i % 5 ? 0 : n * i,
        t.state.gaps[i] = i % 4 ? 0 : n + 1;
    for (uint64_t i = 0; i < RTL_PROBE_UNITS; i++)
        t.state.busy[i] = i % 7 == 3 ? UINT64_MAX - n - i : 0;
    t.state.busy[RTL_PROBE_UNITS - 1] = n;
    for (uint32_t die = 1; die < RTL_PROBE_DIES; die++)
        t.state.die[die - 1].busy[die * 5] = t.state.die[die - 1].busy[RTL_PROBE_UNITS - die] = n * 1000 + die;
    return t;
}

static struct rtl_probe_told over(uint64_t n)
{
    struct rtl_probe_told t = told(n);
    t.runs = false;
    snprintf(t.stage, sizeof t.stage, "over");
    snprintf(t.over, sizeof t.over, "the probe ended: it was stopped");
    snprintf(t.ended, sizeof t.ended, "stopped");
    return t;
}

static void must_be_same(const struct rtl_probe_told *a, const struct rtl_probe_told *b)
{
    assert_int_equal(a->there, b->there);
    assert_int_equal(a->runs, b->runs);
    assert_int_equal(a->kernel, b->kernel);
    assert_string_equal(a->stage, b->stage);
    assert_string_equal(a->over, b->over);
    assert_string_equal(a->ended, b->ended);
    assert_int_equal(a->counted, b->counted);
    assert_int_equal(a->on_gpu, b->on_gpu);
    assert_int_equal(a->gpu, b->gpu);
    assert_int_equal(a->every, b->every);
    assert_int_equal(a->compute_units, b->compute_units);
    assert_memory_equal(&a->state, &b->state, sizeof a->state);
}

enum { FRAMES = 12 };

/* Return a frame's state: none, armed, no news, ended, then another kernel's without data. */
static struct rtl_probe_told at_frame(uint32_t frame)
{
    struct rtl_probe_told other = {
        .there = true, .runs = true, .kernel = RTL_KERNEL_FIRST + 1, .stage = "searching its code"};
    return frame < 2 ? (struct rtl_probe_told){0} : frame < 6 ? told(frame / 2) : frame < 9 ? over(7) : other;
}

static void replayed_probes_equal_the_recorded_ones(void **state)
{
    (void)state;
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    synth_record(p, synth_kernel(p, "first"), 1000, 1);
    synth_record(p, synth_kernel(p, "second"), 1000, 1);
    for (uint32_t i = 0; i < FRAMES; i++) {
        const struct rtl_probe_told now = at_frame(i);
        rtl_recording_probe(r, &now);
        assert_int_equal(add(r, i + 1), RTL_DB_OK);
    }
    rtl_recording_close(r);
    struct rtl_replay *replay;
    assert_int_equal(rtl_replay_open(path, 0, 0, &replay, why, sizeof why), RTL_DB_OK);
    for (uint32_t i = 0; i < 2 * FRAMES; i++) {
        uint32_t frame = i < FRAMES ? i : 2 * FRAMES - 1 - i;
        const struct rtl_probe_told wanted = at_frame(frame);
        struct rtl_probe_told is;
        assert_int_equal(rtl_replay_probe(replay, frame, &is), RTL_DB_OK);
        must_be_same(&is, &wanted);
    }
    rtl_replay_close(replay);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_probe_sample"), 4); /* only changes */
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_probes WHERE name = 'second' AND gpu IS NULL"), 1);
    assert_int_equal(ask_sql("SELECT recorded FROM rtl_probes WHERE ended = 'stopped'"), 704);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_probe_sample WHERE busy LIKE '[3,-%,7,-%'"), 3);
}

/* A recording stores its own process's probe; a file of an older recorder has none. */
static void frames_without_a_probe_have_none(void **state)
{
    (void)state;
    struct rtl_probe_told now = told(1);
    struct rtl_replay *replay;
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    assert_int_equal(add(r, 1), RTL_DB_OK);
    assert_int_equal(ask_sql("SELECT count(*) FROM sqlite_master WHERE name LIKE 'rtl_probe%'"), 0);
    assert_int_equal(rtl_replay_open(path, 0, 0, &replay, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_replay_probe(replay, 0, &now), RTL_DB_OK);
    assert_false(now.there);
    rtl_replay_close(replay);
    struct rtl_recording *other = record(RTL_RECORDING_SNAPSHOT);
    now = told(1);
    rtl_recording_probe(other, &now);
    assert_int_equal(add(other, 2), RTL_DB_OK);
    assert_int_equal(add(other, 3), RTL_DB_OK); /* another snapshot, with the probe */
    rtl_recording_close(other);
    assert_int_equal(add(r, 4), RTL_DB_OK);
    rtl_recording_close(r);
    assert_int_equal(ask_sql("SELECT count(DISTINCT recording) FROM rtl_probe_sample"), 2);
    assert_int_equal(rtl_replay_open(path, 0, 1, &replay, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_replay_probe(replay, 1, &now), RTL_DB_OK);
    assert_false(now.there);
    rtl_replay_close(replay);
    assert_int_equal(rtl_replay_open(path, 0, 3, &replay, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_replay_probe(replay, 0, &now), RTL_DB_OK);
    assert_true(now.there);
    rtl_replay_close(replay);
}

/* The next frame stores the data of a failed frame. */
static void the_next_frame_has_a_failed_frames_probe(void **state)
{
    (void)state;
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    struct rtl_probe_told now = told(1);
    struct rtl_db *db = rtl_recording_db(r);
    rtl_recording_probe(r, &now);
    assert_int_equal(add(r, 1), RTL_DB_OK);
    now = told(2);
    rtl_recording_probe(r, &now);
    rtl_db_exec(db, "CREATE TEMP TRIGGER no BEFORE INSERT ON rtl_probe_sample BEGIN SELECT raise(FAIL, 'no'); END");
    assert_int_not_equal(add(r, 2), RTL_DB_OK);
    rtl_db_exec(db, "DROP TRIGGER no");
    assert_int_equal(add(r, 3), RTL_DB_OK);
    rtl_recording_close(r);
    assert_int_equal(ask_sql("SELECT group_concat(sequence || ':' || recorded) = '0:104,1:204' FROM rtl_probes"), 1);
}

static enum rtl_db_status replayed(struct rtl_probe_told *probe)
{
    struct rtl_replay *replay;
    enum rtl_db_status status = rtl_replay_open(path, 0, 0, &replay, why, sizeof why);
    if (status)
        return status;
    status = rtl_replay_probe(replay, 0, probe);
    snprintf(why, sizeof why, "%s", rtl_replay_why(replay));
    rtl_replay_close(replay);
    return status;
}

static void make_one(void)
{
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    const struct rtl_probe_told now = told(3);
    rtl_recording_probe(r, &now);
    assert_int_equal(add(r, 1), RTL_DB_OK);
    rtl_recording_close(r);
}

static void damaged_probes_are_refused_with_a_message(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "kernel = 65536",
        "kernel = -1",
        "gpu = 64",
        "gpu = -2",
        "durations = '[64,1]'",
        "durations = '[60,1,4,1]'",
        "durations = '[-1,1]'",
        "durations = 'what'",
        "durations = '[1,2'",
        "durations = '[1]'",
        "busy = '[256,1]'",
        "busy = '[1,99999999999999999999]'",
        "tail_times = '[64,1]'",
        "tail_times = x'ff00'",
        "gaps = '[64,1]'",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct rtl_probe_told probe;
        char sql[200];
        make_one();
        assert_int_equal(replayed(&probe), RTL_DB_OK);
        assert_true(probe.there);
        snprintf(sql, sizeof sql, "UPDATE rtl_probe_sample SET %s", changes[i]);
        run_sql(sql);
        if (replayed(&probe) != RTL_DB_CORRUPT || !strstr(why, "is damaged: ") || probe.there)
            fail_msg("%s: '%s'", changes[i], why);
        unlink(path);
    }
}

/* Any numbers are displayed, and any text is escaped. */
static void any_numbers_are_displayed(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "waves = -1, cycles = -1, max_cycles = -1, recorded = -1, tails = -1, every = -1, compute_units = -1",
        "durations = '[0,-1,0,-1,63,-1]', busy = '[0,-1,255,-1]', tail_times = '[63,-1]'",
        "durations = NULL, busy = NULL, tail_times = NULL, gaps = NULL",
        "stage = printf('%.9000c', 'x'), ended = printf('%.9000c', 'x'), why = printf('%.9000c', 'x')",
        "stage = x'1b5b31', ended = x'0a1b5b', why = 'a' || char(10) || char(155) || 'b'",
        "runs = 70000, counted = -1, stage = 7, why = 1e300, recorded = 'x', frame = -9223372036854775808",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct rtl_probe_figures figures;
        struct rtl_probe_told probe;
        char sql[300];
        make_one();
        snprintf(sql, sizeof sql, "UPDATE rtl_probe_sample SET %s", changes[i]);
        run_sql(sql);
        if (replayed(&probe) != RTL_DB_OK)
            fail_msg("%s: '%s'", changes[i], why);
        const char *const texts[] = {probe.stage, probe.ended, probe.over};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            for (const char *c = texts[t]; *c; c++)
                assert_in_range(*c, 0x20, 0x7e);
        rtl_probe_figures(&probe.state, &figures);
        unlink(path);
    }
}

/* Another program's table of that name: frames are recorded without probes, with one message. */
static void another_programs_table_disables_probes(void **state)
{
    (void)state;
    static const char *const tables[] = {
        "CREATE TABLE rtl_probe_sample(what INTEGER)",
        "CREATE VIEW rtl_probe_sample AS SELECT 1 AS recording",
        "CREATE TABLE rtl_probe_sample(recording, frame, kernel, gpu, stage, ended CHECK(ended > 7))",
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct rtl_probe_told now = told(3);
        char text[400];
        struct rtl_recording *r = record(RTL_RECORDING_SERIES);
        run_sql(tables[i]);
        assert_int_equal(add(r, 1), RTL_DB_OK);
        assert_string_equal(rtl_recording_left_out(r, text, sizeof text), "");
        rtl_recording_probe(r, &now);
        for (uint64_t t = 2; t < 5; t++) {
            if (add(r, t) != RTL_DB_OK)
                fail_msg("%s: %s", tables[i], rtl_recording_why(r));
            bool told_now = strstr(rtl_recording_left_out(r, text, sizeof text), "rtl_probe_sample") != NULL;
            assert_int_equal(told_now, t == 2);
        }
        assert_true(rtl_recording_frames(r) == 4);
        rtl_recording_close(r);
        assert_int_equal(ask_sql("SELECT count(*) FROM rtl_frame"), 4);
        unlink(path);
    }
}

/* Damaged probes are not displayed; the frames are. */
static void damaged_probes_are_left_out(void **state)
{
    (void)state;
    struct rtl_replay *replay;
    struct rtl_probe_told probe;
    make_one();
    run_sql("UPDATE rtl_probe_sample SET kernel = -1");
    assert_int_equal(rtl_replay_open(path, 0, 0, &replay, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_replay_probe(replay, 0, &probe), RTL_DB_CORRUPT);
    rtl_replay_leave_probes(replay);
    assert_int_equal(rtl_replay_probe(replay, 0, &probe), RTL_DB_OK);
    assert_false(probe.there);
    struct rtl_snapshot s;
    bool exited;
    assert_int_equal(rtl_replay_read(replay, 0, &s, &exited), RTL_DB_OK);
    rtl_snapshot_free(&s);
    rtl_replay_close(replay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replayed_probes_equal_the_recorded_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frames_without_a_probe_have_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_next_frame_has_a_failed_frames_probe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_probes_are_refused_with_a_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_numbers_are_displayed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_programs_table_disables_probes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_probes_are_left_out, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
