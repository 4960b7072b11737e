/* The traced processes of the machine. See fleet.h. */
#include "serve/fleet.h"
#include "base/clock.h"
#include "session/processes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_SHARE = 100, LOOK_PAUSE_SECONDS = 10 };
static const uint64_t SECOND = 1000000000, INFO_NS = 10000000000;

struct rtl_fleet *rtl_fleet_create(uint32_t most, const struct rtl_options *only, bool wake)
{
    struct rtl_fleet *fleet = calloc(1, sizeof *fleet);
    if (!fleet || !rtl_totals_init(&fleet->totals, most)) {
        free(fleet);
        return NULL;
    }
    fleet->only = only;
    fleet->wake = wake;
    return fleet;
}

static void close_kernels(struct rtl_served *s)
{
    if (!s->reader)
        return;
    rtl_snapshot_free(&s->snapshot); /* has the reader's names */
    s->has_snapshot = false;
    rtl_heartbeat_close(&s->heartbeat);
    rtl_reader_close(s->reader);
    s->reader = NULL;
    free(s->series);
    s->series = NULL;
}

static void close_calls(struct rtl_served *s)
{
    rtl_api_free(&s->calls);
    if (s->api >= 0)
        close(s->api);
    s->api = -1;
}

static void drop(struct rtl_served *s)
{
    close_kernels(s);
    close_calls(s);
    free(s);
}

void rtl_fleet_free(struct rtl_fleet *fleet)
{
    if (!fleet)
        return;
    for (uint32_t i = 0; i < fleet->count; i++)
        drop(fleet->served[i]);
    rtl_totals_free(&fleet->totals);
    free(fleet);
}

/* --- reading --- */

/* A damaged segment adds nothing from then on. */
static void read_kernels(struct rtl_fleet *fleet, struct rtl_served *s)
{
    struct rtl_snapshot now = {0};
    if (!s->reader)
        return;
    enum rtl_reader_status status = rtl_reader_snapshot(s->reader, &now);
    if (status == RTL_READER_VERSION) {
        close_kernels(s);
        s->damaged = true;
    }
    if (status != RTL_READER_OK)
        return;
    rtl_totals_add(&fleet->totals, s->has_snapshot ? &s->snapshot : NULL, &now, s->series);
    rtl_snapshot_free(&s->snapshot);
    s->snapshot = now;
    s->has_snapshot = true;
}

static void read_calls(struct rtl_fleet *fleet, struct rtl_served *s)
{
    struct rtl_api_copy now;
    if (s->api < 0)
        return;
    if (rtl_api_read(s->api, &now, NULL, 0) != RTL_READER_OK) {
        rtl_api_free(&now);
        return;
    }
    rtl_totals_add_calls(&fleet->totals, s->calls.rows ? &s->calls : NULL, &now);
    rtl_api_free(&s->calls);
    s->calls = now;
}

void rtl_fleet_collect(struct rtl_fleet *fleet)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        read_kernels(fleet, fleet->served[i]);
        read_calls(fleet, fleet->served[i]);
    }
    rtl_totals_settle(&fleet->totals, rtl_mono_ns());
}

/* --- coming and going --- */

static void end(struct rtl_fleet *fleet, uint32_t at)
{
    struct rtl_served *s = fleet->served[at];
    read_kernels(fleet, s);
    read_calls(fleet, s);
    rtl_totals_settle(&fleet->totals, rtl_mono_ns());
    drop(s);
    fleet->served[at] = fleet->served[--fleet->count];
    fleet->ended++;
}

static uint64_t inode_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) ? 0 : (uint64_t)st.st_ino;
}

