/* Recordings: a replay returns the live numbers, from the start and from any frame; full disks, several recorders,
 * files with false values.
 */
#include "tui_synth.h"

#include <time.h>
#include <unistd.h>

#include "command/output.h"
#include "record/recorded_histogram.h"
#include "record/recording.h"
#include "watch/player.h"

enum { FRAMES = 190 };

static char folder[64], path[96], why[512];
static struct synth *p;

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rtl-replay-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file.db", folder);
    p = synth_create(2, 3);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    synth_free(p);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void name_kernel(void *context, const struct rtl_kernel_snapshot *k, struct rtl_recorded_names *names)
{
    (void)context;
    names->full = names->short_name = k->name;
}

static struct rtl_recording *recording_of(const char *kind, pid_t pid)
{
    const struct rtl_recording_info info = {.kind = kind,
                                            .pid = pid,
                                            .title = "serve",
                                            .recorder = "test",
                                            .interval_ns = RTL_SEC,
                                            .name_kernel = name_kernel};
    struct rtl_recording *r;
    if (rtl_recording_open(path, false, 50, &info, &r, why, sizeof why))
        fail_msg("%s", why);
    return r;
}

/* Advance the process: kernels come later, idle, get slower; queues, untimed ones, GPUs. */
static void grow(int t, const int *kernels)
{
    synth_record(p, kernels[0], 1000 + (uint64_t)(t % 17) * 100, 50);
    if (t % 3 == 0)
        synth_record(p, kernels[1], t < 100 ? 80000 : 160000, 7);
    if (t > 30)
        synth_record(p, kernels[2], 3000000 + (uint64_t)t * 1000, 2);
    if (t % 5 == 0)
        synth_untimed(p, kernels[3], RTL_UNTIMED_OWN_SIGNAL, 3);
    if (t == 60)
        synth_untimed(p, kernels[1], RTL_UNTIMED_NO_SIGNAL, 1);
    synth_add(&p->queues[1].wait, 500 + (uint64_t)t, 4);
    if (t % 2)
        synth_add(&p->queues[0].gap, 90, 1);
    p->queues[1].injected += (uint64_t)(t % 4);
    p->queues[1].completed = p->queues[1].injected - (uint64_t)(t % 2 && p->queues[1].injected);
    if (t > 20)
        synth_copies(p, 0, RTL_COPY_H2D, 1 << 20, 43000 + (uint64_t)t, (uint64_t)(t % 4));
    if (t % 11 == 3) {
        synth_copies(p, 1, RTL_COPY_P2P, 4096, 1160, 9);
        p->copies[RTL_COPIES_OF(1, RTL_COPY_P2P)].count++;
        p->copies[RTL_COPIES_OF(1, RTL_COPY_P2P)].untimed[RTL_COPY_UNTIMED_SHARED_SIGNAL]++;
    }
    if (t == 1)
        p->queues[0].path = RTL_PATH_NATIVE, p->queues[0].why = RTL_REASON_DEFAULT;
    if (t == 120)
        p->queues[0].path = RTL_PATH_DEMOTED, p->queues[0].why = RTL_REASON_RINGS_ITSELF;
    p->queues[1].path = RTL_PATH_INTERCEPT;
    p->queues[1].why = t % 50 > 40 ? 0xffffff : RTL_REASON_OTHER_TOOL; /* a reason of a newer library */
    p->busy_ns[0] += 700000000;
    p->busy_ns[1] += t % 7 ? 100000000 : 0;
}

/* Return a model's output: the four views and JSON. */
static char *picture(struct rtl_model *m)
{
    static const enum rtl_view views[] = {RTL_VIEW_KERNELS, RTL_VIEW_QUEUES, RTL_VIEW_COPIES, RTL_VIEW_DETAIL};
    struct rtl_options options = {.output = RTL_OUTPUT_JSON};
    struct rtl_frame frame = {0};
    struct rtl_ui ui;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        rtl_ui_init(&ui, m, 4711, "serve");
        ui.view = views[i];
        ui.selected = RTL_KERNEL_FIRST;
        rtl_ui_scroll_into_view(&ui, 50, 160);
        assert_true(rtl_frame_reset(&frame, 50, 160, false));
        rtl_draw(&ui, &frame);
        char *shown = synth_text(&frame);
        fputs(shown, out);
        free(shown);
    }
    assert_true(
        rtl_output_json(&(struct rtl_output_frame){.model = m, .options = &options, .pid = 4711, .title = ""}, out));
    fclose(out);
    rtl_frame_free(&frame);
    return text;
}

