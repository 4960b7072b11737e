/*
 * hip_copies.hip - HIP's copies: hip_copies [--rounds N] [--hold].
 *
 * hipMemcpyAsync to the GPU, back and within it, on two streams, between kernels and with events around; sizes above
 * and below those that HIP copies by its own kernels or stages. The data is checked. Which copies HIP requests from the
 * runtime differs from release to release; this program prints what it requested from HIP: "asked H2D COUNT BYTES" and
 * so on, "elapsed NS" of copies between two events, then "hip_copies: PASS, ...".
 */
#include "hip_check.h"

#include <cmath>
#include <cstring>
#include <vector>

extern "C" __global__ void touch(float *out)
{
    out[0] = 1;
}

namespace {

enum { LARGE = 4 << 20, SMALL = 2000, STREAMS = 2 };

} // namespace

int main(int argc, char **argv)
{
    unsigned rounds = 100;
    bool hold = false;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--hold") == 0)
            hold = true;
        else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = (unsigned)std::strtoul(argv[++i], nullptr, 10);
    }
    verdict result;
    char *host, *back, *one, *two;
    hipStream_t stream[STREAMS];
    hipEvent_t before, after;
    unsigned long asked[3] = {0, 0, 0}, bytes_asked[3] = {0, 0, 0};
    HIP(hipHostMalloc((void **)&host, LARGE, 0));
    HIP(hipHostMalloc((void **)&back, LARGE, 0));
    HIP(hipMalloc((void **)&one, LARGE));
    HIP(hipMalloc((void **)&two, LARGE));
    for (hipStream_t &each : stream)
        HIP(hipStreamCreate(&each));
    HIP(hipEventCreate(&before));
    HIP(hipEventCreate(&after));
    for (unsigned i = 0; i < LARGE; i++)
        host[i] = (char)(i * 7 + i / 4096);
    for (unsigned i = 0; i < rounds; i++) {
        hipStream_t on = stream[i % STREAMS];
        size_t bytes = i % 5 == 4 ? (size_t)SMALL : (size_t)LARGE / (1 + i % 4);
        std::memset(back, 0, bytes);
        HIP(hipEventRecord(before, on));
        HIP(hipMemcpyAsync(one, host, bytes, hipMemcpyHostToDevice, on));
        HIP(hipEventRecord(after, on));
        touch<<<dim3(1), dim3(64), 0, on>>>((float *)(one + LARGE - 64));
        HIP(hipMemcpyAsync(two, one, bytes, hipMemcpyDeviceToDevice, on));
        HIP(hipMemcpyAsync(back, two, bytes, hipMemcpyDeviceToHost, on));
        HIP(hipStreamSynchronize(on));
        float ms = -1;
        HIP(hipEventElapsedTime(&ms, before, after));
        std::printf("elapsed %ld %lu\n", std::lround((double)ms * 1e6), (unsigned long)bytes);
        result.check(std::memcmp(host, back, bytes > LARGE - 64 ? LARGE - 64 : bytes) == 0, "the data came back");
        for (int d = 0; d < 3; d++) {
            asked[d]++;
            bytes_asked[d] += bytes;
        }
    }
    std::vector<char> plain(LARGE, 3); /* pageable memory, which HIP has to pin or stage */
    HIP(hipMemcpy(one, plain.data(), LARGE, hipMemcpyHostToDevice));
    HIP(hipMemcpy(back, one, LARGE, hipMemcpyDeviceToHost));
    result.check(std::memcmp(plain.data(), back, LARGE) == 0, "the plain data came back");
    HIP(hipDeviceSynchronize());
    HIP(hipEventDestroy(before));
    HIP(hipEventDestroy(after));
    for (hipStream_t &each : stream)
        HIP(hipStreamDestroy(each));
    static const char *const names[] = {"h2d", "d2d", "d2h"};
    for (int d = 0; d < 3; d++)
        std::printf("asked %s %lu %lu\n", names[d], asked[d], bytes_asked[d]);
    std::printf("launched touch %u\n", rounds);
    int status = result.report("hip_copies");
    if (hold)
        hold_until_stdin_closes();
    return status;
}
