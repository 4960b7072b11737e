/* Disassembles GPU instructions. See disassembly.h. */
#include "text/disassembly.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* as in amd_comgr.h; a status of 0 is success */
struct comgr_info {
    uint64_t handle;
};
typedef uint64_t read_memory(uint64_t from, char *to, uint64_t size, void *context);
typedef void print_instruction(const char *text, void *context);
typedef void print_address(uint64_t address, void *context);

struct rtl_disassembly {
    void *library;
    struct comgr_info info;
    int (*create)(const char *, read_memory *, print_instruction *, print_address *, struct comgr_info *);
    int (*destroy)(struct comgr_info);
    int (*disassemble)(struct comgr_info, uint64_t, void *, uint64_t *);
};

struct disassembly_job {
    const char *code;
    size_t bytes;
    char *out;
    size_t size;
};

static uint64_t read_code(uint64_t from, char *to, uint64_t size, void *context)
{
    const struct disassembly_job *j = context;
    if (from >= j->bytes)
        return 0;
    size = size < j->bytes - from ? size : j->bytes - from;
    memcpy(to, j->code + from, size);
    return size;
}

static void store_text(const char *text, void *context)
{
    const struct disassembly_job *j = context;
    size_t n = 0;
    for (text += strspn(text, " \t"); *text && n + 1 < j->size; text++)
        j->out[n++] = *text < ' ' || *text > '~' ? ' ' : *text;
    while (n && j->out[n - 1] == ' ')
        n--;
    j->out[n] = 0;
}

static void ignore_address(uint64_t address, void *context)
{
    (void)address;
    (void)context;
}

#define FIND(d, name, symbol) ((d)->name = (__typeof__((d)->name))(uintptr_t)dlsym((d)->library, symbol))

/* Never unload the library: it has threads and state, and a process that loads it again ends. */
struct rtl_disassembly *rtl_disassembly_open(const char *gpu, char why[RTL_DISASSEMBLY_WHY])
{
    static const char *const names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2"};
    struct rtl_disassembly *d = calloc(1, sizeof *d);
    char isa[40];
    snprintf(isa, sizeof isa, "amdgcn-amd-amdhsa--%s", gpu);
    *why = 0;
    for (size_t i = 0; d && !d->library && i < sizeof names / sizeof *names; i++)
        d->library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
    if (d && d->library && FIND(d, create, "amd_comgr_create_disassembly_info") &&
        FIND(d, destroy, "amd_comgr_destroy_disassembly_info") &&
        FIND(d, disassemble, "amd_comgr_disassemble_instruction") &&
        !d->create(isa, read_code, store_text, ignore_address, &d->info))
        return d;
    if (!d)
        snprintf(why, RTL_DISASSEMBLY_WHY, "out of memory");
    else if (!d->library)
        snprintf(why, RTL_DISASSEMBLY_WHY, "no libamd_comgr");
    else if (!d->disassemble)
        snprintf(why, RTL_DISASSEMBLY_WHY, "libamd_comgr is another one than this reads");
    else
        snprintf(why, RTL_DISASSEMBLY_WHY, "libamd_comgr doesn't know %s", gpu);
    free(d);
    return NULL;
}

uint32_t rtl_disassemble(struct rtl_disassembly *d, const void *code, size_t bytes, char *out, size_t size)
{
    struct disassembly_job job = {code, bytes, out, size};
    uint64_t used = 0;
    *out = 0;
    if (d->disassemble(d->info, 0, &job, &used) || !*out || !used || used > bytes)
        return 0;
    return (uint32_t)used;
}

void rtl_disassembly_close(struct rtl_disassembly *d)
{
    if (d)
        d->destroy(d->info);
    free(d);
}
