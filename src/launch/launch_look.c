/*
 * Looks for what a started command has become: the traced process among it and its descendants, or how far they have
 * come.
 */
#include "launch/launch.h"
#include "shm/elf_file.h"
#include "shm/proc_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAMILY_MAX = 4096 };

struct relation {
    pid_t pid, parent;
};

static bool read_parent(pid_t pid, pid_t *parent)
{
    char bytes[512];
    rtl_process_file(pid, "stat", bytes, sizeof bytes);
    const char *close = strrchr(bytes, ')');
    int number;
    if (!close || sscanf(close + 1, " %*c %d", &number) != 1)
        return false;
    *parent = (pid_t)number;
    return true;
}

/* The process and its descendants, parents before children, FAMILY_MAX at most; how many. */
static unsigned family_of(pid_t first, pid_t *family)
{
    unsigned count = 1, all = 0, room = 0;
    struct relation *relations = NULL;
    DIR *dir = opendir("/proc");
    family[0] = first;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct relation r = {.pid = (pid_t)atoi(e->d_name)};
        if (r.pid <= 0 || !read_parent(r.pid, &r.parent))
            continue;
        if (all == room) {
            room = room ? 2 * room : 512;
            struct relation *more = realloc(relations, room * sizeof *more);
            if (!more)
                break;
            relations = more;
        }
        relations[all++] = r;
    }
    if (dir)
        closedir(dir);
    for (unsigned at = 0; at < count; at++)
        for (unsigned i = 0; i < all && count < FAMILY_MAX; i++)
            if (relations[i].parent == family[at])
                family[count++] = relations[i].pid;
    free(relations);
    return count;
}

/* How much there is to say of a process that is not traced. */
static int distance(const struct rtl_gpu_use *use)
{
    return use->library && !use->preloaded ? 4
           : use->runtime || use->device   ? 3
           : use->bits32 || use->unlinked  ? 2
           : use->asked                    ? 1
                                           : 0;
}

/* Remembers it if it has come further than those before it, or is the same. */
static void remember(struct rtl_launch *launch, pid_t pid)
{
    struct rtl_process process;
    struct rtl_gpu_use use = {0};
    if (rtl_process_read(pid, &process) != 0 || rtl_process_is_zombie(&process))
        return;
    bool same = launch->child_seen && launch->seen.pid == pid && launch->seen.start_time == process.start_time;
    if (same)
        use = launch->use;
    rtl_gpu_use_read(&process, &use);
    if (same || !launch->child_seen || distance(&use) > distance(&launch->use)) {
        launch->seen = process;
        launch->use = use;
        launch->child_seen = true;
    }
}

enum rtl_reader_status rtl_launch_look(struct rtl_launch *launch, struct rtl_reader **reader, pid_t *pid, char *why,
                                       size_t why_bytes)
{
    static pid_t family[FAMILY_MAX]; /* one thread looks */
    enum rtl_reader_status refused = RTL_READER_NOT_TRACED;
    unsigned count = family_of(launch->pid, family);
    for (unsigned i = 0; i < count; i++) {
        enum rtl_reader_status status = rtl_reader_open(family[i], reader, NULL, 0);
        if (status == RTL_READER_OK) {
            *pid = family[i];
            return RTL_READER_OK;
        }
        if (status == RTL_READER_VERSION || status == RTL_READER_PERMISSION) {
            status = rtl_reader_open(family[i], reader, launch->refused, sizeof launch->refused);
            if (status == RTL_READER_OK) { /* it was just being made */
                *pid = family[i];
                return RTL_READER_OK;
            }
            if (status == RTL_READER_VERSION) {
                refused = status;
                snprintf(why, why_bytes, "%s", launch->refused);
            }
        }
        remember(launch, family[i]);
    }
    return refused;
}

/* A program that was over before it could be looked at: its file says what it would have loaded. */
static bool explain_file(const struct rtl_launch *launch, char *why, size_t why_bytes)
{
    char reason[200];
    struct rtl_elf_file *elf = malloc(sizeof *elf);
    const char *name = launch->command[0];
    bool said = false;
    if (elf && strchr(name, '/') && rtl_elf_read(name, elf, reason, sizeof reason) && elf->elf) {
        said = true;
        if (elf->bits32)
            snprintf(why, why_bytes, "%s is a 32-bit program: ROCm and librtl.so have 64 bits", name);
        else if (!elf->interpreter[0] && !elf->dynamic)
            snprintf(why, why_bytes,
                     "%s is linked statically: it can load no library, so neither a ROCm of this system's nor "
                     "librtl.so",
                     name);
        else
            said = false;
    }
    free(elf);
    return said;
}

void rtl_launch_explain(struct rtl_launch *launch, char *why, size_t why_bytes)
{
    bool far = launch->child_seen && distance(&launch->use) > 1; /* there is more to say than that it was there */
    if (launch->refused[0] && !far) {
        snprintf(why, why_bytes, "%s", launch->refused);
    } else if (!far && explain_file(launch, why, why_bytes)) {
        return;
    } else if (far || (launch->child_seen && !launch->ended)) {
        rtl_gpu_use_explain(&launch->seen, &launch->use, launch->ended, why, why_bytes);
    } else { /* whether it was seen while it ran is luck */
        snprintf(why, why_bytes, "%s ended before it had loaded an HSA runtime, so nothing of it was traced",
                 launch->command[0]);
    }
}
