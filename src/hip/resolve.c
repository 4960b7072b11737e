/*
 * Finds the next function behind a wrapper.
 *
 * Without us the linker binds hipMalloc to the first definition in the program's libraries and global ones, else to one
 * in the libraries that the caller itself loaded (Python's extensions load HIP by an absolute path, with local scope).
 * We search in the same order, so in a process with two HIPs each caller reaches its own. Results are kept by caller:
 * an object, identified by its address range. Their library is pinned: a caller may be unloaded and another be loaded
 * at its addresses.
 */
#include "hip/resolve.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    CALLERS_MAX = 128, /* objects whose results are kept; others use the shared results */
    OUTSIDE_MAX = 256, /* pages of code outside all objects that are remembered */
    PAGE_BITS = 12,
    HIPS_MAX = 8, /* HIPs whose nested calls are recognised */
};

enum { FREE, BUSY, USED }; /* a caller's entry; a fork may leave one BUSY, which then stays unused */

struct hip_caller {
    _Atomic(int) state;                 /* any: USED is stored last (release) */
    uintptr_t from, to;                 /* once, before that */
    _Atomic(void *) next[RTL_FN_COUNT]; /* any: NULL until found */
};
_Atomic(void *) rtl_handed[RTL_FN_COUNT];
static struct hip_caller callers[CALLERS_MAX];
static char none_of_them; /* its address means: searched for and not found */
#define NONE ((void *)&none_of_them)
static _Atomic(void *) everybodys[RTL_FN_COUNT]; /* any: found by RTLD_NEXT */
static _Atomic(void *) last[RTL_FN_COUNT];       /* any: the latest result (release) */
static _Atomic(void *) library[2];               /* any: the library where HIP, and where roctx, was first found */
static _Atomic(bool) several[2];                 /* any: and there is another one */
static _Atomic(uintptr_t) outside[OUTSIDE_MAX];  /* any: page numbers of code in no object */
static struct {
    _Atomic(uintptr_t) from, to; /* any: both set once, `to` last (release) */
} hips[HIPS_MAX];
static _Atomic(bool) forked; /* set once, in the child */

static void note_forked_child(void)
{
    atomic_store_explicit(&forked, true, memory_order_relaxed);
}

/* Registered at load: at the first call another thread may be forking. */
__attribute__((constructor)) static void follow_forks(void)
{
    pthread_atfork(NULL, NULL, note_forked_child);
}

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

bool rtl_is_ours(const void *address)
{
    return (uintptr_t)address >= (uintptr_t)__ehdr_start && (uintptr_t)address < (uintptr_t)_end;
}

const char *rtl_function_name(enum rtl_hip_function function)
{
#define NAME(name, ...) #name,
    static const char *const names[] = {RTL_HIP_FUNCTIONS(NAME, NAME, NAME) "hipGetProcAddress",
                                        RTL_ROCTX_FUNCTIONS(NAME)};
#undef NAME
    return names[function];
}

void *rtl_find_libc(_Atomic(void *) *found, const char *name)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.3.4", "GLIBC_2.17"};
    void *f = atomic_load_explicit(found, memory_order_relaxed);
    for (unsigned i = 0; !f && i < sizeof versions / sizeof *versions; i++)
        f = dlvsym(RTLD_NEXT, name, versions[i]);
    atomic_store_explicit(found, f, memory_order_relaxed);
    return f;
}

void *rtl_find_behind(_Atomic(void *) *found, const char *name)
{
    void *f = atomic_load_explicit(found, memory_order_relaxed);
    rtl_dlsym *find = f ? NULL : rtl_real_dlsym();
    if (find)
        atomic_store_explicit(found, f = find(RTLD_NEXT, name), memory_order_relaxed);
    return f;
}

void *rtl_real_dlopen(const char *file, int flags)
{
    static _Atomic(void *) found;
    void *f = rtl_find_libc(&found, "dlopen");
    void *(*real)(const char *, int);
    memcpy(&real, &f, sizeof real);
    return real ? real(file, flags) : NULL;
}

rtl_dlsym *rtl_real_dlsym(void)
{
    static _Atomic(void *) found;
    void *f = rtl_find_libc(&found, "dlsym");
    rtl_dlsym *real;
    memcpy(&real, &f, sizeof real);
    return real;
}

struct mapped_object {
    uintptr_t address, from, to;
    char path[4096];
};

