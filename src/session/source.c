/* A segment or an observer. See source.h. */
#include "session/source.h"
#include "shm/process.h"

#include <stdio.h>

/* What is started by us is traced, as soon as it is there. */
static bool may_observe(const struct rtl_options *o)
{
    return o->observe >= 0 && !o->launch && !o->trace && o->mode < 0;
}

static enum rtl_reader_status observe(const struct rtl_options *o, pid_t pid, struct rtl_source *source, char *why,
                                      size_t why_bytes)
{
    const struct rtl_observer_options options = {.cpu = o->observe_cpu, .early = o->observe > 0 && why};
    return rtl_observer_open(pid, &options, &source->observer, why, why_bytes);
}

enum rtl_reader_status rtl_source_open(const struct rtl_options *o, pid_t pid, struct rtl_source *source, char *why,
                                       size_t why_bytes)
{
    char other[512] = "";
    *source = (struct rtl_source){0};
    enum rtl_reader_status status =
        o->observe > 0 ? RTL_READER_NOT_TRACED : rtl_reader_open(pid, &source->reader, why, why_bytes);
    if (status != RTL_READER_NOT_TRACED || !may_observe(o))
        return status;
    status = observe(o, pid, source, other, sizeof other);
    if (status && o->observe > 0 && !*other)
        rtl_explain(status, other, sizeof other, "process %d has no HSA runtime: there is nothing to observe",
                    (int)pid);
    if (*other)
        snprintf(why, why_bytes, "%s", other);
    return status;
}

bool rtl_source_try(const struct rtl_options *o, pid_t pid, struct rtl_source *source)
{
    *source = (struct rtl_source){0};
    if (o->observe <= 0 && rtl_reader_try(pid, &source->reader) == RTL_READER_OK)
        return true;
    /* of all processes only those are looked into that have the runtime; of the descendants of -p, too */
    return may_observe(o) && (o->observe > 0 || o->pid_count) &&
           rtl_process_maps(pid, "libhsa-runtime64", NULL, NULL) && observe(o, pid, source, NULL, 0) == RTL_READER_OK;
}

void rtl_source_close(struct rtl_source *source)
{
    rtl_reader_close(source->reader);
    rtl_observer_close(source->observer);
    *source = (struct rtl_source){0};
}

bool rtl_source_alive(const struct rtl_source *source)
{
    return source->reader ? rtl_reader_alive(source->reader) : rtl_observer_alive(source->observer);
}

enum rtl_reader_status rtl_source_snapshot(const struct rtl_source *source, struct rtl_snapshot *snapshot)
{
    return source->reader ? rtl_reader_snapshot(source->reader, snapshot)
                          : rtl_observer_snapshot(source->observer, snapshot);
}

enum rtl_reader_status rtl_source_changes(const struct rtl_source *source, struct rtl_snapshot *snapshot)
{
    return source->reader ? rtl_reader_changes(source->reader, snapshot)
                          : rtl_observer_snapshot(source->observer, snapshot);
}

void rtl_source_forget(const struct rtl_source *source)
{
    if (source->reader)
        rtl_reader_forget(source->reader);
}
