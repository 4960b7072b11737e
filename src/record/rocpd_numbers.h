/*
 * The numbers of a trace: which process, GPU and queue a number in the file stands for. They stand in rocpd_metadata,
 * as JSON under the tags "process N", "gpu N" and "queue N"; man/rtl-top-db.5 has the keys.
 *
 * A GPU or queue keeps the number that it has on the screen of its process wherever that is free in the file. A GPU is
 * known by its PCI address and has one number in a file, because readers sum up by it; one whose number another GPU has
 * gets the lowest that is free. A queue's number is its own on its GPU; one that has no number on the screen (copies,
 * the slot that several queues share, what was gone before it was looked at), or whose number another process's queue
 * on that GPU has, gets one from RTL_NUMBERS_OWN on. Whatever the number is, the name says what the process calls it.
 *
 * What the file holds is read once into memory and brought up to date at most once a transaction, when something new is
 * met: others may write into the file, too. Searching takes the same time however much there is.
 */
#ifndef RTL_RECORD_ROCPD_NUMBERS_H
#define RTL_RECORD_ROCPD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/db.h"
#include "shm/clock_offsets.h"

enum {
    RTL_NUMBERS_OWN = 1000000,  /* queues that aren't on the screen are numbered from here on */
    RTL_NUMBERS_MOST = 131072,  /* processes, GPUs and queues that a file can hold and be added to */
    RTL_NUMBERS_QUEUES = 65536, /* queues of one recording; a damaged segment could make any number of them */
};

struct rtl_numbers;

struct rtl_numbers_process {
    const char *host; /* texts are safe text */
    int64_t pid, start_real_ns, start_mono_ns;
    struct rtl_clock_offsets clocks;
    const char *comm, *command, *rocr, *librtl;
};

struct rtl_numbers_gpu {
    const char *host, *pci, *uuid;
    uint32_t part;          /* which of those with that address and UUID */
    int64_t process, agent; /* what it is known by when the process never described it; -1 otherwise */
    uint32_t own;           /* the process's number */
    const char *name;
    uint32_t compute_units;
};

enum rtl_queue_kind {
    RTL_QUEUE_KIND_SEEN,   /* is on the screen, with queue_id */
    RTL_QUEUE_KIND_GONE,   /* destroyed before it was looked at */
    RTL_QUEUE_KIND_OTHERS, /* the slot that several queues share */
    RTL_QUEUE_KIND_COPIES,
    RTL_QUEUE_KIND_UNKNOWN, /* no queue of the process, or beyond RTL_NUMBERS_QUEUES */
};

struct rtl_numbers_queue {
    enum rtl_queue_kind kind;
    int64_t process, gpu;      /* in the file */
    uint32_t own, bdf;         /* of the GPU: the process's number, and its address */
    uint32_t slot, generation; /* of what is SEEN or GONE */
    uint64_t queue_id;
    uint32_t path, path_reason; /* of what is SEEN, as struct rtl_queue_snapshot has them */
};

/* Reads what is in the file. NULL after an error, which the database has. */
struct rtl_numbers *rtl_numbers_open(struct rtl_db *db);
void rtl_numbers_free(struct rtl_numbers *numbers);

/* A transaction has begun: others may have written since the last one. The three below are for within one. */
void rtl_numbers_begin(struct rtl_numbers *numbers);

/* The number, which is made when there is none (*made is set then). 0 after an error, which the database has. */
int64_t rtl_numbers_process(struct rtl_numbers *numbers, const struct rtl_numbers_process *process, bool *made);
/* `wanted`: only when the process's own number is free; -1 when it isn't. */
int64_t rtl_numbers_gpu(struct rtl_numbers *numbers, const struct rtl_numbers_gpu *gpu, bool wanted);
/* -1 when there are too many: then it is of kind UNKNOWN, of which there is always one. */
int64_t rtl_numbers_queue(struct rtl_numbers *numbers, const struct rtl_numbers_queue *queue);

/* Places in memory that were looked at, see identities.h. */
uint64_t rtl_numbers_steps(const struct rtl_numbers *numbers);

#endif
