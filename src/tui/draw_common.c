/* Pieces that several views draw: header, coverage, status and key line, names, cells. See draw_common.h. */
#include "tui/draw_common.h"
#include "model/coverage.h"
#include "model/cells.h"
#include "model/model_gpus.h"
#include "model/model_range.h"
#include "model/probe_figures.h"
#include "text/text.h"
#include "tui/process_list.h"
#include "watch/restart.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Count the processes whose library has stopped writing. */
static unsigned count_stale(const struct rtl_model *m)
{
    const struct rtl_parts *parts = m->latest ? m->latest->snapshot.parts : NULL;
    unsigned stale = 0;
    for (uint32_t i = 0; parts && i < parts->member_count; i++)
        stale += parts->members[i].stale_ns != 0;
    return stale;
}

/* Write the state in brackets; returns its colour. */
static enum rtl_role state_text(const struct rtl_ui *ui, char *out, size_t size)
{
    const struct rtl_model *m = ui->model;
    enum rtl_role role = RTL_ROLE_ALERT;
    if (m->state == RTL_TARGET_EXITED) {
        snprintf(out, size, "[EXITED]");
    } else if (m->damaged) {
        snprintf(out, size, "[DAMAGED]");
    } else if (ui->loading || ui->replay || ui->paused) {
        uint64_t age = ui->now_mono_ns > ui->paused_ns ? ui->now_mono_ns - ui->paused_ns : 0;
        role = RTL_ROLE_PROMPT;
        if (ui->loading)
            snprintf(out, size, "[LOADING %u/%u]", ui->loaded, ui->loaded_of);
        else if (!ui->replay)
            snprintf(out, size, "[PAUSED %s]", rtl_format_age(age).text);
        else if (ui->frame + 1 == ui->frames || ui->paused)
            snprintf(out, size, "[%s %u/%u]", ui->frame + 1 == ui->frames ? "END" : "PAUSED", ui->frame + 1,
                     ui->frames);
        else
            snprintf(out, size, "[REPLAY %gx %u/%u]", ui->speed, ui->frame + 1, ui->frames);
    } else if (m->state == RTL_TARGET_STALE) {
        snprintf(out, size, "[STALE %llus]", (unsigned long long)(m->stale_ns / RTL_SEC));
    } else if (count_stale(m)) {
        snprintf(out, size, "[%u STALE]", count_stale(m));
    } else if (m->latest && m->latest->snapshot.state != RTL_STATE_LIVE) {
        snprintf(out, size, m->latest->snapshot.state == RTL_STATE_UNLOADED ? "[UNLOADED]" : "[STARTING]");
        role = RTL_ROLE_PROMPT;
    } else {
        snprintf(out, size, "[LIVE]");
        role = RTL_ROLE_GOOD;
    }
    return role;
}

enum {
    WINDOW_FROM = 72
}; /* from this width on the header has the window; on narrower terminals the status line has it */

static void window_text(const struct rtl_model *m, char *out, size_t size)
{
    char span[32];
    snprintf(span, sizeof span, "%s", rtl_format_interval(m->span_ns).text);
    if (m->window_ns == RTL_WINDOW_ALL || !m->base)
        snprintf(out, size, "%s %s", m->zero ? "since zero" : "all", rtl_format_age(m->span_ns).text);
    else if (m->window_ns == RTL_WINDOW_INTERVAL)
        snprintf(out, size, "%s", span);
    else if (m->span_ns < m->window_ns - m->window_ns / 20)
        snprintf(out, size, "%s of %s", span, rtl_format_interval(m->window_ns).text);
    else if (m->span_ns <= m->window_ns + m->window_ns / 8) /* the window slides in steps: show a steady figure */
        snprintf(out, size, "%s", rtl_format_interval(m->window_ns).text);
    else
        snprintf(out, size, "%s", span);
}

/* Draw a text that ends before column `right`; returns its first column. */
static int put_left_of(struct rtl_frame *frame, int row, int right, enum rtl_role role, const char *text)
{
    int columns = rtl_text_columns(text);
    rtl_frame_put(frame, row, right - columns, columns, role, text);
    return right - columns;
}

