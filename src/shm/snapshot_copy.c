/*
 * Deep copies of snapshots: for recordings, which compare a snapshot with the one before it and hand out what they have
 * added up. Names are not copied: they stay whose they were.
 */
#include <stdlib.h>
#include <string.h>

#include "shm/hip_api_snapshot.h"
#include "shm/reader_private.h"
#include "shm/segment_reader.h"

static size_t histogram_bytes(const struct rtl_histogram_copy *h)
{
    return h->octave_count * sizeof *h->octaves + (h->coarse ? RTL_OCTAVES_MAX * sizeof *h->coarse : 0);
}

/* All sizes are multiples of 8, and so is what each of them is put at. */
static void move_histogram(struct rtl_histogram_copy *h, char **at)
{
    size_t bytes = h->octave_count * sizeof *h->octaves;
    if (bytes) {
        memcpy(*at, h->octaves, bytes);
        h->octaves = (struct rtl_octave *)(void *)*at;
        *at += bytes;
    } else {
        h->octaves = NULL;
    }
    if (h->coarse) {
        memcpy(*at, h->coarse, RTL_OCTAVES_MAX * sizeof *h->coarse);
        h->coarse = (uint64_t *)(void *)*at;
        *at += RTL_OCTAVES_MAX * sizeof *h->coarse;
    }
}

static void *copy_array(const void *from, uint32_t count, size_t size)
{
    void *to = malloc(count ? count * size : 1);
    if (to && count)
        memcpy(to, from, count * size);
    return to;
}

bool rtl_snapshot_copy(const struct rtl_snapshot *from, struct rtl_snapshot *to)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < from->kernel_count; i++)
        bytes += histogram_bytes(&from->kernels[i].histogram);
    for (uint32_t i = 0; i < from->queue_count; i++)
        bytes += histogram_bytes(&from->queues[i].wait) + histogram_bytes(&from->queues[i].gap);
    for (uint32_t i = 0; i < from->copies_count; i++)
        bytes += histogram_bytes(&from->copies[i].histogram);
    struct rtl_block *block = malloc(sizeof *block + bytes);
    *to = *from;
    to->parts = NULL; /* a copy is for sums */
    to->calls = NULL;
    to->kernels = copy_array(from->kernels, from->kernel_count, sizeof *from->kernels);
    to->queues = copy_array(from->queues, from->queue_count, sizeof *from->queues);
    to->agents = copy_array(from->agents, from->agent_count, sizeof *from->agents);
    to->copies = copy_array(from->copies, from->copies_count, sizeof *from->copies);
    to->storage = block;
    if (block)
        *block = (struct rtl_block){.used = bytes, .size = bytes};
    if (!block || !to->kernels || !to->queues || !to->agents || !to->copies) {
        rtl_snapshot_free(to);
        return false;
    }
    char *at = block->bytes;
    for (uint32_t i = 0; i < to->kernel_count; i++)
        move_histogram(&to->kernels[i].histogram, &at);
    for (uint32_t i = 0; i < to->queue_count; i++) {
        move_histogram(&to->queues[i].wait, &at);
        move_histogram(&to->queues[i].gap, &at);
    }
    for (uint32_t i = 0; i < to->copies_count; i++)
        move_histogram(&to->copies[i].histogram, &at);
    if (!rtl_hip_api_copy_to(from->calls, to)) {
        rtl_snapshot_free(to);
        return false;
    }
    return true;
}

void *rtl_snapshot_allocate(struct rtl_snapshot *snapshot, size_t bytes)
{
    struct rtl_block *block = malloc(sizeof *block + bytes);
    if (!block)
        return NULL;
    *block = (struct rtl_block){.next = snapshot->storage, .used = bytes, .size = bytes};
    snapshot->storage = block;
    return block->bytes;
}
