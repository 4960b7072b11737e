/* Scans /proc. See proc_scan.h. */
#include "watch/proc_scan.h"
#include "base/array.h"
#include "model/member_names.h"
#include "record/process_info.h"
#include "shm/late_file.h"
#include "shm/process.h"
#include "text/text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 4096, ENVIRONMENT_MAX = 1 << 17, UNTRACED_MAX = 256 };

bool rtl_proc_entry_read(pid_t pid, struct rtl_proc_entry *entry)
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
        if (pid <= 0 || !rtl_proc_entry_read(pid, &entry))
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

/* True if the file is called `name` or `name`.py. */
static bool file_has_name(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *file = slash && slash[1] ? slash + 1 : path;
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

void rtl_proc_title(pid_t pid, const char *fallback, char *out, size_t size)
{
    char bytes[512];
    ssize_t n = rtl_late_file(pid, "cmdline", bytes, sizeof bytes);
    while (n > 0 && !bytes[n - 1])
        n--;
    if (n <= 0) {
        snprintf(out, size, "%s", fallback);
        return;
    }
    const char *start = bytes;
    for (ssize_t i = 0; i < n && bytes[i]; i++) /* "/usr/bin/python3 serve.py" -> "python3 serve.py" */
        if (bytes[i] == '/' && i + 1 < n && bytes[i + 1])
            start = bytes + i + 1;
    for (ssize_t i = 0; i < n; i++)
        if (!bytes[i])
            bytes[i] = ' ';
    rtl_text_escape(out, size, start, (size_t)(bytes + n - start));
}

void rtl_proc_user(pid_t pid, char *out, size_t size)
{
    char user[64];
    rtl_process_user(pid, user, sizeof user);
    rtl_text_escape(out, size, *user ? user : "?", *user ? strlen(user) : 1);
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

/* Returns the value of a variable and its end; NULL = not set. */
static const char *find_variable(const struct rtl_proc_text *environment, const char *name, const char **value_end)
{
    size_t length = strlen(name);
    const char *end = environment->bytes + environment->size;
    for (const char *at = environment->bytes; at < end; at = end_of(at, end) + 1)
        if ((size_t)(end - at) > length && !memcmp(at, name, length) && at[length] == '=') {
            *value_end = end_of(at, end);
            return at + length + 1;
        }
    return NULL;
}

/* Returns the number after an option, "--rank 3" or "--rank=3"; -1 = none. */
static int option_number(const struct rtl_proc_text *arguments, const char *name)
{
    size_t length = strlen(name);
    const char *end = arguments->bytes + arguments->size;
    for (const char *at = arguments->bytes; at < end;) {
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

static int rank_variable(const struct rtl_proc_text *environment)
{
#define RANK(name) name,
#define DEVICES(name)
#define SETTING(name)
#define NAME(name, use) use(name)
    static const char *const names[] = {RTL_ENVIRONMENT(NAME)};
#undef NAME
#undef SETTING
#undef DEVICES
#undef RANK
    int number = -1;
    for (size_t i = 0; i < sizeof names / sizeof *names && number < 0; i++) {
        const char *end, *value = find_variable(environment, names[i], &end);
        number = value ? number_at(value, end) : -1;
    }
    return number;
}

/* --- the only device that a process may use --- */

enum { DEVICES_MAX = 64, ANOTHER_DEVICE = -1 /* by its UUID: its number is not known */ };

/* Reads a list as the runtimes do: the first entry that is invalid or repeated ends it. `of` is the list that the
 * numbers index; NULL: all GPUs of the machine. Returns the number of devices. */
static int read_devices(const char *list, const char *end, const int *of, int of_count, int out[DEVICES_MAX])
{
    static const char uuid[] = "GPU-";
    int count = 0;
    while (list < end && count < DEVICES_MAX) {
        const char *comma = memchr(list, ',', (size_t)(end - list)), *stop = comma ? comma : end;
        bool by_uuid = (size_t)(stop - list) > sizeof uuid - 1 && !memcmp(list, uuid, sizeof uuid - 1);
        int number = by_uuid ? ANOTHER_DEVICE : number_at(list, stop);
        if (!by_uuid && (number < 0 || (of && number >= of_count)))
            break;
        number = by_uuid || !of ? number : of[number];
        for (int i = 0; i < count; i++)
            if (number >= 0 && out[i] == number)
                return count;
        out[count++] = number;
        list = stop + 1;
    }
    return count;
}

static int only_device(const struct rtl_proc_text *environment)
{
    static const char *const inner[] = {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};
    int outer[DEVICES_MAX], devices[DEVICES_MAX], *of = NULL, outer_count = 0, count;
    const char *end, *list = find_variable(environment, "ROCR_VISIBLE_DEVICES", &end);
    if (list) {
        of = outer;
        outer_count = read_devices(list, end, NULL, 0, outer);
    }
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        list = find_variable(environment, inner[i], &end);
        if (!list || list == end) /* empty: as if not set */
            continue;
        count = read_devices(list, end, of, outer_count, devices);
        return count == 1 ? devices[0] : -1;
    }
    return outer_count == 1 ? outer[0] : -1;
}

void rtl_rank_from(const struct rtl_proc_text *arguments, const struct rtl_proc_text *environment,
                   struct rtl_member_info *info)
{
    static const struct {
        const char *option, *letters;
    } options[] = {{"--rank", "R"}, {"--local-rank", "R"}, {"--local_rank", "R"}, {"--tp-rank", "TP"}};
    /* the most reliable source first: a worker's own title, without its folder; the screen shows the letters before the
     * number */
    const char *own = arguments->bytes, *end = end_of(own, own + arguments->size);
    const char *slash = memrchr(own, '/', (size_t)(end - own));
    own = slash ? slash + 1 : own;
    struct rtl_coordinates title = rtl_coordinates_find(own, (size_t)(end - own));
    const char *letters = "R";
    rtl_coordinates_text(&title, info->label, sizeof info->label);
    info->rank = rtl_coordinates_rank(&title);
    if (title.set)
        return;
    info->rank = rank_variable(environment);
    for (size_t i = 0; info->rank < 0 && i < sizeof options / sizeof *options; i++) {
        info->rank = option_number(arguments, options[i].option);
        letters = options[i].letters;
    }
    int device = info->rank < 0 ? only_device(environment) : -1;
    device = info->rank < 0 && device < 0 ? option_number(arguments, "--device") : device;
    if (info->rank >= 0 || device >= 0)
        snprintf(info->label, sizeof info->label, "%s%d", info->rank >= 0 ? letters : "D",
                 info->rank >= 0 ? info->rank : device);
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

bool rtl_proc_is_among(const struct rtl_proc_entry *entries, uint32_t count, pid_t pid, uint64_t start_time)
{
    const struct rtl_proc_entry *e = rtl_proc_find(entries, count, pid);
    return e && e->start_time == start_time;
}

uint64_t rtl_proc_scan_pause(uint64_t took_ns, uint64_t least_ns)
{
    uint64_t pause = took_ns * 100 > least_ns ? took_ns * 100 : least_ns;
    return pause < 10 * RTL_SEC ? pause : 10 * RTL_SEC;
}

void rtl_proc_member_info(pid_t pid, const struct rtl_reader *reader, struct rtl_member_info *info)
{
    char bytes[ARGUMENTS_MAX], cgroup[4096], *own = NULL;
    struct rtl_proc_text arguments = {bytes, 0}, environment = {"", 0};
    memset(info, 0, sizeof *info);
    info->pid = pid;
    ssize_t n = rtl_late_file(pid, "cmdline", bytes, sizeof bytes);
    arguments.size = n > 0 ? (size_t)n : 0;
    /* a title may have been written over the environment that /proc shows */
    const char *published = reader ? rtl_reader_environment(reader, &environment.size) : NULL;
    if (published) {
        environment.bytes = published;
    } else if ((own = malloc(ENVIRONMENT_MAX)) && (n = rtl_late_file(pid, "environ", own, ENVIRONMENT_MAX)) > 0) {
        environment = (struct rtl_proc_text){own, (size_t)n};
    }
    rtl_rank_from(&arguments, &environment, info);
    free(own);
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
    untraced->list = calloc(UNTRACED_MAX, sizeof *untraced->list);
    for (int i = 0; untraced->list && i < found && untraced->count < UNTRACED_MAX; i++) {
        bool traced = false;
        for (uint32_t r = 0; r < count; r++)
            traced |= !rows[r].member->ended && rows[r].member->info.pid == all[i].pid;
        if (!traced && rtl_process_has_open(all[i].pid, "/dev/kfd"))
            rtl_proc_member_info(all[i].pid, NULL, &untraced->list[untraced->count++]);
    }
    if (found >= 0)
        free(all);
}

void rtl_untraced_free(struct rtl_untraced *untraced)
{
    free(untraced->list);
    *untraced = (struct rtl_untraced){0};
}
