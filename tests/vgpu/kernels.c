/*
 * kernels.c - finds the kernel that a dispatch packet names.
 *
 * A packet carries the address of a kernel descriptor. ROCr keeps the map of loaded code objects that debuggers read
 * (struct r_debug, "_amdgpu_r_debug"), and a loaded code object has its dynamic symbol table in GPU memory. So the
 * model finds the name where a debugger would, and only if the runtime really copied the code into "VRAM".
 *
 * The map belongs to the runtime and may change during the search, when another thread loads code. The model reads it
 * with process_vm_readv, which fails instead of faulting, and checks every answer against the symbol in GPU memory. The
 * runtime reuses addresses when it unloads code, so each dispatch compares the symbol and its name with the stored
 * ones.
 *
 * Engine thread only, except for the debug map's address, which is set by threads that create queues.
 */
#include "vgpu.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096

/* struct r_debug *, one for each runtime in the process; 0 = free. Set once, relaxed; unmapped maps fail to read. */
enum { DEBUG_MAPS = 8 };
static _Atomic uint64_t debug_maps[DEBUG_MAPS];
static struct vg_kernel *buckets[BUCKETS];
static struct vg_kernel *last_kernel; /* most dispatches repeat the previous kernel */

static void add_debug_map(uint64_t r_debug)
{
    for (int i = 0; r_debug && i < DEBUG_MAPS; i++) {
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&debug_maps[i], &there, r_debug) || there == r_debug)
            return;
    }
}

struct libraries {
    char path[DEBUG_MAPS][4096];
    int count;
};

static int see_library(struct dl_phdr_info *info, size_t size, void *data)
{
    struct libraries *l = data;
    (void)size;
    if (l->count < DEBUG_MAPS && strstr(info->dlpi_name, "libhsa-runtime64"))
        snprintf(l->path[l->count++], sizeof *l->path, "%s", info->dlpi_name);
    return 0;
}

void vg_kernels_set_debug_map(uint64_t r_debug)
{
    if (r_debug) {
        add_debug_map(r_debug);
        return;
    }
    add_debug_map((uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "_amdgpu_r_debug"));
    /* A runtime may be loaded RTLD_LOCAL, and the process may have several. */
    struct libraries *l = calloc(1, sizeof *l);
    if (l)
        dl_iterate_phdr(see_library, l);
    for (int i = 0; l && i < l->count; i++) {
        void *lib = dlopen(l->path[i], RTLD_LAZY | RTLD_NOLOAD);
        add_debug_map(lib ? (uint64_t)(uintptr_t)dlsym(lib, "_amdgpu_r_debug") : 0);
        if (lib)
            dlclose(lib);
    }
    free(l);
}

static unsigned bucket_of(uint64_t object)
{
    return (unsigned)((object >> 6) * 0x9e3779b97f4a7c15ull >> 52) % BUCKETS;
}

struct found {
    const Elf64_Sym *sym;
    const char *name;
    size_t len; /* without ".kd" */
};

/* Search the code object loaded at `load` for a kernel descriptor at `object`. */
static bool search_code_object(uint64_t load, uint64_t object, struct found *out)
{
    const struct vg_alloc *a = vg_alloc_at(load);
    if (!a || a->kind == VG_MEM_USERPTR)
        return false;
    uint64_t room = a->size - (load - a->va);
    const char *image = a->host + (load - a->va);
    const Elf64_Ehdr *eh = (const void *)image;
    if (room < sizeof *eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) || eh->e_ident[EI_CLASS] != ELFCLASS64 ||
        eh->e_phentsize != sizeof(Elf64_Phdr) || eh->e_phoff > room ||
        eh->e_phnum * sizeof(Elf64_Phdr) > room - eh->e_phoff)
        return false;
    const Elf64_Phdr *ph = (const void *)(image + eh->e_phoff);
    uint64_t symtab = 0, strtab = 0, strsz = 0, hash = 0;
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        if (ph[i].p_type != PT_DYNAMIC || ph[i].p_vaddr > room || ph[i].p_memsz > room - ph[i].p_vaddr)
            continue;
        const Elf64_Dyn *d = (const void *)(image + ph[i].p_vaddr);
        for (size_t n = ph[i].p_memsz / sizeof *d; n && d->d_tag != DT_NULL; n--, d++) {
            /* A loader may have relocated the table in place: accept both forms. */
            uint64_t v = d->d_un.d_ptr >= load ? d->d_un.d_ptr - load : d->d_un.d_ptr;
            if (d->d_tag == DT_SYMTAB)
                symtab = v;
            else if (d->d_tag == DT_STRTAB)
                strtab = v;
            else if (d->d_tag == DT_STRSZ)
                strsz = d->d_un.d_val;
            else if (d->d_tag == DT_HASH)
                hash = v;
        }
    }
    if (!symtab || !strtab || !hash || hash > room - 8 || symtab > room || strtab > room || strsz > room - strtab)
        return false;
    uint32_t count = ((const uint32_t *)(const void *)(image + hash))[1];
    if (count > (room - symtab) / sizeof(Elf64_Sym))
        return false;
    const Elf64_Sym *sym = (const void *)(image + symtab);
    for (uint32_t i = 0; i < count; i++) {
        if (load + sym[i].st_value != object || sym[i].st_name >= strsz || ELF64_ST_TYPE(sym[i].st_info) != STT_OBJECT)
            continue;
        const char *name = image + strtab + sym[i].st_name;
        size_t len = strnlen(name, strsz - sym[i].st_name);
        if (len > 3 && !memcmp(name + len - 3, ".kd", 3)) {
            *out = (struct found){&sym[i], name, len - 3};
            return true;
        }
    }
    return false;
}

