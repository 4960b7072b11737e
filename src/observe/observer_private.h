/*
 * What the rooms of the observer share: its thread (observer_thread.c), what that finds to look at
 * (observer_scan.c), what comes out of it (observer_snapshot.c, past_library.c).
 */
#ifndef RTL_OBSERVE_OBSERVER_PRIVATE_H
#define RTL_OBSERVE_OBSERVER_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "observe/observed_queue.h"
#include "observe/observer.h"
#include "observe/past_library.h"
#include "shm/process.h"

#define RTL_OBSERVER_SECOND 1000000000ull

/*
 * It has two holders: whoever opened it, and its thread. The thread reads memory that may never answer (a page that
 * its owner, or a file system of its owner's, is asked for), with `lock` held or not; so nobody waits for it for long,
 * and the last of the two frees it all.
 */
struct rtl_observer {
    /* set when it is opened */
    pid_t pid;
    struct rtl_process process;
    struct rtl_observer_options options;
    uint64_t start_mono_ns, start_real_ns;
    char comm[RTL_COMM_MAX + 1];
    int pidfd;
    double cpu;
    atomic_bool stop;
    atomic_bool gone;       /* the program whose memory it was */
    atomic_bool unsearched; /* there is memory in which queues may be, and nobody has looked */
    atomic_bool shares;     /* the budget, with the others */

    /* under `state`, which is held for moments only */
    pthread_mutex_t state;
    pthread_cond_t changed;
    unsigned holders;
    enum { RTL_OBSERVER_OPENING, RTL_OBSERVER_OPEN, RTL_OBSERVER_ENDED } phase;
    enum rtl_reader_status status; /* of opening */
    char why[512];
    bool left; /* its thread was left behind */
    struct rtl_traced_queues traced;

    /* the thread's */
    struct rtl_target_memory memory;
    int root;
    struct rtl_debug_lists lists; /* of code objects */
    struct rtl_queue_search search;
    uint64_t sought_ns; /* CPU time of all scans */
    uint64_t scan_at_ns;
    uint64_t scan_not_before_ns; /* what the last scan cost has to be made up for, whatever asks for the next one */
    double cost_ns;              /* CPU of a look, smoothed */
    double rate;                 /* of the ring that fills fastest, rings a second */
    uint64_t random;
    uint64_t cpu_ns; /* atomic */
    struct rtl_candidate candidate[RTL_QUEUES_MAX];
    uint32_t candidate_count, scans, live; /* live: queues, at the last look */
    uint64_t refused_seen;

    /* under `lock`: the thread's, but for snapshots */
    pthread_mutex_t lock;
    struct rtl_observed seen;
    struct rtl_observed_queue queues[RTL_QUEUES_MAX];
    uint32_t queue_count; /* slots used so far */
    uint32_t refused_room, refused_device;
    uint64_t gpu_key[RTL_AGENTS_MAX];   /* where its doorbells are */
    uint32_t gpu_agent[RTL_AGENTS_MAX]; /* which one of the segment's it is, plus 1, where that is known */
    uint32_t gpu_count;
    uint64_t looks, looked_ns;
    uint64_t lost_before; /* packets of queues that are gone */
    uint64_t unnamed_before;

    /* whose the snapshots are */
    struct rtl_snapshot last; /* what is shown while the thread can't be had */
    bool has_last;
    bool hangs; /* the thread didn't come last time */
    struct rtl_past_library past;
};

/* The lock, for as long as whoever draws may wait. */
bool rtl_observer_lock(struct rtl_observer *observer);

/* observer_scan.c: of the observer's thread, which holds `lock` for these. */
void rtl_observer_take_traced(struct rtl_observer *observer, struct rtl_traced_queues *traced); /* not for this */
void rtl_observer_end_queue(struct rtl_observer *observer, struct rtl_observed_queue *queue);
void rtl_observer_read_names(struct rtl_observer *observer);
/* Whether all that is to be known about its queues is that there is none. */
bool rtl_observer_is_without(const struct rtl_observer *observer);
/* True while the first search goes on without pauses: until it has read all memory, or has used its CPU budget. */
bool rtl_observer_seeks(const struct rtl_observer *observer);
/* Takes in everything that can have come; false without the means. Holds the lock itself, for the taking only: reading
 * may take a while. `first`: what is mapped, as it was read for attaching; NULL from then on. */
bool rtl_observer_scan(struct rtl_observer *observer, const struct rtl_mappings *first);

#endif
