/*
 * Pauses a model: the screen stays as it is, while a second model stores new snapshots, so that a pause leaves no hole
 * in histories and windows. A pause of any length costs the snapshots of a second window.
 */
#ifndef RTL_MODEL_MODEL_HELD_H
#define RTL_MODEL_MODEL_HELD_H

#include "model/model_data.h"

/* Start a pause and return the second model. NULL without memory: the pause will leave a hole. */
struct rtl_model *rtl_model_pause(const struct rtl_model *model);

/* Add a snapshot to the second model, as rtl_model_add_past, with the current choices of `model`. */
bool rtl_model_pause_add(struct rtl_model *held, const struct rtl_model *model, struct rtl_snapshot *snapshot,
                         uint64_t real_ns);

/* End the pause: move all new snapshots to `model` and free `held`, which may be NULL. */
bool rtl_model_resume(struct rtl_model *model, struct rtl_model *held);

/* Free the second model without resuming. */
void rtl_model_pause_free(struct rtl_model *held);

#endif
