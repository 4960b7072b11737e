/*
 * SQLite files: opening without harm to files of others, transactions, statements. Only src/record/db* include
 * sqlite3.h:
 *
 *   db_journal.c  reads the journal of a recorder that was killed
 *   db_vfs.c      the file system that SQLite sees
 *   db_guard.c    limits on what a file can make SQLite do
 *   db.c          statements, transactions and errors
 *   db_open.c     opens a file
 *
 * A file is a recording if its application_id is RTL_DB_APPLICATION_ID; its user_version is RTL_DB_VERSION. Tables come
 * in sets (rtl_db_set). A set is created when a recording first needs it, so one file can hold snapshots, time series
 * and traces.
 *
 * Errors are latched: after the first error every call does nothing until rtl_db_commit or rtl_db_rollback clears the
 * error. A writer begins, inserts and checks what commit returns; a reader steps until false and checks rtl_db_status.
 * rtl_db_why is the line for the user in both cases and stays until the next error.
 *
 * Several processes may write into one file, one transaction at a time (BEGIN IMMEDIATE waits up to busy_ms). Ids
 * chosen inside a transaction, max(id) + 1 or SQLite's choice, are therefore unique. A recording is a row with such an
 * id; its frames are numbered by (recording, sequence).
 *
 * Journal: SQLite's rollback journal with synchronous=OFF. Measured on a 2-core VM, a frame of 200 rows takes 0.6 ms,
 * against 0.9 ms in WAL mode and 5-12 ms (p99 over 100) with an fsync per commit, which would stall the screen. After
 * SIGKILL the file is complete up to the last commit and is a single file; WAL would leave up to 4 MB of the recording
 * in a second one and does not work on network file systems. The price: a crash of the machine may damage the file.
 *
 * Files are untrusted. A reader changes neither the file nor the files beside it, and reads committed data only, even
 * after a recorder was killed inside a transaction. A writer changes the file and its journal only. Views, triggers and
 * computed columns in the place of tables are refused; the file's size bounds the work of a statement.
 *
 * Threads: one per database. A process may open one file several times: outside SQLite no descriptor of the file is
 * opened or closed, because closing one would drop the process's locks (POSIX).
 */
#ifndef RTL_RECORD_DB_H
#define RTL_RECORD_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/db_status.h"

#define RTL_DB_APPLICATION_ID 0x52544c54 /* "RTLT" */
#define RTL_DB_VERSION        1          /* grows when a table changes its meaning, not when one is added */
#define RTL_DB_VALUE_MAX      (4 << 20)  /* bytes of a value or a row: names and their escapes are the longest */

struct rtl_db;
struct rtl_db_statement; /* owned by its database, ends with it */

struct rtl_db_options {
    bool write;          /* else read-only; a missing or empty file is created */
    bool force;          /* write: replace a file that is not a recording */
    bool foreign;        /* read: accept any SQLite database */
    unsigned busy_ms;    /* how long to wait for other writers; 0 = 5000 */
    unsigned page_bytes; /* of a new file; 0 = SQLite's default */
};

/* Tables and views that belong together; they exist if `table`, one of them, does. */
struct rtl_db_set {
    const char *table;
    const char *sql; /* CREATE ...; several statements, no transaction */
};

/* Open a file. On failure *db is NULL and `why` gets one line: what is wrong and what to do (no newline, no prefix). A
 * file that is not a recording is never changed without `force`. */
enum rtl_db_status rtl_db_open(const char *path, const struct rtl_db_options *options, struct rtl_db **db, char *why,
                               size_t why_bytes);
/* Report whether a recording can be created or continued at that path. A file that did not exist does not exist
 * afterwards either; with `force` an existing file is not changed. */
enum rtl_db_status rtl_db_check(const char *path, bool force, char *why, size_t why_bytes);
/* Set how long to wait for other writers (busy_ms of the options). */
void rtl_db_wait(struct rtl_db *db, unsigned busy_ms);
void rtl_db_close(struct rtl_db *db); /* drops uncommitted changes; NULL is allowed */

const char *rtl_db_path(const struct rtl_db *db);
uint64_t rtl_db_bytes(const struct rtl_db *db);            /* of the file and its -wal: an upper bound for the data */
enum rtl_db_status rtl_db_status(const struct rtl_db *db); /* the latched error */
const char *rtl_db_library(void);                          /* SQLite's version */

