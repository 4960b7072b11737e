/* Frames of a synthetic process compared with pictures in tests/unit/golden; RTL_GOLDEN=write writes them anew. */
#ifndef RTL_TESTS_TUI_GOLDEN_H
#define RTL_TESTS_TUI_GOLDEN_H

#include "tui_synth.h"

static struct synth *p;
static struct rtl_model *m;
static struct rtl_ui ui;

static int teardown(void **state)
{
    (void)state;
    rtl_model_free(m);
    synth_free(p);
    m = NULL;
    p = NULL;
    return 0;
}

static char *draw(int rows, int cols)
{
    struct rtl_frame frame = {0};
    rtl_ui_fit(&ui, rows, cols);
    assert_true(rtl_frame_reset(&frame, rows, cols, ui.ascii));
    rtl_draw(&ui, &frame);
    char *text = synth_text(&frame);
    rtl_frame_free(&frame);
    return text;
}

static void golden(const char *name, int rows, int cols)
{
    char path[128], *got = draw(rows, cols), *wanted = calloc(1, 1 << 17);
    const char *write = getenv("RTL_GOLDEN");
    assert_non_null(wanted);
    snprintf(path, sizeof path, "tests/unit/golden/%s.txt", name);
    FILE *file = fopen(path, write && !strcmp(write, "write") ? "w" : "r");
    if (!file)
        fail_msg("%s can't be opened: unit tests run in the top folder of the sources", path);
    if (write && !strcmp(write, "write")) {
        fputs(got, file);
    } else {
        size_t n = fread(wanted, 1, (1 << 17) - 1, file);
        assert_true(n > 0);
        if (strcmp(got, wanted))
            fail_msg("%s is not what is drawn now:\n%s", path, got);
    }
    fclose(file);
    free(wanted);
    free(got);
}

static void drawn(int rows, int cols, const char *text)
{
    char *got = draw(rows, cols);
    if (!strstr(got, text))
        fail_msg("'%s' is not in\n%s", text, got);
    free(got);
}

__attribute__((unused)) static void not_drawn(int rows, int cols, const char *text)
{
    char *got = draw(rows, cols);
    if (strstr(got, text))
        fail_msg("'%s' is in\n%s", text, got);
    free(got);
}

#endif
