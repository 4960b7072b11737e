/*
 * Symbols of ELF files that somebody else has: a library as the loader laid it out in a process's memory, or a code
 * object, in a file or in memory. Everything in them is hostile: bounded by what can be read and by the limits here.
 */
#ifndef RTL_OBSERVE_ELF_SYMBOLS_H
#define RTL_OBSERVE_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/target_memory.h"

enum { RTL_ELF_SYMBOLS_MAX = 1 << 18, RTL_ELF_STRINGS_MAX = 64 << 20 };

/* Where the bytes are. */
struct rtl_elf_image {
    const struct rtl_target_memory *memory; /* NULL: in `fd` */
    int fd;
    uint64_t at, size; /* address or offset of the first byte, and how many there may be */
    bool loaded;       /* as a loader laid it out; else as in a file */
};

struct rtl_elf_symbol {
    const char *name;
    size_t length;
    uint64_t value;
    unsigned type; /* STT_* */
};

/* What is called for each dynamic symbol that has a name; false ends it. */
typedef bool rtl_elf_take(void *context, const struct rtl_elf_symbol *symbol);

/* All dynamic symbols. False when it is no such ELF file or can't be read. *bytes grows by what was read and scanned.
 */
bool rtl_elf_symbols(const struct rtl_elf_image *image, rtl_elf_take *take, void *context, uint64_t *bytes);

/* The address of one, in a library that is loaded, by its hash table. False when there is none. */
bool rtl_elf_find(const struct rtl_elf_image *image, const char *name, uint64_t *address);

#endif
