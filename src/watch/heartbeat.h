/* The viewer's heartbeat: while it is sent, a process in mode auto times its dispatches (shm/control.h). */
#ifndef RTL_WATCH_HEARTBEAT_H
#define RTL_WATCH_HEARTBEAT_H

#include "model/model.h"
#include "shm/control_client.h"

struct rtl_heartbeat {
    const struct rtl_reader *reader;
    struct rtl_control_link link;
    bool refused; /* another user's process */
};

/* Never fails: a process that can't be reached gets no heartbeat. */
void rtl_heartbeat_open(struct rtl_heartbeat *heartbeat, const struct rtl_reader *reader);
void rtl_heartbeat_close(struct rtl_heartbeat *heartbeat);

/* Into the model: which mode was asked for, who sent the last heartbeat, or why this viewer can send none. */
void rtl_heartbeat_read(struct rtl_heartbeat *heartbeat, struct rtl_model *model);

/* To be called at each refresh, and at least every 1.5 seconds. Reads, too. The model may be NULL. */
void rtl_heartbeat_send(struct rtl_heartbeat *heartbeat, struct rtl_model *model);

#endif
