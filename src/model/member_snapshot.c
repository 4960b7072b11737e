/* Extracts a process's own snapshots from merged ones. See model.h. */
#include "model/model.h"
#include "model/merge.h"
#include "shm/gpu_names.h"

#include <stdlib.h>
#include <string.h>

static const struct rtl_agent_snapshot *agent_at(const struct rtl_snapshot *s, uint32_t bdf)
{
    for (uint32_t i = 0; bdf != RTL_NO_BDF && i < s->agent_count; i++)
        if (s->agents[i].bdf == bdf)
            return &s->agents[i];
    return NULL;
}

/* Return the process's own agent for the GPU with this number in the merged snapshot. */
static const struct rtl_agent_snapshot *own_agent(const struct rtl_snapshot *merged, const struct rtl_snapshot *own,
                                                  uint32_t gpu)
{
    const struct rtl_agent_snapshot *agent = rtl_agent_of(merged, gpu);
    return agent ? agent_at(own, agent->bdf) : NULL;
}

static int by_kernel_id(const void *a, const void *b)
{
    uint32_t x = ((const struct rtl_kernel_snapshot *)a)->id, y = ((const struct rtl_kernel_snapshot *)b)->id;
    return (x > y) - (x < y);
}

/* Copy a part's kernel, with buckets in the storage of `room`. False without memory. */
static bool extract_kernel(const struct rtl_part *part, struct rtl_kernel_snapshot *to, struct rtl_snapshot *room)
{
    struct rtl_unpacked buckets;
    *to = part->kernel;
    to->id = part->row;
    to->histogram = rtl_part_histogram(part, &buckets);
    return rtl_snapshot_own_histogram(room, &to->histogram);
}

static bool extract_kernels(const struct rtl_parts *parts, uint32_t number, struct rtl_snapshot *to,
                            struct rtl_snapshot *room)
{
    for (uint32_t g = 0; g < parts->group_count; g++)
        for (uint32_t i = 0; i < parts->groups[g]->count; i++) {
            const struct rtl_part *part = parts->groups[g]->parts[i];
            if (part->member != number || part->row >= RTL_KERNELS_MAX)
                continue;
            if (!extract_kernel(part, &to->kernels[to->kernel_count++], room))
                return false;
        }
    qsort(to->kernels, to->kernel_count, sizeof *to->kernels, by_kernel_id);
    return true;
}

static void extract_queues(const struct rtl_snapshot *merged, const struct rtl_member *member,
                           const struct rtl_snapshot *own, struct rtl_snapshot *to)
{
    for (uint32_t i = 0; i < merged->queue_count; i++) {
        const struct rtl_queue_snapshot *from = &merged->queues[i];
        const struct rtl_agent_snapshot *agent = own_agent(merged, own, from->gpu);
        if (from->slot / RTL_QUEUES_MAX != member->number || !agent)
            continue;
        struct rtl_queue_snapshot *queue = &to->queues[to->queue_count++];
        *queue = *from;
        queue->slot %= RTL_QUEUES_MAX;
        queue->gpu = agent->gpu;
        queue->agent = agent->agent;
        queue->pid = 0;
        queue->error_kernel = 0; /* it is an id of the merged snapshot */
        for (uint32_t k = 0; queue->error && k < own->queue_count; k++)
            if (own->queues[k].slot == queue->slot && own->queues[k].generation == queue->generation)
                queue->error_kernel = own->queues[k].error_kernel;
        for (int r = 0; r < RTL_UNTIMED_LIMIT; r++)
            to->untimed[r] += queue->untimed[r];
    }
}

