/* Finds librtl.so and librtl-hip.so, runs the dynamic loader, and makes the environment. See library.h. */
#include "launch/library.h"
#include "base/clock.h"
#include "model/labels.h"
#include "shm/profiler.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef RTL_LIBRARY_FOLDER /* the Makefile sets the folder of its PREFIX */
#define RTL_LIBRARY_FOLDER "/usr/local/lib"
#endif

/* Relative to this program's folder: in the build, in an installation below a PREFIX, in a distribution. */
static const char *const candidates[] = {"librtl.so", "../lib/librtl.so", "../lib64/librtl.so",
                                         "../lib/x86_64-linux-gnu/librtl.so", RTL_LIBRARY_FOLDER "/librtl.so"};

static bool own_folder(char folder[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (n <= 0)
        return false;
    folder[n] = '\0';
    char *slash = strrchr(folder, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

bool rtl_library_has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            return true;
    return false;
}

static bool check_loadable(const char *path, char *why, size_t why_bytes)
{
    struct rtl_elf_file elf;
    char reason[200];
    if (rtl_library_has_control(path)) {
        snprintf(why, why_bytes, "%s has control characters in its path, which the environment can't hold: move it",
                 path);
        return false;
    }
    if (!rtl_elf_read(path, &elf, reason, sizeof reason)) {
        snprintf(why, why_bytes, "%s: %s: no process could load it", path, reason);
        return false;
    }
    if (!elf.native || !elf.shared) {
        snprintf(why, why_bytes, "%s is not a library for this machine: no process could load it", path);
        return false;
    }
    return true;
}

bool rtl_library_find(const char *given, char path[PATH_MAX], char *why, size_t why_bytes)
{
    char folder[PATH_MAX], place[PATH_MAX + 64];
    if (given) {
        if (!realpath(given, path)) {
            snprintf(why, why_bytes, "--library %s: %s", given, strerror(errno));
            return false;
        }
        return check_loadable(path, why, why_bytes);
    }
    if (!own_folder(folder))
        folder[0] = '\0';
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (candidates[i][0] == '/')
            snprintf(place, sizeof place, "%s", candidates[i]);
        else
            snprintf(place, sizeof place, "%s/%s", folder, candidates[i]);
        if ((*folder || candidates[i][0] == '/') && realpath(place, path))
            return check_loadable(path, why, why_bytes);
    }
    snprintf(why, why_bytes,
             "librtl.so is not beside this rtl-top (%s), in a lib folder there or in " RTL_LIBRARY_FOLDER
             ": install it, or pass --library FILE",
             *folder ? folder : "?");
    return false;
}

bool rtl_library_can_preload(const char *path, char *why, size_t why_bytes)
{
    if (rtl_preload_can_hold(path))
        return true;
    snprintf(why, why_bytes,
             "%s: LD_PRELOAD can't hold a path with a blank, a colon or a $: copy both libraries elsewhere, and "
             "pass --library",
             path);
    return false;
}

bool rtl_library_find_hip(const char *library, char path[PATH_MAX], char *why, size_t why_bytes)
{
    static const char name[] = "librtl-hip.so";
    const char *slash = strrchr(library, '/');
    int folder = slash ? (int)(slash - library) : 0;
    char place[PATH_MAX + sizeof name];
    snprintf(place, sizeof place, "%.*s/%s", folder, library, name);
    if (!realpath(place, path)) {
        snprintf(why, why_bytes, "%s, which records HIP calls, is not beside %s: %s", name, library, strerror(errno));
        return false;
    }
    return rtl_library_can_preload(path, why, why_bytes) && check_loadable(path, why, why_bytes);
}

/* --- the dynamic loader --- */

enum { LIST_MAX = 1 << 18 };
static const uint64_t PATIENCE_NS = 10000000000ull;

static bool own_loader(char *path, size_t size)
{
    char why[100];
    struct rtl_elf_file *self = malloc(sizeof *self);
    bool known = self && rtl_elf_read("/proc/self/exe", self, why, sizeof why) && self->interpreter[0] == '/';
    if (known)
        snprintf(path, size, "%s", self->interpreter);
    free(self);
    return known;
}

bool rtl_loader_is_ours(const struct rtl_elf_file *elf)
{
    char ours[RTL_ELF_NAME_MAX + 1];
    return own_loader(ours, sizeof ours) && strcmp(ours, elf->interpreter) == 0;
}

/* Reads until the end of the output, LIST_MAX bytes or PATIENCE_NS. */
static void read_output(int fd, char *list)
{
    uint64_t from = rtl_mono_ns();
    size_t used = 0;
    while (used < LIST_MAX - 1) {
        uint64_t waited = rtl_mono_ns() - from;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (waited >= PATIENCE_NS || poll(&p, 1, (int)((PATIENCE_NS - waited) / 1000000) + 1) <= 0)
            break;
        ssize_t n = read(fd, list + used, LIST_MAX - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    list[used] = '\0';
    for (size_t i = 0; i < used; i++) /* the list is searched as text */
        if (!list[i])
            list[i] = '?';
}

char *rtl_loader_list(const char *path)
{
    char loader[RTL_ELF_NAME_MAX + 1], *list = malloc(LIST_MAX);
    int out[2];
    if (!list || !own_loader(loader, sizeof loader) || pipe2(out, O_CLOEXEC) != 0) {
        free(list);
        return NULL;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        for (int fd = STDOUT_FILENO; fd <= STDOUT_FILENO + 1; fd++)
            if (dup2(out[1], fd) < 0)
                _exit(1);
        if (null >= 0)
            dup2(null, STDIN_FILENO);
        execl(loader, loader, "--list", path, (char *)NULL);
        _exit(1);
    }
    close(out[1]);
    list[0] = '\0';
    if (pid > 0) {
        read_output(out[0], list);
        kill(pid, SIGKILL); /* it has ended, or hangs */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(out[0]);
    return list;
}

bool rtl_loader_find(const char **at, const char *name, char *where, size_t size)
{
    while (**at) {
        const char *word = *at + strspn(*at, " \t"), *end = *at + strcspn(*at, "\n");
        const char *arrow = strstr(word, " => ");
        *at = end + (*end == '\n');
        if (strncmp(word, name, strlen(name)) != 0 || !arrow || arrow > end)
            continue;
        arrow += 4;
        const char *stop = strstr(arrow, " (0x");
        if (*arrow != '/' || !stop || stop > end)
            stop = arrow;
        snprintf(where, size, "%.*s", (int)(stop - arrow), arrow);
        return true;
    }
    return false;
}

bool rtl_loader_complaint(const char *list, char *text, size_t size)
{
    for (const char *line = list; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *word = line + strspn(line, " \t");
        int length = (int)strcspn(word, "\n");
        if (!memmem(word, (size_t)length, "not found", 9) && !memmem(word, (size_t)length, "error while loading", 19))
            continue;
        snprintf(text, size, "%.*s", length, word);
        return true;
    }
    return false;
}

/* --- lists of libraries --- */

static bool has_base_name(const char *path, const char *prefix)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, prefix, strlen(prefix)) == 0;
}

bool rtl_tools_displaces(const char *name, const char *library)
{
    (void)library;
    return has_base_name(name, "librtl.so");
}

bool rtl_preload_same_kind(const char *name, const char *library)
{
    const char *kind = has_base_name(library, "librtl.so") ? "librtl.so" : "librtl-hip.so";
    return has_base_name(library, kind) && has_base_name(name, kind);
}

bool rtl_tools_next(const char **at, char *name, size_t size)
{
    size_t used = 0, kept = 0; /* `kept`: length up to the last character after a backslash */
    bool quoted = false;
    const char *c = *at;
    while (*c) {
        char now = *c++;
        bool over = false;
        if (now == '\\' && *c) {
            now = *c++;
            kept = used + 1;
        } else if (now == '\\') {
            continue;
        } else if (now == '"' && quoted) {
            over = true;
            quoted = false;
        } else if (now == '"') {
            used = kept; /* the runtime drops unescaped characters directly before a quote */
            quoted = true;
            continue;
        } else if (now == ' ' && !quoted) {
            over = true;
        }
        if (over && used)
            break;
        if (!over && used + 1 < size)
            name[used++] = now;
    }
    *at = c;
    name[used] = '\0';
    return used > 0;
}

bool rtl_tools_sane(const char *list)
{
    size_t backslashes = 0, length = strlen(list);
    while (backslashes < length && list[length - 1 - backslashes] == '\\')
        backslashes++;
    return backslashes % 2 == 0;
}

bool rtl_preload_next(const char **at, char *name, size_t size)
{
    *at += strspn(*at, " :");
    size_t length = strcspn(*at, " :"), kept = length < size ? length : size - 1;
    memcpy(name, *at, kept);
    name[kept] = '\0';
    *at += length;
    return length > 0;
}

bool rtl_preload_can_hold(const char *path)
{
    return !strpbrk(path, " :$");
}

/* Appends a name; escapes the characters that have a meaning in this list. Returns the new end. */
static char *put_name(char *to, const char *name, char separator, const char *escaped)
{
    *to = separator;
    to += separator != '\0';
    for (; *name; name++) {
        if (strchr(escaped, *name))
            *to++ = '\\';
        *to++ = *name;
    }
    *to = '\0';
    return to;
}

/* `displaces`: true for a name that `library` replaces. */
static char *append_library(const char *list, const char *library, char separator, const char *escaped,
                            bool (*next)(const char **, char *, size_t), bool (*displaces)(const char *, const char *))
{
    const char *at = list ? list : "";
    size_t bytes = strlen(at) + 1;
    char *name = malloc(bytes), *result = malloc(2 * bytes + 2 * strlen(library) + 2), *to = result;
    bool there = false;
    while (name && result && next(&at, name, bytes)) {
        bool same = !strcmp(name, library);
        if (same || !displaces(name, library))
            to = put_name(to, name, to == result ? '\0' : separator, escaped);
        there |= same;
    }
    if (name && result && !there)
        put_name(to, library, to == result ? '\0' : separator, escaped);
    if (!name) {
        free(result);
        result = NULL;
    }
    free(name);
    return result;
}

char *rtl_tools_append(const char *list, const char *library)
{
    return append_library(list, library, ' ', " \"\\", rtl_tools_next, rtl_tools_displaces);
}

char *rtl_preload_append(const char *list, const char *library)
{
    return append_library(list, library, ':', "", rtl_preload_next, rtl_preload_same_kind);
}

/* --- the environment --- */

bool rtl_start_mode_parse(const char *name, int *start_mode)
{
    *start_mode = strcmp(name, RTL_MODE_HIP) == 0 ? RTL_START_HIP : rtl_mode_parse(name);
    return *start_mode >= 0;
}

bool rtl_start_mode_is_hip(int start_mode)
{
    const char *mode = getenv("RTL_MODE");
    return start_mode == RTL_START_HIP || (start_mode == RTL_START_FROM_ENV && mode && strcmp(mode, RTL_MODE_HIP) == 0);
}

static void add_variable(struct rtl_traced_env *env, const char *name, char *value)
{
    env->variable[env->count].name = name;
    env->variable[env->count++].value = value;
}

bool rtl_traced_env_make(struct rtl_traced_env *env, const char *library, const struct rtl_traced_request *request,
                         char *why, size_t why_bytes)
{
    const char *tools = getenv("HSA_TOOLS_LIB"), *trace = getenv("RTL_TRACE"), *list = getenv("LD_PRELOAD");
    int start_mode = request->start_mode;
    char hip[PATH_MAX];
    *env = (struct rtl_traced_env){0};
    if (tools && !rtl_tools_sane(tools)) {
        snprintf(
            why, why_bytes,
            "HSA_TOOLS_LIB ends with a backslash, on which the HSA runtime hangs: unset it, or remove the backslash");
        return false;
    }
    if (rtl_start_mode_is_hip(start_mode) && !rtl_library_find_hip(library, hip, why, why_bytes))
        return false;
    if (request->preload && !rtl_library_can_preload(library, why, why_bytes))
        return false;
    add_variable(env, "HSA_TOOLS_LIB", rtl_tools_append(tools, library));
    add_variable(env, RTL_PROFILER_BOTH, strdup("1")); /* older runtimes ignore this variable */
    if (start_mode != RTL_START_FROM_ENV)
        add_variable(env, "RTL_MODE",
                     strdup(start_mode == RTL_START_HIP ? RTL_MODE_HIP : rtl_mode_label((unsigned)start_mode)));
    char *preload = request->preload ? rtl_preload_append(list, library) : NULL;
    if (rtl_start_mode_is_hip(start_mode) && (preload || !request->preload)) {
        char *both = rtl_preload_append(preload ? preload : list, hip);
        free(preload);
        preload = both;
    }
    if (request->preload || rtl_start_mode_is_hip(start_mode))
        add_variable(env, "LD_PRELOAD", preload);
    if (request->ring)
        add_variable(env, "RTL_TRACE", strdup(trace && *trace && strcmp(trace, "0") != 0 ? trace : "1"));
    if (request->probe)
        add_variable(env, "RTL_PROBE", strdup("1"));
    for (unsigned i = 0; i < env->count; i++)
        if (!env->variable[i].value) {
            snprintf(why, why_bytes, "out of memory");
            rtl_traced_env_free(env);
            return false;
        }
    return true;
}

void rtl_traced_env_free(struct rtl_traced_env *env)
{
    for (unsigned i = 0; i < env->count; i++)
        free(env->variable[i].value);
    env->count = 0;
}
