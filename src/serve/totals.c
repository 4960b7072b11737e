/* Sums over all processes. See totals.h. */
#include "serve/totals.h"
#include "model/queue_error.h"
#include "text/text.h"

#include <stdio.h>
#include <string.h>

enum { FUNCTIONS_SHOWN = RTL_HIP_API_FUNCTIONS };

bool rtl_totals_init(struct rtl_totals *totals, uint32_t most)
{
    memset(totals, 0, sizeof *totals);
    rtl_ranked_init(&totals->kernels, most, 0);
    rtl_ranked_init(&totals->functions, FUNCTIONS_SHOWN, RTL_RANGES_KEPT_NS);
    rtl_ranked_init(&totals->ranges, most, RTL_RANGES_KEPT_NS);
    totals->names = rtl_names_create();
    return totals->names != NULL;
}

void rtl_totals_free(struct rtl_totals *totals)
{
    rtl_names_free(totals->names); /* first: it points to names of the series */
    totals->names = NULL;
    rtl_ranked_free(&totals->kernels);
    rtl_ranked_free(&totals->functions);
    rtl_ranked_free(&totals->ranges);
}

static uint64_t growth(uint64_t earlier, uint64_t later)
{
    return later > earlier ? later - earlier : 0;
}

static void add_times(uint64_t *credit, uint64_t ns, uint64_t factor)
{
    uint64_t more;
    rtl_count_up(credit, __builtin_mul_overflow(ns, factor, &more) ? UINT64_MAX : more);
}

void rtl_credit_add(struct rtl_credit *credit, uint64_t ns)
{
    add_times(&credit->events, ns, 1);
    add_times(&credit->busy_ns, ns, RTL_CREDIT_BUSY);
    add_times(&credit->waited_ns, ns, RTL_CREDIT_WAITING);
    add_times(&credit->bytes, ns, RTL_CREDIT_BYTES);
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    rtl_count_up(&a, b);
    return a;
}

/* Charge the credit; false, and a false number counted, if it is exceeded. */
static bool charge_credit(struct rtl_share *share, struct rtl_credit need)
{
    struct rtl_credit *c = &share->credit;
    if (need.events > c->events || need.busy_ns > c->busy_ns || need.waited_ns > c->waited_ns ||
        need.bytes > c->bytes) {
        share->untrue++;
        return false;
    }
    c->events -= need.events;
    c->busy_ns -= need.busy_ns;
    c->waited_ns -= need.waited_ns;
    c->bytes -= need.bytes;
    return true;
}

