/*
 * Measure the cost of recording: the recorder against a bare cache-hot increment of an array, in one run.
 *
 * Both loops use the same prepared list of (kernel, duration), kernels in random order, so they differ only in the
 * recording. Each figure is the median of several runs; the ratio matters, the times depend on the machine. Memory is
 * that of a typical kernel (lognormal, one to three octaves), in pages of the segment and of the recorder.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "shm/segment_writer.h"
#include "stats/recorder.h"

enum { INPUTS = 4096, RUNS = 61, RECORDS = 1 << 20 };

struct input {
    uint32_t kernel;
    uint32_t ns;
};

static struct input inputs[INPUTS];
static uint64_t increments[RTL_KERNELS_MAX];

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* excludes other load */
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t random_bits(void)
{
    static uint64_t x = 88172645463325252ull;
    x ^= x << 13;
    x ^= x >> 7;
    return x ^= x << 17;
}

static double random_normal(void)
{
    double u = ((double)(random_bits() >> 11) + 0.5) / 9007199254740992.0;
    double v = (double)(random_bits() >> 11) / 9007199254740992.0;
    return sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
}

static void make_inputs(uint32_t kernels)
{
    for (int i = 0; i < INPUTS; i++) {
        uint32_t k = (uint32_t)(random_bits() % kernels);
        inputs[i].kernel = RTL_KERNEL_FIRST + k;
        inputs[i].ns = (uint32_t)(5000.0 * (1 + k % 37) * exp(0.2 * random_normal()));
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double bare(void)
{
    double begin = now_ns();
    for (int n = 0; n < RECORDS; n += INPUTS)
        for (int i = 0; i < INPUTS; i++)
            ++*(volatile uint64_t *)&increments[inputs[i].kernel];
    return (now_ns() - begin) / RECORDS;
}

static double record(struct rtl_recorder *recorder)
{
    double begin = now_ns();
    for (int n = 0; n < RECORDS; n += INPUTS)
        for (int i = 0; i < INPUTS; i++)
            rtl_recorder_record(recorder, RTL_HISTOGRAM_KERNEL(inputs[i].kernel), inputs[i].ns);
    return (now_ns() - begin) / RECORDS;
}

static uint64_t segment_bytes(const struct rtl_segment *segment)
{
    struct stat st;
    return fstat(segment->fd, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

static struct rtl_recorder *make(struct rtl_segment *segment, uint32_t kernels)
{
    static const struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT, .library_version = "bench"};
    char why[200], name[80];
    if (rtl_segment_create(segment, &config, why, sizeof why) != 0) {
        fprintf(stderr, "record: %s\n", why);
        exit(1);
    }
    struct rtl_recorder *recorder = rtl_recorder_create(segment);
    if (!recorder)
        exit(1);
    for (uint32_t i = RTL_KERNEL_FIRST; i < RTL_KERNEL_FIRST + kernels; i++) {
        snprintf(name, sizeof name, "_ZN5bench22a_kernel_of_some_lengthIfLi%uEEvPKT_PS1_ii", i);
        rtl_segment_add_kernel(segment, name, (uint32_t)strlen(name), i);
    }
    rtl_recorder_prepare(recorder);
    return recorder;
}

static double median(double *runs)
{
    qsort(runs, RUNS, sizeof *runs, compare);
    return runs[RUNS / 2];
}

/* Alternates bare and recorded, so that other load affects both; the ratio is the median of the pairs' ratios. */
static void measure(uint32_t kernels)
{
    double bare_runs[RUNS], record_runs[RUNS], ratios[RUNS];
    struct rtl_segment segment;
    struct rtl_recorder *recorder = make(&segment, kernels);
    make_inputs(kernels);
    record(recorder); /* warm up: touch all pages */
    for (int i = 0; i < RUNS; i++) {
        bare_runs[i] = bare();
        record_runs[i] = record(recorder);
        ratios[i] = record_runs[i] / bare_runs[i];
    }
    printf("record  %6u kernels  %5.2f ns  %4.1fx the increment's %.2f ns\n", kernels, median(record_runs),
           median(ratios), median(bare_runs));
    rtl_recorder_destroy(recorder);
    close(segment.fd);
}

/* Bytes a kernel: every kernel gets 2000 lognormal durations, and only the recording's own pages count. */
static void measure_memory(uint32_t kernels)
{
    struct rtl_segment segment;
    struct rtl_recorder *recorder = make(&segment, kernels);
    uint64_t before = segment_bytes(&segment);
    for (uint32_t k = 0; k < kernels; k++)
        for (int i = 0; i < 2000; i++)
            rtl_recorder_record(recorder, RTL_HISTOGRAM_KERNEL(RTL_KERNEL_FIRST + k),
                                (uint64_t)(5000.0 * (1 + k % 37) * exp(0.2 * random_normal())));
    uint64_t chunks = segment.header->chunks_used;
    double each = sizeof(struct rtl_kernel) + sizeof(struct rtl_histogram) + sizeof(struct rtl_directory) +
                  sizeof(struct rtl_dispatches) + sizeof(struct rtl_recorder_row) + sizeof(struct rtl_recorder_rare) +
                  (double)chunks * sizeof(struct rtl_chunk) / kernels;
    printf("memory  %6u kernels  %6.0f bytes a kernel (%.2f octaves each)  segment %.1f MB resident, %.1f MB before "
           "the first record\n",
           kernels, each, (double)chunks / kernels, (double)segment_bytes(&segment) / 1e6, (double)before / 1e6);
    rtl_recorder_destroy(recorder);
    close(segment.fd);
}

int main(void)
{
    /* not one kernel alone: its increment would wait for its own last store */
    static const uint32_t counts[] = {10, 100, 1000, 10000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        measure(counts[i]);
    measure_memory(100);
    measure_memory(1000);
    measure_memory(RTL_KERNELS_MAX - RTL_KERNEL_FIRST);
    return 0;
}
