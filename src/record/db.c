/* SQLite, and nothing else that knows it. See db.h. */
#include "record/db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 5000, WHY_BYTES = 512 };

struct rtl_db_statement {
    struct rtl_db *db;
    sqlite3_stmt *st;
    struct rtl_db_statement *next;
};

struct rtl_db {
    sqlite3 *handle;
    char *path;
    bool write, open; /* open: a transaction of ours */
    bool made;        /* the file: it was not there before */
    enum rtl_db_status status;
    char why[WHY_BYTES];
    struct rtl_db_statement *statements;
};

void rtl_db_fail(struct rtl_db *db, enum rtl_db_status status, const char *format, ...)
{
    if (db->status)
        return;
    db->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(db->why, sizeof db->why, format, args);
    va_end(args);
}

/* What went wrong on the system's side, if SQLite kept it. */
static const char *system_error(const struct rtl_db *db, const char *otherwise)
{
    int error = sqlite3_system_errno(db->handle);
    return error ? strerror(error) : otherwise;
}

/* Latches an error of SQLite's. */
static void fail(struct rtl_db *db, int code)
{
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
    case SQLITE_CORRUPT:
    case SQLITE_ERROR: /* tables or columns that should be there are not */
        rtl_db_fail(db, RTL_DB_CORRUPT, "%s is damaged: %s", db->path, sqlite3_errmsg(db->handle));
        break;
    case SQLITE_NOTADB:
        rtl_db_fail(db, RTL_DB_SCHEMA, "%s is not a recording: it is no SQLite database", db->path);
        break;
    case SQLITE_NOMEM:
        rtl_db_fail(db, RTL_DB_FAILED, "out of memory");
        break;
    default:
        rtl_db_fail(db, RTL_DB_FAILED, "%s: %s", db->path, sqlite3_errmsg(db->handle));
        break;
    }
}

/* --- opening --- */

static enum rtl_db_status refuse(enum rtl_db_status status, char *why, size_t why_bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static enum rtl_db_status refuse(enum rtl_db_status status, char *why, size_t why_bytes, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, why_bytes, format, args);
    va_end(args);
    return status;
}

/* The header of a database says whose it is; nothing is opened or locked for that, and nothing changed. */
enum kind { KIND_NEW, KIND_OURS, KIND_OTHER, KIND_OTHER_VERSION, KIND_UNREADABLE };

