/* Families: their sums and their order, the keys that open and close them, and how they are drawn. */
#include "golden_fixture.h"

#include "model/cells.h"
#include "tui/draw_views.h"

static struct synth *p;
static struct rtl_model *m;

enum { GEMM_BIG, GEMM_SMALL, ATTENTION, ALL_REDUCE, FILL, NAMES };
static const char *const names[NAMES] = {
    "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT16x16x64_MI16x16x1_SN_LDSB0_AFC1_WG32_8_1_WGM8",
    "_ZN4vllm23rotary_embedding_kernelIN3c108BFloat16ELb1EEEvPKlPT_S5_PKS4_illiii",
    "_Z31ncclDevKernel_AllReduce_RING_LL24ncclDevKernelArgsStorageILm4096EE",
    "__amd_rocclr_fillBufferAligned",
};

static void tick(int at)
{
    synth_record(p, GEMM_BIG, 100000, 100);
    synth_record(p, GEMM_SMALL, 5000, 400);
    synth_record(p, ATTENTION, 150000, 80);
    synth_untimed(p, ALL_REDUCE, RTL_UNTIMED_OWN_SIGNAL, 200);
    if (at < 2)
        synth_record(p, FILL, 2000, 10);
    synth_tick(p, m, (uint64_t)at * RTL_SEC);
}

static int setup(void **state)
{
    (void)state;
    p = synth_create(1, 1);
    m = rtl_model_create();
    assert_non_null(m);
    for (int i = 0; i < NAMES; i++)
        synth_kernel(p, names[i]);
    for (int t = 1; t <= 14; t++)
        tick(t);
    rtl_ui_init(&ui, m, 4711, "serve");
    rtl_ui_scroll_into_view(&ui, 24, 80);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    return 0;
}

static void press(const char *keys)
{
    for (; *keys; keys++)
        rtl_ui_key(&ui, (uint32_t)(unsigned char)*keys);
    rtl_ui_scroll_into_view(&ui, 24, 80);
}

static void press_key(uint32_t key)
{
    rtl_ui_key(&ui, key);
    rtl_ui_scroll_into_view(&ui, 24, 80);
}

/* Check the order of the table: a family by its name, a kernel by its number. */
static void order_is(const char *wanted)
{
    char text[512] = "";
    for (uint32_t i = 0; i < m->shown; i++) {
        const struct rtl_row *row = &m->rows[m->order[i]];
        size_t used = strlen(text);
        assert_int_equal(rtl_model_position(m, row->id), i);
        if (row->kernels)
            snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", row->kernel->name);
        else
            snprintf(text + used, sizeof text - used, " %u", row->id - RTL_KERNEL_FIRST);
    }
    assert_string_equal(text, wanted);
}

static const struct rtl_row *family(enum rtl_name_family f)
{
    const struct rtl_row *row = rtl_model_row(m, RTL_KERNELS_MAX + f);
    assert_non_null(row);
    return row;
}

