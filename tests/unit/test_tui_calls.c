/*
 * The screens of HIP calls and roctx ranges: pictures at the reference sizes, sort keys, merged calls of several
 * processes, copies of snapshots.
 */
#include "golden_fixture.h"

#include "hip_api_fixture.h"
#include "model/merge_totals.h"
#include "text/text.h"

static struct synth *p;
static struct rtl_model *m;
static struct synth_calls c;
static int launch, copy, wait, allocate, idle, decode, attention, mark, evil;

static void tick(uint64_t seconds)
{
    struct rtl_snapshot s = synth_snapshot(p, seconds * RTL_SEC);
    synth_put_calls(p, &c, &s);
    assert_true(rtl_model_add(m, &s, (1000 + seconds) * RTL_SEC));
}

static int setup(void **state)
{
    (void)state;
    memset(&c, 0, sizeof c);
    p = synth_create(1, 1);
    m = rtl_model_create();
    assert_non_null(m);
    int kernel = synth_kernel(p, "paged_attention"), rest = synth_kernel(p, "gemm_nobody_asked_for");
    launch = synth_call(&c, RTL_HIP_API_LAUNCH, "hipLaunchKernel");
    copy = synth_call(&c, RTL_HIP_API_COPY, "hipMemcpyAsync");
    wait = synth_call(&c, RTL_HIP_API_WAIT, "hipStreamSynchronize");
    allocate = synth_call(&c, RTL_HIP_API_ALLOCATE, "hipMalloc");
    idle = synth_call(&c, RTL_HIP_API_MODULE, "hipModuleLoadData");
    decode = synth_call(&c, RTL_HIP_API_RANGE, "decode");
    attention = synth_call(&c, RTL_HIP_API_RANGE, "attention");
    mark = synth_call(&c, RTL_HIP_API_MARK, "token");
    evil = synth_call(&c, RTL_HIP_API_RANGE, "evil\033[2Jname");
    synth_add(&c.rows[idle].h, 8300000, 3);
    uint32_t outer = synth_node(&c, 0, "decode"), inner = synth_node(&c, outer, "attention");
    uint32_t strange = synth_node(&c, 0, "evil\033[2Jname");
    c.launches[c.launch_count++].kernel = "paged_attention";
    c.pairs[0].node = outer;
    c.pairs[0].kernel = c.pairs[1].kernel = "paged_attention";
    c.pairs[1].node = inner;
    c.pair_count = 2;
    c.linked = 1;
    c.rows[allocate].in_use = 5ull << 30;
    c.memory[0] = (struct rtl_hip_api_memory_snapshot){4711, 0, 5ull << 30, 6ull << 30, 214};
    c.memory[1] = (struct rtl_hip_api_memory_snapshot){4711, RTL_HIP_API_GPUS, 0, 64 << 20, 0};
    c.memory_count = 2;
    c.unbalanced = 7;
    for (uint64_t t = 1; t <= 12; t++) {
        synth_record(p, kernel, 100000, 40);
        synth_record(p, rest, 1000, 7);
        synth_add(&c.pairs[0].h, 100000, 10);
        synth_add(&c.pairs[1].h, 200000, 20);
        synth_add(&c.rows[launch].h, 6200, 9000);
        synth_add(&c.rows[launch].h, 41000, 200);
        synth_add(&c.rows[copy].h, 11000, 300);
        c.rows[copy].bytes += 300 << 20;
        synth_add(&c.rows[wait].h, 7100000, 90);
        synth_add(&c.rows[allocate].h, 120000, 2);
        c.rows[allocate].bytes += 2 << 20;
        c.rows[allocate].errors += t == 9;
        synth_add(&c.rows[decode].h, 9500000, 100);
        synth_add(&c.rows[attention].h, 2500000, 300);
        synth_add(&c.rows[mark].h, 0, 100);
        synth_add(&c.rows[evil].h, 1000, 1);
        c.rows[decode].open = c.nodes[outer].open = 1;
        c.nodes[outer].count += 100;
        c.nodes[outer].total_ns += 950000000;
        c.nodes[outer].kernels_ns += 100000000;
        c.nodes[inner].count += 300;
        c.nodes[inner].total_ns += 750000000;
        c.nodes[inner].kernels_ns += 400000000;
        c.nodes[strange].count++;
        c.nodes[strange].total_ns += 1000;
        synth_add(&c.launches[0].h, 14000, 39);
        synth_add(&c.launches[0].h, 510000, 1);
        tick(t);
    }
    rtl_ui_init(&ui, m, 4711, "python3 serve.py --model llama-70b --tp 1");
    ui.now_mono_ns = SYNTH_START + 12 * RTL_SEC;
    ui.now_real_s = 14 * 3600 + 2 * 60 + 31;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    return 0;
}

