/*
 * Records several processes into one file, each as a recording of its own, which looks as if it had been watched alone.
 * Their frames of one moment have the same times. What fails for one of them is told, and tried again at the next
 * frame; the last state of one that has ended is kept for that. Who has the file locked is waited for once a frame.
 */
#ifndef RTL_WATCH_GROUP_RECORDER_H
#define RTL_WATCH_GROUP_RECORDER_H

#include "record/recording.h"
#include "options/options.h"
#include "watch/process_set.h"
#include "text/names.h"

enum {
    RTL_GROUP_MAX = 1024, /* processes in one recording, those that have ended too */
    RTL_GROUP_PENDING =
        64, /* last states that wait for a frame that succeeds; beyond that they are lost, which is told */
};

/* What is known of a probe on a process, or NULL. */
typedef const struct rtl_probe_told *rtl_probe_of(const void *context, pid_t pid);

struct rtl_member_recording {
    uint32_t number;
    pid_t pid;
    struct rtl_recording *recording; /* NULL: could not be opened so far, or has ended */
    struct rtl_names *names;
    bool borrowed, ended; /* lent: the caller's recording, which it closes */
    bool ascii;
    struct rtl_snapshot
        *pending; /* its last state, which could not be written so far, with names of its own; or NULL */
    uint64_t pending_real_ns;
};

struct rtl_group_recorder {
    const struct rtl_options *options;
    const char *kind, *path;
    unsigned busy_ms;
    struct rtl_member_recording *members;
    uint32_t count;
    uint32_t taken;          /* of the frame so far: who was handed over */
    enum rtl_db_status last; /* of the frame so far: the last failure of one of them */
    enum rtl_db_status lost; /* a last state that could not be kept: every frame fails from then on */
    bool busy;               /* somebody has the file locked in this frame: the others of it don't wait for him, too */
    char why[512];
    char left_out[400];     /* as of rtl_recording_left_out, of one of them */
    rtl_probe_of *probe_of; /* of a recording that begins; or NULL */
    const void *probe_context;
};

/* `kind`, `path` and `options` outlive it. */
void rtl_group_recorder_init(struct rtl_group_recorder *group, const struct rtl_options *options, const char *kind,
                             const char *path, unsigned busy_ms);
/* The first one has been recorded alone so far: its recording goes on. False without memory. */
bool rtl_group_recorder_continue(struct rtl_group_recorder *group, pid_t pid, struct rtl_recording *recording);
/* A rtl_process_set_sink. */
void rtl_group_recorder_add(void *group, uint32_t number, pid_t pid, const struct rtl_snapshot *snapshot,
                            uint64_t real_ns, bool ended);
/* Of that process's recording, if there is one by now: rtl_recording_probe. */
void rtl_group_recorder_probe(struct rtl_group_recorder *group, pid_t pid, const struct rtl_probe_told *probe);
/* All of a frame were handed over: tries again what is late, and says how the frame went. `why` is of a failure. */
enum rtl_db_status rtl_group_recorder_end_frame(struct rtl_group_recorder *group);
void rtl_group_recorder_free(struct rtl_group_recorder *group);

/* Fills pid, recorder and what /proc says of the process now: rank, label, container. */
void rtl_recording_describe(pid_t pid, struct rtl_recording_info *info);

#endif
