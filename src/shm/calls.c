/* The API segment as a part of snapshots. See calls.h. */
#include "shm/calls.h"
#include "shm/api_reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t FIRST_PAUSE_NS = 250000000, LONGEST_PAUSE_NS = 30000000000;

static int order_of(const struct rtl_call *call)
{
    return call->kind == RTL_API_RANGE ? 1 : call->kind == RTL_API_MARK ? 2 : 0;
}

int rtl_call_compare(const struct rtl_call *a, const struct rtl_call *b)
{
    if (order_of(a) != order_of(b))
        return order_of(a) - order_of(b);
    uint32_t least = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
    int name = memcmp(a->name, b->name, least);
    return name ? name : (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

const char *rtl_call_kind_key(uint32_t kind)
{
    static const char *const keys[] = {
#define KEY(sym, number, key, text) [number] = key,
        RTL_API_KINDS(KEY)
#undef KEY
    };
    return kind < sizeof keys / sizeof *keys ? keys[kind] : NULL;
}

struct rtl_calls *rtl_calls_make(struct rtl_snapshot *snapshot, uint32_t rows, uint32_t memory)
{
    struct rtl_calls *calls = rtl_snapshot_allocate(snapshot, sizeof *calls);
    struct rtl_call *row = rtl_snapshot_allocate(snapshot, (rows + 1) * sizeof *row);
    struct rtl_call_memory *place = rtl_snapshot_allocate(snapshot, (memory + 1) * sizeof *place);
    if (!calls || !row || !place)
        return NULL;
    *calls = (struct rtl_calls){.rows = row, .memory = place};
    snapshot->calls = calls;
    return calls;
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

bool rtl_calls_copy(const struct rtl_calls *from, struct rtl_snapshot *to)
{
    to->calls = NULL;
    if (!from)
        return true;
    struct rtl_calls *calls = rtl_calls_make(to, from->count, from->memory_count);
    if (!calls)
        return false;
    struct rtl_call *rows = calls->rows;
    struct rtl_call_memory *memory = calls->memory;
    *calls = *from;
    calls->rows = rows;
    calls->memory = memory;
    memcpy(rows, from->rows, from->count * sizeof *rows);
    memcpy(memory, from->memory, from->memory_count * sizeof *memory);
    for (uint32_t i = 0; i < calls->count; i++)
        if (!own_histogram(to, &rows[i].histogram)) {
            to->calls = NULL;
            return false;
        }
    return true;
}

/* --- of a process --- */

/* Only the octaves that there is something in. */
static bool take_buckets(struct rtl_snapshot *to, const struct rtl_api_buckets *buckets, struct rtl_histogram_copy *h)
{
    uint32_t octaves = 0, used = 0;
    uint64_t any[RTL_API_BUCKETS / RTL_CHUNK_BUCKETS] = {0};
    for (uint32_t i = 0; i < RTL_API_BUCKETS; i++)
        any[i / RTL_CHUNK_BUCKETS] |= buckets->count[i];
    for (uint32_t o = 0; o < RTL_API_BUCKETS / RTL_CHUNK_BUCKETS; o++)
        octaves += any[o] != 0;
    h->octaves = rtl_snapshot_allocate(to, (octaves + 1) * sizeof *h->octaves);
    if (!h->octaves)
        return false;
    h->octave_count = octaves;
    for (uint32_t o = 0; o < RTL_API_BUCKETS / RTL_CHUNK_BUCKETS; o++)
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
    return rtl_call_compare(a, b);
}

static bool take(const struct rtl_api_copy *copy, uint64_t pid, struct rtl_snapshot *to)
{
    struct rtl_calls *calls = rtl_calls_make(to, copy->count, RTL_API_PLACES);
    if (!calls)
        return false;
    for (uint32_t i = 0; i < copy->count; i++) {
        const struct rtl_api_row_copy *from = &copy->rows[i];
        struct rtl_call *row = &calls->rows[calls->count++];
        *row = (struct rtl_call){.kind = from->kind,
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
    for (uint32_t i = 0; i < RTL_API_PLACES; i++)
        if (copy->memory[i].peak)
            calls->memory[calls->memory_count++] = (struct rtl_call_memory){
                pid, i, copy->memory[i].in_use, copy->memory[i].peak, copy->memory[i].allocations};
#define TAKE(member, key, text) calls->member = copy->header.member;
    RTL_CALL_TROUBLES(TAKE)
#undef TAKE
    return true;
}

void rtl_calls_open(struct rtl_calls_source *source)
{
    *source = (struct rtl_calls_source){.fd = -1};
}

void rtl_calls_close(struct rtl_calls_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
}

void rtl_calls_take(struct rtl_calls_source *source, pid_t pid, struct rtl_snapshot *snapshot)
{
    struct rtl_api_copy copy = {0};
    uint64_t now = snapshot->taken_mono_ns;
    if (source->fd < 0 && now >= source->look_ns) {
        rtl_api_open(pid, &source->fd, NULL, 0);
        source->pause_ns = source->pause_ns ? 2 * source->pause_ns : FIRST_PAUSE_NS;
        if (source->pause_ns > LONGEST_PAUSE_NS)
            source->pause_ns = LONGEST_PAUSE_NS;
        source->look_ns = now + source->pause_ns;
    }
    if (source->fd < 0)
        return;
    if (rtl_api_read(source->fd, &copy, NULL, 0) != RTL_READER_OK || !take(&copy, (uint64_t)pid, snapshot))
        snapshot->calls = NULL;
    rtl_api_free(&copy);
}