static void the_calls_screen_is_drawn(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'a');
    assert_int_equal(ui.view, RTL_VIEW_CALLS);
    golden("calls-80x24", 24, 80);
    golden("calls-200x60", 60, 200);
    golden("calls-40x12", 12, 40);
    ui.ascii = true;
    golden("calls-ascii-80x24", 24, 80);
    ui.ascii = false;
    for (int cols = 1; cols < 140; cols++)
        free(draw(24, cols));
    for (int rows = 1; rows < 30; rows++)
        free(draw(rows, 80));
    rtl_ui_key(&ui, RTL_KEY_END); /* scrolling reaches the last lines */
    drawn(10, 80, "7 ends of ranges without a begin");
    rtl_ui_key(&ui, 'a');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
}

static void the_ranges_screen_is_drawn(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'A');
    assert_int_equal(ui.view, RTL_VIEW_RANGES);
    golden("ranges-80x24", 24, 80);
    golden("ranges-200x60", 60, 200);
    golden("ranges-40x12", 12, 40);
    not_drawn(24, 80, "memory of");
    rtl_ui_key(&ui, 'a');
    assert_int_equal(ui.view, RTL_VIEW_CALLS);
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_RANGES);
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
}

/* A range's kernels are those that calls in the range or in its inner ranges launched, whatever else the program does.
 */
static void a_range_has_the_kernels_launched_in_it(void **state)
{
    (void)state;
    assert_int_equal(m->row_count, 2);
    rtl_ui_key(&ui, 'A');
    drawn(24, 120, "Kernels");
    rtl_ui_key(&ui, RTL_KEY_ENTER); /* decode */
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    assert_int_equal(m->row_count, 1);
    assert_int_equal(m->rows[0].calls, 12 * 30);
    assert_int_equal(m->rows[0].total_ns, 12 * (10 * 100000ull + 20 * 200000ull));
    assert_int_equal(m->rows[0].window.count, 10 * 30);
    assert_true(m->rows[0].p50 > 198000 && m->rows[0].p50 < 202000);
    assert_true(m->rows[0].share == 1);
    assert_int_equal(m->rows[0].launches, 0);
    golden("range-kernels-80x24", 24, 80);
    drawn(24, 120, "KERNEL in decode");
    drawn(24, 120, "timed in range decode");
    not_drawn(24, 120, "gemm_nobody");
    not_drawn(24, 160, "LAUNCH");
    for (int cols = 1; cols < 140; cols++)
        free(draw(24, cols));
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_int_equal(ui.view, RTL_VIEW_DETAIL);
    drawn(24, 120, "timed in range decode");
    rtl_ui_key(&ui, RTL_KEY_ESC);
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(ui.view, RTL_VIEW_RANGES);
    assert_null(m->range);
    assert_int_equal(m->row_count, 2);
    rtl_ui_key(&ui, RTL_KEY_DOWN);
    rtl_ui_key(&ui, RTL_KEY_ENTER); /* the inner range alone */
    drawn(24, 120, "KERNEL in decode > attention");
    assert_int_equal(m->rows[0].calls, 12 * 20);
    synth_add(&c.pairs[1].h, 50000, 5);
    tick(13);
    assert_int_equal(m->rows[0].calls, 12 * 20 + 5);
    rtl_ui_key(&ui, 'z');
    synth_add(&c.pairs[1].h, 50000, 3);
    tick(14);
    assert_int_equal(m->rows[0].calls, 3);
    assert_int_equal(m->rows[0].window.count, 3);
    rtl_ui_key(&ui, 'e');
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    rtl_ui_key(&ui, '=');
    assert_null(m->range);
    drawn(24, 120, "gemm_nobody");
    rtl_ui_key(&ui, 'A');
    rtl_ui_key(&ui, RTL_KEY_END);
    ui.line_at[RTL_VIEW_RANGES] = 3; /* a mark */
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_int_equal(ui.view, RTL_VIEW_RANGES);
    drawn(24, 120, "no kernels: only ranges");
    ui.line_at[RTL_VIEW_RANGES] = 2; /* this range launched no kernel */
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    drawn(24, 120, "no kernel of this range was timed so far");
    struct rtl_snapshot s = synth_snapshot(p, 15 * RTL_SEC);
    assert_true(rtl_model_add(m, &s, 1015 * RTL_SEC)); /* no calls at all */
    assert_int_equal(m->row_count, 0);
    drawn(24, 120, "no kernel of this range was timed so far");
}