/* Add the growth of a counter of events, or of time. */
static void count_grown(uint64_t *counter, uint64_t earlier, uint64_t later, struct rtl_share *share, bool time)
{
    uint64_t more = growth(earlier, later);
    if (more && charge_credit(share, (struct rtl_credit){.events = time ? 0 : more, .busy_ns = time ? more : 0}))
        rtl_count_up(counter, more);
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

/* Find and hold a kernel's series, once for each row of a process; returns its number + 1. */
static uint32_t find_series(struct rtl_totals *totals, const struct rtl_kernel_snapshot *kernel,
                            struct rtl_share *share)
{
    bool added = false;
    uint32_t cost = (uint32_t)(1 + kernel->name_length / RTL_SERIES_TEXT_EACH);
    uint32_t found =
        rtl_ranked_find(&totals->kernels, kernel->name, kernel->name_length, 0, share->names >= cost ? &added : NULL);
    rtl_ranked_hold(&totals->kernels, found);
    share->names -= added ? cost : 0;
    share->refused += found == RTL_SERIES_OTHER;
    return found == RTL_SERIES_OTHER ? found : found + 1;
}

static void sum_kernel(struct rtl_totals *totals, const struct rtl_kernel_snapshot *earlier,
                       const struct rtl_kernel_snapshot *later, uint32_t *series, struct rtl_share *share)
{
    if (earlier && earlier->calls == later->calls && earlier->histogram.count == later->histogram.count)
        return;
    struct rtl_tally more = {.calls = growth(earlier ? earlier->calls : 0, later->calls)};
    rtl_prom_buckets_grow(&more.times, earlier ? &earlier->histogram : NULL, &later->histogram);
    if (!charge_credit(share, (struct rtl_credit){.events = add_saturated(more.calls, more.times.values),
                                                  .busy_ns = more.times.sum_ns}))
        return;
    if (!*series)
        *series = find_series(totals, later, share);
    uint32_t number = *series == RTL_SERIES_OTHER ? *series : *series - 1;
    struct rtl_tally *of[] = {rtl_ranked_tally(&totals->kernels, number),
                              &totals->families[rtl_totals_family(totals, number)]};
    for (int i = 0; i < 2; i++) {
        rtl_count_up(&of[i]->calls, more.calls);
        rtl_prom_buckets_add(&of[i]->times, &more.times);
    }
}

void rtl_totals_release(struct rtl_totals *totals, uint32_t series[RTL_KERNELS_MAX])
{
    for (uint32_t i = 0; i < RTL_KERNELS_MAX; i++)
        if (series[i] && series[i] != RTL_SERIES_OTHER)
            rtl_ranked_release(&totals->kernels, series[i] - 1);
}

uint32_t rtl_bdf_of(const struct rtl_snapshot *snapshot, uint32_t agent)
{
    for (uint32_t i = 0; i < snapshot->agent_count; i++)
        if (snapshot->agents[i].agent == agent)
            return snapshot->agents[i].bdf;
    return RTL_NO_BDF;
}

static struct rtl_served_gpu *find_gpu(struct rtl_totals *totals, uint32_t bdf, struct rtl_share *share)
{
    uint32_t i = 0;
    while (i < totals->gpu_count && totals->gpus[i].bdf != bdf)
        i++;
    if (i < totals->gpu_count)
        return &totals->gpus[i];
    if (bdf != RTL_NO_BDF && (!share->gpus || i >= RTL_SERVED_GPUS - 1))
        return find_gpu(totals, RTL_NO_BDF, share); /* which always has room */
    if (bdf != RTL_NO_BDF)
        share->gpus--;
    totals->gpus[totals->gpu_count++].bdf = bdf;
    return &totals->gpus[i];
}

static const struct rtl_agent_snapshot *find_earlier_agent(const struct rtl_snapshot *earlier, uint32_t agent)
{
    static const struct rtl_agent_snapshot none;
    for (uint32_t i = 0; i < earlier->agent_count; i++)
        if (earlier->agents[i].agent == agent)
            return &earlier->agents[i];
    return &none;
}

static void sum_agent(struct rtl_totals *totals, const struct rtl_agent_snapshot *earlier,
                      const struct rtl_agent_snapshot *later, struct rtl_share *share)
{
    struct rtl_served_gpu *gpu = find_gpu(totals, later->bdf, share);
    if (!*gpu->name && gpu->bdf == later->bdf) {
        snprintf(gpu->name, sizeof gpu->name, "%s", later->name);
        snprintf(gpu->uuid, sizeof gpu->uuid, "%s", later->uuid);
    }
    count_grown(&gpu->busy_ns, earlier->busy_ns, later->busy_ns, share, true);
    for (int i = 0; i < RTL_IDLE_COUNT; i++) {
        count_grown(&gpu->idle[i].count, earlier->idle[i].count, later->idle[i].count, share, false);
        count_grown(&gpu->idle[i].total_ns, earlier->idle[i].total_ns, later->idle[i].total_ns, share, true);
    }
}

static void sum_queues(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later,
                       struct rtl_share *share)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < later->queue_count; i++) {
        const struct rtl_queue_snapshot *queue = &later->queues[i];
        while (at < earlier->queue_count && earlier->queues[at].slot < queue->slot)
            at++;
        bool same = at < earlier->queue_count && earlier->queues[at].slot == queue->slot;
        struct rtl_served_gpu *gpu = find_gpu(totals, rtl_bdf_of(later, queue->agent), share);
        struct rtl_prom_buckets more = {0};
        rtl_prom_buckets_grow(&more, same ? &earlier->queues[at].wait : NULL, &queue->wait);
        if (charge_credit(share, (struct rtl_credit){.events = more.values, .waited_ns = more.sum_ns}))
            rtl_prom_buckets_add(&gpu->wait, &more);
    }
}

static void sum_copies(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later,
                       struct rtl_share *share)
{
    for (uint32_t i = 0; i < later->copies_count; i++) {
        const struct rtl_copies_snapshot *now = &later->copies[i], *then = NULL;
        for (uint32_t n = 0; !then && n < earlier->copies_count; n++)
            if (earlier->copies[n].agent == now->agent && earlier->copies[n].direction == now->direction)
                then = &earlier->copies[n];
        if (now->direction >= RTL_DIRECTION_COUNT)
            continue;
        struct rtl_served_copies *c = &find_gpu(totals, rtl_bdf_of(later, now->agent), share)->copies[now->direction];
        uint64_t count = growth(then ? then->count : 0, now->count), bytes = growth(then ? then->bytes : 0, now->bytes);
        struct rtl_prom_buckets more = {0};
        rtl_prom_buckets_grow(&more, then ? &then->histogram : NULL, &now->histogram);
        if (!charge_credit(share, (struct rtl_credit){.events = add_saturated(count, more.values),
                                                      .busy_ns = more.sum_ns,
                                                      .bytes = bytes}))
            continue;
        rtl_count_up(&c->count, count);
        rtl_count_up(&c->bytes, bytes);
        rtl_prom_buckets_add(&c->times, &more);
    }
}

/* A queue has one error, for good. */
static void sum_queue_errors(struct rtl_totals *totals, const struct rtl_snapshot *earlier,
                             const struct rtl_snapshot *later)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < later->queue_count; i++) {
        const struct rtl_queue_snapshot *q = &later->queues[i];
        while (at < earlier->queue_count && earlier->queues[at].slot < q->slot)
            at++;
        bool known = at < earlier->queue_count && earlier->queues[at].slot == q->slot && earlier->queues[at].error &&
                     earlier->queues[at].error_after_ns == q->error_after_ns;
        if (q->error && !known)
            totals->queue_errors[rtl_queue_error_place(q->error)]++;
    }
}

