/*
 * Several processes that were recorded together are replayed as they were watched: JSON at each moment is equal,
 * forward and backward, also when processes come and go and when files have false values.
 */
#include "tui_synth.h"

#include <unistd.h>

#include "command/output.h"
#include "model/merge.h"
#include "record/recording.h"
#include "watch/player.h"

enum { PROCESSES = 4, MOMENTS = 12 };

/* When each process starts and exits: the first one is alone for a while. */
static const int comes[PROCESSES] = {0, 2, 2, 6}, gone[PROCESSES] = {MOMENTS, MOMENTS, 8, MOMENTS};

static char folder[64], path[96], why[512];
static struct synth *p[PROCESSES];
static char *live[MOMENTS]; /* JSON of the group while it was watched */

static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    (void)context;
    names->full = names->short_name = k->name;
}

static struct rtl_recording *record_of(int i)
{
    struct rtl_recording_info info = {.kind = RTL_RECORDING_SERIES,
                                      .pid = 400000000 + i,
                                      .recorder = "test",
                                      .interval_ns = RTL_SEC,
                                      .rank = i,
                                      .name_kernel = name_kernel};
    char title[20];
    struct rtl_recording *r;
    snprintf(title, sizeof title, "serve %d", i);
    snprintf(info.label, sizeof info.label, "TP%d", i);
    info.title = title;
    if (rtl_recording_open(path, false, 50, &info, &r, why, sizeof why))
        fail_msg("%s", why);
    return r;
}

static void work(int moment)
{
    for (int i = 0; i < PROCESSES; i++) {
        for (int k = 0; k < p[i]->kernel_count; k++)
            if ((moment + k + i) % 3)
                synth_record(p[i], k, (uint64_t)(1000 * (k + 1) + 50 * moment), (uint64_t)(10 + i));
        p[i]->busy_ns[0] += RTL_SEC / 3;
        synth_copies(p[i], 0, RTL_COPY_H2D, 4096, 5000, 3);
    }
}

static char *json(struct rtl_model *model, const char *title, uint64_t number)
{
    struct rtl_options options = {0};
    struct rtl_output_frame frame = {
        .model = model, .options = &options, .pid = 400000000, .title = title, .number = number};
    char *bytes = NULL;
    size_t size;
    FILE *out = open_memstream(&bytes, &size);
    assert_non_null(out);
    assert_true(rtl_output_json(&frame, out));
    assert_int_equal(fclose(out), 0);
    return bytes;
}

/* Watch the group as watch/process_set.c does, and record it as watch/group_recorder.c does. */
static void watch_and_record(void)
{
    struct rtl_recording *recordings[PROCESSES] = {NULL};
    struct rtl_merge *merge = rtl_merge_create();
    struct rtl_model *model = rtl_model_create();
    assert_true(merge && model);
    int joined = 0;
    for (int moment = 0; moment < MOMENTS; moment++) {
        uint64_t at = (uint64_t)(moment + 1) * RTL_SEC, real = 1700000000 * RTL_SEC + at;
        struct rtl_snapshot s;
        char title[60];
        int alive = 0;
        work(moment);
        if (moment == comes[1]) {
            s = synth_snapshot(p[0], at);
            rtl_merge_join(merge, &(struct rtl_member_info){.pid = 400000000, .label = "TP0", .title = "serve 0"});
            assert_true(rtl_merge_adopt(merge, 0, &s));
            rtl_snapshot_free(&s);
            joined = 1;
        }
        for (int i = 1; i < PROCESSES; i++)
            if (moment == comes[i]) {
                struct rtl_member_info info = {.pid = 400000000 + i, .rank = i};
                snprintf(info.label, sizeof info.label, "TP%d", i);
                snprintf(info.title, sizeof info.title, "serve %d", i);
                assert_int_equal(rtl_merge_join(merge, &info), joined++);
            }
        for (int i = PROCESSES; i-- > 0;) {
            if (moment < comes[i] || moment > gone[i])
                continue;
            s = synth_snapshot(p[i], at);
            if (!recordings[i])
                recordings[i] = record_of(i);
            assert_int_equal(rtl_recording_add(recordings[i], &s, real, moment == gone[i]), RTL_DB_OK);
            if (joined)
                assert_true(rtl_merge_update(merge, (uint32_t)i, &s));
            rtl_snapshot_free(&s);
            if (moment == gone[i])
                rtl_merge_leave(merge, (uint32_t)i);
            else
                alive++;
        }
        if (joined)
            assert_true(rtl_merge_make(merge, SYNTH_START + at, &s));
        else
            s = synth_snapshot(p[0], at);
        assert_true(rtl_model_add(model, &s, real));
        snprintf(title, sizeof title, joined ? "%d processes: serve 0" : "serve 0", alive);
        live[moment] = json(model, title, (uint64_t)moment);
    }
    for (int i = 0; i < PROCESSES; i++)
        rtl_recording_close(recordings[i]);
    rtl_model_free(model);
    rtl_merge_free(merge);
}

