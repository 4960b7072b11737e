/* Ranked series. See ranked.h. */
#include "serve/ranked.h"
#include "base/array.h"
#include "shm/hash.h"

#include <stdlib.h>
#include <string.h>

/* Follows changes of the load without replacing series too often. */
static const uint64_t RANKING_NS = 60000000000ull;

void rtl_ranked_init(struct rtl_ranked *ranked, uint32_t most, uint64_t keep_ns)
{
    *ranked = (struct rtl_ranked){.most = most, .keep_ns = keep_ns};
}

void rtl_ranked_free(struct rtl_ranked *ranked)
{
    for (uint32_t i = 0; i < ranked->count; i++) {
        free(ranked->series[i].name);
        free(ranked->series[i].own);
        free(ranked->series[i].frame);
    }
    free(ranked->series);
    rtl_id_map_free(ranked->table);
    rtl_ranked_init(ranked, ranked->most, ranked->keep_ns);
}

uint32_t rtl_ranked_living(const struct rtl_ranked *r)
{
    return r->count - r->free_count;
}

uint32_t rtl_ranked_count_owned(const struct rtl_ranked *r, uint32_t owner)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->count; i++)
        count += r->series[i].name && r->series[i].owner == owner;
    return count;
}

/* --- finding --- */

static void fill_table(struct rtl_ranked *r)
{
    rtl_id_map_clear(r->table);
    for (uint32_t i = 0; i < r->count; i++)
        if (r->series[i].name)
            rtl_id_map_add(r->table, &(struct rtl_id_key){{r->series[i].hash}}, i);
}

static bool reserve_series(struct rtl_ranked *r)
{
    if (!r->free_count && !rtl_grow(&r->series, &r->room, r->count + 1, sizeof *r->series))
        return false;
    if (!r->table)
        r->table = rtl_id_map_new(RTL_SERIES_MAX);
    return r->table != NULL;
}

uint32_t rtl_ranked_find(struct rtl_ranked *r, const char *name, size_t length, unsigned kind, bool *added)
{
    uint64_t hash = rtl_hash(name, length) ^ kind * 0x9e3779b97f4a7c15ull;
    const struct rtl_id_key key = {{hash}};
    int64_t known = r->table ? rtl_id_map_find(r->table, &key) : -1;
    if (known >= 0) {
        r->series[known].found = r->now_ns;
        return (uint32_t)known;
    }
    if (!added || rtl_ranked_living(r) == RTL_SERIES_MAX || r->text + length > RTL_SERIES_TEXT_MAX ||
        !reserve_series(r))
        return RTL_SERIES_OTHER;
    uint32_t number = r->free_count ? r->free : r->count;
    char *copy = malloc(length + 1);
    if (!copy || !rtl_id_map_add(r->table, &key, number)) {
        free(copy);
        return RTL_SERIES_OTHER;
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    r->text += length;
    if (r->free_count) {
        r->free = r->series[number].next_free;
        r->free_count--;
    } else {
        r->count++;
    }
    r->series[number] =
        (struct rtl_series){.hash = hash, .name = copy, .length = length, .kind = kind, .found = r->now_ns};
    *added = true;
    return number;
}

void rtl_ranked_hold(struct rtl_ranked *r, uint32_t number)
{
    if (number < r->count)
        r->series[number].holders++;
}

void rtl_ranked_release(struct rtl_ranked *r, uint32_t number)
{
    if (number < r->count && r->series[number].holders)
        r->series[number].holders--;
}

/* --- counting --- */

static struct rtl_tally *get_tally(struct rtl_tally **tally)
{
    if (!*tally)
        *tally = calloc(1, sizeof **tally);
    return *tally;
}

struct rtl_tally *rtl_ranked_tally(struct rtl_ranked *r, uint32_t number)
{
    struct rtl_tally *frame = number < r->count ? get_tally(&r->series[number].frame) : NULL;
    return frame ? frame : &r->other;
}

void rtl_tally_add(struct rtl_tally *to, const struct rtl_tally *more)
{
    to->calls = rtl_plus(to->calls, more->calls);
    to->errors = rtl_plus(to->errors, more->errors);
    rtl_prom_buckets_add(&to->times, &more->times);
}

/* Return the shown series with the least recent time, or the hidden one with the most. */
static struct rtl_series *find_extreme(struct rtl_ranked *r, bool shown)
{
    struct rtl_series *best = NULL;
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        if (s->name && s->shown == shown && (!best || (shown ? s->recent < best->recent : s->recent > best->recent)))
            best = s;
    }
    return best;
}

static void set_shown(struct rtl_ranked *r, struct rtl_series *s, bool shown)
{
    s->shown = shown;
    r->shown += shown ? 1 : -1u;
}

/* Replace a shown series only by one with more than twice its time, so that series don't alternate. */
static void rank_series(struct rtl_ranked *r, uint64_t now_ns)
{
    while (r->shown < r->most && r->shown < rtl_ranked_living(r))
        set_shown(r, find_extreme(r, false), true);
    if (now_ns < r->next_ns)
        return;
    for (uint32_t i = 0; i < r->most; i++) {
        struct rtl_series *out = find_extreme(r, true), *in = find_extreme(r, false);
        if (!out || !in || in->recent / 2 <= out->recent)
            break;
        set_shown(r, out, false);
        set_shown(r, in, true);
    }
    for (uint32_t i = 0; i < r->count; i++)
        r->series[i].recent /= 2;
    r->next_ns = now_ns + RANKING_NS;
}

static void remove_unused(struct rtl_ranked *r, rtl_ranked_forget *forget, void *context)
{
    bool any = false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        if (!s->name || s->shown || s->holders || r->now_ns - s->found < r->keep_ns)
            continue;
        if (s->own)
            rtl_tally_add(&r->ended, s->own);
        if (forget)
            forget(context, i);
        r->text -= s->length;
        free(s->name);
        free(s->own);
        *s = (struct rtl_series){.next_free = r->free};
        r->free = i;
        r->free_count++;
        any = true;
    }
    if (any)
        fill_table(r);
}

void rtl_ranked_settle(struct rtl_ranked *r, uint64_t now_ns, rtl_ranked_forget *forget, void *context)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        if (!s->frame)
            continue;
        s->recent = rtl_plus(s->recent, s->frame->times.sum_ns);
        s->recent = rtl_plus(s->recent, s->frame->calls);
    }
    rank_series(r, now_ns);
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        if (!s->frame)
            continue;
        struct rtl_tally *own = s->shown ? get_tally(&s->own) : NULL;
        rtl_tally_add(own ? own : &r->other, s->frame);
        free(s->frame);
        s->frame = NULL;
    }
    r->now_ns = now_ns;
    remove_unused(r, forget, context);
}
