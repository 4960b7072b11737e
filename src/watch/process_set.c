/* Who is watched, and the one snapshot of them. See targets.h. */
#include "watch/process_set.h"
#include "launch/launch.h"
#include "base/clock.h"
#include "model/merge.h"
#include "watch/heartbeat.h"
#include "watch/proc_scan.h"
#include "watch/attach_backoff.h"
#include "watch/attach.h"
#include "watch/proc_title.h"
#include "shm/hip_api_reader.h"
#include "shm/process.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TARGETS_MAX = RTL_MEMBERS_MAX - RTL_MEMBERS_ENDED_MAX - 1,
    LOOK_SHARE = 100,        /* looking for new ones takes one part in so many of the CPU time, */
    LOOK_PAUSE_SECONDS = 10, /* but nobody waits for longer than that */
};

struct target {
    pid_t pid;
    uint64_t start_time;
    struct rtl_attach source;
    struct rtl_heartbeat heartbeat;
    struct rtl_hip_api_source calls;
    uint32_t member; /* in the merge, once there is one */
    bool alive;
    bool end_due; /* it ended while it was alone: nobody has been told, as others are waited for */
    bool taken;   /* into the merge: once, or since t->begun_ns */
    bool again;   /* and it failed */
};

struct rtl_process_set {
    const struct rtl_options *options;
    struct target *targets[TARGETS_MAX]; /* the first one stays, ended or not: its names are in use */
    uint32_t count;
    struct rtl_merge *merge; /* once there were two */
    uint64_t real_ns;        /* of the last snapshot, or of the one that is read in slices */
    uint64_t begun_ns;       /* when reading in slices began; 0 when nobody does */
    uint64_t look_ns;        /* when to look for new ones next */
    /* processes whose descendants are taken in, traced or not: a launcher may be gone before its workers */
    struct rtl_proc_entry *known;
    uint32_t known_count;
    struct rtl_attach_backoff refusals;
    rtl_process_set_sink *sink;
    void *sink_context;
    rtl_process_set_listener *listener;
    void *listener_context;
    bool launcher[RTL_PIDS_MAX]; /* of the pids asked for: not traced itself */
};

/* --- who it is about --- */

static bool is_asked_for(const struct rtl_process_set *t, const struct rtl_proc_entry *e, bool first)
{
    const struct rtl_options *o = t->options;
    if (o->all)
        return true;
    /* a number that is used again later is another process's */
    for (uint32_t i = 0; first && i < o->pid_count; i++)
        if (o->pids[i] == e->pid)
            return true;
    for (uint32_t i = 0; i < t->known_count; i++)
        if (t->known[i].pid == e->pid && t->known[i].start_time == e->start_time)
            return true;
    return o->process && e->pid != getpid() && rtl_proc_has_name(e->pid, o->process);
}

/*
 * Leaves in t->known those that the options are about: what they name, what was known before and still runs, and the
 * descendants of all of these. False without memory.
 */
static bool look(struct rtl_process_set *t, bool first)
{
    struct rtl_proc_entry *all;
    int count = rtl_proc_scan(&all), kept = 0;
    if (count < 0)
        return false;
    bool *chosen = calloc((size_t)count + 1, sizeof *chosen);
    if (!chosen) {
        free(all);
        return false;
    }
    for (int i = 0; i < count; i++)
        chosen[i] = is_asked_for(t, &all[i], first);
    for (bool more = !t->options->no_children; more;) { /* as often as the tree is deep, where numbers go down */
        more = false;
        for (int i = 0; i < count; i++) {
            const struct rtl_proc_entry *parent = chosen[i] ? NULL : rtl_proc_find(all, (uint32_t)count, all[i].parent);
            if (!parent || !chosen[parent - all])
                continue;
            chosen[i] = more = true;
        }
    }
    for (int i = 0; i < count; i++)
        if (chosen[i])
            all[kept++] = all[i];
    free(chosen);
    free(t->known);
    t->known = all;
    t->known_count = (uint32_t)kept;
    return true;
}

/* --- coming and going --- */

static void drop(struct target *target)
{
    rtl_heartbeat_close(&target->heartbeat);
    rtl_hip_api_source_close(&target->calls);
    rtl_attach_close(&target->source);
    free(target);
}

static void join_merge(struct rtl_process_set *t, struct target *target)
{
    struct rtl_member_info info;
    rtl_proc_member_info(target->pid, &info);
    target->member = rtl_merge_join(t->merge, &info);
}

