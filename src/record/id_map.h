/*
 * Which number something has: a hash table from an identity, a few integers, to a number.
 *
 * What goes in comes from segments and files that may be hostile, so it is bounded, and its hash is seeded anew in
 * every run: nobody can choose identities that meet. Nothing is ever taken out.
 */
#ifndef RTL_RECORD_ID_MAP_H
#define RTL_RECORD_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtl_id_map;

enum { RTL_ID_KEY_WORDS = 5 };
struct rtl_id_key {
    uint64_t word[RTL_ID_KEY_WORDS]; /* the first one says what kind of thing it is */
};

struct rtl_id_map *rtl_id_map_new(size_t most); /* NULL without memory */
void rtl_id_map_free(struct rtl_id_map *identities);

/* -1 = not there. */
int64_t rtl_id_map_find(struct rtl_id_map *identities, const struct rtl_id_key *identity);
/* For one that is not there. False when it is full or there is no memory. */
bool rtl_id_map_add(struct rtl_id_map *identities, const struct rtl_id_key *identity, int64_t number);
size_t rtl_id_map_count(const struct rtl_id_map *identities);

/* How many places were looked at since it was made: tests tell by that how long a search takes. */
uint64_t rtl_id_map_steps(const struct rtl_id_map *identities);

/* Text as a word of an identity. It is not seeded: a file can be made in which two texts are taken for one, but no
 * search takes longer for it. */
uint64_t rtl_id_key_text(const char *text);

#endif
