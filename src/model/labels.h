/* Names of numbers in the segment, which may come from a newer library; names of GPUs and queues. */
#ifndef RTL_MODEL_LABELS_H
#define RTL_MODEL_LABELS_H

#include "shm/gpu_names.h"
#include "shm/segment_reader.h"

const char *rtl_mode_label(unsigned mode);        /* "default"; "unknown" */
int rtl_mode_parse(const char *name);             /* the number of a mode or alias; -1 for none */
const char *rtl_activity_key(unsigned activity);  /* "counting"; "unknown" */
const char *rtl_reason_key(unsigned reason);      /* "own_signal"; NULL for a number without a name */
const char *rtl_reason_text(unsigned reason);     /* its meaning; NULL likewise */
const char *rtl_copy_reason_key(unsigned reason); /* reasons of copies, likewise */
const char *rtl_copy_reason_text(unsigned reason);
const char *rtl_direction_key(unsigned direction);  /* "h2d" */
const char *rtl_direction_text(unsigned direction); /* "H2D" */

/* "G1 04:00.0", "G1 04:00.0 queue 5", as in traces; "G1 04:00.0 other queues" for a slot that several queues share. */
struct rtl_gpu_name rtl_gpu_label(const struct rtl_snapshot *snapshot, uint32_t gpu);
struct rtl_gpu_name rtl_queue_label(const struct rtl_snapshot *snapshot, const struct rtl_queue_snapshot *queue);

#endif
