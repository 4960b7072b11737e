/*
 * hip_launches.hip - launches many kernels over many streams, with an exact tally that a tracer must match.
 *
 * hip_launches [--launches N] [--streams S] [--kernels K] [--threads T] [--events E] [--sync M] [--device D] [--hold]
 *
 * Each thread launches N/T kernels, drawn unevenly from K names (at most 200) over its share of the S streams. It
 * synchronizes them at the end, so that it runs ahead of the GPU; with --sync also after every M launches. With
 * --events every E-th launch carries its own events, and so an application's completion signal; the program waits for a
 * stream's events before it uses them again. Prints "launched KERNEL N" for each kernel.
 */
#include "hip_check.h"

#include <hip/hip_ext.h>

#include <cstring>
#include <thread>
#include <vector>

/* 200 kernels, named launch_000 to launch_199. */
#define ONE(n)                                                                                           \
    extern "C" __global__ void launch_##n(float *out)                                                    \
    {                                                                                                    \
        out[0] = 1;                                                                                      \
    }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
HUNDRED(0)
HUNDRED(1)
#undef ONE
#define ONE(n) launch_##n,

namespace {

using kernel_function = void (*)(float *);
const kernel_function functions[] = {HUNDRED(0) HUNDRED(1)};
enum { KERNELS_MAX = sizeof functions / sizeof functions[0] };

struct options {
    unsigned long launches = 1000000;
    unsigned streams = 8, kernels = KERNELS_MAX, threads = 1, device = 0;
    unsigned long events = 0, sync = 0;
    bool hold = false;
};

void launch_share(const options &options, unsigned thread, std::vector<unsigned long> &tally)
{
    HIP(hipSetDevice((int)options.device));
    struct lane {
        hipStream_t stream;
        hipEvent_t start, stop;
        bool recorded;
    };
    std::vector<lane> lanes;
    for (unsigned s = thread; s < options.streams; s += options.threads) {
        lanes.push_back(lane());
        HIP(hipStreamCreateWithFlags(&lanes.back().stream, hipStreamNonBlocking));
        HIP(hipEventCreate(&lanes.back().start));
        HIP(hipEventCreate(&lanes.back().stop));
    }
    float *out;
    HIP(hipMalloc((void **)&out, 4096));

    unsigned long share = options.launches / options.threads + (thread < options.launches % options.threads);
    unsigned long random = 88172645463325252ul + thread;
    for (unsigned long i = 0; i < share; i++) {
        random ^= random << 13; /* xorshift64: the same launches in every run */
        random ^= random >> 7;
        random ^= random << 17;
        /* The product of two draws: few kernels often, many rarely, as in real software. */
        unsigned long a = random % 1000, b = (random >> 20) % 1000;
        unsigned kernel = (unsigned)(a * b * options.kernels / 1000000);
        lane &at = lanes[(random >> 40) % lanes.size()];
        if (options.events != 0 && i % options.events == 0) {
            if (at.recorded)
                HIP(hipEventSynchronize(at.stop));
            hipExtLaunchKernelGGL(functions[kernel], dim3(1 + kernel), dim3(64), 0, at.stream, at.start, at.stop, 0, out);
            at.recorded = true;
        } else {
            functions[kernel]<<<dim3(1 + kernel), dim3(64), 0, at.stream>>>(out);
        }
        tally[kernel]++;
        for (size_t s = 0; options.sync != 0 && i % options.sync == options.sync - 1 && s < lanes.size(); s++)
            HIP(hipStreamSynchronize(lanes[s].stream));
    }
    HIP(hipGetLastError());
    for (lane &each : lanes) {
        HIP(hipStreamSynchronize(each.stream));
        HIP(hipEventDestroy(each.start));
        HIP(hipEventDestroy(each.stop));
        HIP(hipStreamDestroy(each.stream));
    }
    HIP(hipFree(out));
}

} // namespace

int main(int argc, char **argv)
{
    options options;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (std::strcmp(name, "--hold") == 0) {
            options.hold = true;
            continue;
        }
        unsigned long value = i + 1 < argc ? std::strtoul(argv[++i], nullptr, 10) : 0;
        if (std::strcmp(name, "--launches") == 0) {
            options.launches = value;
        } else if (std::strcmp(name, "--streams") == 0) {
            options.streams = (unsigned)value;
        } else if (std::strcmp(name, "--kernels") == 0) {
            options.kernels = (unsigned)value;
        } else if (std::strcmp(name, "--threads") == 0) {
            options.threads = (unsigned)value;
        } else if (std::strcmp(name, "--events") == 0) {
            options.events = value;
        } else if (std::strcmp(name, "--sync") == 0) {
            options.sync = value;
        } else if (std::strcmp(name, "--device") == 0) {
            options.device = (unsigned)value;
        } else {
            options.kernels = 0;
        }
    }
    if (options.kernels == 0 || options.kernels > KERNELS_MAX || options.threads == 0 ||
        options.streams < options.threads) {
        std::fprintf(stderr, "usage: hip_launches [--launches N] [--streams S] [--kernels 1..%d] [--threads 1..S]\n"
                             "                    [--events EVERY] [--sync EVERY] [--device D] [--hold]\n",
                     (int)KERNELS_MAX);
        return 2;
    }

    std::vector<std::vector<unsigned long>> tally(options.threads, std::vector<unsigned long>(KERNELS_MAX));
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < options.threads; t++)
        threads.emplace_back(launch_share, std::cref(options), t, std::ref(tally[t]));
    launch_share(options, 0, tally[0]);
    for (std::thread &thread : threads)
        thread.join();

    for (unsigned kernel = 0; kernel < options.kernels; kernel++) {
        unsigned long launched = 0;
        for (const std::vector<unsigned long> &each : tally)
            launched += each[kernel];
        if (launched != 0)
            std::printf("launched launch_%03u %lu\n", kernel, launched);
    }
    std::printf("hip_launches: PASS, %lu launches\n", options.launches);
    if (options.hold)
        hold_until_stdin_closes();
    return 0;
}
