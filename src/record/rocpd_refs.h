/* Shared by rocpd.c, which writes rows, and rocpd_refs.c: the strings, GPUs and queues that rows refer to. */
#ifndef RTL_RECORD_ROCPD_REFS_H
#define RTL_RECORD_ROCPD_REFS_H

#include "record/db.h"
#include "record/rocpd_numbers.h"
#include "shm/segment_reader.h"

enum {
    RTL_ROCPD_ROWS = 8192,                 /* of a batch */
    RTL_ROCPD_SAMPLES = 4096,              /* monitor rows between two writes */
    RTL_ROCPD_EMPTY = 1,                   /* the string '' */
    RTL_ROCPD_AGENTS = RTL_AGENTS_MAX + 1, /* the last is for invalid agent numbers */
    RTL_ROCPD_DIRECTIONS = RTL_DIRECTION_COUNT + 1,
    RTL_ROCPD_KINDS = RTL_QUEUE_KIND_UNKNOWN + 1,
};

struct rtl_rocpd_sample {
    int64_t device, start, end, value;
    int64_t queue; /* -1: signals in use, and the device is the process */
};

struct rtl_rocpd_gpu {
    bool known, described;
    int64_t id;        /* in the file */
    uint32_t own, bdf; /* the process's number; address */
};

struct rtl_rocpd_queue {
    bool known;
    uint32_t generation;
    uint8_t agent;
    int64_t id;
};

struct rtl_rocpd_calls;

struct rtl_rocpd {
    struct rtl_db *db;
    struct rtl_reader *reader;
    size_t (*escape)(char *out, size_t size, const char *bytes, size_t length); /* rtl_rocpd_escape */
    struct rtl_numbers *numbers;
    struct rtl_rocpd_calls *calls; /* NULL: calls are not recorded */
    int64_t pid, process, recording_row, batch_row, api_row;
    int64_t type;                            /* string: KernelExecution */
    int64_t copy_type[RTL_ROCPD_DIRECTIONS]; /* strings, 0 = not yet used */
    int64_t unknown_kernel;                  /* string: name of a kernel without a name */
    char host[80];
    uint64_t written, copies;        /* records; copies among them */
    uint64_t unknown;                /* records whose queue or GPU the process doesn't have */
    int64_t start, end;              /* of the first and the last op */
    uint64_t untimed, batch;         /* at the last sample */
    int64_t sampled;                 /* time of the last sample */
    int64_t kernel[RTL_KERNELS_MAX]; /* strings, 0 = not yet used */
    struct rtl_rocpd_queue queue[RTL_QUEUES_MAX];
    struct rtl_rocpd_gpu gpu[RTL_ROCPD_AGENTS];
    int64_t single[RTL_ROCPD_AGENTS][RTL_ROCPD_KINDS]; /* the queue of a kind on a GPU, -1 = not yet used */
    struct rtl_snapshot latest;                        /* the last snapshot: names of queues and GPUs */
    bool fresh;                                        /* `latest` is of this write */
    int64_t depth[RTL_QUEUES_MAX], signals;
    struct rtl_rocpd_sample samples[RTL_ROCPD_SAMPLES];
    uint32_t sample_count;
    bool clocks_seen;
    int64_t boot_offset; /* the newest */
    int64_t boots[8][2]; /* start and offset of each row for the next write; more than one is rare */
    uint32_t boot_count;
};

/* Return the id of an object that a row refers to, and insert the object on first use. Errors are latched in the
 * database; the id is meaningless then. */
int64_t rtl_rocpd_string(struct rtl_db *db, const char *text);
int64_t rtl_rocpd_kernel(struct rtl_rocpd *rocpd, uint32_t kernel);
int64_t rtl_rocpd_copy_type(struct rtl_rocpd *rocpd, uint32_t direction);
const struct rtl_rocpd_gpu *rtl_rocpd_gpu(struct rtl_rocpd *rocpd, uint32_t agent);
int64_t rtl_rocpd_queue(struct rtl_rocpd *rocpd, const struct rtl_event_record *event);
/* Return the queue of a kind of which each GPU has one. */
int64_t rtl_rocpd_single_queue(struct rtl_rocpd *rocpd, uint32_t agent, enum rtl_queue_kind kind);

/* Return the event's agent, or RTL_AGENTS_MAX if it is invalid. */
static inline uint32_t rtl_rocpd_agent(const struct rtl_event_record *event)
{
    return event->agent < RTL_AGENTS_MAX ? event->agent : RTL_AGENTS_MAX;
}

/* Number all GPUs of the process, before other processes of the file use the numbers. */
void rtl_rocpd_number_gpus(struct rtl_rocpd *rocpd);
/* Take a new snapshot, at most once per write. */
void rtl_rocpd_refresh(struct rtl_rocpd *rocpd);

#endif
