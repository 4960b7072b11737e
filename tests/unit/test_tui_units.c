/*
 * Times on the screen and in text output in every unit, at every width, in every view: a number is never cut, because a
 * cut number would be a wrong one.
 */
#include "tui_synth.h"

#include "command/output.h"
#include "text/text.h"

enum { FAST = 7, LONG = 13 }; /* ns; s */
#define SLOW (50 * RTL_SEC)

static struct synth *p;
static struct rtl_model *m;

static int setup(void **state)
{
    (void)state;
    p = synth_create(1, 1);
    m = rtl_model_create();
    assert_non_null(m);
    int fast = synth_kernel(p, "fast"), slow = synth_kernel(p, "slow");
    for (int t = 1; t <= 3; t++) {
        synth_record(p, fast, FAST, 11);
        synth_record(p, slow, SLOW, 3);
        synth_add(&p->queues[0].wait, SLOW, 2);
        synth_add(&p->queues[0].gap, FAST, 2);
        synth_copies(p, 0, RTL_COPY_H2D, 1 << 20, LONG * RTL_SEC, 2);
        synth_copies(p, 0, RTL_COPY_D2H, 1 << 20, FAST, 2);
        synth_tick(p, m, (uint64_t)t * RTL_SEC);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    return 0;
}

/* Durations and sums, in the window from the second frame on and since the start. */
static const uint64_t times[] = {FAST, SLOW, LONG *RTL_SEC, 6 * SLOW, 9 * SLOW, 22 * FAST, 33 * FAST};

static void check_words(char *text, enum rtl_unit unit, int view, int cols)
{
    /* words of four characters may be other values, such as a rate */
    for (char *word, *rest = text; (word = strsep(&rest, " \n"));) {
        size_t length = strlen(word);
        for (size_t i = 0; length >= 5 && i < sizeof times / sizeof *times; i++) {
            struct rtl_number whole = rtl_format_time(times[i], unit);
            if (length < strlen(whole.text) && !memcmp(whole.text, word, length))
                fail_msg("'%s' should be '%s' in view %d at %d columns", word, whole.text, view, cols);
        }
    }
}

static void no_number_is_cut_in_any_unit(void **state)
{
    (void)state;
    struct rtl_ui ui;
    struct rtl_frame frame = {0};
    rtl_ui_init(&ui, m, 4711, "serve");
    for (int unit = RTL_UNIT_AUTO; unit < RTL_UNIT_COUNT; unit++)
        for (int view = RTL_VIEW_KERNELS; view < RTL_VIEW_HELP; view++)
            for (int cols = 20; cols <= 240; cols++) {
                ui.units = (enum rtl_unit)unit;
                ui.view = (enum rtl_view)view;
                ui.following = false;
                ui.selected = RTL_KERNEL_FIRST + (uint32_t)(cols & 1);
                rtl_ui_scroll_into_view(&ui, 30, cols);
                assert_true(rtl_frame_reset(&frame, 30, cols, false));
                rtl_draw(&ui, &frame);
                char *text = synth_text(&frame);
                struct rtl_number p99 = rtl_format_time(SLOW, ui.units);
                if (view == RTL_VIEW_KERNELS && cols >= 40 && !strstr(text, p99.text))
                    fail_msg("no %s at %d columns:\n%s", p99.text, cols, text);
                if (view == RTL_VIEW_DETAIL && cols >= 100 && ui.selected == RTL_KERNEL_FIRST + 1) {
                    struct rtl_number total = rtl_format_time(9 * SLOW, ui.units);
                    char *figures = strstr(text, "│ total"), *at = figures ? strstr(figures, total.text) : NULL;
                    if (!at || at > figures + strcspn(figures, "\n"))
                        fail_msg("no sum of %s beside the histogram at %d columns:\n%s", total.text, cols, text);
                }
                check_words(text, ui.units, view, cols);
                free(text);
            }
    rtl_frame_free(&frame);
}

/* Columns are as wide as the screen's for any values, and ASCII output has only ASCII. */
static void text_output_is_aligned(void **state)
{
    (void)state;
    for (int unit = RTL_UNIT_AUTO; unit < RTL_UNIT_COUNT; unit++)
        for (int ascii = 0; ascii < 2; ascii++) {
            struct rtl_options options = {.delay_ns = RTL_SEC,
                                          .filter = "",
                                          .output = RTL_OUTPUT_TEXT,
                                          .units = (enum rtl_unit)unit,
                                          .ascii = ascii};
            struct rtl_output_frame frame = {.model = m, .options = &options, .pid = 4711, .title = "serve"};
            char *text = NULL;
            size_t length = 0;
            FILE *out = open_memstream(&text, &length);
            assert_non_null(out);
            assert_true(rtl_output_text(&frame, out));
            fclose(out);
            const char *head = strstr(text, " KERNEL\n"), *fast = strstr(text, " fast\n"),
                       *slow = strstr(text, " slow\n");
            assert_true(head && fast && slow);
            int columns[3] = {0}, n = 0;
            for (const char *end = head; n < 3; end = n == 1 ? fast : slow, n++) {
                const char *begin = end;
                while (begin > text && begin[-1] != '\n')
                    begin--;
                char line[400];
                snprintf(line, sizeof line, "%.*s", (int)(end - begin), begin);
                columns[n] = rtl_text_columns(line);
            }
            assert_int_equal(columns[1], columns[0]);
            assert_int_equal(columns[2], columns[0]);
            for (size_t i = 0; ascii && i < length; i++)
                assert_true((unsigned char)text[i] < 0x80);
            struct rtl_number p99 = rtl_format_time(SLOW, options.units);
            if (ascii)
                rtl_units_ascii(p99.text);
            assert_non_null(strstr(text, p99.text));
            check_words(text, options.units, -1, ascii);
            free(text);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_number_is_cut_in_any_unit, setup, teardown),
        cmocka_unit_test_setup_teardown(text_output_is_aligned, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
