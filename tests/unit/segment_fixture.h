/* Shared by the tests of the segment: make one, drop it, read a histogram back, random numbers. */
#ifndef RTL_TESTS_SEGMENT_FIXTURE_H
#define RTL_TESTS_SEGMENT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "shm/segment_reader.h"
#include "shm/segment_writer.h"
#include "stats/recorder.h"

/* gcc and clang define different macros */
#if defined(__has_feature)
#define FIXTURE_HAS(feature) __has_feature(feature)
#else
#define FIXTURE_HAS(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || FIXTURE_HAS(thread_sanitizer)
enum { FIXTURE_TSAN = 1 };
#else
enum { FIXTURE_TSAN = 0 };
#endif
#if defined(__SANITIZE_ADDRESS__) || FIXTURE_HAS(address_sanitizer)
enum { FIXTURE_ASAN = 1 };
#else
enum { FIXTURE_ASAN = 0 };
#endif

static const struct rtl_segment_config fixture_config = {.mode = RTL_MODE_DEFAULT,
                                                         .runtime_major = 1,
                                                         .runtime_minor = 14,
                                                         .table_core_bytes = 1000,
                                                         .table_ext_bytes = 592,
                                                         .signals_limit = 4096,
                                                         .library_version = "1.2.3"};

static inline void fixture_segment(struct rtl_segment *segment)
{
    char why[300];
    int result = rtl_segment_create(segment, &fixture_config, why, sizeof why);
    if (result != 0)
        fail_msg("no segment: %s", why);
}

/* The library never unmaps a segment; tests make many and must. */
static inline void fixture_drop(struct rtl_segment *segment)
{
    munmap(segment->header, segment->size);
    close(segment->fd);
}

static inline uint32_t fixture_kernel(struct rtl_segment *segment, const char *name)
{
    return rtl_segment_add_kernel(segment, name, (uint32_t)strlen(name), 0x1000);
}

static inline struct rtl_reader *fixture_reader(const struct rtl_segment *segment)
{
    struct rtl_reader *reader;
    char why[300];
    if (rtl_reader_open_fd(dup(segment->fd), &reader, why, sizeof why) != RTL_READER_OK)
        fail_msg("not opened: %s", why);
    return reader;
}

static inline uint64_t fixture_sum(const struct rtl_histogram_copy *h)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < h->octave_count; i++)
        for (int b = 0; b < RTL_CHUNK_BUCKETS; b++)
            sum += h->octaves[i].bucket[b];
    for (int i = 0; h->coarse && i < RTL_OCTAVES_MAX; i++)
        sum += h->coarse[i];
    return sum;
}

static inline const struct rtl_kernel_snapshot *fixture_find(const struct rtl_snapshot *s, uint32_t id)
{
    for (uint32_t i = 0; i < s->kernel_count; i++)
        if (s->kernels[i].id == id)
            return &s->kernels[i];
    return NULL;
}

static inline uint64_t fixture_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* xorshift: the same numbers in every run. */
static inline uint64_t fixture_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static inline double fixture_unit(uint64_t *state)
{
    return ((double)(fixture_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

#endif
