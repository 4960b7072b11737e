/*
 * The manual on the screen, made from the tables: keys, colours, columns, modes, reasons, notes. The reasons and notes
 * show the figures of this process.
 */
#include "tui/draw_views.h"
#include "model/coverage.h"
#include "model/labels.h"
#include "text/text.h"
#include "text/units.h"
#include "tui/screen_tables.h"
#include "tui/themes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TWO_COLUMNS_FROM = 160 };

/* The manual as a page, written line by line; the frame shows a part. Without a frame lines are only counted. Wide
 * terminals show the next `rows` lines beside the first. */
struct help_page {
    struct rtl_frame *frame;
    int top, rows, columns, cols, line;
    const char *wanted; /* searched text, "" = none */
    int from, step;     /* a search: the first match from this line on in direction `step` */
    int found;
};

/* Return the column of the text after a name or figure: continuation lines begin there. */
static int indent_of(const char *text, int width)
{
    enum { NAMES_MOST = 30, LEAST = 2 };
    int indent = LEAST;
    for (int i = 2; i < NAMES_MOST && text[i - 2] && text[i - 1] && text[i]; i++)
        if (text[i] != ' ' && text[i - 1] == ' ' && text[i - 2] == ' ')
            indent = i;
    return indent <= width / 2 ? indent : LEAST;
}

/* Mark the matches in a row of the frame. */
static void mark_matches(struct help_page *p, int row, int col, const char *text)
{
    for (int at = 0; *p->wanted && *text; at++) {
        const char *next = text + rtl_text_offset(text, 1);
        if (rtl_text_begins(text, p->wanted))
            rtl_frame_paint(p->frame, row, col + at, rtl_text_columns(p->wanted), RTL_ROLE_SELECTED);
        text = next;
    }
}

