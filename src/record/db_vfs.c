/*
 * A file system for SQLite: the file of one database, and two files beside it, -journal and -wal. All other paths,
 * which a journal or a table can name, can be neither opened nor deleted.
 *
 * A writer uses SQLite's own file system, provided that each of these files is plain. A reader changes none of them. If
 * a killed recorder left a journal, SQLite rolls it back. A reader's writes go into an overlay, a temporary file, and
 * its reads get them from there. The reader holds the read lock meanwhile, so no other process rolls back or writes.
 * The overlay is valid as long as the journal stays unchanged.
 *
 * SQLite keeps the index of a -wal in memory (PRAGMA locking_mode = EXCLUSIVE), so there is no -shm.
 *
 * Each database registers a file system with a name of its own, so that the methods find their database. The methods
 * call SQLite's own file system, which also keeps the locks: two connections of one process share their locks, and
 * neither loses them when the other closes.
 */
#include "record/db_private.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    UNIT = 512,            /* granularity of the overlay: SQLite's smallest page */
    WORK_FIRST = 20000000, /* steps, for any file */
    WORK_BYTE = 64,        /* steps for each byte of the file; reading a byte of a recording takes two or three */
    WORK_HURRY = 2000000,  /* steps after which a write stops when the user wants to leave */
};
#define SPARE_BYTES (256ull << 20) /* plus twice the file: what a reader may write into a temporary file */

enum { RTL_JOURNAL, RTL_WAL, RTL_SHM, RTL_BESIDE }; /* the files beside a database */
static const char *const suffix[RTL_BESIDE] = {"-journal", "-wal", "-shm"};

enum rtl_db_role { RTL_ROLE_MAIN, RTL_ROLE_JOURNAL, RTL_ROLE_WAL, RTL_ROLE_TEMPORARY };

struct rtl_db_files {
    sqlite3_vfs system;
    sqlite3_vfs *below;
    struct rtl_db *db;
    char name[40];
    char *path, *beside[RTL_BESIDE]; /* set when the file is opened */
    struct rtl_db_file *main, *wal;  /* while they are open */
    struct rtl_file_version log;     /* a reader's -wal when SQLite opened it */
    struct rtl_file_version journal; /* a reader's journal when SQLite opened it last */
    bool undone;                     /* `journal` is rolled back into the overlay */
    enum rtl_db_status refused;
    char why[RTL_DB_WHY_BYTES];
};

/* The pages that SQLite has written into a reader's database. */
struct rtl_db_overlay {
    sqlite3_file *file;     /* NULL: SQLite has written nothing */
    uint64_t size;          /* of the database */
    unsigned char *written; /* a bit for each UNIT of `file` */
    size_t bytes;           /* of `written` */
};

struct rtl_db_file {
    sqlite3_file base; /* first: SQLite's view of it */
    struct rtl_db_files *files;
    enum rtl_db_role role;
    sqlite3_file *below;           /* SQLite's own file, in the same allocation behind this struct */
    struct rtl_db_overlay overlay; /* of a reader's database */
};

static struct rtl_db_file *as_file(sqlite3_file *base)
{
    return (struct rtl_db_file *)base;
}

static const sqlite3_io_methods *methods_below(const struct rtl_db_file *f)
{
    return f->below->pMethods;
}

static uint64_t size_of_file(const struct rtl_db_file *f)
{
    sqlite3_int64 size = 0;
    return f && !methods_below(f)->xFileSize(f->below, &size) && size > 0 ? (uint64_t)size : 0;
}

uint64_t rtl_db_files_size(const struct rtl_db_files *files)
{
    return size_of_file(files->main);
}

uint64_t rtl_db_files_log_size(const struct rtl_db_files *files)
{
    return size_of_file(files->wal);
}

/* --- limits on the work --- */

static _Thread_local bool (*wants_to_leave)(void);

void rtl_db_stop_when(bool (*asked)(void))
{
    wants_to_leave = asked;
}

bool rtl_db_give_up(struct rtl_db *db, uint64_t work)
{
    *db->meter += work;
    if (db->given_up)
        return true;
    if (*db->meter > db->budget) {
        db->budget = WORK_FIRST + WORK_BYTE * rtl_db_files_size(db->files); /* the file may have grown */
        if (*db->meter > db->budget)
            db->given_up = RTL_DB_CORRUPT;
    }
    if (wants_to_leave && (!db->write || *db->meter > WORK_HURRY) && wants_to_leave())
        db->given_up = RTL_DB_STOPPED;
    return db->given_up != RTL_DB_OK;
}

