/* Native queues: the hooks on write indices and doorbells, and what is done with the packets behind them. */
#ifndef RTL_INTERCEPT_NATIVE_QUEUE_H
#define RTL_INTERCEPT_NATIVE_QUEUE_H

#include <stdbool.h>

struct rtl_native;

/* Create, under its lock: the worker looks after that queue from now on; where there is none it is the runtime's own.
 */
void rtl_native_attend(struct rtl_native *native);

/* Load: puts the hooks in. Where they aren't, there can be no native queue. */
void rtl_native_hook(void *table);
bool rtl_native_hooked(void);

#endif
