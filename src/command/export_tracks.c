/* Which track an op is drawn on. See export_tracks.h. */
#include "command/export_tracks.h"

#include <stdlib.h>

uint64_t rtl_span_ns(int64_t from, int64_t to)
{
    return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

static bool is_free(const struct rtl_track *track, const struct rtl_export_op *op)
{
    uint64_t over = track->used ? rtl_span_ns(op->start, track->end) : 0;
    return !over || (over <= RTL_TRACKS_SHAKE && over < rtl_span_ns(op->start, op->end));
}

static bool make_room(struct rtl_tracks *t)
{
    size_t room = t->room ? 2 * t->room : 64;
    if (t->count < t->room)
        return true;
    struct rtl_track *more = realloc(t->track, room * sizeof *more);
    if (!more)
        return false;
    t->track = more;
    t->room = room;
    return true;
}

size_t rtl_tracks_for(struct rtl_tracks *t, const struct rtl_export_op *op, bool *new_track, bool *new_gpu)
{
    struct rtl_track *last = NULL;
    *new_track = *new_gpu = false;
    for (size_t at = rtl_index_get(&t->queues, op->gpu, op->queue); at; at = last->next) {
        last = &t->track[at - 1];
        if (is_free(last, op))
            return at - 1;
    }
    if (last && last->number + 1 >= RTL_TRACKS_OVERLAP)
        return (size_t)(last - t->track);
    size_t before = last ? (size_t)(last - t->track) : 0, at = t->count;
    bool first = !last;
    if (!make_room(t) || (first && !rtl_index_add(&t->queues, op->gpu, op->queue, at + 1)))
        return SIZE_MAX;
    *new_gpu = !rtl_index_get(&t->gpus, op->gpu, 0);
    if (*new_gpu && !rtl_index_add(&t->gpus, op->gpu, 0, 1))
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
    rtl_index_free(&t->queues);
    rtl_index_free(&t->gpus);
}
