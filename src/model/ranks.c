/* Compares processes. See ranks.h. */
#include "model/ranks.h"
#include "model/merge_parts.h"
#include "stats/histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rtl_part *same_part(const struct rtl_group *group, const struct rtl_part *part)
{
    uint32_t at = group ? rtl_part_position(group->parts, group->count, part->member, part->row) : 0;
    return group && at < group->count && rtl_part_is(group->parts[at], part->member, part->row) ? group->parts[at]
                                                                                                : NULL;
}

static const struct rtl_group *base_group(const struct rtl_model *model, const struct rtl_row *row)
{
    return model->base ? rtl_group_of(&model->base->snapshot, row->base) : NULL;
}

/* The part's numbers at the start of the window; nothing if it did not exist. If only the first process was watched
 * then, the numbers are those of the whole kernel. */
struct part_base {
    const struct rtl_kernel_snapshot *kernel; /* or NULL */
    const struct rtl_part *part;              /* has the buckets; NULL: the kernel has them */
};

static struct part_base find_part_base(const struct rtl_model *model, const struct rtl_row *row,
                                       const struct rtl_group *base, const struct rtl_part *part)
{
    const struct rtl_part *before = same_part(base, part);
    if (before)
        return (struct part_base){&before->kernel, before};
    return (struct part_base){model->base && !model->base->snapshot.parts && part->member == 0 ? row->base : NULL,
                              NULL};
}

/* Quantiles of the part's durations in the window. */
static bool part_quantiles(const struct part_base *before, const struct rtl_part *part, uint64_t *p50, uint64_t *p99)
{
    struct rtl_unpacked rooms[2];
    if (before->kernel && before->kernel->histogram.count >= part->kernel.histogram.count)
        return false;
    struct rtl_histogram_copy now = rtl_part_histogram(part, &rooms[0]), then = {0};
    if (before->part)
        then = rtl_part_histogram(before->part, &rooms[1]);
    else if (before->kernel)
        then = before->kernel->histogram;
    return rtl_p50_p99_between(before->kernel ? &then : NULL, &now, p50, p99);
}

/* Return the time by which ranks are compared. A few long waits of a busy host raise the mean of a collective on any
 * rank, but not its median. */
static double typical_ns(const struct rtl_rank *rank)
{
    if (rank->collective && rank->has_quantiles)
        return (double)rank->p50;
    return (double)rank->window_total_ns / (double)rank->window_timed;
}

static int by_peer_group_and_time(const void *a, const void *b)
{
    const struct rtl_rank *x = *(struct rtl_rank *const *)a, *y = *(struct rtl_rank *const *)b;
    if (x->member->peer_group != y->member->peer_group)
        return x->member->peer_group < y->member->peer_group ? -1 : 1;
    return (typical_ns(x) > typical_ns(y)) - (typical_ns(x) < typical_ns(y));
}

/* Return the median of the sorted times without the one at index `at`. */
static double median_without(struct rtl_rank *const *ranks, uint32_t count, uint32_t at)
{
    uint32_t rest = count - 1, low = (rest - 1) / 2, high = rest / 2;
    low += low >= at;
    high += high >= at;
    return (typical_ns(ranks[low]) + typical_ns(ranks[high])) / 2;
}

/* Compare each rank with the others of its peer group. Return how many ranks were compared. */
static uint32_t compare_ranks(struct rtl_rank *ranks, uint32_t count)
{
    struct rtl_rank *timed[RTL_MEMBERS_MAX];
    uint32_t timed_count = 0, compared = 0;
    for (uint32_t i = 0; i < count && timed_count < RTL_MEMBERS_MAX; i++)
        if (ranks[i].window_timed >= RTL_RANK_LEAST)
            timed[timed_count++] = &ranks[i];
    qsort(timed, timed_count, sizeof *timed, by_peer_group_and_time);
    for (uint32_t first = 0, size; first < timed_count; first += size) {
        for (size = 1; first + size < timed_count; size++)
            if (timed[first + size]->member->peer_group != timed[first]->member->peer_group)
                break;
        for (uint32_t at = 0; at < size && size > 1; at++) {
            double median = median_without(timed + first, size, at);
            timed[first + at]->against = median > 0 ? typical_ns(timed[first + at]) / median : 0;
            compared++;
        }
    }
    return compared;
}

