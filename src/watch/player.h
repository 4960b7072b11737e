/*
 * Plays a recording into a model: the frames that the viewer took, one after another or at a time that is asked for.
 * Knows no terminal and no clock.
 */
#ifndef RTL_WATCH_PLAYER_H
#define RTL_WATCH_PLAYER_H

#include "model/model.h"
#include "record/replay.h"
#include "watch/replay_group.h"

struct rtl_player {
    struct rtl_replay *replay;      /* the player's; of several processes one of them */
    struct rtl_replay_group *group; /* of several that were recorded together; or NULL */
    struct rtl_model *model;        /* the caller's; freed before the player is closed */
    pid_t pid;
    char title[160];             /* safe text; of several it goes with the frame */
    struct rtl_probe_told probe; /* at that frame; of several processes none */
    char left_out[400];          /* why there are none from then on; whoever has told it clears it */
    uint32_t at, frames;         /* the frame that the model shows, of how many */
    bool started;
};

/* Opens what rtl_replay_open finds, and where nothing chooses among several what was recorded with it; `why` gets one
 * line on failure. The model is set later. */
enum rtl_db_status rtl_player_open(struct rtl_player *player, const char *path, pid_t pid, int64_t recording, char *why,
                                   size_t why_bytes);
/* Makes the short names in the order in which the recorder saw the kernels, so that they are the same. */
void rtl_player_names(struct rtl_player *player, bool ascii);
void rtl_player_close(struct rtl_player *player);

/* Brings the model to a frame (bounded). After a jump it has seen as much of the past as its window and trends need. */
enum rtl_db_status rtl_player_show(struct rtl_player *player, uint32_t frame);

const char *rtl_player_why(const struct rtl_player *player);                 /* the last error, one line, or "" */
uint64_t rtl_player_time(const struct rtl_player *player, uint32_t frame);   /* ns since 1970 */
uint32_t rtl_player_find(const struct rtl_player *player, uint64_t time_ns); /* the last frame at or before it, or 0 */
uint64_t rtl_player_interval(const struct rtl_player *player);               /* the recorder's */

/* Until the next frame, as it was recorded; 0 at the end. */
uint64_t rtl_player_gap(const struct rtl_player *player);

/*
 * A time as a user types it: "14:02", "14:02:31" (local time, on the day of `now_ns`), "+30", "-5m", "+1h" (from
 * `now_ns`). Times are ns since 1970. False when it is none of these.
 */
bool rtl_parse_seek(const char *text, uint64_t now_ns, uint64_t *to_ns);

#endif
