/* Writes the event rings (events.h). */
#include "hip/events.h"

#include <stdatomic.h>
#include <string.h>

static uint64_t next[RTL_HIP_API_BLOCKS]; /* the block's owner: number of records ever written */
static _Atomic(bool) busy;                /* any: a thread writes the ring of the shared block */

typedef uint64_t __attribute__((may_alias)) ring_word;

static void write_record(struct rtl_hip_api *api, uint32_t block, const struct rtl_hip_api_event *event)
{
    enum { WORDS = sizeof *event / sizeof(uint64_t) };
    uint64_t number = ++next[block], from[WORDS];
    ring_word *to = (void *)&api->events[block * api->records + ((number - 1) & (api->records - 1))];
    memcpy(from, event, sizeof from);
    __atomic_store_n(&to[0], 0, __ATOMIC_RELAXED);
    /* release stores stay behind the 0 like behind a fence, and ThreadSanitizer understands them */
    for (int i = 1; i < WORDS; i++)
        __atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
    __atomic_store_n(&to[0], number, __ATOMIC_RELEASE);
    __atomic_store_n(&api->threads[block].events, number, __ATOMIC_RELEASE);
}

void rtl_hip_api_append_event(struct rtl_hip_api *api, const struct rtl_hip_api_event *event)
{
    uint32_t block = rtl_hip_thread.block;
    if (likely(block != 0)) {
        write_record(api, block, event);
    } else if (!atomic_exchange_explicit(&busy, true, memory_order_acquire)) {
        write_record(api, 0, event);
        atomic_store_explicit(&busy, false, memory_order_release);
    } else {
        rtl_hip_api_add(&api->header->events_dropped, 1);
    }
}
