/* Prefetching a cache line for writing. */
#ifndef RTL_INTERCEPT_FETCH_H
#define RTL_INTERCEPT_FETCH_H

/* Any: fetch the line exclusively before it is written. Another core mostly owns it, and a store that waits for it
 * delays every later locked operation. __builtin_prefetch compiles to a read prefetch unless it targets a newer CPU. */
static inline void rtl_prefetch_to_write(const void *where)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)where)); /* 64-bit CPUs without it ignore it */
#else
    __builtin_prefetch(where, 1);
#endif
}

#endif
