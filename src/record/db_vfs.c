/*
 * The file system that SQLite sees: for one database the file itself and the three files that may lie beside it,
 * -journal, -wal and -shm. All other paths, which a journal or a table can name, can be neither opened nor deleted.
 *
 * For a writer SQLite does what it always does, provided that each of the four is a plain file. A reader changes none
 * of them. If a killed recorder left a journal, SQLite would roll it back; a reader instead reads the pages that the
 * journal has saved (db_journal.h). It holds the read lock meanwhile, under which no other process rolls back or
 * writes. A reader builds the index of a -wal in memory, unless a program that writes the -wal has one.
 *
 * Each database registers a file system with a name of its own, so that the methods find their database. The methods
 * call SQLite's own file system, which also keeps the locks: two connections of one process share their locks, and
 * neither loses them when the other closes.
 */
#include "record/db_vfs.h"
#include "record/db_journal.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SHM_BYTES = 32768,
    WORK_FIRST = 20000000, /* steps, for any file */
    WORK_BYTE = 64,        /* steps for each byte of the file; reading a byte of a recording takes two or three */
    WORK_HURRY = 2000000,  /* steps after which a write stops when the user wants to leave */
};
#define SORT_BYTES (256ull << 20) /* plus twice the file: disk space that a reader's sorting may use */

enum { RTL_JOURNAL, RTL_WAL, RTL_SHM, RTL_BESIDE }; /* the files beside a database */
static const char *const suffix[RTL_BESIDE] = {"-journal", "-wal", "-shm"};

enum rtl_db_role { RTL_ROLE_MAIN, RTL_ROLE_JOURNAL, RTL_ROLE_WAL, RTL_ROLE_NO_WAL, RTL_ROLE_TEMPORARY };

/* Size and salt of a -wal when its index was made. */
struct rtl_db_log {
    bool known;
    sqlite3_int64 size;
    unsigned char salt[8];
};

struct rtl_db_files {
    sqlite3_vfs system;
    sqlite3_vfs *below;
    struct rtl_db *db;
    char name[40];
    char *path, *beside[RTL_BESIDE]; /* set when the file is opened */
    struct rtl_db_file *main, *wal;  /* while they are open */
    struct rtl_db_log log;           /* known: only this process has the index */
    enum rtl_db_status refused;
    char why[RTL_DB_WHY_BYTES];
};

struct rtl_db_file {
    sqlite3_file base; /* first: SQLite's view of it */
    struct rtl_db_files *files;
    enum rtl_db_role role;
    sqlite3_file *below; /* SQLite's own file, in the same allocation behind this struct */
    /* of a reader's database */
    char *given;          /* the name passed below, owned */
    struct rtl_undo undo; /* of the journal that was read last */
    bool undone;          /* reads use `undo`, until the lock is dropped */
    bool index_below, index_known;
    unsigned char **index; /* of the -wal, in memory */
    int index_count;
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
    bool exists = f && f->role != RTL_ROLE_NO_WAL;
    return exists && !methods_below(f)->xFileSize(f->below, &size) && size > 0 ? (uint64_t)size : 0;
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
    case RTL_JOURNAL_DAMAGED:
        return refuse_file(files, RTL_DB_CORRUPT, name, "is damaged: remove it to see the recording as it is");
    case RTL_JOURNAL_STOPPED:
        return SQLITE_INTERRUPT;
    case RTL_JOURNAL_FAILED:
        snprintf(error, sizeof error, "cannot be read: %s", strerror(errno));
        return refuse_file(files, RTL_DB_PATH, name, error);
    default:
        return SQLITE_OK;
    }
}

/* --- reading a database --- */

static bool stop_reading(void *files)
{
    return rtl_db_give_up(((struct rtl_db_files *)files)->db, 1000);
}

static uint32_t page_bytes_of(struct rtl_db_file *f)
{
    unsigned char b[2] = {0};
    methods_below(f)->xRead(f->below, b, sizeof b, 16);
    uint32_t bytes = (uint32_t)b[0] << 8 | (uint32_t)b[1] << 16;
    return bytes ? bytes : 4096;
}

/* Call with the read lock held: a journal that no process is writing was left by one that died, and it can't change
 * before the unlock. */
