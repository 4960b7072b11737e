/* Reads dynamic symbols. See elf_symbols.h. */
#include "observe/elf_symbols.h"
#include "shm/file_data.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { HEADERS_MAX = 64, DYNAMIC_MAX = 512, LINKS_AT_ONCE = 256 };
enum { NAME_SCAN_MAX = 1 << 16 }; /* longer names are skipped: all symbols may point to the same one */

struct elf_tables {
    Elf64_Phdr header[HEADERS_MAX];
    unsigned headers;
    uint64_t base; /* lowest address: that of the image's first byte */
    uint64_t symbols, strings, strings_bytes, hash, gnu_hash;
};

bool rtl_elf_image_read(const struct rtl_elf_image *i, uint64_t offset, void *to, size_t bytes)
{
    if (offset > i->size || bytes > i->size - offset || i->at + offset < offset)
        return false;
    if (i->memory)
        return rtl_target_read(i->memory, i->at + offset, to, bytes);
    return rtl_file_read(i->fd, to, bytes, i->at + offset);
}

/* Return the image offset of an address in its tables; the image's size if there is none. */
static uint64_t image_offset_of(const struct rtl_elf_image *i, const struct elf_tables *t, uint64_t address)
{
    if (i->loaded) { /* loaders replace some addresses in the table by real ones */
        if (address >= i->at && address - i->at < i->size)
            return address - i->at;
        return address >= t->base && address - t->base < i->size ? address - t->base : i->size;
    }
    for (unsigned n = 0; n < t->headers; n++) {
        const Elf64_Phdr *p = &t->header[n];
        if (p->p_type == PT_LOAD && address >= p->p_vaddr && address - p->p_vaddr < p->p_filesz &&
            p->p_offset < i->size && address - p->p_vaddr < i->size - p->p_offset)
            return p->p_offset + (address - p->p_vaddr);
    }
    return i->size;
}

static void read_dynamic(const struct rtl_elf_image *i, struct elf_tables *t, const Elf64_Phdr *p)
{
    Elf64_Dyn all[DYNAMIC_MAX];
    uint64_t at = i->loaded ? p->p_vaddr - t->base : p->p_offset, count = p->p_memsz / sizeof *all;
    if (count > DYNAMIC_MAX)
        count = DYNAMIC_MAX;
    if (!rtl_elf_image_read(i, at, all, count * sizeof *all))
        return;
    for (uint64_t n = 0; n < count && all[n].d_tag != DT_NULL; n++) {
        Elf64_Dyn d = all[n];
        if (d.d_tag == DT_SYMTAB)
            t->symbols = image_offset_of(i, t, d.d_un.d_ptr);
        else if (d.d_tag == DT_STRTAB)
            t->strings = image_offset_of(i, t, d.d_un.d_ptr);
        else if (d.d_tag == DT_STRSZ)
            t->strings_bytes = d.d_un.d_val;
        else if (d.d_tag == DT_HASH)
            t->hash = image_offset_of(i, t, d.d_un.d_ptr);
        else if (d.d_tag == DT_GNU_HASH)
            t->gnu_hash = image_offset_of(i, t, d.d_un.d_ptr);
    }
}

