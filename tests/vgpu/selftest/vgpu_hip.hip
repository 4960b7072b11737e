// vgpu_hip.hip - the HIP program of the self-tests: launches, copies, events, streams, graphs, threads. Its last line is
// "ok"; on a failure it prints the cause and exits with status 1. The argument is the number of rounds.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#define CHECK(call)                                                                                                       \
    do {                                                                                                                  \
        hipError_t e_ = (call);                                                                                           \
        if (e_ != hipSuccess) {                                                                                           \
            std::fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, hipGetErrorString(e_));                            \
            std::exit(1);                                                                                                 \
        }                                                                                                                 \
    } while (0)
#define REQUIRE(cond)                                                                                                     \
    do {                                                                                                                  \
        if (!(cond)) {                                                                                                    \
            std::fprintf(stderr, "line %d: %s\n", __LINE__, #cond);                                                       \
            std::exit(1);                                                                                                 \
        }                                                                                                                 \
    } while (0)

__global__ void hip_add(float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        a[i] += b[i];
}
template <int N> __global__ void hip_scale(float *a) { a[threadIdx.x] *= N; }

// Host memory in its own pages. The model has no SVM; without it ROCm 7.2's runtime sometimes loses a pinned buffer that
// shares a page with another one, and an assertion ends the process.
template <class T> struct own_pages {
    typedef T value_type;
    own_pages() {}
    template <class U> own_pages(const own_pages<U> &) {}
    T *allocate(size_t n)
    {
        void *p = std::aligned_alloc(4096, (n * sizeof(T) + 4095) / 4096 * 4096);
        REQUIRE(p);
        return (T *)p;
    }
    void deallocate(T *p, size_t) { std::free(p); }
};
template <class T, class U> bool operator==(const own_pages<T> &, const own_pages<U> &) { return true; }
template <class T, class U> bool operator!=(const own_pages<T> &, const own_pages<U> &) { return false; }
template <class T> using host_vector = std::vector<T, own_pages<T>>;

static void copies()
{
    const size_t sizes[] = {1, 5, 100, 4096, 16384, 65537, 1 << 20, (4 << 20) + 3};
    for (size_t n : sizes) {
        host_vector<unsigned char> in(n), out(n);
        for (size_t i = 0; i < n; i++)
            in[i] = (unsigned char)(i * 31 + n);
        unsigned char *a, *b;
        CHECK(hipMalloc((void **)&a, n + 64));
        CHECK(hipMalloc((void **)&b, n + 64));
        CHECK(hipMemcpy(a + 3, in.data(), n, hipMemcpyHostToDevice));
        CHECK(hipMemcpy(b + 1, a + 3, n, hipMemcpyDeviceToDevice));
        CHECK(hipMemcpy(out.data(), b + 1, n, hipMemcpyDeviceToHost));
        REQUIRE(in == out);
        CHECK(hipMemset(b, 0xa5, n));
        CHECK(hipMemcpy(out.data(), b, n, hipMemcpyDeviceToHost));
        for (size_t i = 0; i < n; i++)
            REQUIRE(out[i] == 0xa5);
        CHECK(hipFree(a));
        CHECK(hipFree(b));
    }
    // Two dimensions, and a fill in words.
    const size_t w = 100, h = 37, pitch = 128;
    host_vector<unsigned char> in(w * h), out(w * h, 0);
    for (size_t i = 0; i < in.size(); i++)
        in[i] = (unsigned char)(i * 7);
    unsigned char *a, *b;
    CHECK(hipMalloc((void **)&a, pitch * h));
    CHECK(hipMalloc((void **)&b, pitch * h));
    CHECK(hipMemcpy2D(a, pitch, in.data(), w, w, h, hipMemcpyHostToDevice));
    CHECK(hipMemcpy2D(b, pitch, a, pitch, w, h, hipMemcpyDeviceToDevice));
    CHECK(hipMemcpy2D(out.data(), w, b, pitch, w, h, hipMemcpyDeviceToHost));
    REQUIRE(in == out);
    CHECK(hipMemsetD32((hipDeviceptr_t)b, 0x12345678, pitch * h / 4));
    host_vector<int> words(pitch * h / 4);
    CHECK(hipMemcpy(words.data(), b, pitch * h, hipMemcpyDeviceToHost));
    for (int v : words)
        REQUIRE(v == 0x12345678);
    CHECK(hipFree(a));
    CHECK(hipFree(b));
}

static void pinned()
{
    const size_t n = 1 << 20;
    host_vector<char> plain(n, 7);
    char *host, *gpu;
    CHECK(hipHostMalloc((void **)&host, n, 0));
    CHECK(hipMalloc((void **)&gpu, n));
    CHECK(hipHostRegister(plain.data(), n, 0));
    CHECK(hipMemcpyAsync(gpu, plain.data(), n, hipMemcpyHostToDevice, 0));
    CHECK(hipMemcpyAsync(host, gpu, n, hipMemcpyDeviceToHost, 0));
    CHECK(hipDeviceSynchronize());
    REQUIRE(!std::memcmp(host, plain.data(), n));
    CHECK(hipHostUnregister(plain.data()));
    CHECK(hipHostFree(host));
    CHECK(hipFree(gpu));
}

// A thread's resources; the main thread creates and destroys them.
struct Job {
    static const int n = 4096;
    float *a, *b;
    hipStream_t s[2];
    hipEvent_t e[2], cross;

    Job()
    {
        CHECK(hipMalloc((void **)&a, n * sizeof *a));
        CHECK(hipMalloc((void **)&b, n * sizeof *b));
        for (int i = 0; i < 2; i++) {
            CHECK(hipStreamCreate(&s[i]));
            CHECK(hipEventCreate(&e[i]));
        }
        CHECK(hipEventCreateWithFlags(&cross, hipEventDisableTiming));
    }
    ~Job()
    {
        for (int i = 0; i < 2; i++) {
            CHECK(hipStreamDestroy(s[i]));
            CHECK(hipEventDestroy(e[i]));
        }
        CHECK(hipEventDestroy(cross));
        CHECK(hipFree(a));
        CHECK(hipFree(b));
    }
};

static void work(Job *j, int device, int seed)
{
    float ms;
    CHECK(hipSetDevice(device));
    CHECK(hipEventRecord(j->e[0], j->s[0]));
    for (int i = 0; i < 100 + seed; i++)
        hipLaunchKernelGGL(hip_add, dim3(j->n / 256), dim3(256), 0, j->s[0], j->a, j->b, j->n);
    CHECK(hipEventRecord(j->e[1], j->s[0]));
    CHECK(hipEventRecord(j->cross, j->s[0]));
    CHECK(hipStreamWaitEvent(j->s[1], j->cross, 0));
    for (int i = 0; i < 50; i++)
        hipLaunchKernelGGL(hip_scale<3>, dim3(1), dim3(64), 0, j->s[1], j->a);
    CHECK(hipStreamSynchronize(j->s[1]));
    CHECK(hipEventElapsedTime(&ms, j->e[0], j->e[1]));
    REQUIRE(ms > 0);
    // HIP 5.2 and 5.7 sometimes corrupt their heap when two threads use graphs at the same time; 6.4 does not.
    static std::mutex graphs;
    std::lock_guard<std::mutex> one(graphs);
    hipGraph_t graph;
    hipGraphExec_t exec;
    CHECK(hipStreamBeginCapture(j->s[0], hipStreamCaptureModeThreadLocal));
    for (int i = 0; i < 20; i++)
        hipLaunchKernelGGL(hip_scale<5>, dim3(1), dim3(64), 0, j->s[0], j->a);
    CHECK(hipStreamEndCapture(j->s[0], &graph));
    CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 10; i++)
        CHECK(hipGraphLaunch(exec, j->s[0]));
    CHECK(hipStreamSynchronize(j->s[0]));
    CHECK(hipGraphExecDestroy(exec));
    CHECK(hipGraphDestroy(graph));
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 1, devices;
    CHECK(hipGetDeviceCount(&devices));
    for (int r = 0; r < rounds; r++) {
        int device = r % devices;
        CHECK(hipSetDevice(device));
        copies();
        pinned();
        Job jobs[4];
        work(&jobs[0], device, r);
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++)
            threads.emplace_back(work, &jobs[i], device, i);
        for (auto &t : threads)
            t.join();
    }
    std::puts("ok");
    return 0;
}
