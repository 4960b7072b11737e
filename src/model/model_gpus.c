/* GPUs: history, waits, copies, verdict and gaps. See model_gpus.h. */
#include "model/model_gpus.h"
#include "model/merge.h"
#include "model/queue_error.h"
#include "text/text.h"
#include "text/units.h"
#include "stats/histogram_sum.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A GPU's dispatches between two snapshots, the untimed ones among them, and its packets in flight. */
struct gpu_traffic {
    uint64_t dispatches, untimed, depth;
};
static struct gpu_traffic traffic_of(const struct rtl_snapshot *now, const struct rtl_snapshot *before, uint32_t gpu)
{
    struct gpu_traffic t = {0, 0, 0};
    for (uint32_t i = 0; i < now->queue_count; i++) {
        const struct rtl_queue_snapshot *queue = &now->queues[i];
        if (queue->gpu != gpu)
            continue;
        const struct rtl_queue_snapshot *was = rtl_queue_of(before, queue->slot, i);
        /* the generation grows by 2 when a queue is destroyed, and again when another queue gets the slot */
        bool same =
            was && (was->generation == queue->generation || (!queue->live && queue->generation == was->generation + 2));
        t.dispatches += rtl_grown(queue->dispatches, same ? was->dispatches : 0);
        for (unsigned r = 0; r < RTL_UNTIMED_LIMIT; r++)
            if (r != RTL_UNTIMED_PROBED) /* the time of a probe's copy counts as busy */
                t.untimed += rtl_grown(queue->untimed[r], was ? was->untimed[r] : 0);
        if (queue->live)
            t.depth += queue->depth;
    }
    return t;
}

static double untimed_share(const struct gpu_traffic *t)
{
    return !t->untimed ? 0 : t->dispatches > t->untimed ? (double)t->untimed / (double)t->dispatches : 1;
}

/* Return why one process's mode leaves the times of its GPUs unknown. */
static enum rtl_unknown unknown_in_mode(uint32_t mode, uint32_t in_force)
{
    if (mode == RTL_MODE_OBSERVED)
        return in_force == RTL_ACTIVITY_TIMING ? RTL_UNKNOWN_NOTHING : RTL_UNKNOWN_OBSERVED;
    return in_force == RTL_ACTIVITY_OFF        ? RTL_UNKNOWN_OFF
           : in_force == RTL_ACTIVITY_COUNTING ? RTL_UNKNOWN_COUNTING
                                               : RTL_UNKNOWN_NOTHING;
}

/* Why a GPU's busy and idle times since `base` are unknown. */
static enum rtl_unknown unknown_of(const struct rtl_snapshot *now, const struct rtl_snapshot *base, uint32_t gpu)
{
    const struct rtl_parts *parts = now->parts;
    enum rtl_unknown why = parts ? RTL_UNKNOWN_NOTHING : unknown_in_mode(now->mode, now->in_force);
    for (uint32_t i = 0; parts && !why && i < parts->member_count; i++) {
        const struct rtl_member *member = &parts->members[i], *was = rtl_member_of(base, member->number);
        if (member->ended || !(member->gpus >> gpu & 1))
            continue;
        why = unknown_in_mode(member->mode, member->in_force);
        if (!why && was && (was->mode != member->mode || was->in_force != member->in_force))
            why = RTL_UNKNOWN_SWITCHED;
    }
    if (!why && !parts && base && (base->mode != now->mode || base->in_force != now->in_force))
        why = RTL_UNKNOWN_SWITCHED;
    const struct gpu_traffic t = traffic_of(now, base, gpu);
    return !why && untimed_share(&t) > 0.1 ? RTL_UNKNOWN_UNTIMED : why;
}

/* Likewise for the window. Without an earlier snapshot, the time since the start of an old process is no window. */
static enum rtl_unknown unknown_in_window(const struct rtl_model *model, uint32_t gpu)
{
    const struct rtl_snapshot *now = &model->latest->snapshot, *base = rtl_snapshot_of(model->base);
    enum rtl_unknown why = unknown_of(now, base, gpu);
    if (!why && !base && model->window_ns != RTL_WINDOW_ALL && model->span_ns > model->window_ns)
        return RTL_UNKNOWN_FIRST;
    if (!why && model->window_ns == RTL_WINDOW_ALL && model->switched &&
        (!base || base->taken_mono_ns < model->switched->snapshot.taken_mono_ns))
        return RTL_UNKNOWN_SWITCHED;
    return why || model->span_ns ? why : model->switched ? RTL_UNKNOWN_SWITCHED : RTL_UNKNOWN_FIRST;
}

