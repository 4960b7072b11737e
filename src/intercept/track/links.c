/* Links dispatches and copies to the API calls that submitted them (links.h). */
#include "intercept/track/links.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/memory_file.h"
#include "intercept/base/hsa_clock.h"
#include "intercept/base/tool.h"
#include "intercept/track/queue_tracker.h"
#include "shm/hip_api_clock.h"
#include "shm/hip_api_link.h"
#include "stats/histogram.h"

enum {
    PLACES = 4096, /* a power of two: hash table of queues by address */
    PROBES = 64,
    LAPS = 2, /* notes per slot of a queue */
    NOTES_LEAST = 4096,
    ORDINALS = UINT16_MAX,
    PAGE_BITS = 12,
};
static_assert((int)RTL_HIP_API_KERNELS == (int)RTL_KERNELS_MAX && (int)RTL_HIP_API_QUEUES == (int)RTL_QUEUES_MAX,
              "rows and slots are those of the segment");
static_assert(RTL_HIP_API_NODES <= UINT16_MAX && sizeof(struct rtl_hip_api_buckets) % 8 == 0, "a node fits its note");

/* The reserving thread writes: tag = 0, the other fields, then the tag (release). The thread that handles the packet
 * reads. */
struct packet_note {
    _Alignas(32) _Atomic uint64_t tag; /* (index + 1) in 32 bits | node << 32 | ordinal << 48 */
    _Atomic uint64_t call, entry_ns, range;
};

struct rtl_notes {
    _Alignas(64) uint64_t mask; /* create: notes - 1 */
    uint64_t pad[7];
    struct packet_note note[];
};

static struct {
    const hsa_queue_t *_Atomic queue; /* create stores (release), any loads */
    struct rtl_notes *_Atomic notes;
} places[PLACES];
static const char closed_queue; /* its address marks a closed queue: a search goes on behind it */
#define GONE ((const hsa_queue_t *)(const void *)&closed_queue)

/* load; then constant */
static const struct rtl_hip_api_link *api;
/* NULL: an older librtl-hip.so reads none, or another librtl.so writes it */
static struct rtl_hip_api_clock *api_clock;
static struct rtl_hip_api_queue *queues;
static bool has_counters[RTL_QUEUES_MAX]; /* create, before the application knows the queue: its counters have memory */
static struct rtl_hip_api_node *nodes;
static struct rtl_hip_api_counters *launches;
static struct rtl_hip_api_buckets *buckets;
static bool counts_pairs;              /* an older librtl-hip.so has none */
static struct rtl_hip_api_pair *pairs; /* NULL: none, or its segment had no room for them */
static struct rtl_hip_api_buckets *pair_buckets;
static struct rtl_link *links; /* [RTL_NUMBERS]: dispatch, before it is pushed; then worker */
static struct rtl_hsa before;  /* the functions before our hooks on indices */

/* --- notes --- */

static struct rtl_notes *find_notes(const hsa_queue_t *queue)
{
    uint32_t first = (uint32_t)(((uintptr_t)queue >> 6) * 0x9e3779b97f4a7c15ull >> 32);
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t at = (first + i) & (PLACES - 1);
        const hsa_queue_t *is = atomic_load_explicit(&places[at].queue, memory_order_acquire);
        if (is == queue)
            return atomic_load_explicit(&places[at].notes, memory_order_relaxed);
        if (!is)
            break;
    }
    return NULL;
}

/* The calling thread has reserved the packets `from` to `to`. */
static void note_reservation(const hsa_queue_t *queue, uint64_t from, uint64_t to)
{
    struct rtl_notes *notes = find_notes(queue);
    if (unlikely(!notes))
        return;
    struct rtl_hip_api_call *call = api->call();
    if (unlikely(to - from > notes->mask))
        from = to - notes->mask - 1; /* more than all notes: keep the last ones */
    for (uint64_t index = from; index < to; index++) {
        struct packet_note *n = &notes->note[index & notes->mask];
        uint64_t ordinal = call->id ? call->ordinal++ : 0;
        ordinal = ordinal < ORDINALS ? ordinal : ORDINALS;
        atomic_store_explicit(&n->tag, 0, memory_order_relaxed);
        atomic_store_explicit(&n->call, call->id, memory_order_release); /* release: not before the 0; likewise below */
        atomic_store_explicit(&n->entry_ns, call->entry_ns, memory_order_release);
        atomic_store_explicit(&n->range, call->range, memory_order_release);
        atomic_store_explicit(&n->tag, (uint32_t)(index + 1) | (uint64_t)call->node << 32 | ordinal << 48,
                              memory_order_release);
    }
}

