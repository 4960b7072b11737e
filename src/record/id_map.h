/*
 * A hash table from a key of a few integers to a number. Entries are only removed all together.
 *
 * Keys come from untrusted segments and files, so the size is bounded, and the hash has a random seed: an attacker
 * cannot choose keys that collide.
 */
#ifndef RTL_RECORD_ID_MAP_H
#define RTL_RECORD_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rtl_id_map;

enum { RTL_ID_KEY_WORDS = 5 };
struct rtl_id_key {
    uint64_t word[RTL_ID_KEY_WORDS]; /* the first word is the type of object; a text is its hash (shm/hash.h) */
};

struct rtl_id_map *rtl_id_map_new(size_t most); /* NULL without memory */
void rtl_id_map_free(struct rtl_id_map *map);

/* -1 = not found. */
int64_t rtl_id_map_find(struct rtl_id_map *map, const struct rtl_id_key *key);
/* Add a key that is not in the table. False if it is full, or without memory. */
bool rtl_id_map_add(struct rtl_id_map *map, const struct rtl_id_key *key, int64_t number);
void rtl_id_map_clear(struct rtl_id_map *map);
size_t rtl_id_map_count(const struct rtl_id_map *map);

/* Slots visited since the table was created: tests check the length of searches with it. */
uint64_t rtl_id_map_steps(const struct rtl_id_map *map);

#endif
