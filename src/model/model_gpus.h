/* GPUs: a minute of busy history, waits, copies, and the verdict why a GPU is idle. */
#ifndef RTL_MODEL_MODEL_GPUS_H
#define RTL_MODEL_MODEL_GPUS_H

#include "model/model_data.h"

/* Find an agent by its GPU's number; a queue by its slot, beginning at index `near`, where it mostly is. NULL if none.
 */
const struct rtl_agent_snapshot *rtl_agent_of(const struct rtl_snapshot *snapshot, uint32_t gpu);
const struct rtl_queue_snapshot *rtl_queue_of(const struct rtl_snapshot *snapshot, uint32_t slot, uint32_t near);

/* Append the last interval to every GPU's history; the latest snapshot has just been added. */
void rtl_model_extend_gpu_history(struct rtl_model *model);

/* Make the facts and the verdict of each GPU from the rows of queues, copies, GPUs and calls. */
void rtl_model_judge_gpus(struct rtl_model *model);

/* Percent busy in the interval `back` intervals ago (0 = the last); -1: not measured. */
int rtl_model_busy(const struct rtl_model *model, uint32_t gpu, uint32_t back);

/* True if busy is an upper bound, because the times of several processes on one GPU may overlap. */
bool rtl_model_busy_is_bound(const struct rtl_model *model);

#endif
