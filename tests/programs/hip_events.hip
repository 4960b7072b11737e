/*
 * hip_events.hip - events on kernels: hipExtLaunchKernelGGL puts HIP's own signal on the kernel, and the elapsed time
 * between its two events is the kernel's, to the tick (plus or minus one, from the conversion to system time).
 *
 * hip_events [--rounds N] [--hold]: launches kernels timed_I with events over four streams, with copies and plain
 * launches between them, so that HIP reuses signals of kernels for copies and back. The test's script gives timed_I
 * (4^I) * 10 + 3 ticks of 10 ns. Two things change a time even without a tool. If HIP puts a barrier in front of the
 * kernel, which happens on a busy host, it uses the barrier's start as the kernel's. If the runtime reads its clocks
 * again in between, its conversion shifts by that reading's error. So no time may be shorter by more than 1 % and 1 us,
 * and some must be equal. How many depends on the machine; the strict check is intercept_signalled, with raw HSA.
 * Prints "launched KERNEL N" and "hip_events: PASS, ...".
 */
#include "hip_check.h"

#include <hip/hip_ext.h>

#include <cmath>
#include <cstring>
#include <vector>

#define TIMED(n)                                    \
    extern "C" __global__ void timed_##n(float *out) \
    {                                               \
        out[0] = n;                                 \
    }
TIMED(0) TIMED(1) TIMED(2) TIMED(3) TIMED(4) TIMED(5) TIMED(6) TIMED(7)

namespace {

enum { KERNELS = 8, STREAMS = 4, AT_ONCE = 16, BYTES = 1 << 16 };
typedef void (*function)(float *);
const function functions[KERNELS] = {timed_0, timed_1, timed_2, timed_3, timed_4, timed_5, timed_6, timed_7};

struct timing {
    hipEvent_t start, stop;
};

/* In 10 ns ticks. */
long scripted(int kernel)
{
    return (1l << 2 * kernel) * 10 + 3;
}

} // namespace

int main(int argc, char **argv)
{
    unsigned rounds = 1500;
    bool hold = false;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--hold") == 0)
            hold = true;
        else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = (unsigned)std::strtoul(argv[++i], nullptr, 10);
    }
    verdict result;
    unsigned long launched[KERNELS] = {0}, compared = 0, equal = 0, shorter = 0;
    hipStream_t stream[STREAMS];
    std::vector<timing> timings(STREAMS * AT_ONCE);
    float *out;
    char *host;
    HIP(hipMalloc((void **)&out, BYTES));
    HIP(hipHostMalloc((void **)&host, BYTES, 0));
    for (hipStream_t &each : stream)
        HIP(hipStreamCreate(&each));
    for (timing &each : timings) {
        HIP(hipEventCreate(&each.start));
        HIP(hipEventCreate(&each.stop));
    }
    for (unsigned i = 0; i < rounds; i++) {
        hipStream_t on = stream[i % STREAMS];
        timing &at = timings[i % timings.size()];
        int kernel = (int)(i * 7 % KERNELS);
        hipExtLaunchKernelGGL(functions[kernel], dim3(1), dim3(64), 0, on, at.start, at.stop, 0, out);
        launched[kernel]++;
        switch (i % 5) {
        case 1:
            HIP(hipMemcpyAsync(out, host, BYTES, hipMemcpyHostToDevice, on));
            break;
        case 2:
            HIP(hipMemcpyAsync(host, out, BYTES, hipMemcpyDeviceToHost, on));
            break;
        case 3:
            functions[0]<<<dim3(1), dim3(64), 0, on>>>(out);
            launched[0]++;
            break;
        default:
            break;
        }
        float ms = -1;
        HIP(hipEventSynchronize(at.stop));
        HIP(hipEventElapsedTime(&ms, at.start, at.stop));
        long off = std::lround((double)ms * 1e5) - scripted(kernel);
        compared++;
        equal += off >= -1 && off <= 1;
        shorter += off < -(scripted(kernel) / 100 + 100);
    }
    std::printf("equal %lu of %lu, shorter %lu\n", equal, compared, shorter);
    HIP(hipGetLastError());
    HIP(hipDeviceSynchronize());
    result.check(shorter == 0, "no elapsed time is shorter than the kernel");
    result.check(equal > 0, "elapsed times are the kernel's to the tick");
    for (timing &each : timings) {
        HIP(hipEventDestroy(each.start));
        HIP(hipEventDestroy(each.stop));
    }
    for (hipStream_t &each : stream)
        HIP(hipStreamDestroy(each));
    HIP(hipHostFree(host));
    HIP(hipFree(out));
    for (int kernel = 0; kernel < KERNELS; kernel++)
        std::printf("launched timed_%d %lu\n", kernel, launched[kernel]);
    int status = result.report("hip_events");
    if (hold)
        hold_until_stdin_closes();
    return status;
}
