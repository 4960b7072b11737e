/* Adds queues that the library doesn't see to its snapshots. See past_library.h. */
#include "observe/past_library.h"
#include "shm/gpu_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t LIBRARYS_TIME_NS = 1000000000;
enum { SLOT_FIRST = RTL_QUEUE_SHARED - 1 }; /* downwards from here: the segment's slots come from below */

void rtl_traced_queues_of(const struct rtl_snapshot *s, uint64_t as_of_ns, struct rtl_traced_queues *t)
{
    *t = (struct rtl_traced_queues){
        .as_of_ns = as_of_ns, .refused = s->queues_refused, .another_runtime = s->notes & RTL_NOTE_ANOTHER_RUNTIME};
    /* queues of the shared slot can't be identified, nor queues of an older library */
    bool known = !(s->notes & RTL_NOTE_QUEUES_SHARED);
    for (uint32_t i = 0; i < s->queue_count; i++) {
        const struct rtl_queue_snapshot *q = &s->queues[i];
        if (!q->live || q->shared || t->count == RTL_QUEUES_MAX)
            continue;
        known &= q->real_id != 0;
        t->agent[t->count] = q->agent;
        t->key[t->count] = q->real_key;
        t->id[t->count++] = q->real_id - 1;
    }
    if (!known)
        t->as_of_ns = 0;
}

int rtl_traced_queues_find(const struct rtl_traced_queues *t, uint64_t id, uint32_t key)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->id[i] == id && (!t->key[i] || !key || t->key[i] == key))
            return (int)i;
    return -1;
}

bool rtl_candidate_is_past(const struct rtl_candidate *c, const struct rtl_traced_queues *t)
{
    return t->as_of_ns && t->as_of_ns > c->seen_ns && t->as_of_ns - c->seen_ns > LIBRARYS_TIME_NS;
}

/* --- into the segment's snapshot --- */

static struct rtl_kernel_snapshot *find_kernel_by_id(struct rtl_snapshot *s, uint32_t id)
{
    const struct rtl_kernel_snapshot *k = rtl_snapshot_kernel(s, id);
    return k ? &s->kernels[k - s->kernels] : NULL;
}

/* Return row `id` of the snapshot, inserting it if needed; there is room. */
static struct rtl_kernel_snapshot *kernel_at(struct rtl_snapshot *s, uint32_t id, const char *name, size_t length)
{
    uint32_t at = s->kernel_count;
    struct rtl_kernel_snapshot *k = find_kernel_by_id(s, id);
    if (k)
        return k;
    while (at && s->kernels[at - 1].id > id)
        at--;
    memmove(&s->kernels[at + 1], &s->kernels[at], (s->kernel_count - at) * sizeof *s->kernels);
    s->kernel_count++;
    s->kernels[at] = (struct rtl_kernel_snapshot){.id = id, .name = name, .name_length = length};
    return &s->kernels[at];
}

static void add_calls(struct rtl_kernel_snapshot *k, uint64_t calls)
{
    k->calls += calls;
    k->untimed += calls;
}

static void find_traced(const struct rtl_snapshot *s, struct rtl_past_row *row)
{
    for (uint32_t i = 0; i < s->kernel_count && row->traced == UINT32_MAX; i++)
        if (s->kernels[i].name_length == row->length && !memcmp(s->kernels[i].name, row->name, row->length))
            row->traced = s->kernels[i].id;
}

static void add_past_row(struct rtl_snapshot *s, struct rtl_past_row *row, uint32_t own_id)
{
    struct rtl_kernel_snapshot *k = row->traced == UINT32_MAX ? NULL : find_kernel_by_id(s, row->traced);
    if (row->traced != UINT32_MAX && !k) /* insert the segment's row again, so that the kernel is never shown twice */
        k = kernel_at(s, row->traced, row->name, row->length);
    if (!k || row->alone) {
        struct rtl_kernel_snapshot *own = kernel_at(s, own_id, row->name, row->length);
        row->alone = true;
        if (!k) {
            k = own;
            memcpy(k->grid, row->last.grid, sizeof k->grid);
            memcpy(k->workgroup, row->last.workgroup, sizeof k->workgroup);
            k->lds_bytes = row->last.group_bytes;
            k->scratch_bytes = row->last.private_bytes;
        }
    }
    add_calls(k, row->calls);
}

