/* Statements, transactions and SQLite's errors. See db.h. */
#include "record/db.h"
#include "record/db_private.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rtl_db_fail(struct rtl_db *db, enum rtl_db_status status, const char *format, ...)
{
    if (db->status)
        return;
    db->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(db->why, sizeof db->why, format, args);
    va_end(args);
    for (char *c = db->why; (c = strpbrk(c, "\r\n"));) /* a schema that SQLite quotes may have several lines */
        *c = ' ';
}

void rtl_db_damaged(struct rtl_db *db, const char *what)
{
    rtl_db_fail(db, RTL_DB_CORRUPT, "%s is damaged: %s", db->path, what);
}

void rtl_db_no_memory(struct rtl_db *db)
{
    rtl_db_fail(db, RTL_DB_FAILED, "out of memory");
}

/* The operating system's error, if SQLite kept it. */
static const char *system_error(const struct rtl_db *db, const char *otherwise)
{
    int error = sqlite3_system_errno(db->handle);
    return error ? strerror(error) : otherwise;
}

/* Latch the reason if our own limits or file system interrupted SQLite, which reports only that it was interrupted. */
static bool fail_own_reason(struct rtl_db *db)
{
    char why[RTL_DB_WHY_BYTES];
    enum rtl_db_status refused = db->files ? rtl_db_files_refused(db->files, why, sizeof why) : RTL_DB_OK;
    if (db->given_up == RTL_DB_STOPPED)
        rtl_db_fail(db, RTL_DB_STOPPED, "stopped");
    else if (db->given_up)
        rtl_db_damaged(db, "reading it takes more work than any recording of its size");
    else if (refused)
        rtl_db_fail(db, refused, "%s", why);
    bool own = db->given_up || refused;
    db->given_up = RTL_DB_OK;
    return own;
}

void rtl_db_fail_code(struct rtl_db *db, int code)
{
    if (fail_own_reason(db))
        return;
    if (!db->write && ((code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE)) {
        /* a reader writes only unnamed temporary files, for sorting */
        rtl_db_fail(db, RTL_DB_FULL, "cannot write a temporary file to sort %s: %s; TMPDIR says in which folder",
                    db->path, system_error(db, "no space left"));
        return;
    }
    db->ran_out = db->ran_out || (db->write && ((code & 0xff) == SQLITE_FULL || (code & 0xff) == SQLITE_IOERR));
    switch (code & 0xff) {
    case SQLITE_FULL:
        rtl_db_fail(db, RTL_DB_FULL, "cannot write %s: no space left", db->path);
        break;
    case SQLITE_IOERR:
        rtl_db_fail(db, db->write ? RTL_DB_FULL : RTL_DB_CORRUPT, "cannot %s %s: %s", db->write ? "write" : "read",
                    db->path, system_error(db, "input/output error"));
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        rtl_db_fail(db, RTL_DB_BUSY, "%s is locked by another program: try again when that is done", db->path);
        break;
    case SQLITE_READONLY:
        rtl_db_fail(db, RTL_DB_PATH, "cannot write %s: it is read-only, or its journal cannot be rolled back here",
                    db->path);
        break;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
        rtl_db_fail(db, RTL_DB_PATH, "cannot open %s or its journal beside it: %s", db->path,
                    system_error(db, "not permitted"));
        break;
    case SQLITE_TOOBIG:
        rtl_db_fail(db, db->write ? RTL_DB_FULL : RTL_DB_CORRUPT, "%s %s: a value is longer than %d bytes",
                    db->write ? "cannot write" : "cannot read", db->path, RTL_DB_VALUE_MAX);
        break;
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* missing tables or columns */
        rtl_db_damaged(db, sqlite3_errmsg(db->handle));
        break;
    case SQLITE_NOTADB:
        rtl_db_fail(db, RTL_DB_SCHEMA, "%s is not a recording: it is no SQLite database", db->path);
        break;
    case SQLITE_NOMEM:
        rtl_db_no_memory(db);
        break;
    default:
        rtl_db_fail(db, RTL_DB_FAILED, "%s: %s", db->path, sqlite3_errmsg(db->handle));
        break;
    }
}

const char *rtl_db_path(const struct rtl_db *db)
{
    return db->path;
}

uint64_t rtl_db_bytes(const struct rtl_db *db)
{
    return rtl_db_files_size(db->files) + rtl_db_files_log_size(db->files);
}

enum rtl_db_status rtl_db_status(const struct rtl_db *db)
{
    return db->status;
}

const char *rtl_db_library(void)
{
    return sqlite3_libversion();
}

const char *rtl_db_why(const struct rtl_db *db)
{
    return db->why;
}

/* Charge work to this statement from now on, NULL: to the database; a statement that starts begins at 0. */
static void select_meter(struct rtl_db *db, struct rtl_db_statement *st)
{
    db->meter = st ? &st->work : &db->work;
    if (!st || !sqlite3_stmt_busy(st->st))
        *db->meter = 0;
}

/* --- transactions --- */

void rtl_db_exec(struct rtl_db *db, const char *sql)
{
    if (db->status)
        return;
    select_meter(db, NULL);
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    if (code)
        rtl_db_fail_code(db, code);
}

void rtl_db_begin(struct rtl_db *db)
{
    rtl_db_exec(db, "BEGIN IMMEDIATE");
    db->open = !db->status;
}

void rtl_db_reset_all(struct rtl_db *db)
{
    for (struct rtl_db_statement *st = db->statements; st; st = st->next)
        sqlite3_reset(st->st);
}

void rtl_db_rollback(struct rtl_db *db)
{
    rtl_db_reset_all(db);
    if (!sqlite3_get_autocommit(db->handle)) /* after some errors SQLite has rolled back */
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    db->open = false;
    if (db->status == RTL_DB_STOPPED)
        db->why[0] = 0;
    db->status = RTL_DB_OK;
}

enum rtl_db_status rtl_db_commit(struct rtl_db *db)
{
    rtl_db_exec(db, "COMMIT");
    enum rtl_db_status status = db->status;
    if (status)
        rtl_db_rollback(db);
    db->open = false;
    return status;
}

bool rtl_db_has(struct rtl_db *db, const char *name)
{
    struct rtl_db_statement *st = rtl_db_prepare(db, "SELECT 1 FROM sqlite_master WHERE name = ?");
    rtl_db_bind_string(st, 1, name);
    return rtl_db_value(st);
}

/* --- statements --- */

struct rtl_db_statement *rtl_db_prepare(struct rtl_db *db, const char *sql)
{
    if (db->status)
        return NULL;
    for (struct rtl_db_statement *st = db->statements; st; st = st->next)
        if (!strcmp(sqlite3_sql(st->st), sql) && !sqlite3_stmt_busy(st->st))
            return st;
    struct rtl_db_statement *st = calloc(1, sizeof *st);
    if (!st) {
        rtl_db_no_memory(db);
        return NULL;
    }
    select_meter(db, NULL);
    int code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &st->st, NULL);
    if (code) {
        rtl_db_fail_code(db, code);
        free(st);
        return NULL;
    }
    st->db = db;
    st->next = db->statements;
    db->statements = st;
    return st;
}

