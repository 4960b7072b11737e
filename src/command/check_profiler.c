/* rtl-top check: reports whether rocprofiler-sdk is active, and whether the runtime also loads librtl.so. */
#include "base/plain_file.h"
#include "command/check.h"
#include "observe/elf_symbols.h"
#include "launch/library.h"
#include "shm/gpu_use.h"
#include "shm/process.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 1024 }; /* most mapped files that are searched for a symbol */
static const uint64_t BYTES_MAX = 256 << 20;

extern char **environ;

/* --- a file that exports a tool of rocprofiler-sdk --- */

static bool is_configure(void *found, const struct rtl_elf_symbol *symbol)
{
    static const char name[] = RTL_PROFILER_CONFIGURE;
    *(bool *)found = symbol->value && symbol->type == STT_FUNC && symbol->length == sizeof name - 1 &&
                     memcmp(symbol->name, name, sizeof name - 1) == 0;
    return !*(bool *)found;
}

/* Searches the file behind `where`, which was opened with O_PATH or is negative, and closes it; `name` is for messages.
 */
static void search_file(struct rtl_profiler *profiler, int where, const char *name, uint64_t *bytes)
{
    struct stat st;
    bool found = false;
    int fd = rtl_plain_file_open(where, &st);
    if (fd < 0)
        return;
    struct rtl_elf_image image = {.fd = fd, .size = (uint64_t)st.st_size};
    if (*bytes < BYTES_MAX && rtl_elf_symbols(&image, is_configure, &found, bytes) && found)
        rtl_profiler_because(profiler, "%s exports " RTL_PROFILER_CONFIGURE, name);
    close(fd);
}

static void search_preloads(struct rtl_profiler *profiler, uint64_t *bytes)
{
    const char *at = getenv("LD_PRELOAD");
    char *name = at ? malloc(strlen(at) + 1) : NULL;
    while (name && !profiler->active && rtl_preload_next(&at, name, strlen(at) + 1))
        search_file(profiler, open(name, O_PATH | O_CLOEXEC), name, bytes);
    free(name);
}

void rtl_check_profiler_files(struct rtl_check *check, const char *path, const char *list)
{
    char where[PATH_MAX];
    uint64_t bytes = 0;
    search_file(&check->profiler, open(path, O_PATH | O_CLOEXEC), path, &bytes);
    for (const char *at = list; !check->profiler.active && rtl_loader_find(&at, "", where, sizeof where);)
        search_file(&check->profiler, open(where, O_PATH | O_CLOEXEC), where, &bytes);
}

/* --- before the start --- */

/* True if the runtime's file contains the name, or if the runtime isn't known. */
static bool runtime_has(const struct rtl_check *check, const char *name)
{
    return !*check->runtime || rtl_elf_has(check->runtime, name);
}

/* Reports that rocprofiler-sdk is active, and whether the runtime still reads HSA_TOOLS_LIB. */
static void report_active(struct rtl_check *check, bool registers, bool listed, bool preload)
{
    enum rtl_finding finding = RTL_FINDING_OK;
    const char *then =
        ": " RTL_PROFILER_BOTH "=1, which rtl-top run and env set, makes the runtime load librtl.so, too";
    if (!registers) {
        then = ", but this runtime is built without rocprofiler-register: it reads HSA_TOOLS_LIB even so";
    } else if (preload) {
        then = ": the preloaded librtl.so receives the runtime's table, too";
    } else if (listed && !check->profiler.both) {
        finding = RTL_FINDING_WRONG;
        then = ": in this environment the runtime leaves out HSA_TOOLS_LIB. Set " RTL_PROFILER_BOTH
               "=1, as rtl-top run and env do";
    } else if (!runtime_has(check, RTL_PROFILER_BOTH)) {
        finding = RTL_FINDING_OPEN;
        then = ", and this runtime is not seen to know " RTL_PROFILER_BOTH
               ": it may leave out HSA_TOOLS_LIB. With --preload, run and env need neither";
    }
    rtl_check_say(check, finding, "profiler", "rocprofiler-sdk is active (%s)%s", check->profiler.why, then);
}

void rtl_check_profiler(struct rtl_check *check, bool listed, bool preload)
{
    bool registers = runtime_has(check, "rocprofiler_register_library_api_table");
    uint64_t bytes = 0;
    for (char **at = environ; at && *at; at++)
        rtl_profiler_variable(&check->profiler, *at);
    search_preloads(&check->profiler, &bytes);
    if (check->profiler.active)
        report_active(check, registers, listed, preload);
    if (!registers && preload)
        rtl_check_say(check, RTL_FINDING_OPEN, "preload",
                      "this runtime is built without rocprofiler-register: --preload changes nothing");
    else if (!preload && !runtime_has(check, "HSA_TOOLS_LIB"))
        rtl_check_say(check, RTL_FINDING_OPEN, "tools",
                      "this runtime is not seen to read HSA_TOOLS_LIB. With --preload, run and env don't need it");
}

/* --- after the start --- */

/* Searches the process's mapped files below its root folder, where absolute links can't lead to other files. */
static void search_mapped(const struct rtl_process *process, struct rtl_profiler *profiler)
{
    char last[PATH_MAX] = "", *line = NULL;
    uint64_t bytes = 0;
    size_t room = 0;
    FILE *maps = rtl_proc_fopen(process->pid, "maps");
    for (unsigned files = 0; maps && !profiler->active && files < FILES_MAX && getline(&line, &room, maps) > 0;) {
        char *file = strchr(line, '/');
        if (!file || strlen(file) >= sizeof last)
            continue;
        file[strcspn(file, "\n")] = '\0';
        if (strcmp(file, last) == 0)
            continue;
        files++;
        snprintf(last, sizeof last, "%s", file);
        search_file(profiler, rtl_process_open(process->pid, file, O_PATH), file, &bytes);
    }
    free(line);
    if (maps)
        fclose(maps);
}

void rtl_check_profiler_process(struct rtl_check *check, pid_t pid, bool traced)
{
    struct rtl_process process;
    struct rtl_gpu_use use = {0};
    if (rtl_process_read(pid, &process) != 0)
        return;
    rtl_gpu_use_read(&process, &use);
    search_mapped(&process, &use.profiler);
    if (use.profiler.active)
        rtl_check_say(check, traced ? RTL_FINDING_OK : RTL_FINDING_OPEN, "profiler", "rocprofiler-sdk is active (%s)%s",
                      use.profiler.why,
                      traced ? ", and so is librtl.so"
                             : ": rtl-top run and env make the runtime load librtl.so, too; --preload is for a "
                               "runtime that leaves out HSA_TOOLS_LIB even so");
}
