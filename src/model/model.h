/*
 * The model: turns snapshots of one process, or merged ones, into rows. It uses no terminal and no clock.
 *
 * Differences of snapshots give three spans of time:
 *  - totals: since the process was first traced, or since the user's zero (the target's counters stay as they are);
 *  - the window: sliding, the table ranks by it; its quantiles are compared with those of the previous window;
 *  - the interval: between the last two snapshots, for trends and JSON's "window".
 * A ring of at most RTL_MODEL_RING snapshots bounds the memory; rtl_model.span_ns is the window's actual length.
 */
#ifndef RTL_MODEL_MODEL_H
#define RTL_MODEL_MODEL_H

#include "model/model_data.h"
#include "model/model_rows.h"

/* Return the state's word in JSON. */
const char *rtl_target_json(enum rtl_target_state state);

/* NULL without memory. */
struct rtl_model *rtl_model_create(void);
void rtl_model_free(struct rtl_model *model);

/* Add a snapshot, own its contents (*snapshot is zeroed), and refresh the rows. False without memory. */
bool rtl_model_add(struct rtl_model *model, struct rtl_snapshot *snapshot, uint64_t real_ns);

/* Likewise without refreshing rows, order and sums: for frames that are not shown. */
bool rtl_model_add_past(struct rtl_model *model, struct rtl_snapshot *snapshot, uint64_t real_ns);

/* Drop all snapshots, because earlier ones follow (a replay goes back). Names and choices stay; so does zero if it is
 * not later than `mono_ns`. There are no rows until the next rtl_model_add. */
void rtl_model_forget(struct rtl_model *model, uint64_t mono_ns);

/* The process has ended: its last snapshot stays. */
void rtl_model_exited(struct rtl_model *model);

/* Refresh rows, order and sums after the user changed a choice. False without memory. */
bool rtl_model_refresh(struct rtl_model *model);

void rtl_model_zero(struct rtl_model *model);      /* totals count from the latest snapshot on */
bool rtl_model_undo_zero(struct rtl_model *model); /* once; false: there is no zero to undo */
void rtl_model_sort(struct rtl_model *model, enum rtl_column column, bool reverse);
void rtl_model_group(struct rtl_model *model, bool families);
void rtl_model_open(struct rtl_model *model, enum rtl_name_family family, bool open);
/* Mark steps by a range or kernel of this name, or else by those that contain the text; NULL: choose automatically.
 * False without memory. */
bool rtl_model_mark_step(struct rtl_model *model, const char *name);
/* Restrict rows to the kernels of a range in the tree of model->hip_api (model_range.h). False: the range owns none. */
bool rtl_model_enter_range(struct rtl_model *model, const struct rtl_hip_api_model_row *row);
void rtl_model_leave_range(struct rtl_model *model);
void rtl_model_freeze_order(struct rtl_model *model); /* for a while, because the cursor moved */
void rtl_model_set_window(struct rtl_model *model, uint64_t window_ns);

/* p99 and p50 of the interval `back` intervals ago (0 = the last): ns, or 0 if no dispatch was timed. */
uint64_t rtl_model_history(const struct rtl_model *model, const struct rtl_row *row, uint32_t back, bool p50);

/* The age of the worker's heartbeat, in ns; *parked: it sleeps because nothing is in flight. */
uint64_t rtl_model_write_age(const struct rtl_model *model, bool *parked);
uint64_t rtl_model_in_flight(const struct rtl_model *model);
/* How long the totals have counted, in ns before the latest snapshot. */
uint64_t rtl_model_since(const struct rtl_model *model);

/*
 * Pauses a model: the screen stays as it is, while a second model stores new snapshots, so that a pause leaves no hole
 * in histories and windows. A pause of any length costs the snapshots of a second window.
 */

/* Start a pause and return the second model. NULL without memory: the pause will leave a hole. */
struct rtl_model *rtl_model_pause(const struct rtl_model *model);

/* Add a snapshot to the second model, as rtl_model_add_past, with the current choices of `model`. */
bool rtl_model_pause_add(struct rtl_model *held, const struct rtl_model *model, struct rtl_snapshot *snapshot,
                         uint64_t real_ns);

/* End the pause: move all new snapshots to `model` and free `held`, which may be NULL. */
bool rtl_model_resume(struct rtl_model *model, struct rtl_model *held);

/* Free the second model without resuming. */
void rtl_model_pause_free(struct rtl_model *held);

/* --- the model of one process, from merged snapshots (member_snapshot.c) --- */

/*
 * Write the snapshot of process `number` at that time into *out, which shares only the names with `merged`. `own` is a
 * later snapshot of this process alone. False if the process shares a GPU with others (their times are summed), if it
 * had not joined yet, or without memory.
 */
bool rtl_member_snapshot(const struct rtl_snapshot *merged, uint32_t number, const struct rtl_snapshot *own,
                         struct rtl_snapshot *out);

/* Add the process's past snapshots in the model of all processes to `alone`, an empty model of this process. */
void rtl_model_begin_with_history(struct rtl_model *alone, const struct rtl_model *all, uint32_t number,
                                  const struct rtl_snapshot *own);

#endif
