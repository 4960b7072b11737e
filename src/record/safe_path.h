/*
 * Resolves the path of a file that the user names to a folder, held by a descriptor, and a name in it. Later steps use
 * these two, so a folder or link that changes meanwhile doesn't lead them elsewhere. Every file that rtl-top writes is
 * found here.
 *
 * rtl-top follows the user's own links and those of root. It refuses links of other users
 *
 * - in a folder that all users may write to or that is sticky, such as /tmp;
 * - anywhere, if the link is the last name of a file that is to be written.
 *
 * The kernel follows links in /proc, because they have no text that leads to the file.
 */
#ifndef RTL_RECORD_SAFE_PATH_H
#define RTL_RECORD_SAFE_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct rtl_safe_path {
    int folder;              /* O_PATH descriptor, owned; -1: none */
    int follow;              /* 0 if the kernel follows the last link, otherwise AT_SYMLINK_NOFOLLOW */
    bool linked;             /* the user named a link to the file */
    char name[NAME_MAX + 1]; /* not a link when it was checked, or in /proc; the file need not exist */
};

/* Find the file. On failure: false, and one line in `why` that begins with `cannot` ("cannot write"). */
bool rtl_safe_path_find(struct rtl_safe_path *at, const char *path, bool write, const char *cannot, char *why,
                        size_t why_bytes);
void rtl_safe_path_release(struct rtl_safe_path *at);

bool rtl_safe_path_stat(const struct rtl_safe_path *at, struct stat *info); /* false: see errno */
/* Open the file like open(), with O_CLOEXEC and O_NOCTTY, not through a link. */
int rtl_safe_path_open(const struct rtl_safe_path *at, int flags, mode_t mode);

/* Create a new file in the folder, for writing. Its name is random between the two texts. -1: see errno. */
int rtl_safe_path_create(int folder, const char *before, const char *after, mode_t mode, char name[NAME_MAX + 1]);

/* True for a link that another user made: it may lead anywhere. Root is trusted. */
bool rtl_is_foreign_link(const struct stat *info);
/* The message about a planted file, after "cannot write PATH: ". */
#define RTL_PLANTED "another user has put it or a second name of it into this shared folder; choose another name"
/* True if another user has put the file into a folder where all users may create files, or has linked a file of this
 * user there or into a folder of that user. */
bool rtl_safe_path_is_planted(const struct rtl_safe_path *at, const struct stat *file);

#endif
