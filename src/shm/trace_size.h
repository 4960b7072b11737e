/* Parses RTL_TRACE for librtl.so and librtl-hip.so. Pure. */
#ifndef RTL_SHM_TRACE_SIZE_H
#define RTL_SHM_TRACE_SIZE_H

#include <stdbool.h>
#include <string.h>

#include "shm/segment.h"

/* Parse the value of RTL_TRACE. *records becomes the size of the event ring, a power of two: 0 for NULL, empty or "0";
 * the default for "1"; otherwise as many as fit into a size such as 512K, 64M or 1G, rounded up. False for any other
 * value. */
static inline bool rtl_trace_parse(const char *trace, uint32_t *records)
{
    uint64_t size = 0, unit = 0, most = (uint64_t)RTL_EVENTS_LIMIT * sizeof(struct rtl_event_record);
    *records = 0;
    if (!trace || !trace[0] || strcmp(trace, "0") == 0)
        return true;
    if (strcmp(trace, "1") == 0) {
        *records = RTL_EVENTS_DEFAULT;
        return true;
    }
    for (; *trace >= '0' && *trace <= '9' && size <= most; trace++)
        size = size * 10 + (uint64_t)(*trace - '0');
    unit = *trace == 'K' || *trace == 'k'   ? 10
           : *trace == 'M' || *trace == 'm' ? 20
           : *trace == 'G' || *trace == 'g' ? 30
                                            : 0;
    if (!unit || trace[1] || size > most >> unit || size << unit < RTL_EVENTS_MIN * sizeof(struct rtl_event_record))
        return false;
    *records = RTL_EVENTS_MIN;
    while (*records * sizeof(struct rtl_event_record) < size << unit)
        *records *= 2;
    return true;
}

#endif
