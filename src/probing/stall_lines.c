/* Disassembles instructions before a wait. See stall_lines.h. */
#include "probing/stall_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/code_object.h"
#include "text/disassembly.h"

struct rtl_stall_lines {
    struct rtl_disassembly *disassembly;
    const uint8_t *entry;
    size_t bytes; /* bytes from the entry on */
};

_Static_assert((int)RTL_STALL_WHY == RTL_DISASSEMBLY_WHY, "one is told as the other");

static struct rtl_disassembly *open_for(uint32_t machine, char why[RTL_STALL_WHY])
{
    return rtl_disassembly_open(machine == RTL_CODE_GFX942   ? "gfx942"
                                : machine == RTL_CODE_GFX90A ? "gfx90a"
                                                             : "gfx906",
                                why);
}

struct rtl_stall_lines *rtl_stall_lines_open(const struct rtl_probe_session *session, char why[RTL_STALL_WHY])
{
    const struct rtl_probe_fetch_copy *original = rtl_probe_session_original(session);
    struct rtl_code_object code;
    struct rtl_kernel_descriptor descriptor;
    const uint8_t *bytes;
    uint64_t address;
    struct rtl_stall_lines *l = calloc(1, sizeof *l);
    snprintf(why, RTL_STALL_WHY, "%s", l ? "its code is not known" : "out of memory");
    if (l && original && !rtl_code_open(&code, original->bytes, original->size) &&
        rtl_code_find_kernel(&code, session->wish.kernel, &address) &&
        rtl_code_at(&code, address, false, &bytes) >= sizeof descriptor) {
        memcpy(&descriptor, bytes, sizeof descriptor);
        l->bytes = rtl_code_at(&code, address + (uint64_t)descriptor.entry, true, &l->entry);
        l->disassembly = open_for(code.flags & RTL_CODE_MACHINE, why);
    }
    if (l && l->disassembly)
        return l;
    free(l);
    return NULL;
}

int rtl_stall_lines(const struct rtl_stall_lines *l, const struct rtl_probe_wait *wait,
                    char text[RTL_STALL_BEFORE][RTL_STALL_LINE])
{
    uint32_t at = wait->from, end = wait->at;
    int n = 0;
    while (l && at < end && end <= l->bytes && n < RTL_STALL_BEFORE) {
        uint32_t size = rtl_disassemble(l->disassembly, l->entry + at, end - at, text[n], RTL_STALL_LINE);
        if (!size)
            break;
        at += size;
        n++;
    }
    return n;
}

void rtl_stall_lines_close(struct rtl_stall_lines *l)
{
    if (l)
        rtl_disassembly_close(l->disassembly);
    free(l);
}
