/* Attaches to the watched processes and merges their snapshots. See process_set.h. */
#include "watch/process_set.h"
#include "launch/launch.h"
#include "base/clock.h"
#include "model/merge.h"
#include "watch/proc_scan.h"
#include "watch/attach_backoff.h"
#include "watch/attach.h"
#include "watch/restart.h"
#include "watch/users.h"
#include "shm/control_client.h"
#include "shm/hip_api_reader.h"
#include "shm/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = RTL_MEMBERS_MAX - RTL_MEMBERS_ENDED_MAX - 1 };

static const uint64_t INFO_NS = 5 * RTL_SEC;

struct watched_process {
    pid_t pid;
    uint64_t start_time;
    struct rtl_attach attach;
    struct rtl_control_link control; /* without a page it gets no heartbeat */
    bool control_refused;            /* the process belongs to another user */
    struct rtl_hip_api_source calls;
    struct rtl_user *user;
    uint64_t bytes;   /* of memory that the user pays for */
    uint32_t member;  /* in the merge, if there is one */
    uint64_t info_ns; /* next read of its title and owner */
    bool alive;
    bool end_unreported; /* it ended while it was the only one and others may come; its last state isn't reported yet */
    bool merged;         /* into the merge, since slice_ns or since the first slice */
    bool was_read;       /* at least once */
    bool too_large;      /* exceeds its user's memory: to be dropped */
    bool retry;          /* the merge failed; rtl_process_set_snapshot reads the process again */
};

struct rtl_process_set {
    const struct rtl_options *options;
    struct watched_process *processes[PROCESSES_MAX]; /* the first one stays after its end: its names are in use */
    uint32_t count;
    struct rtl_merge *merge; /* NULL until there are two processes */
    uint64_t real_ns;        /* of the last snapshot, or of the one that is being read in slices */
    uint64_t slice_ns;       /* when reading in slices began; 0 = not reading */
    uint64_t scan_ns;        /* time of the next scan */
    /* processes whose descendants are watched, even if untraced: a launcher may end before its workers */
    struct rtl_proc_entry *known;
    uint32_t known_count;
    struct rtl_attach_backoff backoff;
    struct rtl_users users;
    uint32_t without_place, dropped; /* processes left out: in the last scan; from now on */
    rtl_process_set_sink *sink;
    void *sink_context;
    rtl_process_set_listener *listener;
    void *listener_context;
    struct rtl_restart restart;  /* of a process that is only observed */
    bool launcher[RTL_PIDS_MAX]; /* by index of options->pids: untraced, so only its descendants are watched */
};

/* --- selecting --- */

static bool is_asked_for(const struct rtl_process_set *set, const struct rtl_proc_entry *e, bool first)
{
    const struct rtl_options *o = set->options;
    if (o->all || rtl_proc_is_among(set->known, set->known_count, e->pid, e->start_time))
        return true;
    /* only at the start: a pid that is reused later belongs to another process */
    for (uint32_t i = 0; first && i < o->pid_count; i++)
        if (o->pids[i] == e->pid)
            return true;
    return o->process && e->pid != getpid() && rtl_proc_has_name(e->pid, o->process);
}

/* Scans /proc and stores in set->known the processes that the options name, those already known and alive, and all
 * their descendants. False without memory. */
static bool refresh_known(struct rtl_process_set *set, bool first)
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
        chosen[i] = is_asked_for(set, &all[i], first);
    for (bool more = !set->options->no_children;
         more;) { /* one pass is enough unless a child's pid is lower than its parent's */
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
    free(set->known);
    set->known = all;
    set->known_count = (uint32_t)kept;
    return true;
}

/* --- users --- */

static bool has_limits(const struct rtl_process_set *set)
{
    return set->options->all || set->options->process;
}

/* Returns the account that pays for a process; NULL if it has none yet. `reader` may be NULL. */
static struct rtl_user *find_account(struct rtl_process_set *set, pid_t pid, const struct rtl_reader *reader, bool add)
{
    uid_t own = set->users.own, maker = reader ? rtl_reader_maker(reader) : own;
    uid_t uid = has_limits(set) ? rtl_user_who_pays(own, pid, &maker, 1) : own;
    return add ? rtl_user_of(&set->users, uid, rtl_mono_ns()) : rtl_user_known(&set->users, uid);
}

