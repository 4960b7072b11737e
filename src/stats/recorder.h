/*
 * Records values into the segment's histograms: the completion worker's inner loop.
 *
 * One recorder, one thread (the worker). No lock, no allocation; a syscall only once per histogram after the chunks
 * have run out. Touching a new chunk may take a page fault, so rtl_recorder_prepare populates chunks ahead. The
 * recorder decides by its private memory; in the segment it only adds to counters.
 *
 * The structures are public because rtl_recorder_record is inline: a call would make it a third slower.
 */
#ifndef RTL_STATS_RECORDER_H
#define RTL_STATS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/likely.h"
#include "shm/segment_writer.h"
#include "stats/histogram.h"

enum { RTL_RECORDER_HOT_OCTAVES = 24 }; /* up to 2^29 ns, half a second */

/* Decides how to record a value; one cache line a histogram. The `known` values from low_ns on take the fast path:
 * neither a new minimum nor a new maximum, in an octave of this row. Zero at the start: none. */
struct rtl_recorder_row {
    _Alignas(64) uint64_t low_ns;
    uint64_t known;
    uint16_t chunk[RTL_RECORDER_HOT_OCTAVES]; /* 0: none yet, or coarse */
};
static_assert(sizeof(struct rtl_recorder_row) == 64, "one cache line, and the same step as the segment's histograms");

/* The rest of a histogram's state, for the slow path only. */
struct rtl_recorder_rare {
    uint64_t inverted_min, max_ns; /* ~minimum, so that zeros are right before the first value */
    uint64_t coarse_octaves;       /* a bit for each octave that found no chunk: coarse for ever */
    uint16_t chunk[RTL_OCTAVES_MAX - RTL_RECORDER_HOT_OCTAVES];
};

struct rtl_recorder {
    struct rtl_recorder_row rows[RTL_HISTOGRAMS_MAX]; /* first: saves adding an offset */
    struct rtl_recorder_rare rest[RTL_HISTOGRAMS_MAX];
    _Alignas(64) struct rtl_histogram *histograms;
    struct rtl_chunk *chunks; /* the segment's */
    struct rtl_segment *segment;
    uint32_t next_chunk;      /* the first unused one; chunk 0 stays unused */
    uint32_t chunk_limit;     /* end of the pool, or the first chunk without memory */
    uint32_t chunks_prepared; /* pages of the chunks below are present */
    uint32_t rows_prepared;   /* pages of the kernels' histograms below are present */
};

/* Allocate the private state. NULL when there is no memory. */
struct rtl_recorder *rtl_recorder_create(struct rtl_segment *segment);
void rtl_recorder_destroy(struct rtl_recorder *recorder);

/* Record one value in ns into a histogram (RTL_HISTOGRAM_*). False when there is no memory even for coarse counting:
 * the histogram then counts it as untimed, and the caller counts the queue's reason. */
static inline bool rtl_recorder_record(struct rtl_recorder *recorder, uint32_t histogram, uint64_t ns);

/* Count one dispatch of a kernel that the worker drops; the caller counts the queue's reason. */
void rtl_recorder_untimed(struct rtl_recorder *recorder, uint32_t histogram);

/* Populate pages ahead of need. Worker, between rounds. */
void rtl_recorder_prepare(struct rtl_recorder *recorder);

/* The slow path: the first value of an octave, a coarse count, a new minimum or maximum. */
bool rtl_recorder_record_rare(struct rtl_recorder *recorder, uint32_t histogram, uint64_t ns);

/* counter += n as a release store of the only writing thread. On x86-64 one instruction suffices: stores aren't
 * reordered, and volatile stops the compiler. Atomics would compile to three instructions and keep pointers out of
 * registers. ThreadSanitizer doesn't understand the asm and gets the atomics. */
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
    __asm__("" : "+r"(row)); /* computed once: gcc would compute it again for the chunk */
    if (likely(ns - row->low_ns < row->known)) {
        /* rtl_bucket_of, with its index split into octave and bucket */
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
