/* Opening a recording: whose file it is, before SQLite may do anything to it. See db.h. */
#include "record/db.h"
#include "record/db_guard.h"
#include "record/db_journal.h"
#include "record/db_private.h"
#include "record/db_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 5000 };

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

/* The header of a database says whose it is; nothing is locked for that, and nothing changed. */
enum kind { KIND_NEW, KIND_OURS, KIND_OTHER, KIND_OTHER_VERSION, KIND_UNREADABLE };

static enum kind kind_of(struct rtl_db *db, uint32_t *version)
{
    unsigned char header[100];
    int n = rtl_db_files_head(db->files, header, sizeof header);
    *version = 0;
    if (n < 0)
        return KIND_UNREADABLE;
    if (n == 0)
        return KIND_NEW;
    if (n < (int)sizeof header || memcmp(header, "SQLite format 3", 16) ||
        rtl_db_big_endian(header + 68) != RTL_DB_APPLICATION_ID)
        return KIND_OTHER;
    *version = rtl_db_big_endian(header + 60);
    return *version == RTL_DB_VERSION ? KIND_OURS : KIND_OTHER_VERSION;
}

/*
 * What the path leads to; a new file is made for a writer. Nothing that is there is opened but through SQLite: closing
 * a descriptor of it would let go of the locks that another database of this process has on it. `info` is that of
 * what is there; else it is empty.
 */
static enum rtl_db_status find(const char *path, const struct rtl_db_options *o, bool *made, struct stat *info,
                               char *why, size_t why_bytes)
{
    const char *cannot = o->write ? "write" : "open";
    *made = false;
    if (stat(path, info)) {
        int fd = -1;
        *info = (struct stat){0};
        if (errno == ENOENT && o->write)
            fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
        *made = fd >= 0;
        if (*made)
            close(fd);
        else if (errno != EEXIST) /* a link to nowhere: SQLite makes what it points to */
            return refuse(RTL_DB_PATH, why, why_bytes, "cannot %s %s: %s", cannot, path, strerror(errno));
        return RTL_DB_OK;
    }
    if (S_ISDIR(info->st_mode))
        return refuse(RTL_DB_PATH, why, why_bytes, "cannot %s %s: %s", cannot, path, strerror(EISDIR));
    if (!S_ISREG(info->st_mode))
        return refuse(RTL_DB_PATH, why, why_bytes, "%s is not a file: a recording needs one", path);
    if (access(path, o->write ? R_OK | W_OK : R_OK))
        return refuse(RTL_DB_PATH, why, why_bytes, "cannot %s %s: %s", cannot, path, strerror(errno));
    return RTL_DB_OK;
}

/* Whether the file is what was asked for. Fresh: there is nothing in it yet. */
static enum rtl_db_status look(struct rtl_db *db, const struct rtl_db_options *o, bool *fresh, char *why,
                               size_t why_bytes)
{
    uint32_t version;
    enum kind kind = kind_of(db, &version);
    *fresh = kind == KIND_NEW;
    if (kind == KIND_UNREADABLE)
        return refuse(RTL_DB_PATH, why, why_bytes, "cannot read %s: %s", db->path, strerror(errno ? errno : EIO));
    if (kind == KIND_OTHER && !(o->foreign && !o->write))
        return refuse(RTL_DB_SCHEMA, why, why_bytes, "%s is not a recording of rtl-top%s", db->path,
                      o->write ? ": choose another name, or replace it with --force" : "");
    if (kind == KIND_OTHER_VERSION && !(o->foreign && !o->write))
        return refuse(RTL_DB_SCHEMA, why, why_bytes, "%s is a recording of version %u, this rtl-top knows %d%s",
                      db->path, version, RTL_DB_VERSION,
                      o->write ? ": choose another name, or replace it with --force" : "");
    if (kind == KIND_NEW && !o->write)
        return refuse(RTL_DB_SCHEMA, why, why_bytes, "%s is empty: nothing was recorded", db->path);
    return RTL_DB_OK;
}

static void disconnect(struct rtl_db *db)
{
    sqlite3_close(db->handle);
    db->handle = NULL;
    rtl_db_files_free(db->files);
    db->files = NULL;
}

/* "./" before the path, because some names, such as ":memory:", mean something else than a file to SQLite. */
static bool connect(struct rtl_db *db)
{
    char *name;
    db->files = rtl_db_files_create(db);
    if (!db->files || asprintf(&name, "%s%s", *db->path == '/' ? "" : "./", db->path) < 0) {
        rtl_db_fail(db, RTL_DB_FAILED, "out of memory");
        return false;
    }
    int flags = db->write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int code = sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_NOMUTEX, rtl_db_files_system(db->files));
    free(name);
    if (code)
        rtl_db_fail_code(db, code);
    else
        rtl_db_guard(db);
    return !code;
}

static bool has_other_content(struct rtl_db *db)
{
    uint32_t version;
    enum kind kind = kind_of(db, &version);
    return kind == KIND_OTHER || kind == KIND_OTHER_VERSION;
}

