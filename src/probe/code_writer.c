/* Writes code objects (code_object.h). No notes or relocations: the loader needs only symbols and the descriptor. */
#include "probe/code_object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { OSABI_HSA = 64, PAGE = 4096 };
/* The runtime's loader reads symbols from a SYMTAB, its debugger from a DYNSYM: both have the same bytes. Names come
 * last: the loader of release 5.2 mistakes the section after them for another. */
enum { NO_SECTION, DYNSYM, HASH, DYNSTR, RODATA, DYNAMIC, TEXT, SYMTAB, SHSTRTAB, SECTIONS };
enum { SEGMENTS = 3, SYMBOLS = 3, HASH_WORDS = 2 + 1 + SYMBOLS, TAGS = 6 };

static const char section_names[] = "\0.dynsym\0.hash\0.dynstr\0.rodata\0.dynamic\0.text\0.symtab\0.shstrtab";
static const uint32_t section_name[SECTIONS] = {0, 1, 9, 15, 23, 31, 40, 46, 54};

/* Places of all parts, equal in the file and in memory. */
struct draft_layout {
    uint64_t symbols, hash, strings, string_bytes, descriptor, dynamic, fixed_end, text, names, sections, end;
};

static uint64_t up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

static struct draft_layout lay_out_draft(const struct rtl_code_draft *d)
{
    struct draft_layout p;
    p.symbols = up(sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr), 8);
    p.hash = p.symbols + SYMBOLS * sizeof(Elf64_Sym);
    p.strings = p.hash + HASH_WORDS * sizeof(uint32_t);
    p.string_bytes = 1 + 2 * (strlen(d->kernel) + 1) + 3; /* NAME and NAME.kd */
    p.descriptor = up(p.strings + p.string_bytes, sizeof(struct rtl_kernel_descriptor));
    p.dynamic = p.descriptor + sizeof(struct rtl_kernel_descriptor);
    p.fixed_end = p.dynamic + TAGS * sizeof(Elf64_Dyn);
    p.text = up(p.fixed_end, PAGE);
    p.names = p.text + d->text_bytes;
    p.sections = up(p.names + sizeof section_names, 8);
    p.end = p.sections + SECTIONS * sizeof(Elf64_Shdr);
    return p;
}

static void write_elf_head(uint8_t *to, const struct rtl_code_draft *d, const struct draft_layout *p)
{
    Elf64_Ehdr h = {.e_type = ET_DYN,
                    .e_machine = EM_AMDGPU,
                    .e_version = EV_CURRENT,
                    .e_phoff = sizeof h,
                    .e_shoff = p->sections,
                    .e_flags = d->flags,
                    .e_ehsize = sizeof h,
                    .e_phentsize = sizeof(Elf64_Phdr),
                    .e_phnum = SEGMENTS,
                    .e_shentsize = sizeof(Elf64_Shdr),
                    .e_shnum = SECTIONS,
                    .e_shstrndx = SHSTRTAB};
    memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_ident[EI_VERSION] = EV_CURRENT;
    h.e_ident[EI_OSABI] = OSABI_HSA;
    h.e_ident[EI_ABIVERSION] = d->abi_version;
    const Elf64_Phdr segments[SEGMENTS] = {
        {PT_LOAD, PF_R, 0, 0, 0, p->fixed_end, p->fixed_end, PAGE},
        {PT_LOAD, PF_R | PF_X, p->text, p->text, p->text, d->text_bytes, d->text_bytes, PAGE},
        {PT_DYNAMIC, PF_R, p->dynamic, p->dynamic, p->dynamic, TAGS * sizeof(Elf64_Dyn), TAGS * sizeof(Elf64_Dyn), 8}};
    memcpy(to, &h, sizeof h);
    memcpy(to + sizeof h, segments, sizeof segments);
}

