/* GPUs: history, waits, copies and verdict. See model_gpus.h. */
#include "model/model_gpus.h"
#include "model/queue_error.h"
#include "text/text.h"
#include "stats/quantile.h"

#include <string.h>

const struct rtl_agent_snapshot *rtl_agent_of(const struct rtl_snapshot *snapshot, uint32_t gpu)
{
    for (uint32_t i = 0; snapshot && i < snapshot->agent_count; i++)
        if (snapshot->agents[i].gpu == gpu)
            return &snapshot->agents[i];
    return NULL;
}

const struct rtl_queue_snapshot *rtl_queue_of(const struct rtl_snapshot *snapshot, uint32_t slot, uint32_t near)
{
    uint32_t count = snapshot ? snapshot->queue_count : 0;
    for (uint32_t i = 0, at = near < count ? near : 0; i < count; i++, at = at + 1 < count ? at + 1 : 0)
        if (snapshot->queues[at].slot == slot)
            return &snapshot->queues[at];
    return NULL;
}

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
            t.untimed += rtl_grown(queue->untimed[r], was ? was->untimed[r] : 0);
        if (queue->live)
            t.depth += queue->depth;
    }
    return t;
}

void rtl_model_extend_gpu_history(struct rtl_model *model)
{
    if (!model->previous)
        return;
    const struct rtl_snapshot *now = &model->latest->snapshot, *before = &model->previous->snapshot;
    uint32_t slot = (uint32_t)(model->samples % RTL_MODEL_HISTORY);
    uint64_t span_ns = rtl_grown(now->taken_mono_ns, before->taken_mono_ns);
    for (uint32_t gpu = 0; gpu < RTL_AGENTS_MAX; gpu++)
        model->busy_history[gpu][slot] = RTL_BUSY_NONE;
    for (uint32_t i = 0; i < now->agent_count; i++) {
        const struct rtl_agent_snapshot *agent = &now->agents[i], *was = rtl_agent_of(before, agent->gpu);
        if (agent->gpu >= RTL_AGENTS_MAX || !was || !span_ns)
            continue;
        struct gpu_traffic t = traffic_of(now, before, agent->gpu);
        uint64_t busy_ns = rtl_grown(agent->busy_ns, was->busy_ns);
        model->empty_history[agent->gpu][slot] = !t.depth;
        if (!busy_ns && t.untimed)
            continue; /* all kernels may be untimed: busy is unknown */
        double busy = (double)busy_ns / (double)span_ns;
        model->busy_history[agent->gpu][slot] = busy < 1 ? (uint8_t)(busy * 100 + 0.5) : 100;
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

/* From the last RTL_MODEL_TREND intervals: how often nothing was in flight, and the mean idle share. */
static void add_recent_idle(const struct rtl_model *model, uint32_t gpu, struct rtl_gpu_facts *facts)
{
    uint32_t length = rtl_model_history_length(model);
    double idle = 0;
    for (uint32_t back = 0; back < length && back < RTL_MODEL_TREND; back++) {
        int busy = rtl_model_busy(model, gpu, back);
        if (busy < 0)
            continue;
        facts->looks++;
        facts->empty_looks += model->empty_history[gpu][(model->samples - back) % RTL_MODEL_HISTORY];
        idle += (100 - busy) / 100.0;
    }
    facts->looks_idle = facts->looks ? idle / facts->looks : 0;
}

static void add_queue_waits(const struct rtl_model *model, struct rtl_gpu_row *row)
{
    const struct rtl_snapshot *base = model->base ? &model->base->snapshot : NULL;
    struct rtl_histogram_sum sum;
    memset(&sum, 0, sizeof sum);
    for (uint32_t i = 0; i < model->queue_count; i++) {
        const struct rtl_queue_snapshot *queue = model->queues[i].queue;
        const struct rtl_queue_snapshot *was = rtl_queue_of(base, queue->slot, i);
        if (queue->gpu == row->agent->gpu)
            rtl_sum_add(&sum, was ? &was->wait : NULL, &queue->wait);
    }
    row->facts.waits = sum.count;
    if (!rtl_sum_quantile(&sum, 0.5, &row->wait_p50) || !rtl_sum_quantile(&sum, 0.99, &row->wait_p99))
        row->facts.waits = 0;
#define CLASS(number, below, header) below,
    static const uint64_t ends[] = {RTL_IDLE_CLASSES(CLASS)};
#undef CLASS
    for (int c = 0; c < RTL_IDLE_COUNT; c++)
        row->facts.long_waits[c] = rtl_sum_from(&sum, c ? ends[c - 1] : 0);
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

void rtl_model_judge_gpus(struct rtl_model *model)
{
    const struct rtl_snapshot *base = model->base ? &model->base->snapshot : NULL;
    for (uint32_t i = 0; i < model->gpu_count; i++) {
        struct rtl_gpu_row *row = &model->gpus[i];
        struct rtl_gpu_facts *facts = &row->facts;
        const struct rtl_agent_snapshot *was = rtl_agent_of(base, row->agent->gpu);
        struct gpu_traffic t = traffic_of(&model->latest->snapshot, base, row->agent->gpu);
        *facts = (struct rtl_gpu_facts){.busy = row->busy, .dispatches = t.dispatches, .depth = t.depth, .copies = -1};
        facts->users = row->agent->users;
        if (t.untimed)
            facts->untimed = t.dispatches > t.untimed ? (double)t.untimed / (double)t.dispatches : 1;
        for (int c = 0; c < RTL_IDLE_COUNT; c++) {
            facts->idle[c] = row->idle[c];
            facts->gaps[c] = rtl_grown(row->agent->idle[c].count, was ? was->idle[c].count : 0);
        }
        for (uint32_t c = 0; c < model->copies_count; c++)
            if (model->copies[c].copies->gpu == row->agent->gpu && model->copies[c].window.count)
                facts->copies = (facts->copies < 0 ? 0 : facts->copies) + model->copies[c].share;
        add_queue_waits(model, row);
        add_host_call(model, facts);
        add_recent_idle(model, row->agent->gpu, facts);
        rtl_queue_errors_add(model, row->agent->gpu, facts);
        row->verdict = rtl_verdict_of(facts);
    }
}