void rtl_draw_header(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const char *title)
{
    char state[48], clock[16] = "", pid[48];
    time_t now = (time_t)ui->now_real_s;
    struct tm local;
    enum rtl_role role = state_text(ui, state, sizeof state);
    if (localtime_r(&now, &local))
        strftime(clock, sizeof clock, "%H:%M:%S", &local);
    const struct rtl_snapshot *s = ui->model->latest ? &ui->model->latest->snapshot : NULL;
    if (s && s->parts) /* the title has their number */
        *pid = 0;
    else if (s && s->pid && s->pid != (uint64_t)ui->pid) /* the pid inside its container differs */
        snprintf(pid, sizeof pid, "pid %d (inside %llu)", (int)ui->pid, (unsigned long long)s->pid);
    else
        snprintf(pid, sizeof pid, "pid %d", (int)ui->pid);
    int right = at.cols, least = at.cols >= 40 ? 20 : 0;
    if (at.cols >= WINDOW_FROM && ui->model->latest) {
        char window[64], text[72];
        window_text(ui->model, window, sizeof window);
        snprintf(text, sizeof text, "win %s", window);
        right = put_left_of(frame, at.row, right, RTL_ROLE_LABEL, text) - 1;
    }
    if (at.cols >= 64)
        right = put_left_of(frame, at.row, right, RTL_ROLE_LABEL, clock) - 1;
    right = put_left_of(frame, at.row, right, role, state);
    if (ui->record[0]) /* the status line names the file */
        right = put_left_of(frame, at.row, right - 1, RTL_ROLE_PROMPT, RTL_RECORD_MARK);
    if (at.cols >= 56)
        right = put_left_of(frame, at.row, right - 1, RTL_ROLE_LABEL, rtl_format_interval(ui->interval_ns).text);
    if (*pid && right - 2 - (int)strlen(pid) >= least)
        right = put_left_of(frame, at.row, right - 2, RTL_ROLE_VALUE, pid);
    int col = 0;
    if (at.cols >= 40)
        col = rtl_frame_put(frame, at.row, 0, right, RTL_ROLE_TITLE, "rtl-top") + 2;
    char cut[256];
    if (s && s->parts) /* the number of processes comes first: cut at the end */
        snprintf(cut, sizeof cut, "%s", title);
    else
        rtl_text_cut(cut, sizeof cut, title, right - col - 2, 0, frame->ascii);
    rtl_frame_put(frame, at.row, col, right - col - 2, RTL_ROLE_VALUE, cut);
}

void rtl_draw_coverage(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at)
{
    const struct rtl_model *m = ui->model;
    char text[1024], paths[1024], age[48] = "";
    bool parked;
    uint64_t ns = rtl_model_write_age(m, &parked);
    if (m->state == RTL_TARGET_STALE)
        snprintf(age, sizeof age, "  STALE %llus", (unsigned long long)(m->stale_ns / RTL_SEC));
    else if (!m->latest->snapshot.heartbeat_mono_ns)
        snprintf(age, sizeof age, "  nothing written yet");
    else if (!parked && rtl_model_in_flight(m) && ns >= RTL_SEC) /* the library should have written since */
        snprintf(age, sizeof age, "  age %s", rtl_format_interval(ns).text);
    int age_columns = (int)strlen(age), room = at.cols - age_columns;
    bool whole = rtl_coverage_line(m, room, text, sizeof text);
    if (!whole && room < at.cols && at.cols < 60) { /* too narrow for both: the coverage matters more */
        room = at.cols;
        whole = rtl_coverage_line(m, room, text, sizeof text);
    }
    rtl_queue_paths_text(m, paths, sizeof paths);
    /* queue paths only if they fit completely */
    if (whole && *paths && rtl_text_columns(text) + 2 + rtl_text_columns(paths) <= room)
        rtl_text_append(text, sizeof text, "; %s", paths);
    const struct rtl_snapshot *s = &m->latest->snapshot;
    const uint32_t uncounted = RTL_NOTE_QUEUE_NOT_INTERCEPTED | RTL_NOTE_PACKETS_UNSEEN;
    bool lost = m->window_lost || s->queues_refused || s->notes & uncounted;
    rtl_frame_put(frame, at.row, 0, room, lost ? RTL_ROLE_WARN : RTL_ROLE_LABEL, text);
    if (room < at.cols)
        rtl_frame_right(frame, at.row, room, age_columns, m->state == RTL_TARGET_STALE ? RTL_ROLE_ALERT : RTL_ROLE_DIM,
                        age);
}

