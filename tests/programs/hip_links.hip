/*
 * hip_links.hip - launches whose grids identify the launch: the n-th launch of thread t has a grid of n by t + 1
 * work-items.
 *
 * hip_links [--launches N] [--threads T] [--streams S] [--module FILE] [--hold]: each of T threads makes N/T launches
 * over all S streams in turn, by hipLaunchKernel, hipExtLaunchKernel and, for a kernel `hsa_00` in that file,
 * hipModuleLaunchKernel. Every 100 launches are in a range "part N" inside the range "thread T"; the thread waits for
 * every 1000th. Prints "thread T TID N" for each thread, then its verdict.
 *
 * hip_links --kinds [--graphs R]: one thread makes calls that launch kernels implicitly: fills memory, copies it on the
 * GPU, from and to the host, and replays a graph of ten kernels R times, the n-th of which has n work-items.
 *
 * hip_links --ways --module FILE: ten launches by each launch function of the release, cooperative ones among them.
 * Prints "way NAME 10", or "without NAME" if the release lacks or refuses it.
 */
#include "hip_check.h"

#include <hip/hip_ext.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" int roctxRangePushA(const char *message) __attribute__((weak));
extern "C" int roctxRangePop(void) __attribute__((weak));

extern "C" __global__ void linked(float *out)
{
    out[0] = 1;
}

