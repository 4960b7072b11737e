/*
 * Judges the journal of an interrupted transaction. The journal has the pages that the transaction replaced. SQLite
 * writes them back, then deletes the journal and the file that the journal names. Its format is documented in "the
 * rollback journal" of SQLite's file format.
 */
#include "record/db_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAGIC = 8,
    TRAILER = 16, /* end of a journal that names another file: length of the name, checksum, magic */
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

static bool read_at(int fd, void *bytes, size_t count, uint64_t at)
{
    return pread(fd, bytes, count, (off_t)at) == (ssize_t)count;
}

/* SQLite's own check before it rolls back: a journal that begins with 0 is finished. */
static enum rtl_journal judge_content(int fd, uint64_t size)
{
    unsigned char first = 0, last[MAGIC];
    if (!size || !read_at(fd, &first, 1, 0) || !first)
        return RTL_JOURNAL_FINE;
    if (size >= TRAILER && read_at(fd, last, sizeof last, size - MAGIC) && !memcmp(last, magic, MAGIC))
        return RTL_JOURNAL_NAMES;
    return RTL_JOURNAL_FINE;
}

enum rtl_journal rtl_journal_judge(const char *path)
{
    bool exists;
    struct stat info;
    if (!rtl_journal_is_plain(path, &exists))
        return exists ? RTL_JOURNAL_ODD : RTL_JOURNAL_FAILED;
    int fd = exists ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) : -1;
    if (fd < 0)
        return !exists || errno == ENOENT ? RTL_JOURNAL_FINE : RTL_JOURNAL_FAILED;
    bool plain = !fstat(fd, &info) && S_ISREG(info.st_mode);
    enum rtl_journal is = plain ? judge_content(fd, (uint64_t)info.st_size) : RTL_JOURNAL_FAILED;
    close(fd);
    if (!plain)
        errno = EINVAL;
    return is;
}

void rtl_file_version_read(struct rtl_file_version *version, const char *path)
{
    version->exists = !lstat(path, &version->info);
}

bool rtl_file_is_same(const struct rtl_file_version *version, const char *path)
{
    struct stat now;
    const struct stat *was = &version->info;
    bool exists = !lstat(path, &now);
    if (!exists || !version->exists)
        return exists == version->exists;
    return now.st_dev == was->st_dev && now.st_ino == was->st_ino && now.st_nlink == was->st_nlink &&
           now.st_size == was->st_size && !memcmp(&now.st_mtim, &was->st_mtim, sizeof now.st_mtim) &&
           !memcmp(&now.st_ctim, &was->st_ctim, sizeof now.st_ctim);
}
