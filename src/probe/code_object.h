/*
 * Reads a code object in file form: target, symbols, bytes by their load addresses, kernel descriptors. It may be
 * hostile: its size bounds everything. code_writer.c writes one.
 */
#ifndef RTL_PROBE_CODE_OBJECT_H
#define RTL_PROBE_CODE_OBJECT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "probe/refusals.h"

enum { RTL_CODE_SYMBOLS_MAX = 1 << 18, RTL_CODE_NAME_MAX = 1 << 16 };
/* machine field of the ELF header's flags */
enum { RTL_CODE_MACHINE = 0xff, RTL_CODE_GFX906 = 0x2f, RTL_CODE_GFX90A = 0x3f, RTL_CODE_GFX942 = 0x4c };

/* The kernel descriptor, as the hardware's packet processor reads it; a packet's kernel_object is its address. */
struct rtl_kernel_descriptor {
    uint32_t group_bytes, private_bytes, kernarg_bytes, reserved0;
    int64_t entry; /* offset from the descriptor's own address */
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
    uint32_t flags;      /* of the ELF header */
    uint8_t abi_version; /* of the ELF header */
    uint64_t headers, header_count;
    uint64_t symbols, symbol_count, strings, string_bytes;
};

struct rtl_code_symbol {
    const char *name; /* perhaps not terminated: `length` bytes */
    size_t length;
    uint64_t value;
    bool kernel; /* NAME.kd: a descriptor; length is NAME's */
};

/* Open a code object. The caller keeps the bytes valid. */
enum rtl_probe_refusal rtl_code_open(struct rtl_code_object *code, const void *bytes, size_t size);

/* Read a symbol. False for a symbol without a name or a damaged one; `length` is then the number of bytes scanned. */
bool rtl_code_symbol(const struct rtl_code_object *code, uint64_t number, struct rtl_code_symbol *symbol);

/* Find the address of the kernel's descriptor. */
bool rtl_code_find_kernel(const struct rtl_code_object *code, const char *kernel, uint64_t *address);

/* Return the length of the function at this address; 0: not known (a stripped object). */
uint64_t rtl_code_function_bytes(const struct rtl_code_object *code, uint64_t address);

/* Return how many bytes the file has from this address on; 0: none, or (with `executable`) not in an executable
 * segment. */
size_t rtl_code_at(const struct rtl_code_object *code, uint64_t address, bool executable, const uint8_t **bytes);

struct rtl_code_draft {
    uint32_t flags;
    uint8_t abi_version;
    const char *kernel;                      /* without ".kd" */
    struct rtl_kernel_descriptor descriptor; /* rtl_code_write sets `entry` to the text's first byte */
    const void *text;
    size_t text_bytes;
};

/* Return the smallest code object with one kernel that the runtime loads. The caller frees it; NULL without memory. */
void *rtl_code_write(const struct rtl_code_draft *draft, size_t *bytes);

#endif
