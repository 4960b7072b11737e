/*
 * hip_graph.hip - replays a graph of many kernels many times; every replay dispatches all of them.
 *
 * hip_graph [--nodes N] [--replays R] [--hold]: captures N kernels of ten names from a stream and replays the graph R
 * times, with a plain launch after every hundredth replay. Prints "launched KERNEL N" for each kernel and "hip_graph:
 * PASS, ...".
 */
#include "hip_check.h"

#include <cstring>

#define NODE(n)                                     \
    extern "C" __global__ void graph_##n(float *out) \
    {                                               \
        out[0] = n;                                 \
    }
NODE(0) NODE(1) NODE(2) NODE(3) NODE(4) NODE(5) NODE(6) NODE(7) NODE(8) NODE(9)
extern "C" __global__ void graph_between(float *out)
{
    out[0] = -1;
}

namespace {
enum { KERNELS = 10 };
typedef void (*function)(float *);
const function functions[KERNELS] = {graph_0, graph_1, graph_2, graph_3, graph_4,
                                     graph_5, graph_6, graph_7, graph_8, graph_9};
} // namespace

int main(int argc, char **argv)
{
    unsigned long nodes = 300, replays = 1000, launched[KERNELS] = {0}, between = 0;
    bool hold = false;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--hold") == 0)
            hold = true;
        else if (std::strcmp(argv[i], "--nodes") == 0 && i + 1 < argc)
            nodes = std::strtoul(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--replays") == 0 && i + 1 < argc)
            replays = std::strtoul(argv[++i], nullptr, 10);
    }
    float *out;
    hipStream_t stream;
    hipGraph_t graph;
    hipGraphExec_t exec;
    HIP(hipMalloc((void **)&out, 4096));
    HIP(hipStreamCreate(&stream));
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (unsigned long i = 0; i < nodes; i++) {
        functions[i * i % KERNELS]<<<dim3(1), dim3(64), 0, stream>>>(out);
        launched[i * i % KERNELS] += replays;
    }
    HIP(hipStreamEndCapture(stream, &graph));
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (unsigned long i = 0; i < replays; i++) {
        HIP(hipGraphLaunch(exec, stream));
        if (i % 100 == 99) {
            graph_between<<<dim3(1), dim3(64), 0, stream>>>(out);
            between++;
        }
    }
    HIP(hipStreamSynchronize(stream));
    HIP(hipGraphExecDestroy(exec));
    HIP(hipGraphDestroy(graph));
    HIP(hipStreamDestroy(stream));
    HIP(hipFree(out));
    for (int kernel = 0; kernel < KERNELS; kernel++)
        if (launched[kernel])
            std::printf("launched graph_%d %lu\n", kernel, launched[kernel]);
    std::printf("launched graph_between %lu\n", between);
    std::printf("hip_graph: PASS, %lu replays of %lu kernels\n", replays, nodes);
    if (hold)
        hold_until_stdin_closes();
    return 0;
}
