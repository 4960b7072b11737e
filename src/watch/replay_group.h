/*
 * Several recorded processes as one, as they were watched: frames of one moment have equal times (record/replay.h), and
 * are merged by what merges living ones (model/merge.h).
 *
 * The order in which processes came is not in a file: of those that begin at the same moment the lower pid is taken for
 * the first. Frames here are moments. Ownership as with a replay: it owns the names; free snapshots first.
 */
#ifndef RTL_WATCH_REPLAY_GROUP_H
#define RTL_WATCH_REPLAY_GROUP_H

#include "record/replay.h"

struct rtl_replay_group;

/* The recordings that were made with this one, at least two: else *group is NULL. On failure `why` gets one line. */
enum rtl_db_status rtl_replay_group_open(const char *path, struct rtl_replay *replay, struct rtl_replay_group **group,
                                         char *why, size_t why_bytes);
void rtl_replay_group_close(struct rtl_replay_group *group); /* NULL is nothing */

uint32_t rtl_replay_group_frames(const struct rtl_replay_group *group);
uint64_t rtl_replay_group_time(const struct rtl_replay_group *group, uint32_t frame);
uint64_t rtl_replay_group_mono(const struct rtl_replay_group *group, uint32_t frame);
pid_t rtl_replay_group_pid(const struct rtl_replay_group *group);                    /* the first one's */
int64_t rtl_replay_group_recording(const struct rtl_replay_group *group, pid_t pid); /* of that process; 0 = none */
const char *rtl_replay_group_why(const struct rtl_replay_group *group);

/* As rtl_replay_read, of all that had come by then. `exited`: all had ended. */
enum rtl_db_status rtl_replay_group_read(struct rtl_replay_group *group, uint32_t frame, struct rtl_snapshot *snapshot,
                                         bool *exited);
/* At the frame that was read last, as a living group's (targets.h). Safe text. */
void rtl_replay_group_title(const struct rtl_replay_group *group, char *out, size_t size);

#endif