enum note_result { FOUND, NOT_NOTED, OVERWRITTEN };

/* Read the note of an index. Fills in the link only if FOUND. */
static enum note_result read_note(struct rtl_notes *notes, uint64_t index, struct rtl_link *link)
{
    struct packet_note *n = &notes->note[index & notes->mask];
    uint64_t tag = atomic_load_explicit(&n->tag, memory_order_acquire);
    if ((uint32_t)tag != (uint32_t)(index + 1)) /* an earlier lap's or none: no thread noted this index */
        return !tag || (int32_t)((uint32_t)tag - (uint32_t)(index + 1)) < 0 ? NOT_NOTED : OVERWRITTEN;
    struct rtl_link noted = {
        .call = atomic_load_explicit(&n->call, memory_order_acquire),
        .entry_ns = atomic_load_explicit(&n->entry_ns, memory_order_acquire),
        .range = atomic_load_explicit(&n->range, memory_order_acquire),
        .node = (uint32_t)(tag >> 32 & UINT16_MAX),
        .ordinal = (uint32_t)(tag >> 48),
    };
    if (atomic_load_explicit(&n->tag, memory_order_relaxed) != tag)
        return OVERWRITTEN;
    *link = noted;
    return FOUND;
}

static struct rtl_notes *make_notes(struct rtl_tracker *tracker, uint64_t slots)
{
    uint64_t count = NOTES_LEAST;
    while (count < slots * LAPS)
        count *= 2;
    struct rtl_notes *notes = tracker->notes;
    if (notes && notes->mask + 1 >= count) { /* of the slot's last queue, which may have used equal indices */
        for (uint64_t i = 0; i <= notes->mask; i++)
            atomic_store_explicit(&notes->note[i].tag, 0, memory_order_relaxed);
        return notes;
    }
    notes = mmap(NULL, sizeof *notes + count * sizeof(struct packet_note), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (notes == MAP_FAILED)
        return NULL;
    notes->mask = count - 1;
    return notes; /* smaller notes of the tracker stay: a thread may be about to read them */
}

/* Remove a queue with these notes that was never closed (a counted one): two queues must not share notes. */
static void remove_notes(const struct rtl_notes *notes)
{
    for (uint32_t at = 0; notes && at < PLACES; at++)
        if (atomic_load_explicit(&places[at].queue, memory_order_relaxed) &&
            atomic_load_explicit(&places[at].notes, memory_order_relaxed) == notes)
            atomic_store_explicit(&places[at].queue, GONE, memory_order_release);
}

void rtl_links_open(struct rtl_tracker *tracker, const hsa_queue_t *queue)
{
    pthread_mutex_lock(&rtl_tool.create);
    remove_notes(tracker->notes); /* before the notes are reused: from here on no thread starts to write there */
    pthread_mutex_unlock(&rtl_tool.create);
    struct rtl_notes *notes = make_notes(tracker, queue->size);
    uint32_t first = (uint32_t)(((uintptr_t)queue >> 6) * 0x9e3779b97f4a7c15ull >> 32);
    has_counters[tracker->slot] = rtl_segment_populate(&queues[tracker->slot], sizeof *queues);
    pthread_mutex_lock(&rtl_tool.create);
    tracker->notes = notes;
    for (uint32_t i = 0; notes && i < PROBES; i++) {
        uint32_t at = (first + i) & (PLACES - 1);
        const hsa_queue_t *is = atomic_load_explicit(&places[at].queue, memory_order_relaxed);
        if (is && is != GONE && is != queue)
            continue;
        atomic_store_explicit(&places[at].notes, notes, memory_order_relaxed);
        atomic_store_explicit(&places[at].queue, queue, memory_order_release);
        break;
    }
    pthread_mutex_unlock(&rtl_tool.create);
}

void rtl_links_close(const hsa_queue_t *queue)
{
    uint32_t first = (uint32_t)(((uintptr_t)queue >> 6) * 0x9e3779b97f4a7c15ull >> 32);
    pthread_mutex_lock(&rtl_tool.create);
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t at = (first + i) & (PLACES - 1);
        if (atomic_load_explicit(&places[at].queue, memory_order_relaxed) == queue)
            atomic_store_explicit(&places[at].queue, GONE, memory_order_release);
    }
    pthread_mutex_unlock(&rtl_tool.create);
}

