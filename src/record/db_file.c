/* What SQLite may do to a file of a database, and what a reader gets in its place. See db_vfs.c. */
#include "record/db_file.h"
#include "record/db_work.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHM_BYTES = 32768 };
#define SORT_BYTES (256ull << 20) /* and twice the file: what a reader's sorting may take of the disk */

int rtl_db_refuse(struct rtl_db_files *files, enum rtl_db_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(files->why, sizeof files->why, format, args);
    va_end(args);
    files->refused = status;
    return SQLITE_CANTOPEN;
}

int rtl_db_refuse_odd(struct rtl_db_files *files, const char *name)
{
    return rtl_db_refuse(
        files, RTL_DB_PATH,
        "%s is no plain file of its own, or somebody else's: take it away before the recording is opened", name);
}

int rtl_db_refuse_journal(struct rtl_db_files *files, enum rtl_journal is)
{
    const char *name = files->beside[RTL_JOURNAL];
    switch (is) {
    case RTL_JOURNAL_ODD:
        return rtl_db_refuse_odd(files, name);
    case RTL_JOURNAL_NAMES:
        return rtl_db_refuse(
            files, RTL_DB_SCHEMA,
            "%s is not rtl-top's: it names another file, which SQLite deletes when it rolls back; take it away "
            "to see the recording as it is",
            name);
    case RTL_JOURNAL_DAMAGED:
        return rtl_db_refuse(files, RTL_DB_CORRUPT, "%s is damaged: take it away to see the recording as it is", name);
    case RTL_JOURNAL_STOPPED:
        return SQLITE_INTERRUPT;
    case RTL_JOURNAL_FAILED:
        return rtl_db_refuse(files, RTL_DB_PATH, "cannot read %s: %s", name, strerror(errno));
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
    rtl_db_below(f)->xRead(f->below, b, sizeof b, 16);
    uint32_t bytes = (uint32_t)b[0] << 8 | (uint32_t)b[1] << 16;
    return bytes ? bytes : 4096;
}

/* Under the lock for reading: a journal that no process is writing was left by one that died, and it can't change until
 * we unlock. */
static int look_for_journal(struct rtl_db_file *f)
{
    struct rtl_db_files *files = f->files;
    bool there;
    int writes = 0;
    if (!rtl_journal_is_plain(files->beside[RTL_JOURNAL], &there))
        return rtl_db_refuse_journal(files, there ? RTL_JOURNAL_ODD : RTL_JOURNAL_FAILED);
    int code = there ? rtl_db_below(f)->xCheckReservedLock(f->below, &writes) : SQLITE_OK;
    if (code || !there || writes)
        return code;
    enum rtl_journal is = RTL_JOURNAL_HOT;
    if (!rtl_journal_is_same(&f->undo, files->beside[RTL_JOURNAL])) {
        rtl_journal_free(&f->undo);
        is = rtl_journal_read(files->beside[RTL_JOURNAL], page_bytes_of(f), stop_reading, files, &f->undo);
    }
    f->undone = is == RTL_JOURNAL_HOT;
    return rtl_db_refuse_journal(files, is);
}

static int read_saved(const struct rtl_db_file *f, char *to, int count, uint64_t at)
{
    ssize_t n = pread(f->undo.fd, to, (size_t)count, (off_t)at);
    return n == count ? SQLITE_OK : SQLITE_IOERR_READ;
}

static int read_undone(struct rtl_db_file *f, char *to, int count, sqlite3_int64 at)
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
        int code = saved ? read_saved(f, to, n, saved + within) : rtl_db_below(f)->xRead(f->below, to, n, at);
        if (code && code != SQLITE_IOERR_SHORT_READ)
            return code;
        cut = cut || code;
        to += n;
        at += n;
        count -= n;
    }
    return cut ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

/*
 * With an index of our own nobody knows that we read: a program that comes and writes may put pages into the file that
 * belong to a later state. Then the -wal is no longer what it was, in length or in the numbers that its header begins
 * each round with.
 */
static bool look_at_log(const struct rtl_db_files *files, struct rtl_db_log *log)
{
    *log = (struct rtl_db_log){.known = true};
    const struct rtl_db_file *f = files->wal;
    if (!f || f->role == RTL_ROLE_NO_WAL) {
        bool there;
        return rtl_journal_is_plain(files->beside[RTL_WAL], &there) && !there;
    }
    if (rtl_db_below(f)->xFileSize(f->below, &log->size))
        return false;
    return log->size < 32 || !rtl_db_below(f)->xRead(f->below, log->salt, sizeof log->salt, 16);
}

static bool log_is_as_known(const struct rtl_db_files *files)
{
    struct rtl_db_log now;
    return look_at_log(files, &now) && now.size == files->log.size &&
           !memcmp(now.salt, files->log.salt, sizeof now.salt);
}

/* --- methods of a file --- */

static int file_close(sqlite3_file *base)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    int code = f->below->pMethods ? rtl_db_below(f)->xClose(f->below) : SQLITE_OK;
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
    struct rtl_db_file *f = rtl_db_file_of(base);
    if (f->role == RTL_ROLE_NO_WAL) {
        memset(to, 0, (size_t)count);
        return SQLITE_IOERR_SHORT_READ;
    }
    if (is_reader(f) && rtl_db_give_up(f->files->db, 100))
        return SQLITE_INTERRUPT;
    if (f->files->log.known && f->role != RTL_ROLE_TEMPORARY && !log_is_as_known(f->files))
        return SQLITE_BUSY;
    return f->undone ? read_undone(f, to, count, at) : rtl_db_below(f)->xRead(f->below, to, count, at);
}

