/*
 * Wrappers of HIP's functions: call the next one and record the time that it took.
 *
 * Each function of the table has two wrappers. The exported one replaces the symbol and goes on to the function that
 * its caller would be bound to without us. dlsym and hipGetProcAddress return the other one, which goes on to the
 * function that they found.
 */
#include "hip/wrap.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "hip/counters.h"
#include "hip/now.h"
#include "hip/resolve.h"

#define RTL_EXPORT __attribute__((visibility("default")))

/* A call being recorded. */
struct hip_call {
    struct rtl_hip_api *api;     /* NULL: not recorded, or HIP's own nested call */
    uint64_t from;               /* start, ns */
    uintptr_t around;            /* stack of the enclosing call, if the application calls from its callback; else 0 */
    struct rtl_hip_api_call was; /* the enclosing call, if `around` */
};

/* A call while another one is open on this thread, whose wrapper's stack is at `inside`. True: HIP itself calls.
 * False if that stack is gone (the application left it by longjmp or an exception), or if the application calls from
 * a callback. */
static __attribute__((noinline)) bool is_hips_own(uintptr_t stack, const void *caller)
{
    return stack < rtl_hip_thread.inside && rtl_is_hip(caller);
}

static inline void begin_call(struct hip_call *e, uint32_t row, uintptr_t stack, const void *caller)
{
    struct rtl_hip_thread *t = &rtl_hip_thread;
    e->api = rtl_api();
    e->around = t->inside;
    if (!e->api)
        return;
    if (unlikely(e->around != 0)) {
        if (is_hips_own(stack, caller)) {
            e->api = NULL;
            return;
        }
        e->around = stack < e->around ? e->around : 0;
        e->was = t->call;
    }
    if (unlikely(!t->known))
        rtl_hip_api_thread(e->api);
    t->inside = stack;
    e->from = rtl_hip_now(t);
    rtl_hip_api_begin(t, row, e->from);
}

static __attribute__((noinline)) void put_call_event(const struct hip_call *e, uint32_t row, uint64_t to,
                                                     uint64_t bytes, int code)
{
    const struct rtl_hip_thread *t = &rtl_hip_thread;
    rtl_hip_api_append_event(e->api, &(struct rtl_hip_api_event){.id = t->call.id,
                                                                 .start_ns = e->from,
                                                                 .end_ns = to,
                                                                 .range = t->call.range,
                                                                 .bytes = bytes,
                                                                 .tid = t->tid,
                                                                 .row = (uint16_t)row,
                                                                 .code = code,
                                                                 .node = t->call.node});
}

static inline void end_call(const struct hip_call *e, uint32_t row, uint64_t to, uint64_t bytes, int code)
{
    struct rtl_hip_thread *t = &rtl_hip_thread;
    if (unlikely(e->api->events != NULL))
        put_call_event(e, row, to, bytes, code);
    rtl_hip_api_call(e->api, row, to - e->from, bytes, code);
    rtl_hip_api_end(t, row, to);
    t->inside = e->around;
    if (unlikely(e->around != 0))
        t->call = e->was;
}

static uint32_t gpu_now(int (*get_device)(int *))
{
    int gpu = 0;
    return get_device && get_device(&gpu) == 0 && gpu >= 0 ? (uint32_t)gpu : 0;
}

static void *next_of(enum rtl_hip_function function, const void *caller)
{
    return rtl_next_or_end(function, caller);
}

static void *handed_of(enum rtl_hip_function function, const void *caller)
{
    (void)caller;
    return atomic_load_explicit(&rtl_handed[function], memory_order_acquire);
}