/* An inner range stands below its outer range, whose GPU time includes it. */
static void ranges_are_drawn_as_a_tree(void **state)
{
    (void)state;
    const struct rtl_hip_api_model_row *tree = m->hip_api.tree;
    assert_int_equal(m->hip_api.tree_count, 4);
    assert_string_equal(tree[0].call->name, "decode");
    assert_string_equal(tree[1].call->name, "attention");
    assert_int_equal(tree[0].depth, 0);
    assert_int_equal(tree[1].depth, 1);
    assert_int_equal(tree[0].gpu_ns, 12 * 500000000ull);
    assert_int_equal(tree[1].gpu_ns, 12 * 400000000ull);
    assert_true(tree[0].gpu_share > 0.49 && tree[0].gpu_share < 0.51);
    assert_string_equal(tree[3].call->name, "token"); /* never pushed */
    assert_null(tree[3].node);
    rtl_ui_key(&ui, 'z');
    c.nodes[2].kernels_ns += 5;
    tick(13);
    assert_int_equal(m->hip_api.tree[0].gpu_ns, 5);
    assert_int_equal(m->hip_api.tree[0].calls, 0);
}

static void launch_shows_the_time_to_start(void **state)
{
    (void)state;
    assert_int_equal(m->rows[0].launches, 400);
    assert_true(m->rows[0].launch_p50 > 13800 && m->rows[0].launch_p50 < 14200);
    assert_true(m->rows[0].launch_p99 > 13800 && m->rows[0].launch_p99 < 520000);
    drawn(24, 120, "LAUNCH");
    not_drawn(24, 80, "LAUNCH");
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    drawn(24, 80, "launch 14.0\u00b5s p99 ");
    drawn(40, 160, "launch 14.0\u00b5s p99 ");
    rtl_ui_key(&ui, RTL_KEY_ESC);
    struct rtl_snapshot s = synth_snapshot(p, 13 * RTL_SEC);
    assert_true(rtl_model_add(m, &s, 1013 * RTL_SEC));
    not_drawn(24, 120, "LAUNCH"); /* without launches the column is absent */
}

static const char *first(void)
{
    return m->hip_api.rows[0].call->name;
}

