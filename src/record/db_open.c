/* Opening a recording: check that the file is a recording before SQLite may change it. See db.h. */
#include "record/db.h"
#include "record/db_private.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MS = 5000 };

static const char replace_hint[] = ": choose another name, or replace it with --force";

/* The header of the file shows this; reading it locks and changes nothing. */
enum db_content { CONTENT_NEW, CONTENT_OURS, CONTENT_OTHER, CONTENT_OTHER_VERSION, CONTENT_UNREADABLE };

static enum db_content read_content(struct rtl_db *db, uint32_t *version)
{
    unsigned char header[100];
    int n = rtl_db_files_head(db->files, header, sizeof header);
    *version = 0;
    if (n < 0)
        return CONTENT_UNREADABLE;
    if (n == 0)
        return CONTENT_NEW;
    if (n < (int)sizeof header || memcmp(header, "SQLite format 3", 16) ||
        rtl_db_big_endian(header + 68) != RTL_DB_APPLICATION_ID)
        return CONTENT_OTHER;
    *version = rtl_db_big_endian(header + 60);
    return *version == RTL_DB_VERSION ? CONTENT_OURS : CONTENT_OTHER_VERSION;
}

/* Create a file for a writer unless one exists. Only a new file's descriptor may be closed, see find_file. */
static void create_file(struct rtl_db *db, struct stat *info)
{
    int fd = db->write && !rtl_safe_path_stat(&db->at, info)
                 ? rtl_safe_path_open(&db->at, O_RDWR | O_CREAT | O_EXCL, 0666)
                 : -1;
    db->made = fd >= 0;
    if (db->made)
        close(fd);
}

/*
 * Check the file at the path, or create one for a writer; *info gets its stat. Only SQLite opens an existing file:
 * closing another descriptor of it would drop the locks that another database of this process holds on it. Errors are
 * latched.
 */
static void find_file(struct rtl_db *db, struct stat *info)
{
    const char *cannot = db->write ? "cannot write" : "cannot open";
    char why[RTL_DB_WHY_BYTES];
    if (!rtl_safe_path_find(&db->at, db->path, db->write, cannot, why, sizeof why)) {
        rtl_db_fail(db, RTL_DB_PATH, "%s", why);
        return;
    }
    create_file(db, info);
    int error = errno; /* why the file could not be created, if it is missing */
    if (!rtl_safe_path_stat(&db->at, info))
        rtl_db_fail(db, RTL_DB_PATH, "%s %s: %s", cannot, db->path, strerror(db->write ? error : errno));
    else if (S_ISDIR(info->st_mode))
        rtl_db_fail(db, RTL_DB_PATH, "%s %s: %s", cannot, db->path, strerror(EISDIR));
    else if (!S_ISREG(info->st_mode))
        rtl_db_fail(db, RTL_DB_PATH, "%s is not a file: a recording needs one", db->path);
    else if (db->write && rtl_safe_path_is_planted(&db->at, info))
        rtl_db_fail(db, RTL_DB_PATH, "cannot write %s: " RTL_PLANTED, db->path);
    else if (faccessat(db->at.folder, db->at.name, db->write ? R_OK | W_OK : R_OK, 0))
        rtl_db_fail(db, RTL_DB_PATH, "%s %s: %s", cannot, db->path, strerror(errno));
}

/* Check that the file's content is acceptable; returns true if the file is empty. */
static bool check_content(struct rtl_db *db, const struct rtl_db_options *o)
{
    uint32_t version;
    enum db_content content = read_content(db, &version);
    bool foreign = o->foreign && !o->write;
    if (content == CONTENT_UNREADABLE)
        rtl_db_fail(db, RTL_DB_PATH, "cannot read %s: %s", db->path, strerror(errno ? errno : EIO));
    else if (content == CONTENT_OTHER && !foreign)
        rtl_db_fail(db, RTL_DB_SCHEMA, "%s is not a recording of rtl-top%s", db->path, o->write ? replace_hint : "");
    else if (content == CONTENT_OTHER_VERSION && !foreign)
        rtl_db_fail(db, RTL_DB_SCHEMA, "%s is a recording of version %u, this rtl-top knows %d%s", db->path, version,
                    RTL_DB_VERSION, o->write ? replace_hint : "");
    else if (content == CONTENT_NEW && !o->write)
        rtl_db_fail(db, RTL_DB_SCHEMA, "%s is empty: nothing was recorded", db->path);
    return content == CONTENT_NEW;
}