static uint32_t collect_ranks(const struct rtl_model *model, const struct rtl_row *row, bool quantiles,
                              struct rtl_rank *out, uint32_t most)
{
    const struct rtl_snapshot *now = rtl_snapshot_of(model->latest);
    const struct rtl_group *group = rtl_group_of(now, row->kernel), *base = base_group(model, row);
    bool collective =
        rtl_names_family(model->names, row->id, row->kernel->name, row->kernel->name_length) == RTL_FAMILY_COMM;
    uint32_t count = 0;
    for (uint32_t i = 0; group && i < group->count; i++) {
        const struct rtl_part *part = group->parts[i];
        const struct rtl_member *member = rtl_member_of(now, part->member);
        if (!member)
            continue;                                            /* the sum of processes that ended */
        bool goes_on = count && out[count - 1].member == member; /* another row of the same process */
        if (!goes_on && count == most)
            break;
        struct rtl_rank *rank = &out[goes_on ? count - 1 : count++];
        if (!goes_on)
            *rank = (struct rtl_rank){.member = member, .kernel = &part->kernel, .collective = collective};
        const struct part_base was = find_part_base(model, row, base, part);
        const struct rtl_kernel_snapshot *k = &part->kernel, *before = was.kernel;
        rank->calls += k->calls;
        rank->timed += k->histogram.count;
        rank->total_ns += k->histogram.total_ns;
        rank->window_calls += rtl_grown(k->calls, before ? before->calls : 0);
        rank->window_timed += rtl_grown(k->histogram.count, before ? before->histogram.count : 0);
        rank->window_total_ns += rtl_grown(k->histogram.total_ns, before ? before->histogram.total_ns : 0);
        uint64_t p50, p99;
        if ((quantiles || collective) && part_quantiles(&was, part, &p50, &p99)) {
            rank->has_quantiles = true;
            rank->p50 = p50 > rank->p50 ? p50 : rank->p50;
            rank->p99 = p99 > rank->p99 ? p99 : rank->p99;
        }
    }
    return count;
}

uint32_t rtl_ranks(const struct rtl_model *model, const struct rtl_row *row, bool quantiles, struct rtl_rank *out,
                   uint32_t most)
{
    uint32_t count = collect_ranks(model, row, quantiles, out, most);
    compare_ranks(out, count);
    return count;
}

bool rtl_slowest(const struct rtl_model *model, const struct rtl_row *row, struct rtl_slowest *slowest)
{
    struct rtl_rank ranks[RTL_MEMBERS_MAX];
    uint32_t count = collect_ranks(model, row, false, ranks, RTL_MEMBERS_MAX);
    memset(slowest, 0, sizeof *slowest);
    slowest->compared = compare_ranks(ranks, count);
    if (!slowest->compared)
        return false;
    slowest->collective = ranks[0].collective;
    const struct rtl_rank *chosen = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (ranks[i].against > 0 && (!chosen || (slowest->collective ? ranks[i].against < chosen->against
                                                                     : ranks[i].against > chosen->against)))
            chosen = &ranks[i];
    if (chosen)
        slowest->rank = *chosen;
    return chosen != NULL;
}

double rtl_slowest_value(const struct rtl_model *model, const struct rtl_row *row)
{
    struct rtl_slowest slowest;
    if (!rtl_slowest(model, row, &slowest))
        return -1;
    return slowest.collective ? 1 / slowest.rank.against : slowest.rank.against;
}

void rtl_slowest_text(const struct rtl_model *model, const struct rtl_row *row, char *out, size_t size)
{
    struct rtl_slowest slowest;
    if (!rtl_slowest(model, row, &slowest)) {
        snprintf(out, size, "-");
        return;
    }
    const char *name = slowest.rank.member->name;
    double ratio = slowest.rank.against;
    if (slowest.collective ? ratio > 1 / 1.05 : ratio < 1.05)
        snprintf(out, size, "=");
    else if (slowest.collective)
        snprintf(out, size, "%s last", name);
    else
        snprintf(out, size, ratio < 9.95 ? "%s %.1fx" : "%s %.0fx", name, ratio < 9999 ? ratio : 9999);
}

/* --- processes --- */

/* An upper bound of all quantiles in the window: the highest bucket since the start. */
static uint64_t quantile_bound(const struct rtl_part *part)
{
    uint32_t last = rtl_part_last_bucket(part);
    return last == UINT32_MAX ? UINT64_MAX : rtl_bucket_low(last) + rtl_bucket_width(last);
}

