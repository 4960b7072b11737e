/*
 * Recording values into the segment's histograms: the completion worker's inner loop.
 *
 * One recorder, one thread (the worker). No lock, no allocation, no syscall but once per histogram after the chunks
 * have run out; touching a fresh chunk may take a page fault, which rtl_recorder_prepare moves ahead of need. What the
 * recorder decides by lies in its own private memory; in the segment it only adds to counters in place.
 *
 * The structures are open only because rtl_recorder_record is inline: a call would cost it a third more.
 */
#ifndef RTL_STATS_RECORDER_H
#define RTL_STATS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "shm/segment_writer.h"
#include "stats/histogram.h"

enum { RTL_RECORDER_HOT_OCTAVES = 24 }; /* up to 2^29 ns, half a second */

/* What decides how a value is recorded, one cache line a histogram. The `known` values from low on take the short way:
 * neither a new minimum nor a new maximum, within the octaves here. At the start there are none. */
struct rtl_recorder_row {
    _Alignas(64) uint64_t low_ns;
    uint64_t known;
    uint16_t chunk[RTL_RECORDER_HOT_OCTAVES]; /* 0 = none yet, or coarse */
};
static_assert(sizeof(struct rtl_recorder_row) == 64, "one cache line, and the same step as the segment's histograms");

/* The rest of it, for the long way only. */
struct rtl_recorder_rare {
    uint64_t inverted_min, max_ns; /* ~minimum, so that zeros are right before the first value */
    uint64_t coarse_octaves;       /* bit per octave that found no chunk: stays coarse for ever */
    uint16_t chunk[RTL_OCTAVES_MAX - RTL_RECORDER_HOT_OCTAVES];
};

struct rtl_recorder {
    struct rtl_recorder_row rows[RTL_HISTOGRAMS_MAX]; /* first: an offset less to add */
    struct rtl_recorder_rare rest[RTL_HISTOGRAMS_MAX];
    _Alignas(64) struct rtl_histogram *histograms; /* the segment's */
    struct rtl_chunk *chunks;                      /* the segment's */
    struct rtl_segment *segment;
    uint32_t next_chunk;      /* first that nobody has; chunk 0 stays unused */
    uint32_t chunk_limit;     /* the first that there is no memory for, or the end of the pool */
    uint32_t chunks_prepared; /* pages of the chunks below are present */
    uint32_t rows_prepared;   /* likewise the kernels' histograms below */
};

/* Allocates the private state (lazily touched). NULL when there is no memory. */
struct rtl_recorder *rtl_recorder_create(struct rtl_segment *segment);
void rtl_recorder_destroy(struct rtl_recorder *recorder);

/*
 * Records one value in ns into a histogram (RTL_HISTOGRAM_*). False when there is no memory for it, not even for
 * counting it coarsely: then the histogram counts it as untimed, and the queue's reason is the caller's to count.
 */
static inline bool rtl_recorder_record(struct rtl_recorder *recorder, uint32_t histogram, uint64_t ns);

/* Counts one dispatch of a kernel that the worker gives up on, under its own reason (the queue's array is the
 * caller's). */
void rtl_recorder_untimed(struct rtl_recorder *recorder, uint32_t histogram);

/* Populates pages ahead of need. Worker, between batches. */
void rtl_recorder_prepare(struct rtl_recorder *recorder);

/* The way for a value that is the first of its octave, counted coarsely, a new minimum or a new maximum. */
bool rtl_recorder_record_rare(struct rtl_recorder *recorder, uint32_t histogram, uint64_t ns);

/*
 * counter += n as a release store of the only writing thread. The one instruction on x86-64 is as good an order to any
 * reader (stores aren't reordered, volatile keeps the compiler from it) and spares the loop what a compiler makes of
 * the atomic load and store: three instructions, and a barrier to keeping pointers in registers. ThreadSanitizer can't
 * see into it and gets the atomics.
 */
#if defined __SANITIZE_THREAD__
#define RTL_RECORDER_ATOMICS 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define RTL_RECORDER_ATOMICS 1
#endif
#endif
static inline void rtl_recorder_add(uint64_t *counter, uint64_t n)
{
#if defined __x86_64__ && !defined RTL_RECORDER_ATOMICS
    __asm__ volatile("addq %1, %0" : "+m"(*counter) : "er"(n) : "cc");
#else
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELEASE);
#endif
}

static inline bool rtl_recorder_record(struct rtl_recorder *recorder, uint32_t histogram, uint64_t ns)
{
    struct rtl_recorder_row *row = &recorder->rows[histogram];
    __asm__("" : "+r"(row)); /* computed once: gcc would do it again for the chunk */
    if (likely(ns - row->low_ns < row->known)) {
        /* rtl_bucket_of, its index already split into octave and bucket */
        uint64_t shift = rtl_log2(ns | 64u) - 6, top = ns >> shift;
        uint32_t chunk = row->chunk[shift + (top >> 6)];
        if (likely(chunk != 0)) {
            struct rtl_histogram *shared = &recorder->histograms[histogram];
            /* in this order: shm/segment.h */
            rtl_recorder_add(&recorder->chunks[chunk].bucket[top % RTL_CHUNK_BUCKETS], 1);
            rtl_recorder_add(&shared->total_ns, ns);
            rtl_recorder_add(&shared->count, 1);
            return true;
        }
    }
    return rtl_recorder_record_rare(recorder, histogram, ns);
}

#endif
