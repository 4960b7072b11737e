/*
 * HIP calls and roctx ranges in recordings: a recording stores changes, and a replay in both directions returns the
 * recorded frames. Files without calls are read; impossible values are refused with a message.
 */
#include "hip_api_fixture.h"

#include "recorded_fixture.h"

#include "record/schema.h"
#include "record/replay.h"

static struct synth *p;
static struct synth_calls c;

static int set_up(void **state)
{
    p = synth_create(1, 1);
    memset(&c, 0, sizeof c);
    return fixture_begin(state);
}

static int tear_down(void **state)
{
    synth_free(p);
    return fixture_end(state);
}

static void same_histogram(const struct rtl_histogram_copy *a, const struct rtl_histogram_copy *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->total_ns, b->total_ns);
    assert_int_equal(a->max_ns, b->max_ns);
    assert_int_equal(a->octave_count, b->octave_count);
    for (uint32_t i = 0; i < a->octave_count; i++) {
        assert_int_equal(a->octaves[i].octave, b->octaves[i].octave);
        assert_memory_equal(a->octaves[i].bucket, b->octaves[i].bucket, sizeof a->octaves[i].bucket);
    }
}

static void same_calls(const struct rtl_hip_api_snapshot *a, const struct rtl_hip_api_snapshot *b)
{
    assert_true(!a == !b);
    if (!a)
        return;
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++) {
        assert_int_equal(rtl_hip_api_compare_rows(&a->rows[i], &b->rows[i]), 0);
        assert_int_equal(a->rows[i].bytes, b->rows[i].bytes);
        assert_int_equal(a->rows[i].errors, b->rows[i].errors);
        assert_int_equal(a->rows[i].open, b->rows[i].open);
        assert_int_equal(a->rows[i].in_use, b->rows[i].in_use);
        same_histogram(&a->rows[i].histogram, &b->rows[i].histogram);
    }
    assert_int_equal(a->memory_count, b->memory_count);
    assert_memory_equal(a->memory, b->memory, a->memory_count * sizeof *a->memory);
    assert_int_equal(a->node_count, b->node_count);
    for (uint32_t i = 0; i < a->node_count; i++)
        assert_memory_equal(&a->nodes[i], &b->nodes[i], sizeof a->nodes[i]);
    assert_int_equal(a->launch_count, b->launch_count);
    for (uint32_t i = 0; i < a->launch_count; i++) {
        assert_int_equal(a->launches[i].kernel, b->launches[i].kernel);
        same_histogram(&a->launches[i].histogram, &b->launches[i].histogram);
    }
    assert_int_equal(a->pair_count, b->pair_count);
    for (uint32_t i = 0; i < a->pair_count; i++) {
        assert_int_equal(a->pairs[i].node, b->pairs[i].node);
        assert_int_equal(a->pairs[i].kernel, b->pairs[i].kernel);
        same_histogram(&a->pairs[i].histogram, &b->pairs[i].histogram);
    }
    assert_int_equal(a->linked, b->linked);
    assert_int_equal(a->pops_unbalanced, b->pops_unbalanced);
}

enum { FRAMES = 238 }; /* a replay has more than two checkpoints */

