/* Merges snapshots without their kernels. See merge_totals.h. */
#include "model/merge_totals.h"
#include "model/merge_hip_api.h"
#include "shm/gpu_names.h"
#include "stats/histogram_sum.h"

#include <stdlib.h>
#include <string.h>

static struct rtl_gpu_key table_key_of(uint32_t member, const struct rtl_agent_snapshot *agent)
{
    struct rtl_gpu_key key = {.bdf = agent->bdf};
    if (agent->bdf == RTL_NO_BDF) {
        key.member = member;
        key.gpu = agent->gpu;
    }
    memcpy(key.uuid, agent->uuid, sizeof key.uuid);
    key.uuid[RTL_AGENT_UUID_MAX] = 0;
    return key;
}

static bool same_gpu(const struct rtl_gpu_key *a, const struct rtl_gpu_key *b)
{
    return a->bdf == b->bdf && a->member == b->member && a->gpu == b->gpu &&
           (!a->uuid[0] || !b->uuid[0] || !strcmp(a->uuid, b->uuid));
}

static int find_gpu(const struct rtl_gpu_table *table, const struct rtl_gpu_key *key)
{
    for (int i = 0; i < RTL_AGENTS_MAX; i++)
        if (table->taken[i] && same_gpu(&table->keys[i], key))
            return i;
    return -1;
}

/* Add a GPU with number `wanted` if it is free, else behind all others. GPUs beyond the limit share the last number. */
static uint32_t add_table_gpu(struct rtl_gpu_table *table, const struct rtl_gpu_key *key, uint32_t wanted)
{
    uint32_t number = 0;
    if (wanted < RTL_AGENTS_MAX && !table->taken[wanted]) {
        number = wanted;
    } else {
        for (uint32_t i = 0; i < RTL_AGENTS_MAX; i++)
            if (table->taken[i])
                number = i + 1;
        if (number >= RTL_AGENTS_MAX)
            return RTL_AGENTS_MAX - 1;
    }
    table->keys[number] = *key;
    table->taken[number] = true;
    return number;
}

void rtl_gpu_table_add(struct rtl_gpu_table *table, uint32_t member, const struct rtl_snapshot *snapshot, bool keep)
{
    bool done[RTL_AGENTS_MAX] = {false};
    uint32_t count = snapshot->agent_count < RTL_AGENTS_MAX ? snapshot->agent_count : RTL_AGENTS_MAX;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t next = 0;
        while (done[next])
            next++;
        for (uint32_t i = next + 1; !keep && i < count; i++)
            if (!done[i] && snapshot->agents[i].bdf < snapshot->agents[next].bdf)
                next = i;
        done[next] = true;
        struct rtl_gpu_key key = table_key_of(member, &snapshot->agents[next]);
        if (find_gpu(table, &key) < 0)
            add_table_gpu(table, &key, keep ? snapshot->agents[next].gpu : UINT32_MAX);
    }
}

/* Return the number on the screen of the process's GPU `gpu`. */
static uint32_t screen_number(struct rtl_gpu_table *table, uint32_t member, const struct rtl_snapshot *s, uint32_t gpu)
{
    struct rtl_gpu_key key = {.bdf = RTL_NO_BDF, .member = member, .gpu = gpu};
    for (uint32_t i = 0; i < s->agent_count; i++)
        if (s->agents[i].gpu == gpu) {
            key = table_key_of(member, &s->agents[i]);
            break;
        }
    int number = find_gpu(table, &key);
    return number >= 0 ? (uint32_t)number : add_table_gpu(table, &key, UINT32_MAX);
}

bool rtl_merge_totals_copy(struct rtl_gpu_table *table, uint32_t member, uint32_t slots, pid_t pid,
                           const struct rtl_snapshot *from, struct rtl_snapshot *to)
{
    struct rtl_snapshot rest = *from;
    rest.kernels = NULL;
    rest.kernel_count = 0;
    rtl_gpu_table_add(table, member, from, false);
    if (!rtl_snapshot_copy(&rest, to))
        return false;
    for (uint32_t i = 0; i < to->queue_count; i++) {
        struct rtl_queue_snapshot *q = &to->queues[i];
        q->gpu = q->agent = screen_number(table, member, from, q->gpu);
        q->slot = slots + (q->slot < RTL_QUEUES_MAX ? q->slot : RTL_QUEUES_MAX - 1);
        q->pid = (uint64_t)pid;
    }
    for (uint32_t i = 0; i < to->copies_count; i++)
        to->copies[i].gpu = to->copies[i].agent = screen_number(table, member, from, to->copies[i].gpu);
    for (uint32_t i = 0; i < to->agent_count; i++) {
        struct rtl_agent_snapshot *a = &to->agents[i];
        a->users = a->busy_ns != 0;
        for (uint32_t j = 0; j < to->queue_count; j++)
            a->users |= from->queues[j].gpu == from->agents[i].gpu && from->queues[j].dispatches;
        a->gpu = a->agent = screen_number(table, member, from, from->agents[i].gpu);
    }
    return true;
}