static bool read_tables(const struct rtl_elf_image *i, struct elf_tables *t)
{
    Elf64_Ehdr h;
    memset(t, 0, sizeof *t);
    if (!rtl_elf_image_read(i, 0, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_phentsize != sizeof(Elf64_Phdr) ||
        !h.e_phnum || h.e_phnum > HEADERS_MAX ||
        !rtl_elf_image_read(i, h.e_phoff, t->header, h.e_phnum * sizeof *t->header))
        return false;
    t->headers = h.e_phnum;
    t->base = UINT64_MAX;
    for (unsigned n = 0; n < t->headers; n++)
        if (t->header[n].p_type == PT_LOAD && (t->header[n].p_vaddr & ~4095ull) < t->base)
            t->base = t->header[n].p_vaddr & ~4095ull;
    if (t->base == UINT64_MAX)
        return false;
    for (unsigned n = 0; n < t->headers; n++)
        if (t->header[n].p_type == PT_DYNAMIC) { /* at most one */
            read_dynamic(i, t, &t->header[n]);
            break;
        }
    return t->symbols && t->symbols < i->size && t->strings && t->strings < i->size;
}

struct gnu_hash {
    uint32_t buckets, first, words, shift;
};

/* Return one more than the highest symbol number; 0: not known. */
static uint32_t count_symbols(const struct rtl_elf_image *i, const struct elf_tables *t, uint64_t *bytes)
{
    uint32_t sysv[2], most = 0;
    struct gnu_hash g;
    if (t->hash && rtl_elf_image_read(i, t->hash, sysv, sizeof sysv))
        return sysv[1];
    if (!t->gnu_hash || !rtl_elf_image_read(i, t->gnu_hash, &g, sizeof g) || g.buckets > RTL_ELF_SYMBOLS_MAX)
        return 0;
    uint64_t buckets = t->gnu_hash + sizeof g + 8ull * g.words, chains = buckets + 4ull * g.buckets;
    uint32_t *all = malloc(g.buckets ? g.buckets * sizeof *all : 1);
    if (!all || !rtl_elf_image_read(i, buckets, all, g.buckets * sizeof *all))
        g.buckets = 0;
    *bytes += g.buckets * sizeof *all;
    for (uint32_t n = 0; n < g.buckets; n++)
        most = all[n] > most ? all[n] : most;
    free(all);
    if (most < g.first || !most)
        return 0;
    for (uint32_t links[LINKS_AT_ONCE], n = 0; n < RTL_ELF_SYMBOLS_MAX; n += LINKS_AT_ONCE) {
        uint64_t at = chains + 4ull * (most - g.first), left = at < i->size ? i->size - at : 0;
        size_t count = left / sizeof *links < LINKS_AT_ONCE ? (size_t)(left / sizeof *links) : LINKS_AT_ONCE;
        if (!rtl_elf_image_read(i, at, links, count * sizeof *links)) /* memory behind the end may be missing */
            count = rtl_elf_image_read(i, at, links, sizeof *links);
        *bytes += count * sizeof *links;
        for (size_t k = 0; k < count; k++) {
            most++;
            if (links[k] & 1)
                return most;
        }
        if (!count)
            break;
    }
    return 0;
}

bool rtl_elf_symbols(const struct rtl_elf_image *image, rtl_elf_visit *take, void *context, uint64_t *bytes)
{
    struct elf_tables t;
    if (!read_tables(image, &t))
        return false;
    uint64_t count = count_symbols(image, &t, bytes), text = t.strings_bytes;
    if (!count || count > RTL_ELF_SYMBOLS_MAX || !text || text > RTL_ELF_STRINGS_MAX)
        return false;
    Elf64_Sym *symbols = malloc(count * sizeof *symbols);
    char *strings = malloc(text);
    bool ok = symbols && strings && rtl_elf_image_read(image, t.symbols, symbols, count * sizeof *symbols) &&
              rtl_elf_image_read(image, t.strings, strings, text);
    *bytes += count * sizeof *symbols + text;
    /* Names may overlap: bound the scanned bytes, not the bytes read. */
    for (uint64_t n = 0, scanned = 0; ok && n < count && scanned < RTL_ELF_STRINGS_MAX; n++) {
        const Elf64_Sym *s = &symbols[n];
        if (!s->st_name || s->st_name >= text)
            continue;
        struct rtl_elf_symbol symbol = {
            .name = strings + s->st_name, .value = s->st_value, .type = ELF64_ST_TYPE(s->st_info)};
        size_t most = text - s->st_name < NAME_SCAN_MAX ? text - s->st_name : NAME_SCAN_MAX;
        symbol.length = strnlen(symbol.name, most);
        scanned += symbol.length;
        *bytes += symbol.length;
        if (symbol.length < most && !take(context, &symbol))
            break;
    }
    free(symbols);
    free(strings);
    return ok;
}

struct symbol_search {
    const char *name;
    uint64_t value; /* 0: not found; undefined symbols have 0, too */
};

static bool match_name(void *context, const struct rtl_elf_symbol *s)
{
    struct symbol_search *search = context;
    if (s->length == strlen(search->name) && !memcmp(s->name, search->name, s->length))
        search->value = s->value;
    return !search->value;
}

bool rtl_elf_find(const struct rtl_elf_image *image, const char *name, uint64_t *address)
{
    struct elf_tables t;
    struct symbol_search search = {.name = name};
    uint64_t bytes = 0;
    if (!rtl_elf_symbols(image, match_name, &search, &bytes) || !search.value || !read_tables(image, &t))
        return false;
    *address = image->at - t.base + search.value;
    return true;
}
