/* Makes all threads pass a barrier (barrier.h). */
#include "intercept/track/barrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool doubt; /* worker: membarrier was there and is no more */

void rtl_barrier_prepare(void)
{
    atomic_store(&rtl_hot.fence, syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0);
}

/*
 * A sandbox may have come after the start and taken membarrier away. Dispatches then fence for themselves, but one that
 * was under way before it saw that may go unnoticed: so from then on parking has a timeout.
 */
void rtl_barrier_everywhere(void)
{
    if (!atomic_load_explicit(&rtl_hot.fence, memory_order_relaxed) &&
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
        atomic_store(&rtl_hot.fence, true);
        doubt = true;
    }
    rtl_full_barrier();
}

bool rtl_barrier_in_doubt(void)
{
    return doubt;
}
