/* Reading a journal that was left behind. See db_journal.h. */
#include "record/db_journal.h"
#include "base/array.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAGIC = 8,
    HEADER = 28, /* magic, records, checksum's start, pages, sector, page size */
    FIRST_SECTOR = 512,
    TRAILER = 16, /* end of a journal that names another file: length of the name, checksum, magic */
    STOP_EVERY = 256,
};

static const unsigned char magic[MAGIC] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};

/* lstat of the path up to a mark: '/' for the file's folder, '-' for its database. */
static bool stat_before(const char *path, char mark, struct stat *info)
{
    char before[PATH_MAX];
    const char *end = strrchr(path, mark);
    int length = end ? (int)(end - path) + (mark == '/') : 0;
    return snprintf(before, sizeof before, "%.*s", length, path) < (int)sizeof before &&
           !lstat(length ? before : ".", info);
}

/* In a folder like /tmp any user can create a file beside a database. The rule is the kernel's (protected_regular),
 * plus: the owner of the database may own the file, too. */
static bool is_planted(const char *path, const struct stat *info)
{
    struct stat folder, database;
    if (info->st_uid == geteuid() || !info->st_uid || !stat_before(path, '/', &folder) || !(folder.st_mode & S_ISVTX) ||
        info->st_uid == folder.st_uid)
        return false;
    return !stat_before(path, '-', &database) || database.st_uid != info->st_uid;
}

bool rtl_journal_is_plain(const char *path, bool *exists)
{
    struct stat info;
    *exists = false;
    if (lstat(path, &info))
        return errno == ENOENT;
    *exists = true;
    return S_ISREG(info.st_mode) && info.st_nlink == 1 && !is_planted(path, &info);
}

static int open_plain(const char *path, struct stat *info)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    if (fstat(fd, info) || !S_ISREG(info->st_mode)) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

static bool read_at(int fd, void *bytes, size_t count, uint64_t at)
{
    return pread(fd, bytes, count, (off_t)at) == (ssize_t)count;
}

/* SQLite's own check before it rolls back: a journal that begins with 0 is finished. */
static enum rtl_journal judge_content(int fd, uint64_t size)
{
    unsigned char first = 0, last[MAGIC];
    if (!size || !read_at(fd, &first, 1, 0) || !first)
        return RTL_JOURNAL_NONE;
    if (size >= TRAILER && read_at(fd, last, sizeof last, size - MAGIC) && !memcmp(last, magic, MAGIC))
        return RTL_JOURNAL_NAMES;
    return RTL_JOURNAL_HOT;
}

static enum rtl_journal open_to_judge(const char *path, int *fd, struct stat *info)
{
    bool exists;
    *fd = -1;
    if (!rtl_journal_is_plain(path, &exists))
        return exists ? RTL_JOURNAL_ODD : RTL_JOURNAL_FAILED;
    if (!exists)
        return RTL_JOURNAL_NONE;
    *fd = open_plain(path, info);
    if (*fd < 0)
        return errno == ENOENT ? RTL_JOURNAL_NONE : RTL_JOURNAL_FAILED;
    return judge_content(*fd, (uint64_t)info->st_size);
}

enum rtl_journal rtl_journal_judge(const char *path)
{
    int fd;
    struct stat info;
    enum rtl_journal is = open_to_judge(path, &fd, &info);
    if (fd >= 0)
        close(fd);
    return is;
}

/* --- the saved pages --- */

struct journal_reader {
    int fd;
    uint64_t size, at; /* at: offset of the next read */
    uint32_t sector, records, seed;
    unsigned char *page;
    uint32_t room; /* capacity of undo->saved */
};

static bool is_power(uint32_t n, uint32_t least)
{
    return n >= least && n <= 65536 && !(n & (n - 1));
}

/* Read the next header, which begins at a sector. False at the end of the file, as SQLite sees it. */
static bool next_header(struct journal_reader *r, struct rtl_undo *undo, uint32_t page_bytes)
{
    unsigned char header[HEADER];
    bool first = !r->at;
    if (!first)
        r->at = ((r->at - 1) / r->sector + 1) * r->sector;
    if (r->at + r->sector > r->size || !read_at(r->fd, header, sizeof header, r->at) || memcmp(header, magic, MAGIC))
        return false;
    r->records = rtl_db_big_endian(header + 8);
    r->seed = rtl_db_big_endian(header + 12);
    if (first) {
        undo->pages = rtl_db_big_endian(header + 16);
        r->sector = rtl_db_big_endian(header + 20);
        undo->page_bytes = rtl_db_big_endian(header + 24) ? rtl_db_big_endian(header + 24) : page_bytes;
        if (!is_power(r->sector, 32) || !is_power(undo->page_bytes, 512))
            return false;
    }
    r->at += r->sector;
    if (r->records == UINT32_MAX) { /* written without a sync: the file's size tells the number */
        uint64_t left = r->size > r->at ? (r->size - r->at) / (undo->page_bytes + 8) : 0;
        r->records = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX - 1;
    }
    return true;
}

