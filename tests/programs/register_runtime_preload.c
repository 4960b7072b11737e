/*
 * register_runtime_preload.c - makes this system's runtime, which is built without rocprofiler-register, load its tools
 * as AMD's builds do. It is the runtime's only tool, registers the runtime's table as those builds do, and loads the
 * list in HSA_TOOLS_LIB where they would.
 *
 * After a successful registration it ignores HSA_TOOLS_LIB, unless HSA_TOOLS_ROCPROFILER_V1_TOOLS is set and not 0.
 * REGISTER_RUNTIME=old emulates a runtime without that variable, REGISTER_RUNTIME=new one that no longer knows
 * HSA_TOOLS_LIB. register_getenv_preload.so makes the real runtime load this tool.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOOLS = 8 };

int rocprofiler_register_library_api_table(const char *name, uint32_t (*import)(void), uint32_t version, void **tables,
                                           uint64_t count, uint64_t *id);
__attribute__((visibility("default"))) uint32_t rocprofiler_register_import_hsa(void);
__attribute__((visibility("default"))) int OnLoad(void *table, uint64_t version, uint64_t failed,
                                                  const char *const *names);
__attribute__((visibility("default"))) void OnUnload(void);

extern char **environ;
static void *tools[TOOLS];
static unsigned tool_count;

uint32_t rocprofiler_register_import_hsa(void)
{
    return 11800;
}

/* Reads environ, because getenv returns another list here. */
static const char *tools_list(void)
{
    static const char name[] = "HSA_TOOLS_LIB=";
    for (char **at = environ; *at; at++)
        if (strncmp(*at, name, sizeof name - 1) == 0)
            return *at + sizeof name - 1;
    return "";
}

static void load_tools(void *table)
{
    char list[8192], *rest = NULL;
    snprintf(list, sizeof list, "%s", tools_list());
    tool_count = 0;
    for (char *name = strtok_r(list, " ", &rest); name && tool_count < TOOLS; name = strtok_r(NULL, " ", &rest)) {
        void *tool = dlopen(name, RTLD_LAZY);
        int (*on_load)(void *, uint64_t, uint64_t, const char *const *);
        *(void **)&on_load = tool ? dlsym(tool, "OnLoad") : NULL;
        if (on_load && on_load(table, 1, 0, NULL))
            tools[tool_count++] = tool;
    }
}

int OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names)
{
    const char *both = getenv("HSA_TOOLS_ROCPROFILER_V1_TOOLS"), *runtime = getenv("REGISTER_RUNTIME");
    void *tables[] = {table};
    uint64_t id = 0;
    (void)version;
    (void)failed;
    (void)names;
    int status = rocprofiler_register_library_api_table("hsa", rocprofiler_register_import_hsa, 11800, tables, 1, &id);
    if (runtime && strcmp(runtime, "old") == 0)
        both = NULL;
    if ((status == 0 && !(both && strcmp(both, "0") != 0)) || (runtime && strcmp(runtime, "new") == 0))
        return 1;
    load_tools(table);
    return 1;
}

void OnUnload(void)
{
    while (tool_count) {
        void (*on_unload)(void);
        *(void **)&on_unload = dlsym(tools[--tool_count], "OnUnload");
        if (on_unload)
            on_unload();
    }
}