bool rtl_depth_is_known(const struct rtl_snapshot *snapshot, const struct rtl_queue_snapshot *queue)
{
    const struct rtl_parts *parts = snapshot->parts;
    uint32_t mode = snapshot->mode, in_force = snapshot->in_force;
    for (uint32_t i = 0; parts && queue && i < parts->member_count; i++)
        if ((uint64_t)parts->members[i].info.pid == queue->pid && !parts->members[i].ended) {
            mode = parts->members[i].mode;
            in_force = parts->members[i].in_force;
        }
    return mode == RTL_MODE_OBSERVED || (in_force == RTL_ACTIVITY_TIMING && mode != RTL_MODE_LITE);
}

/* A gap is counted when it ends, so gaps may exceed the window. */
static void make_idle(struct rtl_gpu_row *row, const struct rtl_agent_snapshot *base, uint64_t span_ns)
{
    uint64_t count = 0;
    for (int c = 0; c < RTL_IDLE_COUNT; c++) {
        const struct rtl_idle *now = &row->agent->idle[c], none = {0, 0}, *before = base ? &base->idle[c] : &none;
        double idle = (double)rtl_grown(now->total_ns, before->total_ns) / (double)span_ns;
        row->idle[c] = idle < 1 ? idle : 1;
        count += rtl_grown(now->count, before->count);
    }
    row->idle_rate = (double)count * 1e9 / (double)span_ns;
}

void rtl_model_make_gpus(struct rtl_model *model)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    double sum = 0;
    uint32_t measured = 0;
    model->gpu_count = now->agent_count < RTL_AGENTS_MAX ? now->agent_count : RTL_AGENTS_MAX;
    for (uint32_t i = 0; i < model->gpu_count; i++) {
        const struct rtl_agent_snapshot *agent = &now->agents[i];
        struct rtl_gpu_row *row = &model->gpus[i];
        const struct rtl_agent_snapshot *base = rtl_agent_of(rtl_snapshot_of(model->base), agent->gpu);
        *row = (struct rtl_gpu_row){.agent = agent, .busy = -1, .idle_rate = -1, .depth_known = true};
        row->unknown = unknown_in_window(model, agent->gpu);
        for (int c = 0; c < RTL_IDLE_COUNT; c++)
            row->idle[c] = -1;
        if (!row->unknown) {
            /* a kernel's time is counted when it ends, so it may exceed the window */
            double busy = (double)rtl_grown(agent->busy_ns, base ? base->busy_ns : 0) / (double)model->span_ns;
            /* gaps of one process are no gaps of a shared GPU; an observed process has none */
            if (agent->users <= 1 && !rtl_is_observed(now))
                make_idle(row, base, model->span_ns);
            row->busy = busy < 1 ? busy : 1;
            sum += row->busy;
            measured++;
        }
        for (uint32_t j = 0; j < model->queue_count; j++) {
            const struct rtl_queue_snapshot *queue = model->queues[j].queue;
            if (queue->gpu != agent->gpu)
                continue;
            row->rate += model->queues[j].rate;
            if (queue->live) {
                row->queues++;
                row->depth += queue->depth;
                row->depth_known &= rtl_depth_is_known(now, queue);
            }
        }
    }
    model->busy = measured && measured == model->gpu_count ? sum / measured : -1;
}

/* Add a GPU's idle time between two snapshots to `cause`, in ns. A gap is counted a second after its end, so the time
 * since the last kernel is added while nothing is in flight. A long gap is counted at once: limit the sum to `most`. */
static void add_causes(const struct rtl_snapshot *now, const struct rtl_agent_snapshot *agent,
                       const struct rtl_snapshot *before, double most, double cause[RTL_CAUSE_COUNT])
{
    const struct rtl_agent_snapshot *was = rtl_agent_of(before, agent->gpu);
    uint64_t from = before ? before->taken_mono_ns : now->start_mono_ns, end = agent->last_end_mono_ns;
    double sum = 0;
    for (int c = 0; c < RTL_CAUSE_COUNT; c++)
        cause[c] = (double)rtl_grown(agent->cause_ns[c], was ? was->cause_ns[c] : 0);
    if (end && !traffic_of(now, before, agent->gpu).depth)
        cause[RTL_CAUSE_NO_WORK] += (double)rtl_grown(now->taken_mono_ns, end > from ? end : from);
    for (int c = 0; c < RTL_CAUSE_COUNT; c++)
        sum += cause[c];
    for (int c = 0; c < RTL_CAUSE_COUNT && sum > most; c++)
        cause[c] *= most / sum;
}