static uint32_t checksum(const unsigned char *page, uint32_t bytes, uint32_t sum)
{
    for (uint32_t i = bytes - 200; i > 0 && i < bytes; i -= 200)
        sum += page[i];
    return sum;
}

static bool append_page(struct journal_reader *r, struct rtl_undo *undo, uint32_t number, uint64_t at)
{
    if (!rtl_grow(&undo->saved, &r->room, undo->count + 1, sizeof *undo->saved))
        return false;
    undo->saved[undo->count++] = (struct rtl_journal_page){number, at};
    return true;
}

/* Read the records behind one header. HOT: continue with the next header; NONE: the journal ends here. */
static enum rtl_journal read_records(struct journal_reader *r, struct rtl_undo *undo, bool (*stop)(void *),
                                     void *context)
{
    uint64_t record = undo->page_bytes + 8ull;
    uint32_t locks = 0x40000000 / undo->page_bytes + 1; /* the page of the lock bytes is never saved */
    if (!r->records && stop(context))
        return RTL_JOURNAL_STOPPED;
    for (uint32_t i = 0; i < r->records; i++, r->at += record) {
        unsigned char word[4];
        if (i % STOP_EVERY == 0 && stop(context))
            return RTL_JOURNAL_STOPPED;
        if (r->at + record > r->size || !read_at(r->fd, word, 4, r->at) ||
            !read_at(r->fd, r->page, undo->page_bytes, r->at + 4))
            return RTL_JOURNAL_NONE;
        uint32_t number = rtl_db_big_endian(word);
        if (!number || number == locks)
            return RTL_JOURNAL_NONE;
        if (number > undo->pages)
            continue;
        if (!read_at(r->fd, word, 4, r->at + 4 + undo->page_bytes) ||
            rtl_db_big_endian(word) != checksum(r->page, undo->page_bytes, r->seed))
            return RTL_JOURNAL_NONE;
        if (undo->count == undo->pages)
            return RTL_JOURNAL_DAMAGED;
        if (!append_page(r, undo, number, r->at + 4)) {
            errno = ENOMEM;
            return RTL_JOURNAL_FAILED;
        }
    }
    return RTL_JOURNAL_HOT;
}

static int compare_pages(const void *x, const void *y)
{
    const struct rtl_journal_page *a = x, *b = y;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

enum rtl_journal rtl_journal_read(const char *path, uint32_t page_bytes, bool (*stop)(void *context), void *context,
                                  struct rtl_undo *undo)
{
    struct journal_reader r = {.sector = FIRST_SECTOR};
    *undo = (struct rtl_undo){.fd = -1};
    enum rtl_journal is = open_to_judge(path, &r.fd, &undo->info);
    undo->fd = r.fd;
    r.size = (uint64_t)undo->info.st_size;
    if (is == RTL_JOURNAL_HOT && !next_header(&r, undo, page_bytes))
        is = RTL_JOURNAL_NONE; /* nothing to play back */
    if (is == RTL_JOURNAL_HOT && !(r.page = malloc(undo->page_bytes)))
        is = RTL_JOURNAL_FAILED;
    if (is == RTL_JOURNAL_HOT) {
        enum rtl_journal part;
        do
            part = read_records(&r, undo, stop, context);
        while (part == RTL_JOURNAL_HOT && next_header(&r, undo, page_bytes));
        is = part == RTL_JOURNAL_NONE ? RTL_JOURNAL_HOT : part;
    }
    free(r.page);
    if (is != RTL_JOURNAL_HOT) {
        int error = errno;
        rtl_journal_free(undo);
        errno = error;
        return is;
    }
    size_t kept = 0;
    if (undo->count)
        qsort(undo->saved, undo->count, sizeof *undo->saved, compare_pages);
    for (size_t i = 0; i < undo->count; i++) { /* if a page was saved twice, SQLite uses the last copy */
        if (kept && undo->saved[kept - 1].number == undo->saved[i].number)
            kept--;
        undo->saved[kept++] = undo->saved[i];
    }
    undo->count = kept;
    return RTL_JOURNAL_HOT;
}

void rtl_journal_free(struct rtl_undo *undo)
{
    if (undo->fd >= 0)
        close(undo->fd);
    free(undo->saved);
    *undo = (struct rtl_undo){.fd = -1};
}

static bool is_same_time(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool rtl_journal_is_same(const struct rtl_undo *undo, const char *path)
{
    struct stat now;
    const struct stat *was = &undo->info;
    return undo->fd >= 0 && !lstat(path, &now) && now.st_dev == was->st_dev && now.st_ino == was->st_ino &&
           now.st_nlink == was->st_nlink && now.st_size == was->st_size && is_same_time(&now.st_mtim, &was->st_mtim) &&
           is_same_time(&now.st_ctim, &was->st_ctim);
}

uint64_t rtl_journal_find(const struct rtl_undo *undo, uint32_t number)
{
    const struct rtl_journal_page key = {.number = number}; /* sorts before the page: `at` is never 0 */
    size_t i = rtl_lower_bound(undo->saved, undo->count, sizeof *undo->saved, &key, compare_pages);
    return i < undo->count && undo->saved[i].number == number ? undo->saved[i].at : 0;
}
