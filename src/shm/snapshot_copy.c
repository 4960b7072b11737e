/*
 * Deep copies of snapshots, for recordings: they compare a snapshot with the one before. Names are not copied: their
 * owner stays the reader.
 */
#include <stdlib.h>
#include <string.h>

#include "shm/hip_api_snapshot.h"
#include "shm/segment_reader.h"

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
