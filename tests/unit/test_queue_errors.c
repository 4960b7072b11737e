/*
 * Queue errors in the viewer: recorded and replayed, in JSON and text, on the screen, merged with other processes,
 * summed by serve.
 */
#include "tui_synth.h"

#include "recorded_fixture.h"

#include "command/output.h"
#include "model/merge.h"
#include "model/model.h"
#include "model/queue_error.h"
#include "record/replay.h"
#include "serve/totals.h"
#include "tui/draw_views.h"
#include "tui/frame.h"

static struct synth *p;

static int set_up(void **state)
{
    p = synth_create(1, 2);
    synth_kernel(p, "good");
    synth_record(p, synth_kernel(p, "f_bad"), 1000, 10);
    synth_record(p, 0, 1000, 10);
    p->queues[0].error_known = p->queues[1].error_known = true;
    return fixture_begin(state);
}

static int tear_down(void **state)
{
    synth_free(p);
    return fixture_end(state);
}

static uint32_t id_of(const char *name)
{
    for (int i = 0; i < p->kernel_count; i++)
        if (!strcmp(p->kernels[i].name, name))
            return p->kernels[i].id;
    fail_msg("no kernel %s", name);
    return 0;
}

static void break_queue(int queue, uint32_t error)
{
    p->queues[queue].error = error;
    p->queues[queue].error_kernel = id_of("f_bad") + 1;
    p->queues[queue].error_after_ns = 61 * RTL_SEC;
}

static void record_two_frames(void)
{
    struct rtl_recording *r = record(RTL_RECORDING_SERIES);
    for (uint64_t t = 1; t <= 4; t++) {
        if (t == 3)
            break_queue(1, 43);
        struct rtl_snapshot s = synth_snapshot(p, t * RTL_SEC);
        assert_int_equal(rtl_recording_add(r, &s, t, false), RTL_DB_OK);
        rtl_snapshot_free(&s);
    }
    rtl_recording_close(r);
}

static struct rtl_queue_snapshot replayed(uint32_t frame, uint32_t queue)
{
    struct rtl_replay *replay;
    struct rtl_snapshot s;
    bool exited;
    assert_int_equal(rtl_replay_open(path, 0, 0, &replay, why, sizeof why), RTL_DB_OK);
    assert_int_equal(rtl_replay_read(replay, frame, &s, &exited), RTL_DB_OK);
    struct rtl_queue_snapshot q = s.queues[queue];
    rtl_snapshot_free(&s);
    rtl_replay_close(replay);
    return q;
}

static void a_replay_has_the_error_from_its_frame_on(void **state)
{
    (void)state;
    record_two_frames();
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_queue_error"), 3); /* each queue has a row, the error, too */
    struct rtl_queue_snapshot q = replayed(1, 1);
    assert_true(q.error_known && !q.error && !q.error_kernel && !q.error_after_ns);
    q = replayed(3, 1);
    assert_true(q.error_known && q.error == 43 && q.error_kernel == id_of("f_bad") + 1);
    assert_int_equal(q.error_after_ns, 61 * RTL_SEC);
    q = replayed(3, 0);
    assert_true(q.error_known && !q.error);
    assert_int_equal(ask_sql("SELECT count(*) FROM rtl_queue_errors WHERE error = 'memory_fault' AND kernel = 'f_bad'"),
                     1);
}

static void false_errors_in_a_recording_stay_without_a_name(void **state)
{
    (void)state;
    record_two_frames();
    exec_sql("UPDATE rtl_queue_error SET known = 5, error = 4294967339, kernel = 4294967299 WHERE error = 43");
    struct rtl_queue_snapshot q = replayed(3, 1); /* cut to 32 bits, these would be memory_fault and a kernel */
    assert_true(q.error_known && q.error == UINT32_MAX && !q.error_kernel);
    exec_sql("UPDATE rtl_queue_error SET known = 0, error = 43, kernel = -1");
    q = replayed(3, 1);
    assert_true(!q.error_known && !q.error && !q.error_kernel);
}

static char *output(bool json)
{
    struct rtl_model *m = rtl_model_create();
    struct rtl_options options = {.output = json ? RTL_OUTPUT_JSON : RTL_OUTPUT_TEXT};
    const struct rtl_output_frame frame = {.model = m, .options = &options, .pid = 4711, .title = ""};
    char *text;
    size_t size;
    synth_tick(p, m, RTL_SEC);
    FILE *out = open_memstream(&text, &size);
    assert_true(json ? rtl_output_json(&frame, out) : rtl_output_text(&frame, out));
    fclose(out);
    rtl_model_free(m);
    return text;
}

static void output_has(bool json, const char *wanted)
{
    char *text = output(json);
    if (!strstr(text, wanted))
        fail_msg("%s is not in %s", wanted, text);
    free(text);
}

static void outputs_name_error_and_kernel(void **state)
{
    (void)state;
    output_has(true, "\"failed\":false,\"error\":null");
    p->queues[0].error_known = false;
    output_has(true, "\"failed\":null,\"error\":null");
    break_queue(1, 43);
    output_has(true,
               "\"failed\":true,\"error\":{\"status\":43,\"key\":\"memory_fault\",\"text\":\"memory access fault\","
               "\"kernel\":\"f_bad\",\"after_ns\":61000000000}");
    output_has(true, "\"verdict\":\"queue_error\"");
    output_has(false, "memory access fault in f_bad on queue 2; the queue accepts no more work\n");
    output_has(false, "  error memory access fault in f_bad, 1:01 after the start; the queue accepts no more work\n");
    break_queue(1, 0x77777);
    p->queues[1].error_kernel = 9999;
    output_has(true, "\"status\":489335,\"key\":null,\"text\":\"error 0x77777\",\"kernel\":null");
    output_has(false, "  error 0x77777 on queue 2; the queue accepts no more work\n");
    break_queue(0, 42); /* each queue has its own */
    output_has(false, "  illegal instruction in f_bad on queue 1; the queue accepts no more work\n");
    break_queue(0, 43);
    break_queue(1, 43); /* one error of the GPU */
    output_has(false, "memory access fault, perhaps in f_bad, on queue 1 or 1 more; they accept no more work\n");
}