static void open_player(struct rtl_player *player, uint64_t window)
{
    if (rtl_player_open(player, path, 0, 0, why, sizeof why))
        fail_msg("%s", why);
    player->model = rtl_model_create();
    player->model->window_ns = window;
    rtl_player_names(player, false);
}

static void close_player(struct rtl_player *player)
{
    rtl_model_free(player->model);
    rtl_player_close(player);
}

static void shows(struct rtl_player *player, uint32_t frame, const char *wanted)
{
    assert_int_equal(rtl_player_show(player, frame), RTL_DB_OK);
    char *text = picture(player->model);
    if (strcmp(text, wanted))
        fail_msg("frame %u, wanted:\n%s\nis:\n%s", frame, wanted, text);
    free(text);
}

/* Compare the frames of a window: live, then replayed in order, then in random order. */
static void replays(uint64_t window)
{
    char *live[FRAMES];
    int kernels[4];
    for (int i = 0; i < 4; i++)
        kernels[i] = synth_kernel(p, (const char *[]){"_Z5firstv", "second_kernel", "late", "untimed"}[i]);
    struct rtl_recording *r = recording_of(RTL_RECORDING_SERIES, 4711);
    struct rtl_model *m = rtl_model_create();
    m->window_ns = window;
    for (int t = 0; t < FRAMES; t++) {
        grow(t, kernels);
        /* real timers are never exact */
        struct rtl_snapshot s = synth_snapshot(p, (uint64_t)(t + 1) * RTL_SEC + (uint64_t)(t * 7919 % 1000) * 3000);
        s.untimed_total = 0;
        assert_int_equal(rtl_recording_add(r, &s, 1000 * RTL_SEC + (uint64_t)t, t == FRAMES - 1), RTL_DB_OK);
        assert_true(rtl_model_add(m, &s, 1000 * RTL_SEC + (uint64_t)t));
        if (t == FRAMES - 1)
            rtl_model_exited(m);
        live[t] = picture(m);
    }
    rtl_model_free(m);
    rtl_recording_close(r);

    struct rtl_player player;
    open_player(&player, window);
    assert_int_equal(player.frames, FRAMES);
    for (uint32_t t = 0; t < FRAMES; t++)
        shows(&player, t, live[t]);
    static const uint32_t jumps[] = {0, 150, 149, 148, 30, 31, 160, 189, 3, 100, 101, 99};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
        shows(&player, jumps[i], live[jumps[i]]);
    close_player(&player);
    open_player(&player, window); /* start in the middle */
    shows(&player, 170, live[170]);
    close_player(&player);
    for (int t = 0; t < FRAMES; t++)
        free(live[t]);
}

static void a_replay_equals_the_live_frames(void **state)
{
    (void)state;
    replays(10 * RTL_SEC);
}

static void a_replay_equals_the_live_frames_in_every_window(void **state)
{
    (void)state;
    replays(30 * RTL_SEC);
}

static void a_replay_of_an_interval_equals_the_live_frames(void **state)
{
    (void)state;
    replays(RTL_WINDOW_INTERVAL);
}

static void a_replay_since_the_start_equals_the_live_frames(void **state)
{
    (void)state;
    replays(RTL_WINDOW_ALL);
}

