/*
 * Merges several recordings like living processes (model/merge.h). Frames of one moment have equal times
 * (record/replay.h); here a frame is a moment.
 *
 * The file doesn't have the order in which processes came: of those with the same first moment, the lower pid counts as
 * the first. The group owns the names: free snapshots first.
 */
#ifndef RTL_WATCH_REPLAY_GROUP_H
#define RTL_WATCH_REPLAY_GROUP_H

#include "record/replay.h"

struct rtl_replay_group;
struct rtl_replay_moment {
    uint64_t time_ns, mono_ns; /* since 1970; CLOCK_MONOTONIC of the recorder */
};

/* Opens the recordings that were made together with this one. If there are fewer than two, *group is NULL. On failure
 * `why` gets one line. */
enum rtl_db_status rtl_replay_group_open(const char *path, struct rtl_replay *replay, struct rtl_replay_group **group,
                                         char *why, size_t why_bytes);
void rtl_replay_group_close(struct rtl_replay_group *group); /* NULL is allowed */

uint32_t rtl_replay_group_frames(const struct rtl_replay_group *group);
struct rtl_replay_moment rtl_replay_group_moment(const struct rtl_replay_group *group, uint32_t frame);
pid_t rtl_replay_group_pid(const struct rtl_replay_group *group);                    /* of the first process */
int64_t rtl_replay_group_recording(const struct rtl_replay_group *group, pid_t pid); /* of the process; 0 = none */
const char *rtl_replay_group_why(const struct rtl_replay_group *group);

/* Like rtl_replay_read, merged up to that moment. `exited`: all processes have ended. */
enum rtl_db_status rtl_replay_group_read(struct rtl_replay_group *group, uint32_t frame, struct rtl_snapshot *snapshot,
                                         bool *exited);
/* Writes the title at the last read frame, like rtl_process_set_title. Safe text. */
void rtl_replay_group_title(const struct rtl_replay_group *group, char *out, size_t size);

#endif
