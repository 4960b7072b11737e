/* Beats. See waker.h. */
#include "session/waker.h"

#include <stdio.h>

void rtl_waker_open(struct rtl_waker *waker, const struct rtl_reader *reader)
{
    waker->reader = reader;
    waker->refused = rtl_control_open(reader, &waker->link, NULL, 0) == RTL_READER_PERMISSION;
}

void rtl_waker_close(struct rtl_waker *waker)
{
    rtl_control_close(&waker->link);
}

void rtl_waker_beat(struct rtl_waker *waker, struct rtl_model *model)
{
    rtl_waker_look(waker, model);
    rtl_control_heartbeat(&waker->link);
}

void rtl_waker_look(struct rtl_waker *waker, struct rtl_model *model)
{
    if (!model)
        return;
    model->watcher = rtl_control_writer(&waker->link);
    model->wanted = rtl_control_requested_mode(waker->reader, &waker->link);
    if (!waker->link.page)
        snprintf(model->no_waking, sizeof model->no_waking, "%s",
                 waker->refused ? "another user's process" : "no control page");
}
