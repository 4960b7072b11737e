/*
 * A model that is held: what it shows stays, while what comes in is kept for when it goes on, so that a pause leaves no
 * hole in histories and windows. Costs the snapshots of a second window, however long it is held.
 */
#ifndef RTL_MODEL_MODEL_HELD_H
#define RTL_MODEL_MODEL_HELD_H

#include "model/model_data.h"

/* Begins to hold. NULL without memory: then there will be a hole. */
struct rtl_model *rtl_model_pause(const struct rtl_model *model);

/* What comes in meanwhile, into what rtl_model_pause returned; as rtl_model_add_past, with the choices that the
 * model has now. */
bool rtl_model_pause_add(struct rtl_model *held, const struct rtl_model *model, struct rtl_snapshot *snapshot,
                         uint64_t real_ns);

/* Goes on: the model has all that came in. Frees `held`, which may be NULL. */
bool rtl_model_resume(struct rtl_model *model, struct rtl_model *held);

/* Never goes on. */
void rtl_model_pause_free(struct rtl_model *held);

#endif
