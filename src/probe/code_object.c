/* Reads code objects. See code_object.h. */
#include "probe/code_object.h"

#include <elf.h>
#include <string.h>

enum { OSABI_HSA = 64, SEGMENTS_MAX = 64, SECTIONS_MAX = 4096 };

static bool copy_bytes(const struct rtl_code_object *c, uint64_t offset, void *to, size_t bytes)
{
    if (offset > c->size || bytes > c->size - offset)
        return false;
    memcpy(to, c->bytes + offset, bytes);
    return true;
}

static bool is_inside(const struct rtl_code_object *c, uint64_t offset, uint64_t bytes)
{
    return offset <= c->size && bytes <= c->size - offset;
}

/* Find the dynamic symbols: a stripped object has no others. */
static bool find_symbols(struct rtl_code_object *c, const Elf64_Ehdr *h)
{
    Elf64_Shdr s, strings;
    if (h->e_shentsize != sizeof s || h->e_shnum > SECTIONS_MAX)
        return false;
    for (uint64_t i = 0; i < h->e_shnum; i++) {
        if (!copy_bytes(c, h->e_shoff + i * sizeof s, &s, sizeof s))
            return false;
        if (s.sh_type != SHT_DYNSYM)
            continue;
        if (s.sh_link >= h->e_shnum || !copy_bytes(c, h->e_shoff + s.sh_link * sizeof s, &strings, sizeof strings) ||
            !is_inside(c, s.sh_offset, s.sh_size) || !is_inside(c, strings.sh_offset, strings.sh_size) ||
            s.sh_size / sizeof(Elf64_Sym) > RTL_CODE_SYMBOLS_MAX)
            return false;
        c->symbols = s.sh_offset;
        c->symbol_count = s.sh_size / sizeof(Elf64_Sym);
        c->strings = strings.sh_offset;
        c->string_bytes = strings.sh_size;
        return true;
    }
    return true; /* an object without symbols isn't damaged */
}

enum rtl_probe_refusal rtl_code_open(struct rtl_code_object *code, const void *bytes, size_t size)
{
    Elf64_Ehdr h;
    *code = (struct rtl_code_object){.bytes = bytes, .size = size};
    if (!copy_bytes(code, 0, &h, sizeof h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != EM_AMDGPU ||
        h.e_ident[EI_OSABI] != OSABI_HSA)
        return RTL_PROBE_NO_CODE_OBJECT;
    code->flags = h.e_flags;
    code->abi_version = h.e_ident[EI_ABIVERSION];
    code->headers = h.e_phoff;
    code->header_count = h.e_phnum;
    if (h.e_phentsize != sizeof(Elf64_Phdr) || h.e_phnum > SEGMENTS_MAX ||
        !is_inside(code, h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr)) || !find_symbols(code, &h))
        return RTL_PROBE_DAMAGED;
    return RTL_PROBE_NONE;
}

bool rtl_code_symbol(const struct rtl_code_object *code, uint64_t number, struct rtl_code_symbol *symbol)
{
    static const char suffix[] = ".kd";
    const size_t suffix_length = sizeof suffix - 1;
    Elf64_Sym s;
    symbol->length = 0;
    if (number >= code->symbol_count || !copy_bytes(code, code->symbols + number * sizeof s, &s, sizeof s) ||
        !s.st_name || s.st_name >= code->string_bytes)
        return false;
    uint64_t most = code->string_bytes - s.st_name;
    if (most > RTL_CODE_NAME_MAX)
        most = RTL_CODE_NAME_MAX;
    symbol->name = (const char *)code->bytes + code->strings + s.st_name;
    symbol->length = strnlen(symbol->name, most);
    symbol->value = s.st_value;
    if (symbol->length == most)
        return false;
    symbol->kernel = ELF64_ST_TYPE(s.st_info) == STT_OBJECT && symbol->length > suffix_length &&
                     memcmp(symbol->name + symbol->length - suffix_length, suffix, suffix_length) == 0;
    if (symbol->kernel)
        symbol->length -= suffix_length;
    return true;
}

bool rtl_code_find_kernel(const struct rtl_code_object *code, const char *kernel, uint64_t *address)
{
    size_t length = strlen(kernel);
    struct rtl_code_symbol symbol;
    uint64_t scanned = 0;
    /* names may overlap: bound the scanned bytes */
    for (uint64_t i = 0; i < code->symbol_count && scanned <= code->string_bytes + (64u << 20); i++) {
        bool whole = rtl_code_symbol(code, i, &symbol);
        scanned += symbol.length;
        if (whole && symbol.kernel && symbol.length == length && memcmp(symbol.name, kernel, length) == 0) {
            *address = symbol.value;
            return true;
        }
    }
    return false;
}

uint64_t rtl_code_function_bytes(const struct rtl_code_object *code, uint64_t address)
{
    Elf64_Sym s;
    for (uint64_t i = 0; i < code->symbol_count; i++)
        if (copy_bytes(code, code->symbols + i * sizeof s, &s, sizeof s) && ELF64_ST_TYPE(s.st_info) == STT_FUNC &&
            s.st_value == address && s.st_size)
            return s.st_size;
    return 0;
}

size_t rtl_code_at(const struct rtl_code_object *code, uint64_t address, bool executable, const uint8_t **bytes)
{
    Elf64_Phdr p;
    for (uint64_t i = 0; i < code->header_count; i++) {
        if (!copy_bytes(code, code->headers + i * sizeof p, &p, sizeof p))
            return 0;
        if (p.p_type != PT_LOAD || (executable && !(p.p_flags & PF_X)) || address < p.p_vaddr ||
            address - p.p_vaddr >= p.p_filesz)
            continue;
        uint64_t from = address - p.p_vaddr;
        if (p.p_offset > code->size || from >= code->size - p.p_offset)
            return 0;
        uint64_t there = code->size - p.p_offset - from;
        *bytes = code->bytes + p.p_offset + from;
        return (size_t)(p.p_filesz - from < there ? p.p_filesz - from : there);
    }
    return 0;
}
