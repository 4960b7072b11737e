/* A bounded hash table with open addressing. See id_map.h. */
#include "record/id_map.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "shm/hash.h"

enum { SLOTS_FIRST = 1024 };

struct id_entry {
    struct rtl_id_key key;
    int64_t number; /* + 1; 0 = free */
};

struct rtl_id_map {
    struct id_entry *entry;
    size_t slots, count, most; /* slots: a power of two, at most half of them in use */
    struct rtl_hash_key seed;
    uint64_t steps;
};

static size_t find_slot(struct rtl_id_map *t, const struct rtl_id_key *key)
{
    size_t at = (size_t)rtl_keyed_hash(&t->seed, key, sizeof *key) & (t->slots - 1);
    t->steps++;
    while (t->entry[at].number && memcmp(&t->entry[at].key, key, sizeof *key)) {
        at = (at + 1) & (t->slots - 1);
        t->steps++;
    }
    return at;
}

struct rtl_id_map *rtl_id_map_new(size_t most)
{
    struct rtl_id_map *t = calloc(1, sizeof *t);
    if (!t || !(t->entry = calloc(SLOTS_FIRST, sizeof *t->entry))) {
        free(t);
        return NULL;
    }
    t->slots = SLOTS_FIRST;
    t->most = most;
    if (getrandom(&t->seed, sizeof t->seed, GRND_NONBLOCK) != (ssize_t)sizeof t->seed) /* early after boot */
        t->seed.word[0] = rtl_mono_ns() ^ (uint64_t)getpid() << 40;
    return t;
}

void rtl_id_map_free(struct rtl_id_map *t)
{
    if (t)
        free(t->entry);
    free(t);
}

int64_t rtl_id_map_find(struct rtl_id_map *t, const struct rtl_id_key *key)
{
    return t->entry[find_slot(t, key)].number - 1;
}

static bool grow_table(struct rtl_id_map *t)
{
    struct id_entry *old = t->entry;
    size_t slots = t->slots;
    struct id_entry *more = calloc(2 * slots, sizeof *more);
    if (!more)
        return false;
    t->entry = more;
    t->slots = 2 * slots;
    for (size_t i = 0; i < slots; i++)
        if (old[i].number)
            more[find_slot(t, &old[i].key)] = old[i];
    free(old);
    return true;
}

bool rtl_id_map_add(struct rtl_id_map *t, const struct rtl_id_key *key, int64_t number)
{
    if (t->count >= t->most || number < 0 || number == INT64_MAX || (2 * (t->count + 1) > t->slots && !grow_table(t)))
        return false;
    t->entry[find_slot(t, key)] = (struct id_entry){.key = *key, .number = number + 1};
    t->count++;
    return true;
}

void rtl_id_map_clear(struct rtl_id_map *t)
{
    memset(t->entry, 0, t->slots * sizeof *t->entry);
    t->count = 0;
}

size_t rtl_id_map_count(const struct rtl_id_map *t)
{
    return t->count;
}

uint64_t rtl_id_map_steps(const struct rtl_id_map *t)
{
    return t->steps;
}
