/*
 * hardware_elapsed.hip - prints the durations that HIP reports for kernels, for tests/hardware: hardware_elapsed
 * [--hold].
 *
 * elapsed_0, elapsed_1 and elapsed_2 spin for 20,000, 100,000 and 500,000 ticks of the GPU's constant clock: eleven
 * times with an event before and behind, and eleven times with their own events (hipExtLaunchKernelGGL). They run one
 * at a time, some ms apart, because the runtime renews its conversion from ticks now and then. Prints, in ns: "launched
 * NAME 22", "between NAME 11 MIN MEDIAN", "own_events NAME 11 MIN MEDIAN".
 */
#include "hip_check.h"
#include "spin_clock.h"

#include <hip/hip_ext.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include <unistd.h>

#define SPIN(n)                                                                               \
    extern "C" __global__ void elapsed_##n(unsigned long long ticks, unsigned long long *out) \
    {                                                                                         \
        unsigned long long begin = spin_clock(), at;                                          \
        do                                                                                    \
            at = spin_clock();                                                                \
        while (at - begin < ticks);                                                           \
        out[0] = at - begin;                                                                  \
    }
SPIN(0)
SPIN(1)
SPIN(2)

namespace {

enum { KERNELS = 3, REPEATS = 11 };
typedef void (*function)(unsigned long long, unsigned long long *);
const function functions[KERNELS] = {elapsed_0, elapsed_1, elapsed_2};
const unsigned long long ticks[KERNELS] = {20000, 100000, 500000};

} // namespace

int main(int argc, char **argv)
{
    hipStream_t stream;
    hipEvent_t start, stop;
    unsigned long long *out;
    verdict result;
    HIP(hipStreamCreate(&stream));
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&stop));
    HIP(hipMalloc((void **)&out, 64));
    std::vector<double> took[KERNELS][2];
    for (int i = 0; i < 2 * REPEATS * KERNELS; i++) {
        int k = i % KERNELS;
        bool own = i / KERNELS % 2 != 0;
        float ms = -1;
        if (own) {
            hipExtLaunchKernelGGL(functions[k], dim3(1), dim3(1), 0, stream, start, stop, 0, ticks[k], out);
        } else {
            HIP(hipEventRecord(start, stream));
            functions[k]<<<dim3(1), dim3(1), 0, stream>>>(ticks[k], out);
            HIP(hipEventRecord(stop, stream));
        }
        HIP(hipGetLastError());
        HIP(hipStreamSynchronize(stream));
        HIP(hipEventElapsedTime(&ms, start, stop));
        result.check(ms >= 0, "a time that isn't below 0");
        took[k][own].push_back((double)ms * 1e6);
        usleep(3000);
    }
    for (int k = 0; k < KERNELS; k++) {
        std::printf("launched elapsed_%d %d\n", k, 2 * REPEATS);
        for (bool own : {false, true}) {
            std::vector<double> &all = took[k][own];
            std::sort(all.begin(), all.end());
            std::printf("%s elapsed_%d %d %.0f %.0f\n", own ? "own_events" : "between", k, REPEATS, all.front(),
                        all[REPEATS / 2]);
        }
    }
    HIP(hipFree(out));
    HIP(hipEventDestroy(start));
    HIP(hipEventDestroy(stop));
    HIP(hipStreamDestroy(stream));
    int status = result.report("hardware_elapsed");
    if (argc > 1 && std::strcmp(argv[1], "--hold") == 0)
        hold_until_stdin_closes();
    return status;
}
