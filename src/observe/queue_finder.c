/* Finds queues in memory. See queue_finder.h. */
#include "observe/queue_finder.h"
#include "base/clock.h"
#include "shm/segment.h"

#include <string.h>

enum { PAGE = 4096, AT_ONCE = 256, SMALL_BYTES = 16 * PAGE };
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

static bool has_prefix(const struct rtl_mapping *m, const char *prefix)
{
    return strncmp(m->name, prefix, strlen(prefix)) == 0;
}

/* MAP_SHARED | MAP_ANONYMOUS */
static bool is_shared_anonymous(const struct rtl_mapping *m)
{
    return m->shared && has_prefix(m, "/dev/zero");
}

/* Doorbells are pages of a device's file. A forked child lacks them, but may have copies of its parent's queues. */
static bool may_have_doorbells(const struct rtl_mapping *m)
{
    return m->shared && m->write && m->inode && !is_shared_anonymous(m) && !has_prefix(m, "/dev/shm/");
}

/* Return the part of the search that reads the mapping; RTL_SEARCH_PARTS: none. */
static int search_part_of(const struct rtl_mapping *m)
{
    bool small = m->to - m->from <= SMALL_BYTES;
    if (!m->read || !m->write)
        return RTL_SEARCH_PARTS;
    if (m->device) /* GTT or VRAM of a render node; nothing counts its resident pages */
        return small && has_prefix(m, "/dev/dri/") ? RTL_SEARCH_LIKELY : RTL_SEARCH_PARTS;
    if (!m->resident)
        return RTL_SEARCH_PARTS;
    if (m->dontfork)
        return RTL_SEARCH_LIKELY;
    if (m->shared ? !is_shared_anonymous(m) : m->inode || (*m->name && !has_prefix(m, "[anon")))
        return RTL_SEARCH_PARTS;
    return small ? RTL_SEARCH_LIKELY : RTL_SEARCH_REST;
}

/* Read the queue at an address; false: no queue, or no longer. */
static bool confirm_queue(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings, uint64_t at,
                          struct rtl_found_queue *queue)
{
    struct rtl_queue_head h;
    struct rtl_signal_image bell;
    char byte;
    if (!rtl_target_read(memory, at, &h, sizeof h) || !rtl_queue_plausible(&h) ||
        !rtl_target_read(memory, h.doorbell_signal, &bell, sizeof bell) ||
        (bell.kind != KIND_DOORBELL && bell.kind != KIND_LEGACY_DOORBELL) || bell.queue != at)
        return false;
    const struct rtl_mapping *doorbell = rtl_mapping_of(mappings, (uint64_t)bell.value);
    if (!doorbell || !may_have_doorbells(doorbell) || bell.value % (int64_t)sizeof(uint32_t))
        return false;
    const struct rtl_mapping *ring = rtl_mapping_of(mappings, h.ring);
    *queue = (struct rtl_found_queue){.at = at,
                                      .ring = h.ring,
                                      .id = h.id,
                                      .doorbell = (uint64_t)bell.value,
                                      .size = h.size,
                                      .key = RTL_QUEUE_KEY(h.inactive_signal),
                                      .device_ring = ring && ring->device};
    return queue->device_ring || (rtl_target_read(memory, h.ring, &byte, 1) &&
                                  rtl_target_read(memory, h.ring + (uint64_t)h.size * RTL_PACKET_BYTES - 1, &byte, 1));
}

/* A running search: its results so far, and the next pages to read. */
struct queue_search_run {
    const struct rtl_target_memory *memory;
    const struct rtl_mappings *mappings;
    struct rtl_queue_search *at; /* its position */
    int part;
    struct rtl_found_queue *queues;
    uint32_t found, most;
    uint64_t until_cpu_ns, until_ns;
    struct rtl_queue_head heads[AT_ONCE];
    struct rtl_target_piece pieces[AT_ONCE];
    size_t count;
};

static void search_pages(struct queue_search_run *s)
{
    rtl_target_read_pieces(s->memory, s->pieces, s->count);
    for (size_t i = 0; i < s->count; i++) {
        struct rtl_found_queue queue;
        if (!s->pieces[i].ok || !rtl_queue_plausible(&s->heads[i]) ||
            !confirm_queue(s->memory, s->mappings, s->pieces[i].at, &queue))
            continue;
        queue.looked_before = rtl_queue_search_done(s->at);
        if (s->found < s->most)
            s->queues[s->found++] = queue;
        else
            s->at->beyond++;
    }
    s->count = 0;
}

