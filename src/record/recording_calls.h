/* Writes what a frame has of calls and ranges (calls_schema.h): what changed since the frame before. */
#ifndef RTL_RECORD_RECORDING_CALLS_H
#define RTL_RECORD_RECORDING_CALLS_H

#include "record/buckets.h"
#include "record/calls_schema.h"

/* The numbers that a recording has given. */
struct rtl_call_numbers {
    struct rtl_call_number *calls, *nodes;
    uint32_t call_count, node_count, call_room, node_room;
};
void rtl_call_numbers_free(struct rtl_call_numbers *numbers);

struct rtl_calls_writer {
    struct rtl_db *db;
    int64_t recording, frame;
    uint64_t sequence;
    struct rtl_call_numbers *numbers;
    struct rtl_histogram_delta *delta;
    const struct rtl_snapshot *before, *now; /* `before` NULL: nothing was written so far */
};

/* Writes a frame's. Errors are latched in the database; the caller takes back what was numbered in a transaction that
 * failed by setting the two counts to what they were. */
void rtl_calls_write(const struct rtl_calls_writer *writer);

#endif
