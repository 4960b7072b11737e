/*
 * What the viewer knows about one process: snapshots in, rows out. No terminal, no clock of its own.
 *
 * Three spans of time, all made by subtracting snapshots:
 *  - totals: since the process was first traced, or since `zero` was pressed (the target's counters are never touched);
 *  - the window: sliding, what the table ranks by, and the one before it, which its quantiles are compared with;
 *  - the interval: between the last two snapshots, what the trend and JSON's "window" show.
 * The window's length is bounded by a ring of at most RTL_MODEL_RING snapshots, so the memory is bounded too; the span
 * that it really covers is rtl_model.span_ns.
 */
#ifndef RTL_MODEL_MODEL_H
#define RTL_MODEL_MODEL_H

#include "model/model_data.h"
#include "model/model_families.h"
#include "model/model_rows.h"

/* Returns the state's word in JSON. */
const char *rtl_target_json(enum rtl_target_state state);

/* A sample has several roles at once; NULL is none. */
struct rtl_sample *rtl_sample_share(struct rtl_sample *sample);
void rtl_sample_release(struct rtl_sample *sample);

/* NULL without memory; otherwise all of its parts are there. */
struct rtl_model *rtl_model_create(void);
void rtl_model_free(struct rtl_model *model);

/* Takes over the snapshot's contents (it is zeroed) and brings everything up to date. False without memory. */
bool rtl_model_add(struct rtl_model *model, struct rtl_snapshot *snapshot, uint64_t real_ns);

/* Likewise, but rows, order and sums are left for the next rtl_model_add: for frames between two that are shown. */
bool rtl_model_add_past(struct rtl_model *model, struct rtl_snapshot *snapshot, uint64_t real_ns);

/* Drops all snapshots, because earlier ones follow (a replay goes back). Names and choices stay, and zero if it is not
 * later than `mono_ns`. There are no rows until the next rtl_model_add. */
void rtl_model_forget(struct rtl_model *model, uint64_t mono_ns);

/* The process has ended: what was seen last stays. */
void rtl_model_exited(struct rtl_model *model);

/* Brings rows, order and sums up to date after a choice was changed. False without memory. */
bool rtl_model_refresh(struct rtl_model *model);

void rtl_model_zero(struct rtl_model *model); /* counts from the latest snapshot on; pressed again: from there */
void rtl_model_sort(struct rtl_model *model, enum rtl_column column, bool reverse);
void rtl_model_group(struct rtl_model *model, bool families);
void rtl_model_open(struct rtl_model *model, enum rtl_name_family family, bool open);
/* From now on rows are those of the kernels of that range of the tree in calls (model_range.h). False: it owns none. */
bool rtl_model_enter_range(struct rtl_model *model, const struct rtl_call_row *row);
void rtl_model_leave_range(struct rtl_model *model);
void rtl_model_freeze_order(struct rtl_model *model); /* the cursor moved */
void rtl_model_set_window(struct rtl_model *model, uint64_t window_ns);

/* p99 of the interval `back` intervals ago (0 = the last): ns, or 0 when nothing was timed then. */
uint64_t rtl_model_history(const struct rtl_model *model, const struct rtl_row *row, uint32_t back);
uint64_t rtl_model_history_p50(const struct rtl_model *model, const struct rtl_row *row, uint32_t back); /* likewise */

/* When the worker last did anything, as an age; *parked when it sleeps because nothing is in flight. */
uint64_t rtl_model_write_age(const struct rtl_model *model, bool *parked);
uint64_t rtl_model_in_flight(const struct rtl_model *model);
/* Since when the totals count: ns before the latest snapshot. */
uint64_t rtl_model_since(const struct rtl_model *model);

#endif
