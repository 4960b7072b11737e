/*
 * Computes an observer's pauses between polls and between scans, so that all observers together stay within their CPU
 * budget. Pure.
 */
#ifndef RTL_OBSERVE_PACE_H
#define RTL_OBSERVE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_pace {
    double cpu;        /* share of a core for all observers together: a part for scans, most for polls */
    unsigned looking;  /* number of observers that poll queues, including this one */
    unsigned scanning; /* number of observers that scan, with or without queues */
    double cost_ns;    /* CPU of a poll, smoothed */
    double rate;       /* of the fastest ring, fillings a second */
    bool past_library; /* of a traced process: the library counts most queues */
};

/* Return the pause after a poll: as short as the rings need, as long as the budget demands. */
uint64_t rtl_pace_poll_ns(const struct rtl_pace *pace);
/* Return the pause after a scan that cost so much CPU, whatever asks for the next scan. */
uint64_t rtl_pace_scan_ns(const struct rtl_pace *pace, uint64_t cost_ns);

#endif
