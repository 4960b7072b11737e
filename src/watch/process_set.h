/*
 * The watched processes, which come and go: pids with their descendants, a name, or all. A set with one process makes
 * that process's snapshot; a set with several makes their merge (model/merge.h).
 *
 * A process's end: rtl_process_set_alive notices it, rtl_process_set_snapshot then reads the last state and drops the
 * process. When all have ended and none can come, rtl_process_set_alive returns false, and the caller calls
 * rtl_model_exited.
 *
 * With --all or a name, other users' processes may be among them, so users.h limits the time, memory and places of each
 * user. A process that is not read keeps its earlier numbers, or has none.
 *
 * Threads: one. Free snapshots and names before closing the set.
 */
#ifndef RTL_WATCH_PROCESS_SET_H
#define RTL_WATCH_PROCESS_SET_H

#include "model/model.h"
#include "options/options.h"
#include "shm/segment_reader.h"

struct rtl_process_set;
struct rtl_restart;

/* Attaches to the processes of the options. If there is none, `why` gets one line. */
enum rtl_reader_status rtl_process_set_open(const struct rtl_options *options, struct rtl_process_set **set, char *why,
                                            size_t why_bytes);
/* Attaches to the reader's process, taking ownership of the reader, and to others that the options name. NULL without
 * memory, with the reader closed. */
struct rtl_process_set *rtl_process_set_adopt(const struct rtl_options *options, pid_t pid, struct rtl_reader *reader);
void rtl_process_set_close(struct rtl_process_set *set);

/* Scans for new processes from time to time. False if all processes have ended and no other can come. */
bool rtl_process_set_alive(struct rtl_process_set *set);

/* Like rtl_reader_snapshot. Drops a process with a damaged segment if there are several. */
enum rtl_reader_status rtl_process_set_snapshot(struct rtl_process_set *set, struct rtl_snapshot *snapshot);
/* Loads some of many processes, at least one, until `ns` have passed. False when all are loaded; then call
 * rtl_process_set_snapshot. */
bool rtl_process_set_load_slice(struct rtl_process_set *set, uint64_t ns);
uint32_t rtl_process_set_loaded(const struct rtl_process_set *set);
/* A snapshot of the loaded processes. Don't compare it with later ones. */
enum rtl_reader_status rtl_process_set_snapshot_partial(struct rtl_process_set *set, struct rtl_snapshot *snapshot);
/*
 * Begins or continues reading a frame of several processes: at least one, until `ns` have passed. False if no more is
 * to be read, or slices are not supported. rtl_process_set_snapshot then returns the frame with the time of its begin;
 * it may be called early and reads the others.
 */
bool rtl_process_set_read_slice(struct rtl_process_set *set, uint64_t ns);
uint64_t rtl_process_set_real_ns(const struct rtl_process_set *set); /* time of the last snapshot, ns since 1970 */

/* Receives the snapshot of each of several processes before the merge, with one time per frame. `ended`: this is its
 * last state, and its names are freed afterwards. Not called for a single process. NULL = none. */
typedef void rtl_process_set_sink(void *context, uint32_t number, pid_t pid, const struct rtl_snapshot *snapshot,
                                  uint64_t real_ns, bool ended);
void rtl_process_set_on_snapshot(struct rtl_process_set *set, rtl_process_set_sink *sink, void *context);

/* Called for each traced process that joins from now on. NULL = none. */
typedef void rtl_process_set_listener(void *context, pid_t pid);
void rtl_process_set_on_join(struct rtl_process_set *set, rtl_process_set_listener *listener, void *context);
/* A trace that is recorded meanwhile. */
struct rtl_trace_status {
    const char *(*trouble)(void *context); /* returns one line, or NULL without failure */
    void *context;
};
/* Like rtl_process_set_alive for callers without snapshots: also drops ended processes. */
bool rtl_process_set_poll(struct rtl_process_set *set);

/* Sends the heartbeat to all processes (shm/control_client.h), and reads it: the model, which may be NULL, gets the
 * requested mode, the sender of the last heartbeat, or the reason why this viewer can't send one. */
void rtl_process_set_send_heartbeat(struct rtl_process_set *set, struct rtl_model *model);
void rtl_process_set_read_heartbeat(struct rtl_process_set *set, struct rtl_model *model);

/* Requests the mode from all traced processes and counts them. OK if at least one was asked. */
enum rtl_reader_status rtl_process_set_request_mode(struct rtl_process_set *set, enum rtl_mode mode, uint32_t *asked,
                                                    char *why, size_t why_bytes);
/* Writes at most `room` pids of processes that are only observed; returns their number. */
uint32_t rtl_process_set_observed_pids(const struct rtl_process_set *set, pid_t *pids, uint32_t room);
/* Returns the restart of the first process that is only observed; NULL: there is none. Valid until the next call. */
const struct rtl_restart *rtl_process_set_restart(struct rtl_process_set *set);

/* Returns the readers of traced processes by index; NULL after the last. */
struct rtl_reader *rtl_process_set_reader(const struct rtl_process_set *set, uint32_t at, pid_t *pid);

/* True until a second process is attached: nothing to merge yet. */
bool rtl_process_set_is_single(const struct rtl_process_set *set);
pid_t rtl_process_set_pid(const struct rtl_process_set *set);      /* of the first living process */
uint32_t rtl_process_set_count(const struct rtl_process_set *set); /* living processes */
/* Returns the number of processes that are left out, because their users exceed a limit: they are not watched, or were
 * never read. */
uint32_t rtl_process_set_left_out(const struct rtl_process_set *set);
/* Writes one line: how many are left out, why, and what the user can do. */
void rtl_process_set_explain_left_out(const struct rtl_process_set *set, char *out, size_t size);
/* Writes the command line of a single process; of several their number and the first's. Safe text. */
void rtl_process_set_title(const struct rtl_process_set *set, char *out, size_t size);

#endif
