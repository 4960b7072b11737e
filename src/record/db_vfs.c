/*
 * The file system that SQLite sees: of one database, the file itself and the three that may lie beside it, -journal,
 * -wal and -shm. Whatever else a journal or a table makes SQLite ask for isn't there, and can't be opened or deleted.
 *
 * A writer does to these four what SQLite does, provided that each is a plain file. A reader changes none of them. The
 * transaction of a recorder that was killed is read with what its journal has saved (db_journal.h), in place of being
 * rolled back: under the lock for reading, which no other process rolls back or writes under. The index of a -wal is
 * made in memory, unless a program that writes it has one.
 *
 * Each database registers one under a name of its own, so that a file system knows whose it is. It stands on SQLite's
 * own, and so do the locks: two connections of one process share what they have locked, and neither loses it when the
 * other one closes.
 */
#include "record/db_vfs.h"
#include "record/db_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const suffix[RTL_BESIDE] = {"-journal", "-wal", "-shm"};

/* --- methods of the file system --- */

static struct rtl_db_files *files_of(sqlite3_vfs *system)
{
    return system->pAppData;
}

static bool know_names(struct rtl_db_files *files, const char *path)
{
    if (files->path)
        return true;
    files->path = strdup(path);
    bool all = files->path != NULL;
    for (int i = 0; i < RTL_BESIDE; i++) {
        if (asprintf(&files->beside[i], "%s%s", path, suffix[i]) < 0)
            files->beside[i] = NULL;
        all = all && files->beside[i];
    }
    return all;
}

static bool is(const struct rtl_db_files *files, int beside, const char *name)
{
    return files->beside[beside] && !strcmp(files->beside[beside], name);
}

static int open_below(struct rtl_db_file *f, const char *name, int flags, int *got)
{
    return f->files->below->xOpen(f->files->below, name, f->below, flags, got);
}

static int open_main(struct rtl_db_file *f, const char *name, int flags, int *got)
{
    if (!know_names(f->files, name))
        return SQLITE_NOMEM;
    if (f->files->main) /* one that is attached */
        return SQLITE_CANTOPEN;
    if (!f->files->db->write) { /* below, the index of a -wal must not be made or written */
        static const char *parameters[] = {"readonly_shm", "1"};
        /* const or not: that differs between versions of SQLite */
        name = f->given = (char *)(uintptr_t)sqlite3_create_filename(
            name, f->files->beside[RTL_JOURNAL], f->files->beside[RTL_WAL], 1, (const char **)parameters);
        if (!name)
            return SQLITE_NOMEM;
    }
    int code = open_below(f, name, flags, got);
    if (!code)
        f->files->main = f;
    return code;
}

static int open_beside(struct rtl_db_file *f, const char *name, int flags, int *got)
{
    struct rtl_db_files *files = f->files;
    bool journal = (flags & SQLITE_OPEN_MAIN_JOURNAL) && is(files, RTL_JOURNAL, name), there;
    if (!journal && !((flags & SQLITE_OPEN_WAL) && is(files, RTL_WAL, name)))
        return SQLITE_CANTOPEN; /* what a journal names */
    f->role = journal ? RTL_ROLE_JOURNAL : RTL_ROLE_WAL;
    if (journal && files->db->write) {
        int code = rtl_db_refuse_journal(files, rtl_journal_judge(name));
        return code ? code : open_below(f, name, flags, got);
    }
    if (!rtl_journal_is_plain(name, &there))
        return rtl_db_refuse_odd(files, name);
    if (files->db->write)
        return open_below(f, name, flags, got);
    flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    files->wal = f;
    if (there)
        return open_below(f, name, flags, got);
    f->role = RTL_ROLE_NO_WAL;
    if (got)
        *got = flags;
    return SQLITE_OK;
}

static int system_open(sqlite3_vfs *system, const char *name, sqlite3_file *base, int flags, int *got)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    *f = (struct rtl_db_file){.files = files_of(system), .undo = {.fd = -1}};
    f->below = (sqlite3_file *)(void *)(f + 1);
    f->below->pMethods = NULL;
    int code;
    if (!name) {
        f->role = RTL_ROLE_TEMPORARY; /* it has a name that nobody knows, and is deleted at once */
        code = open_below(f, name, flags, got);
    } else if (flags & SQLITE_OPEN_MAIN_DB) {
        code = open_main(f, name, flags, got);
    } else {
        code = open_beside(f, name, flags, got);
    }
    base->pMethods = &rtl_db_file_methods;
    if (code) {
        base->pMethods->xClose(base);
        return code;
    }
    return SQLITE_OK;
}

static int system_delete(sqlite3_vfs *system, const char *name, int sync)
{
    struct rtl_db_files *files = files_of(system);
    if (!files->db->write)
        return SQLITE_OK;
    if (!is(files, RTL_JOURNAL, name) && !is(files, RTL_WAL, name))
        return SQLITE_IOERR_DELETE;
    return files->below->xDelete(files->below, name, sync);
}