struct process_share {
    uint64_t window_ns, top_ns;
};

static void add_part_to_process(const struct rtl_model *model, const struct rtl_row *row, const struct rtl_group *base,
                                const struct rtl_part *part, struct rtl_process_row *process,
                                struct process_share *share)
{
    const struct rtl_histogram_copy *h = &part->kernel.histogram;
    const struct part_base was = find_part_base(model, row, base, part);
    const struct rtl_kernel_snapshot *before = was.kernel;
    uint64_t p50, p99, ns = rtl_grown(h->total_ns, before ? before->histogram.total_ns : 0);
    if (!rtl_grown(h->count, before ? before->histogram.count : 0))
        return;
    share->window_ns += ns;
    if (!process->top || ns > share->top_ns) {
        process->top = row;
        share->top_ns = ns;
    }
    if ((!process->worst || quantile_bound(part) > process->worst_p99) && part_quantiles(&was, part, &p50, &p99) &&
        (!process->worst || p99 > process->worst_p99)) {
        process->worst = row;
        process->worst_p99 = p99;
    }
}

static void fill_process_row(const struct rtl_model *model, const struct rtl_member *member,
                             struct rtl_process_row *process)
{
    const struct rtl_snapshot *base = rtl_snapshot_of(model->base);
    const struct rtl_member *before = rtl_member_of(base, member->number);
    uint64_t counted = before ? before->counted : 0, busy = before ? before->busy_ns : 0;
    if (!before && base && !base->parts && member->number == 0) { /* the first process, watched alone then */
        counted = base->counted;
        for (uint32_t i = 0; i < base->agent_count; i++)
            busy += base->agents[i].busy_ns;
    }
    int gpus = __builtin_popcountll(member->gpus);
    *process = (struct rtl_process_row){.member = member, .busy = -1, .rate = -1};
    if (!model->counted_ns || (member->in_force == RTL_ACTIVITY_OFF && !member->ended))
        return;
    process->rate = (double)rtl_grown(member->counted, counted) * 1e9 / (double)model->span_ns;
    bool same = !before || (before->mode == member->mode && before->in_force == member->in_force);
    if (gpus && member->timed && same && (member->in_force == RTL_ACTIVITY_TIMING || member->ended))
        process->busy = (double)rtl_grown(member->busy_ns, busy) / (double)model->span_ns / gpus;
    if (process->busy > 1)
        process->busy = 1;
}

bool rtl_rank_stands_out(const struct rtl_slowest *slowest, const struct rtl_rank *rank)
{
    if (!slowest->compared || slowest->rank.member != rank->member || rank->against <= 0)
        return false;
    return slowest->collective ? rank->against < 1 / RTL_RANK_STANDS_OUT : rank->against >= RTL_RANK_STANDS_OUT;
}

uint32_t rtl_process_rows(const struct rtl_model *model, struct rtl_process_row *out, uint32_t most)
{
    const struct rtl_snapshot *now = rtl_snapshot_of(model->latest);
    const struct rtl_parts *parts = now ? now->parts : NULL;
    struct process_share shares[RTL_MEMBERS_MAX] = {{0, 0}};
    uint32_t count = parts ? parts->member_count : 0;
    if (most > RTL_MEMBERS_MAX)
        most = RTL_MEMBERS_MAX;
    if (count > most)
        count = most;
    for (uint32_t i = 0; i < count; i++)
        fill_process_row(model, &parts->members[i], &out[i]);
    for (uint32_t r = 0; count && r < model->row_count; r++) {
        const struct rtl_row *row = &model->rows[r];
        const struct rtl_group *group = rtl_group_of(now, row->kernel), *base = base_group(model, row);
        uint32_t at = 0;
        for (uint32_t i = 0; row->window.count && group && i < group->count; i++) {
            while (at < count && out[at].member->number < group->parts[i]->member)
                at++; /* both ascend */
            if (at < count && out[at].member->number == group->parts[i]->member)
                add_part_to_process(model, row, base, group->parts[i], &out[at], &shares[at]);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        out[i].top_share = shares[i].window_ns ? (double)shares[i].top_ns / (double)shares[i].window_ns : 0;
    return count;
}
