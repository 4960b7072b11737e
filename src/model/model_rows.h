/* Rows, sums and order, made of the snapshots that model.c has chosen, and how a row is found. */
#ifndef RTL_MODEL_MODEL_ROWS_H
#define RTL_MODEL_MODEL_ROWS_H

#include "model/model_data.h"

/* Remakes everything under "derived" in struct rtl_model but base and span. False without memory. */
bool rtl_model_make_rows(struct rtl_model *model);

/* The order is held: the cursor has just moved (rtl_model_freeze_order). */
bool rtl_model_order_is_frozen(const struct rtl_model *model);

/* Position in the order of a kernel, or -1 when it is not shown. */
int rtl_model_position(const struct rtl_model *model, uint32_t id);
const struct rtl_row *rtl_model_row(const struct rtl_model *model, uint32_t id);
/* First position at or after `from` (step 1) or before (step -1), going round, whose name has the text; -1 if none. */
int rtl_model_search(struct rtl_model *model, const char *text, int from, int step);

/* The shown name of a row, see rtl_names_cell. */
const char *rtl_model_name(const struct rtl_model *model, const struct rtl_row *row, enum rtl_name_form form, int width,
                           bool ascii);
/* Its name whole, see rtl_names_form; the family's for the row of one. */
/* Makes the names and families of at most so many kernels that had none so far: whoever asks for all of them at once
 * (key g, a search) need not wait for them then. False when there are no more. */
bool rtl_model_prepare(struct rtl_model *model, uint32_t most);
const char *rtl_model_form(const struct rtl_model *model, const struct rtl_row *row, enum rtl_name_form form);

#endif
