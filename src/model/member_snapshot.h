/*
 * What a process of several was like at a moment: its own snapshot again, out of a merged one, so that whoever goes on
 * to watch it alone has its window and its trends at once. Pure.
 */
#ifndef RTL_MODEL_MEMBER_SNAPSHOT_H
#define RTL_MODEL_MEMBER_SNAPSHOT_H

#include "model/model_data.h"

/*
 * Into *out, which shares nothing with the merged snapshot but the names, the process `number` as it was then; `own`: a
 * snapshot of it alone, later. False when what was its own can't be told from what others did (on a GPU that it shares
 * with them), when it wasn't there yet, and without memory.
 */
bool rtl_member_snapshot(const struct rtl_snapshot *merged, uint32_t number, const struct rtl_snapshot *own,
                         struct rtl_snapshot *out);

/* Puts into the model of it alone, which is empty, what the one of all has seen of it. */
void rtl_model_begin_with_history(struct rtl_model *alone, const struct rtl_model *all, uint32_t number,
                                  const struct rtl_snapshot *own);

#endif
