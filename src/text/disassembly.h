/*
 * Instructions of a GPU in words, by AMD's library for that (libamd_comgr, which ROCm has), loaded when it is asked
 * for. Without it there are no words. What is read may be anything: it is bounded here, and what comes back is safe
 * text.
 */
#ifndef RTL_TEXT_DISASSEMBLY_H
#define RTL_TEXT_DISASSEMBLY_H

#include <stddef.h>
#include <stdint.h>

struct rtl_disassembly;

enum { RTL_DISASSEMBLY_WHY = 60 };

/* Of "gfx90a". NULL: there is no such library, or it doesn't know that one, as `why` says. */
struct rtl_disassembly *rtl_disassembly_open(const char *gpu, char why[RTL_DISASSEMBLY_WHY]);
/* The first instruction of these bytes; how long it is, 0: it is none. */
uint32_t rtl_disassemble(struct rtl_disassembly *disassembly, const void *code, size_t bytes, char *out, size_t size);
void rtl_disassembly_close(struct rtl_disassembly *disassembly); /* NULL is allowed */

#endif