/* False if another process uses a GPU of this one: the merged snapshot has only the sum of their times. */
static bool extract_agents(const struct rtl_snapshot *merged, const struct rtl_member *member,
                           const struct rtl_snapshot *own, struct rtl_snapshot *to)
{
    for (uint32_t i = 0; i < own->agent_count; i++) {
        const struct rtl_agent_snapshot *from = agent_at(merged, own->agents[i].bdf);
        struct rtl_agent_snapshot *agent = &to->agents[to->agent_count++];
        bool works = from && from->gpu < 64 && member->gpus >> from->gpu & 1;
        *agent = own->agents[i];
        if (!from || (works && from->users > 1))
            return false;
        agent->busy_ns = works ? from->busy_ns : 0;
        for (int c = 0; c < RTL_IDLE_COUNT; c++)
            agent->idle[c] = works ? from->idle[c] : (struct rtl_idle){0, 0};
        agent->gap_count = works ? agent->gap_count : 0;
        for (int c = 0; c < RTL_CAUSE_COUNT; c++)
            agent->cause_ns[c] = works ? from->cause_ns[c] : 0;
    }
    return true;
}

static void extract_copies(const struct rtl_snapshot *merged, const struct rtl_member *member,
                           const struct rtl_snapshot *own, struct rtl_snapshot *to)
{
    for (uint32_t i = 0; i < merged->copies_count; i++) {
        const struct rtl_copies_snapshot *from = &merged->copies[i];
        const struct rtl_agent_snapshot *agent = own_agent(merged, own, from->gpu);
        if (!agent || from->gpu >= 64 || !(member->gpus >> from->gpu & 1))
            continue;
        struct rtl_copies_snapshot *copies = &to->copies[to->copies_count++];
        *copies = *from;
        copies->gpu = agent->gpu;
        copies->agent = agent->agent;
    }
}

bool rtl_member_snapshot(const struct rtl_snapshot *merged, uint32_t number, const struct rtl_snapshot *own,
                         struct rtl_snapshot *out)
{
    const struct rtl_member *member = rtl_member_of(merged, number);
    struct rtl_snapshot room = {0};
    struct rtl_snapshot s = *own; /* arrays and counters are replaced below; all other fields stay current */
    uint32_t kernels = 0;
    if (!member || member->start_mono_ns != own->start_mono_ns)
        return false;
    for (uint32_t g = 0; g < merged->parts->group_count; g++)
        kernels += merged->parts->groups[g]->count;
    s.taken_mono_ns = merged->taken_mono_ns;
    s.heartbeat_mono_ns = member->heartbeat_mono_ns;
    s.passes = member->passes;
    s.parked = member->parked;
    s.counted = member->counted;
    s.timed = member->timed;
    s.untimed_total = member->untimed_total;
    memset(s.untimed, 0, sizeof s.untimed);
    s.kernel_count = s.queue_count = s.agent_count = s.copies_count = 0;
    s.kernels = calloc(kernels + 1, sizeof *s.kernels);
    s.queues = calloc(merged->queue_count + 1, sizeof *s.queues);
    s.agents = calloc(own->agent_count + 1, sizeof *s.agents);
    s.copies = calloc(merged->copies_count + 1, sizeof *s.copies);
    bool ok = s.kernels && s.queues && s.agents && s.copies && extract_agents(merged, member, own, &s);
    if (ok && extract_kernels(merged->parts, number, &s, &room)) {
        extract_queues(merged, member, own, &s);
        extract_copies(merged, member, own, &s);
        ok = rtl_snapshot_copy(&s, out);
    } else {
        ok = false;
    }
    rtl_snapshot_free(&room);
    free(s.kernels);
    free(s.queues);
    free(s.agents);
    free(s.copies);
    return ok;
}

static void add_past_sample(struct rtl_model *alone, const struct rtl_sample *sample, uint32_t number,
                            const struct rtl_snapshot *own)
{
    struct rtl_snapshot past;
    uint64_t last = alone->latest ? alone->latest->snapshot.taken_mono_ns : 0;
    if (sample && sample->snapshot.taken_mono_ns > last && sample->snapshot.taken_mono_ns < own->taken_mono_ns &&
        rtl_member_snapshot(&sample->snapshot, number, own, &past))
        rtl_model_add_past(alone, &past, sample->real_ns);
}

void rtl_model_begin_with_history(struct rtl_model *alone, const struct rtl_model *all, uint32_t number,
                                  const struct rtl_snapshot *own)
{
    for (int i = 0; i < all->ring_count; i++)
        add_past_sample(alone, all->ring[i], number, own);
    add_past_sample(alone, all->previous, number, own);
    add_past_sample(alone, all->latest, number, own);
}
