/*
 * One SQLite file as rtl-top writes and reads it: opening without ever harming another's file, transactions,
 * statements.
 *
 * Only src/record/db* include sqlite3.h. From the bottom: db_journal.c reads what a recorder left behind that was
 * killed, db_work.c bounds the work, db_file.c and db_vfs.c are what SQLite sees of the disk, db.c has statements and
 * transactions, db_rows.c many rows at a time, db_guard.c keeps a file from doing harm, db_open.c opens. What stands
 * in the file is up to its users: each brings a set of tables (rtl_db_set) that is created when a recording first needs
 * it, so that snapshots, time series and traces can lie in one file and nothing is there that nobody asked for. A file
 * is ours when its application_id is RTL_DB_APPLICATION_ID; its user_version is RTL_DB_VERSION.
 *
 * Errors are latched: after the first one every call on the database does nothing until rtl_db_commit or
 * rtl_db_rollback, which clears it. So a writer begins, inserts and looks at what commit returns; a reader steps until
 * false and looks at rtl_db_status. rtl_db_why is the line for the user in both cases, kept until the next error.
 *
 * Several processes may write into one file, each a transaction at a time (BEGIN IMMEDIATE waits for its turn, bounded
 * by busy_ms). Ids that are taken inside of a transaction, max(id) + 1 or those that SQLite chooses, are therefore
 * never taken twice; a recording is a row with such an id, and what it writes is numbered by (recording, sequence).
 *
 * Journal: SQLite's rollback journal with synchronous=OFF. Measured on a 2-core VM, a frame of 200 rows: 0.6 ms,
 * against 0.9 ms in WAL mode and 5-12 ms (p99 over 100) with an fsync a commit, which would stall the screen. After
 * SIGKILL the file is whole up to the last commit, and it is one file: WAL would leave up to 4 MB of recording in a
 * second one, and doesn't work on network file systems. The price: a crash of the machine, not of the program, may
 * damage the file.
 *
 * A file may come from anywhere. A reader changes nothing on the disk: neither the file, nor what lies beside it. What
 * is read was committed, whether or not its recorder was killed in the middle of the next transaction. A writer touches
 * the file and its journal. What isn't data is refused, and the work that reading takes is bounded by the file's size.
 *
 * Threads: one a database. Several databases of a process may be of one file: nothing here opens or closes a descriptor
 * of it beside SQLite, which would let go of the process's locks (POSIX).
 */
#ifndef RTL_RECORD_DB_H
#define RTL_RECORD_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/db_status.h"
#include "record/db_work.h"

#define RTL_DB_APPLICATION_ID 0x52544c54 /* "RTLT" */
#define RTL_DB_VERSION        1          /* grows when a table changes its meaning, not when one is added */
#define RTL_DB_VALUE_MAX      (4 << 20)  /* bytes of a value or a row: names and their escapes are the longest */

struct rtl_db;
struct rtl_db_statement; /* owned by its database, ends with it */

struct rtl_db_options {
    bool write;          /* else read-only; a file that is missing or empty is created */
    bool force;          /* write: replace a file that is not ours (never needed for one that is) */
    bool foreign;        /* read: any SQLite database will do */
    unsigned busy_ms;    /* how long to wait for other writers; 0 = 5000 */
    unsigned page_bytes; /* of a new file; 0 = SQLite's own choice */
};

/* Tables and views that belong together; they are there when `table`, one of them, is. */
struct rtl_db_set {
    const char *table;
    const char *sql; /* CREATE ...; several statements, no transaction */
};

/*
 * On failure *db is NULL and `why` gets one line that says what is wrong and what to do (no newline, no prefix).
 * A file that is not ours is never changed without `force`.
 */
enum rtl_db_status rtl_db_open(const char *path, const struct rtl_db_options *options, struct rtl_db **db, char *why,
                               size_t why_bytes);
/*
 * Whether a recording can be made at that path, or go on there: what opening it for writing would say. Nothing stays of
 * a file that was not there, and with `force` nothing of one that was is changed.
 */
