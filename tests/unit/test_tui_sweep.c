/*
 * All screens over rows x columns x GPUs x processes: no number is cut, other text is cut only with a mark, and nothing
 * lies outside. Also the screens of several processes and of families at the reference sizes.
 */
#include "tui/themes.h" /* before the fixture, whose names it would hide */

#include "ranks_fixture.h"

#include "model/cells.h"
#include "text/text.h"

static const char *view_name(void)
{
    static const char *const words[] = {"kernels", "queues", "copies", "detail", "help", "processes", "ranks"};
    return ui.view < sizeof words / sizeof *words ? words[ui.view] : "?";
}

/* Check one drawn screen. */
static void look(int rows, int cols)
{
    struct rtl_frame frame = {0};
    char text[4096];
    rtl_ui_scroll_into_view(&ui, rows, cols);
    assert_true(rtl_frame_reset(&frame, rows, cols, ui.ascii));
    rtl_draw(&ui, &frame);
    if (frame.numbers_cut) {
        char *all = synth_text(&frame);
        fail_msg("%d numbers have no room on %s, %dx%d:\n%s", frame.numbers_cut, view_name(), cols, rows, all);
    }
    assert_true(frame.cursor_row >= 0 && frame.cursor_row < rows && frame.cursor_col >= 0 && frame.cursor_col < cols);
    bool state_shown = false;
    for (int row = 0; row < rows; row++) {
        frame_row_text(&frame, row, text, sizeof text);
        if (rtl_text_columns(text) > cols)
            fail_msg("a line of %s is wider than %d columns: %s", view_name(), cols, text);
        for (const char *at = text; ui.ascii && *at; at++)
            assert_true((unsigned char)*at < 0x80);
        state_shown |= strstr(text, "[LIVE]") != NULL;
    }
    if (rows >= 3 && cols >= 24 && ui.view != RTL_VIEW_HELP && !state_shown)
        fail_msg("%s at %dx%d doesn't show the process's state", view_name(), cols, rows);
    rtl_frame_free(&frame);
}

static void every_screen_fits_at_every_size(void **state)
{
    (void)state;
    static const int gpus[] = {1, 8, 16}, counts[] = {1, 8, 64};
    static const int rows[] = {1, 2, 3, 5, 9, 12, 24, 40, 61};
    static const int cols[] = {1, 4, 5, 14, 20, 24, 33, 40, 47, 60, 72, 80, 95, 111, 131, 160, 200, 240};
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++)
        for (size_t p = 0; p < sizeof counts / sizeof *counts; p++) {
            start(gpus[g], counts[p], 12);
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                for (size_t c = 0; c < sizeof cols / sizeof *cols; c++)
                    for (int view = (int)((g + p + r + c) % SYNTH_ONE_IN); view < RTL_VIEW_COUNT;
                         view += SYNTH_ONE_IN) {
                        ui.view = (enum rtl_view)view;
                        ui.following = false;
                        ui.selected = ui.model->rows[0].id;
                        ui.ascii = (r + c) % 3 == 0;
                        ui.units = (enum rtl_unit)((r * 7 + c) % RTL_UNIT_COUNT);
                        ui.model->families = view == RTL_VIEW_KERNELS && c % 2;
                        rtl_model_refresh(ui.model);
                        look(rows[r], cols[c]);
                    }
            end();
        }
}

/* The reference sizes of each screen. */
static void designed(const char *screen)
{
    static const int sizes[][2] = {{80, 24}, {120, 40}, {160, 45}, {200, 60}, {40, 12}, {20, 5}};
    char name[64];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(name, sizeof name, "%s-%dx%d", screen, sizes[i][0], sizes[i][1]);
        golden(name, sizes[i][1], sizes[i][0]);
    }
}

/* The widths must match those that tests/e2e/names.t uses to judge names. */
static void the_name_column_is_as_wide_as_the_names_test_assumes(void **state)
{
    (void)state;
    for (int count = 1; count <= 8; count += 7) {
        start(1, count, 12);
        for (int cols = 80; cols <= 240; cols++) {
            struct rtl_layout l = rtl_ui_layout(&ui, 24, cols);
            if (l.column_width[RTL_COLUMN_NAME] < 30 + (cols == 80))
                fail_msg("%d columns of %d for the name, %d processes", l.column_width[RTL_COLUMN_NAME], cols, count);
        }
        end();
    }
}

static void a_server_of_eight_ranks_is_drawn(void **state)
{
    (void)state;
    start(1, 8, 40);
    ui.now_real_s = 14 * 3600 + 2 * 60 + 31;
    designed("eight-ranks");
    rtl_ui_key(&ui, 'p');
    designed("eight-ranks-processes");
    rtl_ui_key(&ui, 'p');
    rtl_ui_key(&ui, 'e');
    designed("eight-ranks-kernel");
    rtl_ui_key(&ui, 'e');
    rtl_ui_key(&ui, 'g');
    designed("eight-ranks-families");
    end();
}

/* Beside the kernels of a wide terminal, the slow process is always among those shown, in the colour of "act now". */
static void the_slow_process_stands_beside_the_kernels(void **state)
{
    (void)state;
    struct rtl_frame frame = {0};
    char text[4096];
    bool found = false;
    start(1, 64, 12);
    ui.following = false;
    ui.selected = RTL_KERNEL_FIRST;
    drawn(24, 160, "59 more\n");
    drawn(24, 160, "TP0 ");
    rtl_ui_scroll_into_view(&ui, 24, 160);
    assert_true(rtl_frame_reset(&frame, 24, 160, false));
    rtl_draw(&ui, &frame);
    for (int row = 0; row < 24; row++) {
        frame_row_text(&frame, row, text, sizeof text);
        const char *end = text + strlen(text);
        if (!strstr(text, "TP61  ") || strcmp(end - 5, "2.00x"))
            continue;
        found = true;
        int last = row * 160 + 159;
        while (frame.cells[last].code == ' ')
            last--;
        assert_int_equal(rtl_role_meaning((enum rtl_role)frame.cells[last].role), RTL_MEANING_ACT);
    }
    if (!found)
        fail_msg("the slow process isn't shown:\n%s", synth_text(&frame));
    rtl_frame_free(&frame);
    end();
    start(1, 1, 12);
    not_drawn(45, 160, "PROCESS ");
    drawn(45, 160, "FAMILY ");
    end();
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_screen_fits_at_every_size),
        cmocka_unit_test(the_name_column_is_as_wide_as_the_names_test_assumes),
        cmocka_unit_test(the_slow_process_stands_beside_the_kernels),
        cmocka_unit_test(a_server_of_eight_ranks_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
