/*
 * Why a GPU is idle: the verdict, the share of each cause in the window and in the last minute, and the longest gaps
 * with the kernels around them.
 */
#include "model/model_gpus.h"
#include "model/labels.h"
#include "tui/draw_views.h"

#include <stdio.h>
#include <string.h>

/* Busy, the causes, not counted; lines before the gaps. */
enum { CAUSES = RTL_CAUSE_COUNT + 2, GAPS_FROM = CAUSES + 2 };

const struct rtl_gpu_row *rtl_ui_evidence(const struct rtl_ui *ui)
{
    const struct rtl_model *m = ui->model;
    for (uint32_t i = 0; i < m->gpu_count; i++)
        if (m->gpus[i].agent->gpu == ui->gpu)
            return &m->gpus[i];
    return m->gpu_count ? &m->gpus[0] : NULL;
}

static int gaps_shown(const struct rtl_ui *ui, const struct rtl_gpu_row *gpu, const struct rtl_gap **out)
{
    return gpu && gpu->agent->gaps_known ? (int)rtl_gaps_in_window(ui->model, gpu, out) : 0;
}

int rtl_draw_evidence_lines(const struct rtl_ui *ui)
{
    const struct rtl_gap *gaps[RTL_GAPS_MAX];
    int count = gaps_shown(ui, rtl_ui_evidence(ui), gaps);
    return GAPS_FROM + (count ? count : 1);
}

/* The columns of the shares: the window's at the right of its bar, then the last minute's. */
struct evidence_columns {
    int words, window, bar_width, minute;
};

static struct evidence_columns place_columns(int cols)
{
    struct evidence_columns c = {.words = cols >= 130 ? 56 : cols >= 72 ? 36 : cols > 28 ? cols - 16 : 12};
    int left = cols - c.words - 2 * 7;
    c.window = c.words + 1;
    c.bar_width = left >= 16 ? left / 2 - 1 : 0;
    c.minute = c.window + 6 + c.bar_width + 1;
    return c;
}

static void put_share(struct rtl_frame *frame, int line, int col, int width, double share)
{
    char text[40];
    snprintf(text, sizeof text, "%s%s", share >= 0 ? rtl_format_share(share).text : RTL_NONE, share >= 0 ? "%" : "");
    rtl_frame_right(frame, line, col, 6, share >= 0 ? RTL_ROLE_VALUE : RTL_ROLE_DIM, text);
    if (width > 1 && share > 0)
        rtl_frame_bar(frame, line, col + 7, width - 1, RTL_ROLE_BAR, share < 1 ? share : 1);
}

/* Return the share of time that is neither busy nor counted for a cause; below 0: not known. */
static double uncounted(double busy, const double cause[RTL_CAUSE_COUNT])
{
    double left = 1 - busy;
    for (int c = 0; c < RTL_CAUSE_COUNT; c++)
        left -= cause[c];
    return busy < 0 || cause[0] < 0 ? -1 : left > 0 ? left : 0;
}

static void draw_share(struct rtl_frame *frame, int line, int cols, const struct rtl_gpu_row *gpu, int i)
{
    struct evidence_columns c = place_columns(cols);
    const char *words = "not counted so far";
    double window = uncounted(gpu->busy, gpu->cause), minute = uncounted(gpu->minute_busy, gpu->minute_cause);
    if (i == 0) {
        words = "busy";
        window = gpu->busy, minute = gpu->minute_busy;
    } else if (i <= RTL_CAUSE_COUNT) {
        words = rtl_cause_words((enum rtl_cause)(i - 1)).words;
        window = gpu->cause[i - 1], minute = gpu->minute_cause[i - 1];
    }
    rtl_frame_put(frame, line, 2, c.words - 2, window > 0 ? RTL_ROLE_NORMAL : RTL_ROLE_DIM, words);
    put_share(frame, line, c.window, c.bar_width, window);
    if (c.minute + 6 <= cols)
        put_share(frame, line, c.minute, c.bar_width, minute);
}

static void put_kernel(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int col, int width,
                       const struct rtl_gap *gap, bool after)
{
    const struct rtl_row *row = rtl_gap_kernel(ui->model, gap, after);
    if (width > 3)
        rtl_frame_put(frame, line, col, width, row ? RTL_ROLE_NORMAL : RTL_ROLE_DIM,
                      row ? rtl_model_name(ui->model, row, ui->names, width, frame->ascii) : RTL_NONE);
}

/* Length, age, what the GPU waited for, and the kernels before and after; NULL: the header. Narrow terminals lack the
 * kernels. */
