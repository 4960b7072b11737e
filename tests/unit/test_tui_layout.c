/* The geometry at every size, for every number of GPUs: no overlap, nothing outside, nothing missing. */
#include "tui_synth.h"

#include "tui/layout.h"

static bool inside(const struct rtl_rect *r, int rows, int cols)
{
    return r->rows >= 0 && r->cols >= 0 && r->row >= 0 && r->col >= 0 && r->row + r->rows <= rows &&
           r->col + r->cols <= cols;
}

static void wrong(const char *what, int rows, int cols, int gpus)
{
    fail_msg("%s at %dx%d with %d GPUs", what, cols, rows, gpus);
}

/* Check the parts beside the table: they exist on wide terminals, and each has room or is hidden. */
static void check_side(const struct rtl_layout *l, int rows, int cols, const struct rtl_layout_wants *wants)
{
    const struct rtl_rect *parts[] = {&l->side_families, &l->side_processes, &l->side_plot, &l->side_bars};
    bool beside = wants->pane && cols >= RTL_SIDE_FROM_COLS && l->head.rows + l->table.rows >= RTL_SIDE_LEAST_ROWS;
    int row = l->head.row;
    for (int i = 0; i < 4; i++) {
        if (parts[i]->rows && (parts[i]->row != row || parts[i]->col <= l->table.cols || !inside(parts[i], rows, cols)))
            wrong("a part beside the table overlaps another", rows, cols, wants->gpus);
        row += parts[i]->rows;
        if (parts[i]->rows && parts[i]->cols < 44)
            wrong("a part beside the table is too narrow", rows, cols, wants->gpus);
    }
    if (row > l->table.row + l->table.rows || (!beside && row != l->head.row) || (beside && l->pane.rows))
        wrong("the parts beside the table don't belong there", rows, cols, wants->gpus);
    if (beside != (l->table.cols < cols) || l->head.cols != l->table.cols || l->table.cols < (cols < 112 ? cols : 112))
        wrong("the table is too narrow or too wide", rows, cols, wants->gpus);
    if (beside && ((wants->families && l->side_families.rows < 3) || (wants->processes && l->side_processes.rows < 3)))
        wrong("a list is missing beside the table", rows, cols, wants->gpus);
    if ((l->side_plot.rows && l->side_plot.rows < 8) || (l->side_bars.rows && l->side_bars.rows < 8) ||
        (beside && l->table.rows >= 16 && !l->side_plot.rows) || (beside && l->table.rows >= 45 && !l->side_bars.rows))
        wrong("the durations are missing beside the table", rows, cols, wants->gpus);
}

/* Check that rectangles one below the other fill the screen exactly. */
static void check_main(int rows, int cols, struct rtl_layout_wants wants)
{
    struct rtl_layout l = rtl_layout_main(rows, cols, &wants);
    const int *widths = wants.widths;
    int gpus = wants.gpus;
    if (cols < 5) {
        assert_int_equal(l.kind, RTL_LAYOUT_NOTHING);
        return;
    }
    if (rows < 3 || cols < 24) {
        assert_int_equal(l.kind, RTL_LAYOUT_LINE);
        assert_true(l.line.rows == rows && inside(&l.line, rows, cols));
        return;
    }
    const struct rtl_rect *order[] = {&l.header, &l.gpus, &l.coverage, &l.head, &l.table,
                                      &l.pane,   &l.name, &l.status,   &l.keys};
    int row = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!inside(order[i], rows, cols))
            wrong("a part lies outside", rows, cols, gpus);
        if (order[i]->rows && order[i]->row != row)
            wrong("parts overlap or leave a gap", rows, cols, gpus);
        row += order[i]->rows;
    }
    if (row != rows)
        wrong("rows are left over", rows, cols, gpus);
    if (l.header.rows != 1 || l.head.rows != 1 || l.table.rows < (rows < 5 ? 1 : 3))
        wrong("too little of the table", rows, cols, gpus);
    if (rows >= 8 && (!l.coverage.rows || !l.status.rows))
        wrong("an important line is missing", rows, cols, gpus);
    if (l.pane.rows && (!wants.pane || rows < RTL_PANE_FROM_ROWS || l.pane.rows < 8 || l.table.rows < rows / 5))
        wrong("the pane is where it doesn't belong", rows, cols, gpus);
    if (wants.pane && rows >= RTL_PANE_FROM_ROWS && gpus <= 8 && l.pane.rows < 8 && cols < RTL_SIDE_FROM_COLS)
        wrong("no pane", rows, cols, gpus);
    check_side(&l, rows, cols, &wants);
    if (l.gpus.rows) {
        if (l.gpu_columns * l.gpu_width > cols || l.gpu_cells != l.gpu_columns * l.gpus.rows || l.gpu_shown > gpus ||
            l.gpu_shown > l.gpu_cells || l.gpu_shown < 0)
            wrong("gauges don't fit", rows, cols, gpus);
        if (l.gpu_shown < gpus && l.gpu_shown != l.gpu_cells - 1)
            wrong("no cell says how many GPUs are hidden", rows, cols, gpus);
    } else if (rows >= 8 && gpus > 0) {
        wrong("no gauges", rows, cols, gpus);
    }
    int at = 1;
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        if (l.column_at[i] < 0)
            continue;
        if (l.column_at[i] < at || (i != RTL_COLUMN_NAME && l.column_at[i] + l.column_width[i] > l.table.cols))
            wrong("columns overlap or don't fit", rows, cols, gpus);
        at = l.column_at[i] + l.column_width[i] + 1;
    }
    if (l.bar_width && (l.bar_at < l.column_at[RTL_COLUMN_TIME] + l.column_width[RTL_COLUMN_TIME] ||
                        (l.column_at[RTL_COLUMN_RATE] >= 0 && l.bar_at + l.bar_width >= l.column_at[RTL_COLUMN_RATE])))
        wrong("the bar is not beside its number", rows, cols, gpus);
    if (l.column_width[RTL_COLUMN_NAME] < (cols < 40 ? 8 : widths || wants.slowest ? 12 : 18))
        wrong("no room for a name", rows, cols, gpus);
}

