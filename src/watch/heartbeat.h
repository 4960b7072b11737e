/* The viewer's heartbeat: while a viewer sends it, a process in mode auto times its dispatches (shm/control.h). */
#ifndef RTL_WATCH_HEARTBEAT_H
#define RTL_WATCH_HEARTBEAT_H

#include "model/model.h"
#include "shm/control_client.h"

struct rtl_heartbeat {
    const struct rtl_reader *reader;
    struct rtl_control_link link;
    bool refused; /* the process belongs to another user */
};

/* Never fails: a process without a control page gets no heartbeat. */
void rtl_heartbeat_open(struct rtl_heartbeat *heartbeat, const struct rtl_reader *reader);
void rtl_heartbeat_close(struct rtl_heartbeat *heartbeat);

/* Copies into the model the requested mode, the sender of the last heartbeat, or the reason why this viewer can't send
 * one. */
void rtl_heartbeat_read(struct rtl_heartbeat *heartbeat, struct rtl_model *model);

/* Sends and reads the heartbeat. Call it at each refresh, at least every 1.5 seconds. The model may be NULL. */
void rtl_heartbeat_send(struct rtl_heartbeat *heartbeat, struct rtl_model *model);

#endif
