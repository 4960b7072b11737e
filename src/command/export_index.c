/* A hash table of pairs of numbers. See export_index.h. */
#include "command/export_index.h"

#include <stdlib.h>
#include <sys/random.h>

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static struct rtl_index_slot *slot_of(const struct rtl_index *index, int64_t a, int64_t b)
{
    size_t at = (size_t)mix(mix((uint64_t)a + index->seed) + (uint64_t)b) & (index->slots - 1);
    while (index->slot[at].value && (index->slot[at].a != a || index->slot[at].b != b))
        at = (at + 1) & (index->slots - 1);
    return &index->slot[at];
}

size_t rtl_index_get(const struct rtl_index *index, int64_t a, int64_t b)
{
    return index->slots ? slot_of(index, a, b)->value : 0;
}

static bool grow(struct rtl_index *index)
{
    struct rtl_index more = {.slots = index->slots ? 2 * index->slots : 256, .used = index->used, .seed = index->seed};
    more.slot = calloc(more.slots, sizeof *more.slot);
    if (!more.slot)
        return false;
    if (!index->slots && getrandom(&more.seed, sizeof more.seed, GRND_NONBLOCK) < 0)
        more.seed = (uint64_t)(uintptr_t)more.slot;
    for (size_t i = 0; i < index->slots; i++)
        if (index->slot[i].value)
            *slot_of(&more, index->slot[i].a, index->slot[i].b) = index->slot[i];
    free(index->slot);
    *index = more;
    return true;
}

bool rtl_index_add(struct rtl_index *index, int64_t a, int64_t b, size_t value)
{
    if (2 * index->used >= index->slots && !grow(index))
        return false;
    *slot_of(index, a, b) = (struct rtl_index_slot){a, b, value};
    index->used++;
    return true;
}

void rtl_index_free(struct rtl_index *index)
{
    free(index->slot);
    *index = (struct rtl_index){0};
}
