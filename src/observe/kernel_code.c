/* Reads code of kernels of another process. See kernel_code.h. */
#include "observe/kernel_code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t READ_MAX = 1ull << 30; /* in one search, whatever the list says */

struct code_search {
    const struct rtl_target_memory *memory;
    int files;
    const char *kernel;
    size_t length;
    uint64_t value; /* of the found symbol */
    bool found;
    uint64_t bytes;               /* bytes read so far */
    struct rtl_mappings mappings; /* read on first use */
    bool mapped;
    rtl_kernel_code_visit *take;
    void *context;
};

static bool match_symbol(void *context, const struct rtl_elf_symbol *s)
{
    struct code_search *l = context;
    if (s->type != STT_OBJECT || s->length != l->length + 3 || memcmp(s->name, l->kernel, l->length) != 0 ||
        memcmp(s->name + l->length, ".kd", 3) != 0)
        return true;
    l->value = s->value;
    l->found = true;
    return false;
}

/* Find out whether the code object has the kernel. */
static bool has_kernel(struct code_search *l, const struct rtl_elf_image *image)
{
    l->found = false;
    if (image->size && image->size <= RTL_KERNEL_CODE_MAX)
        rtl_elf_symbols(image, match_symbol, l, &l->bytes);
    return l->found;
}

/* The runtime reports the program's own file as the source of its code objects, but that may be the loader's file, or
 * deleted. The code is still mapped: search for the same offset in mapped files. */
static bool find_mapped(struct code_search *l, const char *uri, struct rtl_elf_image *image)
{
    enum { TRIES = 32 };
    char path[RTL_CODE_OBJECT_URI_MAX + 1];
    uint64_t offset, size;
    if (!rtl_code_object_uri(uri, path, sizeof path, &offset, &size) || !*path || !size)
        return false;
    if (!l->mapped && l->memory->pid)
        rtl_mappings_read(l->memory->pid, &l->mappings);
    l->mapped = true;
    for (uint32_t i = 0, tries = 0; i < l->mappings.count && tries < TRIES; i++) {
        const struct rtl_mapping *m = &l->mappings.list[i];
        if (!m->inode || !m->read || m->device || offset < m->offset || offset - m->offset >= m->to - m->from)
            continue;
        *image =
            (struct rtl_elf_image){.memory = l->memory, .fd = -1, .at = m->from + (offset - m->offset), .size = size};
        tries++;
        if (has_kernel(l, image))
            return true;
    }
    return false;
}

static bool search_code_object(void *context, uint64_t entry, uint64_t load, const char *uri)
{
    struct code_search *l = context;
    struct rtl_elf_image image;
    char magic[SELFMAG];
    bool more = true;
    (void)entry;
    bool there =
        rtl_code_object_open(l->memory, l->files, uri, &image) &&
        (image.memory || (rtl_elf_image_read(&image, 0, magic, sizeof magic) && !memcmp(magic, ELFMAG, SELFMAG)));
    int file = image.fd;
    bool found = there ? has_kernel(l, &image) : find_mapped(l, uri, &image);
    if (found) {
        struct rtl_kernel_code code = {
            .bytes = malloc(image.size), .size = (size_t)image.size, .object = load + l->value};
        l->bytes += image.size;
        if (code.bytes && rtl_elf_image_read(&image, 0, code.bytes, code.size))
            more = l->take(l->context, &code);
        free(code.bytes);
    }
    if (file >= 0)
        close(file);
    return more && l->bytes < READ_MAX;
}

bool rtl_kernel_code_find(const struct rtl_target_memory *memory, const struct rtl_debug_lists *lists, int files,
                          const char *kernel, rtl_kernel_code_visit *take, void *context)
{
    struct code_search l = {
        .memory = memory, .files = files, .kernel = kernel, .length = strlen(kernel), .take = take, .context = context};
    bool whole = lists->count > 0;
    for (uint32_t i = 0; i < lists->count; i++)
        whole &= rtl_debug_list_read(memory, lists->head[i], search_code_object, &l, NULL);
    if (l.mapped)
        rtl_mappings_free(&l.mappings);
    return whole;
}