/* All of it, or of the kernels only what has changed. */
static enum rtl_reader_status snapshot_of(struct target *target, struct rtl_snapshot *snapshot, bool whole)
{
    enum rtl_reader_status status =
        whole ? rtl_attach_snapshot(&target->source, snapshot) : rtl_attach_changes(&target->source, snapshot);
    if (status == RTL_READER_OK)
        rtl_hip_api_source_read(&target->calls, target->pid, target->source.reader, snapshot);
    return status;
}

/* There are two: from now on their sum is shown. False without memory: the first goes on alone. */
static bool start_merge(struct rtl_process_set *t, bool watched)
{
    struct rtl_snapshot snapshot;
    if (t->merge)
        return true;
    t->merge = rtl_merge_create();
    if (!t->merge)
        return false;
    join_merge(t, t->targets[0]);
    if (watched && snapshot_of(t->targets[0], &snapshot, true) == RTL_READER_OK) {
        rtl_merge_adopt(t->merge, t->targets[0]->member, &snapshot);
        rtl_snapshot_free(&snapshot);
    }
    /* rtl_process_set_snapshot takes its last state, and tells the sink */
    t->targets[0]->alive |= t->targets[0]->end_due;
    if (!t->targets[0]->alive)
        rtl_merge_leave(t->merge, t->targets[0]->member);
    return true;
}

static enum rtl_reader_status join(struct rtl_process_set *t, const struct rtl_proc_entry *e, struct rtl_attach source,
                                   bool watched)
{
    struct target *target = t->count < TARGETS_MAX ? calloc(1, sizeof *target) : NULL;
    if (!target || (t->count && !start_merge(t, watched))) {
        free(target);
        rtl_attach_close(&source);
        return RTL_READER_USAGE;
    }
    target->pid = e->pid;
    target->start_time = e->start_time;
    target->source = source;
    target->alive = true;
    rtl_heartbeat_open(&target->heartbeat, source.reader);
    rtl_hip_api_source_open(&target->calls);
    t->targets[t->count++] = target;
    if (t->options->apart && !t->merge)
        t->merge = rtl_merge_create();
    if (t->merge)
        join_merge(t, target);
    if (t->listener && source.reader)
        t->listener(t->listener_context, e->pid);
    return RTL_READER_OK;
}

static bool is_watched(const struct rtl_process_set *t, const struct rtl_proc_entry *e)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->targets[i]->alive && t->targets[i]->pid == e->pid && t->targets[i]->start_time == e->start_time)
            return true;
    return false;
}

/* One that was opened by its number. With when it started it is known at the next look, and not taken in again. */
static struct rtl_proc_entry entry_of(pid_t pid)
{
    struct rtl_process process = {0};
    rtl_process_read(pid, &process);
    return (struct rtl_proc_entry){.pid = pid, .start_time = process.start_time};
}

/* Takes in whoever has come. */
static void look_around(struct rtl_process_set *t, bool first)
{
    uint64_t from = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID); /* how long it takes says how busy others are */
    if (look(t, first)) {
        rtl_attach_backoff_begin(&t->refusals, t->known, t->known_count);
        for (uint32_t i = 0; i < t->known_count; i++) {
            struct rtl_attach source;
            if (!is_watched(t, &t->known[i]) &&
                rtl_attach_backoff_try(&t->refusals, t->options, &t->known[i], first, &source))
                join(t, &t->known[i], source, !first);
        }
    }
    uint64_t pause = (rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from) * LOOK_SHARE;
    uint64_t least = t->options->trace ? RTL_SEC / 20 : RTL_SEC; /* a trace misses what nobody has looked at */
    uint64_t most = LOOK_PAUSE_SECONDS * RTL_SEC;
    t->look_ns = rtl_mono_ns() + (pause < least ? least : pause < most ? pause : most);
}

/* The process may be there for long, still. */
static void see_end(struct rtl_process_set *t, const struct target *target)
{
    const struct rtl_proc_entry entry = {.pid = target->pid, .start_time = target->start_time};
    rtl_attach_backoff_ended(&t->refusals, &entry, &target->source);
}

