/* Writes what a frame has of calls and ranges (calls_schema.h): what changed since the frame before. */
#ifndef RTL_RECORD_RECORDING_CALLS_H
#define RTL_RECORD_RECORDING_CALLS_H

#include "record/buckets.h"
#include "record/calls_schema.h"

/* The numbers that a recording has given: as many as a replay takes. What comes later is left out, and counted. */
struct rtl_call_names {
    struct rtl_call_number *list;
    uint32_t count, room;
    uint32_t head[1024]; /* by hash: the newest of a chain, + 1 */
};
struct rtl_call_numbers {
    struct rtl_call_names calls, nodes;
};
void rtl_call_numbers_free(struct rtl_call_numbers *numbers);
/* Only the first so many were given after all. */
void rtl_call_numbers_take_back(struct rtl_call_numbers *numbers, uint32_t calls, uint32_t nodes);

struct rtl_calls_writer {
    struct rtl_db *db;
    int64_t recording, frame;
    uint64_t sequence;
    struct rtl_call_numbers *numbers;
    struct rtl_histogram_delta *delta;
    const struct rtl_snapshot *before, *now; /* `before` NULL: nothing was written so far */
};

/* Writes a frame's. Errors are latched in the database; the caller takes back what was numbered in a transaction that
 * failed. */
void rtl_calls_write(const struct rtl_calls_writer *writer);

#endif
