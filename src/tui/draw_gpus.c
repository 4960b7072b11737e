/*
 * The GPUs at the top of the main view: few GPUs have a line each, many have cells.
 *
 * Busy of the last minute, share of the window, wait of packets, copies, and why the GPU isn't busy. Narrow terminals
 * show less; the verdict goes last.
 */
#include "model/trend.h"
#include "shm/gpu_names.h"
#include "tui/draw_views.h"

#include <stdio.h>
#include <string.h>

static void draw_minute(const struct rtl_model *m, struct rtl_frame *frame, int row, int col, int width,
                        const struct rtl_agent_snapshot *agent)
{
    int8_t percent[RTL_MODEL_HISTORY];
    rtl_trend_busy(m, agent->gpu, width, percent);
    /* shared GPU: only a bound, so no colour. At most 7/8: full blocks of neighbouring lines would fuse. */
    for (int i = 0; i < width && i < RTL_MODEL_HISTORY; i++)
        rtl_frame_spark(frame, row, col + i, agent->users > 1 ? RTL_ROLE_DIM : RTL_ROLE_SPARK,
                        percent[i] < 0 ? -1 : (percent[i] * 7 - 1 < 0 ? 0 : percent[i] * 7 - 1) / 100);
}

/* Orange means "act now" (themes.h): the user can remove the cause, and the GPU is idle for half of the window or more.
 */
static enum rtl_role verdict_role(const struct rtl_gpu_row *gpu)
{
    switch (gpu->verdict) {
    case RTL_VERDICT_HOST_LATE:
    case RTL_VERDICT_WAITING:
    case RTL_VERDICT_STARTING:
    case RTL_VERDICT_COPIES:
        return gpu->busy <= 0.5 ? RTL_ROLE_WARN : RTL_ROLE_LABEL;
    case RTL_VERDICT_NO_END:
    case RTL_VERDICT_FAILED:
        return RTL_ROLE_ALERT;
    case RTL_VERDICT_BUSY:
        return RTL_ROLE_GOOD;
    default:
        return RTL_ROLE_NORMAL;
    }
}

static void percent_text(double share, char *out, size_t size)
{
    if (share < 0)
        snprintf(out, size, "%s", RTL_NONE);
    else if (share > 0 && share < 0.01)
        snprintf(out, size, "<1%%");
    else
        snprintf(out, size, "%.0f%%", share < 9.99 ? share * 100 : 999);
}

/* Draw "wait p99" and "copy" in the same columns for each GPU; returns the next column. */
static int draw_numbers(struct rtl_frame *frame, int row, int col, int room, const struct rtl_gpu_row *gpu)
{
    enum { WAIT = 17, COPY = 11 }; /* "  wait p99 1.23ms", "  copy 100%" */
    char text[32];
    if (room >= WAIT) {
        struct rtl_number wait = {RTL_NONE};
        if (gpu->facts.waits)
            wait = rtl_format_time(gpu->wait_p99, RTL_UNIT_AUTO);
        rtl_frame_put(frame, row, col + 2, 8, RTL_ROLE_LABEL, "wait p99");
        rtl_frame_right(frame, row, col + 11, 6, gpu->facts.waits ? RTL_ROLE_VALUE : RTL_ROLE_DIM, wait.text);
        col += WAIT, room -= WAIT;
    }
    if (room >= COPY) {
        percent_text(gpu->facts.copies, text, sizeof text);
        rtl_frame_put(frame, row, col + 2, 4, RTL_ROLE_LABEL, "copy");
        rtl_frame_right(frame, row, col + 7, 4, gpu->facts.copies >= 0 ? RTL_ROLE_VALUE : RTL_ROLE_DIM, text);
        col += COPY;
    }
    return col;
}

/* Columns of a line or cell: label, address, minute, share, numbers, verdict. */
struct gpu_columns {
    int label, address, minute, numbers, verdict;
};

