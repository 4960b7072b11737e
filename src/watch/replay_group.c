/* Merges recorded processes moment by moment. See replay_group.h. */
#include "watch/replay_group.h"
#include "model/merge.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_MAX = RTL_MEMBERS_MAX - RTL_MEMBERS_ENDED_MAX - 1 };

struct replay_member {
    struct rtl_replay *replay;
    struct rtl_member_info info;
    uint32_t first;  /* moment of its first frame */
    uint32_t next;   /* its first frame that is not merged yet */
    uint32_t number; /* member in the merge */
    bool ended;
};

struct rtl_replay_group {
    struct replay_member members[GROUP_MAX]; /* in the order of their first frames */
    uint32_t count;
    struct rtl_replay_moment *moments;
    uint32_t moment_count;
    struct rtl_merge *merge;
    bool introduced; /* names and GPUs have the numbers that the viewer gave them */
    uint32_t next;   /* first moment that is not merged yet */
    uint32_t joined; /* members merged so far */
    char why[512];
};

static int by_time(const void *a, const void *b)
{
    const struct rtl_replay_moment *x = a, *y = b;
    if (x->mono_ns != y->mono_ns)
        return x->mono_ns < y->mono_ns ? -1 : 1;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static struct rtl_replay_moment moment_of(const struct rtl_replay *replay, uint32_t frame)
{
    return (struct rtl_replay_moment){rtl_replay_time(replay, frame), rtl_replay_mono(replay, frame)};
}

static bool find_moments(struct rtl_replay_group *g)
{
    size_t all = 0;
    for (uint32_t i = 0; i < g->count; i++)
        all += rtl_replay_info(g->members[i].replay)->frames;
    g->moments = all < UINT32_MAX ? malloc(all * sizeof *g->moments) : NULL;
    if (!g->moments)
        return false;
    all = 0;
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t f = 0; f < rtl_replay_info(g->members[i].replay)->frames; f++)
            g->moments[all++] = moment_of(g->members[i].replay, f);
    qsort(g->moments, all, sizeof *g->moments, by_time);
    for (size_t i = 0; i < all; i++)
        if (!g->moment_count || by_time(&g->moments[i], &g->moments[g->moment_count - 1]))
            g->moments[g->moment_count++] = g->moments[i];
    return true;
}

static bool frame_is_at(const struct rtl_replay_group *g, const struct replay_member *m, uint32_t frame,
                        uint32_t moment)
{
    if (frame >= rtl_replay_info(m->replay)->frames)
        return false;
    struct rtl_replay_moment at = moment_of(m->replay, frame);
    return !by_time(&at, &g->moments[moment]);
}

static int by_arrival(const void *a, const void *b)
{
    const struct replay_member *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->info.pid < y->info.pid ? -1 : x->info.pid > y->info.pid;
}

static void arrange(struct rtl_replay_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        while (!frame_is_at(g, &g->members[i], 0, g->members[i].first))
            g->members[i].first++;
    qsort(g->members, g->count, sizeof *g->members, by_arrival);
}

static enum rtl_db_status add_member(struct rtl_replay_group *g, const char *path, int64_t recording)
{
    struct replay_member *m = &g->members[g->count];
    enum rtl_db_status status = rtl_replay_open(path, 0, recording, &m->replay, g->why, sizeof g->why);
    if (status)
        return status;
    const struct rtl_replay_info *info = rtl_replay_info(m->replay);
    m->info = (struct rtl_member_info){.pid = info->pid, .rank = info->rank};
    snprintf(m->info.label, sizeof m->info.label, "%s", info->label);
    snprintf(m->info.user, sizeof m->info.user, "%s", info->user);
    snprintf(m->info.container, sizeof m->info.container, "%s", info->container);
    rtl_text_escape(m->info.title, sizeof m->info.title, info->title, strlen(info->title));
    g->count++;
    return RTL_DB_OK;
}