/* Add up the latest intervals of a GPU's history until they cover `span_ns`, or an unknown one. Returns the share of
 * busy time, or -1; `cause` gets shares, *covered_ns the time that was added up. */
static double sum_history(const struct rtl_model *model, uint32_t gpu, uint64_t span_ns, double cause[RTL_CAUSE_COUNT],
                          uint64_t *covered_ns)
{
    uint32_t length = rtl_model_history_length(model);
    double busy_ns = 0;
    *covered_ns = 0;
    for (int c = 0; c < RTL_CAUSE_COUNT; c++)
        cause[c] = 0;
    for (uint32_t back = 0; back < length && *covered_ns < span_ns; back++) {
        uint64_t slot = (model->samples - back) % RTL_MODEL_HISTORY;
        int percent = rtl_model_busy(model, gpu, back);
        if (percent < 0)
            break;
        *covered_ns += model->history_ns[slot];
        busy_ns += percent / 100.0 * (double)model->history_ns[slot];
        for (int c = 0; c < RTL_CAUSE_COUNT; c++)
            cause[c] += (double)model->cause_history[gpu][slot][c];
    }
    for (int c = 0; c < RTL_CAUSE_COUNT && *covered_ns; c++)
        cause[c] /= (double)*covered_ns;
    return *covered_ns ? busy_ns / (double)*covered_ns : -1;
}

void rtl_model_extend_gpu_history(struct rtl_model *model)
{
    enum { LEAST_S = 10 }; /* the shortest time that a verdict is judged over */
    if (!model->previous)
        return;
    const struct rtl_snapshot *now = &model->latest->snapshot, *before = &model->previous->snapshot;
    uint32_t slot = (uint32_t)(model->samples % RTL_MODEL_HISTORY);
    uint64_t span_ns = rtl_grown(now->taken_mono_ns, before->taken_mono_ns), covered;
    uint64_t window = model->window_ns == RTL_WINDOW_ALL ? 0 : model->window_ns;
    double cause[RTL_CAUSE_COUNT];
    for (uint32_t gpu = 0; gpu < RTL_AGENTS_MAX; gpu++)
        model->busy_history[gpu][slot] = RTL_BUSY_NONE;
    for (uint32_t i = 0; i < now->agent_count; i++) {
        const struct rtl_agent_snapshot *agent = &now->agents[i], *was = rtl_agent_of(before, agent->gpu);
        if (agent->gpu >= RTL_AGENTS_MAX || !was || !span_ns)
            continue;
        if (unknown_of(now, before, agent->gpu)) {
            model->held[agent->gpu] = (struct rtl_held_verdict){0};
            continue;
        }
        double busy = (double)rtl_grown(agent->busy_ns, was->busy_ns) / (double)span_ns;
        model->busy_history[agent->gpu][slot] = busy < 1 ? (uint8_t)(busy * 100 + 0.5) : 100;
        add_causes(now, agent, before, (double)span_ns, cause);
        for (int c = 0; c < RTL_CAUSE_COUNT; c++)
            model->cause_history[agent->gpu][slot][c] = (float)cause[c];
        busy = sum_history(model, agent->gpu, window > LEAST_S * RTL_SEC ? window : LEAST_S * RTL_SEC, cause, &covered);
        rtl_verdict_hold(&model->held[agent->gpu], busy, cause);
    }
}

int rtl_model_busy(const struct rtl_model *model, uint32_t gpu, uint32_t back)
{
    if (gpu >= RTL_AGENTS_MAX || back >= rtl_model_history_length(model))
        return -1;
    uint8_t busy = model->busy_history[gpu][(model->samples - back) % RTL_MODEL_HISTORY];
    return busy == RTL_BUSY_NONE ? -1 : busy;
}

bool rtl_model_busy_is_bound(const struct rtl_model *model)
{
    bool bound = false;
    for (uint32_t i = 0; i < model->gpu_count; i++)
        bound |= model->gpus[i].busy > 0 && model->gpus[i].agent->users > 1;
    return bound;
}

