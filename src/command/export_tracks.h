/*
 * The tracks of a trace: one for each queue of a GPU, and further ones where its ops overlap. A track shows slices that
 * follow one another.
 */
#ifndef RTL_COMMAND_EXPORT_TRACKS_H
#define RTL_COMMAND_EXPORT_TRACKS_H

#include "command/export.h"

enum {
    RTL_TRACKS_OVERLAP = 64, /* of a queue; what overlaps more is drawn over the last */
    RTL_TRACKS_SHAKE =
        1000, /* ns by which two ops in a row may overlap: host times are made of a line through clocks */
};

struct rtl_track {
    int64_t gpu, queue;
    unsigned number; /* among those of its queue, from 0 */
    bool used;       /* `end` is of the last slice */
    int64_t end;
    size_t next; /* of the queue's: index + 1 */
};

struct rtl_tracks { /* all zero at first */
    struct rtl_track *track;
    size_t count;
    uint32_t room;
    struct rtl_id_map *index; /* GPUs, and the first track of a queue */
};

/* Ops come by start. The index of the first track of the op's queue that is free at that time; SIZE_MAX without memory.
 * A new one is the last of all; `new_gpu`: it is the first one of its GPU. */
size_t rtl_tracks_for(struct rtl_tracks *tracks, const struct rtl_export_op *op, bool *new_track, bool *new_gpu);
void rtl_tracks_free(struct rtl_tracks *tracks);

/* How long a span is that ends at `to`; 0 when it ends before it begins. Never too large. */
uint64_t rtl_span_ns(int64_t from, int64_t to);

#endif