static bool may_read(const struct watched_process *process)
{
    return rtl_user_may_read(process->user, rtl_mono_ns());
}

static bool is_alive(const struct watched_process *process)
{
    return process->alive && rtl_attach_alive_charged(&process->attach, process->user);
}

/* --- attaching and ending --- */

static void free_process(struct watched_process *process)
{
    rtl_control_close(&process->control);
    rtl_hip_api_source_close(&process->calls);
    rtl_attach_close(&process->attach);
    free(process);
}

static void join_merge(struct rtl_process_set *set, struct watched_process *process)
{
    struct rtl_member_info info;
    rtl_proc_member_info(process->pid, process->attach.reader, &info);
    info.owner = process->user->trusted ? 0 : process->user->uid;
    process->member = rtl_merge_join(set->merge, &info);
    process->info_ns = rtl_mono_ns() + INFO_NS;
}

/* Reads the title again: workers set it after they have loaded the library. */
static void refresh_info(struct rtl_process_set *set, struct watched_process *process)
{
    struct rtl_member_info info;
    if (rtl_mono_ns() < process->info_ns)
        return;
    rtl_proc_member_info(process->pid, process->attach.reader, &info);
    rtl_merge_describe(set->merge, process->member, &info);
    process->info_ns = rtl_mono_ns() + INFO_NS;
}

/* Reads a complete snapshot, or one with only the kernels that have changed. */
static enum rtl_reader_status snapshot_of(struct watched_process *process, struct rtl_snapshot *snapshot, bool whole)
{
    enum rtl_reader_status status =
        whole ? rtl_attach_snapshot(&process->attach, snapshot) : rtl_attach_changes(&process->attach, snapshot);
    if (status == RTL_READER_OK)
        rtl_hip_api_source_read(&process->calls, process->pid, process->attach.reader, snapshot);
    return status;
}

/* Creates the merge for the second process. Without memory returns false, and the first stays alone. */
static bool start_merge(struct rtl_process_set *set, bool watched)
{
    struct rtl_snapshot snapshot;
    if (set->merge)
        return true;
    set->merge = rtl_merge_create();
    if (!set->merge)
        return false;
    join_merge(set, set->processes[0]);
    if (watched && snapshot_of(set->processes[0], &snapshot, true) == RTL_READER_OK) {
        rtl_merge_adopt(set->merge, set->processes[0]->member, &snapshot);
        rtl_snapshot_free(&snapshot);
    }
    /* An ended first process counts as alive once more: rtl_process_set_snapshot reads its last state for the sink. */
    set->processes[0]->alive |= set->processes[0]->end_unreported;
    if (!set->processes[0]->alive)
        rtl_merge_leave(set->merge, set->processes[0]->member);
    return true;
}

/* Notes the end in the back-off: the process may exist for long afterwards. */
static void note_end(struct rtl_process_set *set, const struct watched_process *process)
{
    const struct rtl_proc_entry entry = {.pid = process->pid, .start_time = process->start_time};
    rtl_attach_backoff_note_end(&set->backoff, &entry, &process->attach);
}

/* Removes a process that has ended, or whose user exceeds a limit (`drop`); the merge keeps its counts. The first one
 * stays, because the model uses its names. */
static void remove_process(struct rtl_process_set *set, uint32_t at, bool drop)
{
    struct watched_process *process = set->processes[at];
    process->alive = false;
    process->user->processes--;
    rtl_user_may_hold(process->user, &process->bytes, 0);
    note_end(set, process);
    if (!set->merge)
        return;
    if (drop)
        rtl_merge_drop(set->merge, process->member);
    else
        rtl_merge_leave(set->merge, process->member);
    if (at == 0)
        return;
    free_process(process);
    set->count--;
    memmove(set->processes + at, set->processes + at + 1, (set->count - at) * sizeof *set->processes);
}

