/* The error that stopped a queue, in words: the error, the kernel, the queue. */
#ifndef RTL_MODEL_QUEUE_ERROR_H
#define RTL_MODEL_QUEUE_ERROR_H

#include "model/model_data.h"

/* Return the status's place in RTL_QUEUE_ERRORS; RTL_QUEUE_ERROR_COUNT for a number without a name. */
int rtl_queue_error_place(uint32_t status);
const char *rtl_queue_error_key(uint32_t status); /* "memory_fault"; NULL for a number without a name */
/* Write "memory access fault"; "error 0x1234" for a number without a name. */
void rtl_queue_error_text(uint32_t status, char *out, size_t size);

/* Return the kernel that ran when the queue stopped, NULL: not known. */
const struct rtl_kernel_snapshot *rtl_queue_error_kernel(const struct rtl_snapshot *snapshot,
                                                         const struct rtl_queue_snapshot *queue);
/* Return the kernel's name as the screen shows it, uncut; "": not known. `names` owns it. */
const char *rtl_queue_error_kernel_name(const struct rtl_model *model, const struct rtl_queue_snapshot *queue);

/* Write "memory access fault in f_bad, 12.3s after the start; the queue accepts no more work"; "" without an error. */
void rtl_queue_error_sentence(const struct rtl_model *model, const struct rtl_queue_snapshot *queue, char *out,
                              size_t size);

/* Add the errors of the GPU's queues to its facts: of live queues, and of all queues once the process has ended. */
void rtl_queue_errors_add(const struct rtl_model *model, uint32_t gpu, struct rtl_gpu_facts *facts);

#endif