enum rtl_db_status rtl_replay_group_open(const char *path, struct rtl_replay *replay, struct rtl_replay_group **out,
                                         char *why, size_t why_bytes)
{
    int64_t *recordings;
    uint32_t count;
    *out = NULL;
    enum rtl_db_status status = rtl_replay_find_group(replay, &recordings, &count);
    if (status)
        snprintf(why, why_bytes, "%s", rtl_replay_why(replay));
    if (status || count < 2) {
        free(recordings);
        return status;
    }
    struct rtl_replay_group *g = count <= GROUP_MAX ? calloc(1, sizeof *g) : NULL;
    status = g ? RTL_DB_OK : RTL_DB_FAILED;
    for (uint32_t i = 0; !status && i < count; i++)
        status = add_member(g, path, recordings[i]);
    free(recordings);
    for (uint32_t i = 0; !status && i < count; i++)
        rtl_replay_share(g->members[i].replay, count);
    if (!status && (!find_moments(g) || !(g->merge = rtl_merge_create())))
        status = RTL_DB_FAILED;
    if (status) {
        if (count > GROUP_MAX)
            snprintf(why, why_bytes, "%s has %u processes of the same time, which is too many: choose one with -p",
                     path, (unsigned)count);
        else
            snprintf(why, why_bytes, "%s", g && g->why[0] ? g->why : "out of memory");
        rtl_replay_group_close(g);
        return status;
    }
    arrange(g);
    *out = g;
    return RTL_DB_OK;
}

void rtl_replay_group_close(struct rtl_replay_group *g)
{
    if (!g)
        return;
    rtl_merge_free(g->merge);
    for (uint32_t i = 0; i < g->count; i++)
        rtl_replay_close(g->members[i].replay);
    free(g->moments);
    free(g);
}

uint32_t rtl_replay_group_frames(const struct rtl_replay_group *g)
{
    return g->moment_count;
}

struct rtl_replay_moment rtl_replay_group_moment(const struct rtl_replay_group *g, uint32_t frame)
{
    return g->moments[frame];
}

pid_t rtl_replay_group_pid(const struct rtl_replay_group *g)
{
    return g->members[0].info.pid;
}

int64_t rtl_replay_group_recording(const struct rtl_replay_group *g, pid_t pid)
{
    for (uint32_t i = g->count; i-- > 0;) /* from the end: if a pid was reused, the last process counts */
        if (g->members[i].info.pid == pid)
            return rtl_replay_info(g->members[i].replay)->id;
    return 0;
}

const char *rtl_replay_group_why(const struct rtl_replay_group *g)
{
    return g->why;
}

/* --- reading --- */

static enum rtl_db_status out_of_memory(struct rtl_replay_group *g)
{
    snprintf(g->why, sizeof g->why, "out of memory");
    return RTL_DB_FAILED;
}

static enum rtl_db_status read_frame(struct rtl_replay_group *g, struct replay_member *m, uint32_t frame,
                                     struct rtl_snapshot *snapshot, bool *exited)
{
    enum rtl_db_status status = rtl_replay_read(m->replay, frame, snapshot, exited);
    if (status)
        snprintf(g->why, sizeof g->why, "%s", rtl_replay_why(m->replay));
    return status;
}

/* Merges a frame of the member. `adopt`: the viewer had watched it alone until then. */
static enum rtl_db_status merge_frame(struct rtl_replay_group *g, struct replay_member *m, uint32_t frame, bool adopt)
{
    struct rtl_snapshot snapshot;
    bool exited;
    enum rtl_db_status status = read_frame(g, m, frame, &snapshot, &exited);
    if (status)
        return status;
    bool taken =
        adopt ? rtl_merge_adopt(g->merge, m->number, &snapshot) : rtl_merge_update(g->merge, m->number, &snapshot);
    rtl_snapshot_free(&snapshot);
    m->next = frame + 1;
    if (exited && !m->ended) {
        rtl_merge_leave(g->merge, m->number);
        m->ended = true;
    }
    return taken ? RTL_DB_OK : out_of_memory(g);
}

/* Joins the members that begin at this moment. The first joins with the second: until then there is nothing to merge.
 */
static enum rtl_db_status join_members(struct rtl_replay_group *g, uint32_t moment)
{
    enum rtl_db_status status = RTL_DB_OK;
    if (g->members[1].first > moment)
        return status;
    for (; !status && g->joined < g->count && g->members[g->joined].first <= moment; g->joined++) {
        struct replay_member *m = &g->members[g->joined];
        m->number = rtl_merge_join(g->merge, &m->info);
        m->next = 0;
        m->ended = false;
        if (m->number == RTL_MEMBER_GONE)
            return out_of_memory(g);
    }
    return status;
}

