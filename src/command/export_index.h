/*
 * Pairs of numbers -> what they stand for, as an index into an array of the owner's. The numbers come from a file that
 * anybody may have made: their place in the table is not to be foreseen, or a million of them could be made to meet.
 */
#ifndef RTL_COMMAND_EXPORT_INDEX_H
#define RTL_COMMAND_EXPORT_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtl_index_slot {
    int64_t a, b;
    size_t value; /* 0 = free */
};

struct rtl_index { /* all zero at first */
    struct rtl_index_slot *slot;
    size_t slots, used; /* slots: a power of two */
    uint64_t seed;
};

/* The value of a pair, 0 when there is none. */
size_t rtl_index_get(const struct rtl_index *index, int64_t a, int64_t b);
/* Gives a pair that has none a value other than 0. False without memory. */
bool rtl_index_add(struct rtl_index *index, int64_t a, int64_t b, size_t value);
void rtl_index_free(struct rtl_index *index);

#endif