void rtl_totals_add(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later,
                    uint32_t series[RTL_KERNELS_MAX], struct rtl_share *share)
{
    static const struct rtl_snapshot none;
    uint32_t at = 0;
    earlier = earlier ? earlier : &none;
    for (uint32_t i = 0; i < later->kernel_count; i++) {
        const struct rtl_kernel_snapshot *kernel = &later->kernels[i];
        while (at < earlier->kernel_count && earlier->kernels[at].id < kernel->id)
            at++;
        bool same = at < earlier->kernel_count && earlier->kernels[at].id == kernel->id;
        if (kernel->id < RTL_KERNELS_MAX)
            sum_kernel(totals, same ? &earlier->kernels[at] : NULL, kernel, &series[kernel->id], share);
    }
    for (uint32_t i = 0; i < RTL_UNTIMED_LIMIT; i++)
        count_grown(&totals->untimed[i], earlier->untimed[i], later->untimed[i], share, false);
    for (uint32_t i = 0; i < later->agent_count; i++)
        sum_agent(totals, find_earlier_agent(earlier, later->agents[i].agent), &later->agents[i], share);
    sum_queues(totals, earlier, later, share);
    sum_queue_errors(totals, earlier, later);
    sum_copies(totals, earlier, later, share);
}

/* --- calls of HIP and ranges --- */

/* Find the row in the earlier snapshot, or NULL. Rows have one order in all snapshots. */
static const struct rtl_hip_api_row_snapshot *find_earlier_row(const struct rtl_hip_api_snapshot *earlier, uint32_t *at,
                                                               const struct rtl_hip_api_row_snapshot *row)
{
    int order = -1;
    while (earlier && *at < earlier->count && (order = rtl_hip_api_compare_rows(&earlier->rows[*at], row)) < 0)
        ++*at;
    return earlier && *at < earlier->count && !order ? &earlier->rows[*at] : NULL;
}

/* Find or add the series of a function or range. */
static uint32_t find_call(struct rtl_ranked *ranked, const struct rtl_hip_api_row_snapshot *row, unsigned kind,
                          uint32_t *left, uint32_t owner)
{
    char label[RTL_HIP_API_TEXT + 1]; /* series are distinguished by their label, escaped and cut */
    bool added = false;
    rtl_text_escape(label, sizeof label, row->name, row->name_bytes);
    if (!*label || !strcmp(label, RTL_OTHER_LABEL) || !strcmp(label, RTL_ENDED_LABEL))
        return RTL_SERIES_OTHER;
    uint32_t number = rtl_ranked_find(ranked, label, strlen(label), kind, *left ? &added : NULL);
    if (added)
        ranked->series[number].owner = owner;
    *left -= added;
    return number;
}

static void sum_row(struct rtl_totals *totals, const struct rtl_hip_api_row_snapshot *earlier,
                    const struct rtl_hip_api_row_snapshot *later, struct rtl_share *share)
{
    bool range = rtl_hip_api_is_range(later);
    struct rtl_ranked *ranked = range ? &totals->ranges : &totals->functions;
    unsigned kind = later->kind < RTL_HIP_API_KIND_COUNT && !range ? later->kind : 0;
    struct rtl_tally more = {.calls = growth(earlier ? earlier->histogram.count : 0, later->histogram.count),
                             .errors = growth(earlier ? earlier->errors : 0, later->errors)};
    rtl_prom_buckets_grow(&more.times, earlier ? &earlier->histogram : NULL, &later->histogram);
    uint64_t events = add_saturated(add_saturated(more.calls, more.errors), more.times.values);
    if (!charge_credit(share, (struct rtl_credit){.events = events, .waited_ns = more.times.sum_ns}))
        return;
    uint32_t number = find_call(ranked, later, kind, range ? &share->ranges : &share->functions, share->owner);
    struct rtl_tally *tally = rtl_ranked_tally(ranked, number);
    rtl_count_up(&tally->calls, more.calls);
    rtl_count_up(&tally->errors, more.errors);
    rtl_prom_buckets_add(&tally->times, &more.times);
}

void rtl_totals_add_calls(struct rtl_totals *totals, const struct rtl_hip_api_snapshot *earlier,
                          const struct rtl_hip_api_snapshot *later, struct rtl_share *share)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < later->count; i++)
        sum_row(totals, find_earlier_row(earlier, &at, &later->rows[i]), &later->rows[i], share);
}

static void forget_name(void *names, uint32_t number)
{
    rtl_names_forget(names, number);
}

void rtl_totals_settle(struct rtl_totals *totals, uint64_t now_ns)
{
    rtl_ranked_settle(&totals->kernels, now_ns, forget_name, totals->names);
    rtl_ranked_settle(&totals->functions, now_ns, NULL, NULL);
    rtl_ranked_settle(&totals->ranges, now_ns, NULL, NULL);
}