static void disconnect_db(struct rtl_db *db)
{
    sqlite3_close(db->handle);
    db->handle = NULL;
    rtl_db_files_free(db->files);
    db->files = NULL;
}

static bool connect_db(struct rtl_db *db)
{
    int code = rtl_db_files_open(db);
    if (code)
        rtl_db_fail_code(db, code);
    else
        rtl_db_guard(db);
    return !code;
}

static bool has_other_content(struct rtl_db *db)
{
    uint32_t version;
    enum db_content content = read_content(db, &version);
    return content == CONTENT_OTHER || content == CONTENT_OTHER_VERSION;
}

/* Empty the file and connect again, because the connection keeps the old page size. */
static void replace_content(struct rtl_db *db)
{
    int code = rtl_db_files_empty(db->files);
    if ((code & 0xff) == SQLITE_BUSY)
        rtl_db_fail_code(db, code);
    else if (code)
        rtl_db_fail(db, RTL_DB_PATH, "cannot replace %s: %s", db->path, strerror(errno));
    if (code)
        return;
    disconnect_db(db);
    connect_db(db);
}

static void prepare_to_write(struct rtl_db *db, const struct rtl_db_options *o, bool fresh)
{
    char sql[160];
    if (fresh && o->page_bytes) {
        snprintf(sql, sizeof sql, "PRAGMA page_size=%u", o->page_bytes);
        rtl_db_exec(db, sql);
    }
    if (fresh) { /* if two processes create the file at once, the second repeats this without effect */
        snprintf(sql, sizeof sql, "BEGIN IMMEDIATE; PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
                 RTL_DB_APPLICATION_ID, RTL_DB_VERSION);
        rtl_db_exec(db, sql);
    }
    rtl_db_exec(db, "PRAGMA journal_mode=DELETE; PRAGMA locking_mode=NORMAL; SELECT 1 FROM sqlite_master LIMIT 1; "
                    "PRAGMA synchronous=OFF; PRAGMA temp_store=MEMORY; "
                    "PRAGMA ignore_check_constraints=1; "
                    "PRAGMA cache_size=-32768"); /* KiB: a frame of 10,000 kernels fits */
}

static bool has_no_row(struct rtl_db *db, const char *sql)
{
    sqlite3_stmt *st = NULL;
    bool nothing = !sqlite3_prepare_v2(db->handle, sql, -1, &st, NULL) && sqlite3_step(st) == SQLITE_DONE;
    sqlite3_finalize(st);
    return nothing;
}

/* True if the file was removed meanwhile: another writer created it and had nothing to write (remove_if_empty). */
static bool open_and_check(struct rtl_db *db, const struct rtl_db_options *o)
{
    struct stat info;
    find_file(db, &info);
    if (db->status)
        return false;
    /* in a shared folder, another user may have put another file there before SQLite opened it */
    if (connect_db(db) && !rtl_db_files_is(db->files, &info))
        rtl_db_fail(db, RTL_DB_PATH, "cannot %s %s: another file has just been put there", o->write ? "write" : "open",
                    db->path);
    if (!db->status && o->write && o->force && has_other_content(db))
        replace_content(db);
    if (db->status)
        return false;
    bool fresh = check_content(db, o);
    if (db->status)
        return false;
    if (rtl_db_files_has_log(db->files)) /* SQLite then keeps its index in memory, not in a -shm */
        rtl_db_exec(db, "PRAGMA locking_mode=EXCLUSIVE");
    if (!o->write) {
        rtl_db_exec(db, "PRAGMA query_only=1; SELECT count(*) FROM sqlite_master");
        return false;
    }
    db->made = db->made && fresh;
    /* a commit into a file without tables shows the writer that created it that there is another writer */
    prepare_to_write(db, o, fresh || has_no_row(db, "SELECT 1 FROM sqlite_master"));
    db->version = db->made ? rtl_db_one(db, "PRAGMA data_version") : 0;
    return !db->status && !rtl_db_files_is(db->files, &info);
}

