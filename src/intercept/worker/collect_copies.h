/* Records the times of completed copies. Worker only. */
#ifndef RTL_INTERCEPT_COLLECT_COPIES_H
#define RTL_INTERCEPT_COLLECT_COPIES_H

#include <stdint.h>

struct rtl_collector;

/* Record completed copies; return their number. */
uint32_t rtl_collect_copies(struct rtl_collector *collector);

/* At the worker's end: abandon those in flight. */
void rtl_collect_copies_abandon(struct rtl_collector *collector);

#endif