/* Advance the process to frame `t`: functions, ranges and kernels come one after another; some frames have no calls. */
static bool grow(int t)
{
    static int launch, copy, decode, kernel;
    static uint32_t outer, inner;
    if (t == 0) {
        kernel = synth_kernel(p, "first_kernel");
        launch = synth_call(&c, RTL_HIP_API_LAUNCH, "hipLaunchKernel");
    }
    if (t < 2)
        return false;
    synth_record(p, kernel, 1000, 5);
    synth_add(&c.rows[launch].h, 5000 + (uint64_t)t * 700, 3);
    if (t == 5) {
        copy = synth_call(&c, RTL_HIP_API_COPY, "hipMemcpy");
        c.memory[0] = (struct rtl_hip_api_memory_snapshot){4711, 0, 0, 0, 0};
        c.memory[1] = (struct rtl_hip_api_memory_snapshot){4711, RTL_HIP_API_GPUS, 5, 5, 1};
        c.memory_count = 2;
    }
    if (t >= 5 && t % 3 == 0) {
        synth_add(&c.rows[copy].h, 90000, 1);
        c.rows[copy].bytes += 4096;
        c.rows[copy].errors += t % 2 == 0;
        c.memory[0].in_use = (uint64_t)(t % 10) * 1000;
        c.memory[0].peak = 9000;
    }
    if (t == 9) {
        decode = synth_call(&c, RTL_HIP_API_RANGE, "decode");
        outer = synth_node(&c, 0, "decode");
        inner = synth_node(&c, outer, "attention");
        c.launches[c.launch_count++].kernel = "first_kernel";
    }
    if (t == 30) { /* sorts before its sibling */
        c.pairs[0].node = inner;
        c.pairs[1].node = synth_node(&c, outer, "a");
        c.pairs[0].kernel = c.pairs[1].kernel = "first_kernel";
        c.pair_count = 1;
    }
    if (t >= 30) {
        synth_add(&c.pairs[0].h, 3000 + (uint64_t)t, 2);
        synth_add(&c.pairs[1].h, 2000 + (uint64_t)t, t % 7 == 0);
        c.pair_count = t > 100 ? 2 : 1;
    }
    if (t >= 9) {
        synth_add(&c.rows[decode].h, 1000000, 1);
        c.nodes[outer].count++;
        c.nodes[outer].open = (uint64_t)t & 1;
        c.nodes[inner].kernels_ns += 777;
        synth_add(&c.launches[0].h, 12000 + (uint64_t)t, 2);
        c.linked += 2;
        c.unbalanced = (uint64_t)t / 50;
    }
    return t % 40 != 39;
}

static void replayed_calls_equal_the_recorded_ones(void **state)
{
    (void)state;
    static struct rtl_snapshot all[FRAMES];
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    for (int t = 0; t < FRAMES; t++) {
        bool any = grow(t);
        all[t] = synth_snapshot(p, (uint64_t)(t + 1) * RTL_SEC);
        all[t].pid = 4711;
        if (any)
            synth_put_calls(p, &c, &all[t]);
        assert_int_equal(rtl_recording_add(r, &all[t], (uint64_t)t, false), RTL_DB_OK);
    }
    rtl_recording_close(r);
    struct rtl_replay *replay;
    assert_int_equal(rtl_replay_open(path, 0, 0, &replay, why, sizeof why), RTL_DB_OK);
    uint32_t at = 7;
    for (int i = 0; i < 2 * FRAMES + 100; i++) { /* forward, backward, then at random */
        uint32_t frame = i < FRAMES ? (uint32_t)i : i < 2 * FRAMES ? (uint32_t)(2 * FRAMES - 1 - i) : at;
        struct rtl_snapshot s;
        bool exited;
        assert_int_equal(rtl_replay_read(replay, frame, &s, &exited), RTL_DB_OK);
        same_calls(all[frame].hip_api, s.hip_api);
        rtl_snapshot_free(&s);
        at = (at * 101 + 17) % FRAMES;
    }
    rtl_replay_close(replay);
    for (int t = 0; t < FRAMES; t++)
        rtl_snapshot_free(&all[t]);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_call"), 3);
    assert_int_equal(ask_sql("SELECT sum(bytes) FROM rtl_calls WHERE kind = 'copy' AND name = 'hipMemcpy'"),
                     (int64_t)c.rows[1].bytes);
    assert_int_equal(ask_sql("SELECT count(DISTINCT path) FROM rtl_ranges"), 4);
    assert_int_equal(ask_sql("SELECT sum(s.timed) FROM rtl_pair_sample s JOIN rtl_range r ON r.range = s.range "
                             "WHERE r.name = 'attention'"),
                     (int64_t)c.pairs[0].h.count);
    assert_int_equal(ask_sql("SELECT sum(kernels_ns) FROM rtl_ranges WHERE path = 'decode > attention'"),
                     (int64_t)c.nodes[2].kernels_ns);
}

static enum rtl_db_status replayed(void)
{
    struct rtl_replay *replay;
    enum rtl_db_status status = rtl_replay_open(path, 0, 0, &replay, why, sizeof why);
    for (uint32_t i = 0; !status && i < rtl_replay_info(replay)->frames; i++) {
        struct rtl_snapshot s;
        bool exited;
        status = rtl_replay_read(replay, i, &s, &exited);
        if (status)
            snprintf(why, sizeof why, "%s", rtl_replay_why(replay));
        rtl_snapshot_free(&s);
    }
    rtl_replay_close(replay);
    return status;
}