/* A reader sees no journal: it has looked at it, see file_lock. */
static int system_access(sqlite3_vfs *system, const char *name, int what, int *result)
{
    struct rtl_db_files *files = files_of(system);
    *result = 0;
    if (!is(files, RTL_WAL, name) && !(is(files, RTL_JOURNAL, name) && files->db->write))
        return SQLITE_OK;
    return files->below->xAccess(files->below, name, what, result);
}

static int system_full_path(sqlite3_vfs *system, const char *name, int bytes, char *out)
{
    sqlite3_vfs *other = files_of(system)->below;
    return other->xFullPathname(other, name, bytes, out);
}

static int system_randomness(sqlite3_vfs *system, int bytes, char *out)
{
    sqlite3_vfs *other = files_of(system)->below;
    return other->xRandomness(other, bytes, out);
}

static int system_sleep(sqlite3_vfs *system, int us)
{
    sqlite3_vfs *other = files_of(system)->below;
    return other->xSleep(other, us);
}

static int system_time(sqlite3_vfs *system, double *time)
{
    sqlite3_vfs *other = files_of(system)->below;
    return other->xCurrentTime(other, time);
}

static int system_last_error(sqlite3_vfs *system, int bytes, char *out)
{
    sqlite3_vfs *other = files_of(system)->below;
    return other->xGetLastError(other, bytes, out);
}

struct rtl_db_files *rtl_db_files_create(struct rtl_db *db)
{
    static atomic_uint count;
    struct rtl_db_files *files = calloc(1, sizeof *files);
    sqlite3_vfs *other = sqlite3_vfs_find(NULL);
    if (!files || !other) {
        free(files);
        return NULL;
    }
    files->db = db;
    files->below = other;
    snprintf(files->name, sizeof files->name, "rtl-top-%u", atomic_fetch_add(&count, 1));
    files->system = (sqlite3_vfs){.iVersion = 1, /* extensions can't be loaded */
                                  .szOsFile = (int)sizeof(struct rtl_db_file) + other->szOsFile,
                                  .mxPathname = other->mxPathname,
                                  .zName = files->name,
                                  .pAppData = files,
                                  .xOpen = system_open,
                                  .xDelete = system_delete,
                                  .xAccess = system_access,
                                  .xFullPathname = system_full_path,
                                  .xRandomness = system_randomness,
                                  .xSleep = system_sleep,
                                  .xCurrentTime = system_time,
                                  .xGetLastError = system_last_error};
    if (sqlite3_vfs_register(&files->system, 0)) {
        free(files);
        return NULL;
    }
    return files;
}

void rtl_db_files_free(struct rtl_db_files *files)
{
    if (!files)
        return;
    sqlite3_vfs_unregister(&files->system);
    for (int i = 0; i < RTL_BESIDE; i++)
        free(files->beside[i]);
    free(files->path);
    free(files);
}

const char *rtl_db_files_system(const struct rtl_db_files *files)
{
    return files->name;
}

enum rtl_db_status rtl_db_files_refused(struct rtl_db_files *files, char *why, size_t why_bytes)
{
    enum rtl_db_status refused = files->refused;
    if (refused)
        snprintf(why, why_bytes, "%s", files->why);
    files->refused = RTL_DB_OK;
    return refused;
}

bool rtl_db_files_is(const struct rtl_db_files *files, const struct stat *info)
{
    struct stat now;
    return files->path && !lstat(files->path, &now) && now.st_dev == info->st_dev && now.st_ino == info->st_ino;
}

uint64_t rtl_db_files_log_size(const struct rtl_db_files *files)
{
    return rtl_db_file_size(files->wal);
}

int rtl_db_files_head(struct rtl_db_files *files, unsigned char *head, int bytes)
{
    struct rtl_db_file *f = files->main;
    uint64_t size = rtl_db_files_size(files);
    bytes = size < (uint64_t)bytes ? (int)size : bytes;
    return bytes && rtl_db_below(f)->xRead(f->below, head, bytes, 0) ? -1 : bytes;
}

int rtl_db_files_empty(struct rtl_db_files *files)
{
    struct rtl_db_file *f = files->main;
    int code = rtl_db_below(f)->xLock(f->below, SQLITE_LOCK_SHARED);
    if (!code)
        code = rtl_db_below(f)->xLock(f->below, SQLITE_LOCK_EXCLUSIVE);
    for (int i = 0; i < RTL_BESIDE && !code;
         i++) /* a journal of the old one must not be rolled back into the new one */
        if (unlink(files->beside[i]) && errno != ENOENT)
            code = SQLITE_IOERR_DELETE;
    if (!code)
        code = rtl_db_below(f)->xTruncate(f->below, 0);
    rtl_db_below(f)->xUnlock(f->below, SQLITE_LOCK_NONE);
    return code;
}