static void families_are_the_sums_of_their_kernels(void **state)
{
    (void)state;
    assert_null(rtl_model_row(m, RTL_KERNELS_MAX + RTL_FAMILY_GEMM));
    rtl_model_group(m, true);
    /* 80 * 150 us and 100 * 100 + 400 * 5 us of timed work in each second */
    const struct rtl_row *gemm = family(RTL_FAMILY_GEMM), *attention = family(RTL_FAMILY_ATTENTION);
    assert_int_equal(gemm->kernels, 2);
    assert_int_equal(gemm->calls, 14 * 500);
    assert_int_equal(gemm->total_ns, 14 * 12000000ull);
    assert_int_equal(gemm->window.count, 10 * 500);
    assert_int_equal(gemm->window.total_ns, 10 * 12000000ull);
    assert_true(gemm->share > 0.499 && gemm->share < 0.501);
    assert_true(gemm->rate > 499 && gemm->rate < 501);
    assert_true(attention->share > 0.499 && attention->share < 0.501);
    /* quantiles of different kernels can't be added: the family shows the highest p99 */
    const struct rtl_row *big = rtl_model_row(m, RTL_KERNEL_FIRST + GEMM_BIG);
    assert_int_equal(gemm->p99, big->p99);
    char text[48];
    assert_true(rtl_cell_text(m, gemm, RTL_COLUMN_P99, RTL_UNIT_AUTO, text, sizeof text));
    assert_false(rtl_cell_text(m, gemm, RTL_COLUMN_P50, RTL_UNIT_AUTO, text, sizeof text));
    assert_string_equal(text, RTL_NONE);
    assert_true(rtl_cell_text(m, gemm, RTL_COLUMN_MEAN, RTL_UNIT_AUTO, text, sizeof text));
    assert_string_equal(text, "24.0µs");
    assert_true(gemm->window.min_ns <= 5000 && gemm->window.max_ns >= 100000 - 1000);
    assert_true(rtl_cell_text(m, family(RTL_FAMILY_COMM), RTL_COLUMN_UNTIMED, RTL_UNIT_AUTO, text, sizeof text));
    assert_string_equal(text, "100");
    assert_false(rtl_cell_text(m, family(RTL_FAMILY_COMM), RTL_COLUMN_TIME, RTL_UNIT_AUTO, text, sizeof text));
    /* only displayed kernels count */
    snprintf(m->filter, sizeof m->filter, "MT16x16");
    rtl_model_refresh(m);
    order_is("gemm");
    assert_int_equal(family(RTL_FAMILY_GEMM)->kernels, 1);
    assert_int_equal(family(RTL_FAMILY_GEMM)->calls, 14 * 400);
    m->filter[0] = 0;
    m->hide_idle = true;
    rtl_model_refresh(m);
    assert_null(rtl_model_row(m, RTL_KERNELS_MAX + RTL_FAMILY_COPY));
    rtl_model_group(m, false);
    order_is(" 2 0 1 3");
    rtl_model_forget(m, 0);
    assert_null(rtl_model_row(m, RTL_KERNELS_MAX + RTL_FAMILY_GEMM));
}

static void families_are_sorted_like_rows(void **state)
{
    (void)state;
    rtl_model_group(m, true);
    rtl_model_sort(m, RTL_COLUMN_CALLS, false);
    order_is("gemm comm attention copy");
    rtl_model_open(m, RTL_FAMILY_GEMM, true);
    rtl_model_open(m, RTL_FAMILY_COMM, true);
    order_is("gemm 1 0 comm 3 attention copy");
    rtl_model_sort(m, RTL_COLUMN_CALLS, true);
    order_is("copy attention comm 3 gemm 0 1");
    rtl_model_sort(m, RTL_COLUMN_P99, false); /* unmeasured kernels are last */
    order_is("attention gemm 0 1 comm 3 copy");
    rtl_model_sort(m, RTL_COLUMN_NAME, false);
    order_is("attention comm 3 copy gemm 1 0");
    rtl_model_freeze_order(m); /* opened in a frozen order: its kernels are sorted */
    rtl_model_open(m, RTL_FAMILY_GEMM, false);
    rtl_model_freeze_order(m);
    rtl_model_open(m, RTL_FAMILY_GEMM, true);
    order_is("attention comm 3 copy gemm 1 0");
    /* frozen: all rows stay, a new kernel is last in its family */
    rtl_model_sort(m, RTL_COLUMN_CALLS, false);
    order_is("gemm 1 0 comm 3 attention copy");
    rtl_model_freeze_order(m);
    synth_record(p, ATTENTION, 150000, 100000);
    int late = synth_kernel(p, "Cijk_Alik_Bljk_HHS_BH_MT32x32x64_MI16x16x1_SN");
    synth_record(p, late, 1000, 100000);
    tick(15);
    order_is("gemm 1 0 5 comm 3 attention copy");
    for (int t = 16; t < 22; t++)
        tick(t);
    order_is("gemm 5 1 0 attention comm 3 copy");
    rtl_model_sort(m, RTL_COLUMN_FAMILY, false);
    rtl_model_group(m, false);
    order_is(" 0 1 5 2 3 4"); /* the order of the table of families */
}

