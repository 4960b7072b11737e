/* A drawn frame as text. */
#ifndef RTL_TESTS_FRAME_TEXT_H
#define RTL_TESTS_FRAME_TEXT_H

#include "text/text.h"
#include "tui/frame.h"

/* Write one row as UTF-8 without trailing blanks. */
static inline void frame_row_text(const struct rtl_frame *frame, int row, char *out, size_t size)
{
    size_t used = 0;
    int last = frame->cols;
    if (!size)
        return;
    while (last && frame->cells[row * frame->cols + last - 1].code == ' ')
        last--;
    for (int col = 0; col < last && used + 5 <= size; col++)
        used += rtl_utf8_encode(out + used, frame->cells[row * frame->cols + col].code);
    out[used] = 0;
}

#endif
