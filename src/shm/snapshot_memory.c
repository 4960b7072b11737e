/*
 * A snapshot's memory: arrays of its own, and storage that its parts point into. Storage is a list of blocks that never
 * move. Below it: GPUs and queues by number.
 */
#include <stdlib.h>
#include <string.h>

#include "shm/reader_private.h"
#include "shm/segment_reader.h"

enum { FIRST_BLOCK = 16 << 10, LARGEST_BLOCK = 256 << 10 };

void *rtl_snapshot_allocate(struct rtl_snapshot *snapshot, size_t bytes)
{
    struct rtl_block *b = snapshot->storage;
    bytes = (bytes + 15) & ~(size_t)15;
    if (!b || b->size - b->used < bytes) {
        size_t size = b ? 2 * b->size : FIRST_BLOCK;
        size = size > LARGEST_BLOCK ? LARGEST_BLOCK : size;
        size = size < bytes ? bytes : size;
        b = malloc(sizeof *b + size);
        if (!b)
            return NULL;
        *b = (struct rtl_block){.next = snapshot->storage, .size = size};
        snapshot->storage = b;
    }
    void *at = b->bytes + b->used;
    b->used += bytes;
    return at;
}

static void *own_array(struct rtl_snapshot *to, const void *from, size_t bytes)
{
    void *own = from && bytes ? rtl_snapshot_allocate(to, bytes) : NULL;
    return own ? memcpy(own, from, bytes) : NULL;
}

bool rtl_snapshot_own_histogram(struct rtl_snapshot *snapshot, struct rtl_histogram_copy *h)
{
    const uint64_t *coarse = h->coarse;
    h->octaves = own_array(snapshot, h->octaves, h->octave_count * sizeof *h->octaves);
    h->coarse = own_array(snapshot, coarse, RTL_OCTAVES_MAX * sizeof *coarse);
    return (h->octaves || !h->octave_count) && (h->coarse || !coarse);
}

bool rtl_snapshot_set_octaves(struct rtl_snapshot *snapshot, struct rtl_histogram_copy *h,
                              uint64_t *const octave[RTL_OCTAVES_MAX])
{
    uint32_t count = 0;
    for (uint32_t o = 0; o < RTL_OCTAVES_MAX; o++)
        count += octave[o] != NULL;
    h->octave_count = 0;
    h->octaves = count ? rtl_snapshot_allocate(snapshot, count * sizeof *h->octaves) : NULL;
    for (uint32_t o = 0; h->octaves && o < RTL_OCTAVES_MAX; o++) {
        if (!octave[o])
            continue;
        struct rtl_octave *to = &h->octaves[h->octave_count++];
        to->octave = (uint8_t)o;
        memcpy(to->bucket, octave[o], sizeof to->bucket);
    }
    return h->octave_count == count;
}

uint64_t rtl_snapshot_memory(const struct rtl_snapshot *s)
{
    uint64_t bytes = s->kernel_count * sizeof *s->kernels + s->agent_count * sizeof *s->agents +
                     (s->queues ? RTL_QUEUES_MAX * sizeof *s->queues : 0) + s->copies_count * sizeof *s->copies;
    for (const struct rtl_block *b = s->storage; b; b = b->next)
        bytes += sizeof *b + b->size;
    return bytes;
}

void rtl_snapshot_free(struct rtl_snapshot *snapshot)
{
    for (struct rtl_block *b = snapshot->storage, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    if (snapshot->parts)
        snapshot->release_parts(snapshot->parts);
    free(snapshot->kernels);
    free(snapshot->queues);
    free(snapshot->agents);
    free(snapshot->copies);
    memset(snapshot, 0, sizeof *snapshot);
}

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
