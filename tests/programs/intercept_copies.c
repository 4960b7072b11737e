/*
 * intercept_copies.c - copies by every function that the runtime offers, on two GPUs: intercept_copies SCENE [--hold].
 *
 * Prints "copies GPU DIRECTION COUNT BYTES" for its copies, GPUs in the runtime's order, then "intercept_copies: PASS",
 * and with --hold "holding" until standard input closes. It checks the data, and the times that the application
 * requests.
 */
#include "intercept_hsa.h"

#include <dlfcn.h>
#include <pthread.h>

enum { GPUS = 2, BYTES = 1 << 20 };
enum direction { H2D, D2H, D2D, P2P, DIRECTIONS };
static const char *const direction_name[] = {"h2d", "d2h", "d2d", "p2p"};

static hsa_agent_t gpu[GPUS];
static unsigned gpus;
static char *host, *back, *device[GPUS], *other; /* `other` is on GPU 0 as well */
static struct {
    unsigned long count, bytes;
} copied[GPUS][DIRECTIONS];

static hsa_status_t see_gpu(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
    if (type == HSA_DEVICE_TYPE_GPU && gpus < GPUS)
        gpu[gpus++] = agent;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t see_local(hsa_amd_memory_pool_t pool, void *data)
{
    hsa_amd_segment_t segment;
    bool allowed = false;
    must(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment), "pool");
    must(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed), "pool");
    if (segment == HSA_AMD_SEGMENT_GLOBAL && allowed)
        *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_SUCCESS;
}

static char *memory(hsa_amd_memory_pool_t pool)
{
    void *made = NULL;
    must(hsa_amd_memory_pool_allocate(pool, BYTES, 0, &made), "memory");
    must(hsa_amd_agents_allow_access(gpus, gpu, NULL, made), "access");
    return made;
}

static void setup(void)
{
    if (!open_runtime())
        die("no GPU");
    must(hsa_iterate_agents(see_gpu, NULL), "agents");
    if (gpus < GPUS)
        die("two GPUs are needed");
    for (unsigned g = 0; g < GPUS; g++) {
        hsa_amd_memory_pool_t local;
        must(hsa_amd_agent_iterate_memory_pools(gpu[g], see_local, &local), "pools");
        device[g] = memory(local);
        if (g == 0)
            other = memory(local);
    }
    host = memory(kernarg_pool);
    back = memory(kernarg_pool);
    for (unsigned i = 0; i < BYTES; i++)
        host[i] = (char)(i * 7 + i / 4096);
}

static hsa_signal_t new_signal(hsa_signal_value_t value)
{
    hsa_signal_t signal;
    must(hsa_signal_create(value, 0, NULL, &signal), "signal");
    return signal;
}

static void wait_for(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
}

static void count_copy(unsigned g, enum direction direction, size_t bytes)
{
    __atomic_fetch_add(&copied[g][direction].count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&copied[g][direction].bytes, bytes, __ATOMIC_RELAXED);
}

/* Copy once in this direction; `g` is the GPU that counts the copy. */
static void send_after(unsigned g, enum direction direction, size_t bytes, hsa_signal_t signal, hsa_signal_t after)
{
    char *to = direction == D2H ? back : direction == D2D ? other : direction == P2P ? device[!g] : device[g];
    const char *from = direction == H2D ? host : device[g];
    hsa_agent_t to_agent = direction == D2H ? cpu_agent : direction == P2P ? gpu[!g] : gpu[g];
    hsa_agent_t from_agent = direction == H2D ? cpu_agent : gpu[g];
    must(hsa_amd_memory_async_copy(to, to_agent, from, from_agent, bytes, after.handle != 0,
                                   after.handle ? &after : NULL, signal),
         "copy");
    count_copy(g, direction, bytes);
}

static void send_copy(unsigned g, enum direction direction, size_t bytes, hsa_signal_t signal)
{
    send_after(g, direction, bytes, signal, (hsa_signal_t){0});
}

/* Times as the application reads them: plausible if it enabled times, and equal when read again. */
static void check_times(hsa_signal_t signal)
{
    hsa_amd_profiling_async_copy_time_t time = {0, 0}, again = {0, 0};
    must(hsa_amd_profiling_get_async_copy_time(signal, &time), "time");
    must(hsa_amd_profiling_get_async_copy_time(signal, &again), "time");
    if (time.end <= time.start || time.end - time.start > 60000000000ull || again.end < again.start)
        die("the application's copy has no times");
    printf("time %llu\n", (unsigned long long)(time.end - time.start));
}

/* One signal, reused as soon as it completes, for copies in all directions; the data must arrive. */
static void scene_reuse(void)
{
    hsa_signal_t signal = new_signal(0);
    for (unsigned i = 0; i < 2000; i++) {
        size_t bytes = 4096 + (size_t)(i % 100) * 1024;
        hsa_signal_store_relaxed(signal, 1);
        send_copy(i / 4 % 2 && i % 4 != D2D ? 1 : 0, (enum direction)(i % 4), bytes, signal);
        wait_for(signal);
    }
    must(hsa_signal_destroy(signal), "destroy");
    if (memcmp(back, host, 4096) != 0)
        die("the data is not what was copied");
}

