/* Finds out whether a process uses a runtime, a GPU and librtl.so. See gpu_use.h. */
#include "shm/gpu_use.h"
#include "shm/elf_file.h"
#include "shm/late_file.h"
#include "shm/reader_private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEVICE "/dev/kfd"

enum { ENVIRONMENT_MAX = 1 << 20 };

/* --- the environment it was started with --- */

/* Open the path below the process's root folder with O_PATH. Returns -1 on failure; *missing: no such file exists. It
 * stays unchanged if the process has just ended and has no root any more. */
static int open_in_target(pid_t pid, const char *path, bool *missing)
{
    int fd = rtl_process_open(pid, path, O_PATH);
    *missing = fd == -ESRCH ? *missing : fd == -ENOENT || fd == -ENOTDIR;
    return fd < 0 ? -1 : fd;
}

/* Split the list at blanks only: quotes and escapes can at most hide our library. */
static void read_tools(const struct rtl_process *p, struct rtl_gpu_use *use, const char *list)
{
    rtl_copy_printable(use->tools, sizeof use->tools, list, strlen(list));
    const char *ours = strstr(list, "librtl.so");
    use->asked |= ours != NULL;
    if (!ours || strpbrk(list, "\\\""))
        return;
    char path[PATH_MAX];
    const char *start = ours, *end = ours + strcspn(ours, " ");
    while (start > list && start[-1] != ' ')
        start--;
    if (*start == '/' && end - start < PATH_MAX) {
        snprintf(path, sizeof path, "%.*s", (int)(end - start), start);
        int fd = open_in_target(p->pid, path, &use->missing);
        if (fd >= 0)
            close(fd);
    }
}

static void read_target_environment(const struct rtl_process *p, struct rtl_gpu_use *use)
{
    static const char name[] = "HSA_TOOLS_LIB=", preload[] = "LD_PRELOAD=";
    char *bytes = malloc(ENVIRONMENT_MAX);
    ssize_t used = bytes ? rtl_late_file(p->pid, "environ", bytes, ENVIRONMENT_MAX) : 0;
    if (used > 0) {
        use->environment = true;
        use->asked = use->preloaded = use->missing = false; /* an exec may have replaced the program */
        use->profiler = (struct rtl_profiler){0};
        use->tools[0] = '\0';
        for (char *at = bytes; at < bytes + used; at += strlen(at) + 1) {
            if (strncmp(at, name, sizeof name - 1) == 0)
                read_tools(p, use, at + sizeof name - 1);
            use->preloaded |= strncmp(at, preload, sizeof preload - 1) == 0 && strstr(at, "librtl.so");
            rtl_profiler_variable(&use->profiler, at);
        }
    }
    free(bytes);
}

/* --- what it has loaded and opened --- */

static void read_target_mappings(const struct rtl_process *p, struct rtl_gpu_use *use)
{
    char profiler[PATH_MAX];
    use->runtime |= rtl_process_maps(p->pid, "/libhsa-runtime64", NULL, NULL);
    use->library |= rtl_process_maps(p->pid, "/librtl.so", NULL, NULL);
    if (rtl_process_mapped_file(p->pid, "/" RTL_PROFILER_LIBRARY, profiler, sizeof profiler))
        rtl_profiler_because(&use->profiler, "%s is loaded", profiler);
}

/* Check access by mode bits only: this code doesn't read the process's supplementary groups. */
static void check_device(const struct rtl_process *p, struct rtl_gpu_use *use)
{
    char path[RTL_PROC_PATH_MAX];
    use->no_right = false;
    int fd = open_in_target(p->pid, DEVICE, &use->no_device);
    if (fd < 0)
        return;
    if (p->euid == geteuid() && p->egid == getegid() && p->euid)
        use->no_right = access(rtl_proc_path(path, 0, "fd/%d", fd), R_OK | W_OK) != 0;
    close(fd);
}

static void check_program_file(const struct rtl_process *p, struct rtl_gpu_use *use)
{
    char path[RTL_PROC_PATH_MAX], why[100];
    struct rtl_elf_file *elf = malloc(sizeof *elf);
    if (elf && rtl_elf_read(rtl_proc_path(path, p->pid, "exe"), elf, why, sizeof why) && elf->elf) {
        use->bits32 = elf->bits32;
        use->unlinked = !elf->bits32 && !elf->interpreter[0] && !elf->dynamic;
    }
    free(elf);
}

void rtl_gpu_use_read(const struct rtl_process *p, struct rtl_gpu_use *use)
{
    read_target_environment(p, use);
    read_target_mappings(p, use);
    use->device |= rtl_process_has_open(p->pid, DEVICE);
    check_device(p, use);
    check_program_file(p, use);
}

/* --- in words --- */

struct explanation {
    const struct rtl_process *p;
    bool ended;
    char *why;
    size_t bytes;
};

__attribute__((format(printf, 2, 3))) static void explain_line(const struct explanation *l, const char *format, ...)
{
    char text[1500];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(l->why, l->bytes, "process %d (%s) %s%s", (int)l->p->pid, l->p->name,
             l->ended ? "has ended and was not traced: it " : "", text);
}