/* Find hipGetDevice of the HIP library whose functions dlsym found (there is one): for the GPU of an allocation. */
static void *get_device_handed(enum rtl_hip_function function, const void *caller)
{
    static _Atomic(void *) found;
    void *f = atomic_load_explicit(&found, memory_order_acquire), *near = handed_of(function, caller);
    Dl_info info;
    rtl_dlsym *find = rtl_real_dlsym();
    if (f || !find || !near || !dladdr(near, &info) || !info.dli_fname)
        return f;
    void *handle = rtl_real_dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle) {
        f = find(handle, "hipGetDevice");
        f = f && rtl_is_ours(f) ? NULL : f;
        if (f && rtl_pin(f))
            atomic_store_explicit(&found, f, memory_order_release);
        dlclose(handle);
    }
    return f;
}

static void *get_device_next(enum rtl_hip_function function, const void *caller)
{
    (void)function;
    return rtl_next(RTL_FN_hipGetDevice, caller);
}

#define BODY(name, parameters, arguments, find, near, before, moved, after)                 \
    {                                                                                       \
        const void *caller = __builtin_return_address(0);                                   \
        int(*real) parameters;                                                              \
        int (*get_device)(int *) = NULL;                                                    \
        *(void **)&real = find(RTL_FN_##name, caller);                                      \
        struct hip_call entered;                                                            \
        begin_call(&entered, RTL_FN_##name, (uintptr_t)__builtin_frame_address(0), caller); \
        struct rtl_hip_api *api = entered.api;                                              \
        if (!api)                                                                           \
            return real arguments;                                                          \
        before;                                                                             \
        int code = real arguments;                                                          \
        uint64_t ended = rtl_hip_now_fenced(&rtl_hip_thread);                               \
        uint64_t sum = code == 0 ? (uint64_t)(moved) : 0;                                   \
        (void)get_device;                                                                   \
        after;                                                                              \
        end_call(&entered, RTL_FN_##name, ended, sum, code);                                \
        return code;                                                                        \
    }

#define FIND_GPU(name, near) *(void **)&get_device = near(RTL_FN_##name, caller)

#define CALL_BODY(name, parameters, arguments, find, near, moved)  \
    BODY(                                                          \
        name, parameters, arguments, find, near, (void)0, moved,   \
        if (RTL_FN_##name == RTL_FN_hipDeviceReset && code == 0) { \
            FIND_GPU(name, near);                                  \
            rtl_memory_reset(api, gpu_now(get_device));            \
        })
#define ALLOCATE_BODY(name, parameters, arguments, find, near, address, size, host)                            \
    BODY(                                                                                                      \
        name, parameters, arguments, find, near, (void)0, size, if (code == 0) {                               \
            if (!(host))                                                                                       \
                FIND_GPU(name, near);                                                                          \
            rtl_memory_add(api, RTL_FN_##name, address, sum, (host) ? RTL_HIP_API_GPUS : gpu_now(get_device)); \
        })
#define FREE_BODY(name, parameters, arguments, find, near, address)                                    \
    BODY(name, parameters, arguments, find, near, uint64_t noted = rtl_memory_remove(api, address), 0, \
         if (code != 0) rtl_memory_restore(api, address, noted))

/* The exported wrappers. */
#define CALL(name, kind, parameters, arguments, moved) \
    RTL_EXPORT int name parameters;                    \
    int name parameters CALL_BODY(name, parameters, arguments, next_of, get_device_next, moved)
#define ALLOCATE(name, parameters, arguments, address, size, host) \
    RTL_EXPORT int name parameters;                                \
    int name parameters ALLOCATE_BODY(name, parameters, arguments, next_of, get_device_next, address, size, host)
#define FREE(name, parameters, arguments, address) \
    RTL_EXPORT int name parameters;                \
    int name parameters FREE_BODY(name, parameters, arguments, next_of, get_device_next, address)
RTL_HIP_FUNCTIONS(CALL, ALLOCATE, FREE)
#undef CALL
#undef ALLOCATE
#undef FREE

/* The wrappers that dlsym and hipGetProcAddress return. */
#define CALL(name, kind, parameters, arguments, moved) \
    static int handed_##name parameters CALL_BODY(name, parameters, arguments, handed_of, get_device_handed, moved)
#define ALLOCATE(name, parameters, arguments, address, size, host)                                               \
    static int handed_##name parameters ALLOCATE_BODY(name, parameters, arguments, handed_of, get_device_handed, \
                                                      address, size, host)
#define FREE(name, parameters, arguments, address) \
    static int handed_##name parameters FREE_BODY(name, parameters, arguments, handed_of, get_device_handed, address)
RTL_HIP_FUNCTIONS(CALL, ALLOCATE, FREE)
#undef CALL
#undef ALLOCATE
#undef FREE

#define ALIAS(symbol, name)                           \
    RTL_EXPORT int also_##name(void) __asm__(symbol); \
    __asm__(".globl " symbol "\n\t.set " symbol ", " #name "\n");
RTL_HIP_ALIASES(ALIAS)
#undef ALIAS

/* hipGetProcAddress may return another function than its name says (hipMemcpy_spt for hipMemcpy): identify it by its
 * address. */
static void hand_out_found(const char *name, void **found)
{
    Dl_info info;
    enum rtl_hip_function function = RTL_FN_COUNT;
    if (!*found || rtl_is_ours(*found) || !rtl_api()) /* in a forked child dladdr's lock may be held for ever */
        return;
    if (dladdr(*found, &info) && info.dli_saddr == *found && info.dli_sname)
        function = rtl_function_of(info.dli_sname);
    if (function == RTL_FN_COUNT && name)
        function = rtl_function_of(name);
    if (function != RTL_FN_COUNT)
        *found = rtl_hand_out(function, *found);
}

typedef int get_proc_address(const char *name, void **found, int version, uint64_t flags, void *status);
RTL_EXPORT get_proc_address hipGetProcAddress;

int hipGetProcAddress(const char *name, void **found, int version, uint64_t flags, void *status)
{
    get_proc_address *real;
    *(void **)&real = rtl_next_or_end(RTL_FN_hipGetProcAddress, __builtin_return_address(0));
    int code = real(name, found, version, flags, status);
    if (code == 0 && found)
        hand_out_found(name, found);
    return code;
}

static int handed_hipGetProcAddress(const char *name, void **found, int version, uint64_t flags, void *status)
{
    get_proc_address *real;
    *(void **)&real = handed_of(RTL_FN_hipGetProcAddress, NULL);
    int code = real(name, found, version, flags, status);
    if (code == 0 && found)
        hand_out_found(name, found);
    return code;
}

static void (*const wrappers[])(void) = {
#define WRAPPER(name, ...) (void (*)(void)) handed_##name,
    RTL_HIP_FUNCTIONS(WRAPPER, WRAPPER, WRAPPER)(void (*)(void)) handed_hipGetProcAddress,
#undef WRAPPER
};

enum rtl_hip_function rtl_function_of(const char *name)
{
    if (strncmp(name, "hip", 3) != 0 && strncmp(name, "roctx", 5) != 0 && strncmp(name, "_Z24hip", 7) != 0)
        return RTL_FN_COUNT;
#define ALIAS(symbol, function)    \
    if (strcmp(name, symbol) == 0) \
        return RTL_FN_##function;
    RTL_HIP_ALIASES(ALIAS)
#undef ALIAS
    for (int i = 0; i < RTL_FN_COUNT; i++)
        if (strcmp(name, rtl_function_name((enum rtl_hip_function)i)) == 0)
            return (enum rtl_hip_function)i;
    return RTL_FN_COUNT;
}

void *rtl_hand_out(enum rtl_hip_function function, void *found)
{
    void *before = atomic_load_explicit(&rtl_handed[function], memory_order_acquire);
    if (!found || rtl_is_ours(found) || !rtl_api())
        return found;
    if (before != found && (before || !rtl_pin(found)))
        return found;
    if (!before && !atomic_compare_exchange_strong(&rtl_handed[function], &before, found) && before != found)
        return found;
    if (function > RTL_FN_hipGetProcAddress)
        return rtl_roctx_wrapper(function);
    void *wrapper;
    memcpy(&wrapper, &wrappers[function], sizeof wrapper);
    return wrapper;
}
