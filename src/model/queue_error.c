/* Queue errors in words. See queue_error.h. */
#include "model/queue_error.h"
#include "text/text.h"
#include "text/units.h"

#include <stdio.h>

static const struct {
    uint32_t status;
    const char *key, *text;
} errors[] = {
#define ERROR(status, key, text) {status, key, text},
    RTL_QUEUE_ERRORS(ERROR)
#undef ERROR
};

int rtl_queue_error_place(uint32_t status)
{
    int i = 0;
    while (i < RTL_QUEUE_ERROR_COUNT && errors[i].status != status)
        i++;
    return i;
}

const char *rtl_queue_error_key(uint32_t status)
{
    int i = rtl_queue_error_place(status);
    return i < RTL_QUEUE_ERROR_COUNT ? errors[i].key : NULL;
}

void rtl_queue_error_text(uint32_t status, char *out, size_t size)
{
    int i = rtl_queue_error_place(status);
    if (i < RTL_QUEUE_ERROR_COUNT)
        snprintf(out, size, "%s", errors[i].text);
    else
        snprintf(out, size, "error 0x%x", status);
}

const struct rtl_kernel_snapshot *rtl_queue_error_kernel(const struct rtl_snapshot *snapshot,
                                                         const struct rtl_queue_snapshot *queue)
{
    bool known = queue->error && queue->error_kernel;
    const struct rtl_kernel_snapshot *k = known ? rtl_snapshot_kernel(snapshot, queue->error_kernel - 1) : NULL;
    return k && k->name ? k : NULL;
}

const char *rtl_queue_error_kernel_name(const struct rtl_model *model, const struct rtl_queue_snapshot *queue)
{
    const struct rtl_kernel_snapshot *k = rtl_queue_error_kernel(&model->latest->snapshot, queue);
    return k ? rtl_names_cell(model->names, k->id, k->name, k->name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, false)
             : "";
}

void rtl_queue_error_sentence(const struct rtl_model *model, const struct rtl_queue_snapshot *queue, char *out,
                              size_t size)
{
    const char *kernel = rtl_queue_error_kernel_name(model, queue);
    char text[64];
    *out = '\0';
    if (!queue->error)
        return;
    rtl_queue_error_text(queue->error, text, sizeof text);
    rtl_text_append(out, size, "%s%s%s, %s after the start; the queue accepts no more work", text,
                    *kernel ? " in " : "", kernel, rtl_format_age(queue->error_after_ns).text);
}

/* The library publishes an error of the GPU for each queue with a kernel in flight. */
static bool is_of_gpu(uint32_t status)
{
    enum { MEMORY_FAULT = 0x2b, GPU = 0x1000 };
    return status == MEMORY_FAULT || status == GPU;
}

void rtl_queue_errors_add(const struct rtl_model *model, uint32_t gpu, struct rtl_gpu_facts *facts)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    const struct rtl_queue_snapshot *first = NULL;
    for (uint32_t i = 0; i < now->queue_count; i++) {
        const struct rtl_queue_snapshot *queue = &now->queues[i];
        bool counts = queue->live || queue->shared || (!queue->pid && now->state == RTL_STATE_UNLOADED);
        if (queue->gpu == gpu && queue->error && counts && (!first || queue->error_after_ns < first->error_after_ns))
            first = queue;
    }
    if (!first)
        return;
    facts->error_queues = 1;
    for (uint32_t i = 0; is_of_gpu(first->error) && i < now->queue_count; i++)
        facts->error_queues += &now->queues[i] != first && now->queues[i].gpu == gpu &&
                               now->queues[i].error == first->error && now->queues[i].pid == first->pid;
    rtl_queue_error_text(first->error, facts->error, sizeof facts->error);
    rtl_text_append(facts->error_kernel, sizeof facts->error_kernel, "%s", rtl_queue_error_kernel_name(model, first));
    if (first->shared)
        rtl_text_append(facts->error_queue, sizeof facts->error_queue, "one of the other queues");
    else
        rtl_text_append(facts->error_queue, sizeof facts->error_queue, "queue %llu",
                        (unsigned long long)first->queue_id);
    if (first->pid)
        rtl_text_append(facts->error_queue, sizeof facts->error_queue, " of %llu", (unsigned long long)first->pid);
}
