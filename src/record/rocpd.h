/*
 * A trace in the rocpd schema: a row of rocpd_op for every record of the event ring, and what explains the rows. A copy
 * has no description; its kind is what opType says, as in RPD's files, and it is on a queue for the copies of its GPU.
 *
 * The names of tables, columns and views are the format that other tools read. What is ours stands in rocpd_metadata,
 * so that there are no tables but rocpd's: JSON under the tags "process N", "gpu N", "queue N" and "recording N". N of
 * gpu and queue is what gpuId and queueId say; a GPU is known by its PCI address, so it has one number however many
 * processes use it. The id of an op is N of its process << 40 plus the record's number in that process: recorded twice,
 * a dispatch is one row. sequenceId is that number, and the gaps in it are what was lost.
 *
 * Row layout, by measurement (2-core VM, page of 16 kB): 35 bytes a dispatch, where plain columns take 44 and a row
 * with its text 79. `end`, sequenceId and completionSignal are virtual generated columns: they are computed when they
 * are read, from `duration` and `dims`.
 *
 * Threads: that of the database.
 */
#ifndef RTL_RECORD_ROCPD_H
#define RTL_RECORD_ROCPD_H

#include "record/db.h"
#include "shm/segment_reader.h"

enum { RTL_ROCPD_PAGE = 16384, RTL_ROCPD_SCHEMA = 3, RTL_ROCPD_SEQUENCE_BITS = 40 };

extern const struct rtl_db_set rtl_rocpd_set;

/* Views that may be others in a file of an earlier rtl-top: they are brought up to date when a recording begins. */
enum { RTL_ROCPD_VIEWS = 2 };
struct rtl_rocpd_view {
    const char *name, *sql; /* the statement as SQLite keeps it */
};
extern const struct rtl_rocpd_view rtl_rocpd_views[RTL_ROCPD_VIEWS];

/* Untrusted bytes -> UTF-8 without control characters, terminated: rtl_text_escape (text/text.h), which lies above
 * this. */
typedef size_t rtl_rocpd_escape(char *out, size_t size, const char *bytes, size_t length);

struct rtl_rocpd; /* one recording of one process into one file */

/* What is known at a moment; written with the rows. */
struct rtl_rocpd_state {
    struct rtl_events events;
    uint64_t copies; /* of what was read */
    const char *end; /* why it ended, NULL while it goes on */
};

/*
 * Starts a recording; `title` is the process's command line. NULL after an error, which the database has. The reader
 * stays the caller's and has to outlive the recording.
 */
struct rtl_rocpd *rtl_rocpd_begin(struct rtl_db *db, struct rtl_reader *reader, int64_t pid, const char *title,
                                  rtl_rocpd_escape *escape);
void rtl_rocpd_free(struct rtl_rocpd *rocpd);

/* Writes records and the state in one transaction. Nothing more can be written after an error. */
enum rtl_db_status rtl_rocpd_write(struct rtl_rocpd *rocpd, const struct rtl_event_record *records, uint32_t count,
                                   const struct rtl_rocpd_state *state);

/* Takes a look at the queues' depth and the signals in use: a row of rocpd_monitor each, with the next write. */
void rtl_rocpd_look(struct rtl_rocpd *rocpd);

/* Packs work-items and workgroup into the value of `dims`; false when they don't fit: then it is text. Pure. */
bool rtl_rocpd_pack(const uint32_t grid[3], const uint16_t workgroup[3], int64_t *dims);

#endif
