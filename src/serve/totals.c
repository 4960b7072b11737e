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

static void add_times(uint64_t *credit, uint64_t ns, uint64_t factor)
{
    uint64_t more;
    *credit = rtl_plus(*credit, __builtin_mul_overflow(ns, factor, &more) ? UINT64_MAX : more);
}

void rtl_credit_add(struct rtl_credit *credit, uint64_t ns)
{
    add_times(&credit->events, ns, 1);
    add_times(&credit->busy_ns, ns, RTL_CREDIT_BUSY);
    add_times(&credit->waited_ns, ns, RTL_CREDIT_WAITING);
    add_times(&credit->bytes, ns, RTL_CREDIT_BYTES);
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
    uint64_t more = rtl_grown(later, earlier);
    if (more && charge_credit(share, (struct rtl_credit){.events = time ? 0 : more, .busy_ns = time ? more : 0}))
        *counter = rtl_plus(*counter, more);
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
    struct rtl_tally more = {.calls = rtl_grown(later->calls, earlier ? earlier->calls : 0)};
    rtl_prom_buckets_grow(&more.times, earlier ? &earlier->histogram : NULL, &later->histogram);
    if (!charge_credit(share, (struct rtl_credit){.events = rtl_plus(more.calls, more.times.values),
                                                  .busy_ns = more.times.sum_ns}))
        return;
    if (!*series)
        *series = find_series(totals, later, share);
    uint32_t number = *series == RTL_SERIES_OTHER ? *series : *series - 1;
    rtl_tally_add(rtl_ranked_tally(&totals->kernels, number), &more);
    rtl_tally_add(&totals->families[rtl_totals_family(totals, number)], &more);
}

void rtl_totals_release(struct rtl_totals *totals, uint32_t series[RTL_KERNELS_MAX])
{
    for (uint32_t i = 0; i < RTL_KERNELS_MAX; i++)
        if (series[i] && series[i] != RTL_SERIES_OTHER)
            rtl_ranked_release(&totals->kernels, series[i] - 1);
}

/* Return the agent with this index; without one, an agent that has done nothing. */
static const struct rtl_agent_snapshot *agent_by_index(const struct rtl_snapshot *snapshot, uint32_t agent)
{
    static const struct rtl_agent_snapshot none = {.bdf = RTL_NO_BDF};
    for (uint32_t i = 0; i < snapshot->agent_count; i++)
        if (snapshot->agents[i].agent == agent)
            return &snapshot->agents[i];
    return &none;
}

uint32_t rtl_bdf_of(const struct rtl_snapshot *snapshot, uint32_t agent)
{
    return agent_by_index(snapshot, agent)->bdf;
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
    for (uint32_t i = 0; i < later->queue_count; i++) {
        const struct rtl_queue_snapshot *queue = &later->queues[i], *was = rtl_queue_of(earlier, queue->slot, i);
        struct rtl_served_gpu *gpu = find_gpu(totals, rtl_bdf_of(later, queue->agent), share);
        struct rtl_prom_buckets more = {0};
        rtl_prom_buckets_grow(&more, was ? &was->wait : NULL, &queue->wait);
        if (charge_credit(share, (struct rtl_credit){.events = more.values, .waited_ns = more.sum_ns}))
            rtl_prom_buckets_add(&gpu->wait, &more);
    }
}

static void sum_copies(struct rtl_totals *totals, const struct rtl_snapshot *earlier, const struct rtl_snapshot *later,
                       struct rtl_share *share)
{
    for (uint32_t i = 0; i < later->copies_count; i++) {
        const struct rtl_copies_snapshot *now = &later->copies[i],
                                         *then = rtl_copies_of(earlier, now->agent, now->direction);
        if (now->direction >= RTL_DIRECTION_COUNT)
            continue;
        struct rtl_served_copies *c = &find_gpu(totals, rtl_bdf_of(later, now->agent), share)->copies[now->direction];
        uint64_t count = rtl_grown(now->count, then ? then->count : 0),
                 bytes = rtl_grown(now->bytes, then ? then->bytes : 0);
        struct rtl_prom_buckets more = {0};
        rtl_prom_buckets_grow(&more, then ? &then->histogram : NULL, &now->histogram);
        if (!charge_credit(share, (struct rtl_credit){
                                      .events = rtl_plus(count, more.values), .busy_ns = more.sum_ns, .bytes = bytes}))
            continue;
        c->count = rtl_plus(c->count, count);
        c->bytes = rtl_plus(c->bytes, bytes);
        rtl_prom_buckets_add(&c->times, &more);
    }
}