/* Makes a place: removes the youngest process of the user. */
static bool evict_process(struct rtl_process_set *set, const struct rtl_user *user)
{
    uint32_t at = 0;
    for (uint32_t i = 1; i < set->count; i++)
        if (set->processes[i]->user == user && set->processes[i]->alive &&
            (!at || set->processes[i]->start_time >= set->processes[at]->start_time))
            at = i;
    if (!at)
        return false;
    remove_process(set, at, true);
    set->dropped++;
    return true;
}

static enum rtl_reader_status add_process(struct rtl_process_set *set, const struct rtl_proc_entry *e,
                                          struct rtl_attach attach, bool watched)
{
    const struct rtl_user *out;
    struct rtl_user *user = find_account(set, e->pid, attach.reader, true);
    bool may = rtl_user_may_add_process(&set->users, user, set->count == PROCESSES_MAX, &out) &&
               (!out || (set->merge && evict_process(set, out)));
    struct watched_process *process = may ? calloc(1, sizeof *process) : NULL;
    set->without_place += !may;
    if (!process || (set->count && !start_merge(set, watched))) {
        free(process);
        rtl_attach_close(&attach);
        return RTL_READER_USAGE;
    }
    process->pid = e->pid;
    process->start_time = e->start_time;
    process->attach = attach;
    process->user = user;
    user->processes++;
    process->alive = true;
    if (attach.reader) /* an observed process has no library to receive heartbeats */
        process->control_refused = rtl_control_open(attach.reader, &process->control, NULL, 0) == RTL_READER_PERMISSION;
    rtl_hip_api_source_open(&process->calls);
    set->processes[set->count++] = process;
    if (set->options->apart && !set->merge)
        set->merge = rtl_merge_create();
    if (set->merge)
        join_merge(set, process);
    if (set->listener && attach.reader)
        set->listener(set->listener_context, e->pid);
    return RTL_READER_OK;
}

static bool is_watched(const struct rtl_process_set *set, const struct rtl_proc_entry *e)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->processes[i]->alive && set->processes[i]->pid == e->pid &&
            set->processes[i]->start_time == e->start_time)
            return true;
    return false;
}

/* Returns the entry of a process that was attached by number. Its start time prevents the next scan from attaching it
 * again. */
static struct rtl_proc_entry entry_of(pid_t pid)
{
    struct rtl_process process = {0};
    rtl_process_read(pid, &process);
    return (struct rtl_proc_entry){.pid = pid, .start_time = process.start_time};
}

/* Attaches to a process if it is traced. Its user pays for the time, but not for a short check without a segment. */
static void try_process(struct rtl_process_set *set, const struct rtl_proc_entry *e, bool first)
{
    struct rtl_attach attach;
    uint64_t from = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    struct rtl_user *user = find_account(set, e->pid, NULL, false);
    if (user && !rtl_user_may_read(user, rtl_mono_ns()))
        return;
    if (rtl_attach_backoff_try(&set->backoff, set->options, e, first, &attach))
        add_process(set, e, attach, !first);
    uint64_t took = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    if (user || took >= RTL_CHECK_FREE_NS)
        rtl_user_charge(user ? user : find_account(set, e->pid, NULL, true), took);
}

/* Attaches to new processes. */
static void scan_for_new(struct rtl_process_set *set, bool first)
{
    uint64_t from = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID); /* CPU time, which doesn't grow when the system is busy */
    if (refresh_known(set, first)) {
        rtl_attach_backoff_begin_round(&set->backoff, set->known, set->known_count);
        set->without_place = 0;
        for (uint32_t i = 0; i < set->known_count; i++)
            if (!is_watched(set, &set->known[i]))
                try_process(set, &set->known[i], first);
    }
    uint64_t took = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    /* a trace misses the dispatches before it attaches */
    set->scan_ns = rtl_mono_ns() + rtl_proc_scan_pause(took, set->options->trace ? RTL_SEC / 20 : RTL_SEC);
}

/* --- opening --- */

