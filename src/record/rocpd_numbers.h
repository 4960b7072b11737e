/*
 * The numbers of processes, GPUs and queues in a trace. Their descriptions are rows of rocpd_metadata, as JSON under
 * the tags "process N", "gpu N" and "queue N"; man/rtl-top-db.5 has the keys.
 *
 * A GPU or queue keeps its number on the screen of its process if the number is free in the file. A GPU is identified
 * by its PCI address and has one number per file, because readers sum up by number; if the number is in use it gets the
 * lowest free one. Queues are numbered per GPU. A queue without a number on the screen (copies, the slot that several
 * queues share, a queue destroyed before it was read), or whose number is in use, gets one from RTL_NUMBERS_OWN on. The
 * name is always the one that the process uses.
 *
 * The descriptions in the file are read once into memory and updated at most once per transaction, when an unknown
 * object occurs: other processes may write into the file, too. A search takes constant time.
 */
#ifndef RTL_RECORD_ROCPD_NUMBERS_H
#define RTL_RECORD_ROCPD_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/db.h"
#include "shm/clock_offsets.h"
#include "shm/segment_reader.h"

enum {
    RTL_NUMBERS_OWN = 1000000,  /* first number of queues that aren't on the screen */
    RTL_NUMBERS_MOST = 131072,  /* processes, GPUs and queues in a file that can be added to */
    RTL_NUMBERS_QUEUES = 65536, /* queues of one recording: a damaged segment could contain any number */
};

struct rtl_numbers;

enum rtl_queue_kind {
    RTL_QUEUE_KIND_SEEN,   /* on the screen, with queue_id */
    RTL_QUEUE_KIND_GONE,   /* destroyed before it was read */
    RTL_QUEUE_KIND_OTHERS, /* the slot that several queues share */
    RTL_QUEUE_KIND_COPIES,
    RTL_QUEUE_KIND_UNKNOWN, /* not a queue of the process, or beyond RTL_NUMBERS_QUEUES */
};

struct rtl_numbers_queue {
    enum rtl_queue_kind kind;
    int64_t process, gpu;      /* in the file */
    uint32_t own, bdf;         /* of the GPU: the process's number, PCI address */
    uint32_t slot, generation; /* if SEEN or GONE */
    uint64_t queue_id;
    uint32_t path, path_reason; /* if SEEN, as in struct rtl_queue_snapshot */
};

/* Bound an untrusted number of the segment so that sums can't overflow. */
static inline int64_t rtl_rocpd_bounded(uint64_t value)
{
    return value < 1ull << 62 ? (int64_t)value : (int64_t)((1ull << 62) - 1);
}

/* Read the numbers in the file. NULL after an error, latched in the database. */
struct rtl_numbers *rtl_numbers_open(struct rtl_db *db);
void rtl_numbers_free(struct rtl_numbers *numbers);

/* Note that a transaction has begun: other processes may have written since the last one. The three functions below
 * need an open transaction. */
void rtl_numbers_begin(struct rtl_numbers *numbers);

/* Return the number, assigning one (*made = true) if necessary. `host` and `command` are safe text. 0 after an error,
 * latched in the database. */
int64_t rtl_numbers_process(struct rtl_numbers *numbers, const struct rtl_snapshot *process, const char *host,
                            int64_t pid, const struct rtl_clock_offsets *clocks, const char *command, bool *made);
/* `gpu`: the agent as the process describes it, or NULL; `part`: index among the parts of a GPU, which share address
 * and UUID. `wanted`: assign the process's own number or none (-1). */
int64_t rtl_numbers_gpu(struct rtl_numbers *numbers, const char *host, int64_t process, uint32_t agent,
                        const struct rtl_agent_snapshot *gpu, uint32_t part, bool wanted);
/* -1 if there are too many queues: the caller then uses the queue of kind UNKNOWN. */
int64_t rtl_numbers_queue(struct rtl_numbers *numbers, const struct rtl_numbers_queue *queue);

/* Probes of the hash table so far, see id_map.h. */
uint64_t rtl_numbers_steps(const struct rtl_numbers *numbers);

#endif
