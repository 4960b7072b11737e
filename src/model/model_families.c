/* Kernels by family. See model_families.h. */
#include "model/model_families.h"
#include "model/row_times.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum rtl_name_family rtl_family_of(const struct rtl_model *model, const struct rtl_row *row)
{
    if (row->id >= RTL_KERNELS_MAX)
        return (enum rtl_name_family)(row->id - RTL_KERNELS_MAX);
    return rtl_names_family(model->names, row->id, row->kernel->name, row->kernel->name_length);
}

bool rtl_family_is_open(const struct rtl_model *model, enum rtl_name_family family)
{
    return model->families_open >> family & 1;
}

const struct rtl_row *rtl_family_row(const struct rtl_model *model, uint32_t id)
{
    if (!model->families || !model->shown || id < RTL_KERNELS_MAX || id >= RTL_MODEL_IDS)
        return NULL;
    const struct rtl_row *row = &model->rows[model->row_count + id - RTL_KERNELS_MAX];
    return row->kernels ? row : NULL;
}

static void add_window(struct rtl_row *sum, const struct rtl_row *row)
{
    struct rtl_window *all = &sum->window;
    const struct rtl_window *w = &row->window;
    if (!w->count)
        return;
    all->min_ns = !all->count || w->min_ns < all->min_ns ? w->min_ns : all->min_ns;
    all->max_ns = w->max_ns > all->max_ns ? w->max_ns : all->max_ns;
    all->count += w->count;
    all->total_ns += w->total_ns;
    all->approximate |= w->approximate;
    sum->p99 = row->p99 > sum->p99 ? row->p99 : sum->p99;
}

static void add_to_family(struct rtl_row *sum, const struct rtl_row *row)
{
    /* one estimate makes the family's time an estimate */
    sum->estimated_ns += rtl_row_total_ns(row);
    sum->window_estimated_ns += rtl_row_window_ns(row);
    sum->kernels++;
    sum->calls += row->calls;
    sum->timed += row->timed;
    sum->untimed += row->untimed;
    sum->total_ns += row->total_ns;
    sum->window_calls += row->window_calls;
    sum->share += row->share;
    sum->rate += row->rate;
    add_window(sum, row);
}

void rtl_families_sum(struct rtl_model *model)
{
    struct rtl_row *families = &model->rows[model->row_count];
    memset(model->family_kernels, 0, sizeof model->family_kernels);
    for (uint32_t f = 0; f < RTL_FAMILY_COUNT; f++)
        families[f] = (struct rtl_row){.id = RTL_KERNELS_MAX + f, .kernel = &model->family_kernels[f]};
    for (uint32_t i = 0; i < model->shown; i++) {
        const struct rtl_row *row = &model->rows[model->order[i]];
        add_to_family(&families[rtl_family_of(model, row)], row);
    }
    for (uint32_t f = 0; f < RTL_FAMILY_COUNT; f++) {
        if (!model->estimated)
            families[f].estimated_ns = families[f].window_estimated_ns = 0;
        struct rtl_kernel_snapshot *k = &model->family_kernels[f];
        const char *name = rtl_name_family_name((enum rtl_name_family)f);
        k->id = RTL_KERNELS_MAX + f;
        k->name = name;
        k->name_length = strlen(name);
        k->calls = families[f].calls;
        k->untimed = families[f].untimed;
        snprintf(model->family_labels[f], sizeof model->family_labels[f], "%c %s  %u kernel%s",
                 rtl_family_is_open(model, (enum rtl_name_family)f) ? '-' : '+', name, families[f].kernels,
                 families[f].kernels == 1 ? "" : "s");
        if (families[f].kernels)
            model->order[model->shown++] = model->row_count + f;
    }
}

bool rtl_families_arrange(struct rtl_model *model)
{
    uint32_t count = model->shown, *sorted = malloc((count + 1) * sizeof *sorted);
    uint32_t at[RTL_FAMILY_COUNT] = {0}, rows[RTL_FAMILY_COUNT] = {0}, used = 0;
    if (!sorted)
        return false;
    memcpy(sorted, model->order, count * sizeof *sorted);
    for (uint32_t i = 0; i < count; i++)
        if (!model->rows[sorted[i]].kernels)
            rows[rtl_family_of(model, &model->rows[sorted[i]])]++;
    for (uint32_t i = 0; i < count; i++) { /* place each family and leave room for its kernels */
        const struct rtl_row *row = &model->rows[sorted[i]];
        enum rtl_name_family family = rtl_family_of(model, row);
        if (!row->kernels)
            continue;
        model->order[used++] = sorted[i];
        at[family] = used;
        used += rtl_family_is_open(model, family) ? rows[family] : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct rtl_row *row = &model->rows[sorted[i]];
        enum rtl_name_family family = rtl_family_of(model, row);
        if (!row->kernels && rtl_family_is_open(model, family))
            model->order[at[family]++] = sorted[i];
    }
    model->shown = used;
    free(sorted);
    return true;
}
