/* The text of cells. See cells.h. */
#include "model/cells.h"
#include "model/labels.h"
#include "model/model_gpus.h"
#include "shm/gpu_names.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

static void dimensions(char *out, size_t size, uint64_t x, uint64_t y, uint64_t z)
{
    snprintf(out, size, "%llu", (unsigned long long)x);
    if (y > 1 || z > 1)
        rtl_text_append(out, size, "x%llu", (unsigned long long)y);
    if (z > 1)
        rtl_text_append(out, size, "x%llu", (unsigned long long)z);
}

/* Put "~" in front of an estimate. */
static struct rtl_number mark_estimate(bool estimated, struct rtl_number number)
{
    if (estimated) {
        memmove(number.text + 1, number.text, sizeof number.text - 1);
        number.text[0] = '~';
        number.text[sizeof number.text - 1] = 0;
    }
    return number;
}

bool rtl_cell_text(const struct rtl_model *model, const struct rtl_row *row, enum rtl_column column,
                   enum rtl_unit units, char *out, size_t size)
{
    const struct rtl_kernel_snapshot *k = row->kernel;
    bool timed = row->window.count > 0, measured = true;
    struct rtl_number n = {RTL_NONE};
    switch (column) {
    case RTL_COLUMN_TIME:
        if ((measured = (timed || row->window_estimated_ns) && !model->no_shares))
            n = mark_estimate(model->estimated, rtl_format_share(row->share));
        break;
    case RTL_COLUMN_RATE:
        if ((measured = row->rate >= 0))
            n = rtl_format_rate(row->rate);
        break;
    case RTL_COLUMN_CALLS:
        n = rtl_format_count(row->calls);
        break;
    case RTL_COLUMN_TOTAL:
        if ((measured = row->timed > 0 || row->estimated_ns))
            n = mark_estimate(rtl_row_total_estimated(row), rtl_format_time(rtl_row_total_ns(row), units));
        break;
    case RTL_COLUMN_MEAN:
        if ((measured = rtl_row_mean_ns(row) > 0))
            n = mark_estimate(rtl_row_window_estimated(row), rtl_format_time(rtl_row_mean_ns(row), units));
        break;
    case RTL_COLUMN_MIN:
    case RTL_COLUMN_P50:
    case RTL_COLUMN_P90:
    case RTL_COLUMN_P99:
    case RTL_COLUMN_MAX:
        if ((measured = rtl_row_time_ns(row, column) > 0))
            n = rtl_format_time(rtl_row_time_ns(row, column), units);
        break;
    case RTL_COLUMN_LAUNCH:
        if ((measured = row->launches > 0))
            n = rtl_format_time(row->launch_p50, units);
        break;
    case RTL_COLUMN_UNTIMED:
        if ((measured = row->calls > 0 && !model->range)) /* a range knows only timed dispatches */
            n = rtl_format_share((double)row->untimed / (double)row->calls);
        break;
    case RTL_COLUMN_CHANGE:
    case RTL_COLUMN_CHANGE50: {
        struct rtl_change change = column == RTL_COLUMN_CHANGE ? row->change.p99 : row->change.p50;
        rtl_change_text(change, out, size);
        return change.kind != RTL_CHANGE_UNKNOWN;
    }
    case RTL_COLUMN_GRID:
    case RTL_COLUMN_WORKGROUP:
        if (!(measured = k->calls && k->grid[0]))
            break;
        if (column == RTL_COLUMN_GRID)
            dimensions(out, size, k->grid[0], k->grid[1], k->grid[2]);
        else
            dimensions(out, size, k->workgroup[0], k->workgroup[1], k->workgroup[2]);
        return true;
    case RTL_COLUMN_SLOWEST:
        rtl_slowest_text(model, row, out, size);
        return strcmp(out, RTL_NONE) != 0;
    case RTL_COLUMN_LDS:
        if ((measured = k->calls && k->grid[0]))
            n = rtl_format_bytes(k->lds_bytes);
        break;
    case RTL_COLUMN_FAMILY:
        snprintf(out, size, "%s", rtl_name_family_name(rtl_family_of(model, row)));
        return true;
    default:
        measured = false;
    }
    snprintf(out, size, "%s", n.text);
    return measured;
}

