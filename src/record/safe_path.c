/* Finds the folder of a file that the user names. See safe_path.h. */
#include "record/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* the kernel's limit, too */

static bool fail_path(struct rtl_safe_path *at, int error)
{
    rtl_safe_path_release(at);
    errno = error;
    return false;
}

bool rtl_is_foreign_link(const struct stat *info)
{
    return S_ISLNK(info->st_mode) && info->st_uid != geteuid() && info->st_uid != 0;
}

static bool is_shared_folder(int folder, struct stat *info)
{
    return fstat(folder, info) || (info->st_mode & (S_IWOTH | S_ISVTX));
}

bool rtl_safe_path_is_planted(const struct rtl_safe_path *at, const struct stat *file)
{
    struct stat folder;
    bool shared = is_shared_folder(at->folder, &folder);
    bool theirs = folder.st_uid != geteuid() && folder.st_uid != 0 && file->st_uid != folder.st_uid;
    bool foreign = file->st_uid != geteuid() && file->st_uid != 0 && file->st_uid != folder.st_uid;
    bool planted = (shared && foreign) || ((shared || theirs) && file->st_nlink > 1);
    return S_ISREG(file->st_mode) && planted;
}

/* Replace the path with the link's target and the rest behind the link. */
static bool follow_link(struct rtl_safe_path *at, int link, char path[PATH_MAX], const char *rest)
{
    char target[PATH_MAX], whole[2 * PATH_MAX];
    ssize_t n = readlinkat(link, "", target, sizeof target);
    if (n <= 0 || n == sizeof target)
        return fail_path(at, n < 0 ? errno : n ? ENAMETOOLONG : ENOENT);
    if (snprintf(whole, sizeof whole, "%.*s%s", (int)n, target, rest) >= PATH_MAX)
        return fail_path(at, ENAMETOOLONG);
    strcpy(path, whole);
    if (*path == '/') {
        close(at->folder);
        at->folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    return at->folder >= 0 || fail_path(at, errno);
}

/* Open the name, without following it if it is a link; -1: see errno. */
static int open_step(struct rtl_safe_path *at, bool last)
{
    struct statfs system;
    int follow = O_NOFOLLOW;
    if (!fstatfs(at->folder, &system) && system.f_type == PROC_SUPER_MAGIC) {
        follow = 0;
        at->follow = last ? 0 : AT_SYMLINK_NOFOLLOW;
    }
    /* with O_DIRECTORY the kernel triggers automounts */
    int fd = last ? -1 : openat(at->folder, at->name, O_PATH | O_DIRECTORY | O_CLOEXEC | follow);
    return fd >= 0 ? fd : openat(at->folder, at->name, O_PATH | O_CLOEXEC | follow);
}

/* errno is 0 for a link of another user, which at->name names. */
static bool find_path(struct rtl_safe_path *at, const char *named, bool write)
{
    char path[PATH_MAX];
    const char *next = path;
    if (!*named || strlen(named) >= sizeof path)
        return fail_path(at, *named ? ENAMETOOLONG : ENOENT);
    strcpy(path, named);
    at->folder = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at->folder < 0)
        return false;
    for (int links = 0;;) {
        struct stat info, folder;
        next += strspn(next, "/");
        size_t bytes = strcspn(next, "/");
        bool last = !next[bytes];
        if (bytes > NAME_MAX)
            return fail_path(at, ENAMETOOLONG);
        snprintf(at->name, sizeof at->name, "%.*s", bytes ? (int)bytes : 1, bytes ? next : ".");
        int fd = open_step(at, last);
        if (fd < 0 && last && errno == ENOENT)
            return true;
        if (fd < 0 || fstat(fd, &info))
            return fail_path(at, errno);
        if (S_ISLNK(info.st_mode)) {
            bool foreign = rtl_is_foreign_link(&info) && ((write && last) || is_shared_folder(at->folder, &folder));
            bool followed = !foreign && ++links <= LINKS_MAX && follow_link(at, fd, path, next + bytes);
            int error = foreign ? 0 : links > LINKS_MAX ? ELOOP : errno;
            close(fd);
            if (!followed)
                return fail_path(at, error);
            at->linked |= last;
            next = path;
        } else if (last) {
            close(fd);
            return true;
        } else {
            close(at->folder);
            at->folder = fd;
            next += bytes;
            if (!S_ISDIR(info.st_mode))
                return fail_path(at, ENOTDIR);
        }
    }
}

bool rtl_safe_path_find(struct rtl_safe_path *at, const char *path, bool write, const char *cannot, char *why,
                        size_t why_bytes)
{
    *at = (struct rtl_safe_path){.folder = -1, .follow = AT_SYMLINK_NOFOLLOW};
    if (find_path(at, path, write))
        return true;
    if (errno)
        snprintf(why, why_bytes, "%s %s: %s", cannot, path, strerror(errno));
    else
        snprintf(why, why_bytes, "%s %s: %s is a link of another user; name the file that it leads to", cannot, path,
                 at->name);
    return false;
}

void rtl_safe_path_release(struct rtl_safe_path *at)
{
    if (at->folder >= 0)
        close(at->folder);
    at->folder = -1;
}

bool rtl_safe_path_stat(const struct rtl_safe_path *at, struct stat *info)
{
    return !fstatat(at->folder, at->name, info, at->follow);
}

int rtl_safe_path_open(const struct rtl_safe_path *at, int flags, mode_t mode)
{
    return openat(at->folder, at->name, flags | O_CLOEXEC | O_NOCTTY | (at->follow ? O_NOFOLLOW : 0), mode);
}

int rtl_safe_path_create(int folder, const char *before, const char *after, mode_t mode, char name[NAME_MAX + 1])
{
    struct rtl_safe_path at = {.folder = folder, .follow = AT_SYMLINK_NOFOLLOW};
    for (int tries = 0; tries < 100; tries++) {
        unsigned number = (unsigned)getpid() * 2654435761u + (unsigned)tries;
        if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0)
            errno = 0; /* a guessable name is harmless: O_EXCL refuses existing files */
        snprintf(at.name, sizeof at.name, "%s%08x%s", before, number, after);
        int fd = rtl_safe_path_open(&at, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (fd >= 0 || errno != EEXIST) {
            strcpy(name, at.name);
            return fd;
        }
    }
    return -1;
}
