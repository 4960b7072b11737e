/*
 * The screen as memory: a grid of cells, each a code point with a meaning (role). Pure; what draws knows no terminal.
 *
 * Every write is clipped to the frame, so nothing that draws has to know how small a terminal can be. With `ascii`
 * every mark has a twin in ASCII. Text passed in is safe text (text/text.h).
 */
#ifndef RTL_TUI_FRAME_H
#define RTL_TUI_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * X(symbol, foreground of 8, background of 8 (-1 = the terminal's own), foreground of 256, background of 256,
 *   attributes) - attributes: N none, B bold, R reverse, D dim, U underline. They carry the meaning without colour.
 * Readable on dark and on light backgrounds. Blue and orange rather than red and green; a mark ("!", ">", "[STALE]")
 * stands beside every colour.
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
    int cursor_row, cursor_col; /* where the cursor is parked */
    bool cursor_shown;          /* only while something is typed */
    int numbers_cut;            /* texts of rtl_frame_right without room for them since the last reset: never any */
};

struct rtl_rect {
    int row, col, rows, cols;
};

/* Resizes (to at least 1x1, at most 1000x1000) and clears. False without memory: the frame is then empty. */
bool rtl_frame_reset(struct rtl_frame *frame, int rows, int cols, bool ascii);
void rtl_frame_free(struct rtl_frame *frame);

/* Writes at most `width` columns from (row, col), the last of them "…" where there is more; returns the columns
 * written. */
int rtl_frame_put(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text);
/* Likewise without a mark: what goes on elsewhere, or whose caller says that there is more. */
int rtl_frame_put_part(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text);
int rtl_frame_printf(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Right-aligned in `width` columns, which have room for it. */
void rtl_frame_right(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, const char *text);
void rtl_frame_fill(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, uint32_t code);
/* A border with a title in its upper edge; blank inside. Nothing where it has no room for both edges. */
void rtl_frame_box(struct rtl_frame *frame, struct rtl_rect at, enum rtl_role role, const char *title);
/* Changes the role of cells that are there. */
void rtl_frame_paint(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role);

/* A bar of eighths of a column ("#" in ASCII); what is more than nothing is drawn as something. */
void rtl_frame_bar(struct rtl_frame *frame, int row, int col, int width, enum rtl_role role, double value);
/* One mark of a sparkline; level 0..7, -1 for nothing. */
void rtl_frame_spark(struct rtl_frame *frame, int row, int col, enum rtl_role role, int level);

/* One row as UTF-8 without trailing blanks (tests, captures). */
void rtl_frame_row_text(const struct rtl_frame *frame, int row, char *out, size_t size);

#endif