static void add_past_kernels(struct rtl_past_library *u, struct rtl_snapshot *s)
{
    static const char other[] = "(other kernels)", unknown[] = "(unknown kernel)";
    uint32_t highest = s->kernel_count ? s->kernels[s->kernel_count - 1].id : 0;
    uint64_t homeless = u->other;
    for (uint32_t i = 0; i < u->row_count; i++)
        if (u->rows[i].traced == UINT32_MAX && u->rows[i].calls)
            find_traced(s, &u->rows[i]);
    for (uint32_t i = 0; i < u->row_count; i++) {
        uint32_t own_id = RTL_KERNELS_MAX - 1 - i;
        if (!u->rows[i].calls)
            continue;
        if (u->rows[i].traced == UINT32_MAX && own_id <= highest)
            homeless += u->rows[i].calls;
        else
            add_past_row(s, &u->rows[i], own_id);
    }
    if (homeless)
        add_calls(kernel_at(s, RTL_KERNEL_OTHER, other, sizeof other - 1), homeless);
    if (u->unnamed)
        add_calls(kernel_at(s, RTL_KERNEL_UNKNOWN, unknown, sizeof unknown - 1), u->unnamed);
}

/* Return the GPU of a queue whose doorbells no traced queue shares: the only GPU, or an unknown one. */
static uint32_t other_gpu(struct rtl_snapshot *s)
{
    if (s->agent_count == 1)
        return s->agents[0].gpu;
    uint32_t gpu = s->agent_count ? s->agents[s->agent_count - 1].gpu : 0;
    if (s->agent_count && s->agents[s->agent_count - 1].bdf == RTL_NO_BDF)
        return gpu;
    struct rtl_agent_snapshot *more = realloc(s->agents, (s->agent_count + 1) * sizeof *more);
    if (!more)
        return gpu;
    s->agents = more;
    gpu += s->agent_count != 0;
    more[s->agent_count] = (struct rtl_agent_snapshot){.gpu = gpu, .agent = gpu, .bdf = RTL_NO_BDF};
    snprintf(more[s->agent_count++].name, sizeof more->name, "GPU");
    return gpu;
}

static uint32_t gpu_of_agent(struct rtl_snapshot *s, uint32_t agent)
{
    for (uint32_t i = 0; i < s->agent_count; i++)
        if (s->agents[i].agent == agent)
            return s->agents[i].gpu;
    return other_gpu(s);
}

static void add_past_queues(const struct rtl_past_library *u, struct rtl_snapshot *s)
{
    uint32_t end = s->queue_count, live = 0;
    while (end && s->queues[end - 1].slot > SLOT_FIRST)
        end--; /* the shared slot stays last */
    for (uint32_t i = u->queue_count; i-- > 0;) {
        struct rtl_queue_snapshot q = u->queues[i];
        live += q.live;
        s->counted += q.dispatches + q.dispatches_before;
        s->untimed[RTL_UNTIMED_OBSERVED] += q.untimed[RTL_UNTIMED_OBSERVED];
        s->untimed_total += q.untimed[RTL_UNTIMED_OBSERVED];
        if (q.slot > SLOT_FIRST || (end && s->queues[end - 1].slot >= SLOT_FIRST - q.slot))
            continue; /* counted, but no slot to show it */
        q.slot = SLOT_FIRST - q.slot;
        q.gpu = gpu_of_agent(s, q.agent);
        memmove(&s->queues[end + 1], &s->queues[end], (s->queue_count - end) * sizeof q);
        s->queues[end++] = q;
        s->queue_count++;
    }
    /* observed queues no longer count as refused */
    s->queues_refused -= live < s->queues_refused ? live : s->queues_refused;
    if (live && !s->queues_refused)
        s->notes &= ~(uint32_t)RTL_NOTE_QUEUE_NOT_INTERCEPTED;
}

bool rtl_past_library_add(struct rtl_past_library *u, struct rtl_snapshot *s)
{
    if (!u->queue_count)
        return true;
    struct rtl_kernel_snapshot *kernels =
        realloc(s->kernels, (s->kernel_count + 2 * (size_t)u->row_count + 2) * sizeof *kernels);
    if (!kernels)
        return false;
    s->kernels = kernels;
    struct rtl_queue_snapshot *queues = realloc(s->queues, (s->queue_count + (size_t)u->queue_count) * sizeof *queues);
    if (!queues)
        return false;
    s->queues = queues;
    add_past_kernels(u, s);
    add_past_queues(u, s);
    s->packets_lost += u->lost;
    s->notes |= u->lost ? RTL_NOTE_PACKETS_UNSEEN : 0u;
    return true;
}