/* One signal a copy; the next copy waits for it, and it is destroyed when the last copy has completed. */
static void scene_chain(void)
{
    enum { LINKS = 5 };
    for (unsigned i = 0; i < 300; i++) {
        hsa_signal_t signal[LINKS];
        for (unsigned n = 0; n < LINKS; n++) {
            signal[n] = new_signal(1);
            send_after(0, (enum direction)(n % 4), 65536, signal[n], n ? signal[n - 1] : (hsa_signal_t){0});
        }
        wait_for(signal[LINKS - 1]);
        for (unsigned n = 0; n < LINKS; n++)
            must(hsa_signal_destroy(signal[n]), "destroy");
    }
}

/* Copy times that the application enables itself and, in between, disables. */
static void scene_times(void)
{
    hsa_signal_t signal = new_signal(0);
    must(hsa_amd_profiling_async_copy_enable(true), "copy times");
    for (unsigned i = 0; i < 200; i++) {
        hsa_signal_store_relaxed(signal, 1);
        send_copy(0, i % 2 ? H2D : D2H, 250000, signal);
        wait_for(signal);
        check_times(signal);
    }
    must(hsa_amd_profiling_async_copy_enable(false), "copy times");
    for (unsigned i = 0; i < 100; i++) {
        hsa_signal_store_relaxed(signal, 1);
        send_copy(0, i % 2 ? H2D : D2H, 250000, signal);
        wait_for(signal);
    }
    must(hsa_signal_destroy(signal), "destroy");
}

/* One signal on eight copies at once; in between another signal on a single copy. */
static void scene_counter(void)
{
    hsa_signal_t counter = new_signal(0), gate = new_signal(1), alone = new_signal(0);
    for (unsigned round = 0; round < 20; round++) {
        hsa_signal_store_relaxed(gate, 1);
        hsa_signal_store_relaxed(counter, 8);
        for (unsigned i = 0; i < 8; i++)
            send_after(0, i % 2 ? H2D : D2H, 4096, counter, gate);
        hsa_signal_store_screlease(gate, 0);
        wait_for(counter);
        hsa_signal_store_relaxed(alone, 1);
        send_copy(0, H2D, 4096, alone);
        wait_for(alone);
    }
    must(hsa_signal_destroy(counter), "destroy");
    must(hsa_signal_destroy(gate), "destroy");
    must(hsa_signal_destroy(alone), "destroy");
}

static hsa_pitched_ptr_t pitched(void *base)
{
    return (hsa_pitched_ptr_t){.base = base, .pitch = 1024, .slice = 1024 * 256};
}

/* Rectangles, to the GPU and back. */
static void scene_rect(void)
{
    hsa_pitched_ptr_t from = pitched(host), there = pitched(device[0]), to = pitched(back);
    hsa_dim3_t at = {16, 3, 0}, origin = {0, 0, 0}, range = {512, 100, 2};
    hsa_signal_t signal = new_signal(0);
    for (unsigned i = 0; i < 100; i++) {
        hsa_signal_store_relaxed(signal, 1);
        must(hsa_amd_memory_async_copy_rect(&there, &at, &from, &origin, &range, gpu[0], hsaHostToDevice, 0, NULL,
                                            signal),
             "rect");
        count_copy(0, H2D, 512 * 100 * 2);
        wait_for(signal);
        hsa_signal_store_relaxed(signal, 1);
        must(
            hsa_amd_memory_async_copy_rect(&to, &origin, &there, &at, &range, gpu[0], hsaDeviceToHost, 0, NULL, signal),
            "rect");
        count_copy(0, D2H, 512 * 100 * 2);
        wait_for(signal);
    }
    if (memcmp(back, host, 512) != 0 || memcmp(back + 1024 * 99, host + 1024 * 99, 512) != 0)
        die("the rectangle is not what was copied");
    must(hsa_signal_destroy(signal), "destroy");
}

/* On an engine of the application's choice, if the runtime supports that. */
static void scene_engine(void)
{
    typedef hsa_status_t on_engine(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
                                   const hsa_signal_t *, hsa_signal_t, int, bool);
    enum { ENGINE = 2 }; /* bit of the second engine: not every release lets the first copy to a host */
    on_engine *copy;
    *(void **)&copy = dlsym(RTLD_DEFAULT, "hsa_amd_memory_async_copy_on_engine");
    hsa_signal_t signal = new_signal(0);
    if (!copy)
        puts("engine: this runtime has no such call");
    for (unsigned i = 0; copy && i < 200; i++) {
        hsa_signal_store_relaxed(signal, 1);
        if (i % 2)
            must(copy(device[0], gpu[0], host, cpu_agent, 100000, 0, NULL, signal, ENGINE, false), "on engine");
        else
            must(copy(back, cpu_agent, device[0], gpu[0], 100000, 0, NULL, signal, ENGINE, false), "on engine");
        count_copy(0, i % 2 ? H2D : D2H, 100000);
        wait_for(signal);
    }
    must(hsa_signal_destroy(signal), "destroy");
}

