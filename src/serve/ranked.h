/*
 * Ranked series: only the `most` series with the most time are shown; all others count in one series "(other)". No
 * counter ever decreases: while a series is shown its growth is added to its own counter, otherwise to "(other)", and a
 * series that is shown again continues its counter. A series that is neither shown nor held is removed; its counter is
 * added to the series "(ended)". Pure but for memory.
 */
#ifndef RTL_SERVE_RANKED_H
#define RTL_SERVE_RANKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/id_map.h"
#include "serve/prom_buckets.h"

enum {
    RTL_SERIES_MAX = 16384,         /* distinct series, shown or not; later ones count as "(other)" */
    RTL_SERIES_TEXT_MAX = 16 << 20, /* bytes of all names */
    RTL_SERIES_TEXT_EACH = RTL_SERIES_TEXT_MAX / RTL_SERIES_MAX, /* keeps long names from using the room of others */
    RTL_SERIES_SHOWN_MAX = 1000,                                 /* limit of the option --kernels */
};
#define RTL_SERIES_OTHER UINT32_MAX
#define RTL_OTHER_LABEL  "(other)"
#define RTL_ENDED_LABEL  "(ended)"

struct rtl_tally {
    uint64_t calls, errors;
    struct rtl_prom_buckets times;
};
void rtl_tally_add(struct rtl_tally *to, const struct rtl_tally *more);

struct rtl_series {
    uint64_t hash;      /* identity: of name and kind; colliding series count as one */
    char *name;         /* NULL: unused entry */
    uint32_t next_free; /* of an unused entry */
    size_t length;
    unsigned kind;
    bool shown;
    uint32_t holders;              /* see rtl_ranked_hold */
    uint32_t owner;                /* the user who added it, if counted; see rtl_ranked_count_owned */
    uint64_t found;                /* time of the frame before the last rtl_ranked_find */
    uint64_t recent;               /* its time, halved at each ranking */
    struct rtl_tally *own, *frame; /* shown counter; growth since rtl_ranked_settle. NULL: zero */
};

struct rtl_ranked {
    struct rtl_series *series;
    uint32_t count, room, shown, most; /* count: entries, some may be unused */
    struct rtl_id_map *table;          /* numbers by hash; NULL while empty */
    uint32_t free, free_count;         /* unused entries: the first one, and their number */
    size_t text;
    uint64_t keep_ns; /* how long a series without holders is kept */
    uint64_t now_ns;  /* of the last frame */
    uint64_t next_ns; /* next ranking */
    struct rtl_tally other, ended;
};

/* `most`: number of shown series. */
void rtl_ranked_init(struct rtl_ranked *ranked, uint32_t most, uint64_t keep_ns);
void rtl_ranked_free(struct rtl_ranked *ranked);

/* Find a series or, unless `added` is NULL, add it (*added = true). The number is valid while the series is held or
 * shown, and until the frame is settled. RTL_SERIES_OTHER if not found, without room or memory. */
uint32_t rtl_ranked_find(struct rtl_ranked *ranked, const char *name, size_t length, unsigned kind, bool *added);
/* Keep a series until it is released; RTL_SERIES_OTHER is allowed. */
void rtl_ranked_hold(struct rtl_ranked *ranked, uint32_t number);
void rtl_ranked_release(struct rtl_ranked *ranked, uint32_t number);
/* Return the counter of the current frame. */
struct rtl_tally *rtl_ranked_tally(struct rtl_ranked *ranked, uint32_t number);
uint32_t rtl_ranked_living(const struct rtl_ranked *ranked); /* number of series */
uint32_t rtl_ranked_count_owned(const struct rtl_ranked *ranked, uint32_t owner);

/* End a frame: choose the shown series, then add the frame's counters. Calls `forget` (or NULL) for each removed
 * series. */
typedef void rtl_ranked_forget(void *context, uint32_t number);
void rtl_ranked_settle(struct rtl_ranked *ranked, uint64_t now_ns, rtl_ranked_forget *forget, void *context);

#endif