/* Explain that the runtime ignores HSA_TOOLS_LIB because of rocprofiler-sdk. */
static void explain_profiler(const struct explanation *l, const struct rtl_profiler *profiler)
{
    explain_line(l, "has rocprofiler-sdk (%s), beside which the runtime leaves out HSA_TOOLS_LIB%s", profiler->why,
                 profiler->both ? " in spite of " RTL_PROFILER_BOTH
                                  "=1: preload librtl.so (--preload of rtl-top run and env)"
                                : ": start it with " RTL_PROFILER_BOTH "=1 for both, as rtl-top run and env do");
}

/* Explain why the process isn't traced although HSA_TOOLS_LIB or LD_PRELOAD lists the library and the process uses
 * ROCm. */
static void explain_refused(const struct explanation *l, const struct rtl_gpu_use *use)
{
    if (use->missing)
        explain_line(
            l,
            "was started with HSA_TOOLS_LIB=%s, and where it runs there is no such file: mount librtl.so into the "
            "container (rtl-top env --shell docker)",
            use->tools);
    else if (use->profiler.active && !use->preloaded)
        explain_profiler(l, &use->profiler);
    else if (use->no_device && !use->device)
        explain_line(l, "found no GPU: there is no " DEVICE
                        " where it runs. Is the driver (amdgpu) loaded? A container wants --device " DEVICE
                        " --device /dev/dri");
    else if (use->no_right && !use->device)
        explain_line(l,
                     "found no GPU: uid %u, gid %u may not open " DEVICE
                     ". Let its user into the group that the file has (usermod -aG render USER)",
                     l->p->euid, l->p->egid);
    else if (use->preloaded)
        explain_line(
            l, "has librtl.so preloaded, but its HSA runtime has not registered with rocprofiler-register: it is built "
               "without that, or linked into the program. Start it with rtl-top run, without --preload");
    else
        explain_line(
            l,
            "was started with HSA_TOOLS_LIB=%s, but the runtime has not loaded it: can the dynamic linker find it "
            "(full path, LD_LIBRARY_PATH)? HSA_TOOLS_REPORT_LOAD_FAILURE=1 makes the runtime say",
            use->tools);
}

void rtl_gpu_use_explain(const struct rtl_process *p, const struct rtl_gpu_use *use, bool ended, char *why,
                         size_t why_bytes)
{
    const struct explanation l = {p, ended, why, why_bytes};
    bool uses = use->runtime || use->device;
    if (use->bits32)
        explain_line(&l, "is a 32-bit program: ROCm and librtl.so have 64 bits");
    else if (use->unlinked)
        explain_line(&l,
                     "is linked statically: it can load no library, so neither a ROCm of this system's nor librtl.so");
    else if (use->library && !use->preloaded)
        explain_line(&l, "has librtl.so loaded but no segment: see its standard error");
    else if ((use->asked || use->preloaded) && uses)
        explain_refused(&l, use);
    else if (use->asked && use->profiler.active && !use->profiler.both && !use->preloaded)
        explain_profiler(&l, &use->profiler);
    else if (use->asked)
        explain_line(&l, "was started with HSA_TOOLS_LIB=%s but %s", use->tools,
                     ended ? "no HSA runtime was seen in it while it ran"
                           : "has not used the GPU so far: no HSA runtime is loaded");
    else if (uses)
        explain_line(&l,
                     "uses the GPU and is not traced: it was started without librtl.so in HSA_TOOLS_LIB. Restart it: "
                     "rtl-top run -- %s ..., or with the variables that rtl-top env prints",
                     p->name);
    else
        explain_line(&l,
                     "is not traced, and has not used the GPU: start it with rtl-top run -- %s ..., or with the "
                     "variables that rtl-top env prints",
                     p->name);
}

enum rtl_reader_status rtl_explain_untraced(const struct rtl_process *p, char *why, size_t why_bytes)
{
    if (rtl_process_is_kernel_thread(p))
        return rtl_explain(RTL_READER_NOT_TRACED, why, why_bytes, "%d (%s) is a kernel thread, not a program",
                           (int)p->pid, p->name);
    if (rtl_process_is_zombie(p))
        return rtl_explain(RTL_READER_NOT_TRACED, why, why_bytes,
                           "process %d (%s) has ended and only waits to be reaped by its parent (zombie)", (int)p->pid,
                           p->name);
    if (rtl_process_maps(p->pid, "/memfd:" RTL_SEGMENT_NAME, NULL, NULL))
        return rtl_explain(RTL_READER_NOT_TRACED, why, why_bytes,
                           "process %d (%s) is traced but has closed the descriptor of its segment: only root can "
                           "still open it (sudo rtl-top -p %d)",
                           (int)p->pid, p->name, (int)p->pid);
    struct rtl_gpu_use use = {0};
    struct rtl_process again;
    rtl_gpu_use_read(p, &use);
    /* an ending process has lost its memory, so it seems to have loaded nothing */
    if (rtl_process_read(p->pid, &again) != 0 || again.start_time != p->start_time || rtl_process_is_ending(&again))
        return rtl_explain(RTL_READER_NO_PROCESS, why, why_bytes, "process %d (%s) has ended, or is just ending",
                           (int)p->pid, p->name);
    rtl_gpu_use_explain(p, &use, false, why, why_bytes);
    return RTL_READER_NOT_TRACED;
}