/* Values that no recorder writes are refused with a message. */
static void damaged_calls_are_refused_with_a_message(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "UPDATE rtl_call SET call = 70000 WHERE call = 1",
        "UPDATE rtl_call SET name = 'hipLaunchKernel', kind = 1",
        "UPDATE rtl_call SET kind = -1",
        "UPDATE rtl_call_sample SET call = -1 WHERE call = 1",
        "UPDATE rtl_call_sample SET buckets = '[99999999,1]'",
        "UPDATE rtl_range SET parent = 2 WHERE range = 1",
        "UPDATE rtl_range SET parent = -1 WHERE range = 1",
        "UPDATE rtl_range SET name = 'decode', parent = 0 WHERE range > 0",
        "UPDATE rtl_range_sample SET range = 4096 WHERE range = 1",
        "UPDATE rtl_call_memory SET place = 65 WHERE place = 0",
        "UPDATE rtl_launch_sample SET kernel = 1 << 20",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct rtl_recording *r = record(RTL_RECORDING_SNAPSHOT);
        for (int t = 0; t < 35; t++)
            grow(t);
        struct rtl_snapshot s = synth_snapshot(p, 40 * RTL_SEC);
        synth_put_calls(p, &c, &s);
        assert_int_equal(rtl_recording_add(r, &s, 1, false), RTL_DB_OK);
        rtl_snapshot_free(&s);
        rtl_recording_close(r);
        assert_int_equal(replayed(), RTL_DB_OK);
        exec_sql(changes[i]);
        if (replayed() != RTL_DB_CORRUPT || !strstr(why, "is damaged: "))
            fail_msg("%s: '%s'", changes[i], why);
        unlink(path);
        memset(&c, 0, sizeof c);
        synth_free(p);
        p = synth_create(1, 1);
    }
}

static void recordings_without_calls_have_no_call_tables(void **state)
{
    (void)state;
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    struct rtl_snapshot s = synth_snapshot(p, RTL_SEC);
    assert_int_equal(rtl_recording_add(r, &s, 1, false), RTL_DB_OK);
    assert_int_equal(ask_sql("SELECT count(*) FROM sqlite_master WHERE name LIKE 'rtl_call%'"), 0);
    assert_int_equal(replayed(), RTL_DB_OK);
    rtl_snapshot_free(&s);
    synth_call(&c, RTL_HIP_API_LAUNCH, "hipLaunchKernel");
    synth_add(&c.rows[0].h, 5, 1);
    s = synth_snapshot(p, 2 * RTL_SEC);
    synth_put_calls(p, &c, &s);
    assert_int_equal(rtl_recording_add(r, &s, 2, false), RTL_DB_OK);
    rtl_snapshot_free(&s);
    rtl_recording_close(r);
    assert_int_equal(ask_sql("SELECT timed FROM rtl_calls"), 1);
    assert_int_equal(replayed(), RTL_DB_OK);
}

/* A hostile process changes the kind of a function from frame to frame, and uses kinds of no library. */
static void a_function_whose_kind_changes_is_one_function(void **state)
{
    (void)state;
    static const uint32_t kinds[] = {UINT32_MAX,        RTL_HIP_API_LAUNCH, RTL_HIP_API_ALLOCATE,
                                     RTL_HIP_API_RANGE, RTL_HIP_API_MARK,   0};
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    synth_call(&c, 0, "hipMalloc");
    for (uint64_t t = 0; t < sizeof kinds / sizeof *kinds; t++) {
        struct rtl_snapshot s = synth_snapshot(p, (t + 1) * RTL_SEC);
        c.rows[0].kind = kinds[t];
        synth_add(&c.rows[0].h, 5, 1);
        synth_put_calls(p, &c, &s);
        assert_int_equal(rtl_recording_add(r, &s, t, false), RTL_DB_OK);
        rtl_snapshot_free(&s);
    }
    rtl_recording_close(r);
    if (replayed() != RTL_DB_OK)
        fail_msg("%s", why);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_call"), 3); /* a function, a range and a mark of that name */
}

