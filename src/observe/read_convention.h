/*
 * The packet processor decides when a queue's read index moves: when a packet has ended ("late": the packet at the
 * index runs), or at its launch ("early": the packet before the index runs). A wrong assumption distorts shares of time
 * by dozens of points, so this code judges by evidence, and until then shows no such times. Pure.
 */
#ifndef RTL_OBSERVE_READ_CONVENTION_H
#define RTL_OBSERVE_READ_CONVENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/tables.h"

/* State of a queue at one moment. */
struct rtl_queue_moment {
    bool waiting;          /* a submitted dispatch is at the read index */
    bool queued;           /* it was submitted before the packets ahead of it had ended */
    bool in_order;         /* the packet there, dispatch or barrier, starts when all packets before it have ended */
    bool blocked;          /* the packet there is a barrier whose signals aren't all zero */
    bool before;           /* a dispatch precedes the read index */
    bool before_in_order;  /* the packet before the index, of any kind, started when all packets before it had ended */
    bool before_signalled; /* that packet has a signal */
    bool before_pending;   /* its signal says that it hasn't ended */
};

struct rtl_evidence {
    uint64_t early, late;
};

void rtl_convention_add_evidence(struct rtl_evidence *evidence, const struct rtl_queue_moment *look);
enum rtl_convention rtl_convention_judge(const struct rtl_evidence *evidence);

/* Return which packet runs under a convention: 0 the one at the read index, -1 the one before it, 1 unknown. */
int rtl_convention_running(enum rtl_convention convention, const struct rtl_queue_moment *look);

#endif
