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

/* Return the kernel that ended before the gap, or that started after it; NULL: not known. */
const struct rtl_row *rtl_gap_kernel(const struct rtl_model *model, const struct rtl_gap *gap, bool after);

/*
 * Kernels by family (text/names_forms.h): one row with the sums of each family that has shown kernels. The kernels of
 * an open family follow its row.
 *
 * The families' rows follow the kernels' in rtl_model.rows, with ids from RTL_KERNELS_MAX on. They are sorted, frozen
 * and found like kernels. A family has no quantiles, because its kernels differ; its p99 is the highest of its kernels.
 */

bool rtl_family_is_open(const struct rtl_model *model, enum rtl_name_family family);

/* A family's part of all timed kernel time, whatever the table shows. */
struct rtl_family_share {
    enum rtl_name_family family;
    double share;  /* in the window */
    double before; /* in the previous window; below 0: unknown */
};
/* List the families with time in the window, the highest share first; returns their number. */
int rtl_family_shares(const struct rtl_model *model, struct rtl_family_share out[RTL_FAMILY_COUNT]);

#endif
