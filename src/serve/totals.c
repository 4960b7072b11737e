/* What all processes have counted together. See totals.h. */
#include "serve/totals.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

enum { FUNCTIONS_SHOWN = RTL_API_FUNCTIONS };

bool rtl_totals_init(struct rtl_totals *totals, uint32_t most)
{
    memset(totals, 0, sizeof *totals);
    rtl_ranked_init(&totals->kernels, most);
    rtl_ranked_init(&totals->functions, FUNCTIONS_SHOWN);
    rtl_ranked_init(&totals->ranges, most);
    totals->names = rtl_names_create();
    return totals->names != NULL;
}

void rtl_totals_free(struct rtl_totals *totals)
{
    rtl_names_free(totals->names); /* points to the names of the series */
    totals->names = NULL;
    rtl_ranked_free(&totals->kernels);
    rtl_ranked_free(&totals->functions);
    rtl_ranked_free(&totals->ranges);
}

static uint64_t grown(uint64_t earlier, uint64_t later)
{
    return later > earlier ? later - earlier : 0;
}

const char *rtl_totals_kernel(struct rtl_totals *totals, uint32_t number)
{
    const struct rtl_series *s = &totals->kernels.series[number];
    return rtl_names_form(totals->names, number, s->name, s->length, RTL_NAME_SHORT);
}

enum rtl_name_family rtl_totals_family(struct rtl_totals *totals, uint32_t number)
{
    if (number >= totals->kernels.count)
        return RTL_FAMILY_OTHER;
    const struct rtl_series *s = &totals->kernels.series[number];
    return rtl_names_family(totals->names, number, s->name, s->length);
}

static void add_kernel(struct rtl_totals *totals, const struct rtl_kernel_snapshot *earlier,
                       const struct rtl_kernel_snapshot *later, uint32_t *series)
{
    if (earlier && earlier->calls == later->calls && earlier->histogram.count == later->histogram.count)
        return;
    if (!*series) {
        uint32_t found = rtl_ranked_find(&totals->kernels, later->name, later->name_length, 0);
        *series = found == RTL_SERIES_OTHER ? found : found + 1;
    }
    uint32_t number = *series == RTL_SERIES_OTHER ? *series : *series - 1;
    struct rtl_tally more = {.calls = grown(earlier ? earlier->calls : 0, later->calls)};
    rtl_classes_grow(&more.times, earlier ? &earlier->histogram : NULL, &later->histogram);
    struct rtl_tally *of[] = {rtl_ranked_tally(&totals->kernels, number),
                              &totals->families[rtl_totals_family(totals, number)]};
    for (int i = 0; i < 2; i++) {
        of[i]->calls += more.calls;
        rtl_classes_add(&of[i]->times, &more.times);
    }
}

uint32_t rtl_bdf_of(const struct rtl_snapshot *snapshot, uint32_t agent)
{
    for (uint32_t i = 0; i < snapshot->agent_count; i++)
        if (snapshot->agents[i].agent == agent)
            return snapshot->agents[i].bdf;
    return RTL_NO_BDF;
}

static struct rtl_served_gpu *gpu_of(struct rtl_totals *totals, uint32_t bdf)
{
    uint32_t i = 0;
    while (i < totals->gpu_count && totals->gpus[i].bdf != bdf)
        i++;
    if (i >= RTL_SERVED_GPUS - 1)
        bdf = RTL_NO_BDF;
    if (i == totals->gpu_count && i < RTL_SERVED_GPUS)
        totals->gpus[totals->gpu_count++].bdf = bdf;
    return &totals->gpus[i < RTL_SERVED_GPUS ? i : RTL_SERVED_GPUS - 1];
}

static const struct rtl_agent_snapshot *agent_before(const struct rtl_snapshot *earlier, uint32_t agent)
{
    for (uint32_t i = 0; earlier && i < earlier->agent_count; i++)
        if (earlier->agents[i].agent == agent)
            return &earlier->agents[i];
    return NULL;
}

static void add_agent(struct rtl_totals *totals, const struct rtl_agent_snapshot *earlier,
                      const struct rtl_agent_snapshot *later)
{
    struct rtl_served_gpu *gpu = gpu_of(totals, later->bdf);
    if (!*gpu->name && gpu->bdf == later->bdf) {
        snprintf(gpu->name, sizeof gpu->name, "%s", later->name);
        snprintf(gpu->uuid, sizeof gpu->uuid, "%s", later->uuid);
    }
    gpu->busy_ns += grown(earlier ? earlier->busy_ns : 0, later->busy_ns);
    for (int i = 0; i < RTL_IDLE_COUNT; i++) {
        gpu->idle[i].count += grown(earlier ? earlier->idle[i].count : 0, later->idle[i].count);
        gpu->idle[i].total_ns += grown(earlier ? earlier->idle[i].total_ns : 0, later->idle[i].total_ns);
    }
}