static struct gpu_columns columns_of(const struct rtl_model *m, int width, bool line)
{
    struct gpu_columns c = {.label = m->gpu_count > 10 ? 4 : 3};
    int left = width - c.label - 5 - 1;
    if (line && width >= 72)
        c.address = 6, left -= c.address;
    c.numbers = !line          ? 0
                : width >= 110 ? 28
                : width >= 72  ? 11
                               : 0; /* below 110 columns the sentence needs the room */
    left -= c.numbers;
    int verdict = width >= 150 ? 56 : width >= 110 ? 48 : width >= 72 ? 42 : width >= 36 ? 17 : 2;
    c.minute = rtl_clamp(left - verdict, left < 4 ? 0 : 4, RTL_MODEL_TREND);
    c.verdict = left - c.minute;
    return c;
}

static void draw_gpu(const struct rtl_ui *ui, struct rtl_frame *frame, int row, int col, struct gpu_columns c,
                     const struct rtl_gpu_row *gpu)
{
    char text[160];
    snprintf(text, sizeof text, "G%u", gpu->agent->gpu);
    rtl_frame_put(frame, row, col, c.label - 1, RTL_ROLE_LABEL, text);
    col += c.label;
    if (gpu->verdict == RTL_VERDICT_FAILED) { /* the error needs the room, and the rest means little now */
        c.verdict += c.minute + c.numbers;
        c.minute = c.numbers = 0;
    }
    if (c.address) { /* bus and device, as other tools name the GPU */
        if (gpu->agent->bdf == RTL_NO_BDF)
            rtl_frame_put(frame, row, col, c.address - 1, RTL_ROLE_DIM, RTL_NONE);
        else
            rtl_frame_printf(frame, row, col, c.address - 1, RTL_ROLE_DIM, "%02x:%02x", gpu->agent->bdf >> 8 & 0xff,
                             gpu->agent->bdf >> 3 & 0x1f);
        col += c.address;
    }
    draw_minute(ui->model, frame, row, col, c.minute, gpu->agent);
    col += c.minute;
    bool bound = gpu->busy >= 0.01 && gpu->agent->users > 1; /* a sum over processes is an upper bound */
    snprintf(text, sizeof text, "%s", bound ? "<" : "");
    percent_text(gpu->busy, text + strlen(text), sizeof text - strlen(text));
    rtl_frame_right(frame, row, col, 5, gpu->busy >= 0 ? RTL_ROLE_VALUE : RTL_ROLE_DIM, text);
    col += 5;
    if (c.numbers)
        col = draw_numbers(frame, row, col, c.numbers, gpu);
    if (c.verdict >= 10) {
        rtl_verdict_text(gpu->verdict, &gpu->facts, c.verdict - 2, text, sizeof text);
        rtl_frame_put(frame, row, col + 2, c.verdict - 2, verdict_role(gpu), text);
    } else if (c.verdict >= 2 && (verdict_role(gpu) == RTL_ROLE_WARN || verdict_role(gpu) == RTL_ROLE_ALERT)) {
        rtl_frame_put(frame, row, col + 1, 1, verdict_role(gpu), "!");
    }
}

void rtl_draw_gpus(const struct rtl_ui *ui, struct rtl_frame *frame, const struct rtl_layout *l)
{
    const struct rtl_model *m = ui->model;
    struct gpu_columns c = columns_of(m, l->gpu_width, l->gpu_columns == 1);
    for (int i = 0; i < l->gpu_cells; i++) {
        int row = l->gpus.row + i % l->gpus.rows, col = i / l->gpus.rows * l->gpu_width;
        if (i < l->gpu_shown)
            draw_gpu(ui, frame, row, col, c, &m->gpus[i]);
        if (i < l->gpu_shown && ui->view == RTL_VIEW_KERNELS && i + 1 == ui->gpu_line) {
            rtl_frame_paint(frame, row, col, l->gpu_width, RTL_ROLE_SELECTED);
            frame->cursor_row = row;
            frame->cursor_col = col;
        }
        if (i == l->gpu_shown && (uint32_t)l->gpu_shown < m->gpu_count)
            rtl_frame_printf(frame, row, col, l->gpu_width - 1, RTL_ROLE_LABEL, "+%d more GPUs",
                             (int)m->gpu_count - l->gpu_shown);
    }
}
