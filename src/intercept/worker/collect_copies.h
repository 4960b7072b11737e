/* Collecting copies: from those that are over to recorded times. All of it is the worker's. */
#ifndef RTL_INTERCEPT_COLLECT_COPIES_H
#define RTL_INTERCEPT_COLLECT_COPIES_H

#include <stdint.h>

struct rtl_collector;

/* Records what is over. Returns how many. */
uint32_t rtl_collect_copies(struct rtl_collector *collector);

/* At the worker's end: the rest is given up. */
void rtl_collect_copies_abandon(struct rtl_collector *collector);

#endif
