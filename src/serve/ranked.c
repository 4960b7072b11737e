/* Series of which the first are shown. See ranked.h. */
#include "serve/ranked.h"
#include "shm/hash.h"

#include <stdlib.h>
#include <string.h>

/* Often enough to follow what a server does, rarely enough that series stay. */
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
    free(ranked->table);
    free(ranked->free);
    rtl_ranked_init(ranked, ranked->most, ranked->keep_ns);
}

uint32_t rtl_ranked_living(const struct rtl_ranked *r)
{
    return r->count - r->free_count;
}

uint32_t rtl_ranked_brought(const struct rtl_ranked *r, uint32_t by)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->count; i++)
        count += r->series[i].name && r->series[i].by == by;
    return count;
}

/* --- finding --- */

/* Its place in the table, or the free one where it belongs. */
static uint32_t *place(const struct rtl_ranked *r, uint64_t hash)
{
    uint32_t at = (uint32_t)(hash ^ hash >> 32) & (r->table_size - 1);
    while (r->table[at] && r->series[r->table[at] - 1].hash != hash)
        at = (at + 1) & (r->table_size - 1);
    return &r->table[at];
}

static void fill_table(struct rtl_ranked *r)
{
    memset(r->table, 0, r->table_size * sizeof *r->table);
    for (uint32_t i = 0; i < r->count; i++)
        if (r->series[i].name)
            *place(r, r->series[i].hash) = i + 1;
}

static bool grow(struct rtl_ranked *r)
{
    if (r->count == r->room && !r->free_count) {
        uint32_t room = r->room ? 2 * r->room : 64;
        struct rtl_series *series = realloc(r->series, room * sizeof *series);
        if (series)
            r->series = series;
        uint32_t *unused = series ? realloc(r->free, room * sizeof *unused) : NULL;
        if (!unused)
            return false;
        r->free = unused;
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
    fill_table(r);
    return true;
}

uint32_t rtl_ranked_find(struct rtl_ranked *r, const char *name, size_t length, unsigned kind, bool *added)
{
    uint64_t hash = rtl_hash(name, length) ^ kind * 0x9e3779b97f4a7c15ull;
    uint32_t *at = r->table_size ? place(r, hash) : NULL;
    if (at && *at) {
        r->series[*at - 1].found = r->now_ns;
        return *at - 1;
    }
    if (!added || rtl_ranked_living(r) == RTL_SERIES_MAX || r->text + length > RTL_SERIES_TEXT_MAX || !grow(r))
        return RTL_SERIES_OTHER;
    char *copy = malloc(length + 1);
    if (!copy)
        return RTL_SERIES_OTHER;
    memcpy(copy, name, length);
    copy[length] = '\0';
    r->text += length;
    uint32_t number = r->free_count ? r->free[--r->free_count] : r->count++;
    r->series[number] =
        (struct rtl_series){.hash = hash, .name = copy, .length = length, .kind = kind, .found = r->now_ns};
    *place(r, hash) = number + 1;
    *added = true;
    return number;
}

void rtl_ranked_hold(struct rtl_ranked *r, uint32_t number)
{
    if (number < r->count)
        r->series[number].users++;
}

void rtl_ranked_let_go(struct rtl_ranked *r, uint32_t number)
{
    if (number < r->count && r->series[number].users)
        r->series[number].users--;
}

/* --- counting --- */

static struct rtl_tally *there(struct rtl_tally **tally)
{
    if (!*tally)
        *tally = calloc(1, sizeof **tally);
    return *tally;
}

struct rtl_tally *rtl_ranked_tally(struct rtl_ranked *r, uint32_t number)
{
    struct rtl_tally *frame = number < r->count ? there(&r->series[number].frame) : NULL;
    return frame ? frame : &r->other;
}

static void add(struct rtl_tally *to, const struct rtl_tally *more)
{
    rtl_count_up(&to->calls, more->calls);
    rtl_count_up(&to->errors, more->errors);
    rtl_prom_buckets_add(&to->times, &more->times);
}

/* The one that took most recently of those that aren't shown, or least of those that are. */
static struct rtl_series *extreme(struct rtl_ranked *r, bool shown)
{
    struct rtl_series *best = NULL;
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        if (s->name && s->shown == shown && (!best || (shown ? s->recent < best->recent : s->recent > best->recent)))
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
    while (r->shown < r->most && r->shown < rtl_ranked_living(r))
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

static void forget_unused(struct rtl_ranked *r, rtl_ranked_forget *forget, void *context)
{
    bool any = false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        if (!s->name || s->shown || s->users || r->now_ns - s->found < r->keep_ns)
            continue;
        if (s->own)
            add(&r->ended, s->own);
        if (forget)
            forget(context, i);
        r->text -= s->length;
        free(s->name);
        free(s->own);
        *s = (struct rtl_series){0};
        r->free[r->free_count++] = i;
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
        rtl_count_up(&s->recent, s->frame->times.sum_ns);
        rtl_count_up(&s->recent, s->frame->calls);
    }
    rank(r, now_ns);
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_series *s = &r->series[i];
        if (!s->frame)
            continue;
        struct rtl_tally *own = s->shown ? there(&s->own) : NULL;
        add(own ? own : &r->other, s->frame);
        free(s->frame);
        s->frame = NULL;
    }
    r->now_ns = now_ns;
    forget_unused(r, forget, context);
}
