/*
 * probe_work.hip - work for a probe: three kernels, repeatedly, on two streams, with and without signals; the results
 * are compared with the host's.
 *
 * probe_work ROUNDS [--hold | --step]: with --hold it runs until stdin closes, at least ROUNDS. With --step it runs
 * ROUNDS, then one more for each byte from stdin, and prints "round N" after each. A round launches work_mix 4 times
 * and work_sum once on each stream, and work_walk once. Ends with "probe_work: PASS, N rounds, digest D".
 */
#include "hip_check.h"

#include <cinttypes>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <unistd.h>
#include <vector>

enum { ITEMS = 1000, GROUP = 256, MIXES = 4, STREAMS = 2, STEPS = 40, WALKERS = 64 };

__device__ __host__ static inline uint32_t mixed(uint32_t x, uint32_t salt)
{
    x ^= salt * 0x9e3779b9u;
    x ^= x >> 15;
    x *= 0x85ebca6bu;
    return x ^ x >> 13;
}

extern "C" __global__ void work_mix(uint32_t *data, uint32_t salt, int items)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < items)
        for (uint32_t n = 0; n <= threadIdx.x % 4; n++)
            data[i] = mixed(data[i], salt + n);
}

extern "C" __global__ void work_sum(const uint32_t *data, uint32_t *sum, int items)
{
    __shared__ uint32_t part[GROUP];
    uint32_t own = 0;
    for (int i = threadIdx.x; i < items; i += blockDim.x)
        own += data[i];
    part[threadIdx.x] = own;
    for (int step = blockDim.x / 2; step; step /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0)
        *sum = part[0];
}

/* Each load depends on the one before. */
extern "C" __global__ void work_walk(const uint32_t *data, uint32_t *end)
{
    uint32_t at = threadIdx.x;
#pragma unroll
    for (int i = 0; i < STEPS; i++)
        at = data[at % ITEMS];
    end[threadIdx.x] = at;
}

static bool stdin_is_open()
{
    pollfd look = {0, POLLIN, 0};
    char byte;
    return poll(&look, 1, 0) == 0 || read(0, &byte, 1) > 0;
}

static bool one_more()
{
    char byte;
    return read(0, &byte, 1) == 1;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 10, n = 0;
    bool hold = argc > 2 && std::strcmp(argv[2], "--hold") == 0, step = argc > 2 && std::strcmp(argv[2], "--step") == 0;
    std::vector<uint32_t> host(ITEMS), back(ITEMS);
    uint32_t *data[STREAMS], *sum[STREAMS], got[STREAMS], *walk, ends[WALKERS];
    hipStream_t stream[STREAMS];
    hipEvent_t event;
    uint64_t digest = 0;
    for (int i = 0; i < ITEMS; i++)
        host[i] = (uint32_t)i;
    HIP(hipEventCreate(&event));
    for (int s = 0; s < STREAMS; s++) {
        HIP(hipStreamCreate(&stream[s]));
        HIP(hipMalloc(&data[s], ITEMS * sizeof *data[s]));
        HIP(hipMalloc(&sum[s], sizeof *sum[s]));
        HIP(hipMemcpy(data[s], host.data(), ITEMS * sizeof host[0], hipMemcpyHostToDevice));
    }
    HIP(hipMalloc(&walk, sizeof ends));
    for (; n < rounds || (hold && stdin_is_open()) || (step && one_more()); n++) {
        for (int s = 0; s < STREAMS; s++) {
            for (int i = 0; i < MIXES; i++)
                work_mix<<<(ITEMS + GROUP - 1) / GROUP, GROUP, 0, stream[s]>>>(data[s], (uint32_t)(n * MIXES + i), ITEMS);
            if (s)
                HIP(hipEventRecord(event, stream[s]));
            work_sum<<<1, GROUP, 0, stream[s]>>>(data[s], sum[s], ITEMS);
        }
        work_walk<<<1, WALKERS, 0, stream[0]>>>(data[0], walk);
        uint32_t expected = 0;
        for (int item = 0; item < ITEMS; item++) {
            for (int i = 0; i < MIXES; i++)
                for (uint32_t k = 0; k <= (uint32_t)(item % GROUP) % 4; k++)
                    host[item] = mixed(host[item], (uint32_t)(n * MIXES + i) + k);
            expected += host[item];
        }
        for (int s = 0; s < STREAMS; s++) {
            HIP(hipStreamSynchronize(stream[s]));
            HIP(hipMemcpy(&got[s], sum[s], sizeof got[s], hipMemcpyDeviceToHost));
            if (got[s] != expected) {
                std::printf("probe_work: FAILED, stream %d, round %ld: %08x, not %08x\n", s, n, got[s], expected);
                return 1;
            }
            digest = digest * 31 + got[s];
        }
        HIP(hipMemcpy(ends, walk, sizeof ends, hipMemcpyDeviceToHost));
        for (uint32_t i = 0; i < WALKERS; i++) {
            uint32_t at = i;
            for (int step = 0; step < STEPS; step++)
                at = host[at % ITEMS];
            if (at != ends[i]) {
                std::printf("probe_work: FAILED, walker %u, round %ld: %08x, not %08x\n", i, n, ends[i], at);
                return 1;
            }
        }
        if (n == 0)
            std::printf("probe_work: begun\n");
        if (step)
            std::printf("round %ld\n", n + 1);
        std::fflush(stdout);
    }
    HIP(hipMemcpy(back.data(), data[0], ITEMS * sizeof back[0], hipMemcpyDeviceToHost));
    bool same = std::memcmp(back.data(), host.data(), ITEMS * sizeof back[0]) == 0;
    std::printf("probe_work: %s, %ld rounds, digest %016" PRIx64 "\n", same ? "PASS" : "FAILED", n, digest);
    return same ? 0 : 1;
}