/*
 * Special cases: copies that the runtime refuses (not counted), signals created without the library, copies by the host
 * (no GPU's), and a signal destroyed under a waiting copy.
 */
static void scene_odd(void)
{
    hsa_signal_t shared, signal = new_signal(0), gate = new_signal(1), gone = new_signal(1);
    hsa_agent_t nobody = {0};
    must(hsa_amd_signal_create(0, 0, NULL, HSA_AMD_SIGNAL_IPC, &shared), "signal");
    for (unsigned i = 0; i < 10; i++) {
        hsa_signal_store_relaxed(signal, 1);
        if (hsa_amd_memory_async_copy(NULL, gpu[0], host, cpu_agent, 4096, 0, NULL, signal) == HSA_STATUS_SUCCESS ||
            hsa_amd_memory_async_copy(device[0], nobody, host, cpu_agent, 4096, 0, NULL, signal) == HSA_STATUS_SUCCESS)
            die("the runtime took a wrong copy");
        send_copy(0, H2D, 4096, signal);
        wait_for(signal);
        hsa_signal_store_relaxed(shared, 1);
        send_copy(0, H2D, 4096, shared);
        wait_for(shared);
        hsa_signal_store_relaxed(signal, 1);
        must(hsa_amd_memory_async_copy(back, cpu_agent, host, cpu_agent, 4096, 0, NULL, signal), "copy");
        wait_for(signal);
    }
    send_after(0, D2H, 4096, gone, gate);
    must(hsa_signal_destroy(gone), "destroy");
    must(hsa_signal_destroy(shared), "destroy");
    must(hsa_signal_destroy(signal), "destroy");
}

/* Copies and kernels in turn on the same signals, from several threads; the kernels' times stay right. */
enum { THREADS = 4, EACH = 1500 };

static void *mix_copies(void *data)
{
    const uint64_t *object = data;
    hsa_queue_t *queue = open_queue(1024);
    hsa_signal_t signal[3];
    for (int i = 0; i < 3; i++)
        signal[i] = new_signal(0);
    for (unsigned i = 0; i < EACH; i++) {
        hsa_signal_t s = signal[i % 3];
        hsa_signal_store_relaxed(s, 1);
        if (i % 2)
            send_copy(0, i % 4 == 1 ? H2D : D2H, 4096, s);
        else
            launch_packet(queue, object[i / 2 % 10], s, BARRIER_BIT, true);
        wait_for(s);
    }
    for (int i = 0; i < 3; i++)
        must(hsa_signal_destroy(signal[i]), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
    return NULL;
}

static void scene_threads(void)
{
    pthread_t thread[THREADS];
    struct family kernels;
    load_family(&kernels, "copy");
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, mix_copies, kernels.object);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    printf("kernels %u\n", THREADS * EACH / 2);
}

/* The application never enabled times: print whether it gets some. */
static void scene_unasked(void)
{
    hsa_signal_t signal = new_signal(1);
    hsa_amd_profiling_async_copy_time_t time;
    send_copy(0, H2D, 4096, signal);
    wait_for(signal);
    printf("unasked %d\n", hsa_amd_profiling_get_async_copy_time(signal, &time) == HSA_STATUS_SUCCESS);
    must(hsa_signal_destroy(signal), "destroy");
}

/* The runtime is shut down and started again. */
static void scene_again(void)
{
    for (int load = 0; load < 3; load++) {
        if (load) {
            must(hsa_shut_down(), "shut down");
            gpus = 0;
            setup();
        }
        hsa_signal_t signal = new_signal(0);
        for (unsigned i = 0; i < 20; i++) {
            hsa_signal_store_relaxed(signal, 1);
            send_copy(i % 2, H2D, 4096, signal);
            wait_for(signal);
        }
        must(hsa_signal_destroy(signal), "destroy");
    }
}

int main(int argc, char **argv)
{
    const char *scene = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        void (*play)(void);
    } scenes[] = {{"reuse", scene_reuse},     {"chain", scene_chain},     {"times", scene_times},
                  {"counter", scene_counter}, {"rect", scene_rect},       {"engine", scene_engine},
                  {"odd", scene_odd},         {"threads", scene_threads}, {"unasked", scene_unasked},
                  {"again", scene_again}};
    setup();
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (strcmp(scene, scenes[i].name) != 0)
            continue;
        scenes[i].play();
        for (unsigned g = 0; g < GPUS; g++)
            for (int d = 0; d < DIRECTIONS; d++)
                if (copied[g][d].count)
                    printf("copies %u %s %lu %lu\n", g, direction_name[d], copied[g][d].count, copied[g][d].bytes);
        puts("intercept_copies: PASS");
        if (argc > 2 && strcmp(argv[2], "--hold") == 0)
            hold();
        _exit(fflush(stdout) != 0);
    }
    die("no such scene");
}
