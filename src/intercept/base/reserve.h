/* Reserves address space for the largest possible array; the kernel adds pages as they are touched. */
#ifndef RTL_INTERCEPT_RESERVE_H
#define RTL_INTERCEPT_RESERVE_H

#include <stddef.h>
#include <sys/mman.h>

/*
 * Returns zeroed memory, or NULL. Release it with munmap. The first mapping has no access, because under
 * mlockall(MCL_FUTURE) the kernel would fill an accessible one at once.
 */
static inline void *rtl_reserve(size_t bytes)
{
    void *made = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    munlock(made, bytes);
    madvise(made, bytes, MADV_NOHUGEPAGE); /* the first byte touched costs one page, not 2 MB */
    if (mprotect(made, bytes, PROT_READ | PROT_WRITE) == 0)
        return made;
    munmap(made, bytes);
    return NULL;
}

#endif