static void keys_open_and_close_families(void **state)
{
    (void)state;
    press("g");
    assert_true(m->families);
    order_is("gemm attention comm copy");
    golden("families-80x24", 24, 80);
    press("\r"); /* the cursor is at the top */
    order_is("gemm 0 1 attention comm copy");
    assert_int_equal(ui.view, RTL_VIEW_KERNELS);
    press("jj");
    golden("families-open-80x24", 24, 80);
    golden("families-open-160x24", 24, 160);
    ui.ascii = true;
    golden("families-open-ascii-40x12", 12, 40);
    ui.ascii = false;
    assert_int_equal(rtl_ui_selected(&ui)->id, RTL_KERNEL_FIRST + GEMM_SMALL);
    press("\r"); /* in a kernel's detail, previous and next skip families */
    assert_int_equal(ui.view, RTL_VIEW_DETAIL);
    press("]");
    assert_int_equal(ui.selected, RTL_KERNEL_FIRST + GEMM_SMALL);
    press("[[[[");
    assert_int_equal(ui.selected, RTL_KERNEL_FIRST + GEMM_BIG);
    press("\033");
    press_key(RTL_KEY_RIGHT); /* on a kernel: scrolls the name */
    assert_true(ui.name_left > 0);
    press_key(RTL_KEY_LEFT);
    assert_int_equal(ui.name_left, 0);
    press_key(RTL_KEY_LEFT); /* and then closes its family */
    order_is("gemm attention comm copy");
    assert_int_equal(ui.selected, RTL_KERNELS_MAX + RTL_FAMILY_GEMM);
    press("j");
    press_key(RTL_KEY_RIGHT);
    order_is("gemm attention 2 comm copy");
    assert_int_equal(ui.selected, RTL_KERNELS_MAX + RTL_FAMILY_ATTENTION);
    press("w"); /* a family's full name is its name */
    drawn(24, 80, "\nattention\n");
    press("w");
    assert_true(rtl_ui_key(&ui, 'y') & RTL_UI_COPY);
    assert_string_equal(ui.copy, "attention");
    press_key(RTL_KEY_F(5));
    order_is(" 2 0 1 3 4");
    /* grouping moves the cursor to the family of its kernel, open or closed */
    press_key(RTL_KEY_HOME);
    press("jj");
    assert_int_equal(rtl_ui_selected(&ui)->id, RTL_KERNEL_FIRST + GEMM_SMALL);
    press("g");
    assert_int_equal(ui.selected, RTL_KERNELS_MAX + RTL_FAMILY_GEMM);
}

static void search_finds_kernels_in_closed_families(void **state)
{
    (void)state;
    press("g/rotary\r");
    assert_int_equal(ui.selected, RTL_KERNELS_MAX + RTL_FAMILY_ATTENTION);
    press("\r/rotary\r");
    assert_int_equal(ui.selected, RTL_KERNEL_FIRST + ATTENTION);
    press("/comm\r"); /* also by the family's name */
    assert_int_equal(ui.selected, RTL_KERNELS_MAX + RTL_FAMILY_COMM);
    press("/nowhere\r");
    assert_non_null(strstr(ui.message, "no kernel name contains"));
}

/* Return the pane of row `id` alone. */
static char *pane(uint32_t id, int rows, int cols)
{
    struct rtl_frame frame = {0};
    assert_true(rtl_frame_reset(&frame, rows, cols, false));
    rtl_draw_pane(&ui, &frame, (struct rtl_rect){0, 0, rows, cols}, rtl_model_row(m, id));
    char *text = synth_text(&frame);
    rtl_frame_free(&frame);
    return text;
}

