/* The barrier between dispatches and the worker (barrier.h). */
#include "intercept/track/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic bool doubt; /* any sets, worker loads: membarrier worked and then failed */

void rtl_barrier_prepare(void)
{
    atomic_store(&rtl_hot.fence, syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0);
}

/* A sandbox may take membarrier away after the start. Dispatches then fence for themselves, but a dispatch that was
 * under way may have gone unnoticed: from then on parking has a timeout. */
bool rtl_barrier_everywhere(void)
{
    bool fence = atomic_load_explicit(&rtl_hot.fence, memory_order_relaxed);
    if (!fence && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
        atomic_store(&doubt, true);
        atomic_store(&rtl_hot.fence, true);
        fence = true;
    }
    rtl_full_barrier();
    return !fence;
}

bool rtl_barrier_in_doubt(void)
{
    return atomic_load(&doubt);
}
