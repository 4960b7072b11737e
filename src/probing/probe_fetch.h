/*
 * A kernel's code out of the process that runs it, looked for by a thread: what is read is another process's memory,
 * and a page that nobody brings hangs who reads it, but not the screen. The list of code objects is in
 * observe/kernel_code.h.
 */
#ifndef RTL_PROBING_PROBE_FETCH_H
#define RTL_PROBING_PROBE_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rtl_probe_fetch;

enum { RTL_PROBE_CODES_MAX = 16 };

/* `kernel`: its name as packets are counted under; copied. NULL: there is no memory, or no thread. */
struct rtl_probe_fetch *rtl_probe_fetch_find(pid_t pid, const char *kernel);
/* Where the thread hangs it is left behind, and frees everything if it ever comes back. NULL is allowed. */
void rtl_probe_fetch_free(struct rtl_probe_fetch *code);

/* True once it has looked; the others are to be asked from then on. */
bool rtl_probe_fetch_ready(const struct rtl_probe_fetch *code);

enum rtl_probe_fetch_result {
    RTL_PROBE_CODE_FOUND,
    RTL_PROBE_CODE_NONE,
    RTL_PROBE_CODE_CHANGED, /* what is loaded isn't what the file has that it was loaded from */
    RTL_PROBE_CODE_DENIED,  /* the process may not be looked into */
    RTL_PROBE_CODE_EXITED,  /* there is no process any more, or soon */
};
enum rtl_probe_fetch_result rtl_probe_fetch_result(const struct rtl_probe_fetch *code);

/* One a code object, in the order in which they were loaded. */
struct rtl_probe_fetch_copy {
    const void *bytes; /* valid until rtl_probe_fetch_free */
    size_t size;
    uint64_t object; /* where the runtime has loaded its descriptor */
    bool compared;   /* with what is loaded: the GPU's memory can be seen from the host */
};
/* Whether a later look, which is ready, has found the same code in the same place. */
bool rtl_probe_fetch_has(const struct rtl_probe_fetch *later, const struct rtl_probe_fetch_copy *copy);
uint32_t rtl_probe_fetch_count(const struct rtl_probe_fetch *code);
const struct rtl_probe_fetch_copy *rtl_probe_fetch_copy(const struct rtl_probe_fetch *code, uint32_t number);

#endif