void rtl_db_forget(struct rtl_db_statement *st)
{
    if (!st)
        return;
    struct rtl_db_statement **at = &st->db->statements;
    while (*at != st)
        at = &(*at)->next;
    *at = st->next;
    st->db->meter = &st->db->work;
    sqlite3_finalize(st->st);
    free(st);
}

static void check_bind(struct rtl_db_statement *st, int code)
{
    if (code)
        rtl_db_fail_code(st->db, code);
}

void rtl_db_bind_int(struct rtl_db_statement *st, int at, int64_t value)
{
    if (st)
        check_bind(st, sqlite3_bind_int64(st->st, at, value));
}

void rtl_db_bind_text(struct rtl_db_statement *st, int at, const char *text, size_t bytes)
{
    if (st)
        check_bind(st, sqlite3_bind_text64(st->st, at, text, bytes, SQLITE_STATIC, SQLITE_UTF8));
}

void rtl_db_bind_string(struct rtl_db_statement *st, int at, const char *string)
{
    if (string)
        rtl_db_bind_text(st, at, string, strlen(string));
    else
        rtl_db_bind_null(st, at);
}

struct rtl_db_statement *rtl_db_bind_list(struct rtl_db_statement *st, int at, const int64_t *values, int count)
{
    for (int i = 0; i < count; i++)
        rtl_db_bind_int(st, at + i, values[i]);
    return st;
}

void rtl_db_bind_string_list(struct rtl_db_statement *st, int at, const char *const *strings, int count)
{
    for (int i = 0; i < count; i++)
        rtl_db_bind_string(st, at + i, strings[i]);
}

void rtl_db_bind_null(struct rtl_db_statement *st, int at)
{
    if (st)
        check_bind(st, sqlite3_bind_null(st->st, at));
}

bool rtl_db_step(struct rtl_db_statement *st)
{
    if (!st || st->db->status)
        return false;
    select_meter(st->db, st);
    int code = sqlite3_step(st->st);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        rtl_db_fail_code(st->db, code);
    sqlite3_reset(st->st);
    return false;
}

bool rtl_db_run(struct rtl_db_statement *st)
{
    while (rtl_db_step(st))
        continue;
    return st && !st->db->status;
}

void rtl_db_reset(struct rtl_db_statement *st)
{
    if (st)
        sqlite3_reset(st->st);
}

bool rtl_db_is_null(struct rtl_db_statement *st, int column)
{
    return sqlite3_column_type(st->st, column) == SQLITE_NULL;
}

int64_t rtl_db_int(struct rtl_db_statement *st, int column)
{
    return sqlite3_column_int64(st->st, column);
}

double rtl_db_real(struct rtl_db_statement *st, int column)
{
    return sqlite3_column_double(st->st, column);
}

const char *rtl_db_text(struct rtl_db_statement *st, int column, size_t *bytes)
{
    const unsigned char *text = sqlite3_column_text(st->st, column);
    size_t length = text ? (size_t)sqlite3_column_bytes(st->st, column) : 0;
    st->work += length / 16; /* a long value may occur in every row, at no cost of steps */
    if (bytes)
        *bytes = length;
    return text ? (const char *)text : "";
}

void rtl_db_printable(struct rtl_db_statement *st, int column, char *to, size_t bytes)
{
    const char *from = rtl_db_text(st, column, NULL);
    size_t n = 0;
    for (; n + 1 < bytes && from[n]; n++)
        to[n] = from[n] >= 0x20 && from[n] < 0x7f ? from[n] : '?';
    to[n] = 0;
}

int64_t rtl_db_last_id(struct rtl_db *db)
{
    return sqlite3_last_insert_rowid(db->handle);
}

int64_t rtl_db_value(struct rtl_db_statement *st)
{
    int64_t value = rtl_db_step(st) ? rtl_db_int(st, 0) : 0;
    rtl_db_reset(st);
    return value;
}

int64_t rtl_db_one(struct rtl_db *db, const char *sql)
{
    return rtl_db_value(rtl_db_prepare(db, sql));
}
