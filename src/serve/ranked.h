/*
 * Series of which only so many are shown: those that took the most time; all others are one, called "(other)". What is
 * counted never goes back: a series that is shown counts for itself from then on, one that isn't counts for the others,
 * and when it is shown again it goes on from where it was. One that isn't shown and that nobody has any more is
 * forgotten, and what it counted for itself goes into one that is called "(ended)". Pure but for memory.
 */
#ifndef RTL_SERVE_RANKED_H
#define RTL_SERVE_RANKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/prom_buckets.h"

enum {
    RTL_SERIES_MAX = 16384,         /* that are told apart, shown or not; those that come later are among the others */
    RTL_SERIES_TEXT_MAX = 16 << 20, /* bytes of all their names */
    RTL_SERIES_TEXT_EACH = RTL_SERIES_TEXT_MAX / RTL_SERIES_MAX, /* so that names without end leave others room, too */
    RTL_SERIES_SHOWN_MAX = 1000,                                 /* what a user may ask for */
};
#define RTL_SERIES_OTHER UINT32_MAX
#define RTL_OTHER_LABEL  "(other)"
#define RTL_ENDED_LABEL  "(ended)"

struct rtl_tally {
    uint64_t calls, errors;
    struct rtl_prom_buckets times;
};

struct rtl_series {
    uint64_t hash; /* of name and kind: what it is known by. Two that meet are counted as one */
    char *name;    /* NULL: the place is free */
    size_t length;
    unsigned kind;
    bool shown;
    uint32_t users;                /* who hold it; see rtl_ranked_hold */
    uint32_t by;                   /* who brought it, where that is counted; see rtl_ranked_brought */
    uint64_t found;                /* when it was last asked for: the time of the frame before that */
    uint64_t recent;               /* what it took, older time counting half after each ranking */
    struct rtl_tally *own, *frame; /* what is shown; what has come since rtl_ranked_settle. NULL: nothing */
};

struct rtl_ranked {
    struct rtl_series *series;
    uint32_t count, room, shown, most; /* `count`: places, of which some may be free */
    uint32_t *table, table_size;       /* numbers + 1 by hash; a power of two */
    uint32_t *free, free_count;        /* places that are */
    size_t text;
    uint64_t keep_ns; /* so long a series that nobody holds is kept */
    uint64_t now_ns;  /* of the last frame */
    uint64_t next_ns; /* when shown series may give way */
    struct rtl_tally other, ended;
};

/* `most`: how many are shown. */
void rtl_ranked_init(struct rtl_ranked *ranked, uint32_t most, uint64_t keep_ns);
void rtl_ranked_free(struct rtl_ranked *ranked);

/* The number of a series, which stays while it is held or shown, or until the frame is settled; RTL_SERIES_OTHER when
 * there is no room or no memory, or it is a new one and there must be none (`added` NULL). */
uint32_t rtl_ranked_find(struct rtl_ranked *ranked, const char *name, size_t length, unsigned kind, bool *added);
/* Somebody has it, until it is let go of; RTL_SERIES_OTHER may be held, too. */
void rtl_ranked_hold(struct rtl_ranked *ranked, uint32_t number);
void rtl_ranked_let_go(struct rtl_ranked *ranked, uint32_t number);
/* Where it counts until the frame is settled. */
struct rtl_tally *rtl_ranked_tally(struct rtl_ranked *ranked, uint32_t number);
uint32_t rtl_ranked_living(const struct rtl_ranked *ranked);               /* how many there are */
uint32_t rtl_ranked_brought(const struct rtl_ranked *ranked, uint32_t by); /* of those that somebody brought */

/* A frame is whole: says who is shown, and counts it. `forget` is told of each series that is forgotten; or NULL. */
typedef void rtl_ranked_forget(void *context, uint32_t number);
void rtl_ranked_settle(struct rtl_ranked *ranked, uint64_t now_ns, rtl_ranked_forget *forget, void *context);

#endif
