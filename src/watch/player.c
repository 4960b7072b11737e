/* Reads the frames of a recording into a model. See player.h. */
#include "watch/player.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum rtl_db_status rtl_player_open(struct rtl_player *player, const char *path, pid_t pid, int64_t recording, char *why,
                                   size_t why_bytes)
{
    memset(player, 0, sizeof *player);
    enum rtl_db_status status = rtl_replay_open(path, pid, recording, &player->replay, why, why_bytes);
    if (status)
        return status;
    const struct rtl_replay_info *info = rtl_replay_info(player->replay);
    player->frames = info->frames;
    player->pid = info->pid;
    rtl_text_escape(player->title, sizeof player->title, info->title, strlen(info->title));
    if (!pid && !recording)
        status = rtl_replay_group_open(path, player->replay, &player->group, why, why_bytes);
    if (player->group) {
        player->frames = rtl_replay_group_frames(player->group);
        player->pid = rtl_replay_group_pid(player->group);
    }
    if (status)
        rtl_player_close(player);
    return status;
}

const char *rtl_player_why(const struct rtl_player *player)
{
    return player->group ? rtl_replay_group_why(player->group) : rtl_replay_why(player->replay);
}

static struct rtl_replay_moment frame_moment(const struct rtl_player *player, uint32_t frame)
{
    if (player->group)
        return rtl_replay_group_moment(player->group, frame);
    return (struct rtl_replay_moment){rtl_replay_time(player->replay, frame), rtl_replay_mono(player->replay, frame)};
}

uint64_t rtl_player_time(const struct rtl_player *player, uint32_t frame)
{
    return frame_moment(player, frame).time_ns;
}

uint32_t rtl_player_find(const struct rtl_player *player, uint64_t time_ns)
{
    uint32_t low = 0, high = player->frames;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rtl_player_time(player, middle) <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

void rtl_player_names(struct rtl_player *player, bool ascii)
{
    const char *name;
    size_t length;
    uint32_t id;
    if (player->group) /* the recorder named kernels per process */
        return;
    for (uint32_t n = 0; rtl_replay_kernel(player->replay, n, &id, &name, &length); n++)
        rtl_names_cell(player->model->names, id, name, length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, ascii);
}

void rtl_player_mark_step(struct rtl_player *player, const struct rtl_options *options)
{
    const char *step = rtl_option_asked(options, RTL_OPTION_STEP) ? NULL : rtl_replay_info(player->replay)->step;
    rtl_model_mark_step(player->model, step ? step : options->step); /* without memory steps are chosen automatically */
}

void rtl_player_close(struct rtl_player *player)
{
    rtl_replay_group_close(player->group);
    rtl_replay_close(player->replay);
    player->group = NULL;
    player->replay = NULL;
}

/* Add a frame to the model: the requested one, or one of the past that its window and trends need. */
static enum rtl_db_status add_frame(struct rtl_player *player, uint32_t frame, bool requested)
{
    struct rtl_snapshot snapshot;
    bool exited = false;
    enum rtl_db_status status = player->group ? rtl_replay_group_read(player->group, frame, &snapshot, &exited)
                                              : rtl_replay_read(player->replay, frame, &snapshot, &exited);
    if (status)
        return status;
    if (requested && !player->group && (status = rtl_replay_probe(player->replay, frame, &player->probe))) {
        if (status == RTL_DB_STOPPED) {
            rtl_snapshot_free(&snapshot);
            return status;
        }
        player->probe = (struct rtl_probe_told){0};
        snprintf(player->left_out, sizeof player->left_out, "shown without probes: %s", rtl_replay_why(player->replay));
        rtl_replay_leave_probes(player->replay);
    }
    if (player->group)
        rtl_replay_group_title(player->group, player->title, sizeof player->title);
    uint64_t time_ns = rtl_player_time(player, frame);
    bool added = requested ? rtl_model_add(player->model, &snapshot, time_ns)
                           : rtl_model_add_past(player->model, &snapshot, time_ns);
    if (exited)
        rtl_model_exited(player->model);
    player->at = frame;
    player->started = true;
    return added ? RTL_DB_OK : RTL_DB_FAILED;
}

/* Returns the first frame that the view of `frame` depends on: trends go back RTL_MODEL_HISTORY intervals, the window
 * and the window before it go back twice its length. */
static uint32_t first_needed_frame(const struct rtl_player *player, uint32_t frame)
{
    uint64_t now = frame_moment(player, frame).mono_ns, window = player->model->window_ns;
    uint64_t span = window == RTL_WINDOW_ALL || window == RTL_WINDOW_INTERVAL ? 0 : 2 * window + window / 2;
    uint32_t from = frame;
    while (from && (frame - from <= RTL_MODEL_HISTORY || now - frame_moment(player, from).mono_ns <= span))
        from--;
    return from;
}

enum rtl_db_status rtl_player_show(struct rtl_player *player, uint32_t frame)
{
    if (frame >= player->frames)
        frame = player->frames - 1;
    if (player->started && frame == player->at)
        return RTL_DB_OK;
    uint32_t from = frame;
    if (!player->started || frame < player->at || frame - player->at > 1) {
        from = first_needed_frame(player, frame);
        if (player->started && player->at < frame && player->at >= from)
            from = player->at + 1; /* the model already has the frames before */
        else
            rtl_model_forget(player->model, frame_moment(player, frame).mono_ns);
    }
    enum rtl_db_status status = RTL_DB_OK;
    for (; from <= frame && !status; from++)
        status = add_frame(player, from, from == frame);
    return status;
}

enum rtl_db_status rtl_player_skip_to(struct rtl_player *player, uint32_t frame)
{
    return add_frame(player, frame, true);
}

uint64_t rtl_player_gap(const struct rtl_player *player)
{
    if (player->at + 1 >= player->frames)
        return 0;
    return frame_moment(player, player->at + 1).mono_ns - frame_moment(player, player->at).mono_ns;
}

bool rtl_parse_seek(const char *text, uint64_t now_ns, uint64_t *to_ns)
{
    char *end;
    if (*text == '+' || *text == '-') {
        if (text[1] < '0' || text[1] > '9')
            return false;
        double value = strtod(text + 1, &end) * (!strcmp(end, "h") ? 3600e9 : !strcmp(end, "m") ? 60e9 : 1e9);
        if ((*end && strcmp(end, "s") && strcmp(end, "m") && strcmp(end, "h")) || !(value < 1e18))
            return false;
        uint64_t by = (uint64_t)value;
        *to_ns = *text == '+' ? now_ns + by : now_ns > by ? now_ns - by : 0;
        return true;
    }
    unsigned hour, minute, second = 0;
    int used = 0, more = 0;
    if (sscanf(text, "%2u:%2u%n", &hour, &minute, &used) != 2 || !used || *text < '0' || *text > '9')
        return false;
    if (text[used] == ':' && sscanf(text + used, ":%2u%n", &second, &more) == 1)
        used += more;
    time_t now = (time_t)(now_ns / RTL_SEC);
    struct tm local;
    if (text[used] || hour > 23 || minute > 59 || second > 59 || !localtime_r(&now, &local))
        return false;
    local.tm_hour = (int)hour;
    local.tm_min = (int)minute;
    local.tm_sec = (int)second;
    local.tm_isdst = -1;
    time_t to = mktime(&local);
    if (to < 0)
        return false;
    *to_ns = (uint64_t)to * RTL_SEC + RTL_SEC - 1; /* the end of that second */
    return true;
}
