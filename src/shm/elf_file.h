/*
 * Reads the headers of an ELF file: whether a process of this machine can load it, and which libraries it needs.
 *
 * The file is untrusted: its size bounds everything, and nothing in it runs.
 */
#ifndef RTL_SHM_ELF_FILE_H
#define RTL_SHM_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { RTL_ELF_NAME_MAX = 255, RTL_ELF_NEEDED_MAX = 256 };

struct rtl_elf_file {
    bool elf;                               /* false: a script or another file; all other members are empty */
    bool bits32;                            /* for a 32-bit machine */
    bool native;                            /* for the machine of this program */
    bool shared;                            /* a library, or a position-independent program */
    bool dynamic;                           /* needs the dynamic loader */
    bool audits;                            /* names libraries that the loader runs even when it only lists */
    char interpreter[RTL_ELF_NAME_MAX + 1]; /* the loader's path; "" for libraries and static programs */
    unsigned needed_count;                  /* RTL_ELF_NEEDED_MAX at most */
    char needed[RTL_ELF_NEEDED_MAX][RTL_ELF_NAME_MAX + 1];
};

/* False and one line in `why` if the file can't be read, or is a damaged ELF file. */
bool rtl_elf_read(const char *path, struct rtl_elf_file *elf, char *why, size_t why_bytes);

/* True if the first 2 GiB of the file contain the text with a zero byte behind it, as strings and symbol names have. */
bool rtl_elf_has(const char *path, const char *text);

#endif