/* What was counted is in the merge; the first one's names are the model's from before there was one. */
static void end(struct rtl_process_set *t, uint32_t at)
{
    struct target *target = t->targets[at];
    target->alive = false;
    see_end(t, target);
    if (!t->merge)
        return;
    rtl_merge_leave(t->merge, target->member);
    if (at == 0)
        return;
    drop(target);
    t->count--;
    memmove(t->targets + at, t->targets + at + 1, (t->count - at) * sizeof *t->targets);
}

/* --- opening --- */

/* Why none of those that were asked for can be watched; of several pids, of the first. */
static enum rtl_reader_status explain(struct rtl_process_set *t, char *why, size_t why_bytes)
{
    const struct rtl_options *o = t->options;
    struct rtl_attach source = {0};
    enum rtl_reader_status status = RTL_READER_NO_PROCESS;
    pid_t pid = o->pid_count ? o->pids[0] : 0;
    for (uint32_t i = 0; !pid && o->process && i < t->known_count; i++)
        if (rtl_proc_has_name(t->known[i].pid, o->process))
            pid = t->known[i].pid;
    if (!pid && o->process)
        snprintf(why, why_bytes, "no process called '%s': rtl-top without -p lists the traced ones", o->process);
    else if (!pid)
        snprintf(why, why_bytes,
                 "no traced process that you may see: start one with HSA_TOOLS_LIB=librtl.so program...");
    else
        status = rtl_attach_open(o, pid, &source, why, why_bytes);
    if (!status) { /* it has come meanwhile */
        struct rtl_proc_entry entry = entry_of(pid);
        return join(t, &entry, source, false);
    }
    return status;
}

enum rtl_reader_status rtl_process_set_open(const struct rtl_options *options, struct rtl_process_set **out, char *why,
                                            size_t why_bytes)
{
    struct rtl_process_set *t = calloc(1, sizeof *t);
    enum rtl_reader_status status = RTL_READER_OK;
    *out = NULL;
    if (!t) {
        snprintf(why, why_bytes, "out of memory");
        return RTL_READER_USAGE;
    }
    t->options = options;
    /* each pid that was given has to be one that can be watched, or have descendants that can */
    look_around(t, true);
    for (uint32_t i = 0; !status && i < options->pid_count; i++) {
        bool there = false;
        for (uint32_t n = 0; n < t->count; n++)
            there |= t->targets[n]->pid == options->pids[i];
        struct rtl_attach source = {0};
        if (there)
            continue;
        status = rtl_attach_open(options, options->pids[i], &source, why, why_bytes);
        struct rtl_proc_entry entry = entry_of(options->pids[i]);
        if (status == RTL_READER_NOT_TRACED && t->count) {
            status = RTL_READER_OK;
            t->launcher[i] = true;
        } else if (!status)
            status = join(t, &entry, source, false);
    }
    if (!status && !t->count)
        status = explain(t, why, why_bytes);
    if (status) {
        rtl_process_set_close(t);
        return status;
    }
    *out = t;
    return RTL_READER_OK;
}

struct rtl_process_set *rtl_process_set_adopt(const struct rtl_options *options, pid_t pid, struct rtl_reader *reader)
{
    struct rtl_process_set *t = calloc(1, sizeof *t);
    struct rtl_proc_entry entry = entry_of(pid);
    if (!t) {
        rtl_reader_close(reader);
        return NULL;
    }
    t->options = options;
    if (join(t, &entry, rtl_attach_adopt(options, pid, reader), false)) {
        rtl_process_set_close(t);
        return NULL;
    }
    t->launcher[0] = options->pid_count && options->pids[0] != pid;
    look_around(t, true);
    return t;
}

void rtl_process_set_close(struct rtl_process_set *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->count; i++)
        drop(t->targets[i]);
    rtl_merge_free(t->merge);
    rtl_attach_backoff_free(&t->refusals);
    free(t->known);
    free(t);
}

/* --- watching --- */

/* Whether there is something to wait for: others of the name, or a launcher that has no traced child at the moment. */
static bool is_waiting(const struct rtl_process_set *t)
{
    if (t->options->all || t->options->process)
        return true;
    for (uint32_t i = 0; i < t->options->pid_count; i++)
        if (t->launcher[i] && rtl_proc_find(t->known, (int)t->known_count, t->options->pids[i]))
            return !t->options->launch ||
                   !rtl_launch_ended(t->options->launch); /* one of ours stays until it is asked */
    return false;
}

