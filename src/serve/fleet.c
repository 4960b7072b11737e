/* All traced and observed processes. See fleet.h. */
#include "serve/fleet.h"
#include "base/array.h"
#include "base/clock.h"
#include "shm/hip_api_reader.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t INFO_NS = 10 * RTL_SEC;

struct rtl_fleet *rtl_fleet_create(uint32_t most, const struct rtl_options *only, bool wake, bool observe)
{
    struct rtl_fleet *fleet = calloc(1, sizeof *fleet);
    if (!fleet || !rtl_totals_init(&fleet->totals, most)) {
        free(fleet);
        return NULL;
    }
    fleet->only = only;
    fleet->wake = wake;
    fleet->observe = observe;
    fleet->users.own = geteuid();
    rtl_options_default(&fleet->outside);
    fleet->outside.observe = 1;
    return fleet;
}

static void close_kernels(struct rtl_fleet *fleet, struct rtl_served *s)
{
    if (s->series)
        rtl_totals_release(&fleet->totals, s->series);
    free(s->series);
    s->series = NULL;
    rtl_user_release_names(s->user, s->names);
    rtl_user_may_hold(s->user, &s->bytes, 0);
    rtl_step_log_forget(&s->steps.log);
    s->steps = (struct rtl_served_steps){.kernel = 0};
    s->names = 0;
    rtl_snapshot_free(&s->snapshot); /* before rtl_attach_close: it points to names of the reader */
    s->has_snapshot = false;
    if (s->attach.reader)
        rtl_control_close(&s->control);
    rtl_attach_close(&s->attach);
}

static void close_calls(struct rtl_served *s)
{
    rtl_user_may_hold(s->user, &s->api_bytes, 0);
    rtl_snapshot_free(&s->calls);
    if (s->api >= 0)
        close(s->api);
    s->api = -1;
}

static void remove_served(struct rtl_fleet *fleet, uint32_t at)
{
    struct rtl_served *s = fleet->served[at];
    close_kernels(fleet, s);
    close_calls(s);
    s->user->processes--;
    free(s);
    fleet->served[at] = fleet->served[--fleet->count];
}

void rtl_fleet_free(struct rtl_fleet *fleet)
{
    if (!fleet)
        return;
    while (fleet->count)
        remove_served(fleet, fleet->count - 1);
    rtl_totals_free(&fleet->totals);
    free(fleet->all);
    free(fleet->evicted);
    free(fleet);
}

/* --- reading --- */

static bool has_kernels(const struct rtl_served *s)
{
    return s->attach.reader || s->attach.observer;
}

/* Busy and idle times of an observed process are estimates: they must not be added to measured times. */
static void leave_out_estimates(struct rtl_snapshot *s)
{
    for (uint32_t i = 0; i < s->agent_count; i++) {
        s->agents[i].busy_ns = 0;
        memset(s->agents[i].idle, 0, sizeof s->agents[i].idle);
    }
}

/* Names of an observed process belong to the observer and are not charged. */
static uint64_t memory_of_kernels(const struct rtl_served *s, const struct rtl_snapshot *now)
{
    uint64_t bytes =
        RTL_KERNELS_MAX * sizeof *s->series + rtl_snapshot_memory(now) + rtl_step_log_memory(&s->steps.log);
    return bytes + (s->attach.reader ? rtl_reader_memory(s->attach.reader) : 0);
}

/* Stop reading a process that exceeds its quota; its counters so far stay. */
static void stop_serving(struct rtl_fleet *fleet, struct rtl_served *s)
{
    if (has_kernels(s))
        close_kernels(fleet, s);
    close_calls(s);
    s->damaged = s->too_large = true;
}

/* While all users together exceed the limit, stop reading the largest process of the largest user. */
static void enforce_memory_limit(struct rtl_fleet *fleet)
{
    for (const struct rtl_user *user; (user = rtl_users_over_limit(&fleet->users));) {
        struct rtl_served *most = NULL;
        for (uint32_t i = 0; i < fleet->count; i++) {
            struct rtl_served *s = fleet->served[i];
            if (s->user == user && (!most || s->bytes + s->api_bytes > most->bytes + most->api_bytes))
                most = s;
        }
        if (!most)
            return;
        stop_serving(fleet, most);
    }
}

