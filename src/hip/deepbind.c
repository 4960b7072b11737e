/*
 * Records the HIP calls of plugins that are opened with RTLD_DEEPBIND. Their own libraries come before ours in the
 * search for symbols, so they would call HIP directly. dlopen is interposed: after a plugin was opened, each slot of
 * its objects that the linker binds to a HIP function is set to the exported wrapper. The wrapper calls the function
 * that the linker found. The flag stays in force, so all other symbols are bound as without us. Calls of the plugin's
 * constructors come earlier and are not recorded.
 *
 * For names without a slash and for $ORIGIN the linker uses the caller's address, so the wrapper jumps to libc's dlopen
 * (interpose.h). These plugins are only reported, and so are plugins that dlmopen opens in a namespace of their own.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hip/counters.h"
#include "hip/interpose.h"
#include "hip/resolve.h"
#include "hip/wrap.h"

#if defined(__x86_64__)
/* Objects present at one time, by their load addresses. */
struct loaded_list {
    uintptr_t *base;
    size_t count, room;
};

struct rebinding {
    struct loaded_list before, after; /* before and after the plugin was opened */
    void *real[RTL_FN_COUNT];         /* the function that the plugin is bound to; NULL: none, or not HIP's */
    void *wrapper[RTL_FN_COUNT];
    bool failed;
};

/* An object that the linker has loaded. */
struct loaded_object {
    uintptr_t base, from, to, relro_from, relro_to;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Rela) * slots[2];
    size_t slot_count[2];
};

static int note_loaded(struct dl_phdr_info *info, size_t bytes, void *data)
{
    struct loaded_list *list = data;
    (void)bytes;
    if (list->count < list->room)
        list->base[list->count] = info->dlpi_addr;
    list->count++;
    return 0;
}

/* False without memory. Objects that another thread loads meanwhile look new, which is harmless. */
static bool list_loaded(struct loaded_list *list)
{
    dl_iterate_phdr(note_loaded, list);
    list->room = list->count;
    list->count = 0;
    list->base = malloc(list->room * sizeof *list->base);
    if (list->base)
        dl_iterate_phdr(note_loaded, list);
    list->count = list->count < list->room ? list->count : list->room;
    return list->base != NULL;
}

static bool was_loaded(const struct loaded_list *list, uintptr_t base)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->base[i] == base)
            return true;
    return false;
}

static void read_dynamic(struct loaded_object *o, const ElfW(Dyn) * entry)
{
    for (; entry->d_tag != DT_NULL; entry++) {
        uintptr_t at = entry->d_un.d_ptr < o->base ? o->base + entry->d_un.d_ptr : entry->d_un.d_ptr;
        if (entry->d_tag == DT_SYMTAB)
            o->symbols = (const void *)at;
        else if (entry->d_tag == DT_STRTAB)
            o->names = (const void *)at;
        else if (entry->d_tag == DT_JMPREL)
            o->slots[0] = (const void *)at;
        else if (entry->d_tag == DT_PLTRELSZ)
            o->slot_count[0] = entry->d_un.d_val / sizeof **o->slots;
        else if (entry->d_tag == DT_RELA)
            o->slots[1] = (const void *)at;
        else if (entry->d_tag == DT_RELASZ)
            o->slot_count[1] = entry->d_un.d_val / sizeof **o->slots;
    }
}

static bool describe_object(const struct dl_phdr_info *info, struct loaded_object *o)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    *o = (struct loaded_object){.base = info->dlpi_addr, .from = UINTPTR_MAX};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = o->base + p->p_vaddr, end = at + p->p_memsz;
        if (p->p_type == PT_LOAD) {
            o->from = at < o->from ? at : o->from;
            o->to = end > o->to ? end : o->to;
        } else if (p->p_type == PT_GNU_RELRO) { /* the pages that the linker has made read-only */
            o->relro_from = at & ~(page - 1);
            o->relro_to = end & ~(page - 1);
        } else if (p->p_type == PT_DYNAMIC) {
            read_dynamic(o, (const void *)at);
        }
    }
    return o->symbols && o->names && o->from < o->to;
}

static bool is_bound(const struct loaded_object *o, const ElfW(Rela) * slot, const void *value, const void *real)
{
    uint32_t type = ELF64_R_TYPE(slot->r_info);
    bool lazy = type == R_X86_64_JUMP_SLOT && (uintptr_t)value >= o->from && (uintptr_t)value < o->to;
    return lazy || ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64) && value == real);
}

/* Set a slot that other threads may be using. False if its page can't be made writable. */
static bool set_slot(const struct loaded_object *o, void **slot, void *wrapper)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)slot;
    bool sealed = at >= o->relro_from && at < o->relro_to;
    void *whole = (void *)(at & ~(page - 1));
    if (sealed && mprotect(whole, page, PROT_READ | PROT_WRITE) != 0)
        return false;
    __atomic_store_n(slot, wrapper, __ATOMIC_RELEASE);
    return !sealed || mprotect(whole, page, PROT_READ) == 0;
}

