/*
 * Tests whether this runtime's intercept queues can be used, and whether they pass packets in batches.
 *
 * From release 7.2 on a handler gets all packets of a doorbell at once. 7.2.0 passes a pointer that runs past the end
 * of the ring when they wrap. 7.2.1 to 7.2.4 copy wrapping packets into a buffer of 256 packets, however many they are:
 * the runtime overwrites memory of the process before it calls any tool. No version number identifies these releases,
 * so the library tests the runtime before the first intercept queue of the process. Two packets behind one doorbell
 * show whether the runtime batches. The growth of the heap for a large and a small queue shows whether the runtime's
 * buffer is as large as the queue.
 *
 * With such a buffer queues must not fill up (throttle.h). Without it the library makes no intercept queue, but joins
 * those of another tool. A smaller queue than the application asked for would fit the buffer, but a runtime above HSA
 * that submits more packets at once would wait for ever.
 */
#ifndef RTL_INTERCEPT_QUEUE_SELFTEST_H
#define RTL_INTERCEPT_QUEUE_SELFTEST_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/* Create: test the runtime once, on releases that may batch; concurrent calls wait for the result. True if intercept
 * queues overwrite memory here. */
bool rtl_queue_selftest(hsa_agent_t agent);

/* Create: warn the user, once a load, that intercept queues overwrite memory and a queue isn't counted. */
void rtl_queue_selftest_warn(void);

/* Any: true if this runtime passes several packets at once. */
bool rtl_queue_selftest_batches(void);

/* Any: return the id that a queue of the application would have without our test queues: the runtime numbers all
 * queues in sequence. Viewers show this id; the application sees the runtime's. */
uint64_t rtl_queue_selftest_id_without(uint64_t id);

/* Load: another runtime may be loaded now. */
void rtl_queue_selftest_reset(void);

#endif