/* Explains why no process can be watched; with several pids, why the first can't. */
static enum rtl_reader_status explain_none(struct rtl_process_set *set, char *why, size_t why_bytes)
{
    const struct rtl_options *o = set->options;
    struct rtl_attach attach = {0};
    enum rtl_reader_status status = RTL_READER_NO_PROCESS;
    pid_t pid = o->pid_count ? o->pids[0] : 0;
    for (uint32_t i = 0; !pid && o->process && i < set->known_count; i++)
        if (rtl_proc_has_name(set->known[i].pid, o->process))
            pid = set->known[i].pid;
    if (!pid && o->process)
        snprintf(why, why_bytes, "no process called '%s': rtl-top without -p lists traced processes", o->process);
    else if (!pid)
        snprintf(why, why_bytes, "no traced process that you may see: rtl-top run PROGRAM... starts one");
    else
        status = rtl_attach_open(o, pid, &attach, why, why_bytes);
    if (!status) { /* it has become attachable meanwhile */
        struct rtl_proc_entry entry = entry_of(pid);
        return add_process(set, &entry, attach, false);
    }
    return status;
}

static struct rtl_process_set *create_set(const struct rtl_options *options)
{
    struct rtl_process_set *set = calloc(1, sizeof *set);
    if (set) {
        set->options = options;
        set->users.own = geteuid();
        set->users.view = true;
    }
    return set;
}

enum rtl_reader_status rtl_process_set_open(const struct rtl_options *options, struct rtl_process_set **out, char *why,
                                            size_t why_bytes)
{
    struct rtl_process_set *set = create_set(options);
    enum rtl_reader_status status = RTL_READER_OK;
    *out = NULL;
    if (!set) {
        snprintf(why, why_bytes, "out of memory");
        return RTL_READER_USAGE;
    }
    /* each pid must be attachable or have an attachable descendant */
    scan_for_new(set, true);
    for (uint32_t i = 0; !status && i < options->pid_count; i++) {
        bool there = false;
        for (uint32_t n = 0; n < set->count; n++)
            there |= set->processes[n]->pid == options->pids[i];
        struct rtl_attach attach = {0};
        if (there)
            continue;
        status = rtl_attach_open(options, options->pids[i], &attach, why, why_bytes);
        struct rtl_proc_entry entry = entry_of(options->pids[i]);
        if (status == RTL_READER_NOT_TRACED && set->count) {
            status = RTL_READER_OK;
            set->launcher[i] = true;
        } else if (!status)
            status = add_process(set, &entry, attach, false);
    }
    if (!status && !set->count)
        status = explain_none(set, why, why_bytes);
    if (status) {
        rtl_process_set_close(set);
        return status;
    }
    *out = set;
    return RTL_READER_OK;
}

struct rtl_process_set *rtl_process_set_adopt(const struct rtl_options *options, pid_t pid, struct rtl_reader *reader)
{
    struct rtl_process_set *set = create_set(options);
    struct rtl_proc_entry entry = entry_of(pid);
    if (!set) {
        rtl_reader_close(reader);
        return NULL;
    }
    if (add_process(set, &entry, rtl_attach_adopt(options, pid, reader), false)) {
        rtl_process_set_close(set);
        return NULL;
    }
    set->launcher[0] = options->pid_count && options->pids[0] != pid;
    scan_for_new(set, true);
    return set;
}

void rtl_process_set_close(struct rtl_process_set *set)
{
    if (!set)
        return;
    for (uint32_t i = 0; i < set->count; i++)
        free_process(set->processes[i]);
    rtl_merge_free(set->merge);
    rtl_attach_backoff_free(&set->backoff);
    free(set->known);
    free(set);
}

/* --- watching --- */

/* True if processes may still come: more with the name, or children of a launcher that has none at the moment. */
static bool is_waiting(const struct rtl_process_set *set)
{
    if (set->options->all || set->options->process)
        return true;
    for (uint32_t i = 0; i < set->options->pid_count; i++)
        if (set->launcher[i] && rtl_proc_find(set->known, (int)set->known_count, set->options->pids[i]))
            return !set->options->launch || !rtl_launch_ended(set->options->launch); /* reaps it when it has ended */
    return false;
}

