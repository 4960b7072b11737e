/* Finds the traced process among a started command and its descendants. See traced_child.h. */
#include "watch/traced_child.h"
#include "shm/elf_file.h"
#include "watch/proc_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY_MAX = 4096 };

/* Lists the process and its descendants, parents before children, at most FAMILY_MAX; returns their number. */
static unsigned list_family(pid_t first, pid_t *family)
{
    struct rtl_proc_entry *all;
    unsigned count = 1;
    int found = rtl_proc_scan(&all);
    family[0] = first;
    for (unsigned at = 0; at < count; at++)
        for (int i = 0; i < found && count < FAMILY_MAX; i++)
            if (all[i].parent == family[at])
                family[count++] = all[i].pid;
    if (found >= 0)
        free(all);
    return count;
}

/* Ranks how much a process's use of the GPU explains. */
static int rank_use(const struct rtl_gpu_use *use)
{
    if (use->library && !use->preloaded)
        return 4;
    if (use->runtime || use->device)
        return 3;
    return use->bits32 || use->unlinked ? 2 : use->asked;
}

/* Keeps the process that explains most, and updates it. */
static void remember_furthest(struct rtl_traced_child *child, pid_t pid)
{
    struct rtl_process process;
    struct rtl_gpu_use use = {0};
    if (rtl_process_read(pid, &process) != 0 || rtl_process_is_zombie(&process))
        return;
    bool same = child->any && child->seen.pid == pid && child->seen.start_time == process.start_time;
    if (same)
        use = child->use;
    rtl_gpu_use_read(&process, &use);
    if (same || !child->any || rank_use(&use) > rank_use(&child->use)) {
        child->seen = process;
        child->use = use;
        child->any = true;
    }
}

enum rtl_reader_status rtl_traced_child_find(struct rtl_traced_child *child, struct rtl_reader **reader, pid_t *pid,
                                             char *why, size_t why_bytes)
{
    static pid_t family[FAMILY_MAX]; /* used by one thread */
    enum rtl_reader_status refused = RTL_READER_NOT_TRACED;
    unsigned count = list_family(child->launch->pid, family);
    for (unsigned i = 0; i < count; i++) {
        enum rtl_reader_status status = rtl_reader_open(family[i], reader, NULL, 0);
        if (status == RTL_READER_VERSION || status == RTL_READER_PERMISSION) /* OK if the library has just made it */
            status = rtl_reader_open(family[i], reader, child->refused, sizeof child->refused);
        if (status == RTL_READER_OK) {
            *pid = family[i];
            return RTL_READER_OK;
        }
        if (status == RTL_READER_VERSION) {
            refused = status;
            snprintf(why, why_bytes, "%s", child->refused);
        }
        remember_furthest(child, family[i]);
    }
    return refused;
}

/* Explains a program that ended early by its file. */
static bool explain_file(const struct rtl_launch *launch, char *why, size_t why_bytes)
{
    char reason[200];
    struct rtl_elf_file *elf = malloc(sizeof *elf);
    const char *name = launch->command[0];
    const char *what = NULL;
    if (elf && strchr(name, '/') && rtl_elf_read(name, elf, reason, sizeof reason) && elf->elf)
        what = elf->bits32 ? "is a 32-bit program: ROCm and librtl.so have 64 bits"
               : !elf->interpreter[0] && !elf->dynamic
                   ? "is linked statically: it can load neither this system's ROCm nor librtl.so"
                   : NULL;
    if (what)
        snprintf(why, why_bytes, "%s %s", name, what);
    free(elf);
    return what;
}

void rtl_traced_child_explain(const struct rtl_traced_child *child, char *why, size_t why_bytes)
{
    bool far = child->any && rank_use(&child->use) > 1; /* a reason is known */
    if (child->refused[0] && !far) {
        snprintf(why, why_bytes, "%s", child->refused);
    } else if (!far && explain_file(child->launch, why, why_bytes)) {
        return;
    } else if (far || (child->any && !child->launch->ended)) {
        rtl_gpu_use_explain(&child->seen, &child->use, child->launch->ended, why, why_bytes);
    } else { /* the process may or may not have been seen before its end */
        snprintf(why, why_bytes, "%s ended before it loaded an HSA runtime, so it was not traced",
                 child->launch->command[0]);
    }
}
