/*
 * soak.hip - mixed work of any duration with an exact tally (`make soak`), like a server's life in one program.
 *
 * soak --seconds N [--drained] [--hold]
 *
 * A thread with eight streams draws from: bursts of launches, kernels with their own events, replays of graphs and new
 * graphs, copies in both directions with verified data, one stream waiting for another, streams and events created and
 * destroyed, modules loaded, launched from and unloaded. A second thread creates and destroys raw HSA queues and
 * signals. For three of ten seconds a third thread floods an HSA queue as fast as the queue accepts packets. There is
 * only one HIP thread because HIP 5.2, even without a tool, corrupts its heap after some ten seconds of such work on
 * several.
 *
 * With --drained no queue is destroyed before its work is done (tests/hardware). The seconds begin when each kind of
 * work has been done a few times. Prints "memory SECOND rss KB maps N fds N dispatches N" now and then; at the end
 * "launched KERNEL N" for each kernel, "work ..." with the count of each kind of work, and "soak: PASS, ...".
 */
#include "hip_check.h"

#include <hip/hip_ext.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <dirent.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#define ONE(n)                                                                                           \
    extern "C" __global__ void soak_##n(float *out)                                                      \
    {                                                                                                    \
        out[0] = 1;                                                                                      \
    }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
TEN(0) TEN(1) TEN(2) TEN(3)
extern "C" __global__ void soak_event(float *out) { out[0] = 2; }
extern "C" __global__ void soak_graph(float *out) { out[0] = 3; }
#undef ONE
#define ONE(n) soak_##n,

namespace {

typedef void (*function)(float *);
const function functions[] = {TEN(0) TEN(1) TEN(2) TEN(3)};
enum { KERNELS = 40, STREAMS = 8, FLOOD_KERNELS = 10, MODULE_NAMES = 2, MODULE_KERNELS = 3 };

std::atomic<bool> over{false}, flood_now{true}, warm{false};
bool drained = false; /* set before the threads start */
std::atomic<unsigned long> flooded[FLOOD_KERNELS], raw_launched{0}, queues{0}, dispatches{0};
verdict result;

struct tally { /* written by the HIP thread only */
    unsigned long kernel[KERNELS] = {0}, event = 0, graph = 0, module[MODULE_NAMES][MODULE_KERNELS] = {{0}};
    unsigned long bursts = 0, replays = 0, graphs = 0, copies = 0, modules = 0, streams = 0;
};

/* --- HSA below HIP --- */

void hsa(hsa_status_t status, const char *what)
{
    if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK) {
        std::fprintf(stderr, "soak: %s: 0x%x\n", what, (unsigned)status);
        std::exit(2);
    }
}

hsa_agent_t gpu;
bool gpu_found = false;
void *kernarg; /* argument of every kernel: where it writes */

hsa_status_t see_agent(hsa_agent_t agent, void *)
{
    hsa_device_type_t type;
    hsa(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
    if (type == HSA_DEVICE_TYPE_GPU && !gpu_found) {
        gpu = agent;
        gpu_found = true;
    }
    return HSA_STATUS_SUCCESS;
}

/* --- code objects with chosen kernel names --- */

std::vector<char> code_object(const char *prefix)
{
    const char *folder = std::getenv("INTERCEPT_KERNELS");
    char isa[64] = "";
    hsa(hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, isa), "name");
    std::ifstream file(std::string(folder ? folder : ".") + "/kernels-" + isa + ".co", std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.empty()) {
        std::fprintf(stderr, "soak: no kernels-%s.co (INTERCEPT_KERNELS is its folder)\n", isa);
        std::exit(2);
    }
    for (size_t i = 0; i + 6 < bytes.size(); i++)
        if (std::memcmp(&bytes[i], "hsa_", 4) == 0 && bytes[i + 4] >= '0' && bytes[i + 4] <= '9')
            std::memcpy(&bytes[i], prefix, 4);
    return bytes;
}

uint64_t objects[FLOOD_KERNELS];

void open_hsa(void)
{
    float *out;
    hsa(hsa_init(), "hsa_init");
    hsa(hsa_iterate_agents(see_agent, nullptr), "agents");
    HIP(hipMalloc((void **)&out, 4096));
    HIP(hipHostMalloc(&kernarg, 4096, hipHostMallocDefault));
    std::memset(kernarg, 0, 4096);
    std::memcpy(kernarg, &out, sizeof out);
}

