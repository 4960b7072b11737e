/*
 * Compare a drawn screen with text and with the pictures in tests/unit/golden.
 *
 * After an intended change, write the pictures with RTL_GOLDEN=write, then review their diff before the commit.
 */
#ifndef GOLDEN_FIXTURE_H
#define GOLDEN_FIXTURE_H

#include "tui_synth.h"

static struct rtl_ui ui; /* defined by the test that includes this file */

static inline char *draw(int rows, int cols)
{
    struct rtl_frame frame = {0};
    rtl_ui_scroll_into_view(&ui, rows, cols);
    assert_true(rtl_frame_reset(&frame, rows, cols, ui.ascii));
    rtl_draw(&ui, &frame);
    char *text = synth_text(&frame);
    rtl_frame_free(&frame);
    return text;
}

/* Compare with the picture, and free `got`. */
static inline void golden_text(const char *name, char *got)
{
    char path[128], *wanted = calloc(1, 1 << 17);
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

static inline void golden(const char *name, int rows, int cols)
{
    golden_text(name, draw(rows, cols));
}

static inline void drawn(int rows, int cols, const char *text)
{
    char *got = draw(rows, cols);
    if (!strstr(got, text))
        fail_msg("'%s' is not in\n%s", text, got);
    free(got);
}

static inline void not_drawn(int rows, int cols, const char *text)
{
    char *got = draw(rows, cols);
    if (strstr(got, text))
        fail_msg("'%s' is in\n%s", text, got);
    free(got);
}

#endif
