/* The tracks of a trace: one per queue of a GPU, and additional ones for overlapping ops. The slices of a track follow
 * one another. */
#ifndef RTL_COMMAND_EXPORT_TRACKS_H
#define RTL_COMMAND_EXPORT_TRACKS_H

#include "command/export.h"

enum {
    RTL_TRACKS_OVERLAP = 64, /* tracks of a queue; further overlapping ops go to the last */
    RTL_TRACKS_SHAKE =
        1000, /* ns by which successive ops may seem to overlap: host times are interpolated between clock samples */
};

struct rtl_track {
    int64_t gpu, queue;
    unsigned number; /* from 0 among the tracks of its queue */
    bool used;       /* `end` is the end of the last slice */
    int64_t end;
    size_t next; /* next track of the queue: index + 1; 0 = none */
};

struct rtl_tracks { /* zero-initialise it */
    struct rtl_track *track;
    size_t count;
    uint32_t room;
    struct rtl_id_map *index; /* GPUs, and the first track of each queue */
};

/* Returns the index of the queue's first free track at the op's start; SIZE_MAX without memory. Pass ops by start. A
 * new track is the last one; `new_gpu`: it is the first of its GPU. */
size_t rtl_tracks_for(struct rtl_tracks *tracks, const struct rtl_export_op *op, bool *new_track, bool *new_gpu);
void rtl_tracks_free(struct rtl_tracks *tracks);

/* Returns to - from, 0 if negative. Does not overflow. */
uint64_t rtl_span_ns(int64_t from, int64_t to);

#endif