static void draw_gap(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols, const struct rtl_gap *gap)
{
    enum { WAITED = 18 };
    int width = cols >= 130 ? 44 : cols >= 72 ? 26 : cols - WAITED, kernels = (cols - WAITED - width - 1) / 2;
    if (!gap) {
        rtl_frame_fill(frame, line, 0, cols, RTL_ROLE_HEADER, ' ');
        rtl_frame_put(frame, line, 3, cols - 3, RTL_ROLE_HEADER, "LENGTH  ENDED  WAITED FOR");
        if (kernels > 0) {
            rtl_frame_put(frame, line, WAITED + width, kernels - 1, RTL_ROLE_HEADER, "KERNEL BEFORE");
            rtl_frame_put(frame, line, WAITED + width + kernels, kernels, RTL_ROLE_HEADER, "KERNEL AFTER");
        }
        return;
    }
    const struct rtl_snapshot *now = &ui->model->latest->snapshot;
    uint64_t end = gap->start_mono_ns + gap->length_ns;
    char waited[160];
    rtl_gap_text(ui->model, gap, waited, sizeof waited);
    rtl_frame_right(frame, line, 2, 7, RTL_ROLE_VALUE, rtl_draw_time(ui, true, gap->length_ns).text);
    rtl_frame_right(frame, line, 10, 6, RTL_ROLE_NORMAL,
                    gap->start_mono_ns ? rtl_format_interval(rtl_grown(now->taken_mono_ns, end)).text : RTL_NONE);
    rtl_frame_put(frame, line, WAITED, width - 1, RTL_ROLE_NORMAL, waited);
    put_kernel(ui, frame, line, WAITED + width, kernels - 1, gap, false);
    put_kernel(ui, frame, line, WAITED + width + kernels, kernels, gap, true);
}

static void draw_line(const struct rtl_ui *ui, struct rtl_frame *frame, int line, int cols,
                      const struct rtl_gpu_row *gpu, int i)
{
    const struct rtl_gap *gaps[RTL_GAPS_MAX];
    int gap = i - GAPS_FROM, count = gaps_shown(ui, gpu, gaps);
    if (i < CAUSES)
        draw_share(frame, line, cols, gpu, i);
    else if (gap == -1)
        draw_gap(ui, frame, line, cols, NULL);
    else if (gap >= 0 && gap < count)
        draw_gap(ui, frame, line, cols, gaps[gap]);
    else if (gap == 0)
        rtl_frame_put(frame, line, 2, cols - 2, RTL_ROLE_DIM,
                      gpu->agent->users > 1     ? "not known: several processes use this GPU (p)"
                      : !gpu->agent->gaps_known ? "causes and gaps are not recorded: observed, or an older librtl.so"
                                                : "no gap of 10µs or more ended in the window");
}

void rtl_draw_evidence(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_gpu_row *gpu = rtl_ui_evidence(ui);
    struct evidence_columns c = place_columns(l->table.cols);
    char text[200], minute[40];
    if (!gpu) {
        rtl_frame_put(frame, l->table.row, 2, l->table.cols - 2, RTL_ROLE_DIM, "no GPU was used yet");
        return;
    }
    snprintf(text, sizeof text, "WHY IS %s IDLE?", rtl_gpu_label(&ui->model->latest->snapshot, gpu->agent->gpu).text);
    rtl_frame_put(frame, l->head.row, 1, c.words - 1, RTL_ROLE_HEADER, text);
    rtl_frame_right(frame, l->head.row, c.window, 6, RTL_ROLE_HEADER, "WINDOW");
    snprintf(minute, sizeof minute, "LAST %s", rtl_format_interval(gpu->minute_ns).text);
    rtl_frame_put(frame, l->head.row, c.minute + 1, l->head.cols - c.minute - 1, RTL_ROLE_HEADER, minute);
    rtl_verdict_text(gpu->verdict, &gpu->facts, l->table.cols - 2, text, sizeof text);
    char *key = strstr(text, " (v)"); /* opens this view */
    if (key)
        *key = '\0';
    rtl_frame_put(frame, l->table.row, 1, l->table.cols - 1, RTL_ROLE_TITLE, text);
    int lines = rtl_draw_evidence_lines(ui), top = ui->line_top[RTL_VIEW_GPU];
    for (int i = 1; i < l->table.rows && top + i - 1 < lines; i++)
        draw_line(ui, frame, l->table.row + i, l->table.cols, gpu, top + i - 1);
}
