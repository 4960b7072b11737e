/* Names out of the segment's tables by number, for numbers that may come from a newer library; of GPUs and queues. */
#ifndef RTL_MODEL_LABELS_H
#define RTL_MODEL_LABELS_H

#include "shm/gpu_names.h"
#include "shm/segment_reader.h"

const char *rtl_mode_label(unsigned mode);        /* "default"; "unknown" */
int rtl_mode_parse(const char *name);             /* the mode's number, its other names too; -1 for none */
const char *rtl_activity_key(unsigned activity);  /* "counting"; "unknown" */
const char *rtl_reason_key(unsigned reason);      /* "own_signal"; NULL for a number without a name */
const char *rtl_reason_text(unsigned reason);     /* what it means; NULL likewise */
const char *rtl_copy_reason_key(unsigned reason); /* the same for copies */
const char *rtl_copy_reason_text(unsigned reason);
const char *rtl_direction_key(unsigned direction);  /* "h2d" */
const char *rtl_direction_text(unsigned direction); /* "H2D" */

/* "G1 04:00.0", "G1 04:00.0 queue 5", as in traces; of the slot that several queues share "G1 04:00.0 other queues". */
struct rtl_gpu_name rtl_gpu_label(const struct rtl_snapshot *snapshot, uint32_t gpu);
struct rtl_gpu_name rtl_queue_label(const struct rtl_snapshot *snapshot, const struct rtl_queue_snapshot *queue);

#endif
