/* The sums of the frames that a replay has read. Only replay*.c use them. */
#ifndef RTL_RECORD_REPLAY_PRIVATE_H
#define RTL_RECORD_REPLAY_PRIVATE_H

#include "record/recorded_histogram.h"

/* --- replay_calls.c: HIP calls and ranges --- */

/* Bounds of numbers in a file: those of a segment. */
enum {
    RTL_REPLAY_CALLS_MAX = RTL_HIP_API_ROWS,
    RTL_REPLAY_NODES_MAX = RTL_HIP_API_NODES,
    RTL_REPLAY_PAIRS_MAX = RTL_HIP_API_PAIRS
};

/* Histograms by node, then kernel id; ascending. */
struct rtl_replay_histograms {
    struct rtl_replay_histogram *list;
    uint32_t count, room;
};

struct rtl_replay_calls {
    struct rtl_db *db;
    uint64_t pid; /* owner of the memory */
    bool any;     /* the frame has calls */
    /* all names of the recording, in the order of snapshots; *_seen: it has a sample so far */
    uint32_t known_calls, known_nodes;
    struct rtl_hip_api_row_snapshot *calls;
    struct rtl_hip_api_snapshot nodes; /* uses `nodes` only */
    bool call_seen[RTL_REPLAY_CALLS_MAX], node_seen[RTL_REPLAY_NODES_MAX];
    uint32_t call_index[RTL_REPLAY_CALLS_MAX], node_index[RTL_REPLAY_NODES_MAX]; /* by number in the file: index + 1 */
    struct rtl_replay_histograms launches, pairs;                                /* launches: of node 0 */
    struct rtl_hip_api_memory_snapshot memory[RTL_HIP_API_PLACES];
    bool memory_seen[RTL_HIP_API_PLACES];
    struct rtl_hip_api_snapshot values; /* the frame's own values */
    struct rtl_hip_api_snapshot view;   /* arrays for rtl_replay_calls_view */
    uint32_t view_launches, view_pairs; /* capacity */
};

/* Load the names. Errors are latched in db. */
void rtl_replay_calls_begin(struct rtl_replay_calls *calls, struct rtl_db *db, int64_t recording);
void rtl_replay_calls_end(struct rtl_replay_calls *calls);
/* Replace the sums by a snapshot's (NULL: by nothing). *room: octaves that may still be allocated. */
void rtl_replay_calls_set(struct rtl_replay_calls *calls, const struct rtl_snapshot *from, uint32_t *room);
/* Add a frame. */
void rtl_replay_calls_add(struct rtl_replay_calls *calls, int64_t frame, uint32_t *room);
/* The sums, valid until the next change; NULL without calls or memory. `kernels`: for the kernels' names. */
struct rtl_hip_api_snapshot *rtl_replay_calls_view(struct rtl_replay_calls *calls, const struct rtl_snapshot *kernels);

/* Index of the first kernel of a snapshot whose id is not below `id`. */
uint32_t rtl_replay_kernel_index(const struct rtl_snapshot *snapshot, int64_t id);

/* --- replay_state.c: a snapshot whose arrays can grow --- */

struct rtl_replay_state {
    struct rtl_db *db;
    int64_t recording;
    struct rtl_snapshot snapshot; /* `storage` is unused: each histogram owns its octaves */
    uint32_t kernel_size;         /* capacity of `kernels`; the other arrays have their maximum size */
    uint32_t room, room_most;     /* octaves that may still be allocated; at the start */
    bool gaps, observed;          /* the file has the tables of gaps; of estimates */
    struct rtl_replay_calls calls_sum;
    bool complete; /* also holds the frame's own values */
    char *names[RTL_KERNELS_MAX];
    size_t name_lengths[RTL_KERNELS_MAX];
    uint16_t order[RTL_KERNELS_MAX]; /* kernels with a name, in the order of first sight */
    uint32_t name_count;
    struct rtl_agent_snapshot agents[RTL_AGENTS_MAX]; /* by number; valid where `described` */
    bool described[RTL_AGENTS_MAX];
};

/* Load names and GPUs; the recording's constants in `snapshot` stay. Errors of all functions are latched in db. */
void rtl_replay_state_begin(struct rtl_replay_state *state, struct rtl_db *db, int64_t recording);
void rtl_replay_state_end(struct rtl_replay_state *state);

/* Replace the sum by a snapshot (NULL: by nothing). */
void rtl_replay_state_set(struct rtl_replay_state *state, const struct rtl_snapshot *from);
/* Add a frame. */
void rtl_replay_state_add(struct rtl_replay_state *state, int64_t frame, bool *exited);
/* Read only the frame's own values, not its kernels, queues and GPUs. */
void rtl_replay_state_frame(struct rtl_replay_state *state, int64_t frame, bool *exited);
/* Limit the memory to the share of one of `count` states. Call this before the first frame. */
void rtl_replay_state_share(struct rtl_replay_state *state, uint32_t count);
uint64_t rtl_replay_state_bytes(const struct rtl_replay_state *state); /* approximate size of a copy */

#endif