/* Write a line, wrapped to the width. */
static void line_put(struct help_page *p, enum rtl_role role, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void line_put(struct help_page *p, enum rtl_role role, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    int indent = indent_of(text, p->cols), column = 0;
    if (*p->wanted && rtl_text_contains(text, p->wanted)) { /* also a match across the wrap */
        if (p->step > 0 && p->found < 0 && p->line >= p->from)
            p->found = p->line;
        if (p->step < 0 && p->line <= p->from)
            p->found = p->line;
    }
    for (char *rest = text, *next; rest; rest = next, column = indent) {
        size_t length = rtl_text_offset(rest, p->cols - column), end = length;
        next = NULL;
        if (rest[length]) {
            while (end && rest[end] != ' ')
                end--;
            if (end <= strspn(rest, " ")) /* a word longer than the line */
                end = length;
            next = rest + end + strspn(rest + end, " ");
            if (!*next || !length)
                next = NULL;
        }
        int at = p->line++ - p->top;
        if (!p->frame || at < 0 || at >= p->rows * p->columns)
            continue;
        int row = 1 + at % p->rows, col = 1 + at / p->rows * (p->cols + 1) + column;
        char kept = rest[end];
        rest[end] = '\0';
        rtl_frame_put(p->frame, row, col, p->cols - column, role, rest);
        mark_matches(p, row, col, rest);
        rest[end] = kept;
    }
}

static void put_title(struct help_page *p, const char *title)
{
    if (p->line)
        line_put(p, RTL_ROLE_NORMAL, "%s", "");
    line_put(p, RTL_ROLE_TITLE, "%s", title);
}

static void write_keys(struct help_page *p)
{
    put_title(p, "Keys of all screens; the card lists those of one");
    for (int i = 1; i < RTL_ACTION_COUNT; i++) {
        char names[48] = "";
        const struct rtl_key_info *k = &rtl_keys[i];
        for (int n = 0; n < 3 && k->keys[n]; n++)
            rtl_text_append(names, sizeof names, "%s%s", n ? " " : "", rtl_key_name(k->keys[n]).text);
        line_put(p, RTL_ROLE_NORMAL, "  %-12s %s", names, k->meaning);
    }
}

static void write_colours(struct help_page *p)
{
    put_title(p, "Colours");
    for (int i = 0; i < RTL_MEANING_COUNT; i++)
        line_put(p, rtl_colour_meanings[i].role, "  %s", rtl_colour_meanings[i].text);
}

static void write_queue_paths(const struct rtl_model *m, struct help_page *p)
{
    struct rtl_queue_path_line lines[RTL_QUEUE_PATH_LINES];
    int count = rtl_queue_path_lines(m, lines);
    put_title(p, "How packets of a queue reach the library (RTL_QUEUES)");
#define WAY(sym, num, key, text) line_put(p, RTL_ROLE_NORMAL, "  %-14s %s", key, text);
    RTL_QUEUE_PATHS(WAY)
#undef WAY
    for (int i = 0; i < count; i++)
        line_put(p, lines[i].path == RTL_PATH_DEMOTED ? RTL_ROLE_VALUE : RTL_ROLE_NORMAL, "* %s here: %s",
                 rtl_queue_path_label(lines[i].path), rtl_path_reason_words(lines[i].why));
}

/* The columns of all views but the kernels, and words of the screens. */
static void write_words(struct help_page *p)
{
#define WORD(word, meaning)                   line_put(p, RTL_ROLE_NORMAL, "  %-10s %s", word, meaning);
#define COLUMN(header, width, from, meaning)  WORD(header, meaning)
#define IDLE(number, below, header)           " " header
#define DIRECTION(sym, num, key, text, means) WORD(text, means)
    char sizes[] = RTL_IDLE_CLASSES(IDLE);
    put_title(p, "Columns of the queues (Tab)");
    RTL_QUEUE_COLUMNS(COLUMN)
    put_title(p, "Columns of the GPUs, below the queues");
    RTL_GPU_COLUMNS_BEFORE(COLUMN)
    line_put(p, RTL_ROLE_NORMAL, " %s: %s", sizes, RTL_GPU_IDLE_MEANS);
    RTL_GPU_COLUMNS_BEHIND(COLUMN)
    WORD(RTL_GPU_UUID, RTL_GPU_UUID_MEANS)
    put_title(p, "Columns of the copies (m)");
    RTL_COPIES_COLUMNS(COLUMN)
    RTL_DIRECTIONS(DIRECTION)
    put_title(p, "Columns of the HIP calls (a)");
#define CALLS(header, width, from, order, meaning) WORD(header, meaning)
    RTL_CALL_COLUMNS(CALLS)
    WORD(RTL_CALL_NAME, RTL_CALL_NAME_MEANS)
    put_title(p, "Columns of the roctx ranges and marks (A)");
    RTL_RANGE_COLUMNS(CALLS)
#undef CALLS
    WORD(RTL_RANGE_NAME, RTL_RANGE_NAME_MEANS)
    put_title(p, "Columns of the processes (p)");
    RTL_PROCESS_COLUMNS(COLUMN)
    WORD(RTL_PROCESS_TOP, RTL_PROCESS_TOP_MEANS)
    WORD(RTL_PROCESS_COMMAND, RTL_PROCESS_COMMAND_MEANS)
    put_title(p, "Columns of a kernel's processes (e)");
    RTL_RANK_COLUMNS(COLUMN)
    put_title(p, "Columns of steps (t)");
    RTL_STEP_COLUMNS(COLUMN)
    put_title(p, "Words of a probe, in the detail (B, Y)");
    RTL_PROBE_WORDS(WORD)
    put_title(p, "Other words on the screens");
    RTL_WORDS(WORD)
#undef WORD
#undef COLUMN
#undef IDLE
#undef DIRECTION
}

static void write_page(const struct rtl_ui *ui, struct help_page *p)
{
    const struct rtl_model *m = ui->model;
    const struct rtl_snapshot *s = m->latest ? &m->latest->snapshot : NULL;
    write_keys(p);
    write_colours(p);
    put_title(p, "Columns (key of -s in brackets)");
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        bool sorts = rtl_columns[i].order != RTL_ORDER_NO;
        line_put(p, RTL_ROLE_NORMAL, "  %-10s %s%s%s%s", rtl_columns[i].header, rtl_columns[i].meaning,
                 sorts ? " [" : "", sorts ? rtl_columns[i].key : "", sorts ? "]" : "");
    }
    write_words(p);
    put_title(p, "Why a GPU is not busy");
#define VERDICT(sym, key, words, meaning) line_put(p, RTL_ROLE_NORMAL, "  %-15s %s", words, meaning);
    RTL_VERDICTS(VERDICT)
#undef VERDICT
    put_title(p, "Mode of the library (RTL_MODE); * is this process's");
#define MODE(sym, num, name, text) \
    line_put(p, RTL_ROLE_NORMAL, "%c %-14s %s", s && s->mode == (num) ? '*' : ' ', name, text);
    RTL_MODES(MODE)
#undef MODE
    line_put(p, RTL_ROLE_NORMAL, "%c %-14s %s", s && s->mode == RTL_MODE_CALLS ? '*' : ' ', RTL_MODE_HIP,
             RTL_MODE_HIP_MEANS);
    write_queue_paths(m, p);
    put_title(p, "Why dispatches were counted but not timed, and how many");
    for (unsigned i = 0; i < RTL_UNTIMED_LIMIT; i++)
        if (rtl_reason_names(i).key)
            line_put(p, m->untimed_by[i] ? RTL_ROLE_VALUE : RTL_ROLE_NORMAL, "  %-13s %6s  %s", rtl_reason_names(i).key,
                     rtl_format_count(m->untimed_by[i]).text, rtl_reason_names(i).text);
    put_title(p, "Why copies were counted but not timed, and how many");
    for (unsigned i = 0; i < RTL_COPY_UNTIMED_LIMIT; i++) {
        uint64_t count = 0;
        for (uint32_t c = 0; c < m->copies_count; c++)
            count += m->copies[c].copies->untimed[i];
        if (rtl_copy_reason_names(i).key)
            line_put(p, count ? RTL_ROLE_VALUE : RTL_ROLE_NORMAL, "  %-13s %6s  %s", rtl_copy_reason_names(i).key,
                     rtl_format_count(count).text, rtl_copy_reason_names(i).text);
    }
    put_title(p, "Notes; ! marks those of this process");
#define NOTE(sym, bit, name, text)                                                          \
    line_put(p, s && s->notes & RTL_NOTE_##sym ? RTL_ROLE_VALUE : RTL_ROLE_NORMAL, "%c %s", \
             s && s->notes & RTL_NOTE_##sym ? '!' : ' ', text);
    RTL_NOTES(NOTE)
#undef NOTE
    if (s) {
        put_title(p, "This process");
        line_put(p, RTL_ROLE_NORMAL, "  library %s, HSA runtime %u.%u", s->library_version, s->runtime_major,
                 s->runtime_minor);
        if (s->mode != s->mode_started)
            line_put(p, RTL_ROLE_NORMAL, "  mode %s now, %s when it was started", rtl_mode_label(s->mode),
                     rtl_mode_label(s->mode_started));
        if (m->watcher)
            line_put(p, RTL_ROLE_NORMAL, "  rtl-top with pid %llu wrote the last heartbeat",
                     (unsigned long long)m->watcher);
        if (s->signals_limit)
            line_put(p, RTL_ROLE_NORMAL, "  signals: %s in use, peak %s, limit %s",
                     rtl_format_count(s->signals_in_use).text, rtl_format_count(s->signals_peak).text,
                     rtl_format_count(s->signals_limit).text);
        line_put(p, RTL_ROLE_NORMAL, "  completion worker %s of CPU time; %s histogram chunks used",
                 rtl_format_time(s->worker_cpu_ns, RTL_UNIT_AUTO).text, rtl_format_count(s->chunks_used).text);
    }
}

int rtl_draw_help_columns(int cols)
{
    return cols >= TWO_COLUMNS_FROM ? 2 : 1;
}

static struct help_page make_page(int cols)
{
    int columns = rtl_draw_help_columns(cols);
    return (struct help_page){.columns = columns, .cols = cols / columns - 1, .wanted = "", .found = -1};
}

int rtl_draw_help_lines(const struct rtl_ui *ui, int cols)
{
    struct help_page p = make_page(cols);
    write_page(ui, &p);
    return p.line;
}

int rtl_draw_help_find(const struct rtl_ui *ui, int cols, int from, int step)
{
    struct help_page p = make_page(cols);
    p.wanted = ui->help_search;
    p.from = from;
    p.step = step;
    write_page(ui, &p);
    return p.found;
}

/* Draw the card or the manual, and write the text of the status line. */
static void draw_content(const struct rtl_ui *ui, struct rtl_frame *frame, char *status, size_t size)
{
    if (!ui->manual) {
        rtl_draw_card(ui, frame);
        snprintf(status, size, "%s",
                 frame->cols < 60 ? "? manual, Up Down scroll, Esc back"
                                  : "? opens the manual, / searches it; Esc goes back");
        return;
    }
    struct help_page p = make_page(frame->cols);
    p.frame = frame;
    p.top = ui->line_top[RTL_VIEW_HELP];
    p.rows = frame->rows - 2;
    p.wanted = ui->help_search;
    write_page(ui, &p);
    int last = p.top + p.rows * p.columns;
    snprintf(status, size, "lines %d-%d of %d; / finds, n N go on; PgUp PgDn scroll; Esc goes back", p.top + 1,
             last < p.line ? last : p.line, p.line);
}

void rtl_draw_help(const struct rtl_ui *ui, struct rtl_frame *frame)
{
    char status[128];
    if (frame->rows < 3 || frame->cols < 24) {
        rtl_frame_put(frame, 0, 0, frame->cols, RTL_ROLE_NORMAL, "q quits, Esc back");
        if (ui->prompt != RTL_PROMPT_NONE)
            rtl_draw_status(ui, frame, (struct rtl_rect){0});
        return;
    }
    draw_content(ui, frame, status, sizeof status);
    rtl_frame_fill(frame, 0, 0, frame->cols, RTL_ROLE_HEADER, ' ');
    rtl_frame_put(frame, 0, 1, frame->cols - 1, RTL_ROLE_HEADER,
                  ui->manual ? "rtl-top manual" : "rtl-top help: keys of this screen");
    if (ui->record[0])
        rtl_frame_right(frame, 0, frame->cols - 6, 5, RTL_ROLE_HEADER, RTL_RECORD_MARK);
    int row = frame->rows - 1;
    bool message = ui->message[0] && ui->now_mono_ns - ui->message_ns < RTL_MESSAGE_NS;
    rtl_frame_fill(frame, row, 0, frame->cols, RTL_ROLE_STATUS, ' ');
    if (message || ui->prompt != RTL_PROMPT_NONE)
        rtl_draw_status(ui, frame, (struct rtl_rect){row, 0, 1, frame->cols});
    else
        rtl_frame_put(frame, row, 1, frame->cols - 1, RTL_ROLE_STATUS, status);
}