/* Make the shares of the causes over the window and over the last minute. */
static void make_causes(const struct rtl_model *model, struct rtl_gpu_row *row)
{
    const struct rtl_snapshot *base = rtl_snapshot_of(model->base);
    bool known = row->agent->gaps_known && row->agent->users <= 1;
    row->minute_busy = sum_history(model, row->agent->gpu, 60 * RTL_SEC, row->minute_cause, &row->minute_ns);
    double span = (double)model->span_ns;
    if (known && row->busy >= 0)
        add_causes(&model->latest->snapshot, row->agent, base, (1 - row->busy) * span, row->cause);
    for (int c = 0; c < RTL_CAUSE_COUNT; c++) {
        row->cause[c] = known && row->busy >= 0 ? row->cause[c] / span : -1;
        row->minute_cause[c] = known && row->minute_busy >= 0 ? row->minute_cause[c] : -1;
    }
}

/* Sum the waits of the GPU's queues. A queue whose counts went back (another process) has none. */
static void add_queue_waits(const struct rtl_model *model, struct rtl_gpu_row *row)
{
    static const struct rtl_histogram_copy none;
    const struct rtl_snapshot *base = rtl_snapshot_of(model->base);
    const struct rtl_histogram_copy *before[RTL_MODEL_QUEUES], *now[RTL_MODEL_QUEUES];
    _Alignas(8) char room[2][RTL_OCTAVES_MAX * (sizeof(struct rtl_octave) + sizeof(uint64_t))];
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->queue_count; i++) {
        const struct rtl_queue_snapshot *queue = model->queues[i].queue;
        const struct rtl_queue_snapshot *was = rtl_queue_of(base, queue->slot, i);
        if (queue->gpu != row->agent->gpu || (was && was->wait.count >= queue->wait.count))
            continue;
        before[count] = was ? &was->wait : &none;
        now[count++] = &queue->wait;
    }
    const struct rtl_histogram_copy earlier = rtl_histogram_sum(before, count, room[0]),
                                    later = rtl_histogram_sum(now, count, room[1]);
    if (rtl_p50_p99_between(&earlier, &later, &row->wait_p50, &row->wait_p99))
        row->facts.waits = later.count - earlier.count;
}

/* Threads' time in a call that has not ended, as a share of the window: counters contain a call only when it ends. */
static double open_share(const struct rtl_model *model, const struct rtl_hip_api_row_snapshot *call)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    const struct rtl_hip_api_snapshot *calls = now->hip_api;
    double share = 0;
    for (uint32_t i = 0; calls && model->span_ns && i < calls->thread_count; i++) {
        const struct rtl_hip_api_thread_snapshot *thread = &calls->threads[i];
        if (!thread->row || &calls->rows[thread->row - 1] != call)
            continue;
        uint64_t ns = rtl_grown(now->taken_mono_ns, thread->since_ns);
        share += (double)(ns < model->span_ns ? ns : model->span_ns) / (double)model->span_ns;
    }
    return share;
}

/* Find the function with most of the host threads' time in the window, if that is at least a tenth of one thread's. */
static void add_host_call(const struct rtl_model *model, struct rtl_gpu_facts *facts)
{
    const struct rtl_hip_api_model_row *most = NULL;
    double share = 0.1;
    for (uint32_t i = 0; i < model->hip_api.functions; i++) {
        const struct rtl_hip_api_model_row *row = &model->hip_api.rows[i];
        double its = row->share + open_share(model, row->call);
        if (its >= share && (!most || its > share)) {
            most = row;
            share = its;
        }
    }
    if (!most)
        return;
    rtl_text_escape(facts->call, sizeof facts->call, most->call->name, most->call->name_bytes);
    facts->call_share = share;
}

static int by_length(const void *left, const void *right)
{
    const struct rtl_gap *const *a = left, *const *b = right;
    if ((*a)->length_ns != (*b)->length_ns)
        return (*a)->length_ns > (*b)->length_ns ? -1 : 1;
    return ((*a)->start_mono_ns > (*b)->start_mono_ns) - ((*a)->start_mono_ns < (*b)->start_mono_ns);
}

uint32_t rtl_gaps_all(const struct rtl_gpu_row *gpu, const struct rtl_gap **out)
{
    for (uint32_t i = 0; i < gpu->agent->gap_count; i++)
        out[i] = &gpu->agent->gap[i];
    qsort(out, gpu->agent->gap_count, sizeof *out, by_length);
    return gpu->agent->gap_count;
}

