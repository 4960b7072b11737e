/*
 * Which recordings of a file were made together: a recorder of several processes writes a frame of each, at a moment,
 * with the same times. See replay.h.
 */
#include "record/replay.h"
#include "record/replay_private.h"

#include <stdio.h>
#include <stdlib.h>

enum { RECORDINGS_MAX = 4096 }; /* of one kind that are looked at: the newest */

/* Recordings, and for each one that it belongs to; itself, or one before it. */
struct sets {
    int64_t id[RECORDINGS_MAX];
    uint32_t with[RECORDINGS_MAX], count;
};

static uint32_t root_of(struct sets *sets, uint32_t at)
{
    while (sets->with[at] != at)
        at = sets->with[at] = sets->with[sets->with[at]];
    return at;
}

static void unite(struct sets *sets, uint32_t a, uint32_t b)
{
    a = root_of(sets, a);
    b = root_of(sets, b);
    if (a < b)
        sets->with[b] = a;
    else
        sets->with[a] = b;
}

static int find(const struct sets *sets, int64_t id)
{
    uint32_t low = 0, high = sets->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sets->id[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sets->count && sets->id[low] == id ? (int)low : -1;
}

static void load(struct rtl_replay *r, struct sets *sets)
{
    struct rtl_db_statement *st = rtl_db_prepare(
        r->db,
        "SELECT id FROM (SELECT id FROM rtl_recording WHERE kind = (SELECT kind FROM rtl_recording WHERE id = ?) "
        "ORDER BY id DESC LIMIT ?) ORDER BY id");
    rtl_db_bind_int(st, 1, r->info.id);
    rtl_db_bind_int(st, 2, RECORDINGS_MAX);
    while (rtl_db_step(st) && sets->count < RECORDINGS_MAX) {
        sets->with[sets->count] = sets->count;
        sets->id[sets->count++] = rtl_db_int(st, 0);
    }
    rtl_db_reset(st);
}

static void unite_frames(struct rtl_replay *r, struct sets *sets)
{
    struct rtl_db_statement *st =
        rtl_db_prepare(r->db, "SELECT time_ns, mono_ns, recording FROM rtl_frame WHERE recording >= ? "
                              "ORDER BY time_ns, mono_ns");
    int64_t time = 0, mono = 0;
    int last = -1;
    rtl_db_bind_int(st, 1, sets->id[0]);
    while (rtl_db_step(st)) {
        int at = find(sets, rtl_db_int(st, 2));
        if (at < 0)
            continue;
        if (last >= 0 && rtl_db_int(st, 0) == time && rtl_db_int(st, 1) == mono)
            unite(sets, (uint32_t)at, (uint32_t)last);
        time = rtl_db_int(st, 0);
        mono = rtl_db_int(st, 1);
        last = at;
    }
}

enum rtl_db_status rtl_replay_companions(struct rtl_replay *r, int64_t **recordings, uint32_t *count)
{
    struct sets *sets = calloc(1, sizeof *sets);
    *count = 0;
    *recordings = calloc(RECORDINGS_MAX, sizeof **recordings);
    if (!sets || !*recordings) {
        rtl_db_fail(r->db, RTL_DB_FAILED, "out of memory");
    } else {
        load(r, sets);
        if (sets->count > 1)
            unite_frames(r, sets);
        int own = find(sets, r->info.id);
        for (uint32_t i = 0; own >= 0 && i < sets->count; i++)
            if (root_of(sets, i) == root_of(sets, (uint32_t)own))
                (*recordings)[(*count)++] = sets->id[i];
    }
    free(sets);
    return rtl_db_status(r->db);
}