static void calls_and_ranges_are_sorted_by_keys(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'a');
    assert_string_equal(first(), "hipStreamSynchronize");
    assert_true(m->hip_api.rows[0].share > 0.63 && m->hip_api.rows[0].share < 0.65);
    rtl_ui_key(&ui, 'C');
    assert_string_equal(first(), "hipLaunchKernel");
    drawn(24, 80, "ranked by calls since the start");
    rtl_ui_key(&ui, 'L');
    assert_string_equal(first(), "hipStreamSynchronize");
    rtl_ui_key(&ui, 'R');
    assert_string_equal(first(), "hipModuleLoadData"); /* it has no call in the window */
    rtl_ui_key(&ui, '>');
    assert_string_equal(first(), "hipLaunchKernel"); /* by name */
    rtl_ui_key(&ui, '>');
    assert_int_equal(m->hip_api.order, RTL_HIP_API_BY_NAME);
    rtl_ui_key(&ui, 'R');
    assert_string_equal(first(), "hipStreamSynchronize");
    rtl_ui_key(&ui, 'T');
    assert_string_equal(first(), "hipStreamSynchronize");
    rtl_ui_key(&ui, 'P');
    rtl_ui_key(&ui, '<');
    assert_int_equal(m->hip_api.order, RTL_HIP_API_BY_SHARE);
    assert_int_equal(m->sort, RTL_COLUMN_TIME); /* the kernels keep their own order */
    rtl_ui_key(&ui, RTL_KEY_DOWN);
    free(draw(24, 80));
    assert_int_equal(ui.line_at[RTL_VIEW_CALLS], 1);
    assert_int_equal(ui.line_at[RTL_VIEW_RANGES], 0);
}

/* Sorting by menu and a repeatable search, as for kernels; a column that calls lack is reported. */
static void calls_are_sorted_and_searched(void **state)
{
    (void)state;
    static const char text[] = "MEMCPY";
    int count;
    rtl_ui_key(&ui, 'a');
    rtl_ui_key(&ui, 's');
    assert_int_equal(ui.prompt, RTL_PROMPT_SORT);
    drawn(24, 80, "%TIME share of the window");
    assert_int_equal(ui.menu, RTL_HIP_API_BY_SHARE);
    rtl_ui_key(&ui, RTL_KEY_DOWN);
    rtl_ui_key(&ui, RTL_KEY_DOWN);
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_int_equal(m->hip_api.order, RTL_HIP_API_BY_CALLS);
    rtl_ui_key(&ui, 's');
    for (int i = 0; i < 9; i++)
        rtl_ui_key(&ui, 'j');
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_int_equal(m->hip_api.order, RTL_HIP_API_BY_NAME);
    assert_int_equal(m->sort, RTL_COLUMN_TIME);
    rtl_ui_key(&ui, 's');
    rtl_ui_key(&ui, 'k');
    rtl_ui_key(&ui, RTL_KEY_ESC);
    assert_int_equal(m->hip_api.order, RTL_HIP_API_BY_NAME);
    rtl_ui_key(&ui, '/');
    for (const char *at = text; *at; at++)
        rtl_ui_key(&ui, (uint32_t)*at);
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    int at = ui.line_at[RTL_VIEW_CALLS];
    assert_string_equal(rtl_ui_call_rows(&ui, &count)[at].call->name, "hipMemcpyAsync");
    rtl_ui_key(&ui, 'n'); /* the only match */
    assert_int_equal(ui.line_at[RTL_VIEW_CALLS], at);
    rtl_ui_key(&ui, '/');
    rtl_ui_key(&ui, 'h');
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    rtl_ui_key(&ui, 'n');
    assert_int_equal(ui.line_at[RTL_VIEW_CALLS], (at + 1) % count);
    rtl_ui_key(&ui, 'N');
    assert_int_equal(ui.line_at[RTL_VIEW_CALLS], at);
    rtl_ui_key(&ui, '/');
    rtl_ui_key(&ui, '#');
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_string_equal(ui.message, "no call contains '#'");
    rtl_ui_key(&ui, RTL_KEY_ENTER);
    assert_non_null(strstr(ui.message, "not on this screen: Enter"));
    rtl_ui_key(&ui, 'o');
    assert_non_null(strstr(ui.message, "not on this screen: o"));
}