static bool resolve_in(uint64_t at, uint64_t object, struct found *out)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        struct r_debug map;
        if (!at || !vg_safe_read(&map, at, sizeof map))
            return false;
        uint64_t node = (uint64_t)(uintptr_t)map.r_map;
        for (int n = 0; node && n < 1000000; n++) {
            struct link_map l;
            if (!vg_safe_read(&l, node, offsetof(struct link_map, l_prev) + sizeof l.l_prev))
                break;
            if (l.l_addr && l.l_addr <= object && search_code_object(l.l_addr, object, out))
                return true;
            node = (uint64_t)(uintptr_t)l.l_next;
        }
    }
    return false;
}

static bool resolve(uint64_t object, struct found *out)
{
    for (int i = 0; i < DEBUG_MAPS; i++)
        if (resolve_in(atomic_load_explicit(&debug_maps[i], memory_order_relaxed), object, out))
            return true;
    return false;
}

/* Give unnamed kernels a name that cannot be a symbol. ROCr's own copy kernels are recognised by their code. */
static void name_it(struct vg_kernel *k)
{
    struct found f;
    char made[48];
    const char *name = made;
    size_t len;
    k->name_at = NULL;
    k->blit = NULL;
    if (resolve(k->object, &f)) {
        name = f.name;
        len = f.len;
        k->name_at = f.name;
        k->sym_at = f.sym;
        memcpy(k->sym, f.sym, sizeof k->sym);
    } else if ((k->blit = vg_blit_recognise(k->object))) {
        len = (size_t)snprintf(made, sizeof made, "<%s>", k->blit->name);
    } else {
        len = (size_t)snprintf(made, sizeof made, "<unknown:0x%llx>", (unsigned long long)k->object);
        vg_log("kernel object 0x%llx is in no loaded code object: its dispatches take the default time",
               (unsigned long long)k->object);
    }
    char *copy = malloc(len + 1);
    if (!copy)
        vg_die("out of memory");
    memcpy(copy, name, len);
    copy[len] = '\0';
    k->name = copy;
    k->name_len = len;
    if (!k->blit)
        k->blit = vg_blit_by_name(copy);
    k->rule = vg_script_match(copy);
    k->script_version = vg_script_version;
    vg_rng_seed(k->rng, vg_cfg.seed, copy);
}

static bool still_there(const struct vg_kernel *k)
{
    if (!k->name_at)
        return k->blit; /* unknown kernels may become known */
    return !memcmp(k->sym_at, k->sym, sizeof k->sym) && !memcmp(k->name_at, k->name, k->name_len);
}

static void free_kernel(struct vg_kernel *k)
{
    free((void *)(uintptr_t)k->name);
    free(k);
}

void vg_kernel_done(struct vg_kernel *k)
{
    if (!--k->flights && k->replaced)
        free_kernel(k);
}

struct vg_kernel *vg_kernel_find(uint64_t object)
{
    struct vg_kernel *k = last_kernel && last_kernel->object == object ? last_kernel : NULL;
    if (!k)
        for (k = buckets[bucket_of(object)]; k && k->object != object; k = k->next)
            ;
    if (k && still_there(k)) {
        last_kernel = k;
        return k;
    }
    if (k && !k->name_at && !k->blit) {
        struct found f;
        if (!resolve(object, &f)) {
            last_kernel = k;
            return k;
        }
    }
    if (k) {
        /* Other code is now at this address: make a new record; running dispatches keep the old one. */
        struct vg_kernel **p = &buckets[bucket_of(object)];
        while (*p != k)
            p = &(*p)->next;
        *p = k->next;
        k->replaced = true;
        if (last_kernel == k)
            last_kernel = NULL;
        if (!k->flights)
            free_kernel(k);
    }
    k = calloc(1, sizeof *k);
    if (!k)
        vg_die("out of memory");
    k->object = object;
    name_it(k);
    k->next = buckets[bucket_of(object)];
    buckets[bucket_of(object)] = k;
    last_kernel = k;
    return k;
}

void vg_kernels_reset_after_fork(void)
{
    memset(buckets, 0, sizeof buckets);
    last_kernel = NULL;
}
