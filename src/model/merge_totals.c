/* Merges snapshots without their kernels. See merge_totals.h. */
#include "model/merge_totals.h"
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
    const struct rtl_agent_snapshot *agent = rtl_agent_of(s, gpu);
    if (agent)
        key = table_key_of(member, agent);
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
        for (uint32_t g = 0; g < a->gap_count; g++) {
            a->gap[g].member = member + 1;
            a->gap[g].queue_before += slots;
            a->gap[g].queue_after += slots;
        }
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
    to->gaps_known &= a->gaps_known;
    for (int c = 0; c < RTL_CAUSE_COUNT; c++)
        to->cause_ns[c] += a->cause_ns[c];
    if (a->last_end_mono_ns > to->last_end_mono_ns)
        to->last_end_mono_ns = a->last_end_mono_ns;
    if (a->users >=
        to->users - a->users) { /* keep the gaps of a GPU's only process; those of a shared GPU mean nothing */
        to->gap_count = a->gap_count;
        memcpy(to->gap, a->gap, sizeof to->gap);
    }
    if (a->clock_residual_most_ns > to->clock_residual_most_ns)
        to->clock_residual_most_ns = a->clock_residual_most_ns;
}

static bool sum_agents(const struct rtl_merge_totals *rests, uint32_t count, struct rtl_snapshot *out)
{
    bool there[RTL_AGENTS_MAX] = {false};
    out->agents = calloc(RTL_AGENTS_MAX, sizeof *out->agents);
    if (!out->agents)
        return false;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 0; i < rests[r].snapshot.agent_count; i++) {
            const struct rtl_agent_snapshot *a = &rests[r].snapshot.agents[i];
            if (a->gpu >= RTL_AGENTS_MAX)
                continue;
            if (there[a->gpu])
                merge_agent(&out->agents[a->gpu], a);
            else
                out->agents[a->gpu] = *a;
            there[a->gpu] = true;
        }
    for (uint32_t g = 0; g < RTL_AGENTS_MAX; g++)
        if (there[g])
            out->agents[out->agent_count++] = out->agents[g];
    return true;
}

/* Sum all processes' copies of one GPU in one direction. */
static bool sum_copies_of(const struct rtl_merge_totals *rests, uint32_t count, uint32_t gpu, uint32_t direction,
                          const struct rtl_histogram_copy **list, struct rtl_snapshot *out)
{
    struct rtl_copies_snapshot *to = &out->copies[out->copies_count];
    uint32_t found = 0;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t i = 0; i < rests[r].snapshot.copies_count; i++) {
            const struct rtl_copies_snapshot *c = &rests[r].snapshot.copies[i];
            if (c->gpu != gpu || c->direction != direction)
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
    out->copies_count += found != 0;
    return !found || rtl_histogram_sum_for(out, list, found, &to->histogram);
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
            ok = sum_copies_of(rests, count, g, d, list, out);
    free(list);
    return ok;
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
            if (!rtl_snapshot_own_histogram(out, &q->wait) || !rtl_snapshot_own_histogram(out, &q->gap))
                return false;
        }
    return true;
}

/* --- HIP calls and roctx ranges: rows by name, memory rows one after another --- */

static bool merge_rows(const struct rtl_hip_api_snapshot *const *from, uint32_t count, uint32_t *at,
                       const struct rtl_histogram_copy **list, struct rtl_snapshot *out)
{
    for (;;) {
        const struct rtl_hip_api_row_snapshot *least = NULL; /* the next row of all processes in the order of rows */
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++)
            if (from[i] && at[i] < from[i]->count &&
                (!least || rtl_hip_api_compare_rows(&from[i]->rows[at[i]], least) < 0))
                least = &from[i]->rows[at[i]];
        if (!least)
            return true;
        struct rtl_hip_api_row_snapshot *to = &out->hip_api->rows[out->hip_api->count++];
        *to = *least;
        to->bytes = to->errors = to->open = to->in_use = 0;
        to->codes = NULL;
        for (uint32_t i = 0; i < count; i++) {
            if (!from[i] || at[i] >= from[i]->count || rtl_hip_api_compare_rows(&from[i]->rows[at[i]], to) != 0)
                continue;
            const struct rtl_hip_api_row_snapshot *row = &from[i]->rows[at[i]++];
            to->bytes += row->bytes;
            to->errors += row->errors;
            to->open += row->open;
            to->in_use += row->in_use;
            list[found++] = &row->histogram;
        }
        if (!rtl_histogram_sum_for(out, list, found, &to->histogram))
            return false;
    }
}

static void add_node_numbers(struct rtl_hip_api_node_snapshot *to, const struct rtl_hip_api_node_snapshot *node)
{
    to->count += node->count;
    to->total_ns += node->total_ns;
    to->most_ns = node->most_ns > to->most_ns ? node->most_ns : to->most_ns;
    to->open += node->open;
    to->kernels += node->kernels;
    to->kernels_ns += node->kernels_ns;
    to->copies += node->copies;
    to->copies_ns += node->copies_ns;
}