/* --- refusing files --- */

/* Keep the line that explains SQLITE_CANTOPEN, the result; `name` is the database or a file beside it. */
static int refuse_file(struct rtl_db_files *files, enum rtl_db_status status, const char *name, const char *what)
{
    snprintf(files->why, sizeof files->why, "%s%s %s", files->db->path, name + strlen(files->path), what);
    files->refused = status;
    return SQLITE_CANTOPEN;
}

static int refuse_odd(struct rtl_db_files *files, const char *name)
{
    return refuse_file(files, RTL_DB_PATH, name,
                       "is not a plain file, has a second name, or belongs to another user: remove it before opening "
                       "the recording");
}

static int refuse_journal(struct rtl_db_files *files, enum rtl_journal is)
{
    const char *name = files->beside[RTL_JOURNAL];
    char error[100];
    switch (is) {
    case RTL_JOURNAL_ODD:
        return refuse_odd(files, name);
    case RTL_JOURNAL_NAMES:
        return refuse_file(
            files, RTL_DB_SCHEMA, name,
            "is not rtl-top's: it names another file, which SQLite deletes when it rolls back; remove the "
            "journal to see the recording as it is");
    case RTL_JOURNAL_FAILED:
        snprintf(error, sizeof error, "cannot be read: %s", strerror(errno));
        return refuse_file(files, RTL_DB_PATH, name, error);
    default:
        return SQLITE_OK;
    }
}

/* --- the overlay of a reader's database --- */

static int open_temporary(struct rtl_db_files *files, sqlite3_file *file)
{
    int flags = SQLITE_OPEN_TEMP_DB | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE |
                SQLITE_OPEN_DELETEONCLOSE;
    return files->below->xOpen(files->below, NULL, file, flags, NULL); /* deletes its name at once */
}

static void drop_overlay(struct rtl_db_file *f)
{
    struct rtl_db_overlay *o = &f->overlay;
    if (o->file && o->file->pMethods)
        o->file->pMethods->xClose(o->file);
    sqlite3_free(o->file);
    sqlite3_free(o->written);
    *o = (struct rtl_db_overlay){0};
    f->files->undone = false;
}

static int begin_overlay(struct rtl_db_file *f)
{
    struct rtl_db_overlay *o = &f->overlay;
    if (o->file)
        return SQLITE_OK;
    o->size = size_of_file(f);
    o->file = sqlite3_malloc(f->files->below->szOsFile);
    if (!o->file)
        return SQLITE_NOMEM;
    memset(o->file, 0, (size_t)f->files->below->szOsFile);
    return open_temporary(f->files, o->file);
}

static bool is_written(const struct rtl_db_overlay *o, uint64_t unit)
{
    return unit / 8 < o->bytes && o->written[unit / 8] >> unit % 8 & 1;
}

static int write_overlay(struct rtl_db_file *f, const void *from, int count, sqlite3_int64 at)
{
    struct rtl_db_overlay *o = &f->overlay;
    uint64_t unit = (uint64_t)at / UNIT, end = unit + (uint64_t)count / UNIT;
    int code = at % UNIT || count % UNIT ? SQLITE_IOERR_WRITE : begin_overlay(f); /* SQLite writes pages */
    if (!code && end / 8 >= o->bytes) {
        size_t bytes = end / 4 + 4096;
        unsigned char *more = sqlite3_realloc64(o->written, bytes);
        if (!more)
            return SQLITE_NOMEM;
        memset(more + o->bytes, 0, bytes - o->bytes);
        o->written = more;
        o->bytes = bytes;
    }
    code = code ? code : o->file->pMethods->xWrite(o->file, from, count, at);
    for (; !code && unit < end; unit++)
        o->written[unit / 8] |= (unsigned char)(1 << unit % 8);
    if (!code && end * UNIT > o->size)
        o->size = end * UNIT;
    return code;
}

