/*
 * The calls of HIP and the ranges of roctx in a trace (rocpd.h), from the API segment's event rings.
 *
 * A call is a row of rocpd_api; a range or mark is one, too, as UserMarker with its name in the arguments, and a row of
 * rocpd_op on GPU -1, whose roctxId is its own id: an op's roctxId is that of the range that its call was in. Ids are
 * the number of the process << 40 plus 1 << 38 plus the event's id in the process (an op's of a range has bit 39, too);
 * with them a process recorded twice has its rows once.
 *
 * An op can be read before the call that submitted it has ended (a copy that is waited for): it is linked once the call
 * has come, or stays without one. So each row of rocpd_api_ops names an api and an op that are there.
 *
 * Threads: that of the database.
 */
#ifndef RTL_RECORD_ROCPD_CALLS_H
#define RTL_RECORD_ROCPD_CALLS_H

#include "record/db.h"
#include "shm/hip_api_events.h"
#include "shm/hip_api_reader.h"
#include "shm/segment_reader.h"

struct rtl_rocpd_calls;

/* `base`: number of the process << 40. `ahead_ns`: how far the process's clock is ahead of the trace's. `escape` makes
 * texts safe, as in rocpd.h. NULL without memory. */
struct rtl_rocpd_calls *rtl_rocpd_calls_begin(struct rtl_db *db, int api, int64_t base, int64_t pid, int64_t ahead_ns,
                                              size_t (*escape)(char *, size_t, const char *, size_t));
void rtl_rocpd_calls_free(struct rtl_rocpd_calls *calls);

/* Reads what has come into the rings. False when it has no room for more before the next write. */
bool rtl_rocpd_calls_read(struct rtl_rocpd_calls *calls);
/* Writes it; within a transaction, before the ops that were read before it. */
void rtl_rocpd_calls_write(struct rtl_rocpd_calls *calls);

/* Of an op: what its columns correlation_id and roctxId say. */
struct rtl_rocpd_link {
    int64_t call, range; /* 0: none */
};
struct rtl_rocpd_link rtl_rocpd_calls_link(const struct rtl_rocpd_calls *calls, const struct rtl_linked_event *event);
/* The op has been written: it is linked to its call, now or when that comes. `kernel`: its name's row in rocpd_string.
 */
void rtl_rocpd_calls_op(struct rtl_rocpd_calls *calls, int64_t op, int64_t kernel,
                        const struct rtl_linked_event *event);
/* Within the last transaction: what waits for its call now never gets one. */
void rtl_rocpd_calls_end(struct rtl_rocpd_calls *calls);

struct rtl_rocpd_calls_sums {
    uint64_t calls, markers; /* written */
    uint64_t lost;           /* overwritten before they were read */
    uint64_t linked;         /* ops that have their call */
    uint64_t waiting;        /* ops whose call has not come */
};
struct rtl_rocpd_calls_sums rtl_rocpd_calls_sums(const struct rtl_rocpd_calls *calls);

#endif
