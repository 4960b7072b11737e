/* Asking for a cache line ahead of need. */
#ifndef RTL_INTERCEPT_FETCH_H
#define RTL_INTERCEPT_FETCH_H

/*
 * Any: asks for the line that this lies in, to be written to soon. It is mostly another core's: one store that waits
 * for it holds up every locked operation behind it. What __builtin_prefetch makes of it unless it is told of a newer
 * CPU only reads the line, and then the store has to wait all the same.
 */
static inline void rtl_prefetch_to_write(const void *where)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)where)); /* no CPU with 64 bits faults at it */
#else
    __builtin_prefetch(where, 1);
#endif
}

#endif
