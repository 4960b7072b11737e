/* Files where another process lives: in its root folder, which may be another than ours. */
#ifndef RTL_OBSERVE_TARGET_FILE_H
#define RTL_OBSERVE_TARGET_FILE_H

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/plain_file.h"

/* A plain file for reading, or -1. `files`: the process's root folder, or -1. Links are followed within that only, so
 * not at all without openat2 (Linux 5.6): what was loaded is then read from memory. */
static inline int rtl_target_file_open(int files, const char *path, struct stat *st)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    return files < 0 ? -1 : rtl_plain_file_open((int)syscall(SYS_openat2, files, path, &how, sizeof how), st);
}

#endif