static int read_overlay(struct rtl_db_file *f, char *to, int count, sqlite3_int64 at)
{
    const struct rtl_db_overlay *o = &f->overlay;
    bool cut = false;
    for (int n; count > 0; to += n, at += n, count -= n) {
        if ((uint64_t)at >= o->size) {
            memset(to, 0, (size_t)count);
            return SQLITE_IOERR_SHORT_READ;
        }
        uint64_t unit = (uint64_t)at / UNIT;
        bool written = is_written(o, unit);
        for (n = UNIT - (int)(at % UNIT); n < count && is_written(o, ++unit) == written;)
            n += UNIT;
        n = n < count ? n : count;
        sqlite3_file *file = written ? o->file : f->below;
        int code = file->pMethods->xRead(file, to, n, at);
        if (code && code != SQLITE_IOERR_SHORT_READ)
            return code;
        cut = cut || code;
    }
    return cut ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

/* --- methods of a file --- */

static int file_close(sqlite3_file *base)
{
    struct rtl_db_file *f = as_file(base);
    int code = f->below->pMethods ? methods_below(f)->xClose(f->below) : SQLITE_OK;
    drop_overlay(f);
    base->pMethods = NULL;
    if (f->files->main == f)
        f->files->main = NULL;
    if (f->files->wal == f)
        f->files->wal = NULL;
    return code;
}

static bool is_reader(const struct rtl_db_file *f)
{
    return !f->files->db->write;
}

static int file_read(sqlite3_file *base, void *to, int count, sqlite3_int64 at)
{
    struct rtl_db_file *f = as_file(base);
    struct rtl_db_files *files = f->files;
    if (is_reader(f) && rtl_db_give_up(files->db, 100))
        return SQLITE_INTERRUPT;
    /* another program doesn't see the index in memory, and may move pages of a later state from the -wal to the file */
    if (is_reader(f) && files->wal && f->role != RTL_ROLE_TEMPORARY &&
        !rtl_file_is_same(&files->log, files->beside[RTL_WAL]))
        return SQLITE_BUSY;
    return f->overlay.file ? read_overlay(f, to, count, at) : methods_below(f)->xRead(f->below, to, count, at);
}

static bool is_beside(const struct rtl_db_file *f)
{
    return f->role == RTL_ROLE_JOURNAL || f->role == RTL_ROLE_WAL;
}

static int file_write(sqlite3_file *base, const void *from, int count, sqlite3_int64 at)
{
    struct rtl_db_file *f = as_file(base);
    if (!is_reader(f))
        return methods_below(f)->xWrite(f->below, from, count, at);
    if (is_beside(f))
        return SQLITE_READONLY;
    if ((uint64_t)at + (uint64_t)count > SPARE_BYTES + 2 * rtl_db_files_size(f->files)) {
        refuse_file(f->files, RTL_DB_CORRUPT, f->files->path,
                    "is damaged: reading it takes more temporary space than any recording of its size");
        return SQLITE_FULL;
    }
    return f->role == RTL_ROLE_MAIN ? write_overlay(f, from, count, at)
                                    : methods_below(f)->xWrite(f->below, from, count, at);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct rtl_db_file *f = as_file(base);
    if (!is_reader(f) || f->role == RTL_ROLE_TEMPORARY)
        return methods_below(f)->xTruncate(f->below, size);
    int code = is_beside(f) ? SQLITE_READONLY : begin_overlay(f);
    if (!code)
        f->overlay.size = (uint64_t)size;
    return code;
}

static int file_sync(sqlite3_file *base, int flags)
{
    struct rtl_db_file *f = as_file(base);
    return is_reader(f) ? SQLITE_OK : methods_below(f)->xSync(f->below, flags);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct rtl_db_file *f = as_file(base);
    if (!f->overlay.file)
        return methods_below(f)->xFileSize(f->below, size);
    *size = (sqlite3_int64)f->overlay.size;
    return SQLITE_OK;
}

/* A reader keeps the read lock when SQLite asks for more in order to roll back or to open a -wal. */
static int file_lock(sqlite3_file *base, int level)
{
    struct rtl_db_file *f = as_file(base);
    struct rtl_db_files *files = f->files;
    if (is_reader(f) && level > SQLITE_LOCK_SHARED)
        return SQLITE_OK;
    int code = methods_below(f)->xLock(f->below, level);
    if (f->overlay.file && !(files->undone && rtl_file_is_same(&files->journal, files->beside[RTL_JOURNAL])))
        drop_overlay(f);
    return code;
}

static int file_unlock(sqlite3_file *base, int level)
{
    struct rtl_db_file *f = as_file(base);
    return methods_below(f)->xUnlock(f->below, level);
}

static int file_reserved(sqlite3_file *base, int *reserved)
{
    struct rtl_db_file *f = as_file(base);
    return methods_below(f)->xCheckReservedLock(f->below, reserved);
}

static int file_control(sqlite3_file *base, int what, void *value)
{
    struct rtl_db_file *f = as_file(base);
    return f->below->pMethods ? methods_below(f)->xFileControl(f->below, what, value) : SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base)
{
    struct rtl_db_file *f = as_file(base);
    return f->below->pMethods ? methods_below(f)->xSectorSize(f->below) : 4096;
}

static int file_device(sqlite3_file *base)
{
    struct rtl_db_file *f = as_file(base);
    return f->below->pMethods ? methods_below(f)->xDeviceCharacteristics(f->below) : 0;
}

static const sqlite3_io_methods file_methods = {.iVersion = 1, /* without shared memory and mapping */
                                                .xClose = file_close,
                                                .xRead = file_read,
                                                .xWrite = file_write,
                                                .xTruncate = file_truncate,
                                                .xSync = file_sync,
                                                .xFileSize = file_size,
                                                .xLock = file_lock,
                                                .xUnlock = file_unlock,
                                                .xCheckReservedLock = file_reserved,
                                                .xFileControl = file_control,
                                                .xSectorSize = file_sector,
                                                .xDeviceCharacteristics = file_device};

/* --- methods of the file system --- */

static struct rtl_db_files *files_of(sqlite3_vfs *system)
{
    return system->pAppData;
}

static bool make_names(struct rtl_db_files *files, const char *path)
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

static bool is_named(const struct rtl_db_files *files, int beside, const char *name)
{
    return files->beside[beside] && !strcmp(files->beside[beside], name);
}

/* Open a file; a reader opens it read-only. SQLite rolls back only a database that it may write, so a reader's file
 * system reports write permission, and the overlay takes the writes. As root, SQLite changes the owner of
 * a journal or -wal, but not of a subjournal. */
static int open_below(struct rtl_db_file *f, const char *name, int flags, int *got)
{
    int below = SQLITE_OPEN_READONLY | (f->role == RTL_ROLE_MAIN ? SQLITE_OPEN_MAIN_DB : SQLITE_OPEN_SUBJOURNAL);
    if (!is_reader(f))
        return f->files->below->xOpen(f->files->below, name, f->below, flags, got);
    int code = f->files->below->xOpen(f->files->below, name, f->below, below, NULL);
    if (got)
        *got = flags;
    return code;
}

static int open_main(struct rtl_db_file *f, const char *name, int flags, int *got)
{
    if (!make_names(f->files, name))
        return SQLITE_NOMEM;
    if (f->files->main) /* ATTACH */
        return SQLITE_CANTOPEN;
    int code = open_below(f, name, flags, got);
    if (!code)
        f->files->main = f;
    return code;
}

static int open_beside(struct rtl_db_file *f, const char *name, int flags, int *got)
{
    struct rtl_db_files *files = f->files;
    bool journal = (flags & SQLITE_OPEN_MAIN_JOURNAL) && is_named(files, RTL_JOURNAL, name);
    if (!journal && !((flags & SQLITE_OPEN_WAL) && is_named(files, RTL_WAL, name)))
        return SQLITE_CANTOPEN; /* a file that a journal names */
    f->role = journal ? RTL_ROLE_JOURNAL : RTL_ROLE_WAL;
    if (journal) {
        rtl_file_version_read(&files->journal, name);
        int code = refuse_journal(files, rtl_journal_judge(name));
        return code ? code : open_below(f, name, flags, got);
    }
    bool exists;
    if (!rtl_journal_is_plain(name, &exists))
        return refuse_odd(files, name);
    rtl_file_version_read(&files->log, name);
    files->wal = f;
    if (exists || files->db->write)
        return open_below(f, name, flags, got);
    if (got)
        *got = flags;
    return open_temporary(files, f->below); /* empty */
}

static int system_open(sqlite3_vfs *system, const char *name, sqlite3_file *base, int flags, int *got)
{
    struct rtl_db_file *f = as_file(base);
    *f = (struct rtl_db_file){.files = files_of(system)};
    f->below = (sqlite3_file *)(void *)(f + 1);
    f->below->pMethods = NULL;
    int code;
    if (!name) {
        f->role = RTL_ROLE_TEMPORARY; /* SQLite gives it a random name and deletes it at once */
        code = f->files->below->xOpen(f->files->below, NULL, f->below, flags, got);
    } else if (flags & SQLITE_OPEN_MAIN_DB) {
        code = open_main(f, name, flags, got);
    } else {
        code = open_beside(f, name, flags, got);
    }
    base->pMethods = &file_methods;
    if (code)
        file_close(base);
    return code;
}

/* SQLite deletes a journal after rolling it back. */
static int system_delete(sqlite3_vfs *system, const char *name, int sync)
{
    struct rtl_db_files *files = files_of(system);
    bool journal = is_named(files, RTL_JOURNAL, name);
    if (!files->db->write) {
        files->undone |= journal && files->main && files->main->overlay.file;
        return SQLITE_OK;
    }
    if (!journal && !is_named(files, RTL_WAL, name))
        return SQLITE_IOERR_DELETE;
    return files->below->xDelete(files->below, name, sync);
}

static int system_access(sqlite3_vfs *system, const char *name, int what, int *result)
{
    struct rtl_db_files *files = files_of(system);
    *result = 0;
    if (!is_named(files, RTL_WAL, name) && (!is_named(files, RTL_JOURNAL, name) || files->undone))
        return SQLITE_OK;
    return files->below->xAccess(files->below, name, what, result);
}

/* Return the path unchanged: rtl_safe_path_find has followed the links. */
static int system_path(sqlite3_vfs *system, const char *name, int bytes, char *out)
{
    (void)system;
    return snprintf(out, (size_t)bytes, "%s", name) < bytes ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* Return a path below the folder's descriptor: it leads to the folder that was checked, even if that was moved. Without
 * /proc: the user's path, with "./" or "/" in front, because SQLite gives names such as ":memory:" a special meaning.
 */
static char *make_path(const struct rtl_db *db)
{
    char folder[40], *path;
    snprintf(folder, sizeof folder, "/proc/self/fd/%d/", db->at.folder);
    bool usable = db->at.follow && !access(folder, F_OK);
    int n = usable ? asprintf(&path, "%s%s", folder, db->at.name)
                   : asprintf(&path, "%s%s", *db->path == '/' ? "" : "./", db->path);
    return n < 0 ? NULL : path;
}

int rtl_db_files_open(struct rtl_db *db)
{
    static atomic_uint count;
    struct rtl_db_files *files = db->files = calloc(1, sizeof *files);
    sqlite3_vfs *other = sqlite3_vfs_find(NULL);
    if (!files || !other)
        return SQLITE_NOMEM;
    files->db = db;
    files->below = other;
    snprintf(files->name, sizeof files->name, "rtl-top-%u", atomic_fetch_add(&count, 1));
    /* The other methods of SQLite's file system don't use their first argument. Extensions can't be loaded. */
    files->system = *other;
    files->system.iVersion = 1;
    files->system.szOsFile += (int)sizeof(struct rtl_db_file);
    files->system.zName = files->name;
    files->system.pAppData = files;
    files->system.xOpen = system_open;
    files->system.xDelete = system_delete;
    files->system.xAccess = system_access;
    files->system.xFullPathname = system_path;
    files->system.xDlOpen = NULL;
    char *path = make_path(db);
    if (!path || sqlite3_vfs_register(&files->system, 0)) {
        free(path);
        return SQLITE_NOMEM;
    }
    int flags = SQLITE_OPEN_READWRITE | (db->write ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX;
    int code = sqlite3_open_v2(path, &db->handle, flags, files->name);
    free(path);
    return code;
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

int rtl_db_files_head(struct rtl_db_files *files, unsigned char *head, int bytes)
{
    struct rtl_db_file *f = files->main;
    uint64_t size = rtl_db_files_size(files);
    bytes = size < (uint64_t)bytes ? (int)size : bytes;
    return bytes && methods_below(f)->xRead(f->below, head, bytes, 0) ? -1 : bytes;
}

bool rtl_db_files_has_log(struct rtl_db_files *files)
{
    enum { READ_VERSION = 19, WAL_MODE = 2 };
    unsigned char head[READ_VERSION + 1];
    return (rtl_db_files_head(files, head, sizeof head) == (int)sizeof head && head[READ_VERSION] == WAL_MODE) ||
           !access(files->beside[RTL_WAL], F_OK);
}

int rtl_db_files_empty(struct rtl_db_files *files)
{
    struct rtl_db_file *f = files->main;
    int code = methods_below(f)->xLock(f->below, SQLITE_LOCK_SHARED);
    if (!code)
        code = methods_below(f)->xLock(f->below, SQLITE_LOCK_EXCLUSIVE);
    /* SQLite must not roll back a journal of the old file into the new one */
    for (int i = 0; i < RTL_BESIDE && !code; i++)
        if (unlink(files->beside[i]) && errno != ENOENT)
            code = SQLITE_IOERR_DELETE;
    if (!code)
        code = methods_below(f)->xTruncate(f->below, 0);
    methods_below(f)->xUnlock(f->below, SQLITE_LOCK_NONE);
    return code;
}