/* Add credit for the time since the last call, at first since the process's start. */
static void update_credit(struct rtl_served *s)
{
    uint64_t now = rtl_clock_ns(CLOCK_BOOTTIME), from = s->credited_ns;
    if (!from)
        from = s->start_time * (RTL_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
    if (from < now)
        rtl_credit_add(&s->credit, now - from);
    else if (!s->credited_ns)
        rtl_credit_add(&s->credit, now);
    s->credited_ns = now;
}

/* Return the share for the next growth; end_share charges what was used. */
static struct rtl_share begin_share(const struct rtl_fleet *fleet, struct rtl_served *s)
{
    struct rtl_share share = rtl_user_share(s->user, &fleet->totals, s->names);
    update_credit(s);
    share.credit = s->credit;
    return share;
}

static void end_share(struct rtl_fleet *fleet, struct rtl_served *s, const struct rtl_share *before,
                      const struct rtl_share *after)
{
    rtl_user_charge_share(s->user, &s->names, before, after);
    s->credit = after->credit;
    fleet->refused += after->refused;
    fleet->untrue += after->untrue;
}

void rtl_served_steps_add(struct rtl_served_steps *steps, const struct rtl_snapshot *snapshot, const char *pattern)
{
    uint64_t runs = 0, kernel = 0;
    if (!pattern)
        rtl_step_log_add(&steps->log, snapshot, 1);
    for (uint32_t i = 0; i < snapshot->kernel_count; i++) {
        const struct rtl_kernel_snapshot *k = &snapshot->kernels[i];
        uint64_t key = rtl_step_kernel_key(k->id);
        if (pattern ? !rtl_text_contains(k->name, pattern) : steps->log.choice != key)
            continue;
        kernel = key;
        runs += k->calls;
    }
    bool same = kernel && kernel == steps->kernel && runs >= steps->runs;
    if (same && runs == steps->runs)
        return; /* no step ended: its time counts on from at_ns */
    steps->mean_ns = same ? (snapshot->taken_mono_ns - steps->at_ns) / (runs - steps->runs) : 0;
    steps->kernel = kernel;
    steps->runs = runs;
    steps->at_ns = snapshot->taken_mono_ns;
}

/* A damaged segment is closed and adds nothing any more. */
static void read_kernels(struct rtl_fleet *fleet, struct rtl_served *s)
{
    struct rtl_snapshot now = {0};
    if (!has_kernels(s))
        return;
    enum rtl_reader_status status = rtl_attach_snapshot(&s->attach, &now);
    if (status == RTL_READER_VERSION) {
        close_kernels(fleet, s);
        s->damaged = true;
    }
    if (status != RTL_READER_OK)
        return;
    if (!rtl_user_may_hold(s->user, &s->bytes, memory_of_kernels(s, &now))) {
        rtl_snapshot_free(&now);
        stop_serving(fleet, s);
        return;
    }
    if (s->attach.observer)
        leave_out_estimates(&now);
    struct rtl_share share = begin_share(fleet, s), before = share;
    rtl_totals_add(&fleet->totals, s->has_snapshot ? &s->snapshot : s->returned ? &now : NULL, &now, s->series, &share);
    s->returned = false;
    end_share(fleet, s, &before, &share);
    rtl_snapshot_free(&s->snapshot);
    s->snapshot = now;
    s->has_snapshot = true;
    rtl_served_steps_add(&s->steps, &s->snapshot, fleet->only->step);
}

static void read_calls(struct rtl_fleet *fleet, struct rtl_served *s)
{
    const struct rtl_hip_api_request request = {.pid = s->pid, .without_links = true};
    struct rtl_snapshot now = {0};
    if (s->api < 0)
        return;
    bool fine = rtl_hip_api_read(s->api, &request, &now, NULL, 0) == RTL_READER_OK;
    if (!fine || !rtl_user_may_hold(s->user, &s->api_bytes, rtl_snapshot_memory(&now))) {
        rtl_snapshot_free(&now);
        s->too_large |= fine;
        if (fine)
            close_calls(s);
        return;
    }
    struct rtl_share share = begin_share(fleet, s), before = share;
    rtl_user_share_calls(s->user, &fleet->totals, &share);
    rtl_totals_add_calls(&fleet->totals, s->calls_returned ? now.hip_api : s->calls.hip_api, now.hip_api, &share);
    s->calls_returned = false;
    end_share(fleet, s, &before, &share);
    rtl_snapshot_free(&s->calls);
    s->calls = now;
}

static void read_process(struct rtl_fleet *fleet, struct rtl_served *s)
{
    uint64_t from = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    read_kernels(fleet, s);
    read_calls(fleet, s);
    enforce_memory_limit(fleet);
    s->cost_ns = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    s->read_ns = rtl_mono_ns();
    s->late = false;
    rtl_user_charge(s->user, s->cost_ns);
}

/* Cheapest first, then the oldest read; costs within a factor of two count as equal. */
static int compare_turns(const void *a, const void *b)
{
    const struct rtl_served *x = *(struct rtl_served *const *)a, *y = *(struct rtl_served *const *)b;
    int of_x = 64 - __builtin_clzll(x->cost_ns | 1 << 20), of_y = 64 - __builtin_clzll(y->cost_ns | 1 << 20);
    return of_x != of_y ? of_x - of_y : (x->read_ns > y->read_ns) - (x->read_ns < y->read_ns);
}

void rtl_fleet_collect(struct rtl_fleet *fleet)
{
    struct rtl_served *turn[RTL_SERVED_MAX];
    uint64_t until = rtl_mono_ns() + RTL_COLLECT_NS;
    memcpy(turn, fleet->served, fleet->count * sizeof *turn);
    qsort(turn, fleet->count, sizeof *turn, compare_turns);
    for (uint32_t i = 0; i < fleet->count; i++) {
        uint64_t now = rtl_mono_ns();
        if (turn[i]->ended_ns)
            continue;
        turn[i]->late = now >= until || !rtl_user_may_read(turn[i]->user, now);
        if (!turn[i]->late)
            read_process(fleet, turn[i]);
    }
    rtl_totals_settle(&fleet->totals, rtl_mono_ns());
}

/* --- starts and ends --- */

/* Read the last numbers of an ended process when its user's quota allows it, then remove it; give up after a while. */
static void finish_process(struct rtl_fleet *fleet, uint32_t at)
{
    struct rtl_served *s = fleet->served[at];
    uint64_t now = rtl_mono_ns();
    s->ended_ns = s->ended_ns ? s->ended_ns : now;
    bool may_read = rtl_user_may_read(s->user, now);
    if (!may_read && now - s->ended_ns < RTL_ENDED_KEPT_NS)
        return;
    if (may_read) {
        read_process(fleet, s);
        rtl_totals_settle(&fleet->totals, rtl_mono_ns());
    } else {
        fleet->unread++;
    }
    remove_served(fleet, at);
    fleet->ended++;
}

static uint64_t inode_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) ? 0 : (uint64_t)st.st_ino;
}