/* Runs under the linker's lock of its list, so the object stays mapped. Must not call a function that locks. */
static int rebind_object(struct dl_phdr_info *info, size_t bytes, void *data)
{
    struct rebinding *r = data;
    struct loaded_object o;
    bool kept = false;
    (void)bytes;
    if (was_loaded(&r->before, info->dlpi_addr) || !was_loaded(&r->after, info->dlpi_addr) ||
        !describe_object(info, &o))
        return 0;
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; o.slots[list] && i < o.slot_count[list]; i++) {
            const ElfW(Rela) *slot = &o.slots[list][i];
            const ElfW(Sym) *symbol = &o.symbols[ELF64_R_SYM(slot->r_info)];
            void **at = (void **)(o.base + slot->r_offset);
            if (!ELF64_R_SYM(slot->r_info) || symbol->st_shndx != SHN_UNDEF)
                continue;
            enum rtl_hip_function f = rtl_function_of(o.names + symbol->st_name);
            if (f == RTL_FN_COUNT || !r->real[f] || !r->wrapper[f] || !is_bound(&o, slot, *at, r->real[f]))
                continue;
            /* before the slot: the wrapper uses the results from its first call on */
            kept = kept || rtl_keep_results(o.from, o.to, r->real);
            r->failed |= !kept || !set_slot(&o, at, r->wrapper[f]);
        }
    return 0;
}

static const char opening; /* its address identifies this library */

/* Find the functions that the plugin is bound to, and our wrappers. Pin a library before keeping its functions. */
static bool find_functions(struct rebinding *r, void *plugin)
{
    Dl_info self, info;
    const void *pinned = NULL;
    bool any = false;
    void *ours = dladdr(&opening, &self) ? rtl_real_dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    for (int f = 0; ours && f < RTL_FN_COUNT; f++) {
        void *real = rtl_search_handle(plugin, (enum rtl_hip_function)f);
        if (!real || !dladdr(real, &info) || (info.dli_fbase != pinned && !rtl_pin(real)))
            continue;
        pinned = info.dli_fbase;
        r->real[f] = real;
        r->wrapper[f] = rtl_real_dlsym()(ours, rtl_function_name((enum rtl_hip_function)f));
        any = true;
    }
    if (ours)
        dlclose(ours);
    dlerror(); /* our errors, not the application's */
    return any;
}

/* Report the first file whose calls go unrecorded. */
static void note_unrecorded(struct rtl_hip_api *api, const char *file, enum rtl_hip_api_unrecorded why)
{
    struct rtl_hip_api_header *h = api->header;
    uint32_t none = 0;
    if (!__atomic_compare_exchange_n(&h->unrecorded_claimed, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    memcpy(h->unrecorded_file, file, strnlen(file, sizeof h->unrecorded_file - 1));
    __atomic_store_n(&h->unrecorded_why, why, __ATOMIC_RELEASE);
}

typedef void *dlopen_function(const char *file, int flags);
typedef void *dlmopen_function(Lmid_t space, const char *file, int flags);

static void *open_deep(struct rtl_hip_api *api, dlopen_function *real, const char *file, int flags)
{
    struct rebinding r = {0};
    bool listed = list_loaded(&r.before);
    void *plugin = real(file, flags);
    /* Another thread's dlopen may be writing slots of objects that it has just added, and seal them later. Looking for
     * functions waits for the linker's lock, so listed objects are finished by then. Later ones are left alone. */
    listed = listed && plugin && list_loaded(&r.after);
    if (plugin && find_functions(&r, plugin)) {
        if (listed)
            dl_iterate_phdr(rebind_object, &r);
        if (!listed || r.failed)
            note_unrecorded(api, file, RTL_HIP_API_UNRECORDED_DEEPBIND);
    }
    free(r.before.base);
    free(r.after.base);
    return plugin;
}

/* True for a name that the linker resolves without its caller. */
static bool is_plain_path(const char *file)
{
    return strchr(file, '/') && !strchr(file, '$');
}

__attribute__((used)) static struct rtl_dl_answer answer_dlopen(const char *file, uint64_t flags)
{
    static _Atomic(void *) found;
    dlopen_function *real;
    struct rtl_dl_answer pass = {.jump = rtl_find_behind(&found, "dlopen")};
    struct rtl_hip_api *api;
    if (!pass.jump || !file || !((int)flags & RTLD_DEEPBIND) || ((int)flags & RTLD_NOLOAD) || !(api = rtl_api()))
        return pass;
    if (!is_plain_path(file)) {
        note_unrecorded(api, file, RTL_HIP_API_UNRECORDED_DEEPBIND);
        return pass;
    }
    memcpy(&real, &pass.jump, sizeof real);
    return (struct rtl_dl_answer){.result = open_deep(api, real, file, (int)flags)};
}

__attribute__((used)) static struct rtl_dl_answer answer_dlmopen(Lmid_t space, const char *file, uint64_t flags)
{
    static _Atomic(void *) found;
    dlmopen_function *real;
    struct rtl_dl_answer pass = {.jump = rtl_find_behind(&found, "dlmopen")};
    struct rtl_hip_api *api;
    if (!pass.jump || !file || space == LM_ID_BASE || !(api = rtl_api()))
        return pass;
    if (!is_plain_path(file)) {
        note_unrecorded(api, file, RTL_HIP_API_UNRECORDED_DLMOPEN);
        return pass;
    }
    memcpy(&real, &pass.jump, sizeof real);
    struct rtl_dl_answer opened = {.result = real(space, file, (int)flags)};
    if (opened.result && rtl_search_handle(opened.result, RTL_FN_hipGetDevice))
        note_unrecorded(api, file, RTL_HIP_API_UNRECORDED_DLMOPEN);
    else if (opened.result)
        dlerror();
    return opened;
}

RTL_INTERPOSE_DL("dlopen", "answer_dlopen");
RTL_INTERPOSE_DL("dlmopen", "answer_dlmopen");
#endif
