/* Bounds of a handed-over code object (probe_code.h). */
#include "intercept/worker/probe_code.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

enum {
    MACHINE_AMDGPU = 224,
    MEMORY_MAX = 16 << 20, /* bytes of GPU memory that it may ask for: far more than a copy of one kernel needs */
};

static bool lies_within(uint64_t offset, uint64_t size, uint64_t bytes)
{
    return offset <= bytes && size <= bytes - offset;
}

static bool segments_are_whole(const char *code, uint64_t bytes, const Elf64_Ehdr *head)
{
    if (head->e_phentsize != sizeof(Elf64_Phdr) ||
        !lies_within(head->e_phoff, (uint64_t)head->e_phnum * sizeof(Elf64_Phdr), bytes))
        return false;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr p;
        memcpy(&p, code + head->e_phoff + i * sizeof p, sizeof p);
        if (!lies_within(p.p_offset, p.p_filesz, bytes) || !lies_within(p.p_vaddr, p.p_memsz, MEMORY_MAX) ||
            (p.p_type == PT_LOAD && p.p_filesz > p.p_memsz))
            return false;
    }
    return true;
}

static bool sections_are_whole(const char *code, uint64_t bytes, const Elf64_Ehdr *head)
{
    if (!head->e_shnum)
        return true;
    if (head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shstrndx >= head->e_shnum ||
        !lies_within(head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr), bytes))
        return false;
    for (unsigned i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, code + head->e_shoff + i * sizeof s, sizeof s);
        if ((s.sh_type != SHT_NOBITS && !lies_within(s.sh_offset, s.sh_size, bytes)) || s.sh_link >= head->e_shnum ||
            (s.sh_type == SHT_STRTAB && (!s.sh_size || code[s.sh_offset + s.sh_size - 1])))
            return false;
    }
    return true;
}

bool rtl_probe_code_is_whole(const void *code, size_t bytes)
{
    Elf64_Ehdr head;
    if (bytes < sizeof head)
        return false;
    memcpy(&head, code, sizeof head);
    return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
           head.e_ident[EI_DATA] == ELFDATA2LSB && head.e_machine == MACHINE_AMDGPU && head.e_phnum &&
           segments_are_whole(code, bytes, &head) && sections_are_whole(code, bytes, &head);
}