/* Open the API segment, which appears with the first call; after an exec there is a new one. */
static void find_calls(struct rtl_fleet *fleet, struct rtl_served *s)
{
    int fd;
    if (s->too_large || rtl_hip_api_open(s->pid, &fd, NULL, 0) != RTL_READER_OK)
        return;
    if (s->api >= 0 && inode_of(fd) == s->api_inode) {
        close(fd);
        return;
    }
    read_calls(fleet, s);
    close_calls(s);
    s->api = fd;
    s->api_inode = inode_of(fd);
}

static void find_kernels(struct rtl_fleet *fleet, struct rtl_served *s)
{
    if (has_kernels(s) && !rtl_attach_alive(&s->attach)) { /* after an exec */
        if (rtl_user_may_read(s->user, rtl_mono_ns()))
            read_process(fleet, s);
        else
            fleet->unread++;
        close_kernels(fleet, s);
    }
    if (has_kernels(s) || s->damaged)
        return;
    enum rtl_reader_status status = rtl_reader_try(s->pid, &s->attach.reader);
    if (status != RTL_READER_OK && (!fleet->observe || status != RTL_READER_NOT_TRACED ||
                                    !rtl_attach_try(&fleet->outside, s->pid, s->start_time, &s->attach)))
        return;
    s->series = calloc(RTL_KERNELS_MAX, sizeof *s->series);
    if (!s->series) {
        rtl_attach_close(&s->attach);
        return;
    }
    if (s->attach.reader)
        rtl_control_open(s->attach.reader, &s->control, NULL, 0);
    memset(&s->snapshot, 0, sizeof s->snapshot);
}

