/* Writing the HIP calls and ranges of a frame: what changed since the previous frame. */
#ifndef RTL_RECORD_RECORDING_CALLS_H
#define RTL_RECORD_RECORDING_CALLS_H

#include "record/recorded_histogram.h"

/* Numbers that a recording has assigned, at most as many as a replay accepts; later names are left out and counted. */
struct rtl_call_names {
    struct rtl_call_number *list;
    uint32_t count, room;
    uint32_t head[1024]; /* by hash: newest entry of the chain, + 1 */
};
struct rtl_call_numbers {
    struct rtl_call_names calls, nodes;
};
void rtl_call_numbers_free(struct rtl_call_numbers *numbers);
/* Forget all but the first numbers, after a transaction has failed. */
void rtl_call_numbers_take_back(struct rtl_call_numbers *numbers, uint32_t calls, uint32_t nodes);

struct rtl_calls_writer {
    struct rtl_db *db;
    int64_t recording, frame;
    uint64_t sequence;
    struct rtl_call_numbers *numbers;
    struct rtl_histogram_texts *texts;
    const struct rtl_snapshot *before, *now; /* `before` empty: this is the first frame */
};

/* Write the calls of a frame; errors are latched in the database. */
void rtl_calls_write(const struct rtl_calls_writer *writer);

#endif