static char *drawn(struct rtl_ui *ui, int rows, int cols)
{
    struct rtl_frame frame = {0};
    assert_true(rtl_frame_reset(&frame, rows, cols, false));
    rtl_draw(ui, &frame);
    char *shown = synth_text(&frame);
    rtl_frame_free(&frame);
    return shown;
}

/* The line of a GPU with a failed queue leaves out the history and the numbers. */
static void the_main_view_names_kernel_and_queue_at_80_columns(void **state)
{
    (void)state;
    struct rtl_model *m = rtl_model_create();
    struct rtl_ui ui;
    break_queue(1, 43);
    synth_tick(p, m, RTL_SEC);
    rtl_ui_init(&ui, m, 4711, "serve");
    char *shown = drawn(&ui, 24, 80);
    assert_non_null(strstr(shown, "memory access fault in f_bad on queue 2"));
    free(shown);
    rtl_model_free(m);
}

static void the_queue_view_names_the_error(void **state)
{
    (void)state;
    struct rtl_model *m = rtl_model_create();
    struct rtl_ui ui;
    break_queue(1, 43);
    synth_tick(p, m, RTL_SEC);
    rtl_ui_init(&ui, m, 4711, "serve");
    ui.view = RTL_VIEW_QUEUES;
    char *shown = drawn(&ui, 24, 160);
    assert_non_null(strstr(shown, " failed"));
    assert_non_null(strstr(shown, "queue 2: memory access fault in f_bad, 1:01 after the start; the queue accepts no"));
    free(shown);
    rtl_model_free(m);
}

static const struct rtl_queue_snapshot *broken(const struct rtl_snapshot *s)
{
    for (uint32_t i = 0; i < s->queue_count; i++)
        if (s->queues[i].error)
            return &s->queues[i];
    return NULL;
}

/* Two processes have the kernels in different orders: ids of the merged snapshot differ from a process's own ids. */
static void a_merged_snapshot_keeps_error_and_kernel_after_the_end(void **state)
{
    (void)state;
    struct synth *other = synth_create(0, 0);
    struct rtl_merge *merge = rtl_merge_create();
    static const char *const names[] = {"other 0", "other 1", "other 2", "other 3"};
    struct rtl_snapshot all, s, own, alone;
    for (int i = 0; i < 4; i++)
        synth_record(other, synth_kernel(other, names[i]), 1000, 1);
    uint32_t first = rtl_merge_join(merge, &(struct rtl_member_info){.pid = 100}),
             second = rtl_merge_join(merge, &(struct rtl_member_info){.pid = 200});
    s = synth_snapshot(other, RTL_SEC);
    break_queue(1, 42);
    own = synth_snapshot(p, RTL_SEC);
    assert_true(rtl_merge_update(merge, first, &s) && rtl_merge_update(merge, second, &own));
    for (int round = 0; round < 2; round++) {
        assert_true(rtl_merge_make(merge, RTL_SEC, &all));
        const struct rtl_queue_snapshot *q = broken(&all);
        assert_non_null(q);
        assert_int_equal(q->pid, 200);
        assert_int_equal(q->live, !round);
        assert_string_equal(rtl_queue_error_kernel(&all, q)->name, "f_bad");
        if (!round) {
            assert_int_not_equal(q->error_kernel, own.queues[1].error_kernel);
            assert_true(rtl_member_snapshot(&all, second, &own, &alone));
            assert_int_equal(broken(&alone)->error_kernel, own.queues[1].error_kernel);
            rtl_snapshot_free(&alone);
        }
        rtl_snapshot_free(&all);
        rtl_merge_leave(merge, second);
    }
    rtl_snapshot_free(&s);
    rtl_snapshot_free(&own);
    rtl_merge_free(merge);
    synth_free(other);
}

static void serve_counts_each_error_once(void **state)
{
    (void)state;
    static struct rtl_totals totals;
    static uint32_t series[RTL_KERNELS_MAX];
    struct rtl_share share = {.names = 100, .gpus = 10, .credit = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    assert_true(rtl_totals_init(&totals, 100));
    struct rtl_snapshot before = synth_snapshot(p, RTL_SEC);
    rtl_totals_add(&totals, NULL, &before, series, &share);
    break_queue(0, 43);
    struct rtl_snapshot then = synth_snapshot(p, 2 * RTL_SEC);
    rtl_totals_add(&totals, &before, &then, series, &share);
    break_queue(1, 0x77777);
    struct rtl_snapshot now = synth_snapshot(p, 3 * RTL_SEC);
    rtl_totals_add(&totals, &then, &now, series, &share);
    rtl_totals_add(&totals, &now, &now, series, &share);
    for (int i = 0; i <= RTL_QUEUE_ERROR_COUNT; i++)
        assert_int_equal(totals.queue_errors[i], i == rtl_queue_error_place(43) || i == RTL_QUEUE_ERROR_COUNT);
    rtl_totals_free(&totals);
    rtl_snapshot_free(&before);
    rtl_snapshot_free(&then);
    rtl_snapshot_free(&now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_replay_has_the_error_from_its_frame_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(false_errors_in_a_recording_stay_without_a_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs_name_error_and_kernel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_main_view_names_kernel_and_queue_at_80_columns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_queue_view_names_the_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_merged_snapshot_keeps_error_and_kernel_after_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(serve_counts_each_error_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