static int is_around(struct dl_phdr_info *info, size_t bytes, void *data)
{
    struct mapped_object *o = data;
    uintptr_t from = UINTPTR_MAX, to = 0;
    (void)bytes;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        from = at < from ? at : from;
        to = at + p->p_memsz > to ? at + p->p_memsz : to;
    }
    if (o->address < from || o->address >= to)
        return 0;
    o->from = from;
    o->to = to;
    snprintf(o->path, sizeof o->path, "%s", info->dlpi_name ? info->dlpi_name : "");
    return 1;
}

/* Find the object around an address. False when there is none, or its bounds are unknown. A forked child reads its
 * path by dladdr: a thread of the parent may hold the lock of the linker's list for ever. libc releases its other
 * locks. */
static bool find_object(struct mapped_object *o)
{
    Dl_info info;
    if (!atomic_load_explicit(&forked, memory_order_relaxed))
        return dl_iterate_phdr(is_around, o) != 0;
    if (dladdr((const void *)o->address, &info) && info.dli_fname)
        snprintf(o->path, sizeof o->path, "%s", info.dli_fname);
    return false;
}

/* Remember the bounds of a HIP that calls go on to. */
static void note_hip(const void *f)
{
    struct mapped_object o = {.address = (uintptr_t)f};
    if (rtl_is_hip(f) || !find_object(&o))
        return;
    for (unsigned i = 0; i < HIPS_MAX; i++) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&hips[i].from, &none, o.from))
            continue;
        atomic_store_explicit(&hips[i].to, o.to, memory_order_release);
        return;
    }
}

bool rtl_is_hip(const void *address)
{
    for (unsigned i = 0; i < HIPS_MAX; i++) {
        uintptr_t to = atomic_load_explicit(&hips[i].to, memory_order_acquire);
        uintptr_t from = atomic_load_explicit(&hips[i].from, memory_order_relaxed);
        if ((uintptr_t)address >= from && (uintptr_t)address < to)
            return true;
    }
    return atomic_load_explicit(&hips[HIPS_MAX - 1].to, memory_order_relaxed) != 0; /* full: it may be one more HIP */
}

bool rtl_pin(const void *f)
{
    Dl_info info;
    void *map = NULL;
    note_hip(f);
    if (!dladdr1(f, &info, &map, RTLD_DL_LINKMAP) || !map)
        return false;
    const char *path = ((struct link_map *)map)->l_name;
    if (!path || !path[0])
        return true; /* the program itself */
    void *handle = rtl_real_dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle)
        dlclose(handle); /* NODELETE stays */
    else
        dlerror();
    return handle == map; /* else the library of that path is in another namespace */
}

void *rtl_search_handle(void *handle, enum rtl_hip_function function)
{
    rtl_dlsym *find = rtl_real_dlsym();
    void *f = find ? find(handle, rtl_function_name(function)) : NULL;
    if (f && rtl_is_ours(f))
        f = NULL;
#define ALIAS(symbol, name)                        \
    if (find && !f && function == RTL_FN_##name) { \
        f = find(handle, symbol);                  \
        f = f && rtl_is_ours(f) ? NULL : f;        \
    }
    RTL_HIP_ALIASES(ALIAS)
#undef ALIAS
    return f;
}

static void *search_next(enum rtl_hip_function function, const struct mapped_object *o, bool *everybody)
{
    void *f = rtl_search_handle(RTLD_NEXT, function);
    *everybody = f != NULL;
    if (!f && o->path[0]) {
        void *handle = rtl_real_dlopen(o->path, RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            f = rtl_search_handle(handle, function);
            dlclose(handle);
        }
    }
    if (!f)
        dlerror(); /* our error, not the application's */
    return f;
}

/* full: the caller isn't found and can't be added. If two threads add one caller, the first entry always wins. */
static inline struct hip_caller *caller_around(uintptr_t address, bool *full)
{
    *full = false;
    for (unsigned i = 0; i < CALLERS_MAX; i++) {
        int state = atomic_load_explicit(&callers[i].state, memory_order_acquire);
        if (state == FREE)
            return NULL;
        if (state == USED && address - callers[i].from < callers[i].to - callers[i].from)
            return &callers[i];
    }
    *full = true;
    return NULL;
}

/* No lock: a constructor under the linker's lock may come here, and a child that was forked meanwhile. */
static struct hip_caller *add_caller(const struct mapped_object *o)
{
    bool full;
    struct hip_caller *c = caller_around(o->address, &full);
    for (unsigned i = 0; !c && !full && i < CALLERS_MAX; i++) {
        int state = FREE;
        if (!atomic_compare_exchange_strong(&callers[i].state, &state, BUSY))
            continue;
        c = &callers[i];
        c->from = o->from;
        c->to = o->to;
        atomic_store_explicit(&c->state, USED, memory_order_release);
    }
    return c;
}

