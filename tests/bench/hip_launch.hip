/*
 * What a HIP launch costs its caller: hip_launch LAUNCHES prints "ns_per_launch MEDIAN P99", over chunks of 256 launches
 * of 100 kernels in turn on one stream (of each chunk's mean). The wait after each chunk isn't part of the time; it keeps
 * the queue from filling up.
 */
#include "../programs/hip_check.h"

#include <algorithm>
#include <ctime>
#include <vector>

#define ONE(n)                                                                                           \
    extern "C" __global__ void bench_##n(float *out)                                                     \
    {                                                                                                    \
        out[0] = 1;                                                                                      \
    }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define ALL TEN(0) TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)
ALL
#undef ONE
#define ONE(n) bench_##n,
static void (*const kernels[])(float *) = {ALL};

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

int main(int argc, char **argv)
{
    enum { CHUNK = 256, KERNELS = sizeof kernels / sizeof kernels[0] };
    long chunks = (argc > 1 ? std::atol(argv[1]) : 200000) / CHUNK + 1;
    hipStream_t stream;
    float *out;
    HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    HIP(hipMalloc((void **)&out, 4096));
    std::vector<double> means;
    unsigned kernel = 0;
    for (long chunk = -16; chunk < chunks; chunk++) { /* the first 16 warm up: rows, signals, code objects */
        double start = now_ns();
        for (int i = 0; i < CHUNK; i++) {
            kernels[kernel]<<<64, 64, 0, stream>>>(out);
            kernel = kernel + 1 == KERNELS ? 0 : kernel + 1;
        }
        if (chunk >= 0)
            means.push_back((now_ns() - start) / CHUNK);
        HIP(hipStreamSynchronize(stream));
    }
    std::sort(means.begin(), means.end());
    std::printf("ns_per_launch %.0f %.0f\n", means[means.size() / 2], means[means.size() * 99 / 100]);
    return 0;
}