bool rtl_draw_piece(struct rtl_frame *frame, struct rtl_rect at, int *col, enum rtl_role role, const char *label,
                    const char *value)
{
    int gap = *col ? at.cols >= 60 ? 2 : 1 : 0, columns = rtl_text_columns(value);
    if (!columns)
        return true;
    if (*label)
        columns += rtl_text_columns(label) + 1;
    if (*col + gap + columns > at.cols)
        return false;
    *col += gap;
    if (*label)
        *col += rtl_frame_put(frame, at.row, at.col + *col, at.cols, RTL_ROLE_LABEL, label) + 1;
    *col += rtl_frame_put(frame, at.row, at.col + *col, at.cols, role, value);
    return true;
}

struct rtl_number rtl_draw_time(const struct rtl_ui *ui, bool measured, uint64_t ns)
{
    return measured ? rtl_format_time(ns, ui->units) : (struct rtl_number){RTL_NONE};
}

int rtl_draw_facts(struct rtl_frame *frame, struct rtl_rect at, const struct rtl_draw_fact *facts, int count, int lines)
{
    int line = 0, col = 0;
    for (int i = 0; i < count && line < lines; i++) {
        struct rtl_rect row = {at.row + line, at.col, 1, at.cols};
        if (rtl_draw_piece(frame, row, &col, RTL_ROLE_VALUE, facts[i].label, facts[i].text) || !col)
            continue;
        line++;
        col = 0;
        i--; /* draw it in the next line */
    }
    return line + (col > 0 && line < lines);
}

bool rtl_draw_others(const struct rtl_ui *ui, const struct rtl_row *row, uint64_t probed_ns, char *out, size_t size)
{
    bool meanwhile = !ui->replay && ui->others_ns;
    uint64_t ns = meanwhile ? ui->others_ns : rtl_probe_others_ns(NULL, &row->kernel->histogram);
    if (!ns || !probed_ns)
        return false;
    *out = 0;
    rtl_text_append(out, size, "%s%s: x%.2f", rtl_format_time(ns, ui->units).text, meanwhile ? "" : " since start",
                    (double)probed_ns / (double)ns);
    return true;
}

/* Append safe text, cut at its end to so many columns. */
static void append_cut(char *out, size_t size, const char *text, int columns, bool ascii)
{
    const char *mark = rtl_text_columns(text) <= columns ? "" : ascii ? ".." : "\u2026";
    size_t shown = *mark ? rtl_text_offset(text, columns - rtl_text_columns(mark)) : strlen(text);
    rtl_text_append(out, size, "%.*s%s", (int)shown, text, mark);
}

/* Append the caption, or how to trace an observed process, in the rest of `cols` columns. */
static void append_note(const struct rtl_ui *ui, int cols, char *out, size_t size)
{
    enum { COMMAND_LEAST = 24 };
    static const char before[] = "for exact times: ";
    char whole[48];
    int room = cols - rtl_text_columns(out);
    if (ui->caption[0]) {
        append_cut(out, size, ui->caption, room, ui->ascii);
    } else if (ui->restart && ui->model->latest && ui->model->latest->snapshot.mode == RTL_MODE_OBSERVED) {
        room -= (int)strlen(before) + snprintf(whole, sizeof whole, "rtl-top check -p %d", (int)ui->restart->pid) + 3;
        rtl_text_append(out, size, "%s", before);
        if (room >= COMMAND_LEAST)
            append_cut(out, size, ui->restart->brief, room, ui->ascii);
        rtl_text_append(out, size, room >= COMMAND_LEAST ? " (%s)" : "%s", whole);
    } else {
        return;
    }
    rtl_text_append(out, size, " | ");
}

