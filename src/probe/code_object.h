/*
 * A code object as a file has it: its target, its symbols, its bytes by the addresses that they are meant for, and
 * kernel descriptors. Whoever made it may be hostile: everything is bounded by its size.
 */
#ifndef RTL_PROBE_CODE_OBJECT_H
#define RTL_PROBE_CODE_OBJECT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/refusals.h"

enum { RTL_CODE_SYMBOLS_MAX = 1 << 18, RTL_CODE_NAME_MAX = 1 << 16 };
/* in the machine's part of an ELF header's flags */
enum { RTL_CODE_MACHINE = 0xff, RTL_CODE_GFX906 = 0x2f, RTL_CODE_GFX90A = 0x3f, RTL_CODE_GFX942 = 0x4c };

/* What a dispatch packet's kernel_object is the address of, as the hardware's packet processor reads it. */
struct rtl_kernel_descriptor {
    uint32_t group_bytes, private_bytes, kernarg_bytes, reserved0;
    int64_t entry; /* from the descriptor's own address */
    uint32_t reserved1[5];
    uint32_t rsrc3, rsrc1, rsrc2;
    uint16_t properties, preload;
    uint32_t reserved2;
};
static_assert(sizeof(struct rtl_kernel_descriptor) == 64, "kernel descriptor");
static_assert(offsetof(struct rtl_kernel_descriptor, entry) == 16 &&
                  offsetof(struct rtl_kernel_descriptor, rsrc3) == 44 &&
                  offsetof(struct rtl_kernel_descriptor, properties) == 56,
              "kernel descriptor");

struct rtl_code_object {
    const uint8_t *bytes;
    size_t size;
    uint32_t flags;      /* of its ELF header */
    uint8_t abi_version; /* likewise */
    uint64_t headers, header_count;
    uint64_t symbols, symbol_count, strings, string_bytes;
};

struct rtl_code_symbol {
    const char *name; /* not terminated by a promise: `length` bytes */
    size_t length;
    uint64_t value;
    bool kernel; /* NAME.kd: a descriptor; length is NAME's */
};

/* The bytes stay the caller's and must stay there. */
enum rtl_probe_refusal rtl_code_open(struct rtl_code_object *code, const void *bytes, size_t size);

/* False for one without a name, or a damaged one; `length` is how much of the name was looked at. */
bool rtl_code_symbol(const struct rtl_code_object *code, uint64_t number, struct rtl_code_symbol *symbol);

/* Where the descriptor of the kernel is meant to be. */
bool rtl_code_find_kernel(const struct rtl_code_object *code, const char *kernel, uint64_t *address);

/* How long the function at this address is; 0: a stripped object doesn't say. */
uint64_t rtl_code_function_bytes(const struct rtl_code_object *code, uint64_t address);

/* How many bytes the file has for this address and those behind it; 0: none, or it isn't of a piece that is to be
 * executed when that is asked for. */
size_t rtl_code_at(const struct rtl_code_object *code, uint64_t address, bool executable, const uint8_t **bytes);

#endif
