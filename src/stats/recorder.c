/*
 * The rare part of the recorder (recorder.h): first values, chunks, coarse counting, populating pages.
 *
 * The private state is mapped: rows never used cost nothing, and all rows start as zeros.
 */
#include "stats/recorder.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum {
    CHUNKS_AHEAD = 256,                              /* 128 kB of chunks, populated by rtl_recorder_prepare */
    ROWS_AHEAD = 128,                                /* the same for rows of kernels */
    HOT_LIMIT = 1 << (RTL_RECORDER_HOT_OCTAVES + 5), /* first value of the first octave that the rows don't hold */
};

struct rtl_recorder *rtl_recorder_create(struct rtl_segment *segment)
{
    struct rtl_recorder *recorder =
        mmap(NULL, sizeof *recorder, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (recorder == MAP_FAILED)
        return NULL;
    madvise(recorder, sizeof *recorder, MADV_NOHUGEPAGE); /* 100 kernels need 12 kB, not 2 MB */
    recorder->segment = segment;
    recorder->histograms = segment->histograms;
    recorder->chunks = segment->chunks;
    recorder->next_chunk = 1;
    recorder->chunk_limit = RTL_CHUNKS_MAX + 1;
    recorder->chunks_prepared = 1;
    return recorder;
}

void rtl_recorder_destroy(struct rtl_recorder *recorder)
{
    if (recorder)
        munmap(recorder, sizeof *recorder);
}

static uint16_t *chunk_of(struct rtl_recorder *recorder, uint32_t histogram, uint32_t octave)
{
    return octave < RTL_RECORDER_HOT_OCTAVES ? &recorder->rows[histogram].chunk[octave]
                                             : &recorder->rest[histogram].chunk[octave - RTL_RECORDER_HOT_OCTAVES];
}

/* Return the counter of a value whose octave has no chunk: in a new chunk, or coarse. NULL when there is no memory. */
static uint64_t *find_counter(struct rtl_recorder *recorder, uint32_t histogram, uint32_t index)
{
    struct rtl_segment *segment = recorder->segment;
    struct rtl_recorder_rare *rest = &recorder->rest[histogram];
    uint32_t octave = index / RTL_CHUNK_BUCKETS;
    uint64_t *coarse = &segment->coarse[histogram].count[octave];

    if (rest->coarse_octaves >> octave & 1)
        return coarse;
    if (recorder->next_chunk < recorder->chunk_limit) {
        uint16_t chunk = (uint16_t)recorder->next_chunk++;
        *chunk_of(recorder, histogram, octave) = chunk;
        __atomic_store_n(&segment->directory[histogram].chunk[octave], chunk, __ATOMIC_RELEASE);
        __atomic_store_n(&segment->header->chunks_used, recorder->next_chunk - 1, __ATOMIC_RELAXED);
        return &segment->chunks[chunk].bucket[index % RTL_CHUNK_BUCKETS];
    }
    /* once a histogram: the pages of coarse counts must be present before they are touched */
    if (!rest->coarse_octaves && !rtl_segment_populate(&segment->coarse[histogram], sizeof(struct rtl_coarse)))
        return NULL;
    rest->coarse_octaves |= 1ull << octave;
    __atomic_store_n(&segment->histograms[histogram].flags, RTL_HISTOGRAM_COARSE, __ATOMIC_RELEASE);
    rtl_segment_note(segment, RTL_NOTE_CHUNKS_FULL);
    return coarse;
}

/* rtl_recorder_add won't do: the compiler may move it past the release stores of min and max. */
static void add_release(uint64_t *counter, uint64_t n)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELEASE);
}

bool rtl_recorder_record_rare(struct rtl_recorder *recorder, uint32_t histogram, uint64_t ns)
{
    struct rtl_recorder_row *row = &recorder->rows[histogram];
    struct rtl_recorder_rare *rest = &recorder->rest[histogram];
    struct rtl_histogram *shared = &recorder->histograms[histogram];
    uint32_t index = rtl_bucket_of(ns);
    uint32_t chunk = *chunk_of(recorder, histogram, index / RTL_CHUNK_BUCKETS);
    uint64_t *counter = &recorder->chunks[chunk].bucket[index % RTL_CHUNK_BUCKETS];

    if (!chunk && !(counter = find_counter(recorder, histogram, index))) {
        rtl_recorder_untimed(recorder, histogram);
        return false;
    }
    add_release(counter, 1);
    if (~ns >= rest->inverted_min) {
        rest->inverted_min = ~ns;
        __atomic_store_n(&shared->min_ns, ns, __ATOMIC_RELEASE);
    }
    if (ns > rest->max_ns) {
        rest->max_ns = ns;
        __atomic_store_n(&shared->max_ns, ns, __ATOMIC_RELEASE);
    }
    uint64_t end = rest->max_ns < HOT_LIMIT ? rest->max_ns + 1 : HOT_LIMIT;
    row->low_ns = ~rest->inverted_min;
    row->known = end > row->low_ns ? end - row->low_ns : 0;
    add_release(&shared->total_ns, ns);
    add_release(&shared->count, 1);
    return true;
}

void rtl_recorder_untimed(struct rtl_recorder *recorder, uint32_t histogram)
{
    uint64_t *untimed = &recorder->histograms[histogram].untimed;
    __atomic_store_n(untimed, __atomic_load_n(untimed, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static void prepare_chunks(struct rtl_recorder *recorder)
{
    uint32_t from = recorder->chunks_prepared > recorder->next_chunk ? recorder->chunks_prepared : recorder->next_chunk;
    uint32_t to = recorder->next_chunk + CHUNKS_AHEAD;
    if (to > recorder->chunk_limit)
        to = recorder->chunk_limit;
    if (from >= to)
        return;
    if (rtl_segment_populate(&recorder->segment->chunks[from], (uint64_t)(to - from) * sizeof(struct rtl_chunk)))
        recorder->chunks_prepared = to;
    else
        recorder->chunk_limit = from; /* no memory: use up the present chunks, then octaves are coarse */
}

/* Failure is harmless: the first touch of a row then takes a page fault. */
static void prepare_rows(struct rtl_recorder *recorder, uint32_t kernels)
{
    struct rtl_segment *segment = recorder->segment;
    uint32_t from = recorder->rows_prepared;
    uint32_t to = kernels + ROWS_AHEAD < RTL_KERNELS_MAX ? kernels + ROWS_AHEAD : RTL_KERNELS_MAX;
    uint32_t count = to - from;
    rtl_segment_populate(&segment->histograms[from], (uint64_t)count * sizeof *segment->histograms);
    rtl_segment_populate(&segment->directory[from], (uint64_t)count * sizeof *segment->directory);
    rtl_segment_populate(&recorder->rows[from], (uint64_t)count * sizeof *recorder->rows);
    recorder->rows_prepared = to;
}

void rtl_recorder_prepare(struct rtl_recorder *recorder)
{
    /* half-way marks: most calls do only these two comparisons */
    if (recorder->next_chunk + CHUNKS_AHEAD / 2 > recorder->chunks_prepared &&
        recorder->chunks_prepared < recorder->chunk_limit)
        prepare_chunks(recorder);
    uint32_t kernels = atomic_load_explicit(&recorder->segment->kernel_count, memory_order_relaxed);
    if (kernels + ROWS_AHEAD / 2 > recorder->rows_prepared && recorder->rows_prepared < RTL_KERNELS_MAX)
        prepare_rows(recorder, kernels);
}
