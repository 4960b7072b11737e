/* Judges when the read index moves. See read_convention.h. */
#include "observe/read_convention.h"

enum { EARLY_ENOUGH = 4, EARLY_SHARE = 20, LATE_ENOUGH = 8, LATE_SHARE = 100 };

/* Evidence needs an index that has just moved to a packet submitted before: the signal of an older packet may be
 * reused. If the packet before the index still runs: early. If it and all packets before it have ended and the next
 * one, submitted before, still waits at the index: late. (A packet that arrives at an idle queue may not have been
 * noticed yet.) */
void rtl_convention_add_evidence(struct rtl_evidence *e, const struct rtl_queue_moment *look)
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

int rtl_convention_running(enum rtl_convention convention, const struct rtl_queue_moment *look)
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
