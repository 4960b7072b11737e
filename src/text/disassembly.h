/*
 * Disassembles GPU instructions with AMD's libamd_comgr, a part of ROCm, which is loaded on first use. The code may be
 * hostile: reads are bounded, and the result is safe text.
 */
#ifndef RTL_TEXT_DISASSEMBLY_H
#define RTL_TEXT_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

struct rtl_disassembly;

enum { RTL_DISASSEMBLY_WHY = 60 };

/* Open a disassembler for a GPU like "gfx90a". NULL, and the reason in `why`, without a library that knows the GPU. */
struct rtl_disassembly *rtl_disassembly_open(const char *gpu, char why[RTL_DISASSEMBLY_WHY]);
/* Disassemble the first instruction of these bytes. Return its length in bytes; 0 if it is invalid. */
uint32_t rtl_disassemble(struct rtl_disassembly *disassembly, const void *code, size_t bytes, char *out, size_t size);
void rtl_disassembly_close(struct rtl_disassembly *disassembly); /* NULL is allowed */

#endif
