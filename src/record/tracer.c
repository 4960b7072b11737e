/* The recorder's thread. See tracer.h. */
#include "record/tracer.h"
#include "base/clock.h"
#include "shm/hip_api_reader.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    BUFFER = 65536, /* records: 8 MB with their links, and 2.3 MB of the file a transaction */
    MS = 1000000,
    WRITE_NS = 250 * MS,
    PAUSE_MIN = MS / 4,
    PAUSE_MAX = 10 * MS,
    ALIVE_NS = 20 * MS,
};

struct rtl_tracer {
    pthread_t thread;
    _Atomic bool stop;  /* the owner asks the thread to end */
    _Atomic bool leave; /* end at once: drop the records in the ring */
    _Atomic bool over;  /* the thread has ended */
    struct rtl_reader *reader;
    struct rtl_db *db;
    struct rtl_rocpd *rocpd;
    struct rtl_rocpd_state state;
    struct rtl_tracer_result result; /* owned by the thread until it has ended */
    uint64_t sample_ns;
    int api;                         /* the API segment, or -1 */
    struct rtl_linked_event *buffer; /* [BUFFER] */
};

/* Tracers of one process take turns: SQLite's lock is not fair, and one of many tracers would time out. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static bool write_out(struct rtl_tracer *t, uint32_t count)
{
    pthread_mutex_lock(&turn);
    enum rtl_db_status status = rtl_rocpd_write_linked(t->rocpd, t->buffer, count, &t->state, &t->leave);
    pthread_mutex_unlock(&turn);
    if (status == RTL_DB_OK) {
        t->result.state = t->state;
        return true;
    }
    t->result.status = (int)status;
    snprintf(t->result.why, sizeof t->result.why, "%s (%llu dispatches and copies are in it, %u more are not)",
             rtl_db_why(t->db), (unsigned long long)t->result.state.rows, count);
    return false;
}

/* Return a pause in which, at the current rate, at most a quarter of the ring fills. */
static uint64_t choose_pause(uint64_t capacity, uint64_t came, uint64_t span)
{
    uint64_t pause = came ? span * (capacity / 4) / came : PAUSE_MAX;
    if (pause < PAUSE_MIN)
        return PAUSE_MIN;
    return pause < PAUSE_MAX ? pause : PAUSE_MAX;
}

static void *record_trace(void *data)
{
    struct rtl_tracer *t = data;
    uint64_t capacity = rtl_reader_events_capacity(t->reader), left = capacity;
    uint64_t now = rtl_mono_ns(), before = now, written = now, sampled = 0, asked = 0;
    uint32_t have = 0;
    for (bool alive = true, stop = false; !t->result.status;) {
        stop = stop || atomic_load(&t->stop);
        if (now - asked >= ALIVE_NS) {
            alive = alive && rtl_reader_alive(t->reader); /* checked before reading, so the last records are read */
            asked = now;
        }
        rtl_rocpd_read_clocks(t->rocpd); /* before reading: records read earlier precede a suspend */
        uint32_t n = rtl_reader_linked_events(t->reader, &t->state.events, t->buffer + have, BUFFER - have);
        bool full = !rtl_rocpd_read_calls(t->rocpd); /* after the records: the calls that submitted them */
        have += n;
        if (stop) /* read at most the ring's capacity from a process that keeps running */
            left -= n < left ? n : left;
        bool last = (!alive && !n) || (stop && (!n || !left)) || atomic_load(&t->leave);
        if (now - sampled >= t->sample_ns || last) {
            rtl_rocpd_sample_depths(t->rocpd);
            sampled = now;
        }
        if (last)
            t->state.end = alive ? "stopped" : "the process ended";
        if (have == BUFFER || full || now - written >= WRITE_NS || last) {
            if (!write_out(t, have) || last) {
                t->result.exited = !alive;
                break;
            }
            have = 0;
            written = now;
        }
        now = rtl_mono_ns();
        if (n < BUFFER / 4 && alive && !stop) {
            uint64_t pause = choose_pause(capacity, n, now - before);
            nanosleep(&(struct timespec){.tv_nsec = (long)pause}, NULL);
        } else if (!alive && !n) {
            asked = 0;
        }
        before = now;
        now = rtl_mono_ns();
    }
    atomic_store(&t->over, true);
    return NULL;
}

static int free_tracer(struct rtl_tracer *t, int status)
{
    if (t) {
        rtl_rocpd_free(t->rocpd);
        rtl_db_close(t->db);
        rtl_reader_close(t->reader);
        if (t->api >= 0)
            close(t->api);
        free(t->buffer);
    }
    free(t);
    return status;
}

int rtl_tracer_start(const struct rtl_tracer_options *o, struct rtl_tracer **out, char *why, size_t why_bytes)
{
    static const char *const no_memory = "out of memory";
    struct rtl_tracer *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t || !(t->buffer = malloc(BUFFER * sizeof *t->buffer))) {
        snprintf(why, why_bytes, "%s", no_memory);
        return free_tracer(t, RTL_READER_USAGE);
    }
    t->sample_ns = o->sample_ns;
    t->api = -1;
    int status = (int)rtl_reader_open(o->pid, &t->reader, why, why_bytes);
    if (status)
        return free_tracer(t, status);
    if (!rtl_reader_events_begin(t->reader, &t->state.events)) {
        snprintf(
            why, why_bytes,
            "process %d has no event ring to trace: start it with RTL_TRACE=1 in its environment (man librtl); its "
            "statistics can be watched without one",
            (int)o->pid);
        return free_tracer(t, RTL_READER_NO_RING);
    }
    rtl_reader_clocks(t->reader, true); /* all recordings in a file use the host's clock */
    struct rtl_db_options options = {.write = true, .force = o->force, .page_bytes = RTL_ROCPD_PAGE};
    status = (int)rtl_db_open(o->file, &options, &t->db, why, why_bytes);
    if (status)
        return free_tracer(t, status);
    t->rocpd = rtl_rocpd_begin(t->db, t->reader, o->pid, o->title, o->escape);
    if (!t->rocpd) {
        snprintf(why, why_bytes, "%s", rtl_db_why(t->db));
        return free_tracer(t, rtl_db_status(t->db) ? (int)rtl_db_status(t->db) : RTL_READER_USAGE);
    }
    /* without an API segment no calls are recorded */
    if (rtl_hip_api_open(o->pid, &t->api, NULL, 0) == RTL_READER_OK && !rtl_rocpd_follow_calls(t->rocpd, t->api)) {
        snprintf(why, why_bytes, "%s", no_memory);
        return free_tracer(t, RTL_READER_USAGE);
    }
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals go to the other threads */
    int error = pthread_create(&t->thread, NULL, record_trace, t);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error) {
        snprintf(why, why_bytes, "cannot start a thread: %s", strerror(error));
        return free_tracer(t, RTL_READER_USAGE);
    }
    *out = t;
    return 0;
}

bool rtl_tracer_running(struct rtl_tracer *t)
{
    return !atomic_load(&t->over);
}

const char *rtl_tracer_trouble(struct rtl_tracer *t)
{
    return atomic_load(&t->over) && t->result.status ? t->result.why : NULL;
}

void rtl_tracer_end(struct rtl_tracer *t, bool at_once)
{
    atomic_store(&t->stop, true);
    if (at_once)
        atomic_store(&t->leave, true);
}

struct rtl_tracer_result rtl_tracer_stop(struct rtl_tracer *t)
{
    rtl_tracer_end(t, false);
    pthread_join(t->thread, NULL);
    struct rtl_tracer_result result = t->result;
    free_tracer(t, 0);
    return result;
}
