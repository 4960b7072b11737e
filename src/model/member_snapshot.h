/*
 * Extracts a process's own snapshots from merged ones, so that a view of this process alone has its window and trends
 * at once. Pure.
 */
#ifndef RTL_MODEL_MEMBER_SNAPSHOT_H
#define RTL_MODEL_MEMBER_SNAPSHOT_H

#include "model/model_data.h"

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
