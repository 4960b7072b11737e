/*
 * Records several processes into one file. Each recording looks as if its process had been watched alone; frames of one
 * moment have the same times.
 *
 * A failed frame is reported and tried again with the next frame. For this, the last state of an ended process is kept.
 * Each frame waits for the file's lock at most once.
 */
#ifndef RTL_WATCH_GROUP_RECORDER_H
#define RTL_WATCH_GROUP_RECORDER_H

#include "record/recording.h"
#include "options/options.h"
#include "watch/process_set.h"
#include "text/names.h"

enum {
    RTL_GROUP_MAX = 1024,   /* processes of one recording, with ended ones */
    RTL_GROUP_PENDING = 64, /* last states that may wait to be written; others are lost, which is reported */
};

/* Returns the known probe of a process, or NULL. */
typedef const struct rtl_probe_told *rtl_probe_of(const void *context, pid_t pid);

struct rtl_member_recording {
    uint32_t number;
    pid_t pid;
    struct rtl_recording *recording; /* NULL: not opened yet, or the process has ended */
    const char *title;               /* NULL: as /proc has it */
    struct rtl_names *names;         /* own names, because kernel ids are per process */
    struct rtl_names *model_names;   /* used instead while the process is watched alone; or NULL */
    bool first, ended;               /* first: its recording stays open after its end */
    bool ascii;
    struct rtl_snapshot *pending; /* last state that could not be written yet, with its own names; or NULL */
    uint64_t pending_real_ns;
};

struct rtl_group_recorder {
    const struct rtl_options *options;
    const char *kind, *path;
    unsigned busy_ms;
    struct rtl_member_recording *members;
    uint32_t count;
    uint32_t frame_members;  /* processes added to the current frame */
    enum rtl_db_status last; /* last failure in the current frame */
    enum rtl_db_status lost; /* set when a last state could not be kept: all later frames fail */
    const char *step;        /* rtl_recording_mark_step of all members */
    bool busy;               /* the file is locked: other members of this frame don't wait again */
    char why[512];
    char left_out[400];     /* rtl_recording_left_out of a member */
    rtl_probe_of *probe_of; /* probe of a new recording; or NULL */
    const void *probe_context;
};

/* `kind`, `path` and `options` outlive the recorder. */
void rtl_group_recorder_init(struct rtl_group_recorder *group, const struct rtl_options *options, const char *kind,
                             const char *path, unsigned busy_ms);
/* Opens the recording of the first process, which the merge of several will number 0. Title and names outlive the
 * recorder. On failure returns NULL, and the frame fails. */
struct rtl_recording *rtl_group_recorder_open_first(struct rtl_group_recorder *group, pid_t pid, const char *title,
                                                    struct rtl_names *model_names);
/* Adds a process to the frame; a rtl_process_set_sink. */
void rtl_group_recorder_add(void *group, uint32_t number, pid_t pid, const struct rtl_snapshot *snapshot,
                            uint64_t real_ns, bool ended);
/* Calls rtl_recording_probe if the process's recording is open. */
void rtl_group_recorder_probe(struct rtl_group_recorder *group, pid_t pid, const struct rtl_probe_told *probe);
/* Ends the frame after its last process. Tries pending states again. Returns the frame's status; `why` has the failure.
 */
enum rtl_db_status rtl_group_recorder_end_frame(struct rtl_group_recorder *group);
void rtl_group_recorder_free(struct rtl_group_recorder *group);

/* Fills pid, recorder and what /proc says of the process now: rank, label, container. */
void rtl_recording_describe(pid_t pid, struct rtl_recording_info *info);

#endif
