/*
 * intercept_signalled.c - kernels with the application's completion signals, in every way that programs use such
 * signals: intercept_signalled SCENE [--hold].
 *
 * A scene prints "launched KERNEL N" for its dispatches with and without a signal, then "intercept_signalled: PASS",
 * and with --hold "holding" until standard input closes. It checks what an application sees: its waits end, and the
 * times on its signals are those of its kernel.
 */
#include "intercept_hsa.h"

#include <hsa/amd_hsa_signal.h>
#include <pthread.h>

static struct family sign;
static unsigned long launched[FAMILY];
static bool holding;

static void setup(void)
{
    if (!open_runtime())
        die("no GPU");
    load_family(&sign, "sign");
}

static hsa_signal_t new_signal(hsa_signal_value_t value)
{
    hsa_signal_t signal;
    must(hsa_signal_create(value, 0, NULL, &signal), "signal");
    return signal;
}

static void send_kernel(hsa_queue_t *queue, unsigned kernel, hsa_signal_t signal)
{
    __atomic_fetch_add(&launched[kernel], 1, __ATOMIC_RELAXED);
    launch_packet(queue, sign.object[kernel], signal, BARRIER_BIT, true);
}

static void wait_for(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_ACTIVE) >= 1)
        ;
}

static uint64_t ticks_of(hsa_signal_t signal)
{
    const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)signal.handle;
    return memory->end_ts - memory->start_ts;
}

/* The application must read this kernel's times; the script gives each kernel a distinct duration. */
static void check_times(hsa_signal_t signal, unsigned kernel)
{
    hsa_amd_profiling_dispatch_time_t time = {0, 0};
    must(hsa_amd_profiling_get_dispatch_time(gpu_agent, signal, &time), "time");
    if (ticks_of(signal) != 100 * (kernel + 1) || time.end <= time.start)
        die("the application's own signal has the times of another kernel, or none");
}

static void send_barrier(hsa_queue_t *queue, hsa_signal_t after, hsa_signal_t done)
{
    uint64_t index;
    hsa_barrier_and_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->dep_signal[0] = after;
    packet->completion_signal = done;
    publish_packet(queue, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT, 0, index, true);
}

static const hsa_signal_t none = {0};

/*
 * Three kernels on two queues. A ends only after D, which waits for C, so C's signal must complete when C ends. A tool
 * that replaces signals and forwards completions in the order of submission waits for A first: deadlock. With "apart" A
 * is submitted last, and such a tool gets through.
 */
static void scene_chain(bool apart)
{
    const char *patience = getenv("SIGNALLED_PATIENCE");
    hsa_signal_t a = new_signal(1), c = new_signal(1), d = new_signal(1);
    hsa_queue_t *first = open_queue(64), *second = open_queue(64);
    if (!apart) {
        send_barrier(first, d, none);
        send_kernel(first, 0, a);
    }
    send_kernel(second, 1, c);
    send_barrier(second, c, none);
    send_kernel(second, 2, d);
    if (apart) {
        send_barrier(first, d, none);
        send_kernel(first, 0, a);
    }
    uint64_t until = clock_ns() + (patience ? strtoull(patience, NULL, 10) : 60) * 1000000000ull;
    while (hsa_signal_load_scacquire(a) >= 1) {
        if (clock_ns() > until) {
            puts("intercept_signalled: STUCK");
            fflush(stdout);
            _exit(4);
        }
        sched_yield();
    }
    must(hsa_signal_destroy(a), "destroy");
    must(hsa_signal_destroy(c), "destroy");
    must(hsa_signal_destroy(d), "destroy");
    must(hsa_queue_destroy(second), "destroy");
    must(hsa_queue_destroy(first), "destroy");
}

