/*
 * The library's side of the segment: making it, and handing out rows in it. Recording itself is stats/recorder.h.
 *
 * Ownership: the caller owns struct rtl_segment; the memory and the descriptor live until the process ends, on
 * purpose: callbacks may come late and a viewer may still be looking.
 * Errors: negative errno values; `why` gets one line for a person. Nothing here aborts, prints or raises a signal:
 * RLIMIT_FSIZE, RLIMIT_AS, a missing memfd_create and a memory limit are checked or survived.
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
    struct rtl_probe_state *probe; /* NULL: there is none */
    struct rtl_ring *ring;         /* NULL: no event ring */
    struct rtl_event_record *events;
    uint64_t event_mask; /* records - 1 */
    bool event_links;    /* each record has a link behind it (struct rtl_linked_event) */
    uint64_t event_next; /* worker: records written, ever */
    uint64_t size;
    int fd;
    const struct rtl_control *control;       /* read-only; zeros of the library's own where there is no control page */
    const struct rtl_probe_page *probe_page; /* read-only; NULL: there is none */
    /* private copies: never read back from the segment */
    _Atomic uint32_t kernel_count;
    _Atomic uint64_t names_used;
};

struct rtl_segment_config {
    enum rtl_mode mode;
    bool calls; /* of HIP are recorded */
    uint32_t runtime_major, runtime_minor;
    uint32_t table_core_bytes, table_ext_bytes;
    uint64_t signals_limit;
    uint32_t events; /* records of the event ring, a power of two; 0 = none */
    bool links;      /* and those with links */
    bool control;    /* with a control page */
    bool probe;      /* with a probe's state, and its page */
    const char *library_version;
};

/*
 * Makes, sizes, maps and seals the memfd and fills in the header; the state stays STARTING. 0 or -errno. When there is
 * no memory for the event ring alone, the segment is made without it: look at segment->ring. Likewise the control page:
 * then it is rtl_control_none; and the probe: then segment->probe is NULL.
 */
int rtl_segment_create(struct rtl_segment *segment, const struct rtl_segment_config *config, char *why,
                       size_t why_bytes);

/* A control page on which there is never a request. */
extern const struct rtl_control rtl_control_none;

/* Publishes the mode in force (release). Load, then worker. */
void rtl_segment_set_in_force(struct rtl_segment *segment, enum rtl_mode mode, enum rtl_activity activity,
                              uint16_t number);

/* Publishes the state (release). Any thread. */
void rtl_segment_set_state(struct rtl_segment *segment, enum rtl_state state);

/* Sets bits of enum rtl_note. Any thread. */
void rtl_segment_note(struct rtl_segment *segment, uint32_t notes);

/*
 * Takes a row for a kernel of that full name, copies the name and publishes the row. Lock-free, no allocation, no
 * syscall, callable on the dispatch path (once a kernel). RTL_KERNEL_OTHER when rows or names have run out: then the
 * note is set and kernels_over counted. The caller makes sure that one name gets one row. A name longer than
 * RTL_NAME_MAX is cut as the contract says.
 */
uint32_t rtl_segment_add_kernel(struct rtl_segment *segment, const char *name, uint32_t length, uint64_t kernel_object);

/*
 * Makes the pages behind [address, address + bytes) present, so that a later store can't fault for long or raise
 * SIGBUS. Off the dispatch path. False when the system refuses (no memory): the caller goes without.
 */
bool rtl_segment_populate(void *address, uint64_t bytes);

#endif