/* Returns the member's last frame up to a moment; its number of frames if there is none. */
static uint32_t frame_at(const struct rtl_replay_group *g, const struct replay_member *m, uint32_t moment)
{
    uint32_t low = 0, high = rtl_replay_info(m->replay)->frames;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        struct rtl_replay_moment at = moment_of(m->replay, middle);
        if (by_time(&at, &g->moments[moment]) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : rtl_replay_info(m->replay)->frames;
}

/* Merges each member's newest state up to a moment, in the order in which the viewer reads living processes. */
static enum rtl_db_status advance(struct rtl_replay_group *g, uint32_t moment)
{
    bool alone = g->joined == 0 && g->members[1].first > 0;
    enum rtl_db_status status = join_members(g, moment);
    if (!status && alone && g->joined)
        status = merge_frame(g, &g->members[0], frame_at(g, &g->members[0], g->members[1].first), true);
    for (uint32_t i = g->joined; !status && i-- > 0;) {
        struct replay_member *m = &g->members[i];
        uint32_t frames = rtl_replay_info(m->replay)->frames, frame = frame_at(g, m, moment);
        if (frame < frames && frame >= m->next && !m->ended)
            status = merge_frame(g, m, frame, false);
        if (!status && frame + 1 == frames && !frame_is_at(g, m, frame, moment) && !m->ended) {
            rtl_merge_leave(g->merge, m->number); /* the viewer could no longer read it */
            m->ended = true;
        }
    }
    g->next = moment + 1;
    return status;
}

static void rewind_to_start(struct rtl_replay_group *g)
{
    rtl_merge_rewind(g->merge);
    g->joined = g->next = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        g->members[i].next = 0;
        g->members[i].ended = false;
    }
}

/* Numbers GPUs and kernels in the viewer's order, whichever frame is shown first. */
static enum rtl_db_status introduce(struct rtl_replay_group *g)
{
    enum rtl_db_status status = RTL_DB_OK;
    for (uint32_t i = 1; !status && i < g->count; i++) {
        struct rtl_snapshot snapshot;
        if (i + 1 < g->count && g->members[i + 1].first == g->members[i].first)
            continue;
        status = advance(g, g->members[i].first);
        if (!status && !rtl_merge_make(g->merge, 0, &snapshot))
            status = out_of_memory(g);
        if (!status)
            rtl_snapshot_free(&snapshot);
    }
    rewind_to_start(g);
    g->introduced = !status;
    return status;
}

static bool all_have_ended(const struct rtl_replay_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        if (i >= g->joined || !g->members[i].ended)
            return false;
    return true;
}

enum rtl_db_status rtl_replay_group_read(struct rtl_replay_group *g, uint32_t moment, struct rtl_snapshot *snapshot,
                                         bool *exited)
{
    memset(snapshot, 0, sizeof *snapshot);
    *exited = false;
    enum rtl_db_status status = g->introduced ? RTL_DB_OK : introduce(g);
    if (status)
        return status;
    if (moment < g->members[1].first) { /* the first process is still alone */
        rewind_to_start(g);
        return read_frame(g, &g->members[0], frame_at(g, &g->members[0], moment), snapshot, exited);
    }
    if (moment + 1 < g->next)
        rewind_to_start(g);
    if (moment + 1 != g->next)
        status = advance(g, moment);
    if (status) { /* the user may have stopped it: the next call begins again */
        rewind_to_start(g);
        return status;
    }
    *exited = all_have_ended(g);
    return rtl_merge_make(g->merge, g->moments[moment].mono_ns, snapshot) ? RTL_DB_OK : out_of_memory(g);
}

void rtl_replay_group_title(const struct rtl_replay_group *g, char *out, size_t size)
{
    const struct replay_member *first = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->joined; i++) {
        if (g->members[i].ended)
            continue;
        first = first ? first : &g->members[i];
        count++;
    }
    first = first ? first : &g->members[0];
    if (g->joined)
        snprintf(out, size, "%u process%s: %.100s", (unsigned)count, count == 1 ? "" : "es", first->info.title);
    else
        snprintf(out, size, "%s", first->info.title);
}
