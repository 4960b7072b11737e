/*
 * Kernels by family (text/names_forms.h): one row with the sums of each family that has shown kernels. The kernels of
 * an open family follow its row.
 *
 * The families' rows follow the kernels' in rtl_model.rows, with ids from RTL_KERNELS_MAX on. They are sorted, frozen
 * and found like kernels. A family has no quantiles, because its kernels differ; its p99 is the highest of its kernels.
 */
#ifndef RTL_MODEL_MODEL_FAMILIES_H
#define RTL_MODEL_MODEL_FAMILIES_H

#include "model/model_data.h"

/* Return the family of a kernel's or a family's row. */
enum rtl_name_family rtl_family_of(const struct rtl_model *model, const struct rtl_row *row);
bool rtl_family_is_open(const struct rtl_model *model, enum rtl_name_family family);

/* Return the row of a family's id, or NULL if it is not shown. */
const struct rtl_row *rtl_family_row(const struct rtl_model *model, uint32_t id);

/* Sum the kernels in the unsorted `order` into families' rows, and append these to `order`, which has room. */
void rtl_families_sum(struct rtl_model *model);
/* Move the kernels of a sorted order below their families; drop those of closed families. False without memory. */
bool rtl_families_arrange(struct rtl_model *model);

#endif
