/*
 * The library's side of the segment: create it and reserve rows in it. stats/recorder.h records values.
 *
 * Ownership: the caller owns struct rtl_segment; memory and descriptor live until the process ends, on purpose:
 * callbacks may come late, and a viewer may still be open.
 * Errors: negative errno values; `why` gets one line for a person. Nothing here aborts, prints or raises a signal: the
 * code checks or survives RLIMIT_FSIZE, RLIMIT_AS, a missing memfd_create and a memory limit.
 */
#ifndef RTL_SHM_SEGMENT_WRITER_H
#define RTL_SHM_SEGMENT_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/control.h"
#include "shm/probe_page.h"
#include "shm/probe_state.h"
#include "shm/segment.h"

struct rtl_segment {
    struct rtl_header *header;
    struct rtl_kernel *kernels;
    struct rtl_histogram *histograms;
    struct rtl_directory *directory;
    struct rtl_coarse *coarse;
    struct rtl_chunk *chunks;
    struct rtl_queue *queues;
    struct rtl_agent *agents;
    struct rtl_dispatches *dispatches; /* [slot * RTL_KERNELS_MAX + kernel] */
    char *names;
    struct rtl_copies *copies;
    struct rtl_gpu_gaps *gaps;     /* [agents] */
    struct rtl_probe_state *probe; /* NULL: there is none */
    struct rtl_ring *ring;         /* NULL: no event ring */
    struct rtl_event_record *events;
    uint64_t event_mask; /* records - 1 */
    bool event_links;    /* each record is followed by a link (struct rtl_linked_event) */
    uint64_t event_next; /* worker: records ever written */
    uint64_t size;
    int fd;
    const struct rtl_control *control;       /* read-only; zeros of the library's own without a control page */
    const struct rtl_probe_page *probe_page; /* read-only; NULL: none */
    struct rtl_hash_key probe_key;           /* private: never in shared memory */
    /* private copies: never read back from the segment */
    _Atomic uint32_t kernel_count;
    _Atomic uint64_t names_used;
};

struct rtl_segment_config {
    enum rtl_mode mode;
    bool calls; /* HIP calls are recorded */
    uint32_t runtime_major, runtime_minor;
    uint32_t table_core_bytes, table_ext_bytes;
    uint64_t signals_limit;
    uint32_t events; /* records of the event ring, a power of two; 0 = none */
    bool links;      /* events have links */
    bool control;    /* create a control page */
    bool probe;      /* create a probe's state and its page */
    const char *library_version;
    const char *environment; /* as in the header; at most RTL_ENVIRONMENT_MAX bytes */
    uint32_t environment_bytes;
};

/* Create, size, map and seal the memfd and fill in the header; the state stays STARTING. 0 or -errno. Without memory
 * for the event ring alone the segment has none: check segment->ring. Likewise segment->control is then
 * &rtl_control_none, and segment->probe NULL. */
int rtl_segment_create(struct rtl_segment *segment, const struct rtl_segment_config *config, char *why,
                       size_t why_bytes);

/* A control page without requests. */
extern const struct rtl_control rtl_control_none;

/* Publish the mode in force (release). Load, then worker. */
void rtl_segment_set_in_force(struct rtl_segment *segment, enum rtl_mode mode, enum rtl_activity activity,
                              uint16_t number);

/* Publish the state (release). Any thread. */
void rtl_segment_set_state(struct rtl_segment *segment, enum rtl_state state);

/* Set bits of enum rtl_note. Any thread. */
void rtl_segment_note(struct rtl_segment *segment, uint32_t notes);

/* Reserve a row for a kernel of that full name, copy the name and publish the row. Lock-free, no allocation, no
 * syscall; the dispatch path calls it once a kernel. Returns RTL_KERNEL_OTHER if rows or names have run out; then sets
 * the note and counts kernels_over. The caller makes sure that each name gets one row. Names longer than RTL_NAME_MAX
 * are cut as in segment.h. */
uint32_t rtl_segment_add_kernel(struct rtl_segment *segment, const char *name, uint32_t length, uint64_t kernel_object);

/* Make the pages of [address, address + bytes) present, so that a later store can neither fault for long nor raise
 * SIGBUS. Off the dispatch path. False if the system refuses (no memory): the caller does without. */
bool rtl_segment_populate(void *address, uint64_t bytes);

#endif