static void a_failed_frame_is_part_of_the_next_one(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a"), b = synth_kernel(p, "b");
    struct rtl_recording *r = recording_of(RTL_RECORDING_SERIES, 4711);
    synth_record(p, a, 1000, 10);
    struct rtl_snapshot s = synth_snapshot(p, RTL_SEC);
    assert_int_equal(rtl_recording_add(r, &s, 1, false), RTL_DB_OK);
    rtl_snapshot_free(&s);
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %d", (int)rtl_db_one(rtl_recording_db(r), "PRAGMA page_count"));
    rtl_db_exec(rtl_recording_db(r), sql); /* the disk is full */
    for (int t = 2; t < 5; t++) {
        for (uint64_t ns = 100; ns < 100000; ns += 100)
            synth_record(p, b, ns, 1);
        s = synth_snapshot(p, (uint64_t)t * RTL_SEC);
        assert_int_equal(rtl_recording_add(r, &s, (uint64_t)t, false), RTL_DB_FULL);
        rtl_snapshot_free(&s);
        assert_non_null(strstr(rtl_recording_why(r), "no space left"));
    }
    struct rtl_player player;
    open_player(&player, RTL_WINDOW_ALL);
    assert_int_equal(player.frames, 1);
    close_player(&player);
    rtl_db_exec(rtl_recording_db(r), "PRAGMA max_page_count = 100000");
    s = synth_snapshot(p, 5 * RTL_SEC);
    assert_int_equal(rtl_recording_add(r, &s, 5, false), RTL_DB_OK);
    rtl_snapshot_free(&s);
    assert_true(rtl_recording_frames(r) == 2);
    rtl_recording_close(r);
    open_player(&player, RTL_WINDOW_ALL);
    assert_int_equal(rtl_player_show(&player, 1), RTL_DB_OK);
    assert_int_equal(player.model->row_count, 2);
    assert_int_equal(player.model->rows[1].calls, 3 * 999);
    assert_string_equal(player.model->rows[1].kernel->name, "b");
    close_player(&player);
}

/* Far back: at a checkpoint, after it, and where none exists yet. */
static void backward_and_forward_replay_agree(void **state)
{
    (void)state;
    enum { LONG = 350 };
    int kernels[4];
    for (int i = 0; i < 4; i++)
        kernels[i] = synth_kernel(p, (const char *[]){"a", "b", "c", "d"}[i]);
    struct rtl_recording *r = recording_of(RTL_RECORDING_SERIES, 4711);
    uint64_t calls[LONG][4], timed[LONG][4];
    for (int t = 0; t < LONG; t++) {
        grow(t, kernels);
        struct rtl_snapshot s = synth_snapshot(p, (uint64_t)(t + 1) * RTL_SEC);
        for (uint32_t i = 0; i < 4; i++) {
            calls[t][i] = i < s.kernel_count ? s.kernels[i].calls : 0;
            timed[t][i] = i < s.kernel_count ? s.kernels[i].histogram.count : 0;
        }
        s.passes = (uint64_t)t;
        assert_int_equal(rtl_recording_add(r, &s, (uint64_t)t, t == LONG - 1), RTL_DB_OK);
        rtl_snapshot_free(&s);
    }
    rtl_recording_close(r);
    struct rtl_replay *replay;
    assert_int_equal(rtl_replay_open(path, 0, 0, &replay, why, sizeof why), RTL_DB_OK);
    static const uint32_t jumps[] = {349, 300, 349, 301, 299, 349, 200, 200, 100, 349, 99, 98, 205, 204, 0};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct rtl_snapshot s;
        bool exited;
        uint32_t t = jumps[i];
        assert_int_equal(rtl_replay_read(replay, t, &s, &exited), RTL_DB_OK);
        for (uint32_t k = 0; k < s.kernel_count; k++)
            if (s.kernels[k].calls != calls[t][k] || s.kernels[k].histogram.count != timed[t][k])
                fail_msg("frame %u, kernel %u: %d calls, not %d", t, k, (int)s.kernels[k].calls, (int)calls[t][k]);
        assert_int_equal(s.passes, t); /* the frame's own value */
        assert_int_equal(exited, t == LONG - 1);
        rtl_snapshot_free(&s);
    }
    rtl_replay_close(replay);
}

