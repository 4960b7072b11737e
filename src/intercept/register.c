/*
 * The second way to attach, for runtimes that ignore HSA_TOOLS_LIB. AMD's ROCm libraries register their API tables for
 * tools by a function of librocprofiler-register.so. A preloaded librtl.so defines that function, too, so these
 * libraries call it here. This function calls the definition that they would have called without us, and then hooks
 * the HSA table: rocprofiler-sdk has wrapped the table by then, and our hooks run first, as when the runtime loads both
 * tools. This function returns the other definition's result, so the caller notices no difference.
 *
 * A runtime calls OnUnload only of tools that it has loaded itself. So the library hooks hsa_init and hsa_shut_down of
 * a registered table: the last hsa_shut_down detaches us before the runtime frees memory that the worker reads. The
 * next hsa_init registers a new table.
 *
 * In a process without ROCm no code here runs: a preloaded librtl.so has no constructor.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "intercept/base/tool.h"
#include "intercept/load.h"

/* The name of rocprofiler-register's interface, and its answer "no tool was found": the runtime reads HSA_TOOLS_LIB. */
#define REGISTER "rocprofiler_register_library_api_table"
enum { NO_TOOLS = 1 };

typedef int register_tables(const char *name, uint32_t (*import)(void), uint32_t version, void **tables, uint64_t count,
                            uint64_t *id);

static struct {
    pthread_mutex_t lock; /* held while the runtime is opened or closed; recursive: hsa_init may register a table */
    unsigned opens;       /* lock: calls of hsa_init without an hsa_shut_down yet; 0: no registered table is hooked */
    unsigned tables;      /* lock: tables hooked so far */
} registered = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static hsa_status_t init(void)
{
    pthread_mutex_lock(&registered.lock);
    unsigned before = registered.tables;
    hsa_status_t status = rtl_tool.hsa.init();
    if (status == HSA_STATUS_SUCCESS && registered.tables == before) /* else hook_table has counted it */
        registered.opens++;
    pthread_mutex_unlock(&registered.lock);
    return status;
}

static hsa_status_t shut_down(void)
{
    pthread_mutex_lock(&registered.lock);
    if (registered.opens == 1)
        rtl_unload();
    hsa_status_t status = rtl_tool.hsa.shut_down();
    if (status == HSA_STATUS_SUCCESS && registered.opens)
        registered.opens--;
    pthread_mutex_unlock(&registered.lock);
    return status;
}

static void hook_table(void *table)
{
    if (!rtl_load(table)) /* without the lock: this thread may hold the dynamic loader's */
        return;
    pthread_mutex_lock(&registered.lock);
    rtl_hsa_hook(table, RTL_HSA_init, (void (*)(void))init);
    rtl_hsa_hook(table, RTL_HSA_shut_down, (void (*)(void))shut_down);
    registered.opens = 1;
    registered.tables++;
    pthread_mutex_unlock(&registered.lock);
}

static register_tables register_hook;

/*
 * Returns the definition that the caller would be bound to without us. A runtime that was loaded without RTLD_GLOBAL
 * (Python's wheels) has librocprofiler-register.so in its own scope only, where RTLD_NEXT doesn't search.
 */
static register_tables *next_definition(const void *caller)
{
    register_tables *next;
    struct link_map *object = NULL;
    Dl_info info;
    *(void **)&next = dlsym(RTLD_NEXT, REGISTER);
    if (next || !dladdr1(caller, &info, (void **)&object, RTLD_DL_LINKMAP) || !object || !*object->l_name)
        return next;
    void *handle = dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        *(void **)&next = dlsym(handle, REGISTER);
        dlclose(handle); /* the caller keeps it loaded */
    }
    return next == register_hook ? NULL : next;
}

static int register_hook(const char *name, uint32_t (*import)(void), uint32_t version, void **tables, uint64_t count,
                         uint64_t *id)
{
    register_tables *next = next_definition(__builtin_return_address(0));
    int status = next ? next(name, import, version, tables, count, id) : NO_TOOLS;
    if (name && strcmp(name, "hsa") == 0 && tables && count)
        hook_table(*tables);
    return status;
}

__attribute__((visibility("default"), alias("register_hook"))) register_tables rocprofiler_register_library_api_table;
