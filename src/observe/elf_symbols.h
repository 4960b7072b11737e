/*
 * Reads symbols of foreign ELF files: a library as the loader laid it out in a process's memory, or a code object in a
 * file or in memory. All content is hostile: bounded by what can be read and by the limits here.
 */
#ifndef RTL_OBSERVE_ELF_SYMBOLS_H
#define RTL_OBSERVE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/target_memory.h"

enum { RTL_ELF_SYMBOLS_MAX = 1 << 18, RTL_ELF_STRINGS_MAX = 64 << 20 };

/* Location of the file's bytes. */
struct rtl_elf_image {
    const struct rtl_target_memory *memory; /* NULL: read from `fd` */
    int fd;
    uint64_t at, size; /* address or offset of the first byte; an upper bound of the size */
    bool loaded;       /* laid out by a loader; otherwise as in a file */
};

struct rtl_elf_symbol {
    const char *name;
    size_t length;
    uint64_t value;
    unsigned type; /* STT_* */
};

/* Read bytes of the image; false if it doesn't have all of them. */
bool rtl_elf_image_read(const struct rtl_elf_image *image, uint64_t offset, void *to, size_t bytes);

/* Called for each named dynamic symbol; false ends the list. */
typedef bool rtl_elf_visit(void *context, const struct rtl_elf_symbol *symbol);

/* Read all dynamic symbols. False for no ELF file of this kind, or one that can't be read. *bytes grows by the bytes
 * read and scanned. */
bool rtl_elf_symbols(const struct rtl_elf_image *image, rtl_elf_visit *take, void *context, uint64_t *bytes);

/* Find a symbol's address in a loaded library. False: no such symbol. */
bool rtl_elf_find(const struct rtl_elf_image *image, const char *name, uint64_t *address);

#endif