/* --- load --- */

bool rtl_links_find(void)
{
    rtl_hip_api_link_function *find;
    *(void **)&find = dlsym(RTLD_DEFAULT, RTL_HIP_API_LINK_NAME);
    api = find ? find() : NULL;
    if (!api || api->version != RTL_HIP_API_LINK_VERSION || api->bytes < offsetof(struct rtl_hip_api_link, clock))
        return false;
    if (!links) {
        links = rtl_map_sparse(-1, RTL_NUMBERS * sizeof *links);
        if (!links)
            return false;
    }
    if (!api_clock && api->bytes >= sizeof *api && rtl_hip_api_clock_claim(api->clock, &api_clock))
        api_clock = api->clock;
    char *base = (char *)(void *)api->header;
    queues = (void *)(base + RTL_HIP_API_QUEUES_AT);
    nodes = (void *)(base + RTL_HIP_API_NODES_AT);
    launches = (void *)(base + RTL_HIP_API_LAUNCHES_AT);
    buckets = (void *)(base + RTL_HIP_API_LAUNCH_BUCKETS_AT);
    counts_pairs = api->header->minor >= 2;
    if (counts_pairs && api->header->pairs_at) {
        pairs = (void *)(base + api->header->pairs_at);
        pair_buckets = (void *)(base + api->header->pairs_at + RTL_HIP_API_PAIR_BUCKETS_AT);
    }
    __atomic_fetch_or(&api->header->flags, RTL_HIP_API_FLAG_LINKED, __ATOMIC_RELEASE);
    return true;
}

/* --- dispatch --- */

void rtl_links_see(struct rtl_tracker *tracker, uint64_t index, uint32_t number)
{
    struct rtl_hip_api_queue *line = &queues[tracker->slot];
    struct rtl_link link = {0};
    if (unlikely(!has_counters[tracker->slot])) { /* a write would fault: nothing is linked on that queue */
        if (number != RTL_NO_SIGNAL)
            links[number] = link;
        return;
    }
    uint64_t *counter = &line->linked;
    enum note_result found = tracker->notes ? read_note(tracker->notes, index, &link) : NOT_NOTED;
    if (unlikely(!link.call)) {
        bool indirect = __atomic_load_n(&api->header->flags, __ATOMIC_RELAXED) & RTL_HIP_API_FLAG_INDIRECT;
        counter = &line->unlinked[found == OVERWRITTEN ? RTL_HIP_API_UNLINKED_OVERTAKEN
                                  : found == NOT_NOTED ? RTL_HIP_API_UNLINKED_UNNOTED
                                  : indirect           ? RTL_HIP_API_UNLINKED_QUEUE_THREAD
                                                       : RTL_HIP_API_UNLINKED_OUTSIDE];
    }
    if (unlikely(tracker->shared))
        rtl_count_shared(counter, 1);
    else
        rtl_count(counter, 1);
    if (number != RTL_NO_SIGNAL)
        links[number] = link;
}

struct rtl_link rtl_links_now(void)
{
    struct rtl_hip_api_call *call = api->call();
    if (!call->id)
        return (struct rtl_link){0};
    return (struct rtl_link){call->id, call->entry_ns, call->range, call->node, call->ordinal++};
}

void rtl_links_copied(const struct rtl_link *link)
{
    rtl_count_shared(link->call ? &api->header->copies_linked : &api->header->copies_unlinked, 1);
}

/* --- worker --- */

