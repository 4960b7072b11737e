/*
 * Where a file that the user names lies: its folder, held by a descriptor, and its name there. Later steps work on
 * both, so no folder or link that changes meanwhile leads them elsewhere. Every file that rtl-top writes is found here.
 *
 * The user's own links and those of root are followed. Links of other users are refused
 *
 * - in a folder that all may write to or that is sticky, such as /tmp;
 * - anywhere, if the link stands for a file that is to be written.
 *
 * Links in /proc are not texts: the kernel follows them.
 */
#ifndef RTL_RECORD_SAFE_PATH_H
#define RTL_RECORD_SAFE_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct rtl_safe_path {
    int folder;  /* O_PATH descriptor, owned; -1: none */
    int follow;  /* 0 if the kernel follows the last link, otherwise AT_SYMLINK_NOFOLLOW */
    bool linked; /* the user named a link to it */
    char name[NAME_MAX +
              1]; /* never a link, unless it became one meanwhile, or lies in /proc; the file need not exist */
};

/* False and one line in `why`, with `cannot` ("cannot write") in front, on failure. */
bool rtl_safe_path_find(struct rtl_safe_path *at, const char *path, bool write, const char *cannot, char *why,
                        size_t why_bytes);
void rtl_safe_path_release(struct rtl_safe_path *at);

bool rtl_safe_path_stat(const struct rtl_safe_path *at, struct stat *info); /* false: see errno */
/* open() there, with O_CLOEXEC and O_NOCTTY, not through a link. */
int rtl_safe_path_open(const struct rtl_safe_path *at, int flags, mode_t mode);

/* Create a new file in the folder, for writing; its name, between the two texts, is random. -1: see errno. */
int rtl_safe_path_create(int folder, const char *before, const char *after, mode_t mode, char name[NAME_MAX + 1]);

/* True for a link that another user made: it may lead anywhere. Root is trusted. */
bool rtl_is_foreign_link(const struct stat *info);
/* The message about a planted file, after "cannot write PATH: ". */
#define RTL_PLANTED "another user has put it or a second name of it into this shared folder; choose another name"
/* True if another user has put the file into a folder where all users may create files, or has linked a file of this
 * user there or into a folder of that user. */
bool rtl_safe_path_is_planted(const struct rtl_safe_path *at, const struct stat *file);

#endif