static struct rtl_served *find_served(const struct rtl_fleet *fleet, const struct rtl_proc_entry *e)
{
    for (uint32_t i = 0; i < fleet->count; i++)
        if (fleet->served[i]->pid == e->pid && fleet->served[i]->start_time == e->start_time)
            return fleet->served[i];
    return NULL;
}

/* True if the options choose the process or one of its ancestors, or if it is served already. */
static bool is_chosen(const struct rtl_fleet *fleet, const struct rtl_proc_entry *e)
{
    enum { GENERATIONS = 64 };
    const struct rtl_options *o = fleet->only;
    if (!rtl_options_name_process(o) || find_served(fleet, e))
        return true;
    for (int left = GENERATIONS; left > 0 && e; left--) {
        for (uint32_t i = 0; i < o->pid_count; i++)
            if (o->pids[i] == e->pid)
                return true;
        if (o->process && e->pid != getpid() && rtl_proc_has_name(e->pid, o->process))
            return true;
        e = rtl_proc_find(fleet->all, (uint32_t)fleet->all_count, e->parent);
    }
    return false;
}

/* True if the current scan found the process. */
static bool is_running(const struct rtl_fleet *fleet, pid_t pid, uint64_t start_time)
{
    return rtl_proc_is_among(fleet->all, (uint32_t)fleet->all_count, pid, start_time);
}

/* Return the uid that pays for the process. Considers only the segments that are open. */
static uid_t who_pays(const struct rtl_fleet *fleet, const struct rtl_served *s)
{
    uid_t makers[2], own = fleet->users.own;
    struct stat st;
    makers[0] = s->attach.reader ? rtl_reader_maker(s->attach.reader) : own;
    makers[1] = s->api >= 0 && !fstat(s->api, &st) ? st.st_uid : own;
    return rtl_user_who_pays(own, s->pid, makers, 2);
}

/* --- places --- */

static struct rtl_proc_entry *find_evicted(const struct rtl_fleet *fleet, const struct rtl_served *s)
{
    for (uint32_t i = 0; i < fleet->evicted_count; i++)
        if (fleet->evicted[i].pid == s->pid && fleet->evicted[i].start_time == s->start_time)
            return &fleet->evicted[i];
    return NULL;
}

/* Remove the user's youngest process and remember it, so that nothing is added twice if it gets a place again. */
static bool evict_process(struct rtl_fleet *fleet, const struct rtl_user *user)
{
    uint32_t at = fleet->count;
    for (uint32_t i = 0; i < fleet->count; i++)
        if (fleet->served[i]->user == user &&
            (at == fleet->count || fleet->served[i]->start_time >= fleet->served[at]->start_time))
            at = i;
    if (at == fleet->count ||
        !rtl_grow(&fleet->evicted, &fleet->evicted_room, fleet->evicted_count + 1, sizeof *fleet->evicted))
        return false;
    struct rtl_served *s = fleet->served[at];
    if (s->ended_ns) {
        fleet->ended++;
        fleet->unread++;
    } else {
        fleet->evicted[fleet->evicted_count++] = (struct rtl_proc_entry){.pid = s->pid, .start_time = s->start_time};
    }
    remove_served(fleet, at);
    return true;
}

/* Add a new process if there is a place, or another user has more processes than this one. */
static void add_served(struct rtl_fleet *fleet, struct rtl_served *fresh)
{
    const struct rtl_user *out;
    struct rtl_served *s = NULL;
    if (rtl_user_may_add_process(&fleet->users, fresh->user, fleet->count == RTL_SERVED_MAX, &out) &&
        (!out || evict_process(fleet, out)))
        s = malloc(sizeof *s);
    if (!s) {
        close_kernels(fleet, fresh);
        close_calls(fresh);
        fleet->leaving_out++;
        return;
    }
    *s = *fresh;
    s->user->processes++;
    fleet->served[fleet->count++] = s;
    struct rtl_proc_entry *before = find_evicted(fleet, s);
    if (before) {
        s->returned = s->calls_returned = true;
        *before = fleet->evicted[--fleet->evicted_count];
    }
}

/* Move the process to the account that pays now, but never from an account with limits to one without. */
static void change_user(struct rtl_fleet *fleet, struct rtl_served *s, uid_t uid)
{
    if (uid == fleet->users.own || uid == (uid_t)-1)
        return;
    struct rtl_user *user = rtl_user_of(&fleet->users, uid, rtl_mono_ns());
    if (user == s->user)
        return;
    rtl_user_release_names(s->user, s->names);
    s->user->processes--;
    s->user->bytes -= s->bytes + s->api_bytes;
    s->user = user;
    user->names += s->names;
    user->processes++;
    user->bytes += s->bytes + s->api_bytes;
}

