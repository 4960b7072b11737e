/* Odd ELF files: the reader stays within its bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shm/elf_file.h"

enum { ENTRIES = RTL_ELF_NEEDED_MAX + 64 };

static struct {
    Elf64_Ehdr header;
    Elf64_Phdr program[2];
    Elf64_Dyn dynamic[ENTRIES + 2];
    char strings[16];
} image;

static struct {
    struct rtl_elf_file elf;
    char behind[64 * (RTL_ELF_NAME_MAX + 1)]; /* nothing may be written there */
} place;

/* Make a program file of this machine that needs `needed` libraries. Return its descriptor. */
static int make(int needed)
{
    memset(&image, 0, sizeof image);
    memcpy(image.header.e_ident, ELFMAG, SELFMAG);
    image.header.e_ident[EI_CLASS] = ELFCLASS64;
    image.header.e_ident[EI_DATA] = ELFDATA2LSB;
    image.header.e_type = ET_DYN;
    image.header.e_machine = EM_X86_64;
    image.header.e_phoff = offsetof(__typeof__(image), program);
    image.header.e_phentsize = sizeof *image.program;
    image.header.e_phnum = 2;
    image.program[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = sizeof image};
    image.program[1] = (Elf64_Phdr){
        .p_type = PT_DYNAMIC, .p_offset = offsetof(__typeof__(image), dynamic), .p_filesz = sizeof image.dynamic};
    image.dynamic[0].d_tag = DT_STRTAB;
    image.dynamic[0].d_un.d_ptr = offsetof(__typeof__(image), strings);
    for (int i = 1; i <= needed; i++) {
        image.dynamic[i].d_tag = DT_NEEDED;
        image.dynamic[i].d_un.d_val = 1;
    }
    memcpy(image.strings + 1, "libodd.so", 10);
    int fd = memfd_create("odd", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, &image, sizeof image) == (ssize_t)sizeof image);
    return fd;
}

static void look(int fd)
{
    char path[40], why[100] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    memset(&place, 0x5a, sizeof place);
    assert_true(rtl_elf_read(path, &place.elf, why, sizeof why));
    close(fd);
    for (size_t i = 0; i < sizeof place.behind; i++)
        assert_int_equal(place.behind[i], 0x5a);
}

static void needed_libraries_are_listed_up_to_a_limit(void **state)
{
    (void)state;
    static const int counts[] = {0, 1, RTL_ELF_NEEDED_MAX - 1, RTL_ELF_NEEDED_MAX, RTL_ELF_NEEDED_MAX + 1, ENTRIES};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        look(make(counts[c]));
        unsigned wanted = counts[c] < RTL_ELF_NEEDED_MAX ? (unsigned)counts[c] : RTL_ELF_NEEDED_MAX;
        assert_int_equal(place.elf.needed_count, wanted);
        for (unsigned i = 0; i < wanted; i++)
            assert_string_equal(place.elf.needed[i], "libodd.so");
        assert_true(place.elf.elf && place.elf.dynamic && place.elf.shared && !place.elf.audits);
    }
}

static void a_text_is_searched_in_the_first_two_gigabytes(void **state)
{
    (void)state;
    static const char text[] = "HSA_TOOLS_LIB";
    const off_t end = (off_t)2 << 30;
    char path[40];
    int fd = make(1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    assert_true(ftruncate(fd, (off_t)4 << 40) == 0); /* sparse: reading all of it takes an hour */
    assert_true(pwrite(fd, text, sizeof text, end + (1 << 20)) == (ssize_t)sizeof text);
    assert_false(rtl_elf_has(path, text));
    assert_true(pwrite(fd, text, sizeof text, end - (1 << 20)) == (ssize_t)sizeof text);
    assert_true(rtl_elf_has(path, text));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(needed_libraries_are_listed_up_to_a_limit),
                                       cmocka_unit_test(a_text_is_searched_in_the_first_two_gigabytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
