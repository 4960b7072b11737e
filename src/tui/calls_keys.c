/* Keys that rank calls and ranges. See calls_keys.h. */
#include "tui/calls_keys.h"
#include "model/model_calls.h"
#include "tui/layout.h"

bool rtl_ui_shows_calls(const struct rtl_ui *ui)
{
    return ui->view == RTL_VIEW_CALLS || ui->view == RTL_VIEW_RANGES;
}

static unsigned order_by(struct rtl_ui *ui, enum rtl_call_order order, bool reverse)
{
    struct rtl_call_rows *calls = &ui->model->calls;
    calls->order = order;
    calls->reverse = reverse;
    rtl_model_refresh(ui->model);
    ui->calls_at[0] = ui->calls_at[1] = ui->calls_top[0] = ui->calls_top[1] = 0;
    rtl_ui_say(ui, "ranked by %s%s", rtl_call_order_text(order), reverse ? ", the least first" : "");
    return RTL_UI_DRAW;
}

unsigned rtl_ui_act_on_calls(struct rtl_ui *ui, enum rtl_action action)
{
    const struct rtl_call_rows *calls = &ui->model->calls;
    int order = (int)calls->order;
    switch (action) {
    case RTL_ACTION_SORT_TIME:
        return order_by(ui, RTL_CALLS_BY_SHARE, false);
    case RTL_ACTION_SORT_TOTAL:
        return order_by(ui, RTL_CALLS_BY_TOTAL, false);
    case RTL_ACTION_SORT_CALLS:
        return order_by(ui, RTL_CALLS_BY_CALLS, false);
    case RTL_ACTION_SORT_P99:
        return order_by(ui, RTL_CALLS_BY_P99, false);
    case RTL_ACTION_SORT_LEFT:
        return order_by(ui, (enum rtl_call_order)rtl_clamp(order - 1, 0, RTL_CALLS_BY_COUNT - 1), false);
    case RTL_ACTION_SORT_RIGHT:
        return order_by(ui, (enum rtl_call_order)rtl_clamp(order + 1, 0, RTL_CALLS_BY_COUNT - 1), false);
    case RTL_ACTION_REVERSE:
        return order_by(ui, calls->order, !calls->reverse);
    default:
        return 0;
    }
}