static void write_symbols(uint8_t *to, const struct rtl_code_draft *d, const struct draft_layout *p)
{
    size_t length = strlen(d->kernel);
    const Elf64_Sym symbols[SYMBOLS] = {
        {0},
        {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), STV_PROTECTED, TEXT, p->text, d->text_bytes},
        {(Elf64_Word)(length + 2), ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), STV_PROTECTED, RODATA, p->descriptor,
         sizeof(struct rtl_kernel_descriptor)}};
    const uint32_t hash[HASH_WORDS] = {1, SYMBOLS, 1, 0, 2, 0}; /* one bucket: symbol 1, then 2 */
    const Elf64_Dyn tags[TAGS] = {
        {DT_HASH, {p->hash}},      {DT_SYMTAB, {p->symbols}},     {DT_SYMENT, {sizeof(Elf64_Sym)}},
        {DT_STRTAB, {p->strings}}, {DT_STRSZ, {p->string_bytes}}, {DT_NULL, {0}}};
    char *strings = (char *)to + p->strings;
    memcpy(to + p->symbols, symbols, sizeof symbols);
    memcpy(to + p->hash, hash, sizeof hash);
    memcpy(to + p->dynamic, tags, sizeof tags);
    memcpy(strings + 1, d->kernel, length);
    memcpy(strings + length + 2, d->kernel, length);
    memcpy(strings + 2 * length + 2, ".kd", 3);
}

static void write_sections(uint8_t *to, const struct rtl_code_draft *d, const struct draft_layout *p)
{
    Elf64_Shdr s[SECTIONS] = {
        [DYNSYM] = {.sh_type = SHT_DYNSYM,
                    .sh_offset = p->symbols,
                    .sh_size = SYMBOLS * sizeof(Elf64_Sym),
                    .sh_link = DYNSTR,
                    .sh_info = 1,
                    .sh_addralign = 8,
                    .sh_entsize = sizeof(Elf64_Sym)},
        [HASH] = {.sh_type = SHT_HASH,
                  .sh_offset = p->hash,
                  .sh_size = HASH_WORDS * sizeof(uint32_t),
                  .sh_link = DYNSYM,
                  .sh_addralign = 4,
                  .sh_entsize = sizeof(uint32_t)},
        [DYNSTR] = {.sh_type = SHT_STRTAB, .sh_offset = p->strings, .sh_size = p->string_bytes, .sh_addralign = 1},
        [RODATA] = {.sh_type = SHT_PROGBITS,
                    .sh_offset = p->descriptor,
                    .sh_size = sizeof(struct rtl_kernel_descriptor),
                    .sh_addralign = sizeof(struct rtl_kernel_descriptor)},
        [DYNAMIC] = {.sh_type = SHT_DYNAMIC,
                     .sh_offset = p->dynamic,
                     .sh_size = TAGS * sizeof(Elf64_Dyn),
                     .sh_link = DYNSTR,
                     .sh_addralign = 8,
                     .sh_entsize = sizeof(Elf64_Dyn)},
        [TEXT] = {.sh_type = SHT_PROGBITS,
                  .sh_flags = SHF_EXECINSTR,
                  .sh_offset = p->text,
                  .sh_size = d->text_bytes,
                  .sh_addralign = 256},
        [SHSTRTAB] = {
            .sh_type = SHT_STRTAB, .sh_offset = p->names, .sh_size = sizeof section_names, .sh_addralign = 1}};
    s[SYMTAB] = s[DYNSYM]; /* the same symbols for tools that read files */
    s[SYMTAB].sh_type = SHT_SYMTAB;
    for (int i = 0; i < SECTIONS; i++) {
        s[i].sh_name = section_name[i];
        if (i != NO_SECTION && i < SYMTAB) {
            s[i].sh_flags |= SHF_ALLOC;
            s[i].sh_addr = s[i].sh_offset;
        }
    }
    memcpy(to + p->names, section_names, sizeof section_names);
    memcpy(to + p->sections, s, sizeof s);
}

void *rtl_code_write(const struct rtl_code_draft *draft, size_t *bytes)
{
    struct draft_layout p = lay_out_draft(draft);
    struct rtl_kernel_descriptor descriptor = draft->descriptor;
    uint8_t *to = calloc(1, p.end);
    if (!to)
        return NULL;
    descriptor.entry = (int64_t)(p.text - p.descriptor);
    write_elf_head(to, draft, &p);
    write_symbols(to, draft, &p);
    memcpy(to + p.descriptor, &descriptor, sizeof descriptor);
    memcpy(to + p.text, draft->text, draft->text_bytes);
    write_sections(to, draft, &p);
    *bytes = p.end;
    return to;
}
