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
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "intercept/base/tool.h"
#include "intercept/load.h"

/* The name of rocprofiler-register's interface, and its answer "no tool was found": the runtime reads HSA_TOOLS_LIB. */
#define REGISTER "rocprofiler_register_library_api_table"
enum { NO_TOOLS = 1 };

typedef int register_tables(const char *name, uint32_t (*import)(void), uint32_t version, void **tables, uint64_t count,
                            uint64_t *id);

/* A runtime registers its table inside hsa_init, under a lock of its own that hsa_init and hsa_shut_down acquire,
 * too. So hook_table doesn't wait for our lock, which another thread may hold meanwhile in a hook of the previous
 * table. */
static struct {
    pthread_mutex_t lock;     /* init and shut_down hold it while they call the runtime; recursive: init may register */
    atomic_uint opens;        /* lock, hook_table: calls of hsa_init without an hsa_shut_down yet; 0: none is hooked */
    atomic_uint tables;       /* hook_table: tables hooked so far; init reads */
    _Atomic pthread_t thread; /* hook_table: the thread that registered the last table; init reads it behind `tables` */
} registered = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static hsa_status_t hook_init(void)
{
    pthread_mutex_lock(&registered.lock);
    unsigned before = atomic_load(&registered.tables);
    hsa_status_t status = rtl_tool.hsa.init();
    bool counted = atomic_load(&registered.tables) != before && /* by hook_table */
                   pthread_equal(atomic_load(&registered.thread), pthread_self());
    if (status == HSA_STATUS_SUCCESS && !counted)
        atomic_fetch_add(&registered.opens, 1);
    pthread_mutex_unlock(&registered.lock);
    return status;
}

static hsa_status_t hook_shut_down(void)
{
    pthread_mutex_lock(&registered.lock);
    hsa_status_t (*next)(void) = rtl_tool.hsa.shut_down; /* rtl_unload may let another runtime replace it */
    /* before the runtime's: afterwards another thread may have registered the next table */
    if (atomic_load(&registered.opens) && atomic_fetch_sub(&registered.opens, 1) == 1)
        rtl_unload();
    hsa_status_t status = next();
    pthread_mutex_unlock(&registered.lock);
    return status;
}

static void hook_table(void *table)
{
    if (!rtl_load(table))
        return;
    RTL_HSA_HOOK_FIELD(init)
    RTL_HSA_HOOK_FIELD(shut_down)
    atomic_store(&registered.opens, 1);
    atomic_store(&registered.thread, pthread_self());
    atomic_fetch_add(&registered.tables, 1);
}

static register_tables register_hook;

/* Return the definition that the caller would be bound to without us. A runtime that was loaded without RTLD_GLOBAL
 * (Python's wheels) has librocprofiler-register.so in its own scope only, where RTLD_NEXT doesn't search. */
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
