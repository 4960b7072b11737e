/* Queues in memory. See queue_finder.h. */
#include "observe/queue_finder.h"
#include "base/clock.h"

#include <string.h>

enum { PAGE = 4096, AT_ONCE = 256 };
enum { TYPE_MAX = 2, FEATURES_MAX = 3, SIZE_MIN = 2 };
enum { KIND_DOORBELL = -1, KIND_LEGACY_DOORBELL = -2 };

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

bool rtl_queue_plausible(const struct rtl_queue_head *h)
{
    return h->type <= TYPE_MAX && h->features >= 1 && h->features <= FEATURES_MAX && h->ring && h->ring % PAGE == 0 &&
           h->doorbell_signal && h->doorbell_signal % 64 == 0 && is_power_of_two(h->size) && h->size >= SIZE_MIN &&
           h->size <= RTL_RING_PACKETS_MAX && !h->reserved1 &&
           h->read_index_offset == offsetof(struct rtl_queue_head, read_index);
}

bool rtl_queue_confirm(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings, uint64_t at,
                       struct rtl_found_queue *queue)
{
    struct rtl_queue_head h;
    struct rtl_signal_image bell;
    char byte;
    if (!rtl_target_read(memory, at, &h, sizeof h) || !rtl_queue_plausible(&h) ||
        !rtl_target_read(memory, h.doorbell_signal, &bell, sizeof bell) ||
        (bell.kind != KIND_DOORBELL && bell.kind != KIND_LEGACY_DOORBELL) || bell.queue != at)
        return false;
    const struct rtl_mapping *ring = rtl_mapping_of(mappings, h.ring);
    *queue = (struct rtl_found_queue){.at = at,
                                      .ring = h.ring,
                                      .id = h.id,
                                      .doorbell = (uint64_t)bell.value,
                                      .size = h.size,
                                      .device_ring = ring && ring->device};
    return queue->device_ring || (rtl_target_read(memory, h.ring, &byte, 1) &&
                                  rtl_target_read(memory, h.ring + (uint64_t)h.size * RTL_PACKET_BYTES - 1, &byte, 1));
}

/* What a search has found so far, and the pages that are to be read next. */
struct search {
    const struct rtl_target_memory *memory;
    const struct rtl_mappings *mappings;
    struct rtl_found_queue *queues;
    uint32_t found, most;
    uint64_t until_ns;
    struct rtl_queue_head heads[AT_ONCE];
    struct rtl_target_piece pieces[AT_ONCE];
    size_t count;
};

static void look_at_pages(struct search *s)
{
    rtl_target_read_pieces(s->memory, s->pieces, s->count);
    for (size_t i = 0; i < s->count && s->found < s->most; i++)
        if (s->pieces[i].ok && rtl_queue_plausible(&s->heads[i]))
            s->found += rtl_queue_confirm(s->memory, s->mappings, s->pieces[i].at, &s->queues[s->found]);
    s->count = 0;
}

static bool is_over(const struct search *s)
{
    return s->found >= s->most || rtl_mono_ns() > s->until_ns;
}

static void look_at_region(struct search *s, const struct rtl_target_region *region)
{
    for (uint64_t at = region->from; at < region->to; at += PAGE) {
        s->pieces[s->count] =
            (struct rtl_target_piece){.at = at, .to = &s->heads[s->count], .bytes = sizeof s->heads[s->count]};
        if (++s->count < AT_ONCE)
            continue;
        look_at_pages(s);
        if (is_over(s))
            return;
    }
}

uint32_t rtl_queues_find(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings,
                         struct rtl_found_queue *queues, uint32_t most, uint64_t budget_ns)
{
    struct search s = {
        .memory = memory, .mappings = mappings, .queues = queues, .most = most, .until_ns = rtl_mono_ns() + budget_ns};
    for (uint32_t i = 0; i < mappings->count && !is_over(&s); i++) {
        const struct rtl_mapping *m = &mappings->list[i];
        if (!m->dontfork || !m->read || !m->write || m->device || !m->resident)
            continue;
        for (uint64_t at = m->from; at < m->to && !is_over(&s);) {
            struct rtl_target_region regions[RTL_TARGET_REGIONS];
            uint32_t n = rtl_target_regions(memory, &at, m->to, regions);
            for (uint32_t r = 0; r < n && !is_over(&s); r++)
                look_at_region(&s, &regions[r]);
        }
    }
    look_at_pages(&s);
    return s.found;
}