/* Delete a file that this database created, if it has no tables or, after a full disk, no rows. If another writer has
 * opened it, the file stays, or that writer waits for the lock and then sees that the file is gone. */
static void remove_if_empty(struct rtl_db *db)
{
    static const struct {
        const char *table, *row;
    } whole[] = {{"SELECT 1 FROM sqlite_master WHERE name = 'rtl_recording'", "SELECT 1 FROM rtl_recording"},
                 {"SELECT 1 FROM sqlite_master WHERE name = 'rocpd_op'", "SELECT 1 FROM rocpd_op"}};
    rtl_db_rollback(db);
    if ((sqlite3_exec(db->handle, "BEGIN EXCLUSIVE", NULL, NULL, NULL) & 0xff) == SQLITE_BUSY)
        return; /* other errors: the disk is full */
    bool empty = has_no_row(db, "SELECT 1 FROM sqlite_master");
    if (!empty && db->ran_out) {
        empty = true;
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
            empty = empty && (has_no_row(db, whole[i].table) || has_no_row(db, whole[i].row));
    }
    if (empty && (!db->version || rtl_db_one(db, "PRAGMA data_version") == db->version))
        unlinkat(db->at.folder, db->at.name, 0);
}

void rtl_db_wait(struct rtl_db *db, unsigned busy_ms)
{
    db->busy_ms = busy_ms ? busy_ms : BUSY_MS;
}

enum rtl_db_status rtl_db_open(const char *path, const struct rtl_db_options *options, struct rtl_db **out, char *why,
                               size_t why_bytes)
{
    /* between the creation of a file and SQLite's opening it no other thread of this process may lock it */
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    struct rtl_db *db = calloc(1, sizeof *db);
    *out = NULL;
    if (!db || !(db->path = strdup(path))) {
        free(db);
        snprintf(why, why_bytes, "out of memory");
        return RTL_DB_FAILED;
    }
    db->write = options->write;
    rtl_db_wait(db, options->busy_ms);
    db->meter = &db->work;
    db->at.folder = -1;
    pthread_mutex_lock(&one);
    /* memory statistics are unused and take locks; after initialization the call fails, harmlessly */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_initialize(); /* rtl_db_files_open needs it before the first sqlite3_open */
    while (open_and_check(db, options)) {
        disconnect_db(db);
        rtl_safe_path_release(&db->at);
    }
    pthread_mutex_unlock(&one);
    enum rtl_db_status status = db->status;
    if (status) {
        snprintf(why, why_bytes, "%s", db->why);
        rtl_db_close(db);
    } else {
        *out = db;
    }
    return status;
}

enum rtl_db_status rtl_db_check(const char *path, bool force, char *why, size_t why_bytes)
{
    struct rtl_db *db;
    struct stat info;
    if (force && !stat(path, &info)) { /* opening it with `force` would empty it */
        struct rtl_db checked = {.path = (char *)(uintptr_t)path, .write = true};
        find_file(&checked, &info);
        rtl_safe_path_release(&checked.at);
        if (checked.status)
            snprintf(why, why_bytes, "%s", checked.why);
        return checked.status;
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
    if (db->made && db->handle)
        remove_if_empty(db);
    while (db->statements)
        rtl_db_forget(db->statements);
    disconnect_db(db);
    rtl_safe_path_release(&db->at);
    free(db->path);
    free(db);
}