bool rtl_process_set_alive(struct rtl_process_set *set)
{
    bool any = false;
    for (uint32_t i = 0; i < set->count; i++) {
        struct watched_process *process = set->processes[i];
        bool alive = is_alive(process);
        if (!set->merge) { /* the caller reads a single process's last state; rtl_process_set_snapshot a merge's */
            process->end_unreported |= process->alive && !alive;
            if (process->alive && !alive)
                note_end(set, process);
            process->alive = alive;
        }
        any |= alive;
    }
    bool wanted = set->options->all || set->options->process || !set->options->no_children;
    if (wanted && ((!any && !set->merge) || rtl_mono_ns() >= set->scan_ns)) {
        scan_for_new(set, false);
        for (uint32_t i = 0; i < set->count; i++)
            any |= is_alive(set->processes[i]);
    }
    return any || is_waiting(set);
}

void rtl_process_set_on_join(struct rtl_process_set *set, rtl_process_set_listener *listener, void *context)
{
    set->listener = listener;
    set->listener_context = context;
}

bool rtl_process_set_poll(struct rtl_process_set *set)
{
    bool alive = rtl_process_set_alive(set);
    for (uint32_t i = set->count; i-- > 0;)
        if (set->processes[i]->alive && !is_alive(set->processes[i]))
            remove_process(set, i, false);
    return alive;
}

/* Merges a snapshot of the process, whose user pays for the memory. Also sends it to the sink if there is one. */
static enum rtl_reader_status read_process(struct rtl_process_set *set, struct watched_process *process, uint64_t now,
                                           bool alive, rtl_process_set_sink *sink)
{
    struct rtl_snapshot part;
    /* a recording needs complete snapshots, because it compares them itself; a last state must be exact */
    enum rtl_reader_status status = snapshot_of(process, &part, sink || !alive);
    process->retry = status != RTL_READER_OK;
    if (!status) {
        part.taken_mono_ns = now;
        process->was_read = true;
        process->retry = !rtl_merge_update(set->merge, process->member, &part);
        if (process->retry && process->attach.reader)
            rtl_reader_forget(process->attach.reader);
        if (sink)
            sink(set->sink_context, process->member, process->pid, &part, set->real_ns, !alive);
        uint64_t bytes = rtl_merge_memory(set->merge, process->member) +
                         (process->attach.reader ? rtl_reader_memory(process->attach.reader) : 0);
        process->too_large = !rtl_user_may_hold(process->user, &process->bytes, bytes);
        rtl_snapshot_free(&part);
        status = process->retry ? RTL_READER_USAGE : RTL_READER_OK;
    }
    return status;
}

/* While all users together exceed the limit, drops the largest process of the largest user. */
static void enforce_memory_limit(struct rtl_process_set *set)
{
    for (const struct rtl_user *user; (user = rtl_users_over_limit(&set->users));) {
        uint32_t most = set->count;
        for (uint32_t i = 0; i < set->count; i++)
            if (set->processes[i]->alive && set->processes[i]->user == user &&
                (most == set->count || set->processes[i]->bytes > set->processes[most]->bytes))
                most = i;
        if (most == set->count)
            return;
        remove_process(set, most, true);
        set->dropped++;
    }
}

/* Reads a process for a frame, unless a slice has read it (`begun`), and removes it if it has ended or is too large. */
static enum rtl_reader_status read_for_frame(struct rtl_process_set *set, uint32_t at, uint64_t now, bool begun)
{
    struct watched_process *process = set->processes[at];
    enum rtl_reader_status status = RTL_READER_OK;
    /* before the snapshot: after the end, the snapshot is the last state */
    bool alive = rtl_attach_alive(&process->attach);
    if (alive)
        refresh_info(set, process);
    bool done = begun && process->merged && !process->retry && alive && !set->sink;
    if (!done && !process->too_large)
        status = read_process(set, process, now, alive, set->sink);
    if (status == RTL_READER_USAGE)
        return status;
    set->dropped += process->too_large;
    if (!alive || status || process->too_large)
        remove_process(set, at, process->too_large);
    return status;
}

