/* Memory that is reserved for the most that there can be, and taken page by page where it is used. */
#ifndef RTL_INTERCEPT_RESERVE_H
#define RTL_INTERCEPT_RESERVE_H

#include <stddef.h>
#include <sys/mman.h>

/*
 * Zeroes, or NULL. For munmap, if for anything. Maps without access first: under mlockall(MCL_FUTURE) an accessible
 * mapping would be filled at once, all of it.
 */
static inline void *rtl_reserve(size_t bytes)
{
    void *made = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    munlock(made, bytes);
    madvise(made, bytes, MADV_NOHUGEPAGE); /* the first byte that is used takes a page, not 2 MB */
    if (mprotect(made, bytes, PROT_READ | PROT_WRITE) == 0)
        return made;
    munmap(made, bytes);
    return NULL;
}

#endif
