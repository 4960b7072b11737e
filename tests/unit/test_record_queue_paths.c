/*
 * Paths of queues in recordings: stored on change, replayed in both directions, printed as JSON; and files without
 * paths.
 */
#include "tui_synth.h"

#include "recorded_fixture.h"

#include "command/output.h"
#include "record/replay.h"
#include "shm/gpu_names.h"

static struct synth *p;

static int set_up(void **state)
{
    p = synth_create(2, 3);
    return fixture_begin(state);
}

static int tear_down(void **state)
{
    synth_free(p);
    return fixture_end(state);
}

/* Paths frame by frame. A file without paths is read, and accepts a recording that has them. */
static void replayed_paths_equal_the_recorded_ones(void **state)
{
    (void)state;
    static const uint32_t ways[][2] = {{0, 0}, {RTL_PATH_NATIVE, RTL_REASON_ASKED_FOR}, {RTL_PATH_DEMOTED, 0}, {0, 0}};
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    for (uint64_t t = 0; t < 8; t++) { /* each path for two frames */
        p->queues[2].path = ways[t / 2][0];
        p->queues[2].why = ways[t / 2][1];
        struct rtl_snapshot s = synth_snapshot(p, (t + 1) * RTL_SEC);
        assert_int_equal(rtl_recording_add(r, &s, t, false), RTL_DB_OK);
        rtl_snapshot_free(&s);
    }
    rtl_recording_close(r);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_queue_way"), 3); /* on change only */
    struct rtl_replay *replay;
    assert_int_equal(rtl_replay_open(path, 0, 0, &replay, why, sizeof why), RTL_DB_OK);
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t t = i < 8 ? i : 15 - i; /* forward, then backward */
        struct rtl_snapshot s;
        bool exited;
        assert_int_equal(rtl_replay_read(replay, t, &s, &exited), RTL_DB_OK);
        assert_int_equal(s.queues[2].path, ways[t / 2][0]);
        assert_int_equal(s.queues[2].path_reason, ways[t / 2][1]);
        assert_int_equal(s.queues[1].path, 0);
        rtl_snapshot_free(&s);
    }
    rtl_replay_close(replay);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_ways WHERE way = 'native' AND reason = 'asked_for'"), 1);
    /* every name once */
    assert_int_equal(ask_sql("SELECT count(*) - count(DISTINCT kind || ' ' || key) FROM rtl_label"), 0);
    /* cut to 32 bits, these values would have names */
    exec_sql("UPDATE rtl_queue_way SET way = 4294967298, reason = -4294967295");
    assert_int_equal(rtl_replay_open(path, 0, 0, &replay, why, sizeof why), RTL_DB_OK);
    struct rtl_snapshot s;
    bool exited;
    assert_int_equal(rtl_replay_read(replay, 3, &s, &exited), RTL_DB_OK);
    assert_true(!rtl_queue_path_key(s.queues[2].path) && s.queues[2].path);
    assert_true(!rtl_path_reason_key(s.queues[2].path_reason) && s.queues[2].path_reason);
    rtl_snapshot_free(&s);
    rtl_replay_close(replay);
}

/* A snapshot has paths; an unknown value stays a number. */
static void a_snapshot_has_paths(void **state)
{
    (void)state;
    struct rtl_recording *r = record(RTL_RECORDING_SNAPSHOT);
    p->queues[0].path = 200;
    p->queues[0].why = 0xffffff;
    p->queues[2].path = RTL_PATH_INTERCEPT;
    p->queues[2].why = RTL_REASON_OTHER_TOOL;
    struct rtl_snapshot s = synth_snapshot(p, RTL_SEC);
    assert_int_equal(rtl_recording_add(r, &s, 1, false), RTL_DB_OK);
    assert_int_equal(rtl_recording_add(r, &s, 2, false), RTL_DB_OK); /* again in full */
    rtl_snapshot_free(&s);
    rtl_recording_close(r);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_queue_way"), 4);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_ways WHERE way IS NULL AND reason IS NULL"), 2);
    struct rtl_replay *replay;
    bool exited;
    assert_int_equal(rtl_replay_open(path, 0, 0, &replay, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_replay_read(replay, 0, &s, &exited), RTL_DB_OK);
    assert_true(s.queues[0].path == 200 && s.queues[0].path_reason == 0xffffff);
    assert_true(s.queues[2].path == RTL_PATH_INTERCEPT && s.queues[2].path_reason == RTL_REASON_OTHER_TOOL);
    rtl_snapshot_free(&s);
    rtl_replay_close(replay);
}

/* JSON and text print keys; a value without a key becomes null or "unknown". */
static void json_and_text_print_path_keys(void **state)
{
    (void)state;
    static const struct {
        uint32_t path, why;
        const char *json, *text;
    } cases[] = {
        {0, 0, "\"way\":null,\"way_why\":null", NULL},
        {RTL_PATH_NATIVE, RTL_REASON_DEFAULT, "\"way\":\"native\",\"way_why\":\"default\"", "  way native (default)\n"},
        {RTL_PATH_DEMOTED, 99, "\"way\":\"demoted\",\"way_why\":null", "  way demoted (unknown)\n"},
        {77, RTL_REASON_OTHER_TOOL, "\"way\":null,\"way_why\":\"other_tool\"", "  way unknown (other_tool)\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rtl_model *m = rtl_model_create();
        struct rtl_options options = {.output = RTL_OUTPUT_JSON};
        const struct rtl_output_frame frame = {.model = m, .options = &options, .pid = 4711, .title = ""};
        char *text;
        size_t size;
        p->queues[0].path = cases[i].path;
        p->queues[0].why = cases[i].why;
        synth_tick(p, m, RTL_SEC);
        FILE *out = open_memstream(&text, &size);
        assert_true(rtl_output_json(&frame, out));
        fflush(out);
        if (!strstr(text, cases[i].json))
            fail_msg("%s is not in %s", cases[i].json, text);
        rewind(out);
        assert_true(rtl_output_text(&frame, out));
        fclose(out);
        if (cases[i].text ? !strstr(text, cases[i].text) : !!strstr(text, "  way "))
            fail_msg("case %zu: %s", i, text);
        free(text);
        rtl_model_free(m);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(replayed_paths_equal_the_recorded_ones),
        TEST(a_snapshot_has_paths),
        TEST(json_and_text_print_path_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
