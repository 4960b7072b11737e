/*
 * The second way in, for runtimes that leave out HSA_TOOLS_LIB. AMD's ROCm libraries register their API tables for
 * tools by a function of librocprofiler-register.so. A preloaded librtl.so defines that function, too, so they call
 * this one. It calls the definition that they would have called without us, and then hooks the HSA table: rocprofiler-
 * sdk has wrapped the table by then, and our hooks come first, as when the runtime loads both tools. What it returns is
 * what the other definition returned, so nobody else notices.
 *
 * A runtime calls OnUnload of those alone that it has loaded itself. So hsa_init and hsa_shut_down of a registered
 * table are hooked: the last hsa_shut_down detaches us before the runtime frees what the worker reads. The next
 * hsa_init registers a new table.
 *
 * In a process without ROCm nobody calls any of this: a preloaded librtl.so has no constructor.
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
    pthread_mutex_t lock; /* of whoever opens or closes the runtime; an hsa_init may register a table */
    unsigned opens;       /* lock: calls of hsa_init that have no hsa_shut_down yet; 0: no registered table is hooked */
    unsigned tables;      /* lock: how many tables were hooked so far */
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
 * The definition that the caller would be bound to without us. A runtime that was loaded without RTLD_GLOBAL (Python's
 * wheels) has librocprofiler-register.so in its own scope only, where RTLD_NEXT doesn't search.
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
