/*
 * The waits of a kernel, hottest first: share of its waves' cycles, cycles of a pass, and the instructions before the
 * wait under the cursor.
 */
#include "tui/draw_views.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Widths. The text of the wait follows the numbers; on narrow terminals without its common beginning. */
enum { SHARE = 8, COUNT = 8, PLACE = 10, NARROW = 76, LEAST_TEXT = 12, BESIDE_FROM = 104, WAIT_TEXT = 31 };

/* --- sums --- */

static void draw_sums(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect *at, const struct rtl_row *row)
{
    const struct rtl_stall_costs *s = &ui->stalls->sum;
    uint64_t mean = s->recorded ? s->duration_total_ns / s->recorded : 0;
    char others[64];
    struct rtl_draw_fact facts[6];
    int count = 0;
#define FACT(name, ...) (facts[count].label = (name), snprintf(facts[count++].text, sizeof facts->text, __VA_ARGS__))
    FACT("waits", "%s of %s timed", rtl_format_count(s->timed).text, rtl_format_count(s->waits).text);
    if (*ui->stalls->no_lines)
        FACT("", "no instructions: %s", ui->stalls->no_lines);
    if (s->clock_passes) {
        double clock = rtl_probe_clock_cycles(s);
        FACT("clock", "%s cyc", rtl_format_count(clock < 1e18 ? (uint64_t)(clock + 0.5) : UINT64_MAX).text);
    }
    FACT("waves", "%s of %s", rtl_format_count(s->waves).text, rtl_format_count(s->waves_expected).text);
    if (mean)
        FACT("mean", "%s", rtl_format_time(mean, ui->units).text);
    if (rtl_draw_others(ui, row, mean, others, sizeof others))
        FACT("others", "%s", others);
#undef FACT
    int lines = rtl_draw_facts(frame, *at, facts, count, at->rows >= 9 ? 2 : 1);
    lines = lines ? lines : 1;
    at->row += lines, at->rows -= lines;
}

/* --- waits --- */

struct stall_columns {
    int cycles, passes, place, text; /* columns; -1: hidden */
    bool short_text, beside;
};

static struct stall_columns place_columns(int cols)
{
    struct stall_columns t = {.short_text = cols < NARROW, .beside = cols >= BESIDE_FROM};
    int col = 1 + SHARE;
    t.cycles = col;
    col += COUNT;
    t.passes = cols >= col + COUNT + PLACE + LEAST_TEXT ? col : -1;
    col += t.passes < 0 ? 0 : COUNT;
    t.place = cols >= col + PLACE + LEAST_TEXT ? col + 1 : -1;
    col += t.place < 0 ? 0 : PLACE;
    if (cols < col + LEAST_TEXT) {
        t.cycles = -1;
        col -= COUNT;
    }
    t.text = col + 1;
    return t;
}

static int count_before(const struct rtl_probe_stall *stall)
{
    return stall->before && stall->before->count <= RTL_STALL_BEFORE ? stall->before->count : 0;
}

static void draw_wait(struct rtl_frame *frame, int line, int cols, const struct stall_columns *t,
                      const struct rtl_probe_stall *w)
{
    char text[40];
    const struct rtl_probe_wait_text wait = rtl_probe_wait_text(w->place.word);
    enum rtl_role role = w->passes ? RTL_ROLE_NORMAL : RTL_ROLE_DIM;
    snprintf(text, sizeof text, "%.2f%%", w->share * 100);
    if (cols > SHARE)
        rtl_frame_right(frame, line, 1, SHARE - 1, w->passes ? RTL_ROLE_VALUE : RTL_ROLE_DIM, w->passes ? text : "-");
    if (t->cycles >= 0)
        rtl_frame_right(frame, line, t->cycles, COUNT - 1, role,
                        w->passes ? rtl_format_count(w->mean < 1e18 ? (uint64_t)(w->mean + 0.5) : UINT64_MAX).text
                                  : "-");
    if (t->passes >= 0)
        rtl_frame_right(frame, line, t->passes, COUNT - 1, role, rtl_format_count(w->passes).text);
    if (t->place >= 0)
        rtl_frame_printf(frame, line, t->place, PLACE - 1, RTL_ROLE_DIM, "+0x%" PRIx32, w->place.at);
    const char *rest = strchr(wait.text, ' ');
    rtl_frame_put(frame, line, t->text, cols - t->text, role, !t->short_text ? wait.text : rest ? rest + 1 : "nothing");
    if (t->beside && count_before(w))
        rtl_frame_printf(frame, line, t->text + WAIT_TEXT, cols - t->text - WAIT_TEXT, RTL_ROLE_DIM, "after %s",
                         w->before->text[count_before(w) - 1]);
}