bool rtl_process_set_alive(struct rtl_process_set *t)
{
    bool any = false;
    for (uint32_t i = 0; i < t->count; i++) {
        struct target *target = t->targets[i];
        bool alive = target->alive && rtl_attach_alive(&target->source);
        if (!t->merge) { /* with one the caller takes the last snapshot; of several that is taken below */
            target->end_due |= target->alive && !alive;
            if (target->alive && !alive)
                see_end(t, target);
            target->alive = alive;
        }
        any |= alive;
    }
    bool wanted = t->options->all || t->options->process || !t->options->no_children;
    if (wanted && ((!any && !t->merge) || rtl_mono_ns() >= t->look_ns)) {
        look_around(t, false);
        for (uint32_t i = 0; i < t->count; i++)
            any |= t->targets[i]->alive && rtl_attach_alive(&t->targets[i]->source);
    }
    return any || is_waiting(t);
}

void rtl_process_set_on_join(struct rtl_process_set *t, rtl_process_set_listener *listener, void *context)
{
    t->listener = listener;
    t->listener_context = context;
}

bool rtl_process_set_poll(struct rtl_process_set *t)
{
    bool alive = rtl_process_set_alive(t);
    for (uint32_t i = t->count; i-- > 0;)
        if (t->targets[i]->alive && !rtl_attach_alive(&t->targets[i]->source))
            end(t, i);
    return alive;
}

enum rtl_reader_status rtl_process_set_snapshot(struct rtl_process_set *t, struct rtl_snapshot *snapshot)
{
    bool begun = t->begun_ns != 0;
    if (!begun)
        t->real_ns = rtl_real_ns();
    if (!t->merge)
        return snapshot_of(t->targets[0], snapshot, true);
    uint64_t now = begun ? t->begun_ns : rtl_mono_ns();
    t->begun_ns = 0;
    for (uint32_t i = t->count; i-- > 0;) {
        struct target *target = t->targets[i];
        struct rtl_snapshot one;
        if (!target->alive)
            continue;
        /* asked first: a snapshot after the end is the last state */
        bool alive = rtl_attach_alive(&target->source);
        if (begun && target->taken && !target->again && alive && !t->sink)
            continue;
        /* a recording compares whole ones itself; and the last state is to be right, whatever the writer's sums say */
        enum rtl_reader_status status = snapshot_of(target, &one, t->sink || !alive);
        if (!status)
            one.taken_mono_ns = now;
        bool taken = status || rtl_merge_update(t->merge, target->member, &one);
        if (!taken)
            rtl_attach_forget(&target->source);
        if (!status && t->sink)
            t->sink(t->sink_context, target->member, target->pid, &one, t->real_ns, !alive);
        if (!status)
            rtl_snapshot_free(&one);
        if (status == RTL_READER_USAGE || !taken)
            return RTL_READER_USAGE;
        if (!alive || status)
            end(t, i);
    }
    return rtl_merge_make(t->merge, now, snapshot) ? RTL_READER_OK : RTL_READER_USAGE;
}

/* Takes what one has. What fails is left to rtl_process_set_snapshot, which says so. */
static bool take_one(struct rtl_process_set *t, struct target *target, uint64_t now)
{
    struct rtl_snapshot one;
    if (snapshot_of(target, &one, false) != RTL_READER_OK)
        return false;
    one.taken_mono_ns = now;
    bool taken = rtl_merge_update(t->merge, target->member, &one);
    if (!taken)
        rtl_attach_forget(&target->source);
    rtl_snapshot_free(&one);
    return taken;
}

/* Of those that were not taken one at least, and sums, until that time is over. False when there are no more. */
static bool take_slice(struct rtl_process_set *t, uint64_t ns, uint64_t mono_ns)
{
    enum { SUMS_AT_ONCE = 100 };
    uint64_t from = rtl_mono_ns();
    bool any = false;
    for (uint32_t i = t->count; i-- > 0;) {
        struct target *target = t->targets[i];
        if (!target->alive || target->taken)
            continue;
        if (any && rtl_mono_ns() - from >= ns)
            return true;
        any = target->taken = true;
        target->again = !take_one(t, target, mono_ns);
    }
    while (rtl_merge_sum_some(t->merge, SUMS_AT_ONCE))
        if (rtl_mono_ns() - from >= ns)
            return true;
    return false;
}

bool rtl_process_set_take_some(struct rtl_process_set *t, uint64_t ns)
{
    return t->merge && take_slice(t, ns, rtl_mono_ns());
}

