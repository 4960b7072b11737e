/* Keys that rank calls and ranges. See calls_keys.h. */
#include "tui/calls_keys.h"
#include "model/model.h"
#include "model/model_hip_api.h"
#include "text/text.h"
#include "tui/layout.h"
#include "tui/views.h"

#include <stdio.h>

bool rtl_ui_shows_calls(const struct rtl_ui *ui)
{
    return ui->view == RTL_VIEW_CALLS || ui->view == RTL_VIEW_RANGES;
}

const struct rtl_hip_api_model_row *rtl_ui_call_rows(const struct rtl_ui *ui, int *count)
{
    const struct rtl_hip_api_rows *calls = &ui->model->hip_api;
    bool ranges = ui->view == RTL_VIEW_RANGES;
    *count = (int)(ranges ? calls->ranges : calls->functions);
    if (ranges && calls->tree_count) {
        *count = (int)calls->tree_count;
        return calls->tree;
    }
    return ranges && calls->rows ? calls->rows + calls->functions : calls->rows;
}

unsigned rtl_ui_search_calls(struct rtl_ui *ui, const char *text, int step)
{
    int count, *at = &ui->calls_at[ui->view == RTL_VIEW_RANGES];
    const struct rtl_hip_api_model_row *row = rtl_ui_call_rows(ui, &count);
    if (text != ui->search)
        snprintf(ui->search, sizeof ui->search, "%s", text);
    if (!ui->search[0])
        rtl_ui_say(ui, "nothing searched for yet: / asks for a text");
    int from = *at < count ? *at : 0, by = step < 0 ? -1 : 1;
    for (int i = step != 0; ui->search[0] && i < count + (step != 0); i++) {
        int n = ((from + by * i) % count + count) % count;
        char name[4 * RTL_HIP_API_TEXT + 8];
        rtl_text_escape(name, sizeof name, row[n].call->name, row[n].call->name_bytes);
        if (rtl_text_contains(name, ui->search)) {
            *at = n;
            return RTL_UI_DRAW;
        }
    }
    if (ui->search[0])
        rtl_ui_say(ui, "no %s has '%s'", ui->view == RTL_VIEW_RANGES ? "range" : "call", ui->search);
    return RTL_UI_DRAW;
}

static unsigned order_by(struct rtl_ui *ui, enum rtl_hip_api_order order, bool reverse)
{
    struct rtl_hip_api_rows *calls = &ui->model->hip_api;
    calls->order = order;
    calls->reverse = reverse;
    rtl_model_refresh(ui->model);
    ui->calls_at[0] = ui->calls_at[1] = ui->calls_top[0] = ui->calls_top[1] = 0;
    rtl_ui_say(ui, "ranked by %s%s", rtl_hip_api_order_text(order), reverse ? ", the least first" : "");
    return RTL_UI_DRAW;
}

unsigned rtl_ui_order_calls(struct rtl_ui *ui, enum rtl_hip_api_order order)
{
    const struct rtl_hip_api_rows *calls = &ui->model->hip_api;
    return order_by(ui, order, calls->order == order && calls->reverse);
}

unsigned rtl_ui_act_on_calls(struct rtl_ui *ui, enum rtl_action action)
{
    const struct rtl_hip_api_rows *calls = &ui->model->hip_api;
    int order = (int)calls->order;
    switch (action) {
    case RTL_ACTION_SORT_TIME:
        return order_by(ui, RTL_HIP_API_BY_SHARE, false);
    case RTL_ACTION_SORT_TOTAL:
        return order_by(ui, RTL_HIP_API_BY_TOTAL, false);
    case RTL_ACTION_SORT_CALLS:
        return order_by(ui, RTL_HIP_API_BY_CALLS, false);
    case RTL_ACTION_SORT_P99:
        return order_by(ui, RTL_HIP_API_BY_P99, false);
    case RTL_ACTION_SORT_LEFT:
        return order_by(ui, (enum rtl_hip_api_order)rtl_clamp(order - 1, 0, RTL_HIP_API_BY_COUNT - 1), false);
    case RTL_ACTION_SORT_RIGHT:
        return order_by(ui, (enum rtl_hip_api_order)rtl_clamp(order + 1, 0, RTL_HIP_API_BY_COUNT - 1), false);
    case RTL_ACTION_FIND_NEXT:
        return rtl_ui_search_calls(ui, ui->search, 1);
    case RTL_ACTION_FIND_BEFORE:
        return ui->search[0] ? rtl_ui_search_calls(ui, ui->search, -1) : order_by(ui, RTL_HIP_API_BY_NAME, false);
    case RTL_ACTION_REVERSE:
        return order_by(ui, calls->order, !calls->reverse);
    default:
        return 0;
    }
}

unsigned rtl_ui_enter_range(struct rtl_ui *ui)
{
    const struct rtl_hip_api_rows *calls = &ui->model->hip_api;
    int at = ui->calls_at[1];
    if (at < 0 || at >= (int)(calls->tree_count ? calls->tree_count : calls->ranges))
        return 0;
    if (!calls->tree_count || !calls->tree[at].node) {
        rtl_ui_say(ui, "no kernel belongs to it: only ranges that are pushed and popped have kernels");
        return RTL_UI_DRAW;
    }
    if (!rtl_model_enter_range(ui->model, &calls->tree[at])) {
        rtl_ui_say(ui, "there is no memory for it");
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
