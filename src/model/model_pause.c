/* Stores snapshots while a model is paused. See model_pause.h. */
#include "model/model_pause.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* Move everything but rows and choices to another model, with references and arrays. */
static void copy_contents(struct rtl_model *to, const struct rtl_model *from)
{
    to->latest = from->latest;
    to->previous = from->previous;
    to->samples = from->samples;
    to->ring_count = from->ring_count;
    memcpy(to->ring, from->ring, sizeof to->ring);
    memcpy(to->history, from->history, sizeof to->history);
    memcpy(to->history_ns, from->history_ns, sizeof to->history_ns);
    memcpy(to->busy_history, from->busy_history, sizeof to->busy_history);
    memcpy(to->empty_history, from->empty_history, sizeof to->empty_history);
    to->state = from->state;
    to->stuck_since_ns = from->stuck_since_ns;
    to->stale_ns = from->stale_ns;
    to->damaged = from->damaged;
}

static void copy_choices(struct rtl_model *held, const struct rtl_model *model)
{
    held->window_ns = model->window_ns;
    held->zero = model->zero; /* borrowed */
}

struct rtl_model *rtl_model_pause(const struct rtl_model *model)
{
    enum { BYTES = 2 * RTL_MODEL_HISTORY * sizeof(uint16_t) };
    struct rtl_model *held = calloc(1, sizeof *held);
    if (!held)
        return NULL;
    copy_contents(held, model);
    copy_choices(held, model);
    rtl_sample_share(held->latest);
    rtl_sample_share(held->previous);
    for (int i = 0; i < held->ring_count; i++)
        rtl_sample_share(held->ring[i]);
    for (int i = 0; i < RTL_KERNELS_MAX; i++) {
        if (!model->history[i])
            continue;
        held->history[i] = malloc(BYTES); /* without memory only this trend is missing */
        if (held->history[i])
            memcpy(held->history[i], model->history[i], BYTES);
    }
    return held;
}

bool rtl_model_pause_add(struct rtl_model *held, const struct rtl_model *model, struct rtl_snapshot *snapshot,
                         uint64_t real_ns)
{
    copy_choices(held, model);
    return rtl_model_add_past(held, snapshot, real_ns);
}

bool rtl_model_resume(struct rtl_model *model, struct rtl_model *held)
{
    if (!held)
        return true;
    struct rtl_model *before = calloc(1, sizeof *before);
    if (!before) { /* the new snapshots are lost */
        rtl_model_pause_free(held);
        return false;
    }
    copy_contents(before, model);
    copy_contents(model, held);
    free(held);
    bool ok = rtl_model_refresh(model);
    if (!ok) /* the rows refer to snapshots that are freed below */
        model->row_count = model->shown = model->gpu_count = model->queue_count = model->copies_count = 0;
    rtl_model_pause_free(before);
    return ok;
}

void rtl_model_pause_free(struct rtl_model *held)
{
    if (!held)
        return;
    held->zero = NULL;
    rtl_model_free(held);
}