static void calls_follow_zero_and_the_window(void **state)
{
    (void)state;
    rtl_ui_key(&ui, 'a');
    rtl_ui_key(&ui, 'z');
    synth_add(&c.rows[copy].h, 50000, 4);
    c.rows[copy].bytes += 4000;
    tick(13);
    assert_string_equal(first(), "hipMemcpyAsync");
    assert_int_equal(m->hip_api.rows[0].calls, 4);
    assert_int_equal(m->hip_api.rows[0].total_ns, 200000);
    assert_int_equal(m->hip_api.rows[0].bytes, 4000);
    assert_int_equal(m->hip_api.rows[0].window.count, 4);
    assert_true(m->hip_api.rows[0].rate == 4);
    assert_true(m->hip_api.rows[0].bandwidth == 4000);
    assert_true(m->hip_api.rows[0].p99 >= 49000 && m->hip_api.rows[0].p99 <= 51000);
}

/* A call in progress counts with its time so far, so the GPU line names the call that blocks the host now. */
static void the_gpu_line_names_the_call_in_progress(void **state)
{
    (void)state;
    assert_string_equal(m->gpus[0].facts.call, "hipStreamSynchronize");
    assert_true(m->gpus[0].facts.call_share > 0.63 && m->gpus[0].facts.call_share < 0.65);
    c.inside[0].row = allocate;
    c.inside[0].since_ns = SYNTH_START + 13 * RTL_SEC - 6 * RTL_SEC; /* its time so far is the limit */
    c.inside_count = 1;
    tick(13);
    assert_string_equal(m->gpus[0].facts.call, "hipMalloc");
    assert_true(m->gpus[0].facts.call_share > 0.59 && m->gpus[0].facts.call_share < 0.63);
    c.inside[0].since_ns = 5; /* longer than the window */
    tick(14);
    assert_string_equal(m->gpus[0].facts.call, "hipMalloc");
    assert_true(m->gpus[0].facts.call_share > 0.99 && m->gpus[0].facts.call_share < 1.01);
    c.inside_count = 0;
    tick(15);
    assert_string_equal(m->gpus[0].facts.call, "hipStreamSynchronize");
}

static void without_calls_the_screen_gives_the_reason(void **state)
{
    (void)state;
    struct rtl_snapshot s = synth_snapshot(p, 13 * RTL_SEC);
    rtl_ui_key(&ui, 'a');
    assert_true(rtl_model_add(m, &s, 1013 * RTL_SEC));
    drawn(24, 80, "calls are not recorded: start the program with rtl-top run --mode hip");
    ui.replay = true;
    drawn(24, 80, "no calls recorded so far");
    ui.replay = false;
    memset(&c, 0, sizeof c);
    tick(14);
    drawn(24, 80, "no HIP call so far");
    rtl_ui_key(&ui, 'A');
    drawn(24, 80, "no roctx range or mark so far");
}