static uint32_t big_endian(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static enum kind kind_of(int fd, uint32_t *version)
{
    unsigned char header[100];
    ssize_t n = pread(fd, header, sizeof header, 0);
    *version = 0;
    if (n < 0)
        return KIND_UNREADABLE;
    if (n == 0)
        return KIND_NEW;
    if (n < (ssize_t)sizeof header || memcmp(header, "SQLite format 3", 16) ||
        big_endian(header + 68) != RTL_DB_APPLICATION_ID)
        return KIND_OTHER;
    *version = big_endian(header + 60);
    return *version == RTL_DB_VERSION ? KIND_OURS : KIND_OTHER_VERSION;
}

/* Empties a file that is to be replaced; a journal of the old one must not be rolled back into the new one. */
static int make_empty(const char *path, int fd)
{
    static const char *const beside[] = {"-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        char *name;
        if (asprintf(&name, "%s%s", path, beside[i]) < 0)
            return ENOMEM;
        int failed = unlink(name) && errno != ENOENT ? errno : 0;
        free(name);
        if (failed)
            return failed;
    }
    return ftruncate(fd, 0) ? errno : 0;
}

/* Looks at the file before SQLite does: its errors have names, and what is not ours stays as it is. */
static enum rtl_db_status look(const char *path, const struct rtl_db_options *o, bool *fresh, bool *made, char *why,
                               size_t why_bytes)
{
    struct stat facts;
    uint32_t version;
    *made = o->write && lstat(path, &facts) && errno == ENOENT;
    int fd = open(path, (o->write ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
    if (fd < 0)
        return refuse(RTL_DB_PATH, why, why_bytes, "cannot %s %s: %s", o->write ? "write" : "open", path,
                      strerror(errno));
    if (fstat(fd, &facts) || !S_ISREG(facts.st_mode)) {
        close(fd);
        return refuse(RTL_DB_PATH, why, why_bytes, "%s is not a file: a recording needs one", path);
    }
    enum kind kind = kind_of(fd, &version);
    enum rtl_db_status status = RTL_DB_OK;
    if (kind == KIND_UNREADABLE)
        status = refuse(RTL_DB_PATH, why, why_bytes, "cannot read %s: %s", path, strerror(errno));
    else if (o->write && o->force && (kind == KIND_OTHER || kind == KIND_OTHER_VERSION)) {
        int failed = make_empty(path, fd);
        if (failed)
            status = refuse(RTL_DB_PATH, why, why_bytes, "cannot replace %s: %s", path, strerror(failed));
        kind = KIND_NEW;
    } else if (kind == KIND_OTHER && !(o->foreign && !o->write))
        status = refuse(RTL_DB_SCHEMA, why, why_bytes, "%s is not a recording of rtl-top%s", path,
                        o->write ? ": choose another name, or replace it with --force" : "");
    else if (kind == KIND_OTHER_VERSION && !(o->foreign && !o->write))
        status = refuse(RTL_DB_SCHEMA, why, why_bytes, "%s is a recording of version %u, this rtl-top knows %d%s", path,
                        version, RTL_DB_VERSION, o->write ? ": choose another name, or replace it with --force" : "");
    else if (kind == KIND_NEW && !o->write)
        status = refuse(RTL_DB_SCHEMA, why, why_bytes, "%s is empty: nothing was recorded", path);
    *fresh = kind == KIND_NEW;
    close(fd);
    return status;
}

/* The user named a file: to SQLite ":memory:" and "file:..." are something else. */
static int open_plain(const char *path, sqlite3 **handle, int flags)
{
    char *plain;
    if (asprintf(&plain, "%s%s", *path == '/' ? "" : "./", path) < 0)
        return SQLITE_NOMEM;
    int code = sqlite3_open_v2(plain, handle, flags, NULL);
    free(plain);
    return code;
}

/* A file of ours that nothing came into, on a full disk, say. What another one has made tables in is not ours alone. */
static void remove_if_empty(struct rtl_db *db)
{
    sqlite3_stmt *st = NULL;
    if (!sqlite3_prepare_v2(db->handle, "SELECT 1 FROM sqlite_master", -1, &st, NULL) &&
        sqlite3_step(st) == SQLITE_DONE)
        unlink(db->path);
    sqlite3_finalize(st);
}

enum rtl_db_status rtl_db_open(const char *path, const struct rtl_db_options *options, struct rtl_db **out, char *why,
                               size_t why_bytes)
{
    bool fresh = false, made = false;
    *out = NULL;
    enum rtl_db_status status = look(path, options, &fresh, &made, why, why_bytes);
    if (status)
        return status;
    struct rtl_db *db = calloc(1, sizeof *db);
    if (!db || !(db->path = strdup(path))) {
        free(db);
        return refuse(RTL_DB_FAILED, why, why_bytes, "out of memory");
    }
    db->write = options->write;
    db->made = made;
    /* for reading, too: the journal of a recorder that was killed has to be rolled back, where that is permitted */
    int flags = SQLITE_OPEN_READWRITE | (options->write ? SQLITE_OPEN_CREATE : 0);
    /* nobody asks what it has allocated, and keeping count takes locks; later calls are refused, harmlessly */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    int code = open_plain(path, &db->handle, flags | SQLITE_OPEN_NOMUTEX);
    if (code) {
        fail(db, code);
    } else {
        sqlite3_extended_result_codes(db->handle, 1);
        sqlite3_busy_timeout(db->handle, (int)(options->busy_ms ? options->busy_ms : BUSY_MS));
        /* a recording may come from anywhere: its schema must not make SQLite do what only our own code may */
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    }
    if (options->write && fresh) {
        char sql[160];
        if (options->page_bytes) {
            snprintf(sql, sizeof sql, "PRAGMA page_size=%u", options->page_bytes);
            rtl_db_exec(db, sql);
        }
        /* two that create one file at once: the second one finds it made */
        snprintf(sql, sizeof sql, "BEGIN IMMEDIATE; PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
                 RTL_DB_APPLICATION_ID, RTL_DB_VERSION);
        rtl_db_exec(db, sql);
    }
    if (options->write)
        rtl_db_exec(db, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY; "
                        "PRAGMA cache_size=-32768"); /* KiB: a frame of 10,000 kernels fits */
    else
        rtl_db_exec(db, "PRAGMA query_only=1; SELECT count(*) FROM sqlite_master");
    if (db->status) {
        snprintf(why, why_bytes, "%s", db->why);
        status = db->status;
        rtl_db_close(db);
        return status;
    }
    *out = db;
    return RTL_DB_OK;
}

void rtl_db_close(struct rtl_db *db)
{
    if (!db)
        return;
    for (struct rtl_db_statement *st = db->statements, *next; st; st = next) {
        next = st->next;
        sqlite3_finalize(st->st);
        free(st);
    }
    if (db->made)
        remove_if_empty(db);
    sqlite3_close(db->handle);
    free(db->path);
    free(db);
}

const char *rtl_db_path(const struct rtl_db *db)
{
    return db->path;
}

enum rtl_db_status rtl_db_status(const struct rtl_db *db)
{
    return db->status;
}

const char *rtl_db_why(const struct rtl_db *db)
{
    return db->why;
}

/* --- transactions --- */

void rtl_db_exec(struct rtl_db *db, const char *sql)
{
    if (db->status)
        return;
    int code = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
    if (code)
        fail(db, code);
}

void rtl_db_begin(struct rtl_db *db)
{
    rtl_db_exec(db, "BEGIN IMMEDIATE");
    db->open = !db->status;
}

void rtl_db_rollback(struct rtl_db *db)
{
    for (struct rtl_db_statement *st = db->statements; st; st = st->next)
        sqlite3_reset(st->st);
    if (!sqlite3_get_autocommit(db->handle)) /* some errors have rolled back already */
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
    db->open = false;
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
    rtl_db_bind_text(st, 1, name, strlen(name));
    bool found = rtl_db_step(st);
    rtl_db_reset(st);
    return found;
}

enum rtl_db_status rtl_db_need(struct rtl_db *db, const struct rtl_db_set *set)
{
    bool ours = !db->open;
    if (db->status || rtl_db_has(db, set->table))
        return db->status;
    if (ours)
        rtl_db_begin(db);
    if (!rtl_db_has(db, set->table)) /* asked again: another process may have been faster */
        rtl_db_exec(db, set->sql);
    return ours ? rtl_db_commit(db) : db->status;
}

/* --- statements --- */

struct rtl_db_statement *rtl_db_prepare(struct rtl_db *db, const char *sql)
{
    if (db->status)
        return NULL;
    for (struct rtl_db_statement *st = db->statements; st; st = st->next)
        if (!strcmp(sqlite3_sql(st->st), sql) && !sqlite3_stmt_busy(st->st))
            return st; /* the same text is the same statement: few, so a list does */
    struct rtl_db_statement *st = calloc(1, sizeof *st);
    if (!st) {
        rtl_db_fail(db, RTL_DB_FAILED, "out of memory");
        return NULL;
    }
    int code = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &st->st, NULL);
    if (code) {
        fail(db, code);
        free(st);
        return NULL;
    }
    st->db = db;
    st->next = db->statements;
    db->statements = st;
    return st;
}

static void check_bind(struct rtl_db_statement *st, int code)
{
    if (code)
        fail(st->db, code);
}

void rtl_db_bind_int(struct rtl_db_statement *st, int at, int64_t value)
{
    if (st)
        check_bind(st, sqlite3_bind_int64(st->st, at, value));
}

void rtl_db_bind_real(struct rtl_db_statement *st, int at, double value)
{
    if (st)
        check_bind(st, sqlite3_bind_double(st->st, at, value));
}

void rtl_db_bind_text(struct rtl_db_statement *st, int at, const char *text, size_t bytes)
{
    if (st)
        check_bind(st, sqlite3_bind_text64(st->st, at, text, bytes, SQLITE_STATIC, SQLITE_UTF8));
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
    int code = sqlite3_step(st->st);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        fail(st->db, code);
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
    if (bytes)
        *bytes = text ? (size_t)sqlite3_column_bytes(st->st, column) : 0;
    return text ? (const char *)text : "";
}

int64_t rtl_db_last_id(struct rtl_db *db)
{
    return sqlite3_last_insert_rowid(db->handle);
}

int64_t rtl_db_one(struct rtl_db *db, const char *sql)
{
    struct rtl_db_statement *st = rtl_db_prepare(db, sql);
    int64_t value = rtl_db_step(st) ? rtl_db_int(st, 0) : 0;
    rtl_db_reset(st);
    return value;
}

/* --- rows from memory: a virtual table without a life of its own, read from the first row to the last --- */

struct rows_table {
    sqlite3_vtab base; /* first: SQLite's view of it */
    const struct rtl_db_rows *rows;
};

struct rows_cursor {
    sqlite3_vtab_cursor base;
    const struct rtl_db_rows *rows;
    size_t at;
};

static int rows_connect(sqlite3 *handle, void *data, int argc, const char *const *argv, sqlite3_vtab **out,
                        char **error)
{
    const struct rtl_db_rows *rows = data;
    char sql[160] = "CREATE TABLE rtl_rows(c0";
    (void)argc;
    (void)argv;
    (void)error;
    for (unsigned i = 1; i < rows->columns; i++)
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql), ",c%u", i);
    strcat(sql, ")");
    struct rows_table *table = sqlite3_malloc(sizeof *table);
    if (!table)
        return SQLITE_NOMEM;
    *table = (struct rows_table){.rows = rows};
    *out = &table->base;
    return sqlite3_declare_vtab(handle, sql);
}

