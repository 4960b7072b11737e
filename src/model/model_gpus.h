/* GPUs: a minute of busy history, waits, copies, the verdict why a GPU is idle, and its longest gaps. */
#ifndef RTL_MODEL_MODEL_GPUS_H
#define RTL_MODEL_MODEL_GPUS_H

#include "model/model_data.h"

/* Append the last interval to every GPU's history; the latest snapshot has just been added. */
void rtl_model_extend_gpu_history(struct rtl_model *model);

/* Make the rows of the GPUs from the rows of the queues. */
void rtl_model_make_gpus(struct rtl_model *model);

/* Make the facts and the verdict of each GPU from the rows of queues, copies, GPUs and calls. */
void rtl_model_judge_gpus(struct rtl_model *model);

/* True if the depth of a queue is known: its process times every dispatch, or is observed. `queue` is NULL for the
 * snapshot of one process. */
bool rtl_depth_is_known(const struct rtl_snapshot *snapshot, const struct rtl_queue_snapshot *queue);

/* Percent busy in the interval `back` intervals ago (0 = the last); -1: not measured. */
int rtl_model_busy(const struct rtl_model *model, uint32_t gpu, uint32_t back);

/* True if busy is an upper bound, because the times of several processes on one GPU may overlap. */
bool rtl_model_busy_is_bound(const struct rtl_model *model);

/* Fill in the recorded gaps that ended in the window, longest first; returns their number, RTL_GAPS_MAX at most. */
uint32_t rtl_gaps_in_window(const struct rtl_model *model, const struct rtl_gpu_row *gpu, const struct rtl_gap **out);

/* Likewise all recorded gaps. */
uint32_t rtl_gaps_all(const struct rtl_gpu_row *gpu, const struct rtl_gap **out);

/* Write what the GPU waited for: "no kernel 80%, barrier 20% on queue 3". */
void rtl_gap_text(const struct rtl_model *model, const struct rtl_gap *gap, char *out, size_t size);

#endif
