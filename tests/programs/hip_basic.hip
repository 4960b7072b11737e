/*
 * hip_basic.hip - the HIP test program: does what real HIP software does with a GPU, each thing once or a few times,
 * and checks the results.
 *
 * Streams, events, graphs, copies of many sizes and kinds, registered memory, kernels with their own events, host
 * functions and several threads. It verifies data that copy engines or the runtime's own kernels move. Its own kernels
 * write nothing, because the software GPU does not execute them by default.
 *
 * hip_basic [--rounds N] [--hold]: ends with "hip_basic: PASS, ..."; before that, a line "launched KERNEL N" for each
 * of its kernels, so that a test can compare counts.
 */
#include "hip_check.h"

#include <hip/hip_ext.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" __global__ void basic_stream(float *out) { out[0] = 1; }
extern "C" __global__ void basic_event(float *out) { out[0] = 2; }
extern "C" __global__ void basic_graph_a(float *out) { out[0] = 3; }
extern "C" __global__ void basic_graph_b(float *out) { out[0] = 4; }
extern "C" __global__ void basic_signalled(float *out) { out[0] = 5; }
extern "C" __global__ void basic_thread(float *out) { out[0] = 6; }
extern "C" __global__ void basic_ordered(float *out) { out[0] = 7; }
template <typename T, int N> __global__ void basic_template(T *out) { out[0] = N; }

namespace {

verdict result;

/* Number of launches of each kernel; every launching thread writes it. */
struct counted {
    const char *name;
    std::atomic<unsigned long> launched{0};
};
counted stream_kernel{"basic_stream"}, event_kernel{"basic_event"}, graph_a{"basic_graph_a"}, graph_b{"basic_graph_b"},
    signalled_kernel{"basic_signalled"}, thread_kernel{"basic_thread"}, ordered_kernel{"basic_ordered"},
    template_kernel{"_Z14basic_templateIfLi3EEvPT_"};
counted *const all_kernels[] = {&stream_kernel,    &event_kernel,  &graph_a,        &graph_b,
                                &signalled_kernel, &thread_kernel, &ordered_kernel, &template_kernel};

/* Fill with bytes that depend on position and seed, so that a short, shifted or stale copy is detected. */
void fill_bytes(std::vector<uint8_t> &bytes, uint32_t seed)
{
    uint32_t x = seed * 2654435761u + 1;
    for (uint8_t &byte : bytes) {
        x = x * 1664525u + 1013904223u;
        byte = (uint8_t)(x >> 24);
    }
}

/* Host to device, device to device, device to host; pageable and pinned; odd sizes and whole pages. */
void check_copies(hipStream_t stream)
{
    static const size_t sizes[] = {1, 3, 64, 4095, 4096, 65536 + 7, 1 << 20, (4 << 20) + 13};
    uint32_t seed = 1;
    for (size_t size : sizes) {
        std::vector<uint8_t> sent(size), received(size);
        uint8_t *a, *b, *pinned;
        HIP(hipMalloc((void **)&a, size));
        HIP(hipMalloc((void **)&b, size));
        HIP(hipHostMalloc((void **)&pinned, size, hipHostMallocDefault));

        std::string what = "copies of " + std::to_string(size) + " bytes: ";
        fill_bytes(sent, seed++);
        HIP(hipMemcpy(a, sent.data(), size, hipMemcpyHostToDevice));
        HIP(hipMemcpy(received.data(), a, size, hipMemcpyDeviceToHost));
        result.check(received == sent, (what + "pageable, to the device and back").c_str());

        fill_bytes(sent, seed++);
        std::memcpy(pinned, sent.data(), size);
        HIP(hipMemcpyAsync(a, pinned, size, hipMemcpyHostToDevice, stream));
        HIP(hipMemcpyAsync(b, a, size, hipMemcpyDeviceToDevice, stream));
        HIP(hipStreamSynchronize(stream));
        std::memset(pinned, 0, size);
        HIP(hipMemcpyAsync(pinned, b, size, hipMemcpyDeviceToHost, stream));
        HIP(hipStreamSynchronize(stream));
        result.check(std::memcmp(pinned, sent.data(), size) == 0, (what + "pinned, device to device").c_str());

        HIP(hipMemset(a, 0x5a, size));
        HIP(hipMemcpy(received.data(), a, size, hipMemcpyDeviceToHost));
        bool same = true;
        for (uint8_t byte : received)
            same = same && byte == 0x5a;
        result.check(same, (what + "hipMemset").c_str());

        HIP(hipFree(a));
        HIP(hipFree(b));
        HIP(hipHostFree(pinned));
    }
}

/* Registered application memory has its own GPU address. */
void registered(hipStream_t stream)
{
    const size_t size = 256 << 10;
    std::vector<uint8_t> sent(size), received(size);
    uint8_t *device;
    HIP(hipMalloc((void **)&device, size));
    for (uint32_t round = 0; round < 3; round++) {
        fill_bytes(sent, 100 + round);
        HIP(hipHostRegister(sent.data(), size, hipHostRegisterDefault));
        void *mapped = nullptr;
        HIP(hipHostGetDevicePointer(&mapped, sent.data(), 0));
        result.check(mapped != nullptr, "a registered buffer has a device address");
        HIP(hipMemcpyAsync(device, sent.data(), size, hipMemcpyHostToDevice, stream));
        HIP(hipStreamSynchronize(stream));
        HIP(hipHostUnregister(sent.data()));
        HIP(hipMemcpy(received.data(), device, size, hipMemcpyDeviceToHost));
        result.check(received == sent, "a copy from registered memory");
    }
    HIP(hipFree(device));
}

void check_streams(float *out)
{
    hipStream_t stream[6];
    for (hipStream_t &each : stream)
        HIP(hipStreamCreateWithFlags(&each, hipStreamNonBlocking));
    for (unsigned i = 0; i < 600; i++) {
        hipLaunchKernelGGL(basic_stream, dim3(4 + i % 3), dim3(64), 0, stream[i % 6], out);
        stream_kernel.launched++;
    }
    hipLaunchKernelGGL((basic_template<float, 3>), dim3(1), dim3(32), 0, stream[0], out);
    template_kernel.launched++;
    for (hipStream_t &each : stream)
        HIP(hipStreamSynchronize(each));
    for (hipStream_t &each : stream) {
        result.check(hipStreamQuery(each) == hipSuccess, "a synchronized stream is idle");
        HIP(hipStreamDestroy(each));
    }
    HIP(hipGetLastError());
}

void check_events(float *out)
{
    hipStream_t stream;
    hipEvent_t start, middle, stop;
    HIP(hipStreamCreate(&stream));
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&middle));
    HIP(hipEventCreate(&stop));
    HIP(hipEventRecord(start, stream));
    for (int i = 0; i < 20; i++) {
        hipLaunchKernelGGL(basic_event, dim3(8), dim3(64), 0, stream, out);
        event_kernel.launched++;
    }
    HIP(hipEventRecord(middle, stream));
    hipLaunchKernelGGL(basic_event, dim3(8), dim3(64), 0, stream, out);
    event_kernel.launched++;
    HIP(hipEventRecord(stop, stream));
    HIP(hipEventSynchronize(stop));
    result.check(hipEventQuery(stop) == hipSuccess, "a synchronized event is done");
    float first = -1, second = -1, whole = -1;
    HIP(hipEventElapsedTime(&first, start, middle));
    HIP(hipEventElapsedTime(&second, middle, stop));
    HIP(hipEventElapsedTime(&whole, start, stop));
    result.check(first >= 0 && second >= 0, "time between events doesn't run backwards");
    result.check(whole >= first && whole >= second, "the whole is at least as long as its parts");
    HIP(hipEventDestroy(start));
    HIP(hipEventDestroy(middle));
    HIP(hipEventDestroy(stop));
    HIP(hipStreamDestroy(stream));
}

