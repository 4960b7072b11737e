/* Searching and ranking calls and ranges, and the kernels of a range. See calls_keys.h. */
#include "tui/calls_keys.h"
#include "model/model_calls.h"
#include "text/text.h"

#include <stdio.h>

unsigned rtl_ui_search_calls(struct rtl_ui *ui, const char *text, int step)
{
    int count, *at = &ui->line_at[ui->view];
    const struct rtl_call_row *row = rtl_ui_call_rows(ui, &count);
    if (text != ui->search)
        snprintf(ui->search, sizeof ui->search, "%s", text);
    if (!ui->search[0])
        rtl_ui_say(ui, "no search yet: / asks for a text");
    int from = *at < count ? *at : 0, by = step < 0 ? -1 : 1;
    for (int i = step != 0; ui->search[0] && i < count + (step != 0); i++) {
        int n = ((from + by * i) % count + count) % count;
        char name[4 * RTL_API_TEXT + 8];
        rtl_text_escape(name, sizeof name, row[n].call->name, row[n].call->name_bytes);
        if (rtl_text_contains(name, ui->search)) {
            *at = n;
            return RTL_UI_DRAW;
        }
    }
    if (ui->search[0])
        rtl_ui_say(ui, "no %s contains '%s'", ui->view == RTL_VIEW_RANGES ? "range" : "call", ui->search);
    return RTL_UI_DRAW;
}

unsigned rtl_ui_order_calls(struct rtl_ui *ui, enum rtl_call_order order, bool reverse)
{
    struct rtl_call_rows *calls = &ui->model->calls;
    calls->order = order;
    calls->reverse = reverse;
    rtl_model_refresh(ui->model);
    for (int view = RTL_VIEW_CALLS; view <= RTL_VIEW_RANGES; view++)
        ui->line_at[view] = ui->line_top[view] = 0;
    rtl_ui_say(ui, "ranked by %s%s", rtl_call_order_text(order), reverse ? ", lowest first" : "");
    return RTL_UI_DRAW;
}

unsigned rtl_ui_enter_range(struct rtl_ui *ui)
{
    const struct rtl_call_rows *calls = &ui->model->calls;
    int at = ui->line_at[RTL_VIEW_RANGES];
    if (at < 0 || at >= (int)(calls->tree_count ? calls->tree_count : calls->ranges))
        return 0;
    if (!calls->tree_count || !calls->tree[at].node) {
        rtl_ui_say(ui, "no kernels: only ranges that are pushed and popped have kernels");
        return RTL_UI_DRAW;
    }
    if (!rtl_model_enter_range(ui->model, &calls->tree[at])) {
        rtl_ui_say(ui, "out of memory");
        return RTL_UI_DRAW;
    }
    rtl_ui_open_view(ui, RTL_VIEW_KERNELS);
    ui->under_count = 0;
    ui->top = 0;
    ui->following = true;
    return RTL_UI_DRAW;
}

void rtl_ui_leave_range(struct rtl_ui *ui)
{
    rtl_model_leave_range(ui->model);
    rtl_ui_open_view(ui, RTL_VIEW_RANGES);
}
