/*
 * Probes in a recording: a row for each frame in which the probe has changed, with all its numbers so far. Files of
 * older recorders and recordings without a probe lack the table.
 *
 * A process has one probe at a time, so a frame shows the last row up to that frame, whichever kernel it is about.
 */
#ifndef RTL_RECORD_RECORDED_PROBE_H
#define RTL_RECORD_RECORDED_PROBE_H

#include "record/probe_told.h"
#include "record/recorded_histogram.h"

/* in rtl_probe_sample; of struct rtl_probe_told. All count since the probe's start. */
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

extern const struct rtl_field_list rtl_probe_fields;
extern const struct rtl_db_set rtl_probe_set;

/* State of one recording, initially zero. */
struct rtl_probe_writer {
    struct rtl_probe_told now, last; /* last: as in the file */
    bool any;                        /* the file has a row */
    struct rtl_text_buffer text[5];
};

/* True if `now` differs from the file. */
bool rtl_probe_has_news(const struct rtl_probe_writer *writer);
/* Write `now`; errors are latched in the database. After the commit the caller sets last = now and any. */
void rtl_probe_write(struct rtl_probe_writer *writer, struct rtl_db *db, int64_t recording, int64_t frame);
void rtl_probe_writer_free(struct rtl_probe_writer *writer);

/* Read the probe at a frame; there = false: no probe yet. Errors are latched in the database. */
void rtl_probe_read(struct rtl_db *db, int64_t recording, int64_t frame, struct rtl_probe_told *probe);

#endif