/* Empties the file of another, and begins anew: the connection has taken its page size over. */
static void replace(struct rtl_db *db)
{
    int code = rtl_db_files_empty(db->files);
    if ((code & 0xff) == SQLITE_BUSY)
        rtl_db_fail_code(db, code);
    else if (code)
        rtl_db_fail(db, RTL_DB_PATH, "cannot replace %s: %s", db->path, strerror(errno));
    if (code)
        return;
    disconnect(db);
    connect(db);
}

static void prepare_to_write(struct rtl_db *db, const struct rtl_db_options *o, bool fresh)
{
    char sql[160];
    if (fresh && o->page_bytes) {
        snprintf(sql, sizeof sql, "PRAGMA page_size=%u", o->page_bytes);
        rtl_db_exec(db, sql);
    }
    if (fresh) { /* two that create one file at once: the second one finds it made */
        snprintf(sql, sizeof sql, "BEGIN IMMEDIATE; PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
                 RTL_DB_APPLICATION_ID, RTL_DB_VERSION);
        rtl_db_exec(db, sql);
    }
    rtl_db_exec(db, "PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY; "
                    "PRAGMA ignore_check_constraints=1; "
                    "PRAGMA cache_size=-32768"); /* KiB: a frame of 10,000 kernels fits */
}

static enum rtl_db_status start(struct rtl_db *db, const struct rtl_db_options *o, char *why, size_t why_bytes)
{
    bool fresh = false;
    struct stat info;
    enum rtl_db_status status = find(db->path, o, &db->made, &info, why, why_bytes);
    if (status)
        return status;
    /* SQLite reads links itself: in a folder like /tmp also somebody else's, which the kernel doesn't follow */
    if (connect(db) && info.st_ino && !rtl_db_files_is(db->files, &info))
        rtl_db_fail(db, RTL_DB_PATH, "cannot %s %s: somebody has just put something else there",
                    o->write ? "write" : "open", db->path);
    if (!db->status && o->write && o->force && has_other_content(db))
        replace(db);
    if (!db->status)
        status = look(db, o, &fresh, why, why_bytes);
    if (status)
        return status;
    if (o->write)
        prepare_to_write(db, o, fresh);
    else
        rtl_db_exec(db, "PRAGMA query_only=1; SELECT count(*) FROM sqlite_master");
    if (db->status)
        snprintf(why, why_bytes, "%s", db->why);
    return db->status;
}

static bool finds_nothing(struct rtl_db *db, const char *sql)
{
    sqlite3_stmt *st = NULL;
    bool nothing = !sqlite3_prepare_v2(db->handle, sql, -1, &st, NULL) && sqlite3_step(st) == SQLITE_DONE;
    sqlite3_finalize(st);
    return nothing;
}

/* Takes away a file that this database made and that stayed empty; on a full disk also one with tables and no row. A
 * file in which another process has made tables stays. */
static void remove_if_empty(struct rtl_db *db)
{
    static const struct {
        const char *table, *row;
    } whole[] = {{"SELECT 1 FROM sqlite_master WHERE name = 'rtl_recording'", "SELECT 1 FROM rtl_recording"},
                 {"SELECT 1 FROM sqlite_master WHERE name = 'rocpd_op'", "SELECT 1 FROM rocpd_op"}};
    bool empty = finds_nothing(db, "SELECT 1 FROM sqlite_master");
    if (!empty && db->ran_out) {
        empty = true;
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
            empty = empty && (finds_nothing(db, whole[i].table) || finds_nothing(db, whole[i].row));
    }
    if (empty)
        unlink(db->path);
}

void rtl_db_wait(struct rtl_db *db, unsigned busy_ms)
{
    db->busy_ms = busy_ms ? busy_ms : BUSY_MS;
}

enum rtl_db_status rtl_db_open(const char *path, const struct rtl_db_options *options, struct rtl_db **out, char *why,
                               size_t why_bytes)
{
    /* one at a time: between making a file and having SQLite open it no other of this process may lock it */
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    struct rtl_db *db = calloc(1, sizeof *db);
    *out = NULL;
    if (!db || !(db->path = strdup(path))) {
        free(db);
        return refuse(RTL_DB_FAILED, why, why_bytes, "out of memory");
    }
    db->write = options->write;
    rtl_db_wait(db, options->busy_ms);
    db->meter = &db->work;
    pthread_mutex_lock(&one);
    /* the count of what is allocated isn't used and takes locks; later calls are refused, harmlessly */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_initialize(); /* its file system is asked for before the first database is opened */
    enum rtl_db_status status = start(db, options, why, why_bytes);
    pthread_mutex_unlock(&one);
    if (status)
        rtl_db_close(db);
    else
        *out = db;
    return status;
}

enum rtl_db_status rtl_db_check(const char *path, bool force, char *why, size_t why_bytes)
{
    struct rtl_db *db;
    struct stat info;
    if (force && !stat(path, &info)) { /* it would be emptied */
        bool made;
        return find(path, &(struct rtl_db_options){.write = true}, &made, &info, why, why_bytes);
    }
    enum rtl_db_status status = rtl_db_open(path, &(struct rtl_db_options){.write = true}, &db, why, why_bytes);
    if (!status)
        rtl_db_close(db);
    return status;
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
    if (db->made && db->handle)
        remove_if_empty(db);
    disconnect(db);
    free(db->path);
    free(db);
}
