/*
 * The screen as memory: a grid of cells, each a code point with a meaning (role). Pure; drawing knows no terminal.
 *
 * Every write is clipped to the frame, so drawing works at any size. With `ascii` every mark has an ASCII twin. Texts
 * are safe text (text/text.h).
 */
#ifndef RTL_TUI_FRAME_H
#define RTL_TUI_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * X(symbol, foreground of 8, background of 8 (-1 = the terminal's own), foreground of 256, background of 256,
 *   attributes): N none, B bold, R reverse, D dim, U underline; used without colours.
 * The colours are readable on dark and light backgrounds: blue and orange rather than red and green. No meaning is in
 * a colour alone: there is also a mark ("!", ">", "[STALE]").
 */
#define RTL_ROLES(X)                 \
    X(NORMAL, -1, -1, -1, -1, N)     \
    X(TITLE, 6, -1, 31, -1, B)       \
    X(LABEL, -1, -1, 244, -1, N)     \
    X(VALUE, -1, -1, -1, -1, B)      \
    X(HEADER, 0, 6, 16, 110, R)      \
    X(HEADER_SORT, 7, 4, 231, 25, B) \
    X(MENU, -1, -1, -1, -1, N)       \
    X(SELECTED, 7, 4, 231, 24, R)    \
    X(BAR, 4, -1, 32, -1, N)         \
    X(BAR_HIGH, 3, -1, 172, -1, N)   \
    X(SPARK, 6, -1, 31, -1, N)       \
    X(GOOD, 6, -1, 31, -1, B)        \
    X(WARN, 3, -1, 172, -1, B)       \
    X(ALERT, 1, -1, 166, -1, R)      \
    X(DIM, -1, -1, 243, -1, D)       \
    X(KEY, 6, -1, 31, -1, B)         \
    X(STATUS, -1, -1, -1, -1, N)     \
    X(PROMPT, -1, -1, -1, -1, B)     \
    X(LOAD, 4, -1, 68, -1, N)        \
    X(LOAD_MID, 6, -1, 31, -1, N)    \
    X(LOAD_HIGH, 3, -1, 172, -1, N)  \
    X(WORSE, 3, -1, 172, -1, B)      \
    X(BETTER, 6, -1, 31, -1, N)

#define RTL_ENUM_ROLE(sym, ...) RTL_ROLE_##sym,
enum rtl_role { RTL_ROLES(RTL_ENUM_ROLE) RTL_ROLE_COUNT };
#undef RTL_ENUM_ROLE

struct rtl_cell {
    uint32_t code;
    uint8_t role;
};

struct rtl_frame {
    int rows, cols;
    bool ascii;
    struct rtl_cell *cells;
    int cursor_row, cursor_col; /* place of the terminal's cursor */
    bool cursor_shown;          /* only in a prompt */
    int numbers_cut;            /* texts that rtl_frame_right cut since the last reset; tests expect 0 */
};

struct rtl_rect {
    int row, col, rows, cols;
};

/* Resize (1x1 to 1000x1000) and clear. False without memory; the frame is then empty. */
bool rtl_frame_reset(struct rtl_frame *frame, int rows, int cols, bool ascii);
void rtl_frame_free(struct rtl_frame *frame);

/* Write at most `width` columns from (row, col); "…" ends a text that is cut. Returns the columns written. */
int rtl_frame_put(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text);
/* Likewise without "…": the caller marks the cut, or the text continues elsewhere. */
int rtl_frame_put_part(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text);
int rtl_frame_printf(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Write right-aligned in `width` columns; the text must fit. */
void rtl_frame_right(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text);
void rtl_frame_fill(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, uint32_t code);
/* Draw a border with a title in its upper edge, blank inside; nothing below 2x2 cells. */
void rtl_frame_box(struct rtl_frame *frame, struct rtl_rect at, enum rtl_role role, const char *title);
/* Change the role of cells. */
void rtl_frame_paint(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role);

/* Draw a bar in eighths of a column ("#" in ASCII); values above 0 get at least one. */
void rtl_frame_bar(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, double value);
/* Draw one mark of a sparkline; level 0 to 7, -1 for none. */
void rtl_frame_spark(struct rtl_frame *frame, int row, int col, enum rtl_role role, int level);

#endif
