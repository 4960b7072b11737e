/*
 * The processes that are watched: found by pid with their descendants, by name, or all; they come and go. One snapshot
 * of them all: of a single process its own, as it is; of several their sum (model/merge.h).
 *
 * Threads: one. Snapshots and names are freed before the targets are closed.
 */
#ifndef RTL_WATCH_PROCESS_SET_H
#define RTL_WATCH_PROCESS_SET_H

#include "model/model.h"
#include "options/options.h"
#include "shm/segment_reader.h"

struct rtl_process_set;

/* Those that the options ask for, at least one; else `why` gets one line. */
enum rtl_reader_status rtl_process_set_open(const struct rtl_options *options, struct rtl_process_set **set, char *why,
                                            size_t why_bytes);
/* The one that the reader reads, which is the targets' from then on, and what else the options ask for by now or later.
 * NULL without memory; the reader is closed then. */
struct rtl_process_set *rtl_process_set_adopt(const struct rtl_options *options, pid_t pid, struct rtl_reader *reader);
void rtl_process_set_close(struct rtl_process_set *set);

/* False once all have ended and no other is to be waited for. Looks for new ones now and then. */
bool rtl_process_set_alive(struct rtl_process_set *set);

/* As rtl_reader_snapshot. A process of several whose segment is damaged is left out from then on. */
enum rtl_reader_status rtl_process_set_snapshot(struct rtl_process_set *set, struct rtl_snapshot *snapshot);
/*
 * Many processes with many kernels take long at first: some of them, one at least, until that time is over. False when
 * all that there are have been taken; then rtl_process_set_snapshot takes what has changed since.
 */
bool rtl_process_set_load_slice(struct rtl_process_set *set, uint64_t ns);
uint32_t rtl_process_set_loaded(const struct rtl_process_set *set);
/* Of those that were taken; not to be compared with what comes later. */
enum rtl_reader_status rtl_process_set_snapshot_partial(struct rtl_process_set *set, struct rtl_snapshot *snapshot);
/*
 * Begins a frame of several, or goes on with it: some of them, one at least, until that time is over. False when there
 * are no more, or no use in slices; rtl_process_set_snapshot then has what was read, of the moment when it began, and
 * reads the rest whenever it is called.
 */
bool rtl_process_set_read_slice(struct rtl_process_set *set, uint64_t ns);
uint64_t rtl_process_set_real_ns(const struct rtl_process_set *set); /* when the last one was taken, ns since 1970 */

/*
 * Is handed what each of several processes has, before it is merged, with the same time for all of a frame; `ended`:
 * this is its last state, and its names go. NULL for none. Not called for a single one.
 */
typedef void rtl_process_set_sink(void *context, uint32_t number, pid_t pid, const struct rtl_snapshot *snapshot,
                                  uint64_t real_ns, bool ended);
void rtl_process_set_on_snapshot(struct rtl_process_set *set, rtl_process_set_sink *sink, void *context);

/* Is told of each process with a segment that comes in from now on. NULL for none. */
typedef void rtl_process_set_listener(void *context, pid_t pid);
void rtl_process_set_on_join(struct rtl_process_set *set, rtl_process_set_listener *listener, void *context);
/* As rtl_process_set_alive, where nobody takes snapshots: who has ended is forgotten. */
bool rtl_process_set_poll(struct rtl_process_set *set);

/* The heartbeat, to all of them; see heartbeat.h. The model may be NULL. */
void rtl_process_set_send_heartbeat(struct rtl_process_set *set, struct rtl_model *model);
void rtl_process_set_read_heartbeat(struct rtl_process_set *set, struct rtl_model *model);

/* Asks all of them for a mode that have one; how many those were. OK when one at least could be asked. */
enum rtl_reader_status rtl_process_set_request_mode(struct rtl_process_set *set, enum rtl_mode mode, uint32_t *asked,
                                                    char *why, size_t why_bytes);
/* Those that are only observed: so many of their numbers at most; how many it wrote. */
uint32_t rtl_process_set_observed_pids(const struct rtl_process_set *set, pid_t *pids, uint32_t room);

/* Of those that are traced one after another; NULL after the last. */
struct rtl_reader *rtl_process_set_reader(const struct rtl_process_set *set, uint32_t at, pid_t *pid);

/* There is one, and there has not been another. */
bool rtl_process_set_is_single(const struct rtl_process_set *set);
pid_t rtl_process_set_pid(const struct rtl_process_set *set);      /* the first */
uint32_t rtl_process_set_count(const struct rtl_process_set *set); /* living */
/* Of a single one its command line; of several what they have in common, with their number. Safe text. */
void rtl_process_set_title(const struct rtl_process_set *set, char *out, size_t size);

#endif
