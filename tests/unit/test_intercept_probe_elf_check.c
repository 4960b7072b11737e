/*
 * Code objects that the library passes to the runtime's loader: objects as viewers make them, and nothing that makes
 * the loader abort or run for long. Each case is one wrong field in an otherwise good object.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/worker/probe_elf_check.h"
#include "probe/code_object.h"

static _Alignas(8) char code[8192];
static size_t bytes;
static Elf64_Ehdr *const head = (Elf64_Ehdr *)(void *)code;
static Elf64_Phdr *segment; /* two load segments, and the dynamic one */
static Elf64_Shdr *section;
enum { DYNSYM = 1, HASH, DYNSTR, RODATA, DYNAMIC, TEXT, SYMTAB, NAMES };
static Elf64_Sym *symbol; /* null, the function, its descriptor: of both tables */

static void make(void)
{
    static const uint32_t words[64] = {0xbf810000};
    const struct rtl_code_draft draft = {.kernel = "k", .text = words, .text_bytes = sizeof words};
    void *made = rtl_code_write(&draft, &bytes);
    assert_non_null(made);
    assert_true(bytes <= sizeof code);
    memset(code, 0, sizeof code);
    memcpy(code, made, bytes);
    free(made);
    segment = (Elf64_Phdr *)(void *)(code + head->e_phoff);
    section = (Elf64_Shdr *)(void *)(code + head->e_shoff);
    symbol = (Elf64_Sym *)(void *)(code + section[DYNSYM].sh_offset);
}

/* The library must refuse the object after this change. */
#define REFUSED(change)                                      \
    do {                                                     \
        make();                                              \
        assert_true(rtl_probe_elf_is_complete(code, bytes)); \
        change;                                              \
        if (rtl_probe_elf_is_complete(code, bytes))          \
            fail_msg("%s: accepted", #change);               \
    } while (0)

static void code_objects_of_viewers_are_accepted(void **unused)
{
    (void)unused;
    make();
    assert_true(rtl_probe_elf_is_complete(code, bytes));
    for (size_t n = 0; n < bytes; n += n < sizeof *head + 8 ? 1 : 61) /* truncated */
        assert_false(rtl_probe_elf_is_complete(code, n));
}

static void wrong_elf_headers_are_refused(void **unused)
{
    (void)unused;
    REFUSED(head->e_ident[EI_CLASS] = ELFCLASS32);
    REFUSED(head->e_machine = EM_X86_64);
    REFUSED(head->e_type = ET_REL);
    REFUSED(head->e_ehsize--);
    REFUSED(head->e_phnum = 0);
    REFUSED(head->e_phnum = 9);
    REFUSED(head->e_phnum = PN_XNUM);
    REFUSED(head->e_phentsize++);
    REFUSED(head->e_phoff = bytes - 64);
    REFUSED(head->e_shnum = 0); /* with 0, the first section would hold the count */
    REFUSED(head->e_shnum = 17);
    REFUSED(head->e_shnum = 8); /* the table of section names is the ninth section */
    REFUSED(head->e_shentsize++);
    REFUSED(head->e_shoff -= 8);
    REFUSED(head->e_shoff += 4);
    REFUSED(head->e_shoff = UINT64_MAX - 7);
    REFUSED(head->e_shstrndx = TEXT);
    REFUSED(head->e_shstrndx = 9);
}

static void wrong_segments_are_refused(void **unused)
{
    (void)unused;
    REFUSED(segment[0].p_filesz = bytes + 1);
    REFUSED(segment[0].p_filesz++);
    REFUSED(segment[0].p_filesz = segment[0].p_memsz = bytes + 1);
    REFUSED(segment[2].p_offset = bytes);
    REFUSED(segment[0].p_memsz = 1ull << 40);
    REFUSED(segment[0].p_vaddr = UINT64_MAX - 4095);
    REFUSED(segment[0].p_type = PT_NOTE);
    REFUSED(segment[0].p_type = PT_DYNAMIC); /* then a required part is not loaded */
    REFUSED(segment[1].p_align = 1ull << 60);
    REFUSED(segment[1].p_align = 0);
    REFUSED(segment[1].p_offset += 8);
}

static void wrong_sections_are_refused(void **unused)
{
    (void)unused;
    REFUSED(section[0].sh_type = SHT_PROGBITS);
    REFUSED(section[RODATA].sh_type = SHT_NULL);
    REFUSED(section[RODATA].sh_type = SHT_RELA);
    REFUSED(section[RODATA].sh_type = SHT_NOTE);
    REFUSED(section[RODATA].sh_type = SHT_DYNSYM); /* a second dynamic symbol table */
    REFUSED(section[DYNSYM].sh_type = SHT_SYMTAB);
    REFUSED(section[HASH] = section[DYNSYM]);
    REFUSED(section[TEXT].sh_offset = bytes);
    REFUSED(section[NAMES].sh_offset = bytes);
    REFUSED(section[SYMTAB].sh_type = SHT_PROGBITS);
    REFUSED(section[TEXT].sh_name = (Elf64_Word)section[NAMES].sh_size);
    REFUSED(section[TEXT].sh_size = bytes);
    REFUSED(section[TEXT].sh_addr += 8);
    REFUSED(section[TEXT].sh_addralign = 8192);
    REFUSED(section[HASH].sh_link = 9);
    REFUSED(section[NAMES].sh_size = 0);
    REFUSED(section[NAMES].sh_size--);
    REFUSED(section[DYNSYM].sh_entsize = 0);
    REFUSED(section[DYNSYM].sh_size--);
    REFUSED(section[SYMTAB].sh_size = 17 * sizeof *symbol);
    REFUSED(section[SYMTAB].sh_link = TEXT);
}

static void wrong_symbols_are_refused(void **unused)
{
    (void)unused;
    REFUSED(symbol[0].st_name = 0x7fffffff);
    REFUSED(symbol[1].st_name = (Elf64_Word)section[DYNSTR].sh_size);
    REFUSED(symbol[1].st_value = 0x100000);
    REFUSED(symbol[1].st_size++);
    REFUSED(symbol[2].st_shndx = 9);
    REFUSED(symbol[2].st_shndx = SHN_ABS);
    REFUSED(symbol[2].st_value = segment[0].p_memsz - 63); /* the loader reads 64 bytes, whatever its size */
    REFUSED(symbol[2].st_value = UINT64_MAX - 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_objects_of_viewers_are_accepted),
        cmocka_unit_test(wrong_elf_headers_are_refused),
        cmocka_unit_test(wrong_segments_are_refused),
        cmocka_unit_test(wrong_sections_are_refused),
        cmocka_unit_test(wrong_symbols_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
