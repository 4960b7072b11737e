/* What tells a process in mode auto that somebody watches, for as long as somebody does (shm/control.h). */
#ifndef RTL_SESSION_WAKER_H
#define RTL_SESSION_WAKER_H

#include "model/model.h"
#include "shm/control_client.h"

struct rtl_waker {
    const struct rtl_reader *reader;
    struct rtl_control_link link;
    bool refused; /* another user's process */
};

/* Never fails: where the process can't be told anything, it isn't. */
void rtl_waker_open(struct rtl_waker *waker, const struct rtl_reader *reader);
void rtl_waker_close(struct rtl_waker *waker);

/* Only looks: the model learns which mode is wanted, who watched last, or why none of it can be had. */
void rtl_waker_look(struct rtl_waker *waker, struct rtl_model *model);

/* Somebody watches: at each refresh, and at least every 1.5 seconds. Looks, too. */
void rtl_waker_beat(struct rtl_waker *waker, struct rtl_model *model);

#endif