/* Check a process for segments. Its user pays for the time, unless it has none and the check was short. */
static void check_process(struct rtl_fleet *fleet, const struct rtl_proc_entry *e)
{
    uint64_t from = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID), now = rtl_mono_ns();
    struct rtl_served *s = find_served(fleet, e), fresh = {.pid = e->pid, .start_time = e->start_time, .api = -1};
    struct rtl_served *one = s ? s : &fresh;
    struct rtl_user nobody = {0};
    uid_t uid = s ? s->user->uid : who_pays(fleet, one);
    struct rtl_user *user = s ? s->user : rtl_user_known(&fleet->users, uid);
    fresh.user = &nobody;
    if (one->ended_ns || (user && !rtl_user_may_read(user, now)))
        return;
    find_kernels(fleet, one);
    find_calls(fleet, one);
    bool has_any = has_kernels(one) || one->api >= 0;
    if (has_any)
        uid = who_pays(fleet, one);
    if (one->info_ns <= now && has_any) {
        rtl_proc_member_info(one->pid, one->attach.reader, &one->info);
        one->info_ns = now + INFO_NS;
    }
    uint64_t took = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    if (s)
        change_user(fleet, s, uid);
    user = s ? s->user : rtl_user_known(&fleet->users, uid);
    if (!user && (has_any || took >= RTL_CHECK_FREE_NS))
        user = rtl_user_of(&fleet->users, uid, now);
    if (user)
        rtl_user_charge(user, took);
    if (!s && has_any) {
        fresh.user = user;
        add_served(fleet, &fresh);
    }
}

static void begin_scan(struct rtl_fleet *fleet)
{
    fleet->scan_took_ns = 0;
    fleet->all_at = 0;
    fleet->leaving_out = 0;
    fleet->all_count = rtl_proc_scan(&fleet->all);
    if (fleet->all_count < 0)
        fleet->all = NULL;
    for (uint32_t i = fleet->count; fleet->all && i-- > 0;) {
        struct rtl_served *s = fleet->served[i];
        if (!s->ended_ns && !is_running(fleet, s->pid, s->start_time))
            s->ended_ns = rtl_mono_ns();
    }
    for (uint32_t i = fleet->evicted_count; fleet->all && i-- > 0;)
        if (!is_running(fleet, fleet->evicted[i].pid, fleet->evicted[i].start_time))
            fleet->evicted[i] = fleet->evicted[--fleet->evicted_count];
}

/* Continue the scan until a time. The duration of all its parts determines when the next scan begins. */
static void continue_scan(struct rtl_fleet *fleet, uint64_t until)
{
    uint64_t from = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    if (!fleet->all)
        begin_scan(fleet);
    while (fleet->all && fleet->all_at < fleet->all_count && rtl_mono_ns() < until) {
        const struct rtl_proc_entry *e = &fleet->all[fleet->all_at++];
        if (is_chosen(fleet, e))
            check_process(fleet, e);
    }
    fleet->scan_took_ns += rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
    if (fleet->all && fleet->all_at < fleet->all_count)
        return;
    free(fleet->all);
    fleet->all = NULL;
    fleet->left_out = fleet->leaving_out;
    fleet->scan_ns = rtl_mono_ns() + rtl_proc_scan_pause(fleet->scan_took_ns, RTL_SEC);
}

bool rtl_fleet_tick(struct rtl_fleet *fleet)
{
    uint64_t until = rtl_mono_ns() + RTL_TICK_NS;
    bool more = false;
    for (uint32_t i = fleet->count; i-- > 0;) {
        struct rtl_served *s = fleet->served[i];
        bool over = s->ended_ns || (has_kernels(s) && !rtl_attach_alive_charged(&s->attach, s->user));
        if (over && rtl_mono_ns() < until)
            finish_process(fleet, i);
        else if (over)
            more = true;
        else if (s->attach.reader && fleet->wake)
            rtl_control_heartbeat(&s->control);
    }
    if (rtl_mono_ns() >= fleet->scan_ns)
        continue_scan(fleet, until);
    return more || fleet->all;
}
