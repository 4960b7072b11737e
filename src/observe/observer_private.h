/*
 * Shared by the observer's files: its thread (observer_thread.c), the search for queues and code objects
 * (observer_scan.c), snapshots (observer_snapshot.c, past_library.c).
 */
#ifndef RTL_OBSERVE_OBSERVER_PRIVATE_H
#define RTL_OBSERVE_OBSERVER_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "observe/observed_queue.h"
#include "observe/observer.h"
#include "observe/pace.h"
#include "observe/past_library.h"
#include "shm/process.h"

#define RTL_OBSERVER_SECOND 1000000000ull

/* It has two holders: the opener and the thread. The thread reads memory that may never answer (a page that its owner,
 * or its owner's file system, has to deliver), with or without `lock`; so nobody waits for it long, and the last of the
 * two frees everything. */
struct rtl_observer {
    /* set at open */
    pid_t pid;
    struct rtl_process process;
    struct rtl_observer_options options;
    uint64_t start_mono_ns, start_real_ns;
    char comm[RTL_COMM_MAX + 1];
    int pidfd;
    atomic_bool stop;
    atomic_bool gone;       /* the target's program has gone */
    atomic_bool unsearched; /* memory that may hold queues is not yet searched */
    atomic_bool shares;     /* takes part in sharing the budget */

    /* under `state`, held for moments only */
    pthread_mutex_t state;
    pthread_cond_t changed;
    unsigned holders;
    enum { RTL_OBSERVER_OPENING, RTL_OBSERVER_OPEN, RTL_OBSERVER_ENDED } phase;
    enum rtl_reader_status status; /* result of opening */
    char why[512];
    bool left; /* the thread was left behind */
    struct rtl_traced_queues traced;

    /* private to the thread */
    struct rtl_target_memory memory;
    int root;
    struct rtl_debug_lists lists; /* of code objects */
    struct rtl_queue_search search;
    uint64_t sought_ns; /* CPU time of all scans */
    uint64_t scan_at_ns;
    uint64_t scan_not_before_ns; /* pause that makes up for the last scan's cost, whatever asks for the next scan */
    struct rtl_pace pace;
    uint64_t random;
    uint64_t cpu_ns; /* atomic */
    struct rtl_candidate candidate[RTL_QUEUES_MAX];
    uint32_t candidate_count, scans, live; /* live: queues at the last poll */
    uint64_t refused_seen;

    /* under `lock`: written by the thread, read for snapshots */
    pthread_mutex_t lock;
    struct rtl_observed seen;
    struct rtl_observed_queue queues[RTL_QUEUES_MAX];
    uint32_t queue_count; /* slots used so far */
    uint32_t refused_room, refused_device;
    uint64_t gpu_key[RTL_AGENTS_MAX];   /* place of its doorbells */
    uint32_t gpu_agent[RTL_AGENTS_MAX]; /* index in the segment's agents, plus 1; 0: not known */
    uint32_t gpu_count;
    uint64_t looks, looked_ns;
    uint64_t lost_before; /* packets of queues that have gone */
    uint64_t unnamed_before;

    /* private to the caller's thread */
    struct rtl_snapshot last; /* shown while the lock is busy */
    bool has_last;
    bool hangs; /* the lock was busy last time */
    struct rtl_past_library past;
};

/* Acquire `lock` within the time that a frame may wait; false: not acquired. */
bool rtl_observer_lock(struct rtl_observer *observer);

/* observer_scan.c: called by the observer's thread with `lock` held */
void rtl_observer_copy_traced(struct rtl_observer *observer, struct rtl_traced_queues *traced); /* without `lock` */
void rtl_observer_end_queue(struct rtl_observer *observer, struct rtl_observed_queue *queue);
void rtl_observer_read_names(struct rtl_observer *observer);
/* True when a complete search found no queue. */
bool rtl_observer_is_without(const struct rtl_observer *observer);
/* True while the first search runs without pauses: until it has read all memory, or has used its CPU budget. */
bool rtl_observer_seeks(const struct rtl_observer *observer);
/* Search for new queues and code objects; false without the means. Acquires the lock itself, only for storing results:
 * reading may take a while. `first`: the mappings as read for attaching; NULL in later scans. */
bool rtl_observer_scan(struct rtl_observer *observer, const struct rtl_mappings *first);

#endif