/* CPU time is bounded; on a busy machine or with swapped-out pages elapsed time is, too. */
static bool is_time_over(const struct queue_search_run *s)
{
    return rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) > s->until_cpu_ns || rtl_mono_ns() > s->until_ns;
}

/* False if time ran out; some pages have been read in any case. */
static bool search_region(struct queue_search_run *s, const struct rtl_target_region *region)
{
    for (uint64_t at = region->from; at < region->to; at += PAGE) {
        s->pieces[s->count] =
            (struct rtl_target_piece){.at = at, .to = &s->heads[s->count], .bytes = sizeof s->heads[s->count]};
        if (++s->count < AT_ONCE)
            continue;
        search_pages(s);
        s->at->next[s->part] = at + PAGE;
        if (is_time_over(s))
            return false;
    }
    return true;
}

/* Return the pages of [*at, to) to read. Reading a device's pages allocates none in the target. In RTL_SEARCH_REST
 * swapped-out pages stay out. */
static uint32_t regions_of(const struct queue_search_run *s, const struct rtl_mapping *m, uint64_t *at, uint64_t to,
                           struct rtl_target_region regions[RTL_TARGET_REGIONS])
{
    if (!m->device)
        return rtl_target_regions(s->memory, s->part != RTL_SEARCH_REST, at, to, regions);
    regions[0] = (struct rtl_target_region){*at, to};
    *at = to;
    return 1;
}

/* Search [from, to), both starts of pages. False if time ran out: the search continues at `next`. */
static bool search_between(struct queue_search_run *s, uint64_t from, uint64_t to)
{
    bool in_time = true;
    for (uint32_t i = 0; i < s->mappings->count && in_time; i++) {
        const struct rtl_mapping *m = &s->mappings->list[i];
        uint64_t end = m->to < to ? m->to : to;
        if (search_part_of(m) != s->part)
            continue;
        for (uint64_t at = m->from > from ? m->from : from; at < end && in_time;) {
            struct rtl_target_region regions[RTL_TARGET_REGIONS];
            uint32_t n = regions_of(s, m, &at, end, regions);
            for (uint32_t r = 0; r < n && in_time; r++)
                in_time = search_region(s, &regions[r]);
            if (!in_time)
                break;
            s->at->next[s->part] = at;
            in_time = !is_time_over(s);
        }
    }
    search_pages(s);
    return in_time;
}

/* Search all of a part, from where the last call stopped, wrapping at the end; false if time ran out. */
static bool search_part(struct queue_search_run *s, int part, uint64_t budget_ns)
{
    struct rtl_queue_search *at = s->at;
    uint64_t from = at->next[part], cpu_ns = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) + budget_ns,
             ns = rtl_mono_ns() + 3 * budget_ns;
    s->part = part;
    s->until_cpu_ns = cpu_ns < s->until_cpu_ns ? cpu_ns : s->until_cpu_ns;
    s->until_ns = ns < s->until_ns ? ns : s->until_ns;
    if (!search_between(s, from, UINT64_MAX))
        return false;
    at->rounds[part]++;
    at->next[part] = 0;
    if (!search_between(s, 0, from))
        return false;
    at->next[part] = from;
    return true;
}

uint32_t rtl_queues_find(const struct rtl_target_memory *memory, const struct rtl_mappings *mappings,
                         struct rtl_queue_search *search, struct rtl_found_queue *queues, uint32_t most,
                         uint64_t budget_ns, uint64_t rest_ns)
{
    struct queue_search_run s = {.memory = memory,
                                 .mappings = mappings,
                                 .at = search,
                                 .queues = queues,
                                 .most = most,
                                 .until_cpu_ns = UINT64_MAX,
                                 .until_ns = UINT64_MAX};
    uint32_t i = 0;
    search->beyond = 0;
    while (i < mappings->count && !may_have_doorbells(&mappings->list[i]))
        i++;
    if (i == mappings->count) { /* without doorbells no queue can be confirmed, as in a forked child: skip its memory */
        search->rounds[RTL_SEARCH_LIKELY]++;
        search->rounds[RTL_SEARCH_REST]++;
        search->whole = true;
        return 0;
    }
    bool likely = search_part(&s, RTL_SEARCH_LIKELY, budget_ns);
    search->whole = search_part(&s, RTL_SEARCH_REST, rest_ns) && likely;
    return s.found;
}