int rtl_cell_width(int width, int columns)
{
    enum { STEP = 3 };
    return columns <= width ? width : width + (columns - width + STEP - 1) / STEP * STEP;
}

void rtl_cell_widths(const struct rtl_model *model, enum rtl_unit units, int width[RTL_COLUMN_COUNT])
{
    for (int i = 0; i < RTL_COLUMN_COUNT; i++) {
        uint64_t least = UINT64_MAX, most = 0; /* the longest texts have many digits before or behind the point */
        width[i] = rtl_columns[i].width + (model->estimated && (i == RTL_COLUMN_MEAN || i == RTL_COLUMN_TOTAL));
        for (uint32_t r = 0; units != RTL_UNIT_AUTO && r < model->shown; r++) {
            uint64_t ns = rtl_row_time_ns(&model->rows[model->order[r]], i);
            least = ns && ns < least ? ns : least;
            most = ns > most ? ns : most;
        }
        for (int end = 0; most && end < 2; end++)
            width[i] = rtl_cell_width(width[i], rtl_text_columns(rtl_format_time(end ? most : least, units).text));
    }
    const struct rtl_parts *parts = model->latest ? model->latest->snapshot.parts : NULL;
    if (!parts) /* a single process: nothing to compare */
        width[RTL_COLUMN_SLOWEST] = 0;
    for (uint32_t i = 0; parts && i < parts->member_count; i++)
        width[RTL_COLUMN_SLOWEST] =
            rtl_cell_width(width[RTL_COLUMN_SLOWEST], (int)strlen(parts->members[i].name) + (int)sizeof "1.4x");
}

/* --- the list of processes --- */

/* "03:00.0"; "03:00.0 +7" for several GPUs; "-" if the process has not used any. */
static void gpus_text(const struct rtl_snapshot *s, uint64_t gpus, char *out, size_t size)
{
    int count = __builtin_popcountll(gpus);
    snprintf(out, size, RTL_NONE);
    for (uint32_t i = 0; i < s->agent_count; i++) {
        if (!(gpus >> (s->agents[i].gpu % RTL_AGENTS_MAX) & 1))
            continue;
        struct rtl_gpu_name address = rtl_pci_address(s->agents[i].bdf);
        const char *shown = *address.text && s->agents[i].bdf >> 16 == 0 ? address.text + 5 : address.text;
        char number[16];
        snprintf(number, sizeof number, "G%u", (unsigned)s->agents[i].gpu);
        if (count > 1)
            snprintf(out, size, "%.14s +%d", *shown ? shown : number, count - 1);
        else
            snprintf(out, size, "%.14s", *shown ? shown : number);
        return;
    }
}

void rtl_process_cells(const struct rtl_model *model, const struct rtl_process_row *row, enum rtl_unit units,
                       uint64_t real_ns, struct rtl_process_cells *out)
{
    const struct rtl_member *member = row->member;
    bool known = member->start_mono_ns; /* its segment was read */
    bool window = model->span_ns > 0 && known;
    memset(out, 0, sizeof *out);
    snprintf(out->pid, sizeof out->pid, "%d", (int)member->info.pid);
    snprintf(out->label, sizeof out->label, "%s", *member->info.label ? member->name : RTL_NONE);
    gpus_text(&model->latest->snapshot, member->gpus, out->gpu, sizeof out->gpu);
    snprintf(out->container, sizeof out->container, "%s", *member->info.container ? member->info.container : RTL_NONE);
    snprintf(out->busy, sizeof out->busy, "%s", window && row->busy >= 0 ? rtl_format_share(row->busy).text : RTL_NONE);
    snprintf(out->rate, sizeof out->rate, "%s", window ? rtl_format_rate(row->rate).text : RTL_NONE);
    snprintf(out->worst, sizeof out->worst, "%s", row->worst ? rtl_format_time(row->worst_p99, units).text : RTL_NONE);
    snprintf(out->mode, sizeof out->mode, "%s",
             member->ended      ? "exited"
             : !known           ? RTL_NONE
             : member->stale_ns ? "stale"
                                : rtl_mode_label(member->mode));
    snprintf(out->age, sizeof out->age, "%s",
             member->start_real_ns && real_ns > member->start_real_ns
                 ? rtl_format_age(real_ns - member->start_real_ns).text
                 : RTL_NONE);
}
