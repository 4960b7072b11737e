/* Demotes native queues, and counts packets that were not handled in time (native_demote.h). */
#include "intercept/hooks/native_demote.h"

#include "intercept/base/hsa_table.h"
#include "intercept/base/tool.h"
#include "intercept/hooks/packets.h"
#include "intercept/track/app_signals.h"
#include "intercept/track/queue_tracker.h"

static bool is_counting(void)
{
    return rtl_recording() && rtl_policy_now() != RTL_PASS_ON;
}

void rtl_native_see_late(struct rtl_native *native, uint64_t index, uint32_t type, enum rtl_untimed_reason reason)
{
    struct rtl_tracker *tracker = native->tracker;
    const union rtl_packet *packet = (const union rtl_packet *)(const void *)rtl_native_slot(native, index);
    bool valid = type != HSA_PACKET_TYPE_INVALID;
    if (!is_counting())
        return;
    rtl_packet_count(tracker, &tracker->counters->packets, 1);
    tracker->written++;
    if (valid && packet->barrier.completion_signal.handle != 0)
        rtl_packet_see_signal(type, packet);
    bool extended =
        type == HSA_PACKET_TYPE_VENDOR_SPECIFIC && packet->vendor.format == RTL_EXTENDED_FORMAT && rtl_tool.extended;
    if (valid ? type != HSA_PACKET_TYPE_KERNEL_DISPATCH && !extended : !rtl_packet_was_kernel(&packet->kernel))
        return;
    uint32_t row = rtl_kernels_row(packet->kernel.kernel_object);
    if (row >= atomic_load_explicit(&tracker->rows_ready, memory_order_acquire))
        row = rtl_packet_make_ready(tracker, row);
    struct rtl_dispatches *line = &tracker->dispatches[row];
    rtl_packet_count(tracker, &line->calls, 1);
    rtl_packet_count(tracker, &tracker->counters->dispatches, 1);
    rtl_packet_untimed_late(tracker, line, index, reason);
}

/* Count packets that are overwritten. */
static void miss(struct rtl_tracker *tracker, uint64_t packets)
{
    if (!is_counting())
        return;
    rtl_packet_count(tracker, &tracker->counters->packets, packets);
    rtl_segment_note(&rtl_tool.segment, RTL_NOTE_PACKETS_UNSEEN);
}

void rtl_native_pass_through(struct rtl_native *native)
{
    uint64_t wanted = rtl_native_reserved(native), real = rtl_native_real(native), first = real;
    while (!(wanted & RTL_NATIVE_DEMOTED)) {
        while (real < wanted) {
            uint64_t found = rtl_tool.hsa.queue_cas_write_index_scacq_screl(native->queue, real, wanted);
            real = found == real ? wanted : found;
        }
        if (atomic_compare_exchange_strong(&native->reserved, &wanted, wanted | RTL_NATIVE_DEMOTED))
            break;
    }
    if (real != first) /* some reserved packets are now published */
        rtl_tool.hsa.signal_store_screlease(native->doorbell, (hsa_signal_value_t)(real - 1));
    atomic_store_explicit(&native->seen, atomic_load_explicit(&native->published, memory_order_relaxed),
                          memory_order_relaxed);
    if (!rtl_trackers_stopping())
        rtl_app_signals_stop(); /* a packet there may carry a signal that another queue's kernel had */
}

void rtl_native_demote(struct rtl_native *native, enum rtl_path_reason why)
{
    rtl_native_pass_through(native);
    atomic_store_explicit(&native->tracker->reason, RTL_UNTIMED_DEMOTED, memory_order_relaxed);
    rtl_tracker_set_path(native->tracker, RTL_PATH_DEMOTED, why);
    rtl_segment_note(&rtl_tool.segment, RTL_NOTE_QUEUE_DEMOTED);
}

void rtl_native_walk_demoted(struct rtl_native *native)
{
    uint64_t end = rtl_native_real(native), read = rtl_native_read(native);
    uint64_t at = atomic_load_explicit(&native->seen, memory_order_relaxed);
    int reason = atomic_load_explicit(&native->tracker->reason, memory_order_relaxed);
    if (at > end)
        at = end;                   /* the application has set it back */
    if (end - at > native->slots) { /* overwritten before we read them */
        miss(native->tracker, end - native->slots - at);
        at = end - native->slots;
    }
    for (; at < end; at++) {
        uint32_t type = rtl_native_type(native, at);
        if (type == HSA_PACKET_TYPE_INVALID && at >= read && at >= (read = rtl_native_read(native)))
            break; /* not written yet */
        rtl_native_see_late(native, at, type,
                            reason == RTL_NO_REASON ? RTL_UNTIMED_DEMOTED : (enum rtl_untimed_reason)reason);
    }
    atomic_store_explicit(&native->seen, at, memory_order_relaxed);
}