void rtl_links_set_clock(const struct rtl_line *line)
{
    if (!api_clock)
        return;
    if (line)
        rtl_hip_api_clock_set(api_clock, line, RTL_TSC_LINE_USED_NS);
    else
        rtl_hip_api_clock_stop(api_clock);
}

/* Worker: pages of the segment that are present, and pages without memory, one bit each. */
enum { PAGE_WORD = 64 };
#define PAGE_WORDS(bytes) (((bytes) >> PAGE_BITS) / PAGE_WORD + 2)
static uint64_t known[PAGE_WORDS(RTL_HIP_API_EVENTS_AT - RTL_HIP_API_NODES_AT)],
    refused[PAGE_WORDS(RTL_HIP_API_EVENTS_AT - RTL_HIP_API_NODES_AT)];
static uint64_t pairs_known[PAGE_WORDS(RTL_HIP_API_PAIRS_SIZE)], pairs_refused[PAGE_WORDS(RTL_HIP_API_PAIRS_SIZE)];

/* Populate the page of a counter before the first write to it. False: there is no memory. */
static bool page_is_present(const void *first, const void *counter, uint64_t *yes, uint64_t *no)
{
    uint64_t page = (uint64_t)((const char *)counter - (const char *)first) >> PAGE_BITS;
    uint64_t bit = 1ull << page % PAGE_WORD;
    if (likely(yes[page / PAGE_WORD] & bit))
        return true;
    if (no[page / PAGE_WORD] & bit)
        return false;
    if (!rtl_segment_populate((char *)(uintptr_t)first + (page << PAGE_BITS), 1)) {
        no[page / PAGE_WORD] |= bit;
        return false;
    }
    yes[page / PAGE_WORD] |= bit;
    return true;
}

static bool counter_is_present(const void *counter)
{
    return page_is_present(nodes, counter, known, refused);
}

static bool pair_is_present(const void *counter)
{
    return page_is_present(pairs, counter, pairs_known, pairs_refused);
}

/* Counted like a call (shm/hip_api.h): the bucket last. */
static void record_launch(uint32_t kernel, uint64_t ns)
{
    struct rtl_hip_api_counters *c = &launches[kernel];
    uint64_t *bucket = &buckets[kernel].count[rtl_bucket_of(ns)];
    if (!counter_is_present(c) || !counter_is_present(bucket))
        return;
    rtl_count(&c->calls, 1);
    rtl_count(&c->total_ns, ns);
    if (ns > __atomic_load_n(&c->most_ns, __ATOMIC_RELAXED))
        __atomic_store_n(&c->most_ns, ns, __ATOMIC_RELAXED);
    rtl_count_release(bucket, 1);
    if (unlikely(kernel >= __atomic_load_n(&api->header->kernels_used, __ATOMIC_RELAXED)))
        __atomic_store_n(&api->header->kernels_used, kernel + 1, __ATOMIC_RELEASE);
}

/* Return the number of a pair of node and kernel; RTL_HIP_API_PAIRS when there is no room. A place holds key + 1 and
 * the number. */
static uint32_t find_pair(uint32_t node, uint32_t kernel)
{
    enum { PAIR_PLACES = 2 * RTL_HIP_API_PAIRS, PAIR_PROBES = 64, KERNEL_BITS = 14, NUMBER_BITS = 16 };
    static_assert(RTL_HIP_API_KERNELS <= 1 << KERNEL_BITS && RTL_HIP_API_PAIRS < 1 << NUMBER_BITS,
                  "a key fits its place");
    static uint64_t taken[PAIR_PLACES]; /* worker */
    static uint32_t used;               /* worker */
    uint64_t key = ((uint64_t)node << KERNEL_BITS | kernel) + 1;
    uint32_t first = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 40);
    for (uint32_t i = 0; i < PAIR_PROBES; i++) {
        uint64_t *place = &taken[(first + i) % PAIR_PLACES];
        if (*place >> NUMBER_BITS == key)
            return (uint32_t)*place & ((1u << NUMBER_BITS) - 1);
        if (*place)
            continue;
        if (used == RTL_HIP_API_PAIRS || !pair_is_present(&pairs[used]))
            break;
        __atomic_store_n(&pairs[used].node, node, __ATOMIC_RELAXED);
        __atomic_store_n(&pairs[used].kernel, kernel, __ATOMIC_RELAXED);
        *place = key << NUMBER_BITS | used;
        __atomic_store_n(&api->header->pairs_used, ++used, __ATOMIC_RELEASE);
        return used - 1;
    }
    return RTL_HIP_API_PAIRS;
}