static void status_text(const struct rtl_ui *ui, int cols, char *out, size_t size)
{
    const struct rtl_model *m = ui->model;
    char window[64];
    *out = 0;
    window_text(m, window, sizeof window);
    if (ui->record[0])
        rtl_text_append(out, size, "rec %s | ", ui->record);
    if (ui->file[0])
        rtl_text_append(out, size, "of %s | ", ui->file);
    if (ui->probe.runs && !ui->replay && ui->probe.every) /* the pane shows recorded probes */
        rtl_text_append(out, size, "probed: 1 in %u | ", (unsigned)ui->probe.every);
    else if (ui->probe.runs && !ui->replay)
        rtl_text_append(out, size, "probed | ");
    if (m->range && (ui->view == RTL_VIEW_KERNELS || ui->view == RTL_VIEW_DETAIL)) {
        char range[1024];
        rtl_range_text(m->range, range, sizeof range);
        rtl_text_append(out, size, "timed in range %s | ", range);
    }
    if (ui->view == RTL_VIEW_KERNELS && m->filter[0])
        rtl_text_append(out, size, "filter %s | ", m->filter);
    append_note(ui, cols, out, size);
    if (ui->view == RTL_VIEW_KERNELS) {
        bool ascending = (rtl_columns[m->sort].order == RTL_ORDER_ASC) != m->reverse;
        rtl_text_append(out, size, "sort %s %s%s | ", rtl_columns[m->sort].header, ascending ? "^" : "v",
                        rtl_model_order_is_frozen(m) ? " held" : "");
    }
    if (ui->view == RTL_VIEW_PROCESSES && ui->process_sorted)
        rtl_text_append(out, size, "sort %s%s | ", rtl_process_columns[ui->process_sort].header,
                        ui->process_reverse ? ", reversed" : "");
    if (cols < WINDOW_FROM)
        rtl_text_append(out, size, "win %s | ", window);
    /* narrow screens have no column of totals: show it only after zero was pressed */
    if (m->window_ns != RTL_WINDOW_ALL && (m->zero || cols >= 100))
        rtl_text_append(out, size, "since %s %s | ", m->zero ? "zero" : "start",
                        rtl_format_age(rtl_model_since(m)).text);
    if (ui->view == RTL_VIEW_KERNELS) {
        if (ui->name_left)
            rtl_text_append(out, size, "names from column %d | ", ui->name_left + 1);
        if (!m->filter[0])
            rtl_text_append(out, size, "filter none | ");
        if (m->hide_idle)
            rtl_text_append(out, size, "idle hidden | ");
    }
    if (ui->view == RTL_VIEW_KERNELS || ui->view == RTL_VIEW_DETAIL || ui->view == RTL_VIEW_HELP)
        rtl_text_append(out, size, "names %s | ", rtl_name_form_name(ui->names));
    rtl_text_append(out, size, "units %s", rtl_unit_name(ui->units));
    if (ui->log[0])
        rtl_text_append(out, size, " | output %s", ui->log);
}