/* One signal on two queues in turn, reused as soon as it completes, with barriers and copies on it in between. */
static void scene_reuse(void)
{
    enum { BYTES = 4096 };
    hsa_queue_t *queue[2] = {open_queue(1024), open_queue(1024)};
    hsa_signal_t signal = new_signal(0);
    void *from = NULL, *to = NULL;
    must(hsa_amd_profiling_async_copy_enable(true), "copy times");
    must(hsa_amd_memory_pool_allocate(kernarg_pool, BYTES, 0, &from), "memory");
    must(hsa_amd_memory_pool_allocate(kernarg_pool, BYTES, 0, &to), "memory");
    must(hsa_amd_agents_allow_access(1, &gpu_agent, NULL, from), "access");
    must(hsa_amd_agents_allow_access(1, &gpu_agent, NULL, to), "access");
    for (unsigned i = 0; i < 6000; i++) {
        hsa_signal_store_relaxed(signal, 1);
        switch (i % 8) {
        case 3:
            send_barrier(queue[i % 2], none, signal);
            break;
        case 6:
            must(hsa_amd_memory_async_copy(to, gpu_agent, from, cpu_agent, BYTES, 0, NULL, signal), "copy");
            break;
        default:
            send_kernel(queue[i / 3 % 2], i % 10, signal);
        }
        wait_for(signal);
        if (i % 8 != 3 && i % 8 != 6)
            check_times(signal, i % 10);
    }
    must(hsa_signal_destroy(signal), "destroy");
    must(hsa_amd_memory_pool_free(from), "free");
    must(hsa_amd_memory_pool_free(to), "free");
    must(hsa_queue_destroy(queue[0]), "destroy");
    must(hsa_queue_destroy(queue[1]), "destroy");
}

/* One signal a kernel, destroyed as soon as it completes. */
static void scene_fleeting(void)
{
    hsa_queue_t *queue = open_queue(1024);
    for (unsigned i = 0; i < 3000; i++) {
        hsa_signal_t signal = new_signal(1);
        send_kernel(queue, i % 10, signal);
        wait_for(signal);
        check_times(signal, i % 10);
        must(hsa_signal_destroy(signal), "destroy");
    }
    must(hsa_queue_destroy(queue), "destroy");
}

