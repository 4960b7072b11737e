/*
 * Plays a recording into a model: frame by frame, or at any time of the recording. Uses neither a terminal nor a clock.
 *
 * A frame's path: rtl_player_show reads a snapshot with rtl_replay_read (record/replay.h), or that of several processes
 * with rtl_replay_group_read, and adds it to the model with rtl_model_add.
 */
#ifndef RTL_WATCH_PLAYER_H
#define RTL_WATCH_PLAYER_H

#include "model/model.h"
#include "options/options.h"
#include "record/replay.h"
#include "watch/replay_group.h"

struct rtl_player {
    struct rtl_replay *replay;      /* owned; of several processes one of them */
    struct rtl_replay_group *group; /* several processes that were recorded together; or NULL */
    struct rtl_model *model;        /* the caller's; freed before the player is closed */
    pid_t pid;
    char title[160];             /* safe text; of several processes it changes with the frame */
    struct rtl_probe_told probe; /* at this frame; none with several processes */
    char left_out[400];          /* why probes are no longer shown; the caller clears it after reporting it */
    uint32_t at, frames;         /* the model's frame, and their number */
    bool started;
};

/* Opens the recording as rtl_replay_open does. Without `pid` and `recording` it also opens those that were recorded
 * with it. The caller sets the model afterwards. On failure `why` gets one line. */
enum rtl_db_status rtl_player_open(struct rtl_player *player, const char *path, pid_t pid, int64_t recording, char *why,
                                   size_t why_bytes);
/* Makes short names in the recorder's order of kernels, so that they are equal to the recorder's. */
void rtl_player_names(struct rtl_player *player, bool ascii);
/* Marks steps as the command line asks, or else as the recorder's user did, or else as the settings say. */
void rtl_player_mark_step(struct rtl_player *player, const struct rtl_options *options);
void rtl_player_close(struct rtl_player *player);

/* Shows a frame (bounded by the last). After a jump, first reads the frames that its window and trends need. */
enum rtl_db_status rtl_player_show(struct rtl_player *player, uint32_t frame);

/* Adds only this frame (below `frames`) to the model: its interval begins at the frame that was added before. */
enum rtl_db_status rtl_player_skip_to(struct rtl_player *player, uint32_t frame);

const char *rtl_player_why(const struct rtl_player *player);               /* last error, one line, or "" */
uint64_t rtl_player_time(const struct rtl_player *player, uint32_t frame); /* ns since 1970 */
uint32_t rtl_player_find(const struct rtl_player *player,
                         uint64_t time_ns); /* last frame at or before the time, or 0 */

/* Returns the recorded time until the next frame; 0 at the end. */
uint64_t rtl_player_gap(const struct rtl_player *player);

/* Parses a time of a user: "14:02", "14:02:31" (local time, on the day of `now_ns`), "+30", "-5m", "+1h" (relative to
 * `now_ns`). Times are ns since 1970. False for other text. */
bool rtl_parse_seek(const char *text, uint64_t now_ns, uint64_t *to_ns);

#endif