static int file_write(sqlite3_file *base, const void *from, int count, sqlite3_int64 at)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    if (is_reader(f) && f->role != RTL_ROLE_TEMPORARY)
        return SQLITE_READONLY;
    if (is_reader(f) && (uint64_t)at + (uint64_t)count > SORT_BYTES + 2 * rtl_db_files_size(f->files)) {
        rtl_db_refuse(f->files, RTL_DB_CORRUPT,
                      "%s is damaged: it takes more room to sort than any recording of its size", f->files->db->path);
        return SQLITE_FULL;
    }
    return rtl_db_below(f)->xWrite(f->below, from, count, at);
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    return is_reader(f) && f->role != RTL_ROLE_TEMPORARY ? SQLITE_READONLY : rtl_db_below(f)->xTruncate(f->below, size);
}

static int file_sync(sqlite3_file *base, int flags)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    return is_reader(f) ? SQLITE_OK : rtl_db_below(f)->xSync(f->below, flags);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    *size = 0;
    if (f->role == RTL_ROLE_NO_WAL)
        return SQLITE_OK;
    if (!f->undone)
        return rtl_db_below(f)->xFileSize(f->below, size);
    *size = (sqlite3_int64)(f->undo.pages * f->undo.page_bytes);
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int level)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    if (!is_reader(f))
        return rtl_db_below(f)->xLock(f->below, level);
    if (level > SQLITE_LOCK_SHARED)
        return SQLITE_READONLY;
    int code = rtl_db_below(f)->xLock(f->below, level);
    if (!code && level == SQLITE_LOCK_SHARED && (code = look_for_journal(f)))
        rtl_db_below(f)->xUnlock(f->below, SQLITE_LOCK_NONE);
    return code;
}

static int file_unlock(sqlite3_file *base, int level)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    if (level == SQLITE_LOCK_NONE)
        f->undone = false;
    return rtl_db_below(f)->xUnlock(f->below, level);
}

static int file_reserved(sqlite3_file *base, int *reserved)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    return rtl_db_below(f)->xCheckReservedLock(f->below, reserved);
}

static int file_control(sqlite3_file *base, int what, void *value)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    return f->below->pMethods ? rtl_db_below(f)->xFileControl(f->below, what, value) : SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    return f->below->pMethods ? rtl_db_below(f)->xSectorSize(f->below) : 4096;
}

static int file_device(sqlite3_file *base)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    return f->below->pMethods ? rtl_db_below(f)->xDeviceCharacteristics(f->below) : 0;
}

/* --- the index of a -wal --- */

static int index_in_memory(struct rtl_db_file *f, int number, int bytes, int extend, void volatile **out)
{
    *out = NULL;
    if (bytes != SHM_BYTES)
        return SQLITE_IOERR_SHMMAP;
    if (number >= f->index_count) {
        if (!extend)
            return SQLITE_OK;
        unsigned char **more = sqlite3_realloc64(f->index, ((sqlite3_uint64)number + 1) * sizeof *more);
        if (!more)
            return SQLITE_NOMEM;
        f->index = more;
        while (f->index_count <= number) {
            unsigned char *piece = sqlite3_malloc(SHM_BYTES);
            if (!piece)
                return SQLITE_NOMEM;
            memset(piece, 0, SHM_BYTES);
            f->index[f->index_count++] = piece;
        }
    }
    *out = f->index[number];
    return SQLITE_OK;
}

static int file_map(sqlite3_file *base, int number, int bytes, int extend, void volatile **out)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    bool there, plain = rtl_journal_is_plain(f->files->beside[RTL_SHM], &there);
    if (!is_reader(f))
        return plain ? rtl_db_below(f)->xShmMap(f->below, number, bytes, extend, out)
                     : rtl_db_refuse_odd(f->files, f->files->beside[RTL_SHM]);
    if (!f->index_known) {
        f->index_known = true;
        int code = plain && there ? rtl_db_below(f)->xShmMap(f->below, number, bytes, 0, out) : SQLITE_CANTOPEN;
        f->index_below = !code || code == SQLITE_READONLY;
        if (f->index_below)
            return code;
        if (code == SQLITE_READONLY_CANTINIT) /* nobody has it: what is in it may be anything */
            rtl_db_below(f)->xShmUnmap(f->below, 0);
        else if ((code & 0xff) != SQLITE_CANTOPEN)
            return code;
        if (!look_at_log(f->files, &f->files->log))
            return SQLITE_BUSY;
    }
    return f->index_below ? rtl_db_below(f)->xShmMap(f->below, number, bytes, 0, out)
                          : index_in_memory(f, number, bytes, extend, out);
}

static int file_map_lock(sqlite3_file *base, int at, int count, int flags)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    bool ours = is_reader(f) && f->index_known && !f->index_below; /* nobody else knows it */
    return ours ? SQLITE_OK : rtl_db_below(f)->xShmLock(f->below, at, count, flags);
}

static void file_barrier(sqlite3_file *base)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    atomic_thread_fence(memory_order_seq_cst);
    if (!is_reader(f) || f->index_below)
        rtl_db_below(f)->xShmBarrier(f->below);
}

static int file_unmap(sqlite3_file *base, int remove)
{
    struct rtl_db_file *f = rtl_db_file_of(base);
    if (is_reader(f) && !f->index_below)
        return SQLITE_OK; /* freed with the file */
    return rtl_db_below(f)->xShmUnmap(f->below, is_reader(f) ? 0 : remove);
}

const sqlite3_io_methods rtl_db_file_methods = {.iVersion = 2, /* without mapping the file itself */
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
