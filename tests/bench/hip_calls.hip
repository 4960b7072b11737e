/*
 * Measure the cost of a HIP call that does almost nothing: hip_calls [CALLS] [THREADS] [beside]. Prints
 * "ns_per_call N", CPU time of the best of five turns. With `beside` another thread launches a kernel each millisecond
 * meanwhile, as in a program that uses its GPU.
 */
#include <hip/hip_runtime.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

/* CPU time of this thread: excludes other load. */
static double cpu_ns()
{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

extern "C" __global__ void beside(float *out)
{
    out[0] = 1;
}

static std::atomic<bool> over;

static void launch_on(float *out)
{
    while (!over) {
        beside<<<1, 64>>>(out);
        if (hipDeviceSynchronize() != hipSuccess)
            std::exit(2);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? std::atol(argv[1]) : 2000000;
    int threads = argc > 2 ? std::atoi(argv[2]) : 1;
    double best = 1e9;
    std::thread launcher;
    float *out; /* also initialises HIP: in some releases two threads can't do that at once */
    if (hipMalloc((void **)&out, 4096) != hipSuccess)
        return 2;
    if (argc > 3 && std::strcmp(argv[3], "beside") == 0)
        launcher = std::thread(launch_on, out);
    for (int turn = 0; turn < 5; turn++) {
        std::vector<std::thread> all;
        std::vector<double> ns((size_t)threads);
        for (int t = 0; t < threads; t++)
            all.emplace_back([calls, &ns, t] {
                int gpu;
                double from = cpu_ns();
                for (long i = 0; i < calls; i++)
                    if (hipGetDevice(&gpu) != hipSuccess)
                        std::exit(2);
                ns[(size_t)t] = cpu_ns() - from;
            });
        for (std::thread &thread : all)
            thread.join();
        for (double thread : ns)
            best = thread / (double)calls < best ? thread / (double)calls : best;
    }
    over = true;
    if (launcher.joinable())
        launcher.join();
    std::printf("ns_per_call %.1f\n", best);
    return 0;
}
