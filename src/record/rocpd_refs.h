/* What the two parts of the writer of traces share: rows (rocpd.c), and what they refer to (rocpd_refs.c). */
#ifndef RTL_RECORD_ROCPD_REFS_H
#define RTL_RECORD_ROCPD_REFS_H

#include "record/db.h"
#include "record/rocpd_numbers.h"
#include "shm/segment_reader.h"

enum {
    RTL_ROCPD_ROWS = 8192,                 /* at a time: their integers stay in the cache */
    RTL_ROCPD_COLUMNS = 11,                /* of the statement that takes them */
    RTL_ROCPD_LOOKS = 4096,                /* monitor rows between two writes */
    RTL_ROCPD_EMPTY = 1,                   /* the string '' */
    RTL_ROCPD_AGENTS = RTL_AGENTS_MAX + 1, /* the last one is for numbers that no agent can have */
    RTL_ROCPD_DIRECTIONS = RTL_DIRECTION_COUNT + 1,
    RTL_ROCPD_KINDS = RTL_QUEUE_KIND_UNKNOWN + 1,
};

struct rtl_rocpd_look {
    const char *type; /* of device */
    int64_t device, start, end, value;
    int64_t queue; /* -1: it is about signals */
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
    struct rtl_rocpd_calls *calls; /* NULL: none are recorded */
    int64_t pid, process, recording_row, batch_row, api_row;
    int64_t type;                            /* string: KernelExecution */
    int64_t copy_type[RTL_ROCPD_DIRECTIONS]; /* strings, 0 = not met yet */
    int64_t unknown_kernel;                  /* string: what a kernel without a name is called */
    char host[80];
    uint64_t written, copies;        /* records; copies among them */
    uint64_t unknown;                /* of them those whose queue or GPU the process doesn't have */
    int64_t start, end;              /* of the first and the last op */
    uint64_t untimed, batch;         /* when last looked at */
    int64_t looked;                  /* when */
    int64_t kernel[RTL_KERNELS_MAX]; /* strings, 0 = not met yet */
    struct rtl_rocpd_queue queue[RTL_QUEUES_MAX];
    struct rtl_rocpd_gpu gpu[RTL_ROCPD_AGENTS];
    int64_t single[RTL_ROCPD_AGENTS][RTL_ROCPD_KINDS]; /* queues of the kinds that a GPU has one of, -1 = not met yet */
    struct rtl_snapshot latest;                        /* the last one taken; names of queues and GPUs */
    bool fresh;                                        /* it was taken in this write */
    int64_t depth[RTL_QUEUES_MAX], signals;
    struct rtl_rocpd_look looks[RTL_ROCPD_LOOKS];
    uint32_t look_count;
    bool clocks_seen;
    int64_t boot_offset; /* the newest one */
    int64_t boots[8][2]; /* start and offset of each row to be written; more than one at a time is rare */
    uint32_t boot_count;
    struct rtl_db_rows rows;
    int64_t values[RTL_ROCPD_ROWS * RTL_ROCPD_COLUMNS];
};

/* Numbers of what a row refers to, made on first sight. After an error, which the database has, they mean nothing. */
int64_t rtl_rocpd_string(struct rtl_db *db, const char *text);
int64_t rtl_rocpd_kernel(struct rtl_rocpd *rocpd, uint32_t kernel);
int64_t rtl_rocpd_copy_type(struct rtl_rocpd *rocpd, uint32_t direction);
const struct rtl_rocpd_gpu *rtl_rocpd_gpu(struct rtl_rocpd *rocpd, uint32_t agent);
int64_t rtl_rocpd_queue(struct rtl_rocpd *rocpd, const struct rtl_event_record *event);
/* A queue of those that a GPU of the process has one of. */
int64_t rtl_rocpd_single_queue(struct rtl_rocpd *rocpd, uint32_t agent, enum rtl_queue_kind kind);

/* Bounds an untrusted number of the segment, so that a sum with it can't overflow. */
static inline int64_t rtl_rocpd_bounded(uint64_t value)
{
    return value < 1ull << 62 ? (int64_t)value : (int64_t)((1ull << 62) - 1);
}

/* The agent that an event names, the last one for all that there can't be. */
static inline uint32_t rtl_rocpd_agent(const struct rtl_event_record *event)
{
    return event->agent < RTL_AGENTS_MAX ? event->agent : RTL_AGENTS_MAX;
}

/* Numbers all of the process's GPUs, before others of the file take their numbers. */
void rtl_rocpd_number_gpus(struct rtl_rocpd *rocpd);
/* Takes a new snapshot, once a write. */
void rtl_rocpd_refresh(struct rtl_rocpd *rocpd);

#endif
