/*
 * A trace in the rocpd schema: a row of rocpd_op for every record of the event ring, and the rows that it refers to. A
 * copy has no description; opType is its kind, as in RPD's files, and its queue is the GPU's queue for copies.
 *
 * Other tools read these tables, columns and views. Facts that rocpd has no table for are rows of rocpd_metadata: the
 * process, GPU and queue behind each number (rocpd_numbers.h), and a row "recording N" for each recording. The id of an
 * op is the number of its process << 40 plus the record's number in that process, so a dispatch recorded twice is one
 * row. sequenceId is the record's number; a gap means lost records.
 *
 * Times are of the host's CLOCK_MONOTONIC. The rows "boot PROCESS START" of rocpd_metadata hold the offsets to boot
 * time, which the view boot lists.
 *
 * Other tools merge, trim and import such files, so no column is generated. A dispatch's shape as text in
 * completionSignal would take half of a row. Therefore the column dims holds the shape as a packed number;
 * completionSignal holds only shapes that don't fit into dims, and the view op shows the text of every shape. Measured
 * (2-core VM, pages of 16 kB): 40 bytes per dispatch, 75 with the text. An earlier format with generated columns took
 * 32 bytes, but tools could not insert rows.
 *
 * Threads: that of the database.
 */
#ifndef RTL_RECORD_ROCPD_H
#define RTL_RECORD_ROCPD_H

#include "record/rocpd_calls.h"
#include "record/rocpd_schema.h"
#include "shm/segment_reader.h"

enum { RTL_ROCPD_PAGE = 16384, RTL_ROCPD_SEQUENCE_BITS = 40 };

/* Escape untrusted bytes to UTF-8 without control characters, NUL-terminated: rtl_text_escape, passed as a pointer
 * because src/text lies above this folder. */
typedef size_t rtl_rocpd_escape(char *out, size_t size, const char *bytes, size_t length);

struct rtl_rocpd; /* one recording of one process into one file */

/* State of the recording; written together with the rows. */
struct rtl_rocpd_state {
    struct rtl_events events;
    const char *end; /* why it ended, NULL before the end */
    /* results of rtl_rocpd_write_linked */
    uint64_t rows, copies; /* ops written; copies among them */
    struct rtl_rocpd_calls_sums calls;
    uint64_t left_out; /* records read, but not written after *leave */
    uint64_t unknown;  /* ops written without their queue or GPU: unknown, or beyond the maximum number */
};

/* Start a recording; `title` is the process's command line. NULL after an error, latched in the database. The caller
 * keeps the reader, which has to outlive the recording. */
struct rtl_rocpd *rtl_rocpd_begin(struct rtl_db *db, struct rtl_reader *reader, int64_t pid, const char *title,
                                  rtl_rocpd_escape *escape);
void rtl_rocpd_free(struct rtl_rocpd *rocpd);

/*
 * Write records with their links, and the state, in one transaction. The work per record is bounded, whatever the
 * segment contains. Once *leave is set (NULL = never) the function finishes only its current batch of a few thousand
 * records. After an error nothing more can be written.
 */
enum rtl_db_status rtl_rocpd_write_linked(struct rtl_rocpd *rocpd, const struct rtl_linked_event *events,
                                          uint32_t count, struct rtl_rocpd_state *state, const _Atomic bool *leave);

/* Also write HIP calls and roctx ranges (rocpd_calls.h) from the API segment `api`, which the caller keeps. False
 * without memory. */
bool rtl_rocpd_follow_calls(struct rtl_rocpd *rocpd, int api);
/* Read the calls and ranges that have ended; call this after reading the records that are written with them. False if
 * the buffer is full until the next write. */
bool rtl_rocpd_read_calls(struct rtl_rocpd *rocpd);

/* Sample the queues' depth and the signals in use: a row of rocpd_monitor each, written by the next write. */
void rtl_rocpd_sample_depths(struct rtl_rocpd *rocpd);

/* Read the host's clocks; record the offset of boot time at the first call and after each change. The first offset also
 * covers earlier times if the host was not suspended after the process began. */
void rtl_rocpd_read_clocks(struct rtl_rocpd *rocpd);
/* As rtl_rocpd_read_clocks, with given monotonic time, real time, and offset of boot time to monotonic time. */
void rtl_rocpd_note_clocks(struct rtl_rocpd *rocpd, int64_t mono_ns, int64_t real_ns, int64_t boot_offset_ns);

/* Probes of the hash table so far (id_map.h): tests check the work with it. */
uint64_t rtl_rocpd_steps(const struct rtl_rocpd *rocpd);

#endif
