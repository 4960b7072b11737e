/*
 * When the read index of a queue moves is the packet processor's choice: when a packet has ended ("late": the packet at
 * the index is what runs), or when it was launched ("early": the one before it is). Taken wrongly, shares of time are
 * off by dozens of points; so it is judged from what is seen, and until then no such time is shown. Pure.
 */
#ifndef RTL_OBSERVE_READ_CONVENTION_H
#define RTL_OBSERVE_READ_CONVENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/tables.h"

/* What a queue looked like at a moment. */
struct rtl_queue_look {
    bool waiting;          /* a kernel's packet is at the read index, and it has been submitted */
    bool queued;           /* and it was submitted while something before it had not ended */
    bool in_order;         /* what is there, kernel or barrier, is to start when all before it have ended */
    bool blocked;          /* a barrier packet is there whose signals aren't all zero */
    bool before;           /* there is a kernel's packet before the read index */
    bool before_in_order;  /* the packet before it, of a kernel or not, started when all before that had ended */
    bool before_signalled; /* that packet has a signal */
    bool before_pending;   /* that says that it hasn't ended */
};

struct rtl_evidence {
    uint64_t early, late;
};

void rtl_convention_see(struct rtl_evidence *evidence, const struct rtl_queue_look *look);
enum rtl_convention rtl_convention_judge(const struct rtl_evidence *evidence);

/* Which packet runs under a convention: 0 the one at the read index, -1 the one before it, 1 none that can be told. */
int rtl_convention_running(enum rtl_convention convention, const struct rtl_queue_look *look);

#endif
