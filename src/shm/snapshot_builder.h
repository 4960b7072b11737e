/* A snapshot being taken: shared by whole snapshots (snapshot.c) and snapshots of changes (changes.c). */
#ifndef RTL_SHM_SNAPSHOT_BUILDER_H
#define RTL_SHM_SNAPSHOT_BUILDER_H

#include "shm/file_data.h"
#include "shm/reader_private.h"
#include "shm/segment_reader.h"

#define RTL_UNNAMED_KERNEL "(unnamed kernel)"

struct rtl_snapshot_builder {
    struct rtl_reader *reader;
    struct rtl_snapshot *out;
    bool damaged, no_memory;
    uint32_t retries, pauses; /* still allowed */
    uint32_t chunks;          /* chunks still allowed */
    uint32_t agents;          /* from the header, bounded */
    /* changes.c: one bit for RTL_CELLS_AT_ONCE cells of (queue slot, kernel) with data; or NULL */
    uint64_t *there;
    struct rtl_file_data data; /* of the cells */
    struct rtl_octave octaves[RTL_OCTAVES_MAX];
    uint64_t coarse[RTL_OCTAVES_MAX];
};

static inline uint64_t rtl_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Copy bytes of an entry as rtl_fetch_entry does. False: the segment is damaged. */
static inline bool rtl_build_fetch(struct rtl_snapshot_builder *t, enum rtl_section_id section, uint32_t entry,
                                   size_t skip, void *to, size_t bytes)
{
    bool ok = rtl_fetch_entry(t->reader, section, entry, skip, to, bytes);
    t->damaged |= !ok;
    return ok;
}

/* Allocate a cleared array; NULL without memory. */
static inline void *rtl_build_array(struct rtl_snapshot_builder *t, uint32_t count, size_t size)
{
    void *array = calloc(count ? count : 1, size);
    t->no_memory |= !array;
    return array;
}

static inline void rtl_build_mark(struct rtl_snapshot_builder *t, uint32_t row, uint32_t kernel)
{
    uint32_t slot = row / t->reader->view[RTL_SECTION_KERNELS].capacity, bit = kernel / RTL_CELLS_AT_ONCE;
    t->there[slot * RTL_THERE_WORDS + bit / 64] |= 1ull << bit % 64;
}

static inline bool rtl_build_is_there(const struct rtl_snapshot_builder *t, uint32_t slot, uint32_t kernel)
{
    uint32_t bit = kernel / RTL_CELLS_AT_ONCE;
    return t->there[slot * RTL_THERE_WORDS + bit / 64] >> bit % 64 & 1;
}

/* First step: the header. *kernels: rows in use. False if it can't be read. */
bool rtl_build_header(struct rtl_snapshot_builder *t, struct rtl_reader *reader, struct rtl_snapshot *out,
                      uint32_t *kernels);

/* The other steps in order: kernels' histograms, queues, dispatches, copies, agents. False: damaged, or no memory. */
bool rtl_build_histogram(struct rtl_snapshot_builder *t, uint32_t id, struct rtl_histogram_copy *copy,
                         uint64_t *untimed);
bool rtl_build_queues(struct rtl_snapshot_builder *t);
bool rtl_build_dispatches(struct rtl_snapshot_builder *t); /* of all kernels, out->kernels[row] */
bool rtl_build_copies(struct rtl_snapshot_builder *t);
bool rtl_build_agents(struct rtl_snapshot_builder *t);
/* The last step. True if the kernels are in the order of their ids. */
bool rtl_build_compact(struct rtl_snapshot *s);

/* Add one cell of (queue, kernel) to its kernel; *busiest has the calls that its launch sizes came from. */
void rtl_build_cell(struct rtl_kernel_snapshot *k, uint64_t *busiest, const struct rtl_dispatches *d);

#endif
