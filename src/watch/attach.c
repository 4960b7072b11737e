/* Opens a segment or an observer. See attach.h. */
#include "watch/attach.h"
#include "base/clock.h"
#include "shm/process.h"

#include <stdio.h>

/* A command that rtl-top has started will be traced, so it isn't observed. */
static bool may_observe(const struct rtl_options *o)
{
    return o->observe >= 0 && !o->launch && !o->trace && o->mode < 0;
}

static enum rtl_reader_status open_observer(const struct rtl_options *o, pid_t pid, struct rtl_attach *attach,
                                            char *why, size_t why_bytes)
{
    const struct rtl_observer_options options = {
        .cpu = o->observe_cpu, .named = why, .early = o->observe > 0 && why, .start_time = attach->start_time};
    return rtl_observer_open(pid, &options, &attach->observer, why, why_bytes);
}

/* Also observes the queues that the library doesn't see. If that is refused, only the segment is used. */
static void observe_past_library(const struct rtl_options *o, pid_t pid, struct rtl_attach *attach)
{
    const struct rtl_observer_options options = {.cpu = o->observe_cpu, .past_library = true};
    if (attach->reader && o->observe >= 0 && !o->trace && o->mode < 0)
        rtl_observer_open(pid, &options, &attach->observer, NULL, 0);
}

struct rtl_attach rtl_attach_adopt(const struct rtl_options *o, pid_t pid, struct rtl_reader *reader)
{
    struct rtl_attach attach = {.reader = reader};
    observe_past_library(o, pid, &attach);
    return attach;
}

enum rtl_reader_status rtl_attach_open(const struct rtl_options *o, pid_t pid, struct rtl_attach *attach, char *why,
                                       size_t why_bytes)
{
    char other[512] = "";
    *attach = (struct rtl_attach){0};
    enum rtl_reader_status status =
        o->observe > 0 ? RTL_READER_NOT_TRACED : rtl_reader_open(pid, &attach->reader, why, why_bytes);
    observe_past_library(o, pid, attach);
    if (status != RTL_READER_NOT_TRACED || !may_observe(o))
        return status;
    status = open_observer(o, pid, attach, other, sizeof other);
    if (status && o->observe > 0 && !*other)
        rtl_explain(status, other, sizeof other, "process %d has no HSA runtime: there is nothing to observe",
                    (int)pid);
    if (*other)
        snprintf(why, why_bytes, "%s", other);
    return status;
}

bool rtl_attach_try_traced(const struct rtl_options *o, pid_t pid, uint64_t start_time, struct rtl_attach *attach)
{
    *attach = (struct rtl_attach){.start_time = start_time};
    if (o->observe > 0 || rtl_reader_try(pid, &attach->reader) != RTL_READER_OK)
        return false;
    observe_past_library(o, pid, attach);
    return true;
}

bool rtl_attach_is_observable(const struct rtl_options *o, pid_t pid)
{
    /* with --all only processes of -p are observed; without --all also the descendants of -p */
    bool named = o->pid_count && !o->all;
    for (uint32_t i = 0; o->all && i < o->pid_count; i++)
        named |= o->pids[i] == pid;
    return may_observe(o) && (o->observe > 0 || named) && rtl_process_maps(pid, "libhsa-runtime64", NULL, NULL);
}

bool rtl_attach_try_observed(const struct rtl_options *o, pid_t pid, uint64_t start_time, struct rtl_attach *attach)
{
    *attach = (struct rtl_attach){.start_time = start_time};
    return open_observer(o, pid, attach, NULL, 0) == RTL_READER_OK;
}

bool rtl_attach_try(const struct rtl_options *o, pid_t pid, uint64_t start_time, struct rtl_attach *attach)
{
    return rtl_attach_try_traced(o, pid, start_time, attach) ||
           (rtl_attach_is_observable(o, pid) && rtl_attach_try_observed(o, pid, start_time, attach));
}

void rtl_attach_close(struct rtl_attach *attach)
{
    rtl_reader_close(attach->reader);
    rtl_observer_close(attach->observer);
    *attach = (struct rtl_attach){0};
}

bool rtl_attach_alive(const struct rtl_attach *attach)
{
    return attach->reader ? rtl_reader_alive(attach->reader) : rtl_observer_alive(attach->observer);
}

bool rtl_attach_alive_charged(const struct rtl_attach *attach, struct rtl_user *user)
{
    if (!rtl_user_may_read(user, rtl_mono_ns()))
        return true;
    uint64_t from = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    bool alive = rtl_attach_alive(attach);
    rtl_user_charge(user, rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from);
    return alive;
}

/* Adds the observed queues to the segment's snapshot, which must be complete. */
static enum rtl_reader_status snapshot_both(const struct rtl_attach *attach, struct rtl_snapshot *snapshot)
{
    uint64_t before = rtl_mono_ns();
    enum rtl_reader_status status = rtl_reader_snapshot(attach->reader, snapshot);
    if (status || !attach->observer)
        return status;
    rtl_observer_traced(attach->observer, snapshot, before);
    if (rtl_observer_add(attach->observer, snapshot))
        return RTL_READER_OK;
    rtl_snapshot_free(snapshot);
    return RTL_READER_USAGE;
}

enum rtl_reader_status rtl_attach_snapshot(const struct rtl_attach *attach, struct rtl_snapshot *snapshot)
{
    return attach->reader ? snapshot_both(attach, snapshot) : rtl_observer_snapshot(attach->observer, snapshot);
}

enum rtl_reader_status rtl_attach_changes(const struct rtl_attach *attach, struct rtl_snapshot *snapshot)
{
    if (attach->reader && !rtl_observer_has_any(attach->observer)) {
        uint64_t before = rtl_mono_ns();
        enum rtl_reader_status status = rtl_reader_changes(attach->reader, snapshot);
        if (!status && attach->observer)
            rtl_observer_traced(attach->observer, snapshot, before);
        return status;
    }
    return rtl_attach_snapshot(attach, snapshot);
}