bool rtl_process_set_read_some(struct rtl_process_set *t, uint64_t ns)
{
    if (!t->merge || t->sink)
        return false;
    if (!t->begun_ns) {
        t->begun_ns = rtl_mono_ns();
        t->real_ns = rtl_real_ns();
        for (uint32_t i = 0; i < t->count; i++)
            t->targets[i]->taken = false;
    }
    return take_slice(t, ns, t->begun_ns);
}

uint32_t rtl_process_set_taken(const struct rtl_process_set *t)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->count; i++)
        count += t->targets[i]->alive && t->targets[i]->taken;
    return count;
}

enum rtl_reader_status rtl_process_set_snapshot_partly(struct rtl_process_set *t, struct rtl_snapshot *snapshot)
{
    t->real_ns = rtl_real_ns();
    return rtl_merge_make_partly(t->merge, rtl_mono_ns(), snapshot) ? RTL_READER_OK : RTL_READER_USAGE;
}

uint64_t rtl_process_set_real_ns(const struct rtl_process_set *t)
{
    return t->real_ns;
}

void rtl_process_set_on_snapshot(struct rtl_process_set *t, rtl_process_set_sink *sink, void *context)
{
    t->sink = sink;
    t->sink_context = context;
}

static struct target *first_alive(const struct rtl_process_set *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->targets[i]->alive)
            return t->targets[i];
    return t->targets[0];
}

void rtl_process_set_read_heartbeat(struct rtl_process_set *t, struct rtl_model *model)
{
    rtl_heartbeat_read(&first_alive(t)->heartbeat, model);
}

void rtl_process_set_heartbeat(struct rtl_process_set *t, struct rtl_model *model)
{
    rtl_process_set_read_heartbeat(t, model);
    for (uint32_t i = 0; i < t->count; i++)
        if (t->targets[i]->alive)
            rtl_heartbeat_send(&t->targets[i]->heartbeat, NULL);
}

enum rtl_reader_status rtl_process_set_request_mode(struct rtl_process_set *t, enum rtl_mode mode, uint32_t *asked,
                                                    char *why, size_t why_bytes)
{
    enum rtl_reader_status last = RTL_READER_EXITED;
    *asked = 0;
    snprintf(why, why_bytes, "there is no process any more");
    for (uint32_t i = 0; i < t->count; i++) {
        struct rtl_control_link link;
        const struct rtl_reader *reader = t->targets[i]->source.reader;
        if (!t->targets[i]->alive || !rtl_attach_alive(&t->targets[i]->source))
            continue;
        if (!reader && last == RTL_READER_EXITED)
            last =
                rtl_explain(RTL_READER_NOT_TRACED, why, why_bytes,
                            "process %d is only observed: without librtl.so it has no mode", (int)t->targets[i]->pid);
        if (!reader)
            continue;
        last = rtl_control_open(reader, &link, why, why_bytes);
        if (last != RTL_READER_OK)
            continue;
        rtl_control_request_mode(reader, &link, mode);
        rtl_control_close(&link);
        ++*asked;
    }
    return *asked ? RTL_READER_OK : last;
}

uint32_t rtl_process_set_observed(const struct rtl_process_set *t, pid_t *pids, uint32_t room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->count && count < room; i++)
        if (t->targets[i]->alive && !t->targets[i]->source.reader)
            pids[count++] = t->targets[i]->pid;
    return count;
}

struct rtl_reader *rtl_process_set_reader(const struct rtl_process_set *t, uint32_t at, pid_t *pid)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->targets[i]->source.reader && !at--) {
            *pid = t->targets[i]->pid;
            return t->targets[i]->source.reader;
        }
    return NULL;
}

bool rtl_process_set_is_single(const struct rtl_process_set *t)
{
    return !t->merge;
}

pid_t rtl_process_set_pid(const struct rtl_process_set *t)
{
    return first_alive(t)->pid;
}

uint32_t rtl_process_set_count(const struct rtl_process_set *t)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->count; i++)
        count += t->targets[i]->alive;
    return count;
}

void rtl_process_set_title(const struct rtl_process_set *t, char *out, size_t size)
{
    char title[160];
    uint32_t count = rtl_process_set_count(t);
    rtl_proc_title(first_alive(t)->pid, "", title, sizeof title);
    if (!t->merge)
        snprintf(out, size, "%s", title);
    else
        snprintf(out, size, "%u process%s: %.100s", (unsigned)count, count == 1 ? "" : "es", title);
}
