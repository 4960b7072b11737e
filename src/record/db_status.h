/* How a call on a database ended, with the exit status of rtl-top, and how a user ends it early. */
#ifndef RTL_RECORD_DB_STATUS_H
#define RTL_RECORD_DB_STATUS_H

#include <stdbool.h>

/* X(symbol, exit status of rtl-top, meaning); 0 and 1 are those of RTL_READER_ERRORS (shm/segment_reader.h) */
#define RTL_DB_ERRORS(X)                                                     \
    X(PATH, 10, "a recording or an output file cannot be opened or created") \
    X(SCHEMA, 11, "the file is not a recording, or has another version")     \
    X(FULL, 12, "the output is incomplete: full disk or failed write")       \
    X(CORRUPT, 13, "a recording is damaged")                                 \
    X(BUSY, 14, "a recording stayed locked by another program")              \
    X(MISSING, 15, "the recording lacks the requested data")                 \
    X(SLOWER, 16, "diff: a kernel got slower than --fail-over allows")

#define RTL_DB_ENUM(sym, status, text) RTL_DB_##sym = (status),
enum rtl_db_status {
    RTL_DB_OK = 0,
    RTL_DB_FAILED = 1,
    RTL_DB_ERRORS(RTL_DB_ENUM) RTL_DB_STOPPED = -1 /* the user asked to leave (rtl_db_stop_when): no exit status */
};
#undef RTL_DB_ENUM

/*
 * Set this thread's stop function. A working database calls it very often; once it returns true the statement ends with
 * RTL_DB_STOPPED, and rtl_db_rollback makes the database usable again. Writes stop only when they take long. NULL
 * removes the function.
 */
void rtl_db_stop_when(bool (*asked)(void));

#endif