namespace {

struct options {
    unsigned long launches = 8000, graphs = 20;
    unsigned threads = 8, streams = 8;
    const char *module = nullptr;
    bool kinds = false, ways = false, hold = false;
};

void push(const std::string &name)
{
    if (roctxRangePushA)
        roctxRangePushA(name.c_str());
}

void pop()
{
    if (roctxRangePop)
        roctxRangePop();
}

void launch_all(const options &options, unsigned t, const std::vector<hipStream_t> &streams, hipFunction_t function,
                float *out)
{
    unsigned long n = options.launches / options.threads;
    HIP(hipSetDevice(0));
    std::printf("thread %u %ld %lu\n", t, (long)syscall(SYS_gettid), n);
    push("thread " + std::to_string(t));
    for (unsigned long i = 1; i <= n; i++) {
        hipStream_t stream = streams[(i + t) % streams.size()];
        dim3 grid((unsigned)i, t + 1);
        void *arguments[] = {&out};
        if (i % 100 == 1)
            push("part " + std::to_string(i / 100 % 10));
        if (i % 3 == 0)
            HIP(hipExtLaunchKernel((const void *)linked, grid, dim3(1), arguments, 0, stream, nullptr, nullptr, 0));
        else if (i % 3 == 1 && function)
            HIP(hipModuleLaunchKernel(function, (unsigned)i, t + 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
        else
            hipLaunchKernelGGL(linked, grid, dim3(1), 0, stream, out);
        if (i % 100 == 0 || i == n)
            pop();
        if (i % 1000 == 0)
            HIP(hipStreamSynchronize(stream));
    }
    pop();
}

int by_threads(const options &options)
{
    verdict verdict;
    hipModule_t module = nullptr;
    hipFunction_t function = nullptr;
    float *out;
    HIP(hipMalloc((void **)&out, 4096));
    if (options.module) {
        HIP(hipModuleLoad(&module, options.module));
        HIP(hipModuleGetFunction(&function, module, "hsa_00"));
    }
    std::vector<hipStream_t> streams(options.streams);
    for (hipStream_t &stream : streams)
        HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < options.threads; t++)
        threads.emplace_back([&, t] { launch_all(options, t, streams, function, out); });
    for (std::thread &thread : threads)
        thread.join();
    HIP(hipDeviceSynchronize());
    verdict.check(true, "all were launched");
    return verdict.report("hip_links");
}

int by_kinds(const options &options)
{
    enum { NODES = 10, TIMES = 20, SMALL = 4096, LARGE = 8 << 20 };
    verdict verdict;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t replay;
    float *out, *other, *host;
    HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    HIP(hipMalloc((void **)&out, LARGE));
    HIP(hipMalloc((void **)&other, LARGE));
    HIP(hipHostMalloc((void **)&host, LARGE, 0));
    push("fill");
    for (int i = 0; i < TIMES; i++)
        HIP(hipMemsetAsync(out, i, SMALL, stream));
    HIP(hipStreamSynchronize(stream));
    pop();
    push("copy");
    for (int i = 0; i < TIMES; i++)
        HIP(hipMemcpyAsync(other, out, SMALL, hipMemcpyDeviceToDevice, stream));
    HIP(hipStreamSynchronize(stream));
    for (int i = 0; i < TIMES; i++) {
        HIP(hipMemcpyAsync(out, host, LARGE, hipMemcpyHostToDevice, stream));
        HIP(hipMemcpyAsync(host, out, LARGE, hipMemcpyDeviceToHost, stream));
    }
    HIP(hipStreamSynchronize(stream));
    pop();
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    for (unsigned i = 1; i <= NODES; i++)
        hipLaunchKernelGGL(linked, dim3(i), dim3(1), 0, stream, out);
    HIP(hipStreamEndCapture(stream, &graph));
    HIP(hipGraphInstantiate(&replay, graph, nullptr, nullptr, 0));
    push("replay");
    for (unsigned long i = 0; i < options.graphs; i++)
        HIP(hipGraphLaunch(replay, stream));
    HIP(hipStreamSynchronize(stream));
    pop();
    verdict.check(true, "all was done");
    return verdict.report("hip_links");
}

/* Structure of hipLaunchKernelExC in newer releases. */
struct launch_config {
    dim3 grid, block;
    size_t lds;
    hipStream_t stream;
    void *attributes;
    unsigned attribute_count;
};

template <typename Launch> void launch_ten(const char *name, const Launch &launch)
{
    unsigned done = 0;
    for (unsigned i = 0; i < 10; i++)
        done += launch() == hipSuccess;
    (void)hipGetLastError();
    std::printf(done ? "way %s %u\n" : "without %s\n", name, done);
}

int by_ways(const options &options)
{
    verdict verdict;
    hipModule_t module;
    hipFunction_t function;
    hipStream_t stream;
    float *out;
    const dim3 one(1);
    HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    HIP(hipMalloc((void **)&out, 4096));
    HIP(hipModuleLoad(&module, options.module));
    HIP(hipModuleGetFunction(&function, module, "hsa_00"));
    void *arguments[] = {&out};
    const void *kernel = (const void *)linked;
    launch_ten("hipLaunchKernel", [&] { return hipLaunchKernel(kernel, one, one, arguments, 0, stream); });
    launch_ten("hipExtLaunchKernel", [&] {
        return hipExtLaunchKernel(kernel, one, one, arguments, 0, stream, nullptr, nullptr, 0);
    });
    launch_ten("hipModuleLaunchKernel", [&] {
        return hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
    });
    launch_ten("hipExtModuleLaunchKernel", [&] {
        return hipExtModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr, nullptr, nullptr, 0);
    });
    launch_ten("hipLaunchCooperativeKernel", [&] {
        return hipLaunchCooperativeKernel(kernel, one, one, arguments, 0, stream);
    });
    HIP(hipStreamSynchronize(stream));
    using launch_module = hipError_t (*)(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                         unsigned, hipStream_t, void **);
    auto by_module = (launch_module)dlsym(RTLD_DEFAULT, "hipModuleLaunchCooperativeKernel");
    launch_ten("hipModuleLaunchCooperativeKernel", [&] {
        return by_module ? by_module(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments) : hipErrorNotSupported;
    });
    using launch_config_c = hipError_t (*)(const launch_config *, const void *, void **);
    auto by_config = (launch_config_c)dlsym(RTLD_DEFAULT, "hipLaunchKernelExC");
    const launch_config config = {one, one, 0, stream, nullptr, 0};
    launch_ten("hipLaunchKernelExC",
               [&] { return by_config ? by_config(&config, kernel, arguments) : hipErrorNotSupported; });
    HIP(hipDeviceSynchronize());
    verdict.check(true, "all were launched");
    return verdict.report("hip_links");
}

} // namespace

int main(int argc, char **argv)
{
    options options;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (std::strcmp(argv[i], "--hold") == 0)
            options.hold = true;
        else if (std::strcmp(argv[i], "--kinds") == 0)
            options.kinds = true;
        else if (std::strcmp(argv[i], "--ways") == 0)
            options.ways = true;
        else if (std::strcmp(argv[i], "--module") == 0 && more)
            options.module = argv[++i];
        else if (std::strcmp(argv[i], "--launches") == 0 && more)
            options.launches = std::strtoul(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--graphs") == 0 && more)
            options.graphs = std::strtoul(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--threads") == 0 && more)
            options.threads = (unsigned)std::strtoul(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--streams") == 0 && more)
            options.streams = (unsigned)std::strtoul(argv[++i], nullptr, 10);
        else
            return 2;
    }
    if (options.ways && !options.module)
        return 2;
    int status = options.kinds ? by_kinds(options) : options.ways ? by_ways(options) : by_threads(options);
    if (options.hold) {
        std::puts("holding");
        std::fflush(stdout);
        std::getchar();
    }
    return status;
}
