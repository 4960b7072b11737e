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

struct rtl_probe_fetch;

enum { RTL_PROBE_CODES_MAX = 16 };

/* Start a search. `kernel`: the name under which packets are counted; copied. NULL without memory or thread. */
struct rtl_probe_fetch *rtl_probe_fetch_find(pid_t pid, const char *kernel);
/* Free the search. A hanging thread is left behind and frees everything if it ever returns. NULL is allowed. */
void rtl_probe_fetch_free(struct rtl_probe_fetch *code);

/* True once the search has ended; call the functions below only then. */
bool rtl_probe_fetch_ready(const struct rtl_probe_fetch *code);

enum rtl_probe_fetch_result {
    RTL_PROBE_CODE_FOUND,
    RTL_PROBE_CODE_NONE,
    RTL_PROBE_CODE_CHANGED, /* the loaded bytes differ from the file */
    RTL_PROBE_CODE_DENIED,  /* this user may not read the process */
    RTL_PROBE_CODE_EXITED,  /* the process has exited, or is exiting */
};
enum rtl_probe_fetch_result rtl_probe_fetch_result(const struct rtl_probe_fetch *code);

/* A copy of one code object; copies are in load order. */
struct rtl_probe_fetch_copy {
    const void *bytes; /* valid until rtl_probe_fetch_free */
    size_t size;
    uint64_t object; /* load address of its descriptor */
    bool compared;   /* the bytes were compared with the loaded ones: the host can read the GPU's memory */
};
/* True if a later search, which is ready, has found the same code in the same place. */
bool rtl_probe_fetch_has(const struct rtl_probe_fetch *later, const struct rtl_probe_fetch_copy *copy);
uint32_t rtl_probe_fetch_count(const struct rtl_probe_fetch *code);
const struct rtl_probe_fetch_copy *rtl_probe_fetch_copy(const struct rtl_probe_fetch *code, uint32_t number);

#endif