static void the_pane_follows_the_cursor(void **state)
{
    (void)state;
    for (int t = 15; t < 40; t++) {
        if (t > 30)
            synth_record(p, GEMM_BIG, (uint64_t)t * 10000, 8);
        tick(t);
    }
    golden_text("pane-160x14", pane(RTL_KERNEL_FIRST + GEMM_BIG, 14, 160));
    golden_text("pane-80x10", pane(RTL_KERNEL_FIRST + GEMM_BIG, 10, 80)); /* the plot alone */
    golden_text("pane-not-timed-120x10", pane(RTL_KERNEL_FIRST + ALL_REDUCE, 10, 120));
    /* values before the window are not in its histogram */
    synth_record(p, FILL, 7000000, 1);
    for (int t = 40; t < 60; t++) {
        synth_record(p, FILL, 3000, 100);
        tick(t);
    }
    char *text = pane(RTL_KERNEL_FIRST + FILL, 14, 160);
    assert_null(strstr(text, "7.0"));
    assert_non_null(strstr(text, " 1.00k"));
    free(text);
    for (int cols = 120; cols <= 160; cols += 40) { /* below the kernels, or beside them */
        char *first = draw(45, cols);
        press("j");
        char *second = draw(45, cols), *bars_of_first = strstr(first, "DURATION in window");
        assert_non_null(bars_of_first);
        char *bars_of_second = strstr(second, "DURATION in window");
        assert_non_null(bars_of_second);
        char *last = strstr(bars_of_first, "sort %"), *end = strstr(bars_of_second, "sort %");
        assert_true(last && end);
        *last = *end = 0; /* the lists begin to differ above, by the mark of the cursor */
        assert_string_not_equal(bars_of_first, bars_of_second);
        free(first);
        free(second);
    }
    not_drawn(39, 120, "DURATION in window");
    not_drawn(24, 120, "P99 over time");
    drawn(24, 160, "P99 over time");
    press("g");
    drawn(45, 120, "a family has no curve; Enter opens it");
    drawn(45, 160, "a family has no curve; Enter opens it");
}

/* Beside the kernels of a wide terminal stand the shares of their families, unless the rows are families. */
static void families_stand_beside_the_kernels(void **state)
{
    (void)state;
    struct rtl_family_share shares[RTL_FAMILY_COUNT];
    assert_int_equal(rtl_family_shares(m, shares), 2);
    assert_true(shares[0].share > 0.499 && shares[0].share < 0.501 && shares[0].before < 0);
    for (int t = 15; t < 40; t++) { /* more gemm, then also more attention */
        synth_record(p, GEMM_BIG, 30000, 100);
        if (t > 29)
            synth_record(p, ATTENTION, 10000, 100);
        tick(t);
    }
    assert_int_equal(rtl_family_shares(m, shares), 2);
    assert_int_equal(shares[0].family, RTL_FAMILY_GEMM);
    assert_in_range((int)(shares[0].share * 1000), 530, 540);
    assert_in_range((int)(shares[0].before * 1000), 550, 560);
    drawn(24, 160, "FAMILY");
    not_drawn(24, 159, "FAMILY ");
    snprintf(m->filter, sizeof m->filter, "attention"); /* the shares are of all kernels */
    rtl_model_refresh(m);
    assert_int_equal(rtl_family_shares(m, shares), 2);
    m->filter[0] = 0;
    press("g");
    not_drawn(24, 160, "FAMILY ");
}

int main(void)
{
    setenv("TZ", "UTC", 1);
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(families_are_the_sums_of_their_kernels),
        TEST(families_are_sorted_like_rows),
        TEST(keys_open_and_close_families),
        TEST(search_finds_kernels_in_closed_families),
        TEST(the_pane_follows_the_cursor),
        TEST(families_stand_beside_the_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