/* Kernels that carry the application's completion signals: hipExtLaunchKernel with events, as RCCL does. */
void signalled(float *out)
{
    hipStream_t stream;
    hipEvent_t start, stop;
    HIP(hipStreamCreate(&stream));
    HIP(hipEventCreate(&start));
    HIP(hipEventCreate(&stop));
    bool ordered = true;
    for (int i = 0; i < 25; i++) {
        hipExtLaunchKernelGGL(basic_signalled, dim3(2), dim3(64), 0, stream, start, stop, 0, out);
        signalled_kernel.launched++;
        HIP(hipEventSynchronize(stop));
        float ms = -1;
        HIP(hipEventElapsedTime(&ms, start, stop));
        ordered = ordered && ms >= 0;
    }
    result.check(ordered, "a kernel's own events tell how long it took");
    HIP(hipEventDestroy(start));
    HIP(hipEventDestroy(stop));
    HIP(hipStreamDestroy(stream));
}

void graphs(float *out)
{
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    HIP(hipStreamCreate(&stream));
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (int i = 0; i < 10; i++) {
        hipLaunchKernelGGL(basic_graph_a, dim3(4), dim3(64), 0, stream, out);
        hipLaunchKernelGGL(basic_graph_b, dim3(4), dim3(64), 0, stream, out);
    }
    HIP(hipStreamEndCapture(stream, &graph));
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 30; i++) {
        HIP(hipGraphLaunch(exec, stream));
        graph_a.launched += 10;
        graph_b.launched += 10;
    }
    HIP(hipStreamSynchronize(stream));
    result.check(hipStreamQuery(stream) == hipSuccess, "graph replays complete");
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    HIP(hipStreamDestroy(stream));
}

