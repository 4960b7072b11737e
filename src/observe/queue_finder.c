/* Queues in memory. See queue_finder.h. */
#include "observe/queue_finder.h"
#include "base/clock.h"

#include <string.h>

enum { PAGE = 4096, PAGES = 4096, AT_ONCE = 256 };
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

/* The pages of one mapping from `at` on, PAGES at most. */
static uint32_t find_in(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings, uint64_t at,
                        size_t pages, uint64_t *left, struct rtl_found_queue *queues, uint32_t most)
{
    struct rtl_queue_head heads[AT_ONCE];
    struct rtl_target_piece pieces[AT_ONCE];
    uint8_t there[PAGES];
    uint32_t found = 0;
    size_t n = 0;
    rtl_target_pages(memory, at, pages, there);
    for (size_t page = 0; page <= pages; page++) {
        if (page < pages && there[page]) {
            pieces[n] = (struct rtl_target_piece){.at = at + page * PAGE, .to = &heads[n], .bytes = sizeof heads[n]};
            n++;
            *left -= *left > 0;
        }
        if (n < AT_ONCE && page < pages)
            continue;
        rtl_target_read_pieces(memory, pieces, n);
        for (size_t i = 0; i < n && found < most; i++)
            if (pieces[i].ok && rtl_queue_plausible(&heads[i]))
                found += rtl_queue_confirm(memory, mappings, pieces[i].at, &queues[found]);
        n = 0;
    }
    return found;
}

uint32_t rtl_queues_find(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings,
                         struct rtl_found_queue *queues, uint32_t most, uint64_t budget_ns)
{
    uint64_t until = rtl_mono_ns() + budget_ns;
    uint32_t found = 0;
    for (uint32_t i = 0; i < mappings->count && found < most; i++) {
        const struct rtl_mapping *m = &mappings->list[i];
        if (!m->dontfork || !m->read || !m->write || m->device)
            continue;
        /* memory is reserved in pieces of many gigabytes of which next to nothing is there */
        uint64_t left = (m->resident + PAGE - 1) / PAGE;
        for (uint64_t at = m->from; at < m->to && left && found < most; at += (uint64_t)PAGES * PAGE) {
            uint64_t pages = (m->to - at) / PAGE;
            found += find_in(memory, mappings, at, pages < PAGES ? (size_t)pages : PAGES, &left, queues + found,
                             most - found);
            if (rtl_mono_ns() > until)
                return found;
        }
    }
    return found;
}
