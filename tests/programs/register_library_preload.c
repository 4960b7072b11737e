/*
 * register_library_preload.c - emulates librocprofiler-register.so: its function for tables, as its public header and
 * README describe it.
 *
 * It loads the tools' library (rocprofiler-sdk) if any rocprofiler_configure is visible in the process, or if
 * ROCP_TOOL_LIBRARIES or ROCPROFILER_REGISTER_LIBRARY is set; the latter is its file. It passes the tables on to that
 * library and returns success. With REGISTER_LOG=FILE each call appends a line "registered NAME TABLES STATUS" to the
 * file.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS, NO_TOOLS, DEADLOCK, BAD_LENGTH, UNSUPPORTED, INVALID_ADDRESS, SDK_ERROR, EXCESS, INSTANCES = 8 };

typedef int set_table(const char *name, uint64_t version, uint64_t instance, void **tables, uint64_t count);

__attribute__((visibility("default"))) int rocprofiler_register_library_api_table(const char *name,
                                                                                  uint32_t (*import)(void),
                                                                                  uint32_t version, void **tables,
                                                                                  uint64_t count, uint64_t *id);

static int inside;

static int is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

static set_table *find_sdk(void)
{
    set_table *set;
    const char *file = getenv("ROCPROFILER_REGISTER_LIBRARY");
    if (!dlsym(RTLD_DEFAULT, "rocprofiler_configure") && !is_set("ROCP_TOOL_LIBRARIES") &&
        !is_set("ROCPROFILER_REGISTER_LIBRARY"))
        return NULL;
    *(void **)&set = dlsym(RTLD_DEFAULT, "rocprofiler_set_api_table");
    if (!set) {
        void *sdk = dlopen(file && *file ? file : "librocprofiler-sdk.so", RTLD_GLOBAL | RTLD_LAZY);
        *(void **)&set = sdk ? dlsym(sdk, "rocprofiler_set_api_table") : NULL;
    }
    if (!set) {
        fprintf(stderr, "register: no rocprofiler-sdk: %s\n", dlerror());
        abort();
    }
    return set;
}

static int pass_tables(const char *name, uint32_t version, void **tables, uint64_t count, uint64_t *id)
{
    static const char *const names[] = {"hsa", "hip", "hip_compiler", "roctx", "rccl"};
    static unsigned instances[sizeof names / sizeof *names];
    size_t library = 0;
    while (library < sizeof names / sizeof *names && strcmp(names[library], name) != 0)
        library++;
    if (library == sizeof names / sizeof *names)
        return UNSUPPORTED;
    if (instances[library] == INSTANCES)
        return EXCESS;
    *id = INSTANCES * library + instances[library];
    set_table *set = find_sdk();
    return !set                                                  ? instances[library]++, NO_TOOLS
       : set(name, version, instances[library]++, tables, count) ? SDK_ERROR
                                                                 : SUCCESS;
}

int rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void), uint32_t version, void **tables,
                                           uint64_t count, uint64_t *id)
{
    const char *enabled = getenv("ROCPROFILER_REGISTER_ENABLED"), *log = getenv("REGISTER_LOG");
    int status = count < 1 ? BAD_LENGTH : enabled && !strcmp(enabled, "0") ? NO_TOOLS : inside ? DEADLOCK : SUCCESS;
    if (!status) {
        inside = 1;
        status = pass_tables(name, version, tables, count, id);
        inside = 0;
    }
    (void)import;
    FILE *file = log ? fopen(log, "ae") : NULL;
    if (file) {
        fprintf(file, "registered %s %llu %d\n", name, (unsigned long long)count, status);
        fclose(file);
    }
    return status;
}