static void check_detail(int rows, int cols, int name_rows, int number, bool probe)
{
    int bars = (rows * 7 + cols) % 64 + 1;
    struct rtl_layout_detail l = rtl_layout_detail(rows, cols, name_rows, number, bars, probe);
    if (l.kind != RTL_LAYOUT_FULL)
        return;
    const struct rtl_rect *order[] = {&l.header, &l.counts, &l.quantiles, &l.name,   &l.head, &l.histogram,
                                      &l.plot,   &l.trend,  &l.probe,     &l.status, &l.keys};
    int row = 0;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!inside(order[i], rows, cols) || (order[i]->rows && order[i]->row != row))
            wrong("parts of the detail overlap", rows, cols, 0);
        row += order[i]->rows;
    }
    if (row != rows || l.header.rows != 1 || l.quantiles.rows + (l.figures.rows > 0) != 1)
        wrong("the detail lacks a part", rows, cols, 0);
    if ((l.plot.rows > 0) != (rows >= 20 && cols >= 40 && !probe) || (l.probe.rows > 0) != (probe && rows >= 8) ||
        (probe && (l.trend.rows || (rows >= 24 && l.probe.rows < 12))) ||
        (l.plot.rows && (l.plot.rows < 6 || l.trend.rows)))
        wrong("the plot is not where it belongs", rows, cols, 0);
    int wanted = name_rows > 1 || probe ? 3 : 6;
    if (rows >= 20 && l.histogram.rows < (wanted < bars ? wanted : bars))
        wrong("too little of the histogram", rows, cols, 0);
    if (l.plot.rows && l.histogram.rows > (bars > 10 ? bars : 10))
        wrong("the histogram has rows that stay empty", rows, cols, 0);
    if (l.figures.rows && l.histogram.cols > (cols / 2 > 96 ? cols / 2 : 96))
        wrong("the histogram is too wide", rows, cols, 0);
    if (l.figures.rows && (!inside(&l.figures, rows, cols) || l.histogram.col + l.histogram.cols > l.figures.col))
        wrong("figures overlap the histogram", rows, cols, 0);
}

static struct rtl_layout main_of(int rows, int cols, int gpus)
{
    struct rtl_layout_wants wants = {.gpus = gpus};
    return rtl_layout_main(rows, cols, &wants);
}

static void the_layout_fills_every_size(void **state)
{
    (void)state;
    int wide[RTL_COLUMN_COUNT]; /* times in a unit that makes them wide */
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        wide[i] = rtl_columns[i].width == 6 ? 15 : rtl_columns[i].width;
    static const int gpus[] = {0, 1, 2, 3, 4, 7, 8, 9, 16, 64};
    for (int rows = 1; rows <= 100; rows++)
        for (int cols = 1; cols <= 300; cols += cols < 130 ? 1 : 7)
            for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++) {
                check_main(rows, cols, (struct rtl_layout_wants){.gpus = gpus[g]});
                check_main(rows, cols,
                           (struct rtl_layout_wants){
                               .gpus = gpus[g], .pane = true, .slowest = true, .families = 7, .processes = 8});
                check_main(rows, cols,
                           (struct rtl_layout_wants){
                               .gpus = gpus[g], .gpu_lines = true, .name_rows = 3, .pane = true, .widths = wide});
            }
    for (int cols = 1; cols <= 300; cols++)
        for (unsigned columns = 0; columns < 1u << RTL_COLUMN_COUNT; columns = columns * 3 + 1)
            check_main(24, cols, (struct rtl_layout_wants){.gpus = 1, .columns = columns, .widths = wide});
    for (int rows = 1; rows <= 100; rows++)
        for (int cols = 1; cols <= 300; cols++) {
            check_detail(rows, cols, 0, 12, false);
            check_detail(rows, cols, 0, 12, true);
            check_detail(rows, cols, 9, 24, false);
            check_detail(rows, cols, 9, 24, true);
        }
    check_main(1000, 1000, (struct rtl_layout_wants){.gpus = 64});
    assert_int_equal(main_of(0, 0, 1).kind, RTL_LAYOUT_NOTHING);
    assert_int_equal(main_of(-3, 80, 1).kind, RTL_LAYOUT_NOTHING);
}

