/* What the model knows about each GPU beyond its gauges: a minute of busy, waits, copies, and why it is not busy. */
#ifndef RTL_MODEL_MODEL_GPUS_H
#define RTL_MODEL_MODEL_GPUS_H

#include "model/model_data.h"

/* Find an agent by its GPU's number; a queue by its slot, beginning at index `near`, where it mostly is. NULL if none.
 */
const struct rtl_agent_snapshot *rtl_agent_of(const struct rtl_snapshot *snapshot, uint32_t gpu);
const struct rtl_queue_snapshot *rtl_queue_of(const struct rtl_snapshot *snapshot, uint32_t slot, uint32_t near);

/* Appends the last interval of every GPU to its history; the latest snapshot has just been added. */
void rtl_model_extend_gpu_history(struct rtl_model *model);

/* Facts and verdict of each GPU; rows of queues, copies and GPUs have been made. */
void rtl_model_judge_gpus(struct rtl_model *model);

/* Percent busy in the interval `back` intervals ago (0 = the last), -1 when that wasn't measured. */
int rtl_model_busy(const struct rtl_model *model, uint32_t gpu, uint32_t back);

/* Whether the GPUs' busy, and their mean, are "at most": several processes' times on one GPU, which may overlap. */
bool rtl_model_busy_is_bound(const struct rtl_model *model);

#endif