void load_flood(void)
{
    static std::vector<char> bytes = code_object("raw_");
    hsa_code_object_reader_t reader;
    hsa_executable_t executable;
    hsa(hsa_code_object_reader_create_from_memory(bytes.data(), bytes.size(), &reader), "reader");
    hsa(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
        "executable");
    hsa(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr), "load");
    hsa(hsa_executable_freeze(executable, nullptr), "freeze");
    for (int i = 0; i < FLOOD_KERNELS; i++) {
        hsa_executable_symbol_t symbol;
        std::string name = "raw_0" + std::to_string(i) + ".kd";
        hsa(hsa_executable_get_symbol_by_name(executable, name.c_str(), &gpu, &symbol), "symbol");
        hsa(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &objects[i]), "object");
    }
}

hsa_queue_t *open_queue(uint32_t packets)
{
    hsa_queue_t *queue = nullptr;
    hsa(hsa_queue_create(gpu, packets, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue),
        "queue");
    return queue;
}

/* Submit a kernel, or a barrier if object is 0; it runs after everything already on the queue. */
void put_packet(hsa_queue_t *queue, uint64_t object, hsa_signal_t signal)
{
    uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
    while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
        std::this_thread::yield();
    hsa_kernel_dispatch_packet_t *ring = (hsa_kernel_dispatch_packet_t *)queue->base_address;
    hsa_kernel_dispatch_packet_t *packet = &ring[index & (queue->size - 1)];
    std::memset((char *)packet + 4, 0, sizeof *packet - 4);
    unsigned type = object ? HSA_PACKET_TYPE_KERNEL_DISPATCH : HSA_PACKET_TYPE_BARRIER_AND, setup = 0;
    if (object) {
        packet->workgroup_size_x = 64;
        packet->workgroup_size_y = packet->workgroup_size_z = 1;
        packet->grid_size_x = 128;
        packet->grid_size_y = packet->grid_size_z = 1;
        packet->kernel_object = object;
        packet->kernarg_address = kernarg;
        setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
    }
    packet->completion_signal = signal;
    __atomic_store_n((uint32_t *)packet, type << HSA_PACKET_HEADER_TYPE | 1u << HSA_PACKET_HEADER_BARRIER | setup << 16,
                     __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

void drain(hsa_queue_t *queue, uint64_t object)
{
    hsa_signal_t done;
    hsa(hsa_signal_create(1, 0, nullptr, &done), "signal");
    put_packet(queue, object, done);
    while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1) {
    }
    hsa(hsa_signal_destroy(done), "destroy signal");
}

void flood_queue(void)
{
    hsa_queue_t *queue = open_queue(16384);
    while (!over) {
        if (!flood_now) {
            usleep(10000);
            continue;
        }
        for (int i = 0; i < 10000; i++)
            put_packet(queue, objects[i % FLOOD_KERNELS], hsa_signal_t{0});
        for (std::atomic<unsigned long> &each : flooded)
            each += 10000 / FLOOD_KERNELS;
        dispatches += 10000;
    }
    drain(queue, 0);
    hsa(hsa_queue_destroy(queue), "destroy queue");
}

/* The program's own queue beside HIP's; half of them are destroyed with work in flight. */
void use_queue(bool wait)
{
    hsa_queue_t *queue = open_queue(256);
    for (int i = 0; i < 20; i++)
        put_packet(queue, objects[0], hsa_signal_t{0});
    raw_launched += 20;
    dispatches += 20;
    if (wait) {
        drain(queue, objects[0]);
        raw_launched++;
        dispatches++;
    }
    hsa(hsa_queue_destroy(queue), "destroy queue");
}

void churn(void)
{
    for (; !over; usleep(20000))
        use_queue(queues++ % 2 != 0 || drained);
}

/* --- mixed work --- */

struct lane {
    hipStream_t stream;
    hipEvent_t start, stop, ready; /* HIP 5.2 miscounts references to an event that is used both on a kernel and alone */
};

lane open_lane(void)
{
    lane made;
    HIP(hipStreamCreateWithFlags(&made.stream, hipStreamNonBlocking));
    HIP(hipEventCreate(&made.start));
    HIP(hipEventCreate(&made.stop));
    HIP(hipEventCreateWithFlags(&made.ready, hipEventDisableTiming));
    return made;
}

void close_lane(lane &old)
{
    HIP(hipStreamSynchronize(old.stream));
    HIP(hipEventDestroy(old.start));
    HIP(hipEventDestroy(old.stop));
    HIP(hipEventDestroy(old.ready));
    HIP(hipStreamDestroy(old.stream));
}

enum { GRAPH_NODES = 20 };

hipGraphExec_t make_graph(hipStream_t stream, float *out)
{
    hipGraph_t graph;
    hipGraphExec_t exec;
    HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
    for (int i = 0; i < GRAPH_NODES; i++)
        soak_graph<<<dim3(1), dim3(64), 0, stream>>>(out);
    HIP(hipStreamEndCapture(stream, &graph));
    HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    HIP(hipGraphDestroy(graph));
    return exec;
}

/* Copy to the device, on it, and back. */
bool copy_around(hipStream_t stream, char *device, char *pinned, size_t half, unsigned seed)
{
    size_t bytes = 1 + seed % half;
    for (size_t i = 0; i < bytes; i += 64)
        pinned[i] = (char)(seed + i);
    HIP(hipMemcpyAsync(device, pinned, bytes, hipMemcpyHostToDevice, stream));
    HIP(hipMemcpyAsync(device + half, device, bytes, hipMemcpyDeviceToDevice, stream));
    HIP(hipMemcpyAsync(pinned + half, device + half, bytes, hipMemcpyDeviceToHost, stream));
    HIP(hipStreamSynchronize(stream));
    bool same = true;
    for (size_t i = 0; i < bytes; i += 64)
        same = same && pinned[half + i] == (char)(seed + i);
    return same;
}

void use_module(const std::vector<char> &bytes, unsigned name, hipStream_t stream, float *out, tally &t)
{
    static const char *const prefix[MODULE_NAMES] = {"mod0", "mod1"};
    hipModule_t module;
    void *arguments[] = {&out};
    HIP(hipModuleLoadData(&module, bytes.data()));
    for (int k = 0; k < MODULE_KERNELS; k++) {
        hipFunction_t kernel;
        HIP(hipModuleGetFunction(&kernel, module, (std::string(prefix[name]) + "0" + std::to_string(k)).c_str()));
        HIP(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
        t.module[name][k]++;
    }
    HIP(hipStreamSynchronize(stream));
    HIP(hipModuleUnload(module));
    dispatches += MODULE_KERNELS;
}

void mix_work(const std::vector<char> *modules, tally &t)
{
    const size_t half = 256 << 10;
    lane lanes[STREAMS];
    for (lane &each : lanes)
        each = open_lane();
    float *out;
    char *device, *pinned;
    bool same = true, ordered = true;
    HIP(hipMalloc((void **)&out, 4096));
    HIP(hipMalloc((void **)&device, 2 * half));
    HIP(hipHostMalloc((void **)&pinned, 2 * half, hipHostMallocDefault));
    std::memset(pinned, 0, 2 * half); /* touches its pages, so that they count from the first second on */
    hipGraphExec_t graph = make_graph(lanes[0].stream, out);

    /* First do everything once on each stream: memory needed for a first use is not a leak. Create new streams before
     * that; otherwise HIP would write to the new streams' buffers (4 MB each from 7 on) while memory is compared. */
    static const unsigned first[] = {990, 0, 600, 750, 850, 940, 980, 985};
    enum { KINDS = sizeof first / sizeof first[0] };
    uint64_t random = 88172645463325252ul;
    for (unsigned long i = 0; !over; i++) {
        random ^= random << 13; /* xorshift64 */
        random ^= random >> 7;
        random ^= random << 17;
        unsigned draw = (unsigned)(random >> 32) % 1000, more = (unsigned)(random >> 12) & 0xfffff;
        if (i < KINDS * STREAMS) {
            draw = first[i / STREAMS];
            more = more / STREAMS * STREAMS + i % STREAMS;
        } else {
            warm = true;
        }
        lane &at = lanes[more % STREAMS], &other = lanes[(more + 1) % STREAMS];
        if (flood_now && warm)
            usleep(5000); /* slow down */
        if (draw < 600) {
            for (unsigned i = 0; i < more % 30; i++) {
                unsigned kernel = (more + i * i) % KERNELS;
                functions[kernel]<<<dim3(1 + kernel), dim3(64), 0, at.stream>>>(out);
                t.kernel[kernel]++;
            }
            dispatches += more % 30;
            t.bursts++;
        } else if (draw < 750) {
            float ms = -1;
            hipExtLaunchKernelGGL(soak_event, dim3(2), dim3(64), 0, at.stream, at.start, at.stop, 0, out);
            HIP(hipEventSynchronize(at.stop));
            HIP(hipEventElapsedTime(&ms, at.start, at.stop));
            ordered = ordered && ms >= 0;
            t.event++;
            dispatches++;
        } else if (draw < 850) {
            HIP(hipGraphLaunch(graph, at.stream));
            HIP(hipStreamSynchronize(at.stream));
            t.graph += GRAPH_NODES;
            dispatches += GRAPH_NODES;
            t.replays++;
        } else if (draw < 940) {
            same = copy_around(at.stream, device, pinned, half, more) && same;
            t.copies += 3;
        } else if (draw < 980) {
            HIP(hipEventRecord(at.ready, at.stream));
            HIP(hipStreamWaitEvent(other.stream, at.ready, 0));
            functions[0]<<<dim3(1), dim3(64), 0, other.stream>>>(out);
            t.kernel[0]++;
            dispatches++;
            HIP(hipStreamSynchronize(other.stream));
        } else if (draw < 985) {
            HIP(hipGraphExecDestroy(graph));
            graph = make_graph(at.stream, out);
            t.graphs++;
        } else if (draw < 990) {
            use_module(modules[more % MODULE_NAMES], more % MODULE_NAMES, at.stream, out, t);
            t.modules++;
        } else {
            close_lane(at);
            at = open_lane();
            t.streams++;
        }
        HIP(hipGetLastError());
        for (unsigned s = 0; s < STREAMS && i % 500 == 499; s++) /* as servers do now and then */
            HIP(hipStreamSynchronize(lanes[s].stream));
    }
    HIP(hipStreamSynchronize(lanes[0].stream));
    HIP(hipGraphExecDestroy(graph));
    for (lane &each : lanes)
        close_lane(each);
    HIP(hipHostFree(pinned));
    HIP(hipFree(device));
    HIP(hipFree(out));
    result.check(same, "copies are whole");
    result.check(ordered, "events tell a time");
}

/* --- */

void print_memory(long second)
{
    unsigned long rss = 0, maps = 0, fds = 0;
    std::ifstream statm("/proc/self/statm"), lines("/proc/self/maps");
    statm >> rss >> rss;
    for (std::string line; std::getline(lines, line);)
        maps++;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        fds++;
    closedir(folder);
    std::printf("memory %ld rss %lu maps %lu fds %lu dispatches %lu\n", second,
                rss * (unsigned long)sysconf(_SC_PAGESIZE) / 1024, maps, fds, dispatches.load());
    std::fflush(stdout);
}

void print_launched(const std::string &name, unsigned long n)
{
    if (n)
        std::printf("launched %s %lu\n", name.c_str(), n);
}

} // namespace

int main(int argc, char **argv)
{
    long seconds = 10;
    bool hold = false;
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--hold") == 0)
            hold = true;
        else if (std::strcmp(argv[i], "--drained") == 0)
            drained = true;
        else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = std::atol(argv[++i]);
    }
    int gpus = 0;
    HIP(hipGetDeviceCount(&gpus));
    open_hsa();
    const std::vector<char> modules[MODULE_NAMES] = {code_object("mod0"), code_object("mod1")};
    load_flood();
    tally t;
    std::vector<std::thread> threads;
    threads.emplace_back(mix_work, modules, std::ref(t));
    threads.emplace_back(churn);
    threads.emplace_back(flood_queue);

    while (!warm || queues < 10 || flooded[0] < 20000)
        usleep(10000);
    auto begun = std::chrono::steady_clock::now();
    for (long tenth = 0, told = -1; tenth < 10 * seconds;) {
        flood_now = tenth % 100 >= 70 || (seconds < 10 && tenth % 10 >= 7);
        if (tenth / 10 != told) {
            told = tenth / 10;
            print_memory(told);
        }
        usleep(50000);
        auto since = std::chrono::steady_clock::now() - begun;
        tenth = (long)std::chrono::duration_cast<std::chrono::milliseconds>(since).count() / 100;
    }
    over = true;
    for (std::thread &each : threads)
        each.join();
    HIP(hipDeviceSynchronize());
    print_memory(seconds);

    for (int k = 0; k < KERNELS; k++)
        print_launched("soak_" + std::to_string(k / 10) + std::to_string(k % 10), t.kernel[k]);
    print_launched("soak_event", t.event);
    print_launched("soak_graph", t.graph);
    for (int n = 0; n < MODULE_NAMES; n++)
        for (int k = 0; k < MODULE_KERNELS; k++)
            print_launched("mod" + std::to_string(n) + "0" + std::to_string(k), t.module[n][k]);
    for (int k = 0; k < FLOOD_KERNELS; k++)
        print_launched("raw_0" + std::to_string(k), flooded[k] + (k == 0 ? raw_launched.load() : 0));
    std::printf("work bursts %lu events %lu replays %lu graphs %lu copies %lu modules %lu streams %lu queues %lu\n",
                t.bursts, t.event, t.replays, t.graphs, t.copies, t.modules, t.streams, queues.load());
    result.check(dispatches > 0, "there was work");
    int status = result.report("soak");
    if (hold)
        hold_until_stdin_closes();
    return status;
}