void rtl_draw_status(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at)
{
    static const struct {
        const char *wide, *narrow;
    } questions[] = {
        [RTL_PROMPT_FIND] = {"find: ", "find: "},
        [RTL_PROMPT_FILTER] = {"filter: ", "filter: "},
        [RTL_PROMPT_INTERVAL] = {"interval in seconds: ", "seconds: "},
        [RTL_PROMPT_TIME] = {"time (14:02:31, +30, -5m): ", "time: "},
        [RTL_PROMPT_SORT] = {"sort by: Up and Down choose, Enter sorts, Esc leaves", "Enter sorts, Esc leaves"},
        [RTL_PROMPT_MODE] = {"mode: Up and Down choose, Enter requests it, Esc leaves",
                             "Enter requests it, Esc leaves"},
        [RTL_PROMPT_COLUMNS] = {"columns: Space shows or hides, < > move, a automatic, Enter, Esc undoes",
                                "Space: on/off, < > move, a: auto, Enter"},
        [RTL_PROMPT_RECORD] = {"record into (Enter begins, Esc leaves): ", "record into: "},
        [RTL_PROMPT_SNAPSHOT] = {"add a snapshot to (Enter writes, Esc leaves): ", "snapshot to: "},
        [RTL_PROMPT_ASK] = {"y or n; Enter chooses, Esc leaves", "y or n"},
        [RTL_PROMPT_LEAVE] = {"Enter chooses, Esc stays; its output: ", "Enter chooses, Esc stays"}};
    if (ui->prompt != RTL_PROMPT_NONE) {
        /* without a status line the question covers the last line */
        int row = at.rows ? at.row : frame->rows - 1;
        rtl_frame_fill(frame, row, 0, frame->cols, RTL_ROLE_PROMPT, ' ');
        bool narrow = rtl_text_columns(questions[ui->prompt].wide) > frame->cols - 1;
        int col = rtl_frame_put(frame, row, 0, frame->cols, RTL_ROLE_PROMPT,
                                narrow ? questions[ui->prompt].narrow : questions[ui->prompt].wide);
        if (ui->prompt == RTL_PROMPT_LEAVE && !narrow)
            rtl_frame_put(frame, row, col, frame->cols - col, RTL_ROLE_PROMPT, ui->log);
        if (!rtl_ui_takes_text(ui))
            return;
        int columns = rtl_text_columns(ui->typed), room = frame->cols - col - 1;
        const char *text =
            columns > room && room > 0 ? ui->typed + rtl_text_offset(ui->typed, columns - room) : ui->typed;
        col += rtl_frame_put(frame, row, col, room, RTL_ROLE_PROMPT, text);
        frame->cursor_row = row;
        frame->cursor_col = col < frame->cols ? col : frame->cols - 1;
        frame->cursor_shown = true;
        return;
    }
    if (!at.rows)
        return;
    if (ui->message[0] && ui->now_mono_ns - ui->message_ns < RTL_MESSAGE_NS) {
        rtl_frame_put(frame, at.row, 0, at.cols, RTL_ROLE_PROMPT, ui->message);
    } else if (ui->model->state == RTL_TARGET_EXITED && !ui->replay) {
        rtl_frame_printf(frame, at.row, 0, at.cols, RTL_ROLE_PROMPT,
                         "process %d has exited: this is its last state; q quits", (int)ui->pid);
    } else if (ui->model->damaged) {
        rtl_frame_put(frame, at.row, 0, at.cols, RTL_ROLE_PROMPT,
                      "the segment can no longer be read: this is the last good state; q quits");
    } else {
        char text[512];
        status_text(ui, at.cols, text, sizeof text);
        while (rtl_text_columns(text) > at.cols && strstr(text, " | ")) { /* drop the last pieces until the line fits */
            char *last = text;
            for (char *next = text; (next = strstr(next, " | ")); next++)
                last = next;
            *last = 0;
        }
        rtl_frame_put(frame, at.row, 0, at.cols, ui->caption[0] ? RTL_ROLE_TITLE : RTL_ROLE_STATUS, text);
    }
}

void rtl_draw_name(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at, const struct rtl_row *row)
{
    if (!at.rows || !row)
        return;
    const char *name = rtl_model_form(ui->model, row, ui->names == RTL_NAME_MANGLED ? RTL_NAME_MANGLED : RTL_NAME_FULL);
    int width = at.cols - 1;
    for (int i = 0; i < at.rows; i++) {
        size_t from = rtl_text_offset(name, i * width);
        if (i == at.rows - 1 && rtl_text_columns(name + from) > width) {
            char rest[4096];
            rtl_text_cut(rest, sizeof rest, name + from, width, 0, frame->ascii);
            rtl_frame_put(frame, at.row + i, at.col, width, RTL_ROLE_VALUE, rest);
        } else {
            rtl_frame_put_part(frame, at.row + i, at.col, width, RTL_ROLE_VALUE, name + from);
        }
    }
}

void rtl_draw_cursor(struct rtl_frame *frame, int line, int cols)
{
    rtl_frame_put(frame, line, 0, 1, RTL_ROLE_SELECTED, ">");
    rtl_frame_paint(frame, line, 0, cols, RTL_ROLE_SELECTED);
    frame->cursor_row = line;
    frame->cursor_col = 0;
}

