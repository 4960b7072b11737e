/*
 * HIP calls and roctx ranges in a trace (rocpd.h), from the event rings of the API segment.
 *
 * A call is a row of rocpd_api. A range or mark is two rows: one of rocpd_api, named UserMarker with its name in the
 * arguments, and one of rocpd_op on GPU -1, whose roctxId is its own id. The roctxId of any other op is that of the
 * range around its call. An id is the number of the process << 40 plus 1 << 38 plus the event's id in the process; the
 * op of a range also has bit 39. A process recorded twice therefore has its rows once.
 *
 * An op can be read before its call has ended (for example a copy that the call waits for). The op is linked when the
 * call arrives, or never. So each row of rocpd_api_ops refers to rows of rocpd_api and rocpd_op that exist.
 *
 * Threads: that of the database.
 */
#ifndef RTL_RECORD_ROCPD_CALLS_H
#define RTL_RECORD_ROCPD_CALLS_H

#include "record/db.h"
#include "shm/hip_api_reader.h"
#include "shm/segment_reader.h"

struct rtl_rocpd_calls;

/* `base`: number of the process << 40. `ahead_ns`: process's clock minus the trace's. `escape`: as in rocpd.h. NULL
 * without memory. */
struct rtl_rocpd_calls *rtl_rocpd_calls_begin(struct rtl_db *db, int api, int64_t base, int64_t pid, int64_t ahead_ns,
                                              size_t (*escape)(char *, size_t, const char *, size_t));
void rtl_rocpd_calls_free(struct rtl_rocpd_calls *calls);

/* Read new events from the rings. False if the buffer is full until the next write. */
bool rtl_rocpd_calls_read(struct rtl_rocpd_calls *calls);
/* Write the events read; within a transaction, before the ops that were read before them. */
void rtl_rocpd_calls_write(struct rtl_rocpd_calls *calls);

/* The columns correlation_id and roctxId of an op. */
struct rtl_rocpd_link {
    int64_t call, range; /* 0: none */
};
struct rtl_rocpd_link rtl_rocpd_calls_link(const struct rtl_rocpd_calls *calls, const struct rtl_linked_event *event);
/* Link a written op to its call, now or when the call arrives. `kernel`: its name's row in rocpd_string. */
void rtl_rocpd_calls_op(struct rtl_rocpd_calls *calls, int64_t op, int64_t kernel,
                        const struct rtl_linked_event *event);
/* Give up on ops that still wait for their call; within the last transaction. */
void rtl_rocpd_calls_end(struct rtl_rocpd_calls *calls);

struct rtl_rocpd_calls_sums {
    uint64_t calls, markers; /* HIP calls; roctx ranges and marks: written */
    uint64_t lost;           /* overwritten before they were read */
    uint64_t linked;         /* ops that have their call */
    uint64_t waiting;        /* ops whose call has not arrived */
};
struct rtl_rocpd_calls_sums rtl_rocpd_calls_sums(const struct rtl_rocpd_calls *calls);

#endif