static _Atomic(uintptr_t) *outside_place(uintptr_t address)
{
    return &outside[(address >> PAGE_BITS) % OUTSIDE_MAX];
}

static bool is_roctx(enum rtl_hip_function function)
{
    return function > RTL_FN_hipGetProcAddress;
}

/* f is pinned, or NONE. `several` is set before another result is published: shared_answer reads them in that order. */
static void keep_shared(enum rtl_hip_function function, void *f, bool everybody)
{
    Dl_info info;
    void *none = NULL;
    if (f == NONE) {
        atomic_compare_exchange_strong(&last[function], &none, NONE);
        return;
    }
    void *at = dladdr(f, &info) ? info.dli_fbase : NULL;
    if (!atomic_compare_exchange_strong(&library[is_roctx(function)], &none, at) && none != at)
        atomic_store(&several[is_roctx(function)], true);
    if (everybody)
        atomic_store_explicit(&everybodys[function], f, memory_order_release);
    atomic_store_explicit(&last[function], f, memory_order_release);
}

/* For a caller without a result of its own. A forked child takes any result: another thread may have held the
 * linker's lock at the fork. */
static void *shared_answer(enum rtl_hip_function function, bool child)
{
    void *f = atomic_load_explicit(&everybodys[function], memory_order_acquire);
    if (f)
        return f;
    f = atomic_load_explicit(&last[function], memory_order_acquire);
    return child || !atomic_load_explicit(&several[is_roctx(function)], memory_order_acquire) ? f : NULL;
}

/* The results of roctx's functions depend on each other: a pop returns the level of the matching push. So a caller
 * that found no libroctx64 for one of them stays without it, even if one is loaded later. */
static bool stays_without(enum rtl_hip_function function, const struct hip_caller *c)
{
    bool without = false;
    for (int f = RTL_FN_hipGetProcAddress + 1; is_roctx(function) && f < RTL_FN_COUNT; f++)
        without |= atomic_load_explicit(c ? &c->next[f] : &last[f], memory_order_acquire) == NONE;
    return without;
}

bool rtl_keep_results(uintptr_t from, uintptr_t to, void *const found[RTL_FN_COUNT])
{
    struct hip_caller *c = add_caller(&(struct mapped_object){.address = from, .from = from, .to = to});
    for (int f = 0; c && f < RTL_FN_COUNT; f++)
        if (found[f])
            atomic_store_explicit(&c->next[f], found[f], memory_order_release);
    return c != NULL;
}

static void *find_first(enum rtl_hip_function function, const void *address)
{
    int error = errno;
    struct mapped_object o = {.address = (uintptr_t)address};
    bool everybody = false;
    bool known = find_object(&o), full; /* code made at run time lies in no object */
    void *f = stays_without(function, caller_around(o.address, &full)) ? NULL : search_next(function, &o, &everybody);
    bool keeps = f ? rtl_pin(f) : is_roctx(function); /* roctx works without a library behind it */
    if (keeps) {
        struct hip_caller *c = known ? add_caller(&o) : NULL;
        keep_shared(function, f ? f : NONE, everybody);
        if (c)
            atomic_store_explicit(&c->next[function], f ? f : NONE, memory_order_release);
    }
    if (!known)
        atomic_store_explicit(outside_place(o.address), o.address >> PAGE_BITS, memory_order_relaxed);
    errno = error;
    return f;
}

static __attribute__((noinline)) void *next_without(enum rtl_hip_function function, const void *address, bool known,
                                                    bool full)
{
    bool child = atomic_load_explicit(&forked, memory_order_relaxed);
    uintptr_t at = (uintptr_t)address;
    void *f = NULL;
    if (child || full || (!known && atomic_load_explicit(outside_place(at), memory_order_relaxed) == at >> PAGE_BITS))
        f = shared_answer(function, child);
    return f ? f : find_first(function, address);
}

void *rtl_next(enum rtl_hip_function function, const void *address)
{
    bool full;
    struct hip_caller *c = caller_around((uintptr_t)address, &full);
    void *f = c ? atomic_load_explicit(&c->next[function], memory_order_acquire) : NULL;
    if (unlikely(!f))
        f = next_without(function, address, c, full);
    return f == NONE ? NULL : f;
}

void rtl_exit_missing_function(enum rtl_hip_function function, const void *address)
{
    struct mapped_object o = {.address = (uintptr_t)address};
    find_object(&o);
    dprintf(STDERR_FILENO, "%s: symbol lookup error: %s: undefined symbol: %s\n", program_invocation_name,
            o.path[0] ? o.path : program_invocation_name, rtl_function_name(function));
    _exit(127);
}