static void a_time_is_the_frame_at_it_or_before(void **state)
{
    (void)state;
    struct rtl_recording *r = recording_of(RTL_RECORDING_SERIES, 4711);
    for (uint64_t t = 1; t <= 4; t++) {
        struct rtl_snapshot s = synth_snapshot(p, t * RTL_SEC);
        assert_int_equal(rtl_recording_add(r, &s, t * 1000, false), RTL_DB_OK);
        rtl_snapshot_free(&s);
    }
    rtl_recording_close(r);
    struct rtl_player player;
    assert_int_equal(rtl_player_open(&player, path, 0, 0, why, sizeof why), RTL_DB_OK);
    static const uint64_t at[][2] = {{0, 0},    {999, 0},  {1000, 0}, {1999, 0},
                                     {2000, 1}, {2001, 1}, {4000, 3}, {9999, 3}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        assert_int_equal(rtl_player_find(&player, at[i][0]), at[i][1]);
    rtl_player_close(&player);
}

/* The first frame writes the recording's own row; if that fails, the second one does. */
static void a_recording_that_failed_to_begin_begins_later(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    struct rtl_recording *r = recording_of(RTL_RECORDING_SERIES, 4711);
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %d", (int)rtl_db_one(rtl_recording_db(r), "PRAGMA page_count"));
    rtl_db_exec(rtl_recording_db(r), sql);
    for (uint64_t ns = 100; ns < 200000; ns += 100)
        synth_record(p, a, ns, 1);
    struct rtl_snapshot s = synth_snapshot(p, RTL_SEC);
    assert_int_equal(rtl_recording_add(r, &s, 1, false), RTL_DB_FULL);
    rtl_db_exec(rtl_recording_db(r), "PRAGMA max_page_count = 100000");
    assert_int_equal(rtl_recording_add(r, &s, 2, false), RTL_DB_OK);
    rtl_snapshot_free(&s);
    rtl_recording_close(r);
    struct rtl_replay *replay;
    if (rtl_replay_open(path, 4711, 0, &replay, why, sizeof why))
        fail_msg("%s", why);
    const char *name;
    size_t length;
    uint32_t id;
    assert_true(rtl_replay_kernel(replay, 0, &id, &name, &length)); /* names are written again, too */
    assert_string_equal(name, "a");
    assert_string_equal(rtl_replay_info(replay)->title, "serve");
    rtl_replay_close(replay);
}

static void several_recorders_share_a_file(void **state)
{
    (void)state;
    int a = synth_kernel(p, "a");
    struct rtl_recording *one = recording_of(RTL_RECORDING_SERIES, 4711),
                         *two = recording_of(RTL_RECORDING_SERIES, 815),
                         *snapshot = recording_of(RTL_RECORDING_SNAPSHOT, 4711);
    for (int t = 1; t <= 6; t++) { /* one kernel more per frame: two recorders see different frames of one process */
        synth_record(p, a, 1000, 10);
        struct rtl_snapshot s = synth_snapshot(p, (uint64_t)t * RTL_SEC);
        assert_int_equal(rtl_recording_add(t % 3 ? one : two, &s, (uint64_t)t, false), RTL_DB_OK);
        if (t > 4)
            assert_int_equal(rtl_recording_add(snapshot, &s, (uint64_t)t, false), RTL_DB_OK);
        rtl_snapshot_free(&s);
    }
    rtl_recording_close(one);
    rtl_recording_close(two);
    rtl_recording_close(snapshot);
    static const struct {
        pid_t pid;
        int64_t recording;
        uint32_t frames;
        uint64_t calls;
    } wanted[] = {{4711, 0, 4, 50}, {815, 0, 2, 60}, {0, 0, 2, 60}, {0, 1, 4, 50}, {0, 3, 1, 50}, {0, 4, 1, 60}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct rtl_replay *r;
        struct rtl_snapshot s;
        bool exited;
        assert_int_equal(rtl_replay_open(path, wanted[i].pid, wanted[i].recording, &r, why, sizeof why), RTL_DB_OK);
        assert_int_equal(rtl_replay_info(r)->frames, wanted[i].frames);
        assert_int_equal(rtl_replay_read(r, wanted[i].frames - 1, &s, &exited), RTL_DB_OK);
        assert_int_equal(s.kernels[0].calls, wanted[i].calls);
        assert_int_equal(s.kernels[0].histogram.count, wanted[i].calls);
        rtl_snapshot_free(&s);
        rtl_replay_close(r);
    }
    struct rtl_replay *r;
    assert_int_equal(rtl_replay_open(path, 99, 0, &r, why, sizeof why), RTL_DB_MISSING);
    assert_non_null(strstr(why, "815"));
    assert_int_equal(rtl_replay_open(path, 0, 99, &r, why, sizeof why), RTL_DB_MISSING);
    assert_non_null(strstr(why, "no recording 99"));
}

/* A file with arbitrary values is refused or displayed; the sanitizers check the reader. */
static void false_values_are_refused(void **state)
{
    (void)state;
    static const char *const lies[] = {
        "UPDATE rtl_kernel_sample SET kernel = 99999",
        "UPDATE rtl_kernel_sample SET kernel = -1",
        "UPDATE rtl_kernel_sample SET buckets = '[5000,1]'",
        "UPDATE rtl_kernel_sample SET buckets = '[1,'",
        "UPDATE rtl_kernel_sample SET buckets = 'x'",
        "UPDATE rtl_kernel_sample SET buckets = '[-1,1]'",
        "UPDATE rtl_kernel_sample SET coarse = '[36,1]'",
        "UPDATE rtl_kernel_sample SET buckets = '[2303,1,1,1]'",
        "UPDATE rtl_queue_sample SET slot = slot + 1000",
        "UPDATE rtl_untimed SET slot = 77",
        "UPDATE rtl_gpu_sample SET gpu = gpu + 64",
        "UPDATE rtl_gpu SET gpu = gpu - 9",
        "UPDATE rtl_frame SET mono_ns = -5",
        "UPDATE rtl_frame SET mono_ns = 100 - sequence",
        "DROP INDEX rtl_frame_order; UPDATE rtl_frame SET sequence = 1",
        "UPDATE rtl_kernel SET kernel = 16384",
        "DROP TABLE rtl_untimed",
        "UPDATE rtl_copies_sample SET agent = agent + 64",
        "UPDATE rtl_copies_sample SET agent = -1",
        "UPDATE rtl_copies_sample SET direction = direction + 4",
        "UPDATE rtl_copies_sample SET buckets = '[1,'",
        "UPDATE rtl_copies_untimed SET agent = 3",
        "DROP TABLE rtl_copies_untimed",
        "DROP TABLE rtl_copies_sample",
        "DROP TABLE rtl_queue_way",
        "UPDATE rtl_queue_way SET slot = slot + 77",
        "UPDATE rtl_queue_way SET slot = -1 WHERE slot = 0",
    };
    static const char *const oddities[] = {
        "UPDATE rtl_kernel_sample SET timed = -1, calls = -9223372036854775807, total_ns = 9223372036854775807",
        "UPDATE rtl_kernel_sample SET buckets = '[2303,9223372036854775807]'",
        "UPDATE rtl_kernel_sample SET buckets = NULL, min_ns = -1",
        "DELETE FROM rtl_kernel",
        "UPDATE rtl_copies_sample SET copies = 0, bytes = -1, gpu = 77, timed = -5",
        "UPDATE rtl_copies_untimed SET reason = 16, copies = -1",
        "UPDATE rtl_queue_way SET way = 4294967298, reason = -1",
        "UPDATE rtl_queue_way SET way = 0, reason = 'x'",
        "UPDATE rtl_kernel SET name = x'ff00fe41'",
        "UPDATE rtl_untimed SET reason = 15, dispatches = -1",
        "UPDATE rtl_frame SET mode = 77, state = 99, notes = -1",
        "UPDATE rtl_frame SET mode = 3", /* a full table, from an older recorder */
        "UPDATE rtl_recording SET title = x'1b5b324a'",
    };
    int a = synth_kernel(p, "a");
    p->queues[0].path = p->queues[1].path = RTL_PATH_NATIVE;
    p->queues[0].why = RTL_REASON_ASKED_FOR;
    struct rtl_recording *r = recording_of(RTL_RECORDING_SERIES, 4711);
    for (int t = 1; t <= 3; t++) {
        synth_record(p, a, 1000, 10);
        synth_untimed(p, a, RTL_UNTIMED_NO_SIGNAL, 1);
        synth_copies(p, 1, RTL_COPY_D2H, 100, 1000, 1);
        p->copies[RTL_COPIES_OF(1, RTL_COPY_D2H)].count++;
        p->copies[RTL_COPIES_OF(1, RTL_COPY_D2H)].untimed[RTL_COPY_UNTIMED_SHARED_SIGNAL]++;
        struct rtl_snapshot s = synth_snapshot(p, (uint64_t)t * RTL_SEC);
        assert_int_equal(rtl_recording_add(r, &s, (uint64_t)t, false), RTL_DB_OK);
        rtl_snapshot_free(&s);
    }
    rtl_recording_close(r);
    char good[128], command[300];
    snprintf(good, sizeof good, "%s/good.db", folder);
    snprintf(command, sizeof command, "cp %s %s", path, good);
    assert_int_equal(system(command), 0);
    size_t all = sizeof lies / sizeof *lies + sizeof oddities / sizeof *oddities;
    for (size_t i = 0; i < all; i++) {
        bool lie = i < sizeof lies / sizeof *lies;
        const char *sql = lie ? lies[i] : oddities[i - sizeof lies / sizeof *lies];
        snprintf(command, sizeof command, "cp %s %s", good, path);
        assert_int_equal(system(command), 0);
        struct rtl_db *db;
        assert_int_equal(rtl_db_open(path, &(struct rtl_db_options){.write = true}, &db, why, sizeof why), RTL_DB_OK);
        rtl_db_exec(db, sql);
        if (rtl_db_status(db))
            fail_msg("%s: %s", sql, rtl_db_why(db));
        rtl_db_close(db);
        struct rtl_player player;
        int status = (int)rtl_player_open(&player, path, 0, 0, why, sizeof why);
        if (!status) {
            player.model = rtl_model_create();
            rtl_player_names(&player, false);
            for (uint32_t t = 0; t < 3 && !status; t++)
                status = (int)rtl_player_show(&player, t);
            if (!status) {
                char *text = picture(player.model);
                if (strstr(sql, "mode = 3"))
                    assert_non_null(strstr(text, "mode default: "));
                free(text);
            }
            close_player(&player);
        }
        if (status != (lie ? (int)RTL_DB_CORRUPT : 0))
            fail_msg("%s gives %d", sql, status);
    }
}

static void buckets_survive_their_text_form(void **state)
{
    (void)state;
    struct rtl_octave before_octaves[1] = {{.octave = 3, .bucket = {[7] = 5}}};
    struct rtl_octave octaves[2] = {{.octave = 3, .bucket = {[0] = 1, [7] = 9, [63] = UINT32_MAX}},
                                    {.octave = 34, .bucket = {[63] = 2}}};
    uint64_t coarse[RTL_OCTAVES_MAX] = {[2] = 4, [35] = 1};
    struct rtl_histogram_copy before = {.octave_count = 1, .octaves = before_octaves},
                              now = {.octave_count = 2, .octaves = octaves, .coarse = coarse}, sum = {0};
    struct rtl_text_buffer text = {0};
    uint32_t room = 10;
    assert_true(rtl_buckets_write(NULL, &before, &text));
    assert_string_equal(text.bytes, "[199,5]");
    assert_true(rtl_buckets_add(&sum, text.bytes, &room));
    assert_true(rtl_buckets_write(&before, &now, &text));
    assert_string_equal(text.bytes, "[192,1,7,4,56,4294967295,1984,2]");
    assert_true(rtl_buckets_add(&sum, text.bytes, &room));
    assert_true(rtl_coarse_write(&before, &now, &text));
    assert_string_equal(text.bytes, "[2,4,33,1]");
    assert_true(rtl_coarse_add(&sum, text.bytes));
    assert_int_equal(sum.octave_count, 2);
    assert_memory_equal(sum.octaves[0].bucket, octaves[0].bucket, sizeof octaves[0].bucket);
    assert_memory_equal(sum.octaves[1].bucket, octaves[1].bucket, sizeof octaves[1].bucket);
    assert_memory_equal(sum.coarse, coarse, sizeof coarse);
    assert_int_equal(room, 8);
    room = 0;
    assert_false(rtl_buckets_add(&sum, "[0,1]", &room)); /* the size is bounded */
    assert_true(rtl_buckets_write(&now, &now, &text));
    assert_int_equal(text.used, 0);
    free(sum.octaves);
    free(sum.coarse);
    free(text.bytes);
}

/* Record a frame of the process `pid` after each marker, and return what its replay is marked by. */
static const char *replayed_marker(pid_t pid, const char *const *markers, int count, const char *option)
{
    static char marker[RTL_NAME_MAX];
    struct rtl_recording *r = recording_of(RTL_RECORDING_SERIES, pid);
    struct rtl_player player;
    struct rtl_options options;
    synth_record(p, 0, 1000, 1);
    for (int i = 0; i < count; i++) {
        struct rtl_snapshot s = synth_snapshot(p, (uint64_t)(i + 1) * RTL_SEC);
        rtl_recording_mark_step(r, markers[i]);
        assert_int_equal(rtl_recording_add(r, &s, (uint64_t)i + 1, false), RTL_DB_OK);
        rtl_snapshot_free(&s);
    }
    rtl_recording_close(r);
    if (rtl_player_open(&player, path, pid, 0, why, sizeof why))
        fail_msg("%s", why);
    player.model = rtl_model_create();
    rtl_options_default(&options);
    if (option)
        options.asked = 1ull << RTL_OPTION_STEP;
    rtl_player_mark_step(&player, &options);
    bool marked = player.model->step;
    snprintf(marker, sizeof marker, "%s", marked ? player.model->step : "");
    rtl_model_free(player.model);
    rtl_player_close(&player);
    return marked ? marker : NULL;
}

static void a_replay_is_marked_as_its_recorder_was(void **state)
{
    (void)state;
    synth_kernel(p, "argmax");
    assert_null(replayed_marker(1, (const char *const[]){NULL}, 1, NULL));
    assert_string_equal(replayed_marker(2, (const char *const[]){"argmax"}, 1, NULL), "argmax");
    assert_string_equal(replayed_marker(3, (const char *const[]){NULL, "argmax", "it''s"}, 3, NULL), "it''s");
    assert_null(replayed_marker(4, (const char *const[]){"argmax", NULL}, 2, NULL));
    assert_null(replayed_marker(5, (const char *const[]){"argmax"}, 1, "--step"));
    assert_null(replayed_marker(6, (const char *const[]){NULL}, 1, NULL));
}

static void times_are_parsed(void **state)
{
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    const uint64_t noon = (1795219200ull + 43200) * RTL_SEC; /* noon of a day */
    uint64_t to = 0;
    assert_true(rtl_parse_seek("12:00:05", noon, &to) && to / RTL_SEC == noon / RTL_SEC + 5);
    assert_true(rtl_parse_seek("9:30", noon, &to) && to / RTL_SEC == noon / RTL_SEC - 9000);
    assert_true(rtl_parse_seek("+30", noon, &to) && to == noon + 30 * RTL_SEC);
    assert_true(rtl_parse_seek("-1.5m", noon, &to) && to == noon - 90 * RTL_SEC);
    assert_true(rtl_parse_seek("+1h", noon, &to) && to == noon + 3600 * RTL_SEC);
    static const char *const bad[] = {"",       "x", "12", "25:00", "12:60", "12:00:61",
                                      "12:00x", "+", "+x", "-5y",   "+1e30", "1:2:3:4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (rtl_parse_seek(bad[i], noon, &to))
            fail_msg("'%s' was accepted as a time", bad[i]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_replay_equals_the_live_frames),
        TEST(a_replay_equals_the_live_frames_in_every_window),
        TEST(a_replay_of_an_interval_equals_the_live_frames),
        TEST(a_replay_since_the_start_equals_the_live_frames),
        TEST(a_failed_frame_is_part_of_the_next_one),
        TEST(backward_and_forward_replay_agree),
        TEST(a_time_is_the_frame_at_it_or_before),
        TEST(a_recording_that_failed_to_begin_begins_later),
        TEST(several_recorders_share_a_file),
        TEST(false_values_are_refused),
        TEST(buckets_survive_their_text_form),
        TEST(a_replay_is_marked_as_its_recorder_was),
        TEST(times_are_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
