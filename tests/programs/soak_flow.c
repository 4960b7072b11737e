/*
 * soak_flow.c - raw HSA: dispatches as fast as the queues accept them, with an exact tally (`make soak-flow`).
 *
 * soak_flow DISPATCHES [LANES]
 * A lane is a thread with its own queue, on its own GPU if there are enough. It submits bursts of random length from
 * kernels with its own names. One packet in 64 carries a signal of the program, some are barriers. At times the lane
 * drains its queue, destroys it and creates one of another size. A further thread copies memory.
 *
 * Prints "begins" when the lanes start and "memory PERCENT KB" after each tenth. At the end it prints "launched KERNEL
 * N" for each kernel, "work ..." and "holding", and waits until standard input is closed. Status 2: an error.
 */
#include "intercept_hsa.h"

#include <pthread.h>
#include <stdatomic.h>

enum { LANES = 16, KERNELS = 16, BURST = 192, SIGNALS = 64, QUEUE_LIFE = 3000000, COPY_BYTES = 4096 };

static struct lane {
    pthread_t thread;
    hsa_agent_t agent;
    struct family family;
    unsigned long share; /* dispatches that it makes */
    unsigned long launched[KERNELS], signalled, barriers, queues;
    _Atomic unsigned long done; /* written by the lane, read by main */
} lanes[LANES];

static hsa_agent_t gpus[LANES];
static unsigned gpu_count;
static _Atomic bool over; /* written by main, read by the copying thread */
static unsigned long copies;

static hsa_status_t add_gpu(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    must(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
    if (type == HSA_DEVICE_TYPE_GPU && gpu_count < LANES)
        gpus[gpu_count++] = agent;
    return HSA_STATUS_SUCCESS;
}

static uint32_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static hsa_queue_t *lane_queue(struct lane *lane)
{
    static const uint32_t sizes[] = {16384, 1024, 4096};
    hsa_queue_t *queue = NULL;
    must(hsa_queue_create(lane->agent, sizes[lane->queues++ % 3], HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
                          UINT32_MAX, &queue),
         "queue");
    return queue;
}

static void submit_barrier(hsa_queue_t *queue)
{
    uint64_t index;
    hsa_barrier_and_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    publish_packet(queue, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT, 0, index, true);
}

static void *run_lane(void *data)
{
    struct lane *lane = data;
    uint64_t random = (uint64_t)(lane - lanes) + 1;
    hsa_queue_t *queue = lane_queue(lane);
    hsa_signal_t signal[SIGNALS];
    unsigned next_signal = 0;
    unsigned long done = 0, renewed = 0;
    for (int i = 0; i < SIGNALS; i++)
        must(hsa_signal_create(0, 0, NULL, &signal[i]), "signal");
    while (done < lane->share) {
        unsigned long burst = 1 + next_random(&random) % BURST;
        if (burst > lane->share - done)
            burst = lane->share - done;
        for (unsigned long i = 0; i < burst; i++) {
            unsigned kernel = next_random(&random) % KERNELS;
            hsa_signal_t with = {0};
            if ((done + i) % 64 == 0) {
                with = signal[next_signal++ % SIGNALS];
                while (hsa_signal_wait_scacquire(with, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                                 HSA_WAIT_STATE_BLOCKED) >= 1)
                    ;
                hsa_signal_store_relaxed(with, 1);
                lane->signalled++;
            }
            launch_packet(queue, lane->family.object[kernel], with, BARRIER_BIT, i + 1 == burst || with.handle);
            lane->launched[kernel]++;
        }
        done += burst;
        if (next_random(&random) % 32 == 0) {
            submit_barrier(queue);
            lane->barriers++;
        }
        if (done - renewed > QUEUE_LIFE) {
            drain(queue);
            must(hsa_queue_destroy(queue), "destroy");
            queue = lane_queue(lane);
            renewed = done;
        }
        atomic_store_explicit(&lane->done, done, memory_order_relaxed);
    }
    drain(queue);
    must(hsa_queue_destroy(queue), "destroy");
    for (int i = 0; i < SIGNALS; i++)
        must(hsa_signal_destroy(signal[i]), "destroy signal");
    return NULL;
}

static void *run_copies(void *data)
{
    char *block = data;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        hsa_signal_t done;
        must(hsa_signal_create(1, 0, NULL, &done), "signal");
        must(hsa_amd_memory_async_copy(block, gpu_agent, block + COPY_BYTES, cpu_agent, COPY_BYTES, 0, NULL, done),
             "copy");
        while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
            ;
        must(hsa_signal_destroy(done), "destroy signal");
        copies++;
        usleep(1000);
    }
    return NULL;
}

static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        die("no /proc/self/statm");
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void print_progress(unsigned long wanted, unsigned count)
{
    for (unsigned long tenth = 1, done = 0; done < wanted;) {
        usleep(20000);
        done = 0;
        for (unsigned i = 0; i < count; i++)
            done += atomic_load_explicit(&lanes[i].done, memory_order_relaxed);
        if (done >= wanted / 10 * tenth && tenth <= 10) {
            printf("memory %lu %ld\n", 10 * tenth, resident_kb());
            fflush(stdout);
            tenth++;
        }
    }
}

int main(int argc, char **argv)
{
    unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 2;
    void *block;
    pthread_t copier;
    if (!wanted || !count || count > LANES || !open_runtime())
        die("no GPU, or wrong usage: soak_flow DISPATCHES [LANES]");
    must(hsa_iterate_agents(add_gpu, NULL), "agents");
    must(hsa_amd_agents_allow_access(gpu_count, gpus, NULL, kernarg_block), "access");
    must(hsa_amd_memory_pool_allocate(kernarg_pool, 2 * COPY_BYTES, 0, &block), "copies");
    must(hsa_amd_agents_allow_access(gpu_count, gpus, NULL, block), "access");
    memset(block, 0, 2 * COPY_BYTES);
    for (unsigned i = 0; i < count; i++) {
        char prefix[5];
        snprintf(prefix, sizeof prefix, "ln%c_", 'a' + (int)i);
        lanes[i].agent = gpu_agent = gpus[i % gpu_count];
        lanes[i].share = wanted / count + (i < wanted % count);
        load_family(&lanes[i].family, prefix);
    }
    puts("begins");
    fflush(stdout);
    if (pthread_create(&copier, NULL, run_copies, block))
        die("no thread");
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&lanes[i].thread, NULL, run_lane, &lanes[i]))
            die("no thread");
    print_progress(wanted, count);
    unsigned long signalled = 0, barriers = 0, queues = 0;
    for (unsigned i = 0; i < count; i++) {
        pthread_join(lanes[i].thread, NULL);
        signalled += lanes[i].signalled;
        barriers += lanes[i].barriers;
        queues += lanes[i].queues;
    }
    atomic_store_explicit(&over, true, memory_order_relaxed);
    pthread_join(copier, NULL);
    for (unsigned i = 0; i < count; i++)
        for (int k = 0; k < KERNELS; k++)
            printf("launched ln%c_%02d %lu\n", 'a' + (int)i, k, lanes[i].launched[k]);
    printf("work lanes %u gpus %u signalled %lu barriers %lu queues %lu copies %lu\n", count, gpu_count, signalled,
           barriers, queues, copies);
    hold();
    for (unsigned i = 0; i < count; i++)
        unload_family(&lanes[i].family);
    must(hsa_shut_down(), "shut down");
    return 0;
}
