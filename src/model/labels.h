/* Names of numbers in the segment, which may come from a newer library; names of GPUs and queues. */
#ifndef RTL_MODEL_LABELS_H
#define RTL_MODEL_LABELS_H

#include "shm/gpu_names.h"
#include "shm/segment_reader.h"

const char *rtl_mode_label(unsigned mode);       /* "default"; "unknown" */
int rtl_mode_parse(const char *name);            /* the number of a mode or alias; -1 for none */
const char *rtl_activity_key(unsigned activity); /* "counting"; "unknown" */

/* A key for programs and a text for people; both are NULL for a reason without a name. */
struct rtl_key_text {
    const char *key, *text;
};
struct rtl_key_text rtl_reason_names(unsigned reason); /* "own_signal" and its meaning */
struct rtl_key_text rtl_copy_reason_names(unsigned reason);
struct rtl_key_text rtl_direction_names(unsigned direction); /* "h2d", "H2D"; "unknown", "?" */

/* "G1 04:00.0", "G1 04:00.0 queue 5", as in traces; "G1 04:00.0 other queues" for a slot that several queues share. */
struct rtl_gpu_name rtl_gpu_label(const struct rtl_snapshot *snapshot, uint32_t gpu);
struct rtl_gpu_name rtl_queue_label(const struct rtl_snapshot *snapshot, const struct rtl_queue_snapshot *queue);

#endif
