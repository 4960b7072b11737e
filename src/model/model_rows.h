/* Makes rows, sums and their order from the snapshots that model.c has chosen; finds rows. */
#ifndef RTL_MODEL_MODEL_ROWS_H
#define RTL_MODEL_MODEL_ROWS_H

#include "model/model_data.h"

/* Remake everything under "derived" in struct rtl_model except base, before and span_ns. False without memory. */
bool rtl_model_make_rows(struct rtl_model *model);

/* True for a while after rtl_model_freeze_order. */
bool rtl_model_order_is_frozen(const struct rtl_model *model);

/* Return the position of a row in the order, or -1 if it is not shown. */
int rtl_model_position(const struct rtl_model *model, uint32_t id);
const struct rtl_row *rtl_model_row(const struct rtl_model *model, uint32_t id);
/* Return the first position from `from` on, forward (step 1) or back (step -1) and around, whose name contains the
 * text; -1 if there is none. */
int rtl_model_search(struct rtl_model *model, const char *text, int from, int step);

/* The cell with a row's name (rtl_names_cell). */
const char *rtl_model_name(const struct rtl_model *model, const struct rtl_row *row, enum rtl_name_form form, int width,
                           bool ascii);
/* A row's uncut name (rtl_names_form), or the family's name. */
const char *rtl_model_form(const struct rtl_model *model, const struct rtl_row *row, enum rtl_name_form form);
/* Make the names and families of `most` more kernels in advance, because key g and a search need all of them. False
 * when none are left. */
bool rtl_model_prepare(struct rtl_model *model, uint32_t most);

#endif