static int set_up(void **state)
{
    static const char *const names[] = {"gemm", "ncclDevKernel_AllReduce", "norm", "copy"};
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rtl-group-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file.db", folder);
    for (int i = 0; i < PROCESSES; i++) {
        p[i] = synth_create(1 + i % 2, 2);
        for (int k = 0; k < 4; k++)
            synth_kernel(p[i], names[(k + i) % 4]);
        if (i >= 2)
            synth_kernel(p[i], i == 2 ? "its own" : "its own, and late");
    }
    watch_and_record();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < PROCESSES; i++)
        synth_free(p[i]);
    for (int i = 0; i < MOMENTS; i++)
        free(live[i]);
    unlink(path);
    return rmdir(folder);
}

static void exec_sql(const char *sql)
{
    struct rtl_db *db;
    assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.write = true}, &db, why, sizeof why), RTL_DB_OK);
    rtl_db_exec(db, sql);
    if (rtl_db_status(db))
        fail_msg("%s: %s", sql, rtl_db_why(db));
    rtl_db_close(db);
}

static void play(struct rtl_player *player, pid_t pid)
{
    if (rtl_player_open(player, path, pid, 0, why, sizeof why))
        fail_msg("%s", why);
    player->model = rtl_model_create();
    assert_non_null(player->model);
    rtl_player_names(player, false);
}

static void stop(struct rtl_player *player)
{
    rtl_model_free(player->model);
    rtl_player_close(player);
}

static void assert_shows(struct rtl_player *player, uint32_t frame)
{
    assert_int_equal(rtl_player_show(player, frame), RTL_DB_OK);
    char *now = json(player->model, player->title, frame);
    assert_string_equal(now, live[frame]);
    free(now);
}

static void a_group_replay_equals_the_live_json(void **state)
{
    (void)state;
    struct rtl_player player;
    play(&player, 0);
    assert_int_equal(player.frames, MOMENTS);
    assert_int_equal(player.pid, 400000000);
    for (uint32_t f = 0; f < MOMENTS; f++)
        assert_shows(&player, f);
    assert_non_null(strstr(live[MOMENTS - 1], "\"label\":\"TP3\""));
    assert_string_equal(player.title, "3 processes: serve 0");
    assert_null(strstr(live[1], "\"processes\""));
    stop(&player);
}

static void a_moment_is_equal_forward_and_backward(void **state)
{
    (void)state;
    static const uint32_t frames[] = {9, 3, 2, 1, 0, 11, 8, 7, 2, 10, 1, 5, 6};
    struct rtl_player player;
    play(&player, 0);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        assert_shows(&player, frames[i]);
    assert_int_equal(rtl_player_find(&player, rtl_player_time(&player, 4) + 5), 4);
    assert_int_equal(rtl_player_find(&player, 0), 0);
    stop(&player);
}

/* Without a player, which always approaches from the past: a moment's state does not depend on the direction. */
static void a_groups_moment_does_not_depend_on_the_direction(void **state)
{
    (void)state;
    struct rtl_player player;
    uint64_t counted[MOMENTS];
    uint32_t kernels[MOMENTS];
    play(&player, 0);
    for (uint32_t i = 0; i < 2 * MOMENTS; i++) {
        uint32_t moment = i < MOMENTS ? i : 2 * MOMENTS - 1 - i;
        struct rtl_snapshot s;
        bool exited;
        assert_int_equal(rtl_replay_group_read(player.group, moment, &s, &exited), RTL_DB_OK);
        if (i < MOMENTS) {
            counted[moment] = s.counted;
            kernels[moment] = s.kernel_count;
        }
        assert_int_equal(s.counted, counted[moment]);
        assert_int_equal(s.kernel_count, kernels[moment]);
        assert_int_equal(s.parts != NULL, moment >= 2);
        rtl_snapshot_free(&s);
    }
    assert_true(counted[4] < counted[9] && kernels[4] < kernels[9]);
    stop(&player);
}