static void add_queues(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later)
{
    uint32_t at = 0, before = earlier ? earlier->queue_count : 0;
    for (uint32_t i = 0; i < later->queue_count; i++) {
        const struct rtl_queue_snapshot *queue = &later->queues[i];
        while (at < before && earlier->queues[at].slot < queue->slot)
            at++;
        bool same = at < before && earlier->queues[at].slot == queue->slot;
        rtl_classes_grow(&gpu_of(totals, rtl_bdf_of(later, queue->agent))->wait,
                         same ? &earlier->queues[at].wait : NULL, &queue->wait);
    }
}

static void add_copies(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later)
{
    for (uint32_t i = 0; i < later->copies_count; i++) {
        const struct rtl_copies_snapshot *now = &later->copies[i], *then = NULL;
        for (uint32_t n = 0; earlier && !then && n < earlier->copies_count; n++)
            if (earlier->copies[n].agent == now->agent && earlier->copies[n].direction == now->direction)
                then = &earlier->copies[n];
        if (now->direction >= RTL_DIRECTION_COUNT)
            continue;
        struct rtl_served_copies *c = &gpu_of(totals, rtl_bdf_of(later, now->agent))->copies[now->direction];
        c->count += grown(then ? then->count : 0, now->count);
        c->bytes += grown(then ? then->bytes : 0, now->bytes);
        rtl_classes_grow(&c->times, then ? &then->histogram : NULL, &now->histogram);
    }
}

void rtl_totals_add(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later,
                    uint32_t series[RTL_KERNELS_MAX])
{
    uint32_t at = 0, before = earlier ? earlier->kernel_count : 0;
    for (uint32_t i = 0; i < later->kernel_count; i++) {
        const struct rtl_kernel_snapshot *kernel = &later->kernels[i];
        while (at < before && earlier->kernels[at].id < kernel->id)
            at++;
        bool same = at < before && earlier->kernels[at].id == kernel->id;
        if (kernel->id < RTL_KERNELS_MAX)
            add_kernel(totals, same ? &earlier->kernels[at] : NULL, kernel, &series[kernel->id]);
    }
    for (uint32_t i = 0; i < RTL_UNTIMED_LIMIT; i++)
        totals->untimed[i] += grown(earlier ? earlier->untimed[i] : 0, later->untimed[i]);
    for (uint32_t i = 0; i < later->agent_count; i++)
        add_agent(totals, agent_before(earlier, later->agents[i].agent), &later->agents[i]);
    add_queues(totals, earlier, later);
    add_copies(totals, earlier, later);
}

/* --- calls of HIP and ranges --- */

static bool is_same(const struct rtl_api_row_copy *a, const struct rtl_api_row_copy *b)
{
    return a->kind == b->kind && a->text_bytes == b->text_bytes && !memcmp(a->text, b->text, a->text_bytes);
}

/* Rows come in between the others, rarely: the search goes on where the one before it ended. */
static const struct rtl_api_row_copy *row_before(const struct rtl_api_copy *earlier, uint32_t *at,
                                                 const struct rtl_api_row_copy *row)
{
    for (uint32_t i = 0; earlier && i < earlier->count; i++) {
        uint32_t n = (*at + i) % earlier->count;
        if (is_same(&earlier->rows[n], row)) {
            *at = n + 1;
            return &earlier->rows[n];
        }
    }
    return NULL;
}

static void add_row(struct rtl_totals *totals, const struct rtl_api_row_copy *earlier,
                    const struct rtl_api_row_copy *later)
{
    bool range = later->kind == RTL_API_RANGE || later->kind == RTL_API_MARK;
    struct rtl_ranked *ranked = range ? &totals->ranges : &totals->functions;
    unsigned kind = later->kind < RTL_API_KIND_COUNT ? later->kind : 0;
    char label[RTL_API_TEXT + 1]; /* escaped and cut: by what it is shown as it is told apart */
    rtl_text_escape(label, sizeof label, later->text, later->text_bytes);
    bool other = !*label || !strcmp(label, RTL_OTHER_LABEL);
    struct rtl_tally *tally = rtl_ranked_tally(
        ranked, other ? RTL_SERIES_OTHER : rtl_ranked_find(ranked, label, strlen(label), range ? 0 : kind));
    tally->calls += grown(earlier ? earlier->calls : 0, later->calls);
    tally->errors += grown(earlier ? earlier->errors : 0, later->errors);
    if (later->buckets)
        rtl_classes_grow_buckets(&tally->times, earlier && earlier->buckets ? earlier->buckets->count : NULL,
                                 later->buckets->count, RTL_API_BUCKETS,
                                 grown(earlier ? earlier->total_ns : 0, later->total_ns));
}

void rtl_totals_add_calls(struct rtl_totals *totals, const struct rtl_api_copy *earlier,
                          const struct rtl_api_copy *later)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < later->count; i++)
        add_row(totals, row_before(earlier, &at, &later->rows[i]), &later->rows[i]);
}

void rtl_totals_settle(struct rtl_totals *totals, uint64_t now_ns)
{
    rtl_ranked_settle(&totals->kernels, now_ns);
    rtl_ranked_settle(&totals->functions, now_ns);
    rtl_ranked_settle(&totals->ranges, now_ns);
}
