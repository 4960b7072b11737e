/* What a replay has added up: a snapshot whose parts grow, each allocated for itself. Only the replay uses it. */
#ifndef RTL_RECORD_REPLAY_STATE_H
#define RTL_RECORD_REPLAY_STATE_H

#include "record/replay_calls.h"

struct rtl_replay_state {
    struct rtl_db *db;
    int64_t recording;
    struct rtl_snapshot snapshot; /* storage is not used: octaves are malloc'ed one histogram each */
    uint32_t kernel_size;         /* room in its arrays; queues and agents have room for all */
    uint32_t room, room_most;     /* octaves that may still be added; of how many */
    bool copies, ways, observed;  /* the file has their tables */
    struct rtl_replay_calls calls_sum;
    bool whole; /* holds the values of its frame, too */
    char *names[RTL_KERNELS_MAX];
    size_t name_lengths[RTL_KERNELS_MAX];
    uint16_t order[RTL_KERNELS_MAX]; /* those that have a name, in the order of their first sight */
    uint32_t name_count;
    struct rtl_agent_snapshot agents[RTL_AGENTS_MAX]; /* described ones, by number; name "" = not described */
    bool described[RTL_AGENTS_MAX];
};

/* Loads names and GPUs; the values of the recording stay as they were set in `snapshot`. Errors are latched in db. */
void rtl_replay_state_begin(struct rtl_replay_state *state, struct rtl_db *db, int64_t recording);
void rtl_replay_state_end(struct rtl_replay_state *state);

/* Starts over from a snapshot (NULL: from nothing). */
void rtl_replay_state_set(struct rtl_replay_state *state, const struct rtl_snapshot *from);
/* Adds a frame. Errors are latched in the database. */
void rtl_replay_state_add(struct rtl_replay_state *state, int64_t frame, bool *exited);
/* Only what is the frame's own, not its kernels, queues and GPUs. */
void rtl_replay_state_frame(struct rtl_replay_state *state, int64_t frame, bool *exited);
/* Of `count` states that are kept at a time this is one; before the first frame. */
void rtl_replay_state_share(struct rtl_replay_state *state, uint32_t count);
uint64_t rtl_replay_state_bytes(const struct rtl_replay_state *state); /* of a copy, about */

/* Printable ASCII only, terminated. */
void rtl_replay_printable(char *to, size_t bytes, const char *from);

#endif
