/* The sum of the frames read so far: a snapshot whose arrays can grow. Only replay.c uses it. */
#ifndef RTL_RECORD_REPLAY_STATE_H
#define RTL_RECORD_REPLAY_STATE_H

#include "record/replay_calls.h"

struct rtl_replay_state {
    struct rtl_db *db;
    int64_t recording;
    struct rtl_snapshot snapshot;         /* `storage` is unused: each histogram owns its octaves */
    uint32_t kernel_size;                 /* capacity of `kernels`; the other arrays have their maximum size */
    uint32_t room, room_most;             /* octaves that may still be allocated; at the start */
    bool copies, paths, errors, observed; /* the file has their tables */
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
