/*
 * What a recording has of probes: for each frame in which something of one had changed a row with all of its numbers so
 * far. In files of older recorders, and where nothing was probed, there is no such table.
 *
 * A process has one probe at a time: what is shown at a frame is the last row until then, whichever kernel's it is.
 */
#ifndef RTL_RECORD_RECORDED_PROBE_H
#define RTL_RECORD_RECORDED_PROBE_H

#include "record/buckets.h"
#include "record/probe_told.h"
#include "record/schema.h"

/* in rtl_probe_sample; of struct rtl_probe_told. All are since the probe began. */
#define RTL_PROBE_FIELDS(X)                      \
    X(runs, runs, SET)                           \
    X(counted, counted, SET)                     \
    X(every, every, SET)                         \
    X(compute_units, compute_units, SET)         \
    X(wanted, state.wanted, SET)                 \
    X(code_bytes, state.code_bytes, SET)         \
    X(code_hash, state.code_hash, SET)           \
    X(dispatches, state.dispatches, SET)         \
    X(probed, state.probed, SET)                 \
    X(recorded, state.recorded, SET)             \
    X(total_ns, state.duration_total_ns, SET)    \
    X(min_ns, state.duration_min_ns, SET)        \
    X(max_ns, state.duration_max_ns, SET)        \
    X(waves_expected, state.waves_expected, SET) \
    X(waves, state.waves, SET)                   \
    X(cycles, state.sum, SET)                    \
    X(min_cycles, state.min, SET)                \
    X(max_cycles, state.max, SET)                \
    X(gap_cycles, state.gap_sum, SET)            \
    X(tails, state.tails, SET)                   \
    X(tail_total_ns, state.tail_total_ns, SET)   \
    X(tail_max_ns, state.tail_max_ns, SET)       \
    X(tail_step_ns, state.tail_step_ns, SET)     \
    X(dies, state.dies, SET)

#define RTL_PROBE_FIELD_LISTS(X) X(probe, PROBE, struct rtl_probe_told)
RTL_PROBE_FIELD_LISTS(RTL_DECLARE_FIELDS)

extern const struct rtl_db_set rtl_probe_set;

/* Of one recording. Zero is a beginning; the owner frees `text`. */
struct rtl_probe_writer {
    struct rtl_probe_told now, last; /* last: what the file has */
    bool any;                        /* it has something */
    struct rtl_text_buffer text[5];
};

/* Something of it is not in the file. */
bool rtl_probe_has_news(const struct rtl_probe_writer *writer);
/* Into a frame; errors are latched in the database. After the commit: last = now, any. */
void rtl_probe_write(struct rtl_probe_writer *writer, struct rtl_db *db, int64_t recording, int64_t frame);
void rtl_probe_writer_free(struct rtl_probe_writer *writer);

/* At a frame; there = false: nothing was probed until then. Errors are latched in the database. */
void rtl_probe_read(struct rtl_db *db, int64_t recording, int64_t frame, struct rtl_probe_told *probe);

#endif
