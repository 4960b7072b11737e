/* The completion worker: one thread that reads the timestamps of completed kernels and records them. It polls while
 * something is in flight and sleeps without a timeout otherwise. */
#ifndef RTL_INTERCEPT_WORKER_H
#define RTL_INTERCEPT_WORKER_H

#include <stdint.h>

struct rtl_pool;
struct rtl_tracker;

/* Create: return the signals of this load of the runtime; the first call creates them and starts the worker. *reason
 * becomes the reason of dispatches on a new queue: timed, or why not. */
struct rtl_pool *rtl_worker_pool(int *reason);

/* Create: the tracker's queue is gone. Makes the tracker GONE and waits, for a bounded time, until the worker has
 * accounted for everything in flight. Another queue may have the tracker afterwards. */
void rtl_worker_settle(struct rtl_tracker *tracker);

/* Any: return row + 1 of the first kernel in flight on the tracker's queue. 0: no kernel in flight has a signal that
 * the library reads, or the worker didn't answer within 100 ms. */
uint32_t rtl_worker_first_kernel(struct rtl_tracker *tracker);

/* Load: stop the worker, within a bounded time. Completed dispatches are recorded, others abandoned; afterwards no
 * signal is touched. */
void rtl_worker_stop(void);

/* Load: the runtime was loaded again; the next rtl_worker_pool starts another worker with new signals. */
void rtl_worker_again(void);

/* In a forked child: there is no worker here. */
void rtl_worker_forget(void);

#endif