static int rows_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static int rows_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
    (void)table;
    plan->estimatedCost = 1e6;
    return SQLITE_OK;
}

static int rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
    struct rows_cursor *cursor = sqlite3_malloc(sizeof *cursor);
    if (!cursor)
        return SQLITE_NOMEM;
    *cursor = (struct rows_cursor){.rows = ((struct rows_table *)table)->rows};
    *out = &cursor->base;
    return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int rows_first(sqlite3_vtab_cursor *cursor, int plan, const char *name, int argc, sqlite3_value **argv)
{
    (void)plan;
    (void)name;
    (void)argc;
    (void)argv;
    ((struct rows_cursor *)cursor)->at = 0;
    return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
    ((struct rows_cursor *)cursor)->at++;
    return SQLITE_OK;
}

static int rows_end(sqlite3_vtab_cursor *cursor)
{
    const struct rows_cursor *c = (const struct rows_cursor *)cursor;
    return c->at >= c->rows->count;
}

static int rows_value(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
    const struct rows_cursor *c = (const struct rows_cursor *)cursor;
    sqlite3_result_int64(context, c->rows->values[c->at * c->rows->columns + (unsigned)column]);
    return SQLITE_OK;
}

static int rows_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *id)
{
    *id = (sqlite3_int64)((struct rows_cursor *)cursor)->at;
    return SQLITE_OK;
}

void rtl_db_feed(struct rtl_db *db, const struct rtl_db_rows *rows)
{
    static const sqlite3_module module = {.xConnect = rows_connect, /* no xCreate: it exists without CREATE */
                                          .xDisconnect = rows_disconnect,
                                          .xBestIndex = rows_plan,
                                          .xOpen = rows_open,
                                          .xClose = rows_close,
                                          .xFilter = rows_first,
                                          .xNext = rows_next,
                                          .xEof = rows_end,
                                          .xColumn = rows_value,
                                          .xRowid = rows_id};
    union {
        const void *in;
        void *out;
    } data = {.in = rows};
    int code = db->status ? SQLITE_OK : sqlite3_create_module(db->handle, "rtl_rows", &module, data.out);
    if (code)
        fail(db, code);
}

static void nothing(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)context;
    (void)argc;
    (void)argv;
}

void rtl_db_mute(struct rtl_db *db, const char *function)
{
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    int code = db->status
                   ? SQLITE_OK
                   : sqlite3_create_function_v2(db->handle, function, -1, flags, NULL, nothing, NULL, NULL, NULL);
    if (code)
        fail(db, code);
}