void rtl_gpu_table_sort(struct rtl_gpu_table *table, uint32_t to[RTL_AGENTS_MAX])
{
    struct rtl_gpu_table sorted = {0};
    for (uint32_t n = 0; n < RTL_AGENTS_MAX; n++)
        to[n] = n;
    for (uint32_t n = 0; n < RTL_AGENTS_MAX; n++) {
        int least = -1;
        for (int i = 0; i < RTL_AGENTS_MAX; i++)
            if (table->taken[i] && (least < 0 || table->keys[i].bdf < table->keys[least].bdf))
                least = i;
        if (least < 0)
            break;
        sorted.keys[n] = table->keys[least];
        sorted.taken[n] = true;
        table->taken[least] = false;
        to[least] = n;
    }
    *table = sorted;
}

void rtl_merge_totals_renumber(struct rtl_snapshot *rest, const uint32_t to[RTL_AGENTS_MAX])
{
    for (uint32_t i = 0; i < rest->agent_count; i++)
        rest->agents[i].gpu = rest->agents[i].agent = to[rest->agents[i].gpu % RTL_AGENTS_MAX];
    for (uint32_t i = 0; i < rest->queue_count; i++)
        rest->queues[i].gpu = rest->queues[i].agent = to[rest->queues[i].gpu % RTL_AGENTS_MAX];
    for (uint32_t i = 0; i < rest->copies_count; i++)
        rest->copies[i].gpu = rest->copies[i].agent = to[rest->copies[i].gpu % RTL_AGENTS_MAX];
}

#define SUMMED_FIELDS(X) \
    X(worker_cpu_ns)     \
    X(passes)            \
    X(kernels_over)      \
    X(queues_refused)    \
    X(chunks_used)       \
    X(signals_in_use)    \
    X(signals_free)      \
    X(signals_created)   \
    X(signals_destroyed) \
    X(signals_peak)      \
    X(signals_limit)     \
    X(counted)           \
    X(packets_lost)      \
    X(timed)             \
    X(untimed_total)

static void add_counters(struct rtl_snapshot *out, const struct rtl_snapshot *s, bool first)
{
    if (s->mode != out->mode && !first)
        out->mode = RTL_MODE_MIXED;
    if (s->in_force > out->in_force) /* if one process times, the merged one does */
        out->in_force = s->in_force;
    out->convention = first || out->convention == s->convention ? s->convention : RTL_CONVENTION_UNKNOWN;
    out->notes |= s->notes;
    out->seals &= s->seals;
    if (s->start_mono_ns < out->start_mono_ns) {
        out->start_mono_ns = s->start_mono_ns;
        out->start_real_ns = s->start_real_ns;
    }
    if (s->heartbeat_mono_ns > out->heartbeat_mono_ns)
        out->heartbeat_mono_ns = s->heartbeat_mono_ns;
    out->parked = (first || out->parked) && s->parked;
    if (s->state == RTL_STATE_LIVE)
        out->state = RTL_STATE_LIVE;
#define ADD(field) out->field += s->field;
    SUMMED_FIELDS(ADD)
#undef ADD
    for (int i = 0; i < RTL_UNTIMED_LIMIT; i++)
        out->untimed[i] += s->untimed[i];
}

/* With `users` > 1, gaps of one process are no gaps of the GPU: the model ignores `idle` then. */
static void merge_agent(struct rtl_agent_snapshot *to, const struct rtl_agent_snapshot *a)
{
    to->busy_ns += a->busy_ns;
    to->users += a->users;
    for (int c = 0; c < RTL_IDLE_COUNT; c++) {
        to->idle[c].count += a->idle[c].count;
        to->idle[c].total_ns += a->idle[c].total_ns;
    }
    if (a->clock_residual_most_ns > to->clock_residual_most_ns)
        to->clock_residual_most_ns = a->clock_residual_most_ns;
}

static bool sum_agents(const struct rtl_merge_totals *rests, uint32_t count, struct rtl_snapshot *out)
{
    struct rtl_agent_snapshot agents[RTL_AGENTS_MAX];
    bool there[RTL_AGENTS_MAX] = {false};
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 0; i < rests[r].snapshot.agent_count; i++) {
            const struct rtl_agent_snapshot *a = &rests[r].snapshot.agents[i];
            if (a->gpu >= RTL_AGENTS_MAX)
                continue;
            if (there[a->gpu])
                merge_agent(&agents[a->gpu], a);
            else
                agents[a->gpu] = *a;
            there[a->gpu] = true;
        }
    out->agents = calloc(RTL_AGENTS_MAX, sizeof *out->agents);
    if (!out->agents)
        return false;
    for (uint32_t g = 0; g < RTL_AGENTS_MAX; g++)
        if (there[g])
            out->agents[out->agent_count++] = agents[g];
    return true;
}