/* Merge pairs of the same node and kernel. `place` has room for the nodes of a process. */
static bool merge_pairs(const struct rtl_hip_api_snapshot *const *from, uint32_t count, uint32_t *place,
                        const struct rtl_histogram_copy **list, struct rtl_snapshot *out)
{
    struct rtl_hip_api_snapshot *to = out->hip_api;
    uint32_t kept = 0;
    place[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t n = 1; from[i] && from[i]->pair_count && n < from[i]->node_count; n++) {
            const struct rtl_hip_api_node_snapshot *node = &from[i]->nodes[n];
            place[n] = rtl_hip_api_find_child(to, place[node->parent], node->name, node->name_bytes);
        }
        for (uint32_t p = 0; from[i] && p < from[i]->pair_count; p++) {
            to->pairs[to->pair_count] = from[i]->pairs[p];
            to->pairs[to->pair_count++].node = place[from[i]->pairs[p].node];
        }
    }
    bool ok = true;
    rtl_hip_api_sort_pairs(to);
    for (uint32_t i = 0, next; ok && i < to->pair_count; i = next) {
        uint32_t found = 0; /* at most one for each process */
        for (next = i; next < to->pair_count && found < count && to->pairs[next].node == to->pairs[i].node &&
                       to->pairs[next].kernel == to->pairs[i].kernel;
             next++)
            list[found++] = &to->pairs[next].histogram;
        struct rtl_hip_api_pair_snapshot sum = to->pairs[i];
        ok = rtl_histogram_sum_for(out, list, found, &sum.histogram);
        to->pairs[kept++] = sum;
    }
    to->pair_count = kept;
    return ok;
}

/* Merge `all` nodes of all processes. */
static bool merge_nodes(const struct rtl_hip_api_snapshot *const *from, uint32_t count, uint32_t all, uint32_t *place,
                        struct rtl_hip_api_snapshot *to)
{
    struct rtl_hip_api_tree tree;
    if (!all)
        return true;
    bool ok = rtl_hip_api_tree_begin(&tree, to, all);
    for (uint32_t i = 0; ok && i < count; i++)
        for (uint32_t n = 0; from[i] && n < from[i]->node_count; n++) { /* parents come first */
            const struct rtl_hip_api_node_snapshot *node = &from[i]->nodes[n];
            place[n] = n ? rtl_hip_api_tree_enter(&tree, place[node->parent], node->name, node->name_bytes) : 0;
            add_node_numbers(&to->nodes[place[n]], node);
        }
    return rtl_hip_api_tree_end(&tree, NULL) && ok;
}

static bool merge_launches(const struct rtl_hip_api_snapshot *const *from, uint32_t count, uint32_t *at,
                           const struct rtl_histogram_copy **list, struct rtl_snapshot *out)
{
    memset(at, 0, count * sizeof *at);
    for (;;) {
        uint64_t kernel = UINT64_MAX;
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; i++)
            if (from[i] && at[i] < from[i]->launch_count && from[i]->launches[at[i]].kernel < kernel)
                kernel = from[i]->launches[at[i]].kernel;
        if (kernel == UINT64_MAX)
            return true;
        for (uint32_t i = 0; i < count; i++)
            if (from[i] && at[i] < from[i]->launch_count && from[i]->launches[at[i]].kernel == kernel)
                list[found++] = &from[i]->launches[at[i]++].histogram;
        struct rtl_hip_api_launch_snapshot *to = &out->hip_api->launches[out->hip_api->launch_count++];
        to->kernel = kernel;
        if (!rtl_histogram_sum_for(out, list, found, &to->histogram))
            return false;
    }
}

bool rtl_merge_hip_api(const struct rtl_hip_api_snapshot *const *from, uint32_t count, struct rtl_snapshot *out)
{
    struct rtl_hip_api_room room = {0};
    uint32_t any = 0;
    out->hip_api = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (from[i]) {
            any++;
            room.rows += from[i]->count;
            room.memory += from[i]->memory_count;
            room.nodes += from[i]->node_count;
            room.launches += from[i]->launch_count;
            room.pairs += from[i]->pair_count;
        }
    if (!any)
        return true;
    uint32_t *at = calloc(count, sizeof *at), *place = calloc((size_t)room.nodes + 1, sizeof *place);
    const struct rtl_histogram_copy **list = calloc(count, sizeof *list);
    bool ok = at && place && list && rtl_hip_api_allocate(out, &room);
    ok = ok && merge_rows(from, count, at, list, out) && merge_nodes(from, count, room.nodes, place, out->hip_api) &&
         merge_launches(from, count, at, list, out) && merge_pairs(from, count, place, list, out);
    for (uint32_t i = 0; ok && i < count; i++) {
        if (!from[i])
            continue;
        memcpy(out->hip_api->memory + out->hip_api->memory_count, from[i]->memory,
               from[i]->memory_count * sizeof *from[i]->memory);
        out->hip_api->memory_count += from[i]->memory_count;
#define ADD(member, key, text) out->hip_api->member += from[i]->member;
        RTL_HIP_API_TROUBLES(ADD)
#undef ADD
        out->hip_api->links |= from[i]->links;
        out->hip_api->flags |= from[i]->flags;
        out->hip_api->linked += from[i]->linked;
        out->hip_api->copies_linked += from[i]->copies_linked;
        out->hip_api->copies_unlinked += from[i]->copies_unlinked;
        for (int u = 0; u < RTL_HIP_API_UNLINKED_LIMIT; u++)
            out->hip_api->unlinked[u] += from[i]->unlinked[u];
    }
    free(at);
    free(place);
    free(list);
    if (!ok)
        out->hip_api = NULL;
    return ok;
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

/* --- all of it --- */

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
