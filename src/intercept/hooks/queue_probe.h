/*
 * Finds out whether this runtime's intercept queues can be used at all, and whether they hand over batches.
 *
 * From release 7.2 on a handler gets all packets of a doorbell at once. 7.2.0 hands over a pointer that runs past the
 * end of the ring when they wrap; 7.2.1 to 7.2.4 copy those that wrap into a buffer of 256 packets, however many they
 * are: memory of the process is overwritten before any tool is called. No version number tells these releases, so the
 * first intercept queue of the process tries: two packets behind one doorbell show whether the runtime batches, and how
 * much the heap grows with a large queue against a small one shows whether there is a buffer as large as the queue.
 *
 * With such a buffer, queues must not fill up (throttle.h). Without it, the library makes no intercept queue, but joins
 * those of another tool. A smaller queue than the application asked for would fit the buffer, but a runtime above that
 * submits more packets at once would wait for ever.
 */
#ifndef RTL_INTERCEPT_QUEUE_PROBE_H
#define RTL_INTERCEPT_QUEUE_PROBE_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/* Create: tries at the first call, on releases that may batch; waits for another thread that is trying. Returns true
 * when intercept queues overwrite memory here. */
bool rtl_probe_look(hsa_agent_t agent);

/* Create: warns the user, once a load, that a queue isn't counted because intercept queues overwrite memory. */
void rtl_probe_warn(void);

/* Any: this runtime was found to hand over several packets at once. */
bool rtl_probe_batches(void);

/*
 * Any: the id that a queue of the application's would have if none had been made for trying: the runtime numbers all
 * queues in sequence. It is what is shown; the application itself finds the runtime's in its queue.
 */
uint64_t rtl_probe_id_without(uint64_t id);

/* Load: another runtime may be there now. */
void rtl_probe_forget(void);

#endif
