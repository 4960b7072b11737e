/* When the read index moves. See read_convention.h. */
#include "observe/read_convention.h"

enum { EARLY_ENOUGH = 4, EARLY_SHARE = 20, LATE_ENOUGH = 8, LATE_SHARE = 100 };

/*
 * It says something when the index has just moved on, to a packet that was there before: of a packet that was left
 * behind long ago the signal may be gone, and something else in its place. The packet before the index still runs:
 * early, and nothing else. It has ended, and with it all before it, and the next one stands there though it was
 * submitted before: late. (One that comes to an idle queue may not have been noticed yet.)
 */
void rtl_convention_see(struct rtl_evidence *e, const struct rtl_queue_look *look)
{
    if (!look->before_signalled || !look->waiting || !look->queued)
        return;
    if (look->before_pending)
        e->early++;
    else if (look->before_in_order)
        e->late++;
}

enum rtl_convention rtl_convention_judge(const struct rtl_evidence *e)
{
    if (e->early >= EARLY_ENOUGH && e->early * EARLY_SHARE >= e->late)
        return RTL_CONVENTION_EARLY;
    if (e->late >= LATE_ENOUGH && e->late >= e->early * LATE_SHARE)
        return RTL_CONVENTION_LATE;
    return RTL_CONVENTION_UNKNOWN;
}

int rtl_convention_running(enum rtl_convention convention, const struct rtl_queue_look *look)
{
    if (convention == RTL_CONVENTION_LATE)
        return look->waiting ? 0 : 1;
    if (convention != RTL_CONVENTION_EARLY || !look->before)
        return 1;
    if (look->before_signalled)
        return look->before_pending ? -1 : 1;
    /* without a signal: what stands behind it in order would have started if it had ended */
    return look->in_order && !look->blocked ? -1 : 1;
}