const char *rtl_db_why(const struct rtl_db *db);
/* Latch an error of the caller: data that no honest recorder writes. */
void rtl_db_fail(struct rtl_db *db, enum rtl_db_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void rtl_db_damaged(struct rtl_db *db, const char *what); /* latch "FILE is damaged: WHAT" */
void rtl_db_no_memory(struct rtl_db *db);

/* Return whether the set exists, and check its tables: a view in the place of a table, a trigger, a computed column or
 * index is an error (RTL_DB_SCHEMA). Call this before the set's first statement. */
bool rtl_db_has_set(struct rtl_db *db, const struct rtl_db_set *set);
/* Create the set's tables unless they exist, in a transaction of its own unless one is open. */
enum rtl_db_status rtl_db_need(struct rtl_db *db, const struct rtl_db_set *set);
bool rtl_db_has(struct rtl_db *db, const char *table_or_view);

void rtl_db_begin(struct rtl_db *db);
enum rtl_db_status rtl_db_commit(struct rtl_db *db); /* after an error: rolls back and returns it */
void rtl_db_rollback(struct rtl_db *db);

void rtl_db_exec(struct rtl_db *db, const char *sql); /* statements without results: pragmas, CREATE, UPDATE */

/* NULL after an error; all functions below accept a NULL statement. It stays valid until the database is closed. */
struct rtl_db_statement *rtl_db_prepare(struct rtl_db *db, const char *sql);

/* Parameters count from 1, columns from 0. Text is bytes, not necessarily UTF-8 or NUL-terminated; it has to stay in
 * place until the statement has run. */
void rtl_db_bind_int(struct rtl_db_statement *st, int at, int64_t value);
void rtl_db_bind_text(struct rtl_db_statement *st, int at, const char *text, size_t bytes);
void rtl_db_bind_string(struct rtl_db_statement *st, int at, const char *string); /* NULL binds SQL's NULL */
void rtl_db_bind_null(struct rtl_db_statement *st, int at);
/* Bind integers from parameter `at` on; prepare a statement and bind its first parameters to integers. */
#define RTL_DB_INTS_(...) \
    (const int64_t[]){__VA_ARGS__}, (int)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define rtl_db_bind_ints(st, at, ...)     rtl_db_bind_list(st, at, RTL_DB_INTS_(__VA_ARGS__))
#define rtl_db_prepare_ints(db, sql, ...) rtl_db_bind_ints(rtl_db_prepare(db, sql), 1, __VA_ARGS__)
struct rtl_db_statement *rtl_db_bind_list(struct rtl_db_statement *st, int at, const int64_t *values, int count);
/* Bind strings from parameter `at` on. */
#define RTL_DB_STRINGS_(...) \
    (const char *const[]){__VA_ARGS__}, (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
#define rtl_db_bind_strings(st, at, ...) rtl_db_bind_string_list(st, at, RTL_DB_STRINGS_(__VA_ARGS__))
void rtl_db_bind_string_list(struct rtl_db_statement *st, int at, const char *const *strings, int count);

/* Run the statement to its end and reset it; parameters keep their values. False after an error. */
bool rtl_db_run(struct rtl_db_statement *st);
/* Fetch the next row; false at the end and after an error, and then the statement is reset. */
bool rtl_db_step(struct rtl_db_statement *st);
void rtl_db_reset(struct rtl_db_statement *st);  /* end before the last row */
void rtl_db_forget(struct rtl_db_statement *st); /* free the statement: its pointer is invalid then */
void rtl_db_reset_all(struct rtl_db *db);        /* end all statements, which releases the read lock; keeps an error */

bool rtl_db_is_null(struct rtl_db_statement *st, int column);
int64_t rtl_db_int(struct rtl_db_statement *st, int column);
double rtl_db_real(struct rtl_db_statement *st, int column);
/* Never NULL, NUL-terminated, valid until the next step; `bytes` may be NULL. */
const char *rtl_db_text(struct rtl_db_statement *st, int column, size_t *bytes);
/* Copy a text, cut to `bytes` and with '?' for all but printable ASCII. */
void rtl_db_printable(struct rtl_db_statement *st, int column, char *to, size_t bytes);

int64_t rtl_db_last_id(struct rtl_db *db); /* rowid of the last INSERT */
/* Run a statement: the first column of the first row; 0 without rows and after an error. */
int64_t rtl_db_value(struct rtl_db_statement *st);
int64_t rtl_db_one(struct rtl_db *db, const char *sql); /* as rtl_db_value */

#endif
