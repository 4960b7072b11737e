/*
 * Checks the bounds of a code object from a viewer (probe_elf_check.h).
 *
 * The runtime's loader follows an ELF file's offsets unchecked, aborts the process when they lead nowhere, and
 * allocates for every section and symbol, even if they overlap. So only the shape of a copy of one kernel passes: few
 * sections of few types, at most two symbol tables, each name within its table, and loaded parts within the segments.
 */
#include "intercept/worker/probe_elf_check.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

enum {
    MACHINE_AMDGPU = 224,
    MEMORY_MAX = 16 << 20, /* bytes of GPU memory that it may need: far more than a copy of one kernel needs */
    SEGMENTS_MAX = 8,
    SECTIONS_MAX = 16,
    SYMBOLS_MAX = 16,
    PAGE = 4096,
    DESCRIPTOR = 64 /* bytes that the loader reads at a kernel's symbol */
};

struct elf_object {
    const char *code;
    uint64_t bytes;
    unsigned segment_count, section_count;
    Elf64_Phdr segment[SEGMENTS_MAX];
    Elf64_Shdr section[SECTIONS_MAX];
};

static bool lies_within(uint64_t offset, uint64_t size, uint64_t bytes)
{
    return offset <= bytes && size <= bytes - offset;
}

static bool is_in_segment(const struct elf_object *o, uint64_t address, uint64_t size)
{
    for (unsigned i = 0; i < o->segment_count; i++) {
        const Elf64_Phdr *p = &o->segment[i];
        if (p->p_type == PT_LOAD && address >= p->p_vaddr && lies_within(address - p->p_vaddr, size, p->p_memsz))
            return true;
    }
    return false;
}

static bool segments_are_whole(struct elf_object *o, const Elf64_Ehdr *head)
{
    if (!head->e_phnum || head->e_phnum > SEGMENTS_MAX || head->e_phentsize != sizeof *o->segment ||
        !lies_within(head->e_phoff, head->e_phnum * sizeof *o->segment, o->bytes))
        return false;
    o->segment_count = head->e_phnum;
    memcpy(o->segment, o->code + head->e_phoff, o->segment_count * sizeof *o->segment);
    for (unsigned i = 0; i < o->segment_count; i++) {
        const Elf64_Phdr *p = &o->segment[i];
        if (!lies_within(p->p_offset, p->p_filesz, o->bytes) || !lies_within(p->p_vaddr, p->p_memsz, MEMORY_MAX))
            return false;
        if (p->p_type == PT_LOAD &&
            (p->p_filesz > p->p_memsz || p->p_align != PAGE || p->p_vaddr % PAGE != p->p_offset % PAGE))
            return false;
        if (p->p_type != PT_LOAD && p->p_type != PT_DYNAMIC)
            return false;
    }
    return true;
}

static bool is_table_of_names(const struct elf_object *o, unsigned number)
{
    const Elf64_Shdr *s = &o->section[number];
    return s->sh_type == SHT_STRTAB && s->sh_size && !o->code[s->sh_offset + s->sh_size - 1];
}

static bool symbols_are_whole(const struct elf_object *o, const Elf64_Shdr *table)
{
    if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_size % sizeof(Elf64_Sym) ||
        table->sh_size / sizeof(Elf64_Sym) > SYMBOLS_MAX || !is_table_of_names(o, table->sh_link))
        return false;
    for (uint64_t at = 0; at < table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        memcpy(&s, o->code + table->sh_offset + at, sizeof s);
        uint64_t size = s.st_size < DESCRIPTOR ? DESCRIPTOR : s.st_size;
        if (s.st_name >= o->section[table->sh_link].sh_size || s.st_shndx >= o->section_count ||
            (s.st_shndx != SHN_UNDEF && !is_in_segment(o, s.st_value, size)))
            return false;
    }
    return true;
}

/* All but the names, which may lie in a later section. */
static bool section_is_whole(const struct elf_object *o, const Elf64_Shdr *s)
{
    if (s->sh_link >= o->section_count || !lies_within(s->sh_offset, s->sh_size, o->bytes) || s->sh_addralign > PAGE ||
        (s->sh_flags & SHF_ALLOC && !is_in_segment(o, s->sh_addr, s->sh_size)))
        return false;
    switch (s->sh_type) {
    case SHT_NULL:
    case SHT_PROGBITS:
    case SHT_STRTAB:
    case SHT_SYMTAB:
    case SHT_DYNSYM:
    case SHT_HASH:
    case SHT_DYNAMIC:
        return true;
    default:
        return false;
    }
}

static bool sections_are_whole(struct elf_object *o, const Elf64_Ehdr *head)
{
    unsigned tables[2] = {0}; /* symbol tables: SHT_SYMTAB and SHT_DYNSYM */
    if (!head->e_shnum || head->e_shnum > SECTIONS_MAX || head->e_shentsize != sizeof *o->section ||
        head->e_shstrndx >= head->e_shnum || head->e_shoff % 8 ||
        !lies_within(head->e_shoff, head->e_shnum * sizeof *o->section, o->bytes))
        return false;
    o->section_count = head->e_shnum;
    memcpy(o->section, o->code + head->e_shoff, o->section_count * sizeof *o->section);
    for (unsigned i = 0; i < o->section_count; i++)
        if (!section_is_whole(o, &o->section[i]) || (o->section[i].sh_type == SHT_NULL) != (i == 0))
            return false;
    if (!is_table_of_names(o, head->e_shstrndx))
        return false;
    for (unsigned i = 0; i < o->section_count; i++) {
        const Elf64_Shdr *s = &o->section[i];
        bool of_symbols = s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM;
        if (s->sh_name >= o->section[head->e_shstrndx].sh_size ||
            (of_symbols && (tables[s->sh_type == SHT_DYNSYM]++ || !symbols_are_whole(o, s))))
            return false;
    }
    return tables[0] && tables[1];
}

bool rtl_probe_elf_is_complete(const void *code, size_t bytes)
{
    struct elf_object o = {.code = code, .bytes = bytes};
    Elf64_Ehdr head;
    if (bytes < sizeof head)
        return false;
    memcpy(&head, code, sizeof head);
    return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
           head.e_ident[EI_DATA] == ELFDATA2LSB && head.e_machine == MACHINE_AMDGPU && head.e_type == ET_DYN &&
           head.e_ehsize == sizeof head && segments_are_whole(&o, &head) && sections_are_whole(&o, &head);
}