/* A stream waits for another's event; a host function runs when the work before it is done. */
void ordered(float *out)
{
    hipStream_t before, after;
    hipEvent_t done;
    std::atomic<int> called{0};
    HIP(hipStreamCreate(&before));
    HIP(hipStreamCreate(&after));
    HIP(hipEventCreateWithFlags(&done, hipEventDisableTiming));
    for (int i = 0; i < 20; i++) {
        hipLaunchKernelGGL(basic_ordered, dim3(1), dim3(64), 0, before, out);
        HIP(hipEventRecord(done, before));
        HIP(hipStreamWaitEvent(after, done, 0));
        hipLaunchKernelGGL(basic_ordered, dim3(1), dim3(64), 0, after, out);
        ordered_kernel.launched += 2;
    }
    HIP(hipStreamAddCallback(
        after, [](hipStream_t, hipError_t, void *data) { ++*(std::atomic<int> *)data; }, &called, 0));
    HIP(hipStreamSynchronize(after));
    result.check(hipStreamQuery(before) == hipSuccess, "what was waited for is done");
    result.check(called == 1, "a stream's callback was called once");
    HIP(hipEventDestroy(done));
    HIP(hipStreamDestroy(before));
    HIP(hipStreamDestroy(after));
}

void threads(int device)
{
    std::vector<std::thread> workers;
    for (unsigned id = 0; id < 4; id++) {
        workers.emplace_back([=] {
            HIP(hipSetDevice(device));
            hipStream_t stream;
            float *out;
            HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
            HIP(hipMalloc((void **)&out, 4096));
            std::vector<uint8_t> sent(20000 + id), received(20000 + id);
            uint8_t *bytes;
            HIP(hipMalloc((void **)&bytes, sent.size()));
            bool same = true;
            for (unsigned i = 0; i < 50; i++) {
                for (unsigned k = 0; k < 10; k++) {
                    hipLaunchKernelGGL(basic_thread, dim3(2), dim3(64), 0, stream, out);
                    thread_kernel.launched++;
                }
                fill_bytes(sent, 1000 * id + i);
                HIP(hipMemcpyAsync(bytes, sent.data(), sent.size(), hipMemcpyHostToDevice, stream));
                HIP(hipMemcpyAsync(received.data(), bytes, sent.size(), hipMemcpyDeviceToHost, stream));
                HIP(hipStreamSynchronize(stream));
                same = same && received == sent;
            }
            result.check(same, "copies of several threads");
            HIP(hipFree(bytes));
            HIP(hipFree(out));
            HIP(hipStreamDestroy(stream));
        });
    }
    for (std::thread &worker : workers)
        worker.join();
}

/* Between two GPUs, if there are two. */
void peers(void)
{
    const size_t size = 300001;
    std::vector<uint8_t> sent(size), received(size);
    uint8_t *here, *there;
    fill_bytes(sent, 77);
    HIP(hipSetDevice(1));
    HIP(hipMalloc((void **)&there, size));
    HIP(hipSetDevice(0));
    HIP(hipMalloc((void **)&here, size));
    HIP(hipMemcpy(here, sent.data(), size, hipMemcpyHostToDevice));
    HIP(hipMemcpyPeer(there, 1, here, 0, size));
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(received.data(), there, size, hipMemcpyDeviceToHost));
    result.check(received == sent, "a copy from one GPU to another");
    HIP(hipFree(here));
    HIP(hipFree(there));
}

} // namespace

int main(int argc, char **argv)
{
    int rounds = 1;
    bool hold = false;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            rounds = std::atoi(argv[++i]);
        } else if (std::strcmp(argv[i], "--hold") == 0) {
            hold = true;
        } else {
            std::fprintf(stderr, "usage: hip_basic [--rounds N] [--hold]\n");
            return 2;
        }
    }
    int gpus = 0;
    HIP(hipGetDeviceCount(&gpus));
    result.check(gpus > 0, "there is a GPU");
    for (int round = 0; round < rounds; round++) {
        for (int device = 0; device < gpus; device++) {
            HIP(hipSetDevice(device));
            float *out;
            hipStream_t stream;
            HIP(hipMalloc((void **)&out, 4096));
            HIP(hipStreamCreate(&stream));
            check_copies(stream);
            registered(stream);
            check_streams(out);
            check_events(out);
            signalled(out);
            graphs(out);
            ordered(out);
            threads(device);
            HIP(hipDeviceSynchronize());
            HIP(hipStreamDestroy(stream));
            HIP(hipFree(out));
        }
        if (gpus > 1)
            peers();
    }
    for (const counted *kernel : all_kernels)
        std::printf("launched %s %lu\n", kernel->name, kernel->launched.load());
    int status = result.report("hip_basic");
    if (hold)
        hold_until_stdin_closes();
    return status;
}
