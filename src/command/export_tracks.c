/* Chooses the track of an op. See export_tracks.h. */
#include "command/export_tracks.h"
#include "base/array.h"

#include <stdlib.h>

enum { QUEUE = 1, GPU };

uint64_t rtl_span_ns(int64_t from, int64_t to)
{
    return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

static bool is_free(const struct rtl_track *track, const struct rtl_export_op *op)
{
    uint64_t over = track->used ? rtl_span_ns(op->start, track->end) : 0;
    return !over || (over <= RTL_TRACKS_SHAKE && over < rtl_span_ns(op->start, op->end));
}

size_t rtl_tracks_for(struct rtl_tracks *t, const struct rtl_export_op *op, bool *new_track, bool *new_gpu)
{
    struct rtl_track *last = NULL;
    *new_track = *new_gpu = false;
    const struct rtl_id_key queue = {{QUEUE, (uint64_t)op->gpu, (uint64_t)op->queue}}, gpu = {{GPU, (uint64_t)op->gpu}};
    if (!t->index && !(t->index = rtl_id_map_new(SIZE_MAX)))
        return SIZE_MAX;
    for (size_t next = (size_t)(rtl_id_map_find(t->index, &queue) + 1); next; next = last->next) {
        last = &t->track[next - 1];
        if (is_free(last, op))
            return next - 1;
    }
    if (last && last->number + 1 >= RTL_TRACKS_OVERLAP)
        return (size_t)(last - t->track);
    size_t before = last ? (size_t)(last - t->track) : 0, at = t->count;
    bool first = !last;
    if (!rtl_grow(&t->track, &t->room, t->count + 1, sizeof *t->track) ||
        (first && !rtl_id_map_add(t->index, &queue, (int64_t)at)))
        return SIZE_MAX;
    *new_gpu = rtl_id_map_find(t->index, &gpu) < 0;
    if (*new_gpu && !rtl_id_map_add(t->index, &gpu, 0))
        return SIZE_MAX;
    t->track[at] = (struct rtl_track){.gpu = op->gpu, .queue = op->queue};
    if (!first) {
        t->track[at].number = t->track[before].number + 1;
        t->track[before].next = at + 1;
    }
    t->count++;
    *new_track = true;
    return at;
}

void rtl_tracks_free(struct rtl_tracks *t)
{
    free(t->track);
    rtl_id_map_free(t->index);
}