enum rtl_db_status rtl_db_check(const char *path, bool force, char *why, size_t why_bytes);
/* From now on: busy_ms of the options. */
void rtl_db_wait(struct rtl_db *db, unsigned busy_ms);
void rtl_db_close(struct rtl_db *db); /* what was not committed is lost; NULL is nothing */

const char *rtl_db_path(const struct rtl_db *db);
uint64_t rtl_db_bytes(const struct rtl_db *db); /* of the file, with what stands in its -wal: no more is stored in it */
enum rtl_db_status rtl_db_status(const struct rtl_db *db); /* the latched error */
/* What reads and writes it: the version of SQLite. */
const char *rtl_db_library(void);

const char *rtl_db_why(const struct rtl_db *db);
/* Latches an error of the caller's own: data that no honest recorder writes. */
void rtl_db_fail(struct rtl_db *db, enum rtl_db_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the set is there. To be asked before its first statement, because it also checks the tables: one that is a
 * view, has a trigger, or computes a column or an index is an error (RTL_DB_SCHEMA). */
bool rtl_db_has_set(struct rtl_db *db, const struct rtl_db_set *set);
/* Creates the set's tables unless they are there; a transaction of its own unless one is open. */
enum rtl_db_status rtl_db_need(struct rtl_db *db, const struct rtl_db_set *set);
bool rtl_db_has(struct rtl_db *db, const char *table_or_view);

void rtl_db_begin(struct rtl_db *db);
enum rtl_db_status rtl_db_commit(struct rtl_db *db); /* after an error: rolls back and returns it */
void rtl_db_rollback(struct rtl_db *db);

void rtl_db_exec(struct rtl_db *db, const char *sql); /* statements without results: pragmas, CREATE, UPDATE */

/* NULL after an error. The statement stays usable until the database is closed. */
struct rtl_db_statement *rtl_db_prepare(struct rtl_db *db, const char *sql);

/* Parameters count from 1, columns from 0. Text is bytes: it need not be UTF-8 nor end in NUL; it has to stay in place
 * until the statement has run. A NULL statement is nothing. */
void rtl_db_bind_int(struct rtl_db_statement *st, int at, int64_t value);
void rtl_db_bind_text(struct rtl_db_statement *st, int at, const char *text, size_t bytes);
void rtl_db_bind_null(struct rtl_db_statement *st, int at);

/* Runs to the end and is ready for the next run; parameters keep their values. False after an error. */
bool rtl_db_run(struct rtl_db_statement *st);
/* The next row; false at the end and after an error, and then it is ready for the next run. */
bool rtl_db_step(struct rtl_db_statement *st);
void rtl_db_reset(struct rtl_db_statement *st); /* leaves off before the end */

bool rtl_db_is_null(struct rtl_db_statement *st, int column);
int64_t rtl_db_int(struct rtl_db_statement *st, int column);
double rtl_db_real(struct rtl_db_statement *st, int column);
/* Never NULL, NUL-terminated, valid until the next step; `bytes` may be NULL. */
const char *rtl_db_text(struct rtl_db_statement *st, int column, size_t *bytes);

/*
 * Many rows at a time, for "INSERT ... SELECT * FROM rtl_rows": the table's rows are `count` times `columns` integers
 * in memory, read while the statement runs. Twice as fast as binding and running a statement for each row.
 */
struct rtl_db_rows {
    unsigned columns; /* 1 to 16 */
    const int64_t *values;
    size_t count;
};

/* Makes the table rtl_rows on this connection; `rows` stays the caller's and has to outlive the database. Once. */
void rtl_db_feed(struct rtl_db *db, const struct rtl_db_rows *rows);

int64_t rtl_db_last_id(struct rtl_db *db);              /* rowid of the last INSERT */
int64_t rtl_db_one(struct rtl_db *db, const char *sql); /* first column of the first row; 0 when there is none */

#endif