/* Make as many functions and ranges as a segment can have, all called after `of`. */
static struct rtl_snapshot full_of(int of, uint64_t t)
{
    const struct rtl_hip_api_room room = {RTL_HIP_API_ROWS, 0, RTL_HIP_API_NODES, 0, 0, 0};
    struct rtl_snapshot s = synth_snapshot(p, t);
    struct rtl_hip_api_snapshot *calls = rtl_hip_api_allocate(&s, &room);
    assert_non_null(calls);
    calls->links = true;
    for (uint32_t i = 0; i < RTL_HIP_API_ROWS; i++) {
        struct rtl_hip_api_row_snapshot *row = &calls->rows[calls->count++];
        *row = (struct rtl_hip_api_row_snapshot){.kind = RTL_HIP_API_LAUNCH, .bytes = t + i};
        row->name_bytes = (uint32_t)snprintf(row->name, sizeof row->name, "call %d %05u", of, (unsigned)i);
    }
    for (uint32_t i = 0; i < RTL_HIP_API_NODES; i++) { /* each node gets a child */
        struct rtl_hip_api_node_snapshot *n = &calls->nodes[calls->node_count++];
        *n = (struct rtl_hip_api_node_snapshot){.parent = i < 2 ? 0 : i - 2, .count = t + i};
        n->name_bytes = i ? (uint32_t)snprintf(n->name, sizeof n->name, "range %d %05u", of, (unsigned)i) : 0;
    }
    assert_true(rtl_hip_api_sort_nodes(calls->nodes, calls->node_count, NULL));
    return s;
}

/* The process calls other functions in each frame. A replay leaves out what exceeds its memory, and reports it. */
static void a_replay_leaves_out_names_beyond_its_memory(void **state)
{
    (void)state;
    enum { NEW = 3 };
    struct rtl_snapshot all[NEW];
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    for (int t = 0; t < NEW; t++) {
        all[t] = full_of(t % 2, (uint64_t)(t + 1) * RTL_SEC); /* the last frame's calls equal the first one's */
        assert_int_equal(rtl_recording_add(r, &all[t], (uint64_t)t, false), RTL_DB_OK);
    }
    rtl_recording_close(r);
    struct rtl_replay *replay;
    if (rtl_replay_open(path, 0, 0, &replay, why, sizeof why))
        fail_msg("%s", why);
    for (uint32_t t = 0; t < NEW; t++) {
        struct rtl_snapshot s;
        bool exited;
        assert_int_equal(rtl_replay_read(replay, t, &s, &exited), RTL_DB_OK);
        assert_int_equal(s.hip_api->count, RTL_HIP_API_ROWS);
        assert_int_equal(s.hip_api->node_count, RTL_HIP_API_NODES);
        assert_int_equal(s.hip_api->ranges_other, t == 1 ? RTL_HIP_API_ROWS + RTL_HIP_API_NODES - 1 : 0);
        if (t == 0)
            same_calls(s.hip_api, all[0].hip_api);
        rtl_snapshot_free(&s);
    }
    rtl_replay_close(replay);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_range"), RTL_HIP_API_NODES);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_call"), RTL_HIP_API_ROWS);
    for (int t = 0; t < NEW; t++)
        rtl_snapshot_free(&all[t]);
}

/* A failed frame's new numbers are withdrawn, so that the next frame can use them. */
static void a_failed_frames_numbers_are_withdrawn(void **state)
{
    (void)state;
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    struct rtl_snapshot first = full_of(0, RTL_SEC), other = full_of(1, 2 * RTL_SEC);
    struct rtl_db *db = rtl_recording_db(r);
    assert_int_equal(rtl_db_need(db, &rtl_calls_set), RTL_DB_OK);
    rtl_db_exec(db, "PRAGMA max_page_count=1"); /* the file can't grow */
    for (int i = 0; i < 2; i++)
        assert_int_equal(rtl_recording_add(r, &first, 1, false), RTL_DB_FULL);
    rtl_db_exec(db, "PRAGMA max_page_count=1000000");
    for (int i = 0; i < 2; i++)
        assert_int_equal(rtl_recording_add(r, &other, 2, false), RTL_DB_OK);
    rtl_recording_close(r);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_range WHERE name LIKE 'range 1 %'"), RTL_HIP_API_NODES - 1);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_call WHERE name LIKE 'call 1 %'"), RTL_HIP_API_ROWS);
    rtl_snapshot_free(&first);
    rtl_snapshot_free(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(replayed_calls_equal_the_recorded_ones, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_calls_are_refused_with_a_message, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recordings_without_calls_have_no_call_tables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_function_whose_kind_changes_is_one_function, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_replay_leaves_out_names_beyond_its_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_failed_frames_numbers_are_withdrawn, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