/* A signal that counts down eight kernels, all in flight at once; then the same signal on a single kernel. */
static void scene_counter(void)
{
    hsa_queue_t *queue = open_queue(1024);
    hsa_signal_t counter = new_signal(0), gate = new_signal(1);
    for (unsigned round = 0; round < 20; round++) {
        hsa_signal_store_relaxed(gate, 1);
        hsa_signal_store_relaxed(counter, 8);
        send_barrier(queue, gate, none);
        for (unsigned i = 0; i < 8; i++)
            send_kernel(queue, i, counter);
        hsa_signal_store_screlease(gate, 0);
        wait_for(counter);
    }
    must(hsa_signal_destroy(counter), "destroy");
    must(hsa_signal_destroy(gate), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
}

/* Signals created without the library: a record in the application's memory, freed at once, and one shared between
 * processes. */
static void scene_foreign(void)
{
    hsa_queue_t *queue = open_queue(1024);
    hsa_signal_t shared;
    must(hsa_amd_signal_create(0, 0, NULL, HSA_AMD_SIGNAL_IPC, &shared), "signal");
    for (unsigned i = 0; i < 100; i++) {
        amd_signal_t *made = NULL;
        must(hsa_amd_memory_pool_allocate(kernarg_pool, 4096, 0, (void **)&made), "memory");
        must(hsa_amd_agents_allow_access(1, &gpu_agent, NULL, made), "access");
        memset(made, 0, sizeof *made);
        made->kind = AMD_SIGNAL_KIND_USER;
        made->value = 1;
        send_kernel(queue, 0, (hsa_signal_t){(uintptr_t)made});
        while (__atomic_load_n(&made->value, __ATOMIC_ACQUIRE) >= 1)
            sched_yield();
        must(hsa_amd_memory_pool_free(made), "free"); /* unmapped: any later access crashes */
        hsa_signal_store_relaxed(shared, 1);
        send_kernel(queue, 1, shared);
        wait_for(shared);
    }
    must(hsa_signal_destroy(shared), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
}

/* Kernels that never complete: their signal or their queue is destroyed. */
static void scene_lost(void)
{
    hsa_queue_t *queue = open_queue(1024);
    hsa_signal_t gate = new_signal(1), one = new_signal(1), two = new_signal(1);
    send_barrier(queue, gate, none);
    send_kernel(queue, 0, one);
    send_kernel(queue, 1, two);
    must(hsa_signal_destroy(one), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
    /* The second kernel's signal is reused on another queue. */
    queue = open_queue(1024);
    hsa_signal_store_relaxed(two, 1);
    send_kernel(queue, 2, two);
    wait_for(two);
    check_times(two, 2);
    must(hsa_signal_destroy(two), "destroy");
    must(hsa_signal_destroy(gate), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
}

/* Signals that move between threads and queues, while another thread creates and destroys some. */
enum { THREADS = 4, SHARED = 16, EACH = 3000 };
static struct {
    pthread_mutex_t lock;
    hsa_signal_t signal;
} shared[SHARED];

static void *pass_around(void *data)
{
    unsigned id = (unsigned)(uintptr_t)data, random = id * 77 + 1;
    hsa_queue_t *queue = open_queue(1024);
    for (unsigned i = 0; i < EACH; i++) {
        random = random * 1664525u + 1013904223u;
        unsigned at = random >> 8, kernel = (random >> 16) % 10;
        while (pthread_mutex_trylock(&shared[at % SHARED].lock) != 0)
            at++;
        at %= SHARED;
        hsa_signal_store_relaxed(shared[at].signal, 1);
        send_kernel(queue, kernel, shared[at].signal);
        wait_for(shared[at].signal);
        check_times(shared[at].signal, kernel);
        if (i % 50 == 0) {
            must(hsa_signal_destroy(shared[at].signal), "destroy");
            shared[at].signal = new_signal(0);
        }
        pthread_mutex_unlock(&shared[at].lock);
    }
    must(hsa_queue_destroy(queue), "destroy");
    return NULL;
}

static void *make_and_destroy(void *data)
{
    hsa_signal_t some[64];
    while (!__atomic_load_n((bool *)data, __ATOMIC_ACQUIRE)) {
        for (int i = 0; i < 64; i++)
            must(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &some[i]), "signal");
        for (int i = 0; i < 64; i++)
            must(hsa_signal_destroy(some[i]), "destroy");
        sched_yield();
    }
    return NULL;
}

static void scene_threads(void)
{
    static bool over;
    pthread_t thread[THREADS], maker;
    for (int i = 0; i < SHARED; i++) {
        pthread_mutex_init(&shared[i].lock, NULL);
        shared[i].signal = new_signal(0);
    }
    pthread_create(&maker, NULL, make_and_destroy, &over);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, pass_around, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    pthread_join(maker, NULL);
    for (int i = 0; i < SHARED; i++)
        must(hsa_signal_destroy(shared[i].signal), "destroy");
}

/* Every scene ends with some dispatches without a signal. */
static void unsignalled(void)
{
    hsa_queue_t *queue = open_queue(1024);
    for (int i = 0; i < 20; i++)
        send_kernel(queue, 99, none);
    drain(queue);
    must(hsa_queue_destroy(queue), "destroy");
}

static void scene_before(void)
{
    scene_chain(false);
}

static void scene_apart(void)
{
    scene_chain(true);
}

int main(int argc, char **argv)
{
    const char *scene = argc > 1 ? argv[1] : "";
    static const struct {
        const char *name;
        void (*play)(void);
    } scenes[] = {{"chain", scene_before},      {"apart", scene_apart},     {"reuse", scene_reuse},
                  {"fleeting", scene_fleeting}, {"counter", scene_counter}, {"foreign", scene_foreign},
                  {"lost", scene_lost},         {"threads", scene_threads}};
    holding = argc > 2 && strcmp(argv[2], "--hold") == 0;
    setup();
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (strcmp(scene, scenes[i].name) != 0)
            continue;
        scenes[i].play();
        unsignalled();
        for (unsigned kernel = 0; kernel < FAMILY; kernel++)
            if (launched[kernel])
                printf("launched sign%02u %lu\n", kernel, launched[kernel]);
        puts("intercept_signalled: PASS");
        if (holding)
            hold();
        must(hsa_shut_down(), "shut down");
        return 0;
    }
    die("no such scene");
}