enum rtl_reader_status rtl_process_set_snapshot(struct rtl_process_set *set, struct rtl_snapshot *snapshot)
{
    bool begun = set->slice_ns != 0;
    if (!begun)
        set->real_ns = rtl_real_ns();
    if (!set->merge)
        return snapshot_of(set->processes[0], snapshot, true);
    uint64_t now = begun ? set->slice_ns : rtl_mono_ns();
    set->slice_ns = 0;
    for (uint32_t i = set->count; i-- > 0;) {
        struct watched_process *process = set->processes[i];
        struct rtl_user *user = process->user;
        if (!process->alive || !may_read(process))
            continue;
        uint64_t from = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        enum rtl_reader_status status = read_for_frame(set, i, now, begun);
        rtl_user_charge(user, rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from);
        if (status == RTL_READER_USAGE)
            return RTL_READER_USAGE;
    }
    enforce_memory_limit(set);
    return rtl_merge_make(set->merge, now, snapshot) ? RTL_READER_OK : RTL_READER_USAGE;
}

/* Merges processes and sums until `ns` have passed, at least one. False when all are merged. */
static bool merge_slice(struct rtl_process_set *set, uint64_t ns, uint64_t mono_ns)
{
    enum { SUMS_AT_ONCE = 100 };
    uint64_t from = rtl_mono_ns();
    bool any = false;
    for (uint32_t i = set->count; i-- > 0;) {
        struct watched_process *process = set->processes[i];
        if (!process->alive || process->merged)
            continue;
        if (any && rtl_mono_ns() - from >= ns)
            return true;
        any = process->merged = true;
        if (process->too_large || !may_read(process))
            continue;
        uint64_t cpu_ns = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        read_process(set, process, mono_ns, true, NULL); /* rtl_process_set_snapshot handles failures */
        rtl_user_charge(process->user, rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
    }
    while (rtl_merge_sum_some(set->merge, SUMS_AT_ONCE))
        if (rtl_mono_ns() - from >= ns)
            return true;
    return false;
}

bool rtl_process_set_load_slice(struct rtl_process_set *set, uint64_t ns)
{
    return set->merge && merge_slice(set, ns, rtl_mono_ns());
}

bool rtl_process_set_read_slice(struct rtl_process_set *set, uint64_t ns)
{
    if (!set->merge || set->sink)
        return false;
    if (!set->slice_ns) {
        set->slice_ns = rtl_mono_ns();
        set->real_ns = rtl_real_ns();
        for (uint32_t i = 0; i < set->count; i++)
            set->processes[i]->merged = false;
    }
    return merge_slice(set, ns, set->slice_ns);
}

uint32_t rtl_process_set_loaded(const struct rtl_process_set *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        count += set->processes[i]->alive && set->processes[i]->merged;
    return count;
}

enum rtl_reader_status rtl_process_set_snapshot_partial(struct rtl_process_set *set, struct rtl_snapshot *snapshot)
{
    set->real_ns = rtl_real_ns();
    return rtl_merge_make_partly(set->merge, rtl_mono_ns(), snapshot) ? RTL_READER_OK : RTL_READER_USAGE;
}

uint64_t rtl_process_set_real_ns(const struct rtl_process_set *set)
{
    return set->real_ns;
}

void rtl_process_set_on_snapshot(struct rtl_process_set *set, rtl_process_set_sink *sink, void *context)
{
    set->sink = sink;
    set->sink_context = context;
}

static struct watched_process *first_alive(const struct rtl_process_set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->processes[i]->alive)
            return set->processes[i];
    return set->processes[0];
}

void rtl_process_set_read_heartbeat(struct rtl_process_set *set, struct rtl_model *model)
{
    const struct watched_process *process = first_alive(set);
    const struct rtl_reader *reader = process->attach.reader;
    if (!model)
        return;
    model->watcher = rtl_control_writer(&process->control);
    model->wanted = reader ? rtl_mode_read(rtl_control_requested_mode(reader, &process->control)) : RTL_MODE_NONE;
    if (reader && model->latest && model->latest->snapshot.mode == RTL_MODE_CALLS)
        model->wanted = rtl_mode_with(true, model->wanted);
    if (reader && !process->control.page)
        snprintf(model->no_heartbeat, sizeof model->no_heartbeat, "%s",
                 process->control_refused ? "another user's process" : "no control page");
}

