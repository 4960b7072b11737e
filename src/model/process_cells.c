/* The text of the process list's cells. See process_cells.h. */
#include "model/process_cells.h"
#include "model/labels.h"
#include "shm/gpu_names.h"

#include <stdio.h>
#include <string.h>

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
    snprintf(out->label, sizeof out->label, "%s", *member->info.label ? member->info.label : RTL_NONE);
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
