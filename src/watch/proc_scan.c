/* Scans /proc. See proc_scan.h. */
#include "watch/proc_scan.h"
#include "base/array.h"
#include "watch/proc_title.h"
#include "shm/late_file.h"
#include "shm/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 4096, ENVIRONMENT_MAX = 1 << 17, UNTRACED_MAX = 256 };

static bool read_entry(pid_t pid, struct rtl_proc_entry *entry)
{
    char stat[1024];
    int parent;
    unsigned long long start;
    if (rtl_process_file(pid, "stat", stat, sizeof stat) <= 0)
        return false;
    const char *close = strrchr(stat, ')'); /* a process's name may contain ')' */
    if (!close || sscanf(close + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                         &parent, &start) != 2)
        return false;
    *entry = (struct rtl_proc_entry){pid, (pid_t)parent, start};
    return true;
}

static int by_pid(const void *a, const void *b)
{
    const struct rtl_proc_entry *x = a, *y = b;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

int rtl_proc_scan(struct rtl_proc_entry **entries)
{
    uint32_t count = 0, room = 0;
    *entries = NULL;
    DIR *dir = opendir("/proc");
    if (!dir)
        return -errno;
    for (struct dirent *e; (e = readdir(dir));) {
        struct rtl_proc_entry entry;
        int pid = atoi(e->d_name);
        if (pid <= 0 || !read_entry(pid, &entry))
            continue;
        if (!rtl_grow(entries, &room, count + 1, sizeof **entries)) {
            free(*entries);
            *entries = NULL;
            closedir(dir);
            return -ENOMEM;
        }
        (*entries)[count++] = entry;
    }
    closedir(dir);
    if (count)
        qsort(*entries, count, sizeof **entries, by_pid);
    return (int)count;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* True if the file is called `name` or `name`.py. */
static bool file_has_name(const char *path, const char *name)
{
    const char *file = file_name(path);
    size_t length = strlen(name);
    return !strncmp(file, name, length) && (!file[length] || !strcmp(file + length, ".py"));
}

bool rtl_proc_has_name(pid_t pid, const char *name)
{
    char comm[64], arguments[ARGUMENTS_MAX];
    ssize_t n = rtl_process_file(pid, "comm", comm, sizeof comm);
    if (n > 0 && comm[n - 1] == '\n')
        comm[n - 1] = 0;
    if (n > 0 && !strcmp(comm, name))
        return true;
    n = rtl_late_file(pid, "cmdline", arguments, sizeof arguments);
    if (n <= 0)
        return false;
    if (file_has_name(arguments, name))
        return true;
    /* the script is the first argument that is not an option */
    for (const char *at = arguments + strlen(arguments) + 1; at < arguments + n; at += strlen(at) + 1)
        if (*at != '-')
            return file_has_name(at, name);
    return false;
}

/* True if the process has opened the file; false if that is not visible. Bounded. */
static bool has_open(pid_t pid, const char *path)
{
    char name[RTL_PROC_PATH_MAX], link[256];
    bool held = false;
    int left = RTL_FILES_MAX;
    DIR *dir = opendir(rtl_proc_path(name, pid, "fd"));
    if (!dir)
        return false;
    for (struct dirent *e; !held && left-- && (e = readdir(dir));) {
        ssize_t n = readlinkat(dirfd(dir), e->d_name, link, sizeof link - 1);
        held = n > 0 && (size_t)n == strlen(path) && !memcmp(link, path, (size_t)n);
    }
    closedir(dir);
    return held;
}

/* --- the rank of a worker --- */

/* Parses at most five digits up to `end`; -1 for other text. */
static int number_at(const char *at, const char *end)
{
    int value = 0, digits = 0;
    for (; at < end && isdigit((unsigned char)*at) && digits < 5; at++, digits++)
        value = 10 * value + (*at - '0');
    return digits && (at == end || !*at) ? value : -1;
}

static const char *end_of(const char *at, const char *end)
{
    const char *zero = memchr(at, 0, (size_t)(end - at));
    return zero ? zero : end;
}

/* Returns the number in an environment variable; -1 = none. */
static int environment_number(const char *environment, size_t bytes, const char *name)
{
    size_t length = strlen(name);
    const char *end = environment + bytes;
    for (const char *at = environment; at < end; at = end_of(at, end) + 1)
        if ((size_t)(end - at) > length && !memcmp(at, name, length) && at[length] == '=')
            return number_at(at + length + 1, end_of(at, end));
    return -1;
}

/* Returns the number after an option, "--rank 3" or "--rank=3"; -1 = none. */
static int option_number(const char *arguments, size_t bytes, const char *name)
{
    size_t length = strlen(name);
    const char *end = arguments + bytes;
    for (const char *at = arguments; at < end;) {
        const char *stop = end_of(at, end), *next = stop + 1;
        if ((size_t)(stop - at) >= length && !memcmp(at, name, length)) {
            if (at[length] == '=')
                return number_at(at + length + 1, stop);
            if (at + length == stop && next < end)
                return number_at(next, end_of(next, end));
        }
        at = next;
    }
    return -1;
}

/* Returns the number in a worker's own title, "VLLM::Worker_TP3" or "sglang::scheduler_TP0"; -1 = none. */
static int word_number(const char *arguments, size_t bytes, const char *word)
{
    size_t length = strlen(word);
    const char *end = end_of(arguments, arguments + bytes);
    for (const char *at = arguments; at + length < end; at++)
        if (!memcmp(at, word, length) && isdigit((unsigned char)at[length])) {
            const char *stop = at + length;
            while (stop < end && isdigit((unsigned char)*stop))
                stop++;
            return number_at(at + length, stop);
        }
    return -1;
}

void rtl_rank_from(const char *arguments, size_t argument_bytes, const char *environment, size_t environment_bytes,
                   struct rtl_member_info *info)
{
    /* the most reliable source first; the screen shows the letters before the number */
    static const struct {
        int (*find)(const char *bytes, size_t size, const char *name);
        const char *name, *letters;
    } sources[] = {
        {word_number, "_TP", "TP"},
        {environment_number, "RANK", "R"},
        {environment_number, "LOCAL_RANK", "R"},
        {environment_number, "OMPI_COMM_WORLD_RANK", "R"},
        {environment_number, "PMI_RANK", "R"},
        {environment_number, "SLURM_PROCID", "R"},
        {option_number, "--rank", "R"},
        {option_number, "--local-rank", "R"},
        {option_number, "--local_rank", "R"},
        {option_number, "--tp-rank", "TP"},
        {environment_number, "HIP_VISIBLE_DEVICES", "D"},
        {environment_number, "ROCR_VISIBLE_DEVICES", "D"},
        {option_number, "--device", "D"},
    };
    info->rank = -1;
    info->label[0] = 0;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        bool variable = sources[i].find == environment_number;
        int number = sources[i].find(variable ? environment : arguments, variable ? environment_bytes : argument_bytes,
                                     sources[i].name);
        if (number < 0)
            continue;
        if (*sources[i].letters != 'D')
            info->rank = number;
        snprintf(info->label, sizeof info->label, "%s%d", sources[i].letters, number);
        return;
    }
}

/* Container engines name a control group by 64 hexadecimal digits; their tools show the first twelve. */
void rtl_container_from(const char *cgroup, char *out, size_t size)
{
    size_t run = 0;
    *out = 0;
    for (const char *at = cgroup;; at++) {
        if (isxdigit((unsigned char)*at) && !isupper((unsigned char)*at)) {
            run++;
            continue;
        }
        if (run == 64) {
            snprintf(out, size, "%.12s", at - run);
            return;
        }
        run = 0;
        if (!*at)
            return;
    }
}

const struct rtl_proc_entry *rtl_proc_find(const struct rtl_proc_entry *entries, uint32_t count, pid_t pid)
{
    return count ? bsearch(&(struct rtl_proc_entry){.pid = pid}, entries, count, sizeof *entries, by_pid) : NULL;
}

void rtl_proc_member_info(pid_t pid, struct rtl_member_info *info)
{
    char arguments[ARGUMENTS_MAX], cgroup[4096];
    char *environment = malloc(ENVIRONMENT_MAX);
    memset(info, 0, sizeof *info);
    info->pid = pid;
    ssize_t a = rtl_late_file(pid, "cmdline", arguments, sizeof arguments);
    ssize_t e = environment ? rtl_late_file(pid, "environ", environment, ENVIRONMENT_MAX) : -1;
    rtl_rank_from(arguments, a > 0 ? (size_t)a : 0, environment, e > 0 ? (size_t)e : 0, info);
    free(environment);
    if (rtl_process_file(pid, "cgroup", cgroup, sizeof cgroup) > 0)
        rtl_container_from(cgroup, info->container, sizeof info->container);
    rtl_proc_user(pid, info->user, sizeof info->user);
    rtl_proc_title(pid, "?", info->title, sizeof info->title);
}

void rtl_untraced_find(struct rtl_untraced *untraced, const struct rtl_process_row *rows, uint32_t count)
{
    struct rtl_proc_entry *all;
    int found = rtl_proc_scan(&all);
    rtl_untraced_free(untraced);
    for (int i = 0; i < found && untraced->count < UNTRACED_MAX; i++) {
        bool traced = false;
        for (uint32_t r = 0; r < count; r++)
            traced |= !rows[r].member->ended && rows[r].member->info.pid == all[i].pid;
        if (traced || !has_open(all[i].pid, "/dev/kfd"))
            continue;
        struct rtl_member_info *more = realloc(untraced->list, (untraced->count + 1) * sizeof *more);
        if (!more)
            break;
        untraced->list = more;
        rtl_proc_member_info(all[i].pid, &untraced->list[untraced->count++]);
    }
    if (found >= 0)
        free(all);
}

void rtl_untraced_free(struct rtl_untraced *untraced)
{
    free(untraced->list);
    *untraced = (struct rtl_untraced){0};
}