void rtl_process_set_send_heartbeat(struct rtl_process_set *set, struct rtl_model *model)
{
    rtl_process_set_read_heartbeat(set, model);
    for (uint32_t i = 0; i < set->count; i++)
        if (set->processes[i]->alive)
            rtl_control_heartbeat(&set->processes[i]->control);
}

enum rtl_reader_status rtl_process_set_request_mode(struct rtl_process_set *set, enum rtl_mode mode, uint32_t *asked,
                                                    char *why, size_t why_bytes)
{
    enum rtl_reader_status last = RTL_READER_EXITED;
    *asked = 0;
    snprintf(why, why_bytes, "all processes have ended");
    for (uint32_t i = 0; i < set->count; i++) {
        struct rtl_control_link link;
        const struct rtl_reader *reader = set->processes[i]->attach.reader;
        if (!set->processes[i]->alive || !rtl_attach_alive(&set->processes[i]->attach))
            continue;
        if (!reader && last == RTL_READER_EXITED)
            last = rtl_explain(RTL_READER_NOT_TRACED, why, why_bytes,
                               "process %d is only observed: without librtl.so it has no mode",
                               (int)set->processes[i]->pid);
        if (!reader || (last = rtl_control_open(reader, &link, why, why_bytes)) != RTL_READER_OK)
            continue;
        rtl_control_request_mode(reader, &link, mode);
        rtl_control_close(&link);
        ++*asked;
    }
    return *asked ? RTL_READER_OK : last;
}

uint32_t rtl_process_set_observed_pids(const struct rtl_process_set *set, pid_t *pids, uint32_t room)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count && count < room; i++)
        if (set->processes[i]->alive && !set->processes[i]->attach.reader)
            pids[count++] = set->processes[i]->pid;
    return count;
}

const struct rtl_restart *rtl_process_set_restart(struct rtl_process_set *set)
{
    pid_t pid;
    if (!rtl_process_set_observed_pids(set, &pid, 1))
        return NULL;
    if (pid != set->restart.pid)
        rtl_restart_read(pid, &set->restart);
    return &set->restart;
}

struct rtl_reader *rtl_process_set_reader(const struct rtl_process_set *set, uint32_t at, pid_t *pid)
{
    for (uint32_t i = 0; i < set->count; i++)
        if (set->processes[i]->attach.reader && !at--) {
            *pid = set->processes[i]->pid;
            return set->processes[i]->attach.reader;
        }
    return NULL;
}

bool rtl_process_set_is_single(const struct rtl_process_set *set)
{
    return !set->merge;
}

pid_t rtl_process_set_pid(const struct rtl_process_set *set)
{
    return first_alive(set)->pid;
}

uint32_t rtl_process_set_count(const struct rtl_process_set *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        count += set->processes[i]->alive;
    return count;
}

uint32_t rtl_process_set_left_out(const struct rtl_process_set *set)
{
    uint32_t count = set->without_place + set->dropped;
    for (uint32_t i = 0; i < set->count; i++)
        count += set->merge && set->processes[i]->alive && !set->processes[i]->was_read && !may_read(set->processes[i]);
    return count;
}

void rtl_process_set_explain_left_out(const struct rtl_process_set *set, char *out, size_t size)
{
    uint32_t count = rtl_process_set_left_out(set);
    snprintf(out, size,
             "%u process%s left out: the processes of %s user exceed their share of time, memory or places; rtl-top -p "
             "PID shows one",
             count, count == 1 ? " is" : "es are", count == 1 ? "its" : "their");
}

void rtl_process_set_title(const struct rtl_process_set *set, char *out, size_t size)
{
    char title[160];
    uint32_t count = rtl_process_set_count(set);
    rtl_proc_title(first_alive(set)->pid, "", title, sizeof title);
    uint32_t left_out = rtl_process_set_left_out(set);
    char also[32] = "";
    if (left_out)
        snprintf(also, sizeof also, " (%u left out)", left_out);
    if (!set->merge)
        snprintf(out, size, "%s%s", title, also);
    else
        snprintf(out, size, "%u process%s%s: %.100s", (unsigned)count, count == 1 ? "" : "es", also, title);
}