/* Counted like a call. */
static void record_pair(uint32_t node, uint32_t kernel, uint64_t ns)
{
    uint32_t at = pairs ? find_pair(node, kernel) : RTL_HIP_API_PAIRS;
    uint64_t *bucket = at < RTL_HIP_API_PAIRS ? &pair_buckets[at].count[rtl_bucket_of(ns)] : NULL;
    if (!bucket || !pair_is_present(bucket)) {
        rtl_count(&api->header->pairs_over, 1);
        return;
    }
    struct rtl_hip_api_pair *pair = &pairs[at];
    rtl_count(&pair->calls, 1);
    rtl_count(&pair->total_ns, ns);
    if (ns > __atomic_load_n(&pair->most_ns, __ATOMIC_RELAXED))
        __atomic_store_n(&pair->most_ns, ns, __ATOMIC_RELAXED);
    rtl_count_release(bucket, 1);
}

void rtl_links_record(uint32_t number, uint32_t kernel, uint64_t start_ns, uint64_t duration_ns)
{
    const struct rtl_link *link = &links[number];
    if (!link->call)
        return;
    struct rtl_hip_api_node *node = &nodes[link->node];
    if (counter_is_present(node)) {
        rtl_count(&node->kernels_ns, duration_ns);
        rtl_count_release(&node->kernels, 1);
    }
    if (counts_pairs && link->node != RTL_HIP_API_NODE_NONE)
        record_pair(link->node, kernel, duration_ns);
    if (start_ns)
        record_launch(kernel, start_ns > link->entry_ns ? start_ns - link->entry_ns : 0);
}

void rtl_links_record_copy(const struct rtl_link *link, uint64_t duration_ns)
{
    struct rtl_hip_api_node *node = &nodes[link->node];
    if (!link->call || !counter_is_present(node))
        return;
    rtl_count(&node->copies_ns, duration_ns);
    rtl_count_release(&node->copies, 1);
}

const struct rtl_link *rtl_links_of(uint32_t number)
{
    return &links[number];
}

struct rtl_event_link rtl_links_event(const struct rtl_link *link)
{
    return (struct rtl_event_link){
        .range = link->range, .entry_ns = link->entry_ns, .node = link->node, .ordinal = link->ordinal};
}

/* --- hooks on the functions of write indices, before those that were in the table --- */

#define STORE_INDEX(field)                                                                               \
    static void hook_##field(const hsa_queue_t *queue, uint64_t index)                                   \
    {                                                                                                    \
        uint64_t was = before.queue_load_write_index_relaxed(queue);                                     \
        if (index > was)                                                                                 \
            note_reservation(queue, was, index); /* packets may be written before the index is stored */ \
        before.field(queue, index);                                                                      \
    }
#define CAS(field)                                                                            \
    static uint64_t hook_##field(const hsa_queue_t *queue, uint64_t expected, uint64_t index) \
    {                                                                                         \
        uint64_t was = before.field(queue, expected, index);                                  \
        if (was == expected && index > expected)                                              \
            note_reservation(queue, expected, index);                                         \
        return was;                                                                           \
    }
#define ADD(field)                                                     \
    static uint64_t hook_##field(const hsa_queue_t *queue, uint64_t n) \
    {                                                                  \
        uint64_t was = before.field(queue, n);                         \
        note_reservation(queue, was, was + n);                         \
        return was;                                                    \
    }
RTL_HSA_RESERVING(STORE_INDEX, CAS, ADD)

void rtl_links_hook(void *table)
{
    char why[256];
    if (!rtl_hsa_save(table, &before, why, sizeof why))
        return; /* never: the table was just saved */
    RTL_HSA_RESERVING(RTL_HSA_HOOK_FIELD, RTL_HSA_HOOK_FIELD, RTL_HSA_HOOK_FIELD)
}
