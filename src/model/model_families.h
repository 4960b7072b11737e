/*
 * Kernels by family (text/names_forms.h): a row for each family that has kernels to show, with the sums of those, and
 * below it the kernels themselves where it is open.
 *
 * The families' rows lie behind the kernels' in rtl_model.rows and are sorted, held and found like them, by ids from
 * RTL_KERNELS_MAX on. Durations of different kernels make no common quantile: a family has none, but as its p99 the
 * highest of its kernels'.
 */
#ifndef RTL_MODEL_MODEL_FAMILIES_H
#define RTL_MODEL_MODEL_FAMILIES_H

#include "model/model_data.h"

/* Which family a row of either kind belongs to. */
enum rtl_name_family rtl_family_of(const struct rtl_model *model, const struct rtl_row *row);
bool rtl_family_is_open(const struct rtl_model *model, enum rtl_name_family family);

/* The row of a family's id, or NULL when it is not shown. */
const struct rtl_row *rtl_family_row(const struct rtl_model *model, uint32_t id);

/* Makes the families' rows of the kernels in `order`, which is unsorted, and appends theirs to it. There is room. */
void rtl_families_sum(struct rtl_model *model);
/* Puts the kernels of a sorted order below their families, those of closed ones nowhere. False without memory. */
bool rtl_families_arrange(struct rtl_model *model);

#endif
