/* What a replay has added up of calls and ranges (calls_schema.h). Only the replay's state uses it. */
#ifndef RTL_RECORD_REPLAY_CALLS_H
#define RTL_RECORD_REPLAY_CALLS_H

#include "record/calls_schema.h"

/* Bounds of numbers in a file, which are what a segment may have. */
enum {
    RTL_REPLAY_CALLS_MAX = RTL_HIP_API_ROWS,
    RTL_REPLAY_NODES_MAX = RTL_HIP_API_NODES,
    RTL_REPLAY_PAIRS_MAX = RTL_HIP_API_PAIRS
};

struct rtl_replay_calls {
    struct rtl_db *db;
    uint64_t pid; /* memory is this process's */
    bool any;     /* the frame has calls */
    /* all that the recording names, in the order of snapshots; those without a sample so far are not there */
    uint32_t known_calls, known_nodes, launch_count, launch_room;
    struct rtl_hip_api_row_snapshot *calls;
    struct rtl_hip_api_snapshot nodes; /* its nodes are these */
    bool *call_there, *node_there;
    uint32_t *call_place, *node_place;  /* by number: where above, + 1 */
    struct rtl_replay_launch *launches; /* by kernel */
    bool has_pairs;                     /* the file has a table of them */
    uint32_t pair_count, pair_room;
    struct rtl_replay_pair *pairs; /* by place of the node, then kernel */
    struct rtl_hip_api_memory_snapshot memory[RTL_HIP_API_PLACES];
    bool memory_there[RTL_HIP_API_PLACES];
    struct rtl_hip_api_snapshot values; /* the frame's own */
    struct rtl_hip_api_snapshot view;   /* what a snapshot is made of */
};

/* Loads the names. Errors are latched in db. */
void rtl_replay_calls_begin(struct rtl_replay_calls *calls, struct rtl_db *db, int64_t recording);
void rtl_replay_calls_end(struct rtl_replay_calls *calls);
/* Starts over from a snapshot's (NULL: from nothing); kernels are the snapshot's, too. */
void rtl_replay_calls_set(struct rtl_replay_calls *calls, const struct rtl_snapshot *from, uint32_t *room);
/* Adds a frame. */
void rtl_replay_calls_add(struct rtl_replay_calls *calls, int64_t frame, uint32_t *room);
/* As they are now, until the next change; NULL where there are none, or without memory. */
struct rtl_hip_api_snapshot *rtl_replay_calls_view(struct rtl_replay_calls *calls, const struct rtl_snapshot *kernels);

#endif
