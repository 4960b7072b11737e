/* Waiting on a word and waking its waiters: the kernel's futex, within this process. */
#ifndef RTL_INTERCEPT_FUTEX_H
#define RTL_INTERCEPT_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleep while the word has that value, for at most `ns`; UINT64_MAX: no limit. Returns 0 or an error number; changes
 * errno. */
static inline int rtl_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    struct timespec t = {(time_t)(ns / 1000000000ull), (long)(ns % 1000000000ull)};
    long result = syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns == UINT64_MAX ? NULL : &t, NULL, 0);
    return result == 0 ? 0 : errno;
}

static inline void rtl_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif
