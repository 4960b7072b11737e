/* Histograms of a replay. See replay_histogram.h. */
#include "record/replay_histogram.h"
#include "record/buckets.h"

#include <stdlib.h>
#include <string.h>

void rtl_replay_damaged(struct rtl_db *db, const char *what)
{
    rtl_db_fail(db, RTL_DB_CORRUPT, "%s is damaged: %s", rtl_db_path(db), what);
}

void rtl_replay_no_memory(struct rtl_db *db)
{
    rtl_db_fail(db, RTL_DB_FAILED, "out of memory");
}

int rtl_replay_take_histogram(struct rtl_db *db, struct rtl_db_statement *st, int at, struct rtl_histogram_copy *h,
                              uint32_t *room)
{
    at = rtl_fields_take(st, at, rtl_histogram_fields, RTL_HISTOGRAM_FIELD_COUNT, h);
    if (!rtl_buckets_add(h, rtl_db_text(st, at, NULL), room) || !rtl_coarse_add(h, rtl_db_text(st, at + 1, NULL)))
        rtl_replay_damaged(db, "a histogram is not one");
    return at + 2;
}

void rtl_replay_own_histogram(struct rtl_db *db, struct rtl_histogram_copy *h, uint32_t *room)
{
    const struct rtl_octave *octaves = h->octaves;
    const uint64_t *coarse = h->coarse;
    h->octaves = NULL;
    h->coarse = NULL;
    if (h->octave_count && !(h->octaves = malloc(h->octave_count * sizeof *octaves)))
        h->octave_count = 0, rtl_replay_no_memory(db);
    if (h->octaves)
        memcpy(h->octaves, octaves, h->octave_count * sizeof *octaves);
    *room -= h->octave_count < *room ? h->octave_count : *room;
    if (coarse && !(h->coarse = malloc(RTL_OCTAVES_MAX * sizeof *coarse)))
        rtl_replay_no_memory(db);
    if (h->coarse)
        memcpy(h->coarse, coarse, RTL_OCTAVES_MAX * sizeof *coarse);
}

void rtl_replay_free_histogram(struct rtl_histogram_copy *h)
{
    free(h->octaves);
    free(h->coarse);
    *h = (struct rtl_histogram_copy){0};
}