/* Return the lines of wait i. If not `all` waits fit with their instructions, only the one under the cursor has them.
 */
static int lines_of(const struct rtl_stall_costs *s, int i, int at, bool all, int rows)
{
    int before = all || i == at ? count_before(&s->wait[i]) : 0;
    return 1 + (before < rows ? before : rows - 1);
}

static bool all_have_room(const struct rtl_stall_costs *s, int rows)
{
    int lines = 0;
    for (uint32_t i = 0; i < s->timed && lines <= rows; i++)
        lines += 1 + count_before(&s->wait[i]);
    return lines <= rows;
}

void rtl_draw_stalls(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row)
{
    const struct rtl_stall_costs *s = &ui->stalls->sum;
    struct stall_columns t = place_columns(at.cols);
    int cursor = ui->stall_at >= 0 && (uint32_t)ui->stall_at < s->timed ? ui->stall_at : 0, head = -1;
    if (at.rows > 1)
        draw_sums(ui, frame, &at, row);
    if (at.rows > 1) {
        head = at.row;
        if (at.cols > SHARE)
            rtl_frame_right(frame, head, 1, SHARE - 1, RTL_ROLE_LABEL, "%WAVES");
        if (t.cycles >= 0)
            rtl_frame_right(frame, head, t.cycles, COUNT - 1, RTL_ROLE_LABEL, "CYCLES");
        if (t.passes >= 0)
            rtl_frame_right(frame, head, t.passes, COUNT - 1, RTL_ROLE_LABEL, "PASSES");
        if (t.place >= 0)
            rtl_frame_put(frame, head, t.place, PLACE, RTL_ROLE_LABEL, "AT");
        rtl_frame_put(frame, head, t.text, at.cols - t.text, RTL_ROLE_LABEL, t.short_text ? "WAITS FOR" : "WAIT");
        at.row++, at.rows--;
    }
    if (at.rows < 1)
        return;
    bool all = all_have_room(s, at.rows);
    int first = cursor, used = lines_of(s, cursor, cursor, all, at.rows);
    while (first && used + lines_of(s, first - 1, cursor, all, at.rows) <= at.rows)
        used += lines_of(s, --first, cursor, all, at.rows);
    int i = first, line = at.row, end = at.row + at.rows;
    for (; (uint32_t)i < s->timed && line < end; i++) {
        int before = lines_of(s, i, cursor, all, at.rows) - 1, there = count_before(&s->wait[i]);
        if (line + before >= end)
            break;
        for (int n = there - before; n < there; n++, line++)
            rtl_frame_put(frame, line, t.text, at.cols - t.text, RTL_ROLE_DIM, s->wait[i].before->text[n]);
        draw_wait(frame, line, at.cols, &t, &s->wait[i]);
        if (i == cursor)
            rtl_draw_cursor(frame, line, at.cols);
        line++;
    }
    char of[48];
    snprintf(of, sizeof of, " %d-%d of %" PRIu32, first + 1, i, s->timed);
    int columns = (int)strlen(of);
    if (head >= 0 && (uint32_t)(i - first) < s->timed && at.cols >= t.text + 10 + columns)
        rtl_frame_right(frame, head, at.cols - columns, columns, RTL_ROLE_DIM, of);
}
