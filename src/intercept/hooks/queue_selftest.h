/*
 * Finds out whether this runtime's intercept queues can be used at all, and whether they pass packets in batches.
 *
 * From release 7.2 on a handler gets all packets of a doorbell at once. 7.2.0 hands over a pointer that runs past the
 * end of the ring when they wrap; 7.2.1 to 7.2.4 copy those that wrap into a buffer of 256 packets, however many they
 * are: the runtime overwrites memory of the process before it calls any tool. No version number identifies these
 * releases, so the library tests the runtime before the first intercept queue of the process. Two packets behind one
 * doorbell show whether the runtime batches. The growth of the heap for a large and a small queue shows whether the
 * runtime's buffer is as large as the queue.
 *
 * With such a buffer, queues must not fill up (throttle.h). Without it, the library makes no intercept queue, but joins
 * those of another tool. A smaller queue than the application asked for would fit the buffer, but a runtime above HSA
 * that submits more packets at once would wait for ever.
 */
#ifndef RTL_INTERCEPT_QUEUE_SELFTEST_H
#define RTL_INTERCEPT_QUEUE_SELFTEST_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/* Create: the first call tests the runtime, on releases that may batch; calls of other threads wait for its result.
 * Returns true when intercept queues overwrite memory here. */
bool rtl_queue_selftest(hsa_agent_t agent);

/* Create: warns the user, once a load, that intercept queues overwrite memory and that a queue isn't counted. */
void rtl_queue_selftest_warn(void);

/* Any: this runtime was found to hand over several packets at once. */
bool rtl_queue_selftest_batches(void);

/*
 * Any: the id that a queue of the application's would have if none had been made for trying: the runtime numbers all
 * queues in sequence. It is what is shown; the application itself finds the runtime's in its queue.
 */
uint64_t rtl_queue_selftest_id_without(uint64_t id);

/* Load: another runtime may be there now. */
void rtl_queue_selftest_reset(void);

#endif