static int read_hot_journal(struct rtl_db_file *f)
{
    struct rtl_db_files *files = f->files;
    bool exists;
    int writes = 0;
    if (!rtl_journal_is_plain(files->beside[RTL_JOURNAL], &exists))
        return refuse_journal(files, exists ? RTL_JOURNAL_ODD : RTL_JOURNAL_FAILED);
    int code = exists ? methods_below(f)->xCheckReservedLock(f->below, &writes) : SQLITE_OK;
    if (code || !exists || writes)
        return code;
    enum rtl_journal is = RTL_JOURNAL_HOT;
    if (!rtl_journal_is_same(&f->undo, files->beside[RTL_JOURNAL])) {
        rtl_journal_free(&f->undo);
        is = rtl_journal_read(files->beside[RTL_JOURNAL], page_bytes_of(f), stop_reading, files, &f->undo);
    }
    f->undone = is == RTL_JOURNAL_HOT;
    return refuse_journal(files, is);
}

static int read_saved_page(const struct rtl_db_file *f, char *to, int count, uint64_t at)
{
    ssize_t n = pread(f->undo.fd, to, (size_t)count, (off_t)at);
    return n == count ? SQLITE_OK : SQLITE_IOERR_READ;
}

static int read_undone_pages(struct rtl_db_file *f, char *to, int count, sqlite3_int64 at)
{
    const struct rtl_undo *undo = &f->undo;
    uint64_t size = undo->pages * undo->page_bytes;
    bool cut = false;
    while (count > 0) {
        if ((uint64_t)at >= size) {
            memset(to, 0, (size_t)count);
            return SQLITE_IOERR_SHORT_READ;
        }
        uint32_t number = (uint32_t)((uint64_t)at / undo->page_bytes) + 1, within = (uint64_t)at % undo->page_bytes;
        int n = (int)(undo->page_bytes - within) < count ? (int)(undo->page_bytes - within) : count;
        uint64_t saved = rtl_journal_find(undo, number);
        int code = saved ? read_saved_page(f, to, n, saved + within) : methods_below(f)->xRead(f->below, to, n, at);
        if (code && code != SQLITE_IOERR_SHORT_READ)
            return code;
        cut = cut || code;
        to += n;
        at += n;
        count -= n;
    }
    return cut ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

/* A reader with an index in memory is invisible to other programs: one that writes now may checkpoint pages of a later
 * state into the file. Each such write changes the length of the -wal or the salt in its header. */
static bool read_log_state(const struct rtl_db_files *files, struct rtl_db_log *log)
{
    *log = (struct rtl_db_log){.known = true};
    const struct rtl_db_file *f = files->wal;
    if (!f || f->role == RTL_ROLE_NO_WAL) {
        bool exists;
        return rtl_journal_is_plain(files->beside[RTL_WAL], &exists) && !exists;
    }
    if (methods_below(f)->xFileSize(f->below, &log->size))
        return false;
    return log->size < 32 || !methods_below(f)->xRead(f->below, log->salt, sizeof log->salt, 16);
}

static bool log_is_as_known(const struct rtl_db_files *files)
{
    struct rtl_db_log now;
    return read_log_state(files, &now) && now.size == files->log.size &&
           !memcmp(now.salt, files->log.salt, sizeof now.salt);
}

/* --- methods of a file --- */

static int file_close(sqlite3_file *base)
{
    struct rtl_db_file *f = as_file(base);
    int code = f->below->pMethods ? methods_below(f)->xClose(f->below) : SQLITE_OK;
    rtl_journal_free(&f->undo);
    for (int i = 0; i < f->index_count; i++)
        sqlite3_free(f->index[i]);
    sqlite3_free(f->index);
    sqlite3_free_filename(f->given);
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
    if (f->role == RTL_ROLE_NO_WAL) {
        memset(to, 0, (size_t)count);
        return SQLITE_IOERR_SHORT_READ;
    }
    if (is_reader(f) && rtl_db_give_up(f->files->db, 100))
        return SQLITE_INTERRUPT;
    if (f->files->log.known && f->role != RTL_ROLE_TEMPORARY && !log_is_as_known(f->files))
        return SQLITE_BUSY;
    return f->undone ? read_undone_pages(f, to, count, at) : methods_below(f)->xRead(f->below, to, count, at);
}

static int file_write(sqlite3_file *base, const void *from, int count, sqlite3_int64 at)
{
    struct rtl_db_file *f = as_file(base);
    if (is_reader(f) && f->role != RTL_ROLE_TEMPORARY)
        return SQLITE_READONLY;
    if (is_reader(f) && (uint64_t)at + (uint64_t)count > SORT_BYTES + 2 * rtl_db_files_size(f->files)) {
        refuse_file(f->files, RTL_DB_CORRUPT, f->files->path,
                    "is damaged: sorting it takes more space than any recording of its size");
        return SQLITE_FULL;
    }
    return methods_below(f)->xWrite(f->below, from, count, at);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct rtl_db_file *f = as_file(base);
    return is_reader(f) && f->role != RTL_ROLE_TEMPORARY ? SQLITE_READONLY
                                                         : methods_below(f)->xTruncate(f->below, size);
}

static int file_sync(sqlite3_file *base, int flags)
{
    struct rtl_db_file *f = as_file(base);
    return is_reader(f) ? SQLITE_OK : methods_below(f)->xSync(f->below, flags);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct rtl_db_file *f = as_file(base);
    *size = 0;
    if (f->role == RTL_ROLE_NO_WAL)
        return SQLITE_OK;
    if (!f->undone)
        return methods_below(f)->xFileSize(f->below, size);
    *size = (sqlite3_int64)(f->undo.pages * f->undo.page_bytes);
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int level)
{
    struct rtl_db_file *f = as_file(base);
    if (!is_reader(f))
        return methods_below(f)->xLock(f->below, level);
    if (level > SQLITE_LOCK_SHARED)
        return SQLITE_READONLY;
    int code = methods_below(f)->xLock(f->below, level);
    if (!code && level == SQLITE_LOCK_SHARED && (code = read_hot_journal(f)))
        methods_below(f)->xUnlock(f->below, SQLITE_LOCK_NONE);
    return code;
}

static int file_unlock(sqlite3_file *base, int level)
{
    struct rtl_db_file *f = as_file(base);
    if (level == SQLITE_LOCK_NONE)
        f->undone = false;
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

/* --- the index of a -wal --- */

static int index_in_memory(struct rtl_db_file *f, int number, int bytes, int extend, void volatile **out)
{
    *out = NULL;
    if (bytes != SHM_BYTES)
        return SQLITE_IOERR_SHMMAP;
    while (extend && number >= f->index_count) {
        unsigned char **more = sqlite3_realloc64(f->index, ((sqlite3_uint64)f->index_count + 1) * sizeof *more);
        if (!more)
            return SQLITE_NOMEM;
        f->index = more;
        unsigned char *piece = sqlite3_malloc(SHM_BYTES);
        if (!piece)
            return SQLITE_NOMEM;
        memset(piece, 0, SHM_BYTES);
        f->index[f->index_count++] = piece;
    }
    if (number < f->index_count)
        *out = f->index[number];
    return SQLITE_OK;
}

static int file_map(sqlite3_file *base, int number, int bytes, int extend, void volatile **out)
{
    struct rtl_db_file *f = as_file(base);
    bool exists, plain = rtl_journal_is_plain(f->files->beside[RTL_SHM], &exists);
    if (!is_reader(f))
        return plain ? methods_below(f)->xShmMap(f->below, number, bytes, extend, out)
                     : refuse_odd(f->files, f->files->beside[RTL_SHM]);
    if (!f->index_known) {
        f->index_known = true;
        int code = plain && exists ? methods_below(f)->xShmMap(f->below, number, bytes, 0, out) : SQLITE_CANTOPEN;
        f->index_below = !code || code == SQLITE_READONLY;
        if (f->index_below)
            return code;
        if (code == SQLITE_READONLY_CANTINIT) /* no process has it open: its content is unreliable */
            methods_below(f)->xShmUnmap(f->below, 0);
        else if ((code & 0xff) != SQLITE_CANTOPEN)
            return code;
        if (!read_log_state(f->files, &f->files->log))
            return SQLITE_BUSY;
    }
    return f->index_below ? methods_below(f)->xShmMap(f->below, number, bytes, 0, out)
                          : index_in_memory(f, number, bytes, extend, out);
}

static int file_map_lock(sqlite3_file *base, int at, int count, int flags)
{
    struct rtl_db_file *f = as_file(base);
    bool private = is_reader(f) && f->index_known && !f->index_below;
    return private ? SQLITE_OK : methods_below(f)->xShmLock(f->below, at, count, flags);
}

static void file_barrier(sqlite3_file *base)
{
    struct rtl_db_file *f = as_file(base);
    atomic_thread_fence(memory_order_seq_cst);
    if (!is_reader(f) || f->index_below)
        methods_below(f)->xShmBarrier(f->below);
}

static int file_unmap(sqlite3_file *base, int remove)
{
    struct rtl_db_file *f = as_file(base);
    if (is_reader(f) && !f->index_below)
        return SQLITE_OK; /* freed with the file */
    return methods_below(f)->xShmUnmap(f->below, is_reader(f) ? 0 : remove);
}

static const sqlite3_io_methods file_methods = {.iVersion = 2, /* without mapping the file itself */
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
                                                .xDeviceCharacteristics = file_device,
                                                .xShmMap = file_map,
                                                .xShmLock = file_map_lock,
                                                .xShmBarrier = file_barrier,
                                                .xShmUnmap = file_unmap};

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

static bool is_beside(const struct rtl_db_files *files, int beside, const char *name)
{
    return files->beside[beside] && !strcmp(files->beside[beside], name);
}

static int open_below(struct rtl_db_file *f, const char *name, int flags, int *got)
{
    return f->files->below->xOpen(f->files->below, name, f->below, flags, got);
}

static int open_main(struct rtl_db_file *f, const char *name, int flags, int *got)
{
    if (!make_names(f->files, name))
        return SQLITE_NOMEM;
    if (f->files->main) /* ATTACH */
        return SQLITE_CANTOPEN;
    if (!f->files->db->write) { /* SQLite's own file system must not create or write the index of a -wal */
        static const char *parameters[] = {"readonly_shm", "1"};
        /* versions of SQLite differ in whether the result is const */
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
    bool journal = (flags & SQLITE_OPEN_MAIN_JOURNAL) && is_beside(files, RTL_JOURNAL, name), exists;
    if (!journal && !((flags & SQLITE_OPEN_WAL) && is_beside(files, RTL_WAL, name)))
        return SQLITE_CANTOPEN; /* a file that a journal names */
    f->role = journal ? RTL_ROLE_JOURNAL : RTL_ROLE_WAL;
    if (journal && files->db->write) {
        int code = refuse_journal(files, rtl_journal_judge(name));
        return code ? code : open_below(f, name, flags, got);
    }
    if (!rtl_journal_is_plain(name, &exists))
        return refuse_odd(files, name);
    if (files->db->write)
        return open_below(f, name, flags, got);
    flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    files->wal = f;
    if (exists)
        return open_below(f, name, flags, got);
    f->role = RTL_ROLE_NO_WAL;
    if (got)
        *got = flags;
    return SQLITE_OK;
}

static int system_open(sqlite3_vfs *system, const char *name, sqlite3_file *base, int flags, int *got)
{
    struct rtl_db_file *f = as_file(base);
    *f = (struct rtl_db_file){.files = files_of(system), .undo = {.fd = -1}};
    f->below = (sqlite3_file *)(void *)(f + 1);
    f->below->pMethods = NULL;
    int code;
    if (!name) {
        f->role = RTL_ROLE_TEMPORARY; /* SQLite gives it a random name and deletes it at once */
        code = open_below(f, name, flags, got);
    } else if (flags & SQLITE_OPEN_MAIN_DB) {
        code = open_main(f, name, flags, got);
    } else {
        code = open_beside(f, name, flags, got);
    }
    base->pMethods = &file_methods;
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
    if (!is_beside(files, RTL_JOURNAL, name) && !is_beside(files, RTL_WAL, name))
        return SQLITE_IOERR_DELETE;
    return files->below->xDelete(files->below, name, sync);
}

/* Report no journal to a reader: read_hot_journal has read it. */
static int system_access(sqlite3_vfs *system, const char *name, int what, int *result)
{
    struct rtl_db_files *files = files_of(system);
    *result = 0;
    if (!is_beside(files, RTL_WAL, name) && !(is_beside(files, RTL_JOURNAL, name) && files->db->write))
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
    int flags = db->write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int code = sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_NOMUTEX, files->name);
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