/* Key 0 (zero) keeps its baseline while the replay moves in both directions. */
static void zero_keeps_its_baseline(void **state)
{
    (void)state;
    struct rtl_player player;
    play(&player, 0);
    assert_int_equal(rtl_player_show(&player, 4), RTL_DB_OK);
    rtl_model_zero(player.model);
    assert_int_equal(rtl_player_show(&player, 9), RTL_DB_OK);
    uint64_t counted = player.model->counted;
    assert_true(counted > 0);
    assert_int_equal(rtl_player_show(&player, 5), RTL_DB_OK);
    assert_true(player.model->counted < counted);
    assert_int_equal(rtl_player_show(&player, 9), RTL_DB_OK);
    assert_int_equal(player.model->counted, counted);
    stop(&player);
}

static void one_process_of_a_group_can_be_chosen(void **state)
{
    (void)state;
    struct rtl_player player;
    play(&player, 400000002);
    assert_null(player.group);
    assert_int_equal(player.frames, gone[2] - comes[2] + 1);
    assert_string_equal(player.title, "serve 2");
    stop(&player);
}

/* Frames of other times belong to other groups. */
static void recordings_of_other_times_are_not_grouped(void **state)
{
    (void)state;
    struct rtl_player player;
    exec_sql("UPDATE rtl_frame SET time_ns = time_ns + 1 WHERE recording = (SELECT id FROM rtl_recording WHERE pid = "
             "400000003)");
    play(&player, 0); /* the newest, which is this one */
    assert_null(player.group);
    assert_string_equal(player.title, "serve 3");
    stop(&player);
    exec_sql("UPDATE rtl_frame SET time_ns = time_ns - 1 WHERE recording = (SELECT id FROM rtl_recording WHERE pid = "
             "400000003)");
    exec_sql("UPDATE rtl_frame SET mono_ns = mono_ns + 1 WHERE recording = (SELECT id FROM rtl_recording WHERE pid = "
             "400000001)");
    play(&player, 0);
    assert_int_equal(rtl_player_show(&player, 9), RTL_DB_OK);
    const struct rtl_parts *parts = player.model->latest->snapshot.parts;
    assert_non_null(parts);
    assert_int_equal(parts->member_count, 3);
    for (int i = 0; i < 3; i++)
        assert_true(parts->members[i].info.pid != 400000001);
    stop(&player);
}

static void files_with_false_values_do_not_break_a_group(void **state)
{
    (void)state;
    static const char *const oddities[] = {
        "UPDATE rtl_process SET rank = -5, label = x'1b5b', container = printf('%.5000c', 'x')",
        "UPDATE rtl_process SET rank = 'x', label = 77",
        "UPDATE rtl_recording SET pid = 7",
        "UPDATE rtl_frame SET exited = 1",
        "DELETE FROM rtl_frame WHERE sequence % 3 = 1",
        "UPDATE rtl_frame SET time_ns = 5, mono_ns = 5",
        "UPDATE rtl_kernel_sample SET calls = -1, timed = 9223372036854775807",
        "DELETE FROM rtl_kernel",
    };
    for (size_t i = 0; i < sizeof oddities / sizeof *oddities; i++) {
        struct rtl_player player;
        exec_sql(oddities[i]);
        play(&player, 0);
        for (uint32_t f = 0; f < 2 * player.frames; f++) {
            if (rtl_player_show(&player, f * 7 % player.frames))
                fail_msg("%s: %s", oddities[i], rtl_player_why(&player));
            free(json(player.model, player.title, f));
        }
        stop(&player);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_group_replay_equals_the_live_json),
        TEST(a_moment_is_equal_forward_and_backward),
        TEST(a_groups_moment_does_not_depend_on_the_direction),
        TEST(zero_keeps_its_baseline),
        TEST(one_process_of_a_group_can_be_chosen),
        TEST(recordings_of_other_times_are_not_grouped),
        TEST(files_with_false_values_do_not_break_a_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
