/*
 * Fetches a kernel's code from the process that runs it. A thread of its own reads the process's memory, because a page
 * that is never delivered would hang the reader, and must not hang the screen. observe/kernel_code.h reads the list of
 * code objects.
 */
#ifndef RTL_PROBING_PROBE_FETCH_H
#define RTL_PROBING_PROBE_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probing/probe_plan.h"

struct rtl_probe_fetch;

enum { RTL_PROBE_CODES_MAX = 16 };

/* Start a search. `kernel`: the name under which packets are counted; copied. NULL without memory or thread. */
struct rtl_probe_fetch *rtl_probe_fetch_find(pid_t pid, const char *kernel);
/* Free the search. A hanging thread is left behind and frees everything if it ever returns. NULL is allowed. */
void rtl_probe_fetch_free(struct rtl_probe_fetch *fetch);

/* A copy of one code object. */
struct rtl_probe_fetch_copy {
    const void *bytes; /* valid until rtl_probe_fetch_free */
    size_t size;
    uint64_t object; /* load address of its descriptor */
    bool compared;   /* the bytes were compared with the loaded ones: the host can read the GPU's memory */
};

struct rtl_probe_fetch_found {
    /* NOT: code was found; else NO_CODE, CODE_DENIED, CODE_CHANGED (the loaded bytes differ from the file) or EXITED */
    enum rtl_probe_plan_over wrong;
    uint32_t count;
    struct rtl_probe_fetch_copy copy[RTL_PROBE_CODES_MAX]; /* in load order */
};
/* Return the result; NULL while the search runs. Valid until rtl_probe_fetch_free. */
const struct rtl_probe_fetch_found *rtl_probe_fetch_found(const struct rtl_probe_fetch *fetch);
/* True if a later search has found the same code in the same place. */
bool rtl_probe_fetch_has(const struct rtl_probe_fetch_found *later, const struct rtl_probe_fetch_copy *copy);

#endif
