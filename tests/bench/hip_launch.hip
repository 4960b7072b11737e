/*
 * Measure the cost of a HIP launch for its caller: hip_launch LAUNCHES prints "ns_per_launch MEDIAN P99" over the means of
 * chunks of 256 launches of 100 kernels in turn on one stream. The wait after each chunk is not part of the time; it keeps
 * the queue from filling up. hip_launch REPLAYS graph: the same for a captured graph of 20 kernels, where a replay is one
 * launch and a chunk is one replay. `marked` as the last word puts a breakpoint instruction before and after one launch in
 * each of a few chunks, for tests/bench/instructions; without that the program dies of it.
 */
#include "../programs/hip_check.h"

#include <algorithm>
#include <cstring>
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

static hipGraphExec_t capture(hipStream_t stream, float *out)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < 20; i++)
        kernels[i]<<<64, 64, 0, stream>>>(out);
    HIP(hipStreamEndCapture(stream, &graph));
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    return exec;
}

#define MARK __asm__ volatile("int3")

/* Marks a launch after an unmarked one, so that all threads that launches keep awake are awake. */
static void launch_marked(hipStream_t stream, hipGraphExec_t exec, unsigned kernel, float *out)
{
    kernels[kernel]<<<64, 64, 0, stream>>>(out);
    HIP(hipStreamSynchronize(stream));
    MARK;
    if (exec)
        HIP(hipGraphLaunch(exec, stream));
    else
        kernels[kernel]<<<64, 64, 0, stream>>>(out);
    MARK;
    HIP(hipStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
    enum { KERNELS = sizeof kernels / sizeof kernels[0] };
    bool graphs = argc > 2 && std::strcmp(argv[2], "graph") == 0;
    const int CHUNK = graphs ? 1 : 256;
    long chunks = (argc > 1 ? std::atol(argv[1]) : 200000) / CHUNK + 1;
    hipGraphExec_t exec = nullptr;
    hipStream_t stream;
    float *out;
    HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    HIP(hipMalloc((void **)&out, 4096));
    if (graphs)
        exec = capture(stream, out);
    std::vector<double> means;
    unsigned kernel = 0;
    for (long chunk = -16; chunk < chunks; chunk++) { /* the first 16 warm up: rows, signals, code objects */
        double start = now_ns();
        if (graphs)
            HIP(hipGraphLaunch(exec, stream));
        for (int i = 0; i < CHUNK && !graphs; i++) {
            kernels[kernel]<<<64, 64, 0, stream>>>(out);
            kernel = kernel + 1 == KERNELS ? 0 : kernel + 1;
        }
        if (chunk >= 0)
            means.push_back((now_ns() - start) / CHUNK);
        HIP(hipStreamSynchronize(stream));
    }
    for (unsigned i = 0; i < (graphs ? 3 : 15) && std::strcmp(argv[argc - 1], "marked") == 0; i++)
        launch_marked(stream, exec, i, out);
    std::sort(means.begin(), means.end());
    std::printf("ns_per_launch %.0f %.0f\n", means[means.size() / 2], means[means.size() * 99 / 100]);
    return 0;
}