/* A queue has one error, for good. */
static void sum_queue_errors(struct rtl_totals *totals, const struct rtl_snapshot *earlier,
                             const struct rtl_snapshot *later)
{
    for (uint32_t i = 0; i < later->queue_count; i++) {
        const struct rtl_queue_snapshot *q = &later->queues[i], *was = rtl_queue_of(earlier, q->slot, i);
        bool known = was && was->error && was->error_after_ns == q->error_after_ns;
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
        if (kernel->id < RTL_KERNELS_MAX)
            sum_kernel(totals, rtl_next_kernel(earlier, &at, kernel->id), kernel, &series[kernel->id], share);
    }
    for (uint32_t i = 0; i < RTL_UNTIMED_LIMIT; i++)
        count_grown(&totals->untimed[i], earlier->untimed[i], later->untimed[i], share, false);
    for (uint32_t i = 0; i < later->agent_count; i++)
        sum_agent(totals, agent_by_index(earlier, later->agents[i].agent), &later->agents[i], share);
    sum_queues(totals, earlier, later, share);
    sum_queue_errors(totals, earlier, later);
    sum_copies(totals, earlier, later, share);
}

/* --- calls of HIP and ranges --- */

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
    struct rtl_tally more = {.calls = rtl_grown(later->histogram.count, earlier ? earlier->histogram.count : 0),
                             .errors = rtl_grown(later->errors, earlier ? earlier->errors : 0)};
    rtl_prom_buckets_grow(&more.times, earlier ? &earlier->histogram : NULL, &later->histogram);
    uint64_t events = rtl_plus(rtl_plus(more.calls, more.errors), more.times.values);
    if (!charge_credit(share, (struct rtl_credit){.events = events, .waited_ns = more.times.sum_ns}))
        return;
    uint32_t number = find_call(ranked, later, kind, range ? &share->ranges : &share->functions, share->owner);
    rtl_tally_add(rtl_ranked_tally(ranked, number), &more);
}

void rtl_totals_add_calls(struct rtl_totals *totals, const struct rtl_hip_api_snapshot *earlier,
                          const struct rtl_hip_api_snapshot *later, struct rtl_share *share)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < later->count; i++)
        sum_row(totals, rtl_hip_api_find_row(earlier, &at, &later->rows[i]), &later->rows[i], share);
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

/* --- shares of users --- */

static uint32_t subtract(uint32_t most, uint32_t used)
{
    return used < most ? most - used : 0;
}

/* A user has `used` entries of a table with `room`. Return how many more the user may have: at most `most` in all, and
 * no more than stay free then. */
static uint32_t allowance(uint32_t most, uint32_t room, uint32_t in_use, uint32_t used)
{
    uint32_t left = subtract(most, used), spare = subtract(subtract(room, in_use), used) / 2;
    return left < spare ? left : spare;
}

/* Return the used entries of a table; long names use the room of several. */
static uint32_t entries_used(const struct rtl_ranked *ranked)
{
    uint32_t entries = rtl_ranked_living(ranked), texts = (uint32_t)(ranked->text / RTL_SERIES_TEXT_EACH);
    return entries > texts ? entries : texts;
}

struct rtl_share rtl_user_share(const struct rtl_user *user, const struct rtl_totals *totals, uint32_t names)
{
    uint32_t of_user = allowance(RTL_USER_NAMES, RTL_SERIES_MAX, entries_used(&totals->kernels), user->names);
    uint32_t of_process = subtract(RTL_PROCESS_NAMES, names);
    if (user->trusted)
        return (struct rtl_share){.names = RTL_SERIES_MAX, .gpus = RTL_SERVED_GPUS};
    return (struct rtl_share){.names = of_user < of_process ? of_user : of_process,
                              .gpus = allowance(RTL_USER_GPUS, RTL_SERVED_GPUS, totals->gpu_count, user->gpus)};
}

/* Counts by uid, not by account, because an account may be recycled before its series are removed. */
static uint32_t series_left(const struct rtl_user *user, const struct rtl_ranked *ranked)
{
    return user->trusted ? RTL_SERIES_MAX
                         : allowance(RTL_USER_NAMES, RTL_SERIES_MAX, entries_used(ranked),
                                     rtl_ranked_count_owned(ranked, user->uid));
}

void rtl_user_share_calls(const struct rtl_user *user, const struct rtl_totals *totals, struct rtl_share *share)
{
    share->owner = user->uid;
    share->functions = series_left(user, &totals->functions);
    share->ranges = series_left(user, &totals->ranges);
}

void rtl_user_charge_share(struct rtl_user *user, uint32_t *names, const struct rtl_share *before,
                           const struct rtl_share *after)
{
    user->names += before->names - after->names;
    user->gpus += before->gpus - after->gpus;
    *names += before->names - after->names;
}

void rtl_user_release_names(struct rtl_user *user, uint32_t names)
{
    user->names = subtract(user->names, names);
}