void rtl_draw_name_cell(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int col, int width,
                        enum rtl_role role, const struct rtl_row *row)
{
    if (row->kernels) {
        rtl_frame_put(frame, line, col, width, RTL_ROLE_TITLE,
                      rtl_model_name(ui->model, row, ui->names, width, frame->ascii));
        return;
    }
    if (ui->model->families) {
        enum { INDENT = 2 };
        col += INDENT;
        width -= INDENT;
    }
    if (rtl_ui_is_probed(ui, row) && width > 2 * (int)strlen(RTL_PROBED_MARK)) {
        int mark = rtl_frame_put(frame, line, col, width, RTL_ROLE_VALUE, RTL_PROBED_MARK);
        col += mark;
        width -= mark;
    }
    if (!ui->name_left) {
        rtl_frame_put(frame, line, col, width, role, rtl_model_name(ui->model, row, ui->names, width, frame->ascii));
        return;
    }
    /* scroll the complete name, with marks at cut ends: the short form leaves out the middle */
    const char *name = rtl_model_name(ui->model, row, ui->names, RTL_NAMES_WHOLE, frame->ascii);
    const char *rest = name + rtl_text_offset(name, ui->name_left);
    rtl_frame_put_part(frame, line, col, width, role, rest);
    if (*name)
        rtl_frame_put(frame, line, col, 1, RTL_ROLE_DIM, "<");
    if (rtl_text_columns(rest) > width)
        rtl_frame_put(frame, line, col + width - 1, 1, RTL_ROLE_DIM, ">");
}

void rtl_draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, struct rtl_rect at)
{
    const struct rtl_model *m = ui->model;
    char state[48], busy[24] = "", p99[32] = "";
    enum rtl_role role = state_text(ui, state, sizeof state);
    bool quiet = role == RTL_ROLE_GOOD;
    int col = 0;
    if (!quiet)
        rtl_draw_piece(frame, at, &col, role, "", state);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_PROMPT, "", ui->record[0] ? RTL_RECORD_MARK : "");
    if (m->busy >= 0)
        snprintf(busy, sizeof busy, "%s%.0f%%", rtl_model_busy_is_bound(m) ? "<" : "", m->busy * 100);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_VALUE, "", busy);
    snprintf(state, sizeof state, "%s/s", rtl_format_rate(m->rate).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_NORMAL, "", state);
    if (m->worst)
        snprintf(p99, sizeof p99, "%s", rtl_format_time(m->worst->p99, ui->units).text);
    rtl_draw_piece(frame, at, &col, RTL_ROLE_NORMAL, at.cols < 24 ? "" : "p99", p99);
    int row = 1;
    for (uint32_t i = 0; i < m->gpu_count && row == 1 && at.rows > 3; i++) {
        const struct rtl_gpu_row *gpu = &m->gpus[i];
        bool loud = gpu->verdict == RTL_VERDICT_HOST_LATE || gpu->verdict == RTL_VERDICT_WAITING ||
                    gpu->verdict == RTL_VERDICT_NO_END || gpu->verdict == RTL_VERDICT_FAILED;
        if (loud)
            rtl_frame_printf(frame, at.row + row++, 0, at.cols, RTL_ROLE_NORMAL, "G%u %s", gpu->agent->gpu,
                             rtl_verdict_words(gpu->verdict).words);
    }
    for (uint32_t i = 0; ui->view != RTL_VIEW_HELP && i < m->shown && row < at.rows && at.cols >= 14; i++, row++) {
        const struct rtl_row *kernel = &m->rows[m->order[i]];
        char share[48];
        bool measured = rtl_cell_text(m, kernel, RTL_COLUMN_TIME, ui->units, share, sizeof share);
        rtl_frame_right(frame, at.row + row, 0, 4, measured ? RTL_ROLE_VALUE : RTL_ROLE_DIM, share);
        rtl_frame_put(frame, at.row + row, 5, at.cols - 5, kernel->window_calls ? RTL_ROLE_NORMAL : RTL_ROLE_DIM,
                      rtl_model_name(m, kernel, ui->names, at.cols - 5, frame->ascii));
        if (rtl_change_is_worse(kernel->change.p99))
            rtl_frame_put(frame, at.row + row, 4, 1, RTL_ROLE_WORSE, "!");
    }
}
