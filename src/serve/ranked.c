/* Series of which the first are shown. See ranked.h. */
#include "serve/ranked.h"
#include "shm/hash.h"

#include <stdlib.h>
#include <string.h>

/* Often enough to follow what a server does, rarely enough that series stay. */
static const uint64_t RANKING_NS = 60000000000ull;

void rtl_ranked_init(struct rtl_ranked *ranked, uint32_t most)
{
    *ranked = (struct rtl_ranked){.most = most};
}

void rtl_ranked_free(struct rtl_ranked *ranked)
{
    for (uint32_t i = 0; i < ranked->count; i++)
        free(ranked->series[i].name);
    free(ranked->series);
    free(ranked->table);
    *ranked = (struct rtl_ranked){.most = ranked->most};
}

/* Its place in the table, or the free one where it belongs. */
static uint32_t *place(const struct rtl_ranked *r, uint64_t hash)
{
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & (r->table_size - 1);
    while (r->table[at] && r->series[r->table[at] - 1].hash != hash)
        at = (at + 1) & (r->table_size - 1);
    return &r->table[at];
}

static bool grow(struct rtl_ranked *r)
{
    if (r->count == r->room) {
        uint32_t room = r->room ? 2 * r->room : 64;
        struct rtl_series *series = realloc(r->series, room * sizeof *series);
        if (!series)
            return false;
        r->series = series;
        r->room = room;
    }
    if (2 * r->count < r->table_size)
        return true;
    uint32_t size = r->table_size ? 2 * r->table_size : 256;
    uint32_t *table = calloc(size, sizeof *table);
    if (!table)
        return false;
    free(r->table);
    r->table = table;
    r->table_size = size;
    for (uint32_t i = 0; i < r->count; i++)
        *place(r, r->series[i].hash) = i + 1;
    return true;
}

uint32_t rtl_ranked_find(struct rtl_ranked *r, const char *name, size_t length, unsigned kind)
{
    uint64_t hash = rtl_hash(name, length) ^ kind * 0x9e3779b97f4a7c15ull;
    uint32_t *at = r->table_size ? place(r, hash) : NULL;
    if (at && *at)
        return *at - 1;
    if (r->count == RTL_SERIES_MAX || r->text + length > RTL_SERIES_TEXT_MAX || !grow(r))
        return RTL_SERIES_OTHER;
    char *copy = malloc(length + 1);
    if (!copy)
        return RTL_SERIES_OTHER;
    memcpy(copy, name, length);
    copy[length] = '\0';
    r->text += length;
    r->series[r->count] = (struct rtl_series){.hash = hash, .name = copy, .length = length, .kind = kind};
    *place(r, hash) = r->count + 1;
    return r->count++;
}

struct rtl_tally *rtl_ranked_tally(struct rtl_ranked *r, uint32_t number)
{
    return number < r->count ? &r->series[number].frame : &r->other;
}

static bool is_empty(const struct rtl_tally *t)
{
    return !t->calls && !t->errors && !t->times.values;
}

static void add(struct rtl_tally *to, const struct rtl_tally *more)
{
    to->calls += more->calls;
    to->errors += more->errors;
    rtl_classes_add(&to->times, &more->times);
}

/* The one that took most recently of those that aren't shown, or least of those that are. */
static struct rtl_series *extreme(struct rtl_ranked *r, bool shown)
{
    struct rtl_series *best = NULL;
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        if (s->shown == shown && (!best || (shown ? s->recent < best->recent : s->recent > best->recent)))
            best = s;
    }
    return best;
}

static void show(struct rtl_ranked *r, struct rtl_series *s, bool shown)
{
    s->shown = shown;
    r->shown += shown ? 1 : -1u;
}

/* Shown ones give way to those that take more than twice as much: not to and fro. */
static void rank(struct rtl_ranked *r, uint64_t now_ns)
{
    while (r->shown < r->most && r->shown < r->count)
        show(r, extreme(r, false), true);
    if (now_ns < r->next_ns)
        return;
    for (uint32_t i = 0; i < r->most; i++) {
        struct rtl_series *out = extreme(r, true), *in = extreme(r, false);
        if (!out || !in || in->recent / 2 <= out->recent)
            break;
        show(r, out, false);
        show(r, in, true);
    }
    for (uint32_t i = 0; i < r->count; i++)
        r->series[i].recent /= 2;
    r->next_ns = now_ns + RANKING_NS;
}

void rtl_ranked_settle(struct rtl_ranked *r, uint64_t now_ns)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        uint64_t took = s->frame.times.sum_ns + s->frame.calls;
        s->recent = s->recent + took < took ? UINT64_MAX : s->recent + took;
    }
    rank(r, now_ns);
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        if (is_empty(&s->frame))
            continue;
        add(s->shown ? &s->own : &r->other, &s->frame);
        memset(&s->frame, 0, sizeof s->frame);
    }
}
