/*
 * Measure the cost of watching for the viewer: opening a process with 10,000 kernels up to the first snapshot, and
 * snapshots with quantiles once a second, as a share of one core. The target is a child with a real segment; it is
 * idle, to measure only the reader.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shm/segment_reader.h"
#include "shm/segment_writer.h"
#include "stats/quantile.h"
#include "stats/recorder.h"

enum { RUNS = 15, QUEUES = 8 };

static double clock_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *runs)
{
    qsort(runs, RUNS, sizeof *runs, compare);
    return runs[RUNS / 2];
}

static void fill(int kernels)
{
    static const struct rtl_segment_config config = {.mode = RTL_MODE_DEFAULT, .library_version = "bench"};
    struct rtl_segment s;
    char why[200], name[120];
    if (rtl_segment_create(&s, &config, why, sizeof why) != 0)
        _exit(1);
    struct rtl_recorder *recorder = rtl_recorder_create(&s);
    for (uint32_t q = 0; q < QUEUES; q++)
        s.queues[q].generation = 2;
    for (int i = 0; i < kernels; i++) {
        int length = snprintf(
            name, sizeof name,
            "_ZN2at6native29vectorized_elementwise_kernelILi4EN%dFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_", i);
        uint32_t row = rtl_segment_add_kernel(&s, name, (uint32_t)length, 0);
        for (uint32_t q = 0; q < QUEUES; q++)
            s.dispatches[(size_t)q * RTL_KERNELS_MAX + row].calls = 25;
        for (int n = 0; n < 200; n++) {
            double u = (double)(rand() + 1.0) / (RAND_MAX + 2.0), v = (double)rand() / RAND_MAX;
            double z = sqrt(-2 * log(u)) * cos(6.28318530718 * v);
            rtl_recorder_record(recorder, row, (uint64_t)(5000.0 * (1 + i % 37) * exp(0.2 * z)));
        }
    }
    rtl_segment_set_state(&s, RTL_STATE_LIVE);
}

static void measure(int kernels)
{
    double first[RUNS], steady[RUNS];
    int ready[2];
    char byte;
    if (pipe(ready) != 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        fill(kernels);
        if (write(ready[1], "r", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        exit(1);
    close(ready[0]);

    for (int i = 0; i < RUNS; i++) {
        struct rtl_reader *reader;
        struct rtl_snapshot a = {0}, b = {0};
        char why[300];
        double begin = clock_ms(CLOCK_MONOTONIC);
        if (rtl_reader_open(pid, &reader, why, sizeof why) != RTL_READER_OK ||
            rtl_reader_snapshot(reader, &a) != RTL_READER_OK) {
            fprintf(stderr, "record_read: %s\n", why);
            exit(1);
        }
        first[i] = clock_ms(CLOCK_MONOTONIC) - begin;
        rtl_reader_snapshot(reader, &b);
        double cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID);
        for (int round = 0; round < 5; round++) {
            rtl_snapshot_free(&a);
            a = b;
            rtl_reader_alive(reader);
            rtl_reader_snapshot(reader, &b);
            for (uint32_t k = 0; k < b.kernel_count; k++) {
                static const double q[] = {0.5, 0.9, 0.99};
                uint64_t out[3];
                rtl_quantiles(NULL, &b.kernels[k].histogram, q, 3, out);
                rtl_quantiles(&a.kernels[k].histogram, &b.kernels[k].histogram, q, 3, out);
            }
        }
        steady[i] = (clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu) / 5;
        rtl_snapshot_free(&a);
        rtl_snapshot_free(&b);
        rtl_reader_close(reader);
    }
    printf("read    %6d kernels  open and first snapshot %6.2f ms  then %6.3f ms CPU a snapshot with quantiles: %.3f "
           "%% of a core at one a second\n",
           kernels, median(first), median(steady), median(steady) / 10);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

int main(void)
{
    measure(100);
    measure(1000);
    measure(10000);
    return 0;
}
