/* Sends and reads the heartbeat. See heartbeat.h. */
#include "watch/heartbeat.h"

#include <stdio.h>

void rtl_heartbeat_open(struct rtl_heartbeat *heartbeat, const struct rtl_reader *reader)
{
    heartbeat->reader = reader;
    heartbeat->link.page = NULL;
    if (!reader) /* an observed process has no library to receive it */
        return;
    heartbeat->refused = rtl_control_open(reader, &heartbeat->link, NULL, 0) == RTL_READER_PERMISSION;
}

void rtl_heartbeat_close(struct rtl_heartbeat *heartbeat)
{
    rtl_control_close(&heartbeat->link);
}

void rtl_heartbeat_send(struct rtl_heartbeat *heartbeat, struct rtl_model *model)
{
    rtl_heartbeat_read(heartbeat, model);
    rtl_control_heartbeat(&heartbeat->link);
}

void rtl_heartbeat_read(struct rtl_heartbeat *heartbeat, struct rtl_model *model)
{
    if (!model)
        return;
    if (!heartbeat->reader) {
        model->watcher = 0;
        model->wanted = RTL_MODE_NONE;
        return;
    }
    model->watcher = rtl_control_writer(&heartbeat->link);
    model->wanted = rtl_mode_read(rtl_control_requested_mode(heartbeat->reader, &heartbeat->link));
    if (model->latest && model->latest->snapshot.mode == RTL_MODE_CALLS)
        model->wanted = rtl_mode_with(true, model->wanted);
    if (!heartbeat->link.page)
        snprintf(model->no_heartbeat, sizeof model->no_heartbeat, "%s",
                 heartbeat->refused ? "another user's process" : "no control page");
}
