/*
 * Reading a recording frame by frame, as the struct rtl_snapshot that the viewer recorded: code that shows a live
 * process also shows a recorded one.
 *
 * Files are untrusted, like segments: ids, bucket numbers and lengths are checked, sums may wrap. Ownership: the replay
 * owns the names that its snapshots point to; free all snapshots before the replay. Threads: one.
 */
#ifndef RTL_RECORD_REPLAY_H
#define RTL_RECORD_REPLAY_H

#include <sys/types.h>

#include "record/db.h"
#include "record/probe_told.h"
#include "shm/segment_reader.h"

struct rtl_replay;

struct rtl_replay_info {
    int64_t id;
    pid_t pid;
    bool snapshot;   /* recorded as a single frame */
    char title[512]; /* raw bytes of the file: escape them before display */
    char recorder[64];
    const char *step; /* marker of steps that the recorder's user chose, raw bytes; NULL: none */
    uint64_t interval_ns;
    uint32_t frames;                         /* at least 1 */
    int rank;                                /* -1: unknown */
    char user[20], label[24], container[20]; /* printable ASCII */
};

/* Open the newest time series of the file, or else the newest snapshot; only recordings of process `pid`, and only
 * number `recording`, if they are not 0. On failure `why` gets one line. */
enum rtl_db_status rtl_replay_open(const char *path, pid_t pid, int64_t recording, struct rtl_replay **replay,
                                   char *why, size_t why_bytes);
/* Limit the memory to the share of one of `count` replays that are open together. Call this before reading frames. */
void rtl_replay_share(struct rtl_replay *replay, uint32_t count);
void rtl_replay_close(struct rtl_replay *replay); /* NULL is nothing */

/* Return the recordings that were made together with this one, and itself: a recorder of several processes writes a
 * frame of each with the same times. Transitive, same kind, ascending; the caller frees the array. */
enum rtl_db_status rtl_replay_find_group(struct rtl_replay *replay, int64_t **recordings, uint32_t *count);

const struct rtl_replay_info *rtl_replay_info(const struct rtl_replay *replay);
const char *rtl_replay_why(const struct rtl_replay *replay);
uint64_t rtl_replay_time(const struct rtl_replay *replay, uint32_t frame); /* ns since 1970 */
uint64_t rtl_replay_mono(const struct rtl_replay *replay, uint32_t frame); /* CLOCK_MONOTONIC of the recorder, ns */

/*
 * Read the state at a frame (below `frames`). Going forward adds the frames in between; going back starts from the last
 * checkpoint before the frame. The caller frees the snapshot (rtl_snapshot_free). `exited`: the process had ended.
 * After RTL_DB_STOPPED (rtl_db_stop_when) the call can be repeated.
 */
enum rtl_db_status rtl_replay_read(struct rtl_replay *replay, uint32_t frame, struct rtl_snapshot *snapshot,
                                   bool *exited);

/* Read the probe at that frame; there = false: no probe yet. After RTL_DB_STOPPED the call can be repeated. */
enum rtl_db_status rtl_replay_probe(struct rtl_replay *replay, uint32_t frame, struct rtl_probe_told *probe);
/* Continue without probes after an error of rtl_replay_probe. rtl_replay_why keeps the error. */
void rtl_replay_leave_probes(struct rtl_replay *replay);

/* Return row and name of the n-th kernel in the order of first sight; false beyond the last. */
bool rtl_replay_kernel(const struct rtl_replay *replay, uint32_t n, uint32_t *id, const char **name, size_t *length);

#endif