static void requested_columns_are_displayed(void **state)
{
    (void)state;
    unsigned asked = 1u << RTL_COLUMN_TIME | 1u << RTL_COLUMN_P90 | 1u << RTL_COLUMN_MAX | 1u << RTL_COLUMN_NAME;
    struct rtl_layout l = rtl_layout_main(24, 80, &(struct rtl_layout_wants){.gpus = 1, .columns = asked});
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        assert_int_equal(l.column_at[i] >= 0, (asked & 1u << i) != 0);
    /* on a wide terminal they stay, whatever stands beside the table */
    struct rtl_layout_wants wants = {.gpus = 1, .columns = asked, .pane = true, .families = 5};
    l = rtl_layout_main(24, 160, &wants);
    assert_true(l.side_families.rows >= 6 && l.column_at[RTL_COLUMN_P90] >= 0);
    wants.columns = (1u << RTL_COLUMN_COUNT) - 1;
    for (int i = 0, all = 0; i <= 200; i += 200) {
        l = rtl_layout_main(24, 160 + i, &wants);
        assert_true(!l.side_families.rows == !i);
        for (int c = 0; i && c < RTL_COLUMN_COUNT; c++)
            all += l.column_at[c] >= 0;
        assert_true(!i || all >= RTL_COLUMN_COUNT - 2); /* but SLOWEST and LAUNCH */
    }
    /* without room for all, the name stays, and the columns of a narrow terminal */
    l = rtl_layout_main(24, 30, &(struct rtl_layout_wants){.gpus = 1, .columns = asked});
    assert_true(l.column_at[RTL_COLUMN_NAME] >= 0 && l.column_at[RTL_COLUMN_TIME] >= 0);
    assert_true(l.column_at[RTL_COLUMN_MAX] < 0 && l.column_width[RTL_COLUMN_NAME] >= 12);
}

static void the_layout_at_80x24_is_fixed(void **state)
{
    (void)state;
    struct rtl_layout l = main_of(24, 80, 8);
    assert_int_equal(l.gpus.rows, 4); /* eight GPUs in two columns */
    assert_int_equal(l.gpu_shown, 8);
    assert_int_equal(l.table.rows, 15);
    assert_true(l.column_at[RTL_COLUMN_P50] >= 0 && l.column_at[RTL_COLUMN_TREND] >= 0 &&
                l.column_at[RTL_COLUMN_CHANGE] >= 0 && l.bar_width >= 4);
    assert_int_equal(main_of(24, 80, 4).gpus.rows, 4); /* up to four GPUs have a line each, more do not */
    assert_int_equal(main_of(24, 80, 5).gpu_columns, 2);
    assert_int_equal(main_of(60, 200, 10).gpu_columns, 1);
    assert_int_equal(l.column_at[RTL_COLUMN_CALLS], -1);
    l = main_of(60, 200, 8);
    assert_true(l.column_width[RTL_COLUMN_TREND] >= 35 && l.column_width[RTL_COLUMN_HEAT] >= 20);
    l = main_of(60, 320, 8);
    assert_int_equal(l.column_width[RTL_COLUMN_TREND], 60); /* one mark per second for a minute */
    for (int i = 0; i < RTL_COLUMN_COUNT; i++)
        assert_true(l.column_at[i] >= 0 || i == RTL_COLUMN_SLOWEST || i == RTL_COLUMN_LAUNCH); /* all columns */
    struct rtl_layout_wants wants = {.gpus = 8, .slowest = true};
    l = rtl_layout_main(24, 80, &wants);
    assert_true(l.column_at[RTL_COLUMN_SLOWEST] >= 0 && l.column_width[RTL_COLUMN_NAME] >= 18);
    l = main_of(12, 40, 1);
    assert_true(l.column_at[RTL_COLUMN_TIME] >= 0 && l.column_at[RTL_COLUMN_P99] >= 0 &&
                l.column_at[RTL_COLUMN_P50] < 0);
    assert_true(l.table.rows >= 5 && l.keys.rows == 1);
    assert_int_equal(main_of(5, 20, 8).kind, RTL_LAYOUT_LINE);
    assert_int_equal(main_of(1, 1, 8).kind, RTL_LAYOUT_NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_fills_every_size),
        cmocka_unit_test(requested_columns_are_displayed),
        cmocka_unit_test(the_layout_at_80x24_is_fixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
