/*
 * Reading a recording: the snapshots that the viewer took, frame by frame, in the same structure, so that whatever
 * shows a live process shows a recorded one.
 *
 * A file is trusted as little as a segment: ids, numbers of buckets and lengths are bounded, sums may wrap. Ownership:
 * the replay owns the names that its snapshots point to: free snapshots and what is made of them first. Threads: one.
 */
#ifndef RTL_RECORD_REPLAY_H
#define RTL_RECORD_REPLAY_H

#include <sys/types.h>

#include "record/db.h"
#include "record/probe_told.h"
#include "record/replay_info.h"
#include "shm/segment_reader.h"

struct rtl_replay;

/*
 * Opens the newest time series of the file, or else the newest snapshot; of process `pid` if that is not 0, number
 * `recording` if that is not 0. On failure `why` gets one line.
 */
enum rtl_db_status rtl_replay_open(const char *path, pid_t pid, int64_t recording, struct rtl_replay **replay,
                                   char *why, size_t why_bytes);
/* It is one of so many that are read at a time, and takes its share of memory only. Before anything is read. */
void rtl_replay_share(struct rtl_replay *replay, uint32_t count);
void rtl_replay_close(struct rtl_replay *replay); /* NULL is nothing */

/*
 * The recordings of other processes that were made together with this one, and itself: those of its kind that have a
 * frame of the same moment, and those that have one with them. Ascending, into an array of the caller's (free).
 */
enum rtl_db_status rtl_replay_companions(struct rtl_replay *replay, int64_t **recordings, uint32_t *count);

const struct rtl_replay_info *rtl_replay_info(const struct rtl_replay *replay);
const char *rtl_replay_why(const struct rtl_replay *replay);
uint64_t rtl_replay_time(const struct rtl_replay *replay, uint32_t frame); /* ns since 1970 */
uint64_t rtl_replay_mono(const struct rtl_replay *replay, uint32_t frame); /* CLOCK_MONOTONIC of the recorder, ns */
/* The last frame at or before a time (ns since 1970), or 0. */
uint32_t rtl_replay_find(const struct rtl_replay *replay, uint64_t time_ns);

/*
 * The state at a frame, below `frames`. Forward it adds up what lies between; backward it starts from the last
 * checkpoint before. The snapshot is the caller's (rtl_snapshot_free). `exited`: the process had ended. After
 * RTL_DB_STOPPED (rtl_db_stop_when) it can be asked again.
 */
enum rtl_db_status rtl_replay_read(struct rtl_replay *replay, uint32_t frame, struct rtl_snapshot *snapshot,
                                   bool *exited);

/* What was probed until that frame; there = false: nothing. After RTL_DB_STOPPED it can be asked again. */
enum rtl_db_status rtl_replay_probe(struct rtl_replay *replay, uint32_t frame, struct rtl_probe_told *probe);
/* After an error of that: the rest can be shown all the same, from then on without probes. rtl_replay_why stays. */
void rtl_replay_leave_probes(struct rtl_replay *replay);

/* The kernels in the order of their first sight: the n-th one's row and name; false beyond the last. */
bool rtl_replay_kernel(const struct rtl_replay *replay, uint32_t n, uint32_t *id, const char **name, size_t *length);

#endif
