/*
 * Deep copies of snapshots, for recordings: they compare a snapshot with the one before. Names are not copied: their
 * owner stays the reader. Also finds kernels and copies in a snapshot.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "shm/hip_api_snapshot.h"
#include "shm/segment_reader.h"

static int compare_kernel_id(const void *id, const void *kernel)
{
    uint32_t a = *(const uint32_t *)id, b = ((const struct rtl_kernel_snapshot *)kernel)->id;
    return (a > b) - (a < b);
}

const struct rtl_kernel_snapshot *rtl_snapshot_kernel(const struct rtl_snapshot *s, uint32_t id)
{
    size_t at = rtl_lower_bound(s->kernels, s->kernel_count, sizeof *s->kernels, &id, compare_kernel_id);
    return at < s->kernel_count && s->kernels[at].id == id ? &s->kernels[at] : NULL;
}

const struct rtl_kernel_snapshot *rtl_next_kernel(const struct rtl_snapshot *s, uint32_t *at, uint32_t id)
{
    while (s && *at < s->kernel_count && s->kernels[*at].id < id)
        ++*at;
    return s && *at < s->kernel_count && s->kernels[*at].id == id ? &s->kernels[*at] : NULL;
}

const struct rtl_copies_snapshot *rtl_copies_of(const struct rtl_snapshot *s, uint32_t agent, uint32_t direction)
{
    for (uint32_t i = 0; s && i < s->copies_count; i++)
        if (s->copies[i].agent == agent && s->copies[i].direction == direction)
            return &s->copies[i];
    return NULL;
}

uint64_t rtl_snapshot_in_flight(const struct rtl_snapshot *s)
{
    uint64_t depth = 0;
    for (uint32_t i = 0; i < s->queue_count; i++)
        depth += s->queues[i].live ? s->queues[i].depth : 0;
    return depth;
}

static void *copy_heap_array(const void *from, uint32_t count, size_t size)
{
    void *to = malloc(count ? count * size : 1);
    if (to && count)
        memcpy(to, from, count * size);
    return to;
}

bool rtl_snapshot_copy(const struct rtl_snapshot *from, struct rtl_snapshot *to)
{
    *to = *from;
    to->parts = NULL; /* a copy is for sums */
    to->hip_api = NULL;
    to->storage = NULL;
    to->kernels = copy_heap_array(from->kernels, from->kernel_count, sizeof *from->kernels);
    to->queues = copy_heap_array(from->queues, from->queue_count, sizeof *from->queues);
    to->agents = copy_heap_array(from->agents, from->agent_count, sizeof *from->agents);
    to->copies = copy_heap_array(from->copies, from->copies_count, sizeof *from->copies);
    bool ok = to->kernels && to->queues && to->agents && to->copies;
    for (uint32_t i = 0; ok && i < to->kernel_count; i++)
        ok = rtl_snapshot_own_histogram(to, &to->kernels[i].histogram);
    for (uint32_t i = 0; ok && i < to->queue_count; i++)
        ok = rtl_snapshot_own_histogram(to, &to->queues[i].wait) && rtl_snapshot_own_histogram(to, &to->queues[i].gap);
    for (uint32_t i = 0; ok && i < to->copies_count; i++)
        ok = rtl_snapshot_own_histogram(to, &to->copies[i].histogram);
    ok = ok && rtl_hip_api_copy_to(from->hip_api, to);
    if (!ok)
        rtl_snapshot_free(to);
    return ok;
}
