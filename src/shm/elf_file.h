/*
 * What an ELF file says about itself: whether a process of this machine can load it, and which libraries it asks for.
 *
 * The file may be anybody's: everything in it is bounded by its size, and nothing of it is run.
 */
#ifndef RTL_SHM_ELF_FILE_H
#define RTL_SHM_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RTL_ELF_NAME_MAX = 255, RTL_ELF_NEEDED_MAX = 256 };

struct rtl_elf_file {
    bool elf;                               /* false: a script, or anything else; the rest is empty then */
    bool bits32;                            /* of a 32-bit machine */
    bool native;                            /* of the machine that this program was built for */
    bool shared;                            /* a library, or a program that may lie anywhere in memory */
    bool dynamic;                           /* the dynamic loader has something to do with it */
    bool audits;                            /* it names libraries that the loader runs even when it only lists */
    char interpreter[RTL_ELF_NAME_MAX + 1]; /* the loader's path; "" for libraries and static programs */
    unsigned needed_count;                  /* RTL_ELF_NEEDED_MAX at most */
    char needed[RTL_ELF_NEEDED_MAX][RTL_ELF_NAME_MAX + 1];
};

/* False and one line in `why` when the file can't be read, or is an ELF file that is damaged. */
bool rtl_elf_read(const char *path, struct rtl_elf_file *elf, char *why, size_t why_bytes);

/* Whether the first 2 GiB of the file have the text, with a zero byte behind it, as strings of a program and names of
 * symbols have. */
bool rtl_elf_has(const char *path, const char *text);

#endif