/* A first call comes at any time, and a program that is executed in another's place has calls of its own. */
static void look_for_calls(struct rtl_fleet *fleet, struct rtl_served *s)
{
    int fd;
    if (rtl_api_open(s->pid, &fd, NULL, 0) != RTL_READER_OK)
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

static void look_for_kernels(struct rtl_fleet *fleet, struct rtl_served *s)
{
    if (s->reader && !rtl_reader_alive(s->reader)) {
        read_kernels(fleet, s);
        close_kernels(s);
    }
    if (s->reader || s->damaged || rtl_reader_try(s->pid, &s->reader) != RTL_READER_OK)
        return;
    s->series = calloc(RTL_KERNELS_MAX, sizeof *s->series);
    if (!s->series) {
        rtl_reader_close(s->reader);
        s->reader = NULL;
        return;
    }
    rtl_heartbeat_open(&s->heartbeat, s->reader);
    memset(&s->snapshot, 0, sizeof s->snapshot);
}

static struct rtl_served *find(const struct rtl_fleet *fleet, const struct rtl_process_entry *e)
{
    for (uint32_t i = 0; i < fleet->count; i++)
        if (fleet->served[i]->pid == e->pid && fleet->served[i]->start_time == e->start_time)
            return fleet->served[i];
    return NULL;
}

/* Whether the options are about it: itself, what it descends from, or it was before. */
static bool is_asked_for(const struct rtl_fleet *fleet, const struct rtl_process_entry *all, int count, int at)
{
    enum { GENERATIONS = 64 };
    const struct rtl_options *o = fleet->only;
    if (!rtl_options_name_process(o) || find(fleet, &all[at]))
        return true;
    for (int left = GENERATIONS; left > 0 && at >= 0; left--) {
        int parent = count - 1;
        for (uint32_t i = 0; i < o->pid_count; i++)
            if (o->pids[i] == all[at].pid)
                return true;
        if (o->process && all[at].pid != getpid() && rtl_process_has_name(all[at].pid, o->process))
            return true;
        while (parent >= 0 && all[parent].pid != all[at].parent)
            parent--;
        at = parent;
    }
    return false;
}

static bool is_running(const struct rtl_process_entry *all, int count, const struct rtl_served *s)
{
    for (int i = 0; i < count; i++)
        if (all[i].pid == s->pid && all[i].start_time == s->start_time)
            return true;
    return false;
}

static void look_at(struct rtl_fleet *fleet, const struct rtl_process_entry *e, uint64_t now)
{
    struct rtl_served *s = find(fleet, e), fresh = {.pid = e->pid, .start_time = e->start_time, .api = -1};
    struct rtl_served *one = s ? s : &fresh;
    look_for_kernels(fleet, one);
    look_for_calls(fleet, one);
    if (one->info_ns <= now && (one->reader || one->api >= 0)) {
        rtl_process_info(one->pid, &one->info);
        one->info_ns = now + INFO_NS;
    }
    if (s || (!fresh.reader && fresh.api < 0))
        return;
    s = fleet->count < RTL_SERVED_MAX ? malloc(sizeof *s) : NULL;
    if (!s) {
        close_kernels(&fresh);
        close_calls(&fresh);
        fleet->left_out++;
        return;
    }
    *s = fresh;
    s->heartbeat.reader = s->reader;
    fleet->served[fleet->count++] = s;
}

static void look(struct rtl_fleet *fleet)
{
    struct rtl_process_entry *all;
    uint64_t now = rtl_mono_ns(), from = rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int count = rtl_processes(&all);
    for (uint32_t i = fleet->count; count >= 0 && i-- > 0;)
        if (!is_running(all, count, fleet->served[i]))
            end(fleet, i);
    fleet->left_out = 0;
    for (int i = 0; i < count; i++)
        if (is_asked_for(fleet, all, count, i))
            look_at(fleet, &all[i], now);
    if (count >= 0)
        free(all);
    uint64_t pause = (rtl_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from) * LOOK_SHARE, most = LOOK_PAUSE_SECONDS * SECOND;
    fleet->look_ns = rtl_mono_ns() + (pause < SECOND ? SECOND : pause < most ? pause : most);
}

void rtl_fleet_tick(struct rtl_fleet *fleet)
{
    for (uint32_t i = fleet->count; i-- > 0;) {
        struct rtl_served *s = fleet->served[i];
        if (s->reader && !rtl_reader_alive(s->reader))
            end(fleet, i);
        else if (s->reader && fleet->wake)
            rtl_heartbeat_send(&s->heartbeat, NULL);
    }
    if (rtl_mono_ns() >= fleet->look_ns)
        look(fleet);
}
