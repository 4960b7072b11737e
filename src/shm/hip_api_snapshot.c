/* The API segment as a part of snapshots. See calls.h. */
#include "shm/hip_api_snapshot.h"
#include "shm/hip_api_reader.h"
#include "shm/hash.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t FIRST_PAUSE_NS = 250000000, LONGEST_PAUSE_NS = 30000000000;

static int order_of(const struct rtl_hip_api_row_snapshot *call)
{
    return call->kind == RTL_HIP_API_RANGE ? 1 : call->kind == RTL_HIP_API_MARK ? 2 : 0;
}

int rtl_hip_api_compare_rows(const struct rtl_hip_api_row_snapshot *a, const struct rtl_hip_api_row_snapshot *b)
{
    if (order_of(a) != order_of(b))
        return order_of(a) - order_of(b);
    uint32_t least = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
    int name = memcmp(a->name, b->name, least);
    return name ? name : (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

const char *rtl_hip_api_kind_key(uint32_t kind)
{
    static const char *const keys[] = {
#define KEY(sym, number, key, text) [number] = key,
        RTL_HIP_API_KINDS(KEY)
#undef KEY
    };
    return kind < sizeof keys / sizeof *keys ? keys[kind] : NULL;
}

struct rtl_hip_api_snapshot *rtl_hip_api_allocate(struct rtl_snapshot *snapshot, const struct rtl_hip_api_room *room)
{
    struct rtl_hip_api_snapshot *calls = rtl_snapshot_allocate(snapshot, sizeof *calls);
    struct rtl_hip_api_snapshot made = {
        .rows = rtl_snapshot_allocate(snapshot, (room->rows + 1) * sizeof *made.rows),
        .memory = rtl_snapshot_allocate(snapshot, (room->memory + 1) * sizeof *made.memory),
        .nodes = rtl_snapshot_allocate(snapshot, (room->nodes + 1) * sizeof *made.nodes),
        .launches = rtl_snapshot_allocate(snapshot, (room->launches + 1) * sizeof *made.launches),
        .pairs = rtl_snapshot_allocate(snapshot, (room->pairs + 1) * sizeof *made.pairs),
        .threads = rtl_snapshot_allocate(snapshot, (room->threads + 1) * sizeof *made.threads),
    };
    if (!calls || !made.rows || !made.memory || !made.nodes || !made.launches || !made.pairs || !made.threads)
        return NULL;
    *calls = made;
    snapshot->calls = calls;
    return calls;
}

static int compare_names(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes)
{
    int name = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return name ? name : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

uint32_t rtl_hip_api_find_child(const struct rtl_hip_api_snapshot *calls, uint32_t parent, const char *name,
                                uint32_t name_bytes)
{
    uint32_t low = 1, high = calls->node_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct rtl_hip_api_node_snapshot *n = &calls->nodes[middle];
        int order = n->parent < parent   ? -1
                    : n->parent > parent ? 1
                                         : compare_names(n->name, n->name_bytes, name, name_bytes);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return calls->node_count;
}

static int compare_siblings(const void *left, const void *right)
{
    const struct rtl_hip_api_node_snapshot *a = left, *b = right;
    return compare_names(a->name, a->name_bytes, b->name, b->name_bytes);
}

/* Level by level: the children of each node that was placed, in their order, are placed behind all that were. */
bool rtl_hip_api_sort_nodes(struct rtl_hip_api_node_snapshot *nodes, uint32_t count)
{
    uint32_t *child = count ? calloc(count, sizeof *child) : NULL, *next = count ? calloc(count, sizeof *next) : NULL;
    uint32_t *from = count ? calloc(count, sizeof *from) : NULL;
    struct rtl_hip_api_node_snapshot *sorted = count ? malloc(count * sizeof *sorted) : NULL;
    bool ok = child && next && from && sorted;
    uint32_t placed = 1;
    for (uint32_t i = count; ok && i-- > 1;) {
        uint32_t parent = nodes[i].parent < i ? nodes[i].parent : 0;
        next[i] = child[parent];
        child[parent] = i;
    }
    if (ok) {
        sorted[0] = nodes[0];
        sorted[0].parent = 0;
    }
    for (uint32_t at = 0; ok && at < placed; at++) {
        uint32_t first = placed;
        for (uint32_t i = child[from[at]]; i; i = next[i]) {
            sorted[placed] = nodes[i];
            sorted[placed++].parent = i; /* where it was, until its siblings have their order */
        }
        if (placed > first)
            qsort(sorted + first, placed - first, sizeof *sorted, compare_siblings);
        for (uint32_t i = first; i < placed; i++) {
            from[i] = sorted[i].parent;
            sorted[i].parent = at;
        }
    }
    if (ok)
        memcpy(nodes, sorted, count * sizeof *nodes);
    free(child);
    free(next);
    free(from);
    free(sorted);
    return ok || !count;
}

static bool own_histogram(struct rtl_snapshot *to, struct rtl_histogram_copy *h)
{
    size_t bytes = h->octave_count * sizeof *h->octaves;
    struct rtl_octave *octaves = bytes ? rtl_snapshot_allocate(to, bytes) : NULL;
    if (bytes && !octaves)
        return false;
    if (bytes)
        memcpy(octaves, h->octaves, bytes);
    h->octaves = octaves;
    h->coarse = NULL; /* there are none */
    return true;
}

static void copy_array(void *to, const void *from, uint32_t count, size_t size)
{
    if (count) /* without any there may be no array */
        memcpy(to, from, count * size);
}

bool rtl_hip_api_copy_to(const struct rtl_hip_api_snapshot *from, struct rtl_snapshot *to)
{
    to->calls = NULL;
    if (!from)
        return true;
    const struct rtl_hip_api_room room = {.rows = from->count,
                                          .memory = from->memory_count,
                                          .nodes = from->node_count,
                                          .launches = from->launch_count,
                                          .pairs = from->pair_count};
    struct rtl_hip_api_snapshot *calls = rtl_hip_api_allocate(to, &room);
    if (!calls)
        return false;
    struct rtl_hip_api_snapshot own = *calls;
    *calls = *from;
    calls->rows = own.rows;
    calls->memory = own.memory;
    calls->nodes = own.nodes;
    calls->launches = own.launches;
    calls->pairs = own.pairs;
    calls->threads = own.threads;
    calls->thread_count = 0;
    copy_array(own.rows, from->rows, from->count, sizeof *own.rows);
    copy_array(own.memory, from->memory, from->memory_count, sizeof *own.memory);
    copy_array(own.nodes, from->nodes, from->node_count, sizeof *own.nodes);
    copy_array(own.launches, from->launches, from->launch_count, sizeof *own.launches);
    copy_array(own.pairs, from->pairs, from->pair_count, sizeof *own.pairs);
    bool ok = true;
    for (uint32_t i = 0; ok && i < calls->count; i++)
        ok = own_histogram(to, &own.rows[i].histogram);
    for (uint32_t i = 0; ok && i < calls->launch_count; i++)
        ok = own_histogram(to, &own.launches[i].histogram);
    for (uint32_t i = 0; ok && i < calls->pair_count; i++)
        ok = own_histogram(to, &own.pairs[i].histogram);
    if (!ok)
        to->calls = NULL;
    return ok;
}

/* --- of a process --- */

/* Only the octaves that there is something in. */
static bool take_buckets(struct rtl_snapshot *to, const struct rtl_hip_api_buckets *buckets,
                         struct rtl_histogram_copy *h)
{
    uint32_t octaves = 0, used = 0;
    uint64_t any[RTL_HIP_API_BUCKETS / RTL_CHUNK_BUCKETS] = {0};
    for (uint32_t i = 0; i < RTL_HIP_API_BUCKETS; i++)
        any[i / RTL_CHUNK_BUCKETS] |= buckets->count[i];
    for (uint32_t o = 0; o < RTL_HIP_API_BUCKETS / RTL_CHUNK_BUCKETS; o++)
        octaves += any[o] != 0;
    h->octaves = rtl_snapshot_allocate(to, (octaves + 1) * sizeof *h->octaves);
    if (!h->octaves)
        return false;
    h->octave_count = octaves;
    for (uint32_t o = 0; o < RTL_HIP_API_BUCKETS / RTL_CHUNK_BUCKETS; o++)
        if (any[o]) {
            struct rtl_octave *octave = &h->octaves[used++];
            octave->octave = (uint8_t)o;
            memcpy(octave->bucket, &buckets->count[o * RTL_CHUNK_BUCKETS], sizeof octave->bucket);
        }
    return true;
}

/* The segment has no minimum: the lowest bucket that there is something in. */
static uint64_t least_of(const struct rtl_histogram_copy *h)
{
    for (uint32_t b = 0; h->octave_count && b < RTL_CHUNK_BUCKETS; b++)
        if (h->octaves[0].bucket[b]) {
            uint32_t index = h->octaves[0].octave * RTL_CHUNK_BUCKETS + b, shift = index < 128 ? 0 : (index >> 6) - 1;
            uint64_t low = (uint64_t)(index - (shift << 6)) << shift;
            return low < h->max_ns ? low : h->max_ns;
        }
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    return rtl_hip_api_compare_rows(a, b);
}

static bool take_rows(const struct rtl_hip_api_copy *copy, struct rtl_snapshot *to)
{
    struct rtl_hip_api_snapshot *calls = to->calls;
    for (uint32_t i = 0; i < copy->count; i++) {
        const struct rtl_hip_api_row_copy *from = &copy->rows[i];
        struct rtl_hip_api_row_snapshot *row = &calls->rows[calls->count++];
        *row = (struct rtl_hip_api_row_snapshot){.kind = from->kind,
                                                 .name_bytes = from->text_bytes,
                                                 .bytes = from->bytes,
                                                 .errors = from->errors,
                                                 .open = from->open,
                                                 .in_use = from->in_use};
        memcpy(row->name, from->text, from->text_bytes);
        row->histogram.count = from->calls;
        row->histogram.total_ns = from->total_ns;
        row->histogram.max_ns = from->most_ns;
        if (from->buckets && !take_buckets(to, from->buckets, &row->histogram))
            return false;
        row->histogram.min_ns = least_of(&row->histogram);
    }
    qsort(calls->rows, calls->count, sizeof *calls->rows, compare_rows);
    /* two rows of one name, which only a damaged segment has, would be one elsewhere */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < calls->count; i++)
        if (!kept || rtl_hip_api_compare_rows(&calls->rows[kept - 1], &calls->rows[i]) != 0)
            calls->rows[kept++] = calls->rows[i];
    calls->count = kept;
    return true;
}

/* Siblings of one name: the first stands for all, as of rows and pairs. 0: there is none so far. */
struct siblings {
    uint32_t head[1024], *next; /* by hash, by place */
};

static uint32_t find_sibling(struct siblings *s, const struct rtl_hip_api_snapshot *calls, uint32_t parent,
                             const char *name, uint32_t name_bytes, uint32_t **head)
{
    *head = &s->head[(rtl_hash(name, name_bytes) + parent) % (sizeof s->head / sizeof *s->head)];
    uint32_t i = **head;
    while (i && (calls->nodes[i].parent != parent ||
                 compare_names(calls->nodes[i].name, calls->nodes[i].name_bytes, name, name_bytes) != 0))
        i = s->next[i];
    return i;
}

/* Nodes that were never entered are left out, and what is below them goes to their parents: the segment's fault, as are
 * two of one place. */
static bool take_nodes(const struct rtl_hip_api_copy *copy, struct rtl_hip_api_snapshot *calls, uint32_t *place)
{
    struct siblings siblings = {.next = calloc(copy->node_count + 1, sizeof *siblings.next)};
    if (!siblings.next)
        return false;
    for (uint32_t i = 0; i < copy->node_count; i++) {
        const struct rtl_hip_api_node *from = &copy->nodes[i];
        place[i] = i ? place[from->parent] : 0;
        if (i && (from->state != 1 || !copy->node_text_bytes[i]))
            continue;
        uint32_t *head = NULL, there = 0;
        if (i)
            there = find_sibling(&siblings, calls, place[from->parent], copy->node_text[i], copy->node_text_bytes[i],
                                 &head);
        if (there) {
            place[i] = there;
            continue;
        }
        struct rtl_hip_api_node_snapshot *node = &calls->nodes[calls->node_count];
        *node = (struct rtl_hip_api_node_snapshot){.parent = place[from->parent],
                                                   .name_bytes = i ? copy->node_text_bytes[i] : 0,
                                                   .count = from->count,
                                                   .total_ns = from->total_ns,
                                                   .most_ns = from->most_ns,
                                                   .open = from->open,
                                                   .kernels = from->kernels,
                                                   .kernels_ns = from->kernels_ns,
                                                   .copies = from->copies,
                                                   .copies_ns = from->copies_ns};
        memcpy(node->name, copy->node_text[i], node->name_bytes);
        if (head) {
            siblings.next[calls->node_count] = *head;
            *head = calls->node_count;
        }
        place[i] = calls->node_count++;
    }
    free(siblings.next);
    if (!rtl_hip_api_sort_nodes(calls->nodes, calls->node_count))
        return false;
    for (uint32_t i = 1; i < copy->node_count; i++) { /* where it is now; a parent's comes first */
        const struct rtl_hip_api_node *from = &copy->nodes[i];
        place[i] = place[from->parent];
        if (from->state == 1 && copy->node_text_bytes[i])
            place[i] = rtl_hip_api_find_child(calls, place[i], copy->node_text[i], copy->node_text_bytes[i]);
        if (place[i] >= calls->node_count) /* never: it is one of them */
            place[i] = 0;
    }
    return true;
}

static int compare_launches(const void *left, const void *right)
{
    const struct rtl_hip_api_launch_snapshot *a = left, *b = right;
    return (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

void rtl_hip_api_sort_launches(struct rtl_hip_api_snapshot *calls)
{
    if (calls->launch_count)
        qsort(calls->launches, calls->launch_count, sizeof *calls->launches, compare_launches);
}

const struct rtl_hip_api_launch_snapshot *rtl_hip_api_find_launch(const struct rtl_hip_api_snapshot *calls,
                                                                  const struct rtl_kernel_snapshot *kernel)
{
    const struct rtl_hip_api_launch_snapshot key = {.kernel = rtl_hash(kernel->name, kernel->name_length)};
    return calls && calls->launch_count
               ? bsearch(&key, calls->launches, calls->launch_count, sizeof key, compare_launches)
               : NULL;
}

static int compare_pairs(const void *left, const void *right)
{
    const struct rtl_hip_api_pair_snapshot *a = left, *b = right;
    return a->node != b->node ? (a->node > b->node) - (a->node < b->node)
                              : (a->kernel > b->kernel) - (a->kernel < b->kernel);
}

void rtl_hip_api_sort_pairs(struct rtl_hip_api_snapshot *calls)
{
    if (calls->pair_count)
        qsort(calls->pairs, calls->pair_count, sizeof *calls->pairs, compare_pairs);
}

const struct rtl_hip_api_pair_snapshot *rtl_hip_api_find_pair(const struct rtl_hip_api_snapshot *calls, uint32_t node,
                                                              uint64_t kernel)
{
    const struct rtl_hip_api_pair_snapshot key = {.node = node, .kernel = kernel};
    return calls && calls->pair_count ? bsearch(&key, calls->pairs, calls->pair_count, sizeof key, compare_pairs)
                                      : NULL;
}

/* Where a process's calls are copied from, and what its kernels are called. */
struct taking {
    int fd;
    const struct rtl_hip_api_copy *copy;
    struct rtl_reader *reader; /* or NULL */
    struct rtl_snapshot *to;
    struct rtl_hip_api_buckets *buckets; /* room for one histogram */
    uint64_t *hash;                      /* by row of the kernel; 0 = not asked for so far */
    uint32_t *place;                     /* of nodes */
};

/* The kernel of a row as its name's hash. False: it has none, or has come since the kernels were copied. */
static bool kernel_of(struct taking *t, uint32_t row, uint64_t *kernel)
{
    const struct rtl_kernel_snapshot *kernels = t->to->kernels;
    uint32_t low = 0, high = t->to->kernel_count;
    if (!t->hash[row] && t->reader) { /* a snapshot of what has changed hasn't all of them */
        const char *name = rtl_reader_kernel_name(t->reader, row);
        t->hash[row] = name ? rtl_hash(name, strlen(name)) : 0;
    }
    while (!t->hash[row] && low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (kernels[middle].id == row)
            t->hash[row] = rtl_hash(kernels[middle].name, kernels[middle].name_length);
        else if (kernels[middle].id < row)
            low = middle + 1;
        else
            high = middle;
    }
    *kernel = t->hash[row];
    return t->hash[row] != 0;
}

/* What was read into the room for buckets. */
static bool take_histogram(struct taking *t, uint64_t total_ns, uint64_t most_ns, struct rtl_histogram_copy *h)
{
    *h = (struct rtl_histogram_copy){.total_ns = total_ns, .max_ns = most_ns};
    if (!take_buckets(t->to, t->buckets, h))
        return false;
    for (uint32_t b = 0; b < RTL_HIP_API_BUCKETS; b++)
        h->count += t->buckets->count[b];
    h->min_ns = least_of(h);
    return true;
}

static bool take_launches(struct taking *t)
{
    struct rtl_hip_api_snapshot *calls = t->to->calls;
    bool ok = true;
    for (uint32_t i = 0; ok && i < t->copy->launch_count; i++) {
        const struct rtl_hip_api_launches_copy *from = &t->copy->launches[i];
        struct rtl_hip_api_launch_snapshot *launch = &calls->launches[calls->launch_count];
        if (!kernel_of(t, from->kernel, &launch->kernel))
            continue;
        if (!rtl_hip_api_read_launches(t->fd, from->kernel, t->buckets))
            break;
        ok = take_histogram(t, from->total_ns, from->most_ns, &launch->histogram);
        calls->launch_count += ok;
    }
    rtl_hip_api_sort_launches(calls);
    return ok;
}

/* Two of one node and kernel, which only a damaged segment has, would be one elsewhere. */
static void drop_doubles(struct rtl_hip_api_snapshot *calls)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < calls->pair_count; i++)
        if (!kept || compare_pairs(&calls->pairs[kept - 1], &calls->pairs[i]) != 0)
            calls->pairs[kept++] = calls->pairs[i];
    calls->pair_count = kept;
}

static bool take_pairs(struct taking *t)
{
    struct rtl_hip_api_snapshot *calls = t->to->calls;
    bool ok = true;
    for (uint32_t i = 0; ok && i < t->copy->pair_count; i++) {
        const struct rtl_hip_api_pair_copy *from = &t->copy->pairs[i];
        struct rtl_hip_api_pair_snapshot *pair = &calls->pairs[calls->pair_count];
        pair->node = t->place[from->node];
        if (!pair->node || !kernel_of(t, from->kernel, &pair->kernel))
            continue;
        if (!rtl_hip_api_read_pair(t->fd, t->copy, from->number, t->buckets))
            break;
        ok = take_histogram(t, from->total_ns, from->most_ns, &pair->histogram);
        calls->pair_count += ok;
    }
    rtl_hip_api_sort_pairs(calls);
    drop_doubles(calls);
    return ok;
}

/* The row of a function by its number in the segment, + 1; 0 for none that is known. */
static uint32_t row_of(int fd, const struct rtl_hip_api_snapshot *calls, uint32_t number)
{
    struct rtl_hip_api_row_snapshot key = {.kind = RTL_HIP_API_LAUNCH}; /* any function's */
    key.name_bytes = rtl_hip_api_read_text(fd, number, key.name, &key.kind);
    for (uint32_t i = 0; key.name_bytes && i < calls->count; i++)
        if (rtl_hip_api_compare_rows(&calls->rows[i], &key) == 0)
            return i + 1;
    return 0;
}

/* `ahead`: how far the process's clock is ahead of the snapshot's time line */
static void take_threads(int fd, const struct rtl_hip_api_copy *copy, uint64_t ahead,
                         struct rtl_hip_api_snapshot *calls)
{
    for (uint32_t i = 1; i < RTL_HIP_API_BLOCKS; i++) {
        const struct rtl_hip_api_thread *from = &copy->thread[i];
        if (!from->tid || (!from->now && !from->last))
            continue;
        struct rtl_hip_api_thread_snapshot *thread = &calls->threads[calls->thread_count++];
        *thread = (struct rtl_hip_api_thread_snapshot){.tid = from->tid};
        if (from->now) {
            thread->row = row_of(fd, calls, RTL_HIP_API_NOW_ROW(from->now));
            thread->since_ns = RTL_HIP_API_NOW_NS(from->now) - ahead;
        }
        if (from->last) {
            thread->last_row = row_of(fd, calls, RTL_HIP_API_NOW_ROW(from->last));
            thread->last_ns = RTL_HIP_API_NOW_NS(from->last) - ahead;
        }
    }
}

static bool take_links(struct taking *t)
{
    t->buckets = malloc(sizeof *t->buckets);
    t->hash = calloc(RTL_HIP_API_KERNELS, sizeof *t->hash);
    t->place = calloc(t->copy->node_count + 1, sizeof *t->place);
    bool ok = t->buckets && t->hash && t->place && take_nodes(t->copy, t->to->calls, t->place) && take_launches(t) &&
              take_pairs(t);
    free(t->buckets);
    free(t->hash);
    free(t->place);
    return ok;
}

static bool take(int fd, const struct rtl_hip_api_copy *copy, uint64_t pid, struct rtl_reader *reader,
                 struct rtl_snapshot *to)
{
    const struct rtl_hip_api_room room = {copy->count,        RTL_HIP_API_PLACES, copy->node_count,
                                          copy->launch_count, copy->pair_count,   RTL_HIP_API_BLOCKS};
    struct rtl_hip_api_snapshot *calls = rtl_hip_api_allocate(to, &room);
    if (!calls || !take_rows(copy, to))
        return false;
    for (uint32_t i = 0; i < RTL_HIP_API_PLACES; i++)
        if (copy->memory[i].peak)
            calls->memory[calls->memory_count++] = (struct rtl_hip_api_memory_snapshot){
                pid, i, copy->memory[i].in_use, copy->memory[i].peak, copy->memory[i].allocations};
#define TAKE(member, key, text) calls->member = copy->header.member;
    RTL_HIP_API_TROUBLES(TAKE)
#undef TAKE
    if (!copy->links)
        return true;
    calls->links = true;
    calls->flags = copy->header.flags;
    calls->copies_linked = copy->header.copies_linked;
    calls->copies_unlinked = copy->header.copies_unlinked;
    calls->linked = copy->linked.linked;
    memcpy(calls->unlinked, copy->linked.unlinked, sizeof calls->unlinked);
    take_threads(fd, copy, reader ? (uint64_t)rtl_reader_clocks(reader, false)->ahead_ns : 0, calls);
    struct taking taking = {.fd = fd, .copy = copy, .reader = reader, .to = to};
    return take_links(&taking);
}

void rtl_hip_api_source_open(struct rtl_hip_api_source *source)
{
    *source = (struct rtl_hip_api_source){.fd = -1};
}

void rtl_hip_api_source_close(struct rtl_hip_api_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
}

void rtl_hip_api_source_read(struct rtl_hip_api_source *source, pid_t pid, struct rtl_reader *reader,
                             struct rtl_snapshot *snapshot)
{
    struct rtl_hip_api_copy copy = {0};
    uint64_t now = snapshot->taken_mono_ns;
    if (source->fd < 0 && now >= source->look_ns) {
        rtl_hip_api_open(pid, &source->fd, NULL, 0);
        source->pause_ns = source->pause_ns ? 2 * source->pause_ns : FIRST_PAUSE_NS;
        if (source->pause_ns > LONGEST_PAUSE_NS)
            source->pause_ns = LONGEST_PAUSE_NS;
        source->look_ns = now + source->pause_ns;
    }
    if (source->fd < 0)
        return;
    if (rtl_hip_api_read(source->fd, &copy, NULL, 0) != RTL_READER_OK ||
        !take(source->fd, &copy, (uint64_t)pid, reader, snapshot))
        snapshot->calls = NULL;
    rtl_hip_api_free(&copy);
}
