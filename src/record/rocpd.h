/*
 * A trace in the rocpd schema: a row of rocpd_op for every record of the event ring, and what explains the rows. A copy
 * has no description; its kind is what opType says, as in RPD's files, and it is on a queue for the copies of its GPU.
 *
 * The names of tables, columns and views are the format that other tools read. What is ours stands in rocpd_metadata,
 * so that there are no tables but rocpd's: which process, GPU and queue a number stands for (rocpd_numbers.h), and a
 * "recording N" each. The id of an op is the number of its process << 40 plus the record's number in that process:
 * recorded twice, a dispatch is one row. sequenceId is that number, and the gaps in it are what was lost.
 *
 * Times are the host's CLOCK_MONOTONIC. Rows "boot" hold the offsets to boot time (view boot).
 *
 * Other tools merge, trim and import into such files, so all columns are ordinary ones. The text of completionSignal
 * would be half of a row: a shape stands in `dims`, packed, and completionSignal has only what doesn't fit there; the
 * view op has the text for all. Measured (2-core VM, page of 16 kB): 40 bytes a dispatch, and with the text 75; before,
 * with end, sequenceId and the text in generated columns that nothing could be written into, 32.
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
enum { RTL_ROCPD_VIEWS = 5 };
struct rtl_rocpd_view {
    const char *name, *sql; /* the statement as SQLite keeps it */
};
extern const struct rtl_rocpd_view rtl_rocpd_views[RTL_ROCPD_VIEWS];

/* The query of the view `boot`, for files without that view. */
extern const char rtl_rocpd_boot_sql[];

/* Untrusted bytes -> UTF-8 without control characters, terminated: rtl_text_escape (text/text.h), which lies above
 * this. */
typedef size_t rtl_rocpd_escape(char *out, size_t size, const char *bytes, size_t length);

struct rtl_rocpd; /* one recording of one process into one file */

/* What is known at a moment; written with the rows. */
struct rtl_rocpd_state {
    struct rtl_events events;
    const char *end; /* why it ended, NULL while it goes on */
    /* what rtl_rocpd_write has done with what was read */
    uint64_t rows, copies;               /* written: all, and those of them that are copies */
    uint64_t calls, markers, calls_lost; /* of HIP and roctx; those that were overwritten before they were read */
    uint64_t linked;                     /* dispatches and copies that have their call */
    uint64_t left_out;                   /* because it was told to leave */
    uint64_t unknown; /* written with a queue or GPU that the process doesn't have, or of which there are too many */
};

/*
 * Starts a recording; `title` is the process's command line. NULL after an error, which the database has. The reader
 * stays the caller's and has to outlive the recording.
 */
struct rtl_rocpd *rtl_rocpd_begin(struct rtl_db *db, struct rtl_reader *reader, int64_t pid, const char *title,
                                  rtl_rocpd_escape *escape);
void rtl_rocpd_free(struct rtl_rocpd *rocpd);

/*
 * Writes records with their links, and the state in one transaction. Bounded work a record, whatever the segment holds.
 * Once *leave is set (NULL = never) the function finishes only its current batch of a few thousand records. Nothing
 * more can be written after an error.
 */
enum rtl_db_status rtl_rocpd_write_linked(struct rtl_rocpd *rocpd, const struct rtl_linked_event *events,
                                          uint32_t count, struct rtl_rocpd_state *state, const _Atomic bool *leave);

/*
 * Its calls of HIP and ranges of roctx are written, too (rocpd_calls.h), from the API segment `api`, which stays the
 * caller's. False without memory.
 */
bool rtl_rocpd_follow_calls(struct rtl_rocpd *rocpd, int api);
/* Reads those that have ended, after the records that are written with them. False when there is no room for more
 * before the next write. */
bool rtl_rocpd_read_calls(struct rtl_rocpd *rocpd);

/* Takes a look at the queues' depth and the signals in use: a row of rocpd_monitor each, with the next write. */
void rtl_rocpd_look(struct rtl_rocpd *rocpd);

/* Reads the host's clocks, and records the offset of boot time at the first call and after each change. The first
 * offset also holds for earlier times if the host wasn't suspended since the process began. */
void rtl_rocpd_look_at_clocks(struct rtl_rocpd *rocpd);
/* As above, with the clocks as arguments: monotonic and real time, and the offset of boot time to monotonic time. */
void rtl_rocpd_see_clocks(struct rtl_rocpd *rocpd, int64_t mono_ns, int64_t real_ns, int64_t boot_offset_ns);

/* Searches in memory so far, see identities.h: tests tell by it how much work there was. */
uint64_t rtl_rocpd_steps(const struct rtl_rocpd *rocpd);

/* The SQL expression for an op's shape as text, from a row of rocpd_op in this file, by whatever tool it is. */
const char *rtl_rocpd_signal(struct rtl_db *db);

/* Packs work-items and workgroup into the value of `dims`; false when they don't fit: then it is text. Pure. */
bool rtl_rocpd_pack(const uint32_t grid[3], const uint16_t workgroup[3], int64_t *dims);

#endif
