/* The cell buffer. See frame.h. */
#include "tui/frame.h"
#include "text/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t spark_blocks[8] = {0x2581, 0x2582, 0x2583, 0x2584, 0x2585, 0x2586, 0x2587, 0x2588};
static const char spark_ascii[8] = {'_', '.', '-', '=', '+', '*', '#', '@'};

bool rtl_frame_reset(struct rtl_frame *frame, int rows, int cols, bool ascii)
{
    rows = rows < 1 ? 1 : rows > 1000 ? 1000 : rows;
    cols = cols < 1 ? 1 : cols > 1000 ? 1000 : cols;
    if (!frame->cells || rows != frame->rows || cols != frame->cols) {
        free(frame->cells);
        frame->cells = malloc((size_t)rows * (size_t)cols * sizeof *frame->cells);
        frame->rows = frame->cells ? rows : 0;
        frame->cols = frame->cells ? cols : 0;
        if (!frame->cells)
            return false;
    }
    frame->ascii = ascii;
    frame->cursor_row = frame->cursor_col = 0;
    frame->cursor_shown = false;
    frame->numbers_cut = 0;
    for (size_t i = 0; i < (size_t)rows * (size_t)cols; i++)
        frame->cells[i] = (struct rtl_cell){.code = ' ', .role = RTL_ROLE_NORMAL};
    return true;
}

void rtl_frame_free(struct rtl_frame *frame)
{
    free(frame->cells);
    memset(frame, 0, sizeof *frame);
}

/* Return the ASCII twin of a character that rtl-top draws; '?' for others. */
static uint32_t ascii_twin(uint32_t code)
{
    if (code < 0x80)
        return code;
    for (int i = 0; i < 8; i++)
        if (code == spark_blocks[i])
            return (uint32_t)spark_ascii[i];
    if (code >= 0x2588 && code <= 0x258f)
        return '#';
    if (code == 0xb5) /* µ */
        return 'u';
    if (code >= 0x250c && code <= 0x253c)
        return '+';
    return code == 0x2502 ? '|' : code == 0x2500 ? '-' : code == 0x2026 ? '.' : '?';
}

static void set_cell(struct rtl_frame *frame, int row, int col, enum rtl_role role, uint32_t code)
{
    if (row < 0 || row >= frame->rows || col < 0 || col >= frame->cols)
        return;
    frame->cells[row * frame->cols + col] =
        (struct rtl_cell){.code = frame->ascii ? ascii_twin(code) : code, .role = (uint8_t)role};
}

/* Safe text and rtl-top's own marks may be drawn; messages also contain names of files and errors of libraries. */
static bool may_stand(uint32_t code)
{
    return rtl_text_code_is_safe(code) || code == 0x2026 || (code >= 0x2500 && code < 0x25a0);
}

/* `marked`: the last column shows that text is cut. */
static int put_text(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text,
                    bool marked)
{
    size_t left = strlen(text);
    int used = 0, room = width < frame->cols - col ? width : frame->cols - col;
    while (left && used < room) {
        uint32_t code = 0;
        size_t n = rtl_utf8_decode(text, left, &code);
        if (!n || !may_stand(code)) {
            code = '?';
            n = n ? n : 1;
        }
        if (marked && used == room - 1 && left > n)
            code = 0x2026;
        set_cell(frame, row, col + used, role, code);
        used++;
        text += n;
        left -= n;
    }
    return used;
}

int rtl_frame_put(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text)
{
    return put_text(frame, row, col, width, role, text, true);
}

int rtl_frame_put_part(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text)
{
    return put_text(frame, row, col, width, role, text, false);
}

int rtl_frame_printf(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return rtl_frame_put(frame, row, col, width, role, text);
}

void rtl_frame_right(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text)
{
    int columns = rtl_text_columns(text);
    int pad = columns < width ? width - columns : 0;
    frame->numbers_cut += columns > width || col + width > frame->cols;
    rtl_frame_put(frame, row, col + pad, width - pad, role, text);
}

void rtl_frame_fill(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, uint32_t code)
{
    for (int i = 0; i < width && col + i < frame->cols; i++)
        set_cell(frame, row, col + i, role, code);
}

void rtl_frame_box(struct rtl_frame *frame, struct rtl_rect at, enum rtl_role role, const char *title)
{
    int right = at.col + at.cols - 1, bottom = at.row + at.rows - 1;
    if (at.rows < 2 || at.cols < 2)
        return;
    for (int row = at.row; row <= bottom; row++) {
        bool edge = row == at.row || row == bottom;
        rtl_frame_fill(frame, row, at.col, at.cols, role, edge ? 0x2500 : ' ');
        set_cell(frame, row, at.col, role, row == at.row ? 0x250c : row == bottom ? 0x2514 : 0x2502);
        set_cell(frame, row, right, role, row == at.row ? 0x2510 : row == bottom ? 0x2518 : 0x2502);
    }
    rtl_frame_put(frame, at.row, at.col + 2, at.cols - 4, role, title);
}

void rtl_frame_paint(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role)
{
    for (int i = 0; i < width; i++)
        if (row >= 0 && row < frame->rows && col + i >= 0 && col + i < frame->cols)
            frame->cells[row * frame->cols + col + i].role = (uint8_t)role;
}

void rtl_frame_bar(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, double value)
{
    if (width < 1)
        return;
    value = value > 0 ? fmin(value, 1) : 0;
    int eighths = (int)(value * width * 8 + 0.5);
    if (value > 0 && !eighths)
        eighths = 1;
    if (frame->ascii)
        eighths = (eighths + 7) / 8 * 8;
    for (int i = 0; i < width && eighths > 0; i++, eighths -= 8)
        set_cell(frame, row, col + i, role, frame->ascii ? '#' : eighths >= 8 ? 0x2588 : 0x2590u - (uint32_t)eighths);
}

void rtl_frame_spark(struct rtl_frame *frame, int row, int col, enum rtl_role role, int level)
{
    if (level >= 0)
        set_cell(frame, row, col, role, frame->ascii ? (uint32_t)spark_ascii[level & 7] : spark_blocks[level & 7]);
}
