/*
 * Series of which only so many are shown: those that took the most time; all others are one, called "(other)". What is
 * counted never goes back: a series that is shown counts for itself from then on, one that isn't counts for the others,
 * and when it is shown again it goes on from where it was. Pure but for memory.
 */
#ifndef RTL_SERVE_RANKED_H
#define RTL_SERVE_RANKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/classes.h"

enum {
    RTL_SERIES_MAX = 16384,         /* that are told apart, shown or not; those that come later are among the others */
    RTL_SERIES_TEXT_MAX = 16 << 20, /* bytes of all their names */
    RTL_SERIES_SHOWN_MAX = 1000,    /* what a user may ask for */
};
#define RTL_SERIES_OTHER UINT32_MAX
#define RTL_OTHER_LABEL  "(other)"

struct rtl_tally {
    uint64_t calls, errors;
    struct rtl_classes times;
};

struct rtl_series {
    uint64_t hash; /* of name and kind: what it is known by. Two that meet are counted as one */
    char *name;
    size_t length;
    unsigned kind;
    bool shown;
    uint64_t recent;             /* what it took, older time counting half after each ranking */
    struct rtl_tally own, frame; /* what is shown; what has come since rtl_ranked_settle */
};

struct rtl_ranked {
    struct rtl_series *series;
    uint32_t count, room, shown, most;
    uint32_t *table, table_size; /* numbers + 1 by hash; a power of two */
    size_t text;
    uint64_t next_ns; /* when shown series may give way */
    struct rtl_tally other;
};

/* `most`: how many are shown. */
void rtl_ranked_init(struct rtl_ranked *ranked, uint32_t most);
void rtl_ranked_free(struct rtl_ranked *ranked);

/* The number of a series, which stays; RTL_SERIES_OTHER when there is no room or no memory. */
uint32_t rtl_ranked_find(struct rtl_ranked *ranked, const char *name, size_t length, unsigned kind);
/* Where it counts until the frame is settled. */
struct rtl_tally *rtl_ranked_tally(struct rtl_ranked *ranked, uint32_t number);

/* A frame is whole: says who is shown, and counts it. */
void rtl_ranked_settle(struct rtl_ranked *ranked, uint64_t now_ns);

#endif
