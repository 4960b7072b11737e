/*
 * The completion worker: one thread that reads the timestamps of completed kernels and records them.
 *
 * It polls on its own schedule while anything is in flight and sleeps without a timeout otherwise.
 */
#ifndef RTL_INTERCEPT_WORKER_H
#define RTL_INTERCEPT_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct rtl_pool;
struct rtl_tracker;

/*
 * The signals of this load of the runtime; the first call makes them and starts the worker. *reason becomes what
 * dispatches of a new queue get: timed, or the reason why not. Create.
 */
struct rtl_pool *rtl_worker_pool(int *reason);

/*
 * Create: the tracker's queue is no more. Makes it GONE, and waits until the worker has accounted for all that was in
 * flight, for a bounded time. The tracker may be another queue's when this returns.
 */
void rtl_worker_settle(struct rtl_tracker *tracker);

/*
 * Load: stops it, within a bounded time. What has completed is recorded, what has not is abandoned, and no signal is
 * touched any more.
 */
void rtl_worker_stop(void);

/* Load: the runtime loaded us again; the next call of rtl_worker_pool starts another worker with signals of its own. */
void rtl_worker_again(void);

/* In the child of a fork: there is no worker here. */
void rtl_worker_forget(void);

#endif
