/*
 * How long an observer sleeps between two looks and between two scans, so that all observers together stay within their
 * budget of CPU. Pure.
 */
#ifndef RTL_OBSERVE_PACE_H
#define RTL_OBSERVE_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_pace {
    double cpu;        /* share of a core, for all of them together: a part of it for scans, the rest for looks */
    unsigned looking;  /* how many look at queues, this one included; they share it */
    unsigned scanning; /* how many scan, whether they find queues to look at or not */
    double cost_ns;    /* CPU of a look, smoothed */
    double rate;       /* of the ring that fills fastest, rings a second */
    bool past_library; /* the library sees to most of it */
};

/* As short as the rings ask for, as long as the budget does. */
uint64_t rtl_pace_look_ns(const struct rtl_pace *pace);
/* After a scan that took so much CPU: that is made up for before the next one, whatever asks for it. */
uint64_t rtl_pace_scan_ns(const struct rtl_pace *pace, uint64_t cost_ns);

#endif