/* Sum all processes' copies of one GPU in one direction. */
static bool sum_copies_of(const struct rtl_merge_totals *rests, uint32_t count, uint32_t gpu, uint32_t direction,
                          const struct rtl_histogram_copy **list, uint32_t room, struct rtl_snapshot *out)
{
    struct rtl_copies_snapshot *to = &out->copies[out->copies_count];
    uint32_t found = 0;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 0; i < rests[r].snapshot.copies_count; i++) {
            const struct rtl_copies_snapshot *c = &rests[r].snapshot.copies[i];
            if (c->gpu != gpu || c->direction != direction || found == room)
                continue;
            if (!found)
                *to = (struct rtl_copies_snapshot){.agent = gpu, .gpu = gpu, .direction = direction};
            list[found++] = &c->histogram;
            to->count += c->count;
            to->bytes += c->bytes;
            to->timed_bytes += c->timed_bytes;
            for (int u = 0; u < RTL_COPY_UNTIMED_LIMIT; u++)
                to->untimed[u] += c->untimed[u];
        }
    if (!found)
        return true;
    void *storage = rtl_snapshot_allocate(out, rtl_histogram_sum_bytes(list, found));
    if (!storage)
        return false;
    to->histogram = rtl_histogram_sum(list, found, storage);
    out->copies_count++;
    return true;
}

static bool sum_copies(const struct rtl_merge_totals *rests, uint32_t count, struct rtl_snapshot *out)
{
    uint32_t room = 0;
    for (uint32_t r = 0; r < count; r++)
        room += rests[r].snapshot.copies_count;
    const struct rtl_histogram_copy **list = calloc(room + 1, sizeof *list);
    bool any[RTL_AGENTS_MAX] = {false}, ok = list != NULL;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 0; i < rests[r].snapshot.copies_count; i++)
            if (rests[r].snapshot.copies[i].gpu < RTL_AGENTS_MAX)
                any[rests[r].snapshot.copies[i].gpu] = true;
    out->copies = calloc(RTL_COPIES_MAX, sizeof *out->copies);
    ok = ok && out->copies;
    for (uint32_t g = 0; ok && g < RTL_AGENTS_MAX; g++)
        for (uint32_t d = 0; ok && any[g] && d < RTL_DIRECTION_COUNT; d++)
            ok = sum_copies_of(rests, count, g, d, list, room, out);
    free(list);
    return ok;
}

static bool own_histogram(struct rtl_snapshot *out, struct rtl_histogram_copy *h)
{
    const struct rtl_histogram_copy *from = h;
    if (!h->octave_count && !h->coarse)
        return true;
    void *storage = rtl_snapshot_allocate(out, rtl_histogram_sum_bytes(&from, 1));
    if (!storage)
        return false;
    struct rtl_histogram_copy sum = rtl_histogram_sum(&from, 1, storage);
    h->octaves = sum.octaves;
    h->octave_count = sum.octave_count;
    h->coarse = sum.coarse;
    return true;
}

static bool join_queues(const struct rtl_merge_totals *rests, uint32_t count, struct rtl_snapshot *out)
{
    uint32_t total = 0;
    for (uint32_t r = 0; r < count; r++)
        total += rests[r].folded ? 0 : rests[r].snapshot.queue_count;
    out->queues = calloc(total + 1, sizeof *out->queues);
    if (!out->queues)
        return false;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 0; !rests[r].folded && i < rests[r].snapshot.queue_count; i++) {
            if (!rests[r].queues && !rests[r].snapshot.queues[i].error)
                continue;
            struct rtl_queue_snapshot *q = &out->queues[out->queue_count++];
            *q = rests[r].snapshot.queues[i];
            if (!rests[r].queues) {
                q->live = false;
                q->depth = 0;
            }
            if (!own_histogram(out, &q->wait) || !own_histogram(out, &q->gap))
                return false;
        }
    return true;
}

static bool sum_calls(const struct rtl_merge_totals *rests, uint32_t count, struct rtl_snapshot *out)
{
    const struct rtl_hip_api_snapshot **from = calloc(count + 1, sizeof *from);
    for (uint32_t r = 0; from && r < count; r++)
        from[r] = rests[r].snapshot.hip_api;
    bool ok = from && rtl_merge_hip_api(from, count, out);
    free(from);
    return ok;
}

bool rtl_merge_totals_sum(const struct rtl_merge_totals *rests, uint32_t count, struct rtl_snapshot *out)
{
    memset(out, 0, sizeof *out);
    if (count) { /* fields that are not summed come from the first process */
        *out = rests[0].snapshot;
        out->kernels = NULL;
        out->queues = NULL;
        out->agents = NULL;
        out->copies = NULL;
        out->storage = NULL;
        out->hip_api = NULL;
        out->kernel_count = out->queue_count = out->agent_count = out->copies_count = 0;
#define CLEAR(field) out->field = 0;
        SUMMED_FIELDS(CLEAR)
#undef CLEAR
        memset(out->untimed, 0, sizeof out->untimed);
    }
    for (uint32_t r = 0; r < count; r++)
        add_counters(out, &rests[r].snapshot, r == 0);
    if (sum_agents(rests, count, out) && sum_copies(rests, count, out) && join_queues(rests, count, out) &&
        sum_calls(rests, count, out))
        return true;
    rtl_snapshot_free(out);
    return false;
}