static void calls_of_several_processes_are_merged(void **state)
{
    (void)state;
    struct rtl_snapshot one = synth_snapshot(p, 0), two = synth_snapshot(p, 0), sum = {0}, copied;
    synth_put_calls(p, &c, &one);
    struct synth_calls other = {.memory = {{4712, 0, 10, 20, 1}}, .memory_count = 1, .unbalanced = 1};
    int a = synth_call(&other, RTL_HIP_API_LAUNCH, "hipLaunchKernel"),
        b = synth_call(&other, RTL_HIP_API_LAUNCH, "hipAbove");
    int d = synth_call(&other, RTL_HIP_API_MARK, "decode"); /* a mark and a range of the same name are two rows */
    synth_add(&other.rows[a].h, 100, 10);
    synth_add(&other.rows[b].h, 100, 1);
    synth_add(&other.rows[d].h, 0, 1);
    other.rows[a].errors = 3;
    uint32_t alone = synth_node(&other, 0, "attention"), around = synth_node(&other, 0, "decode");
    other.pairs[0].node = alone;
    other.pairs[1].node = synth_node(&other, around, "attention");
    other.pairs[0].kernel = other.pairs[1].kernel = "paged_attention";
    other.pair_count = 2;
    synth_add(&other.pairs[0].h, 300000, 5);
    synth_add(&other.pairs[1].h, 300000, 4);
    synth_put_calls(p, &other, &two);
    const struct rtl_hip_api_snapshot *all[] = {one.hip_api, NULL, two.hip_api};
    assert_true(rtl_merge_hip_api(all, 3, &sum));
    assert_int_equal(sum.hip_api->count, one.hip_api->count + 2);
    assert_int_equal(sum.hip_api->memory_count, 3);
    assert_int_equal(sum.hip_api->memory[2].pid, 4712);
    assert_int_equal(sum.hip_api->pops_unbalanced, 8);
    assert_string_equal(sum.hip_api->rows[0].name, "hipAbove");
    assert_string_equal(sum.hip_api->rows[1].name, "hipLaunchKernel");
    assert_int_equal(sum.hip_api->rows[1].histogram.count, 12 * 9200 + 10);
    assert_int_equal(sum.hip_api->rows[1].histogram.min_ns, 100);
    assert_int_equal(sum.hip_api->rows[1].errors, 3);
    for (uint32_t i = 1; i < sum.hip_api->count; i++)
        assert_true(rtl_hip_api_compare_rows(&sum.hip_api->rows[i - 1], &sum.hip_api->rows[i]) < 0);
    assert_int_equal(sum.hip_api->pair_count, 3); /* decode, attention and one of the other process only */
    const struct rtl_hip_api_snapshot *s = sum.hip_api;
    uint32_t outer = rtl_hip_api_find_child(s, 0, "decode", 6),
             inner = rtl_hip_api_find_child(s, outer, "attention", 9);
    uint64_t kernel = rtl_hash("paged_attention", strlen("paged_attention"));
    assert_int_equal(rtl_hip_api_find_pair(s, outer, kernel)->histogram.count, 12 * 10);
    assert_int_equal(rtl_hip_api_find_pair(s, inner, kernel)->histogram.count, 12 * 20 + 4);
    assert_int_equal(rtl_hip_api_find_pair(s, inner, kernel)->histogram.max_ns, 300000);
    assert_int_equal(rtl_hip_api_find_pair(s, rtl_hip_api_find_child(s, 0, "attention", 9), kernel)->histogram.count,
                     5);
    assert_null(rtl_hip_api_find_pair(s, outer, kernel + 1));
    assert_true(rtl_snapshot_copy(&sum, &copied));
    assert_int_equal(copied.hip_api->pair_count, 3);
    assert_ptr_not_equal(copied.hip_api->rows[1].histogram.octaves, s->rows[1].histogram.octaves);
    assert_ptr_not_equal(copied.hip_api->pairs[0].histogram.octaves, s->pairs[0].histogram.octaves);
    assert_int_equal(rtl_hip_api_find_pair(copied.hip_api, inner, kernel)->histogram.count, 12 * 20 + 4);
    rtl_snapshot_free(&sum);
    assert_int_equal(copied.hip_api->rows[1].histogram.count, 12 * 9200 + 10);
    assert_int_equal(copied.hip_api->rows[1].histogram.octaves[0].bucket[rtl_bucket_of(100) % 64], 10);
    rtl_snapshot_free(&copied);
    rtl_snapshot_free(&one);
    rtl_snapshot_free(&two);
    const struct rtl_hip_api_snapshot *none[] = {NULL, NULL};
    assert_true(rtl_merge_hip_api(none, 2, &sum));
    assert_null(sum.hip_api);
    rtl_snapshot_free(&sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_calls_screen_is_drawn, setup, teardown),
        cmocka_unit_test_setup_teardown(the_ranges_screen_is_drawn, setup, teardown),
        cmocka_unit_test_setup_teardown(a_range_has_the_kernels_launched_in_it, setup, teardown),
        cmocka_unit_test_setup_teardown(ranges_are_drawn_as_a_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(launch_shows_the_time_to_start, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_and_ranges_are_sorted_by_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_are_sorted_and_searched, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_follow_zero_and_the_window, setup, teardown),
        cmocka_unit_test_setup_teardown(the_gpu_line_names_the_call_in_progress, setup, teardown),
        cmocka_unit_test_setup_teardown(without_calls_the_screen_gives_the_reason, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_of_several_processes_are_merged, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
