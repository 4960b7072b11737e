/*
 * hip_api.hip - HIP calls of many kinds with an exact tally: calls, results and bytes for each function, and the memory
 * allocated at the end. A recorder of calls must count the same.
 *
 * hip_api [--threads N] [--hold]: prints "called NAME N BYTES", "code NAME CODE N" and "memory GPU|host BYTES N", then
 * holds. The tally includes every HIP call, so a recorder must not show any other.
 */
#include "hip_check.h"

#include <hip/hip_ext.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

extern "C" __global__ void api_kernel(float *out) { out[0] = 1; }
extern "C" hipError_t hipMemcpy_spt(void *to, const void *from, size_t n, hipMemcpyKind kind);
extern "C" hipError_t hipMemcpyAsync_spt(void *to, const void *from, size_t n, hipMemcpyKind kind, hipStream_t stream);
extern "C" hipError_t hipMemset_spt(void *to, int value, size_t n);
extern "C" hipError_t hipStreamSynchronize_spt(hipStream_t stream);
extern "C" hipError_t hipLaunchKernel_spt(const void *f, dim3 grid, dim3 block, void **args, size_t lds, hipStream_t s);

namespace {

struct function {
    unsigned long calls = 0, bytes = 0;
    std::map<int, unsigned long> codes;
};
std::mutex lock;
std::map<std::string, function> tally;
std::map<std::string, std::pair<unsigned long, unsigned long>> held; /* bytes, allocations */

int called(const char *name, hipError_t code, size_t bytes = 0)
{
    std::lock_guard<std::mutex> guard(lock);
    function &f = tally[name];
    f.calls++;
    if (code == hipSuccess)
        f.bytes += bytes;
    else
        f.codes[(int)code]++;
    return (int)code;
}
#define T(name, arguments)        called(#name, name arguments)
#define TB(name, arguments, size) called(#name, name arguments, size)

void hold(const char *place, long bytes, long n)
{
    std::lock_guard<std::mutex> guard(lock);
    held[place].first += (unsigned long)bytes;
    held[place].second += (unsigned long)n;
}

/* The destructor runs when its thread, or the process, has almost ended. */
struct late {
    ~late()
    {
        int gpu;
        T(hipGetDevice, (&gpu));
    }
};
thread_local late at_thread_end;
late at_process_end;

void call_functions(unsigned number)
{
    float *out;
    char host[4096];
    hipStream_t stream;
    hipEvent_t event;
    (void)&at_thread_end;
    T(hipSetDevice, (0));
    T(hipStreamCreateWithFlags, (&stream, hipStreamNonBlocking));
    T(hipEventCreateWithFlags, (&event, hipEventDisableTiming));
    TB(hipMalloc, ((void **)&out, 4096 + number), 4096 + number);
    hold("gpu0", 4096 + number, 1);
    for (unsigned i = 0; i < 40; i++) {
        void *arguments[] = {&out};
        float *other;
        TB(hipMemcpy, (out, host, i, hipMemcpyHostToDevice), i);
        TB(hipMemcpy_spt, (host, out, 2 * i, hipMemcpyDeviceToHost), 2 * i);
        TB(hipMemcpyAsync, (out, host, 3 * i, hipMemcpyHostToDevice, stream), 3 * i);
        TB(hipMemcpyAsync_spt, (out, host, 4 * i, hipMemcpyHostToDevice, stream), 4 * i);
        TB(hipMemcpyWithStream, (out, host, 64, hipMemcpyHostToDevice, stream), 64);
        TB(hipMemset, (out, 0, 100), 100);
        TB(hipMemset_spt, (out, 0, 200), 200);
        TB(hipMemsetAsync, (out, 0, 300, stream), 300);
        TB(hipMemsetD32, (out, 0, 10), 40);
        TB(hipMemcpy2D, (out, 64, host, 64, 16, 4, hipMemcpyHostToDevice), 64);
        T(hipLaunchKernel, ((const void *)api_kernel, dim3(1), dim3(64), arguments, 0, stream));
        T(hipLaunchKernel_spt, ((const void *)api_kernel, dim3(1), dim3(64), arguments, 0, stream));
        T(hipExtLaunchKernel, ((const void *)api_kernel, dim3(1), dim3(64), arguments, 0, stream, nullptr, nullptr, 0));
        T(hipEventRecord, (event, stream));
        while (T(hipEventQuery, (event)) == (int)hipErrorNotReady)
            std::this_thread::yield();
        T(hipEventSynchronize, (event));
        T(hipStreamSynchronize, (stream));
        T(hipStreamSynchronize_spt, (stream));
        TB(hipMalloc, ((void **)&other, 256 * (i + 1)), 256 * (i + 1));
        if (i % 8 == 7)
            hold("gpu0", 256 * (i + 1), 1);
        else
            T(hipFree, (other));
        /* Calls that fail. */
        T(hipMemcpy, (nullptr, nullptr, 8, hipMemcpyHostToDevice));
        T(hipSetDevice, (99));
        T(hipFree, (host + 1));
        T(hipMalloc, (nullptr, 16));
    }
    T(hipEventDestroy, (event));
    T(hipStreamDestroy, (stream));
}

/* Runs before any thread, so that the peak is known. */
void allocate(int gpus)
{
    struct {
        const char *place;
        int gpu;
    } places[] = {{"gpu0", 0}, {"gpu1", 1}};
    for (int g = 0; g < gpus && g < 2; g++) {
        void *big, *kept, *host;
        size_t pitch = 0;
        T(hipSetDevice, (places[g].gpu));
        TB(hipMalloc, (&big, 64 << 20), 64 << 20);
        T(hipFree, (big));
        T(hipFree, (nullptr));
        hipError_t code = hipMallocPitch(&kept, &pitch, 100, 10);
        called("hipMallocPitch", code, pitch * 10);
        hold(places[g].place, (long)(pitch * 10), 1);
        TB(hipHostMalloc, (&host, 12345, hipHostMallocDefault), 12345);
        hold("host", 12345, 1);
        TB(hipHostMalloc, (&host, 999, hipHostMallocDefault), 999);
        T(hipHostFree, (host));
        TB(hipMallocManaged, (&kept, 8192, hipMemAttachGlobal), 8192);
        hold(places[g].place, 8192, 1);
    }
}

} // namespace

int main(int argc, char **argv)
{
    unsigned threads = 4;
    bool holding = false;
    int gpus = 0;
    for (int i = 1; i < argc; i++) {
        if (!std::strcmp(argv[i], "--hold"))
            holding = true;
        else if (!std::strcmp(argv[i], "--threads") && i + 1 < argc)
            threads = (unsigned)std::atoi(argv[++i]);
    }
    T(hipGetDeviceCount, (&gpus));
    allocate(gpus);
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; i++)
        all.emplace_back(call_functions, i);
    for (std::thread &thread : all)
        thread.join();
    T(hipSetDevice, (0));
    T(hipDeviceSynchronize, ());
    for (auto &f : tally) {
        std::printf("called %s %lu %lu\n", f.first.c_str(), f.second.calls, f.second.bytes);
        for (auto &code : f.second.codes)
            std::printf("code %s %d %lu\n", f.first.c_str(), code.first, code.second);
    }
    for (auto &place : held)
        std::printf("memory %s %lu %lu\n", place.first.c_str(), place.second.first, place.second.second);
    if (holding)
        hold_until_stdin_closes();
    return 0;
}