uint32_t rtl_gaps_in_window(const struct rtl_model *model, const struct rtl_gpu_row *gpu, const struct rtl_gap **out)
{
    const struct rtl_snapshot *now = &model->latest->snapshot;
    uint64_t from = model->base ? model->base->snapshot.taken_mono_ns : now->start_mono_ns;
    uint32_t count = 0, any = gpu->agent->users <= 1 && !gpu->unknown ? rtl_gaps_all(gpu, out) : 0;
    for (uint32_t i = 0; i < any; i++) {
        uint64_t start = out[i]->start_mono_ns;
        if (!start || (start <= now->taken_mono_ns && start > rtl_grown(from, out[i]->length_ns)))
            out[count++] = out[i];
    }
    return count;
}

/* Write "queue 3", without the GPU; "" for an unknown slot. */
static void put_queue_name(const struct rtl_model *model, uint32_t slot, char *out, size_t size)
{
    const struct rtl_queue_snapshot *queue = rtl_queue_of(&model->latest->snapshot, slot, 0);
    if (queue && !queue->shared)
        snprintf(out, size, "queue %llu", (unsigned long long)queue->queue_id);
    else
        snprintf(out, size, "%s", queue ? "other queues" : "");
}

void rtl_gap_text(const struct rtl_model *model, const struct rtl_gap *gap, char *out, size_t size)
{
    uint64_t held = gap->length_ns - gap->no_work_ns - gap->copies_ns;
    char queue[40];
    const struct {
        const char *words;
        uint64_t ns;
    } parts[] = {{"no kernel", gap->no_work_ns},
                 {"copies", gap->copies_ns},
                 {gap->cause == RTL_CAUSE_UNKNOWN   ? "not known"
                  : gap->cause == RTL_CAUSE_BARRIER ? "barrier"
                                                    : "queued",
                  held}};
    *out = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        unsigned percent = (unsigned)((double)parts[i].ns / (double)gap->length_ns * 100 + 0.5);
        if (percent >= 5)
            rtl_text_append(out, size, "%s%s %u%%", *out ? ", " : "", parts[i].words, percent);
    }
    put_queue_name(model, gap->queue_after, queue, sizeof queue);
    if (held > gap->length_ns / 20 && *queue && gap->cause != RTL_CAUSE_UNKNOWN)
        rtl_text_append(out, size, " on %s", queue);
}

/* Write the queue whose kernels waited most in the window's longest gaps: "queue 3"; "" if none waited. */
static void waiting_queue(const struct rtl_model *model, const struct rtl_gpu_row *gpu, char *out, size_t size)
{
    const struct rtl_gap *gaps[RTL_GAPS_MAX];
    uint32_t count = rtl_gaps_in_window(model, gpu, gaps);
    uint64_t most = 0;
    *out = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t waited = 0;
        for (uint32_t n = 0; n < count; n++)
            if (gaps[n]->queue_after == gaps[i]->queue_after)
                waited += gaps[n]->length_ns - gaps[n]->no_work_ns - gaps[n]->copies_ns;
        if (waited <= most)
            continue;
        most = waited;
        put_queue_name(model, gaps[i]->queue_after, out, size);
    }
}

void rtl_model_judge_gpus(struct rtl_model *model)
{
    const struct rtl_snapshot *base = rtl_snapshot_of(model->base);
    for (uint32_t i = 0; i < model->gpu_count; i++) {
        struct rtl_gpu_row *row = &model->gpus[i];
        struct rtl_gpu_facts *facts = &row->facts;
        struct gpu_traffic t = traffic_of(&model->latest->snapshot, base, row->agent->gpu);
        *facts = (struct rtl_gpu_facts){.busy = row->busy, .dispatches = t.dispatches, .depth = t.depth, .copies = -1};
        facts->users = row->agent->users;
        facts->unknown = row->unknown;
        facts->untimed = untimed_share(&t);
        facts->causes_known = row->agent->gaps_known;
        if (row->agent->gpu < RTL_AGENTS_MAX)
            facts->held = model->held[row->agent->gpu];
        for (uint32_t c = 0; c < model->copies_count; c++)
            if (model->copies[c].copies->gpu == row->agent->gpu && model->copies[c].window.count)
                facts->copies = (facts->copies < 0 ? 0 : facts->copies) + model->copies[c].share;
        add_queue_waits(model, row);
        add_host_call(model, facts);
        make_causes(model, row);
        waiting_queue(model, row, facts->queue, sizeof facts->queue);
        rtl_queue_errors_add(model, row->agent->gpu, facts);
        row->verdict = rtl_verdict_of(facts);
    }
}
