/* Tests the runtime's intercept queues (queue_selftest.h). */
#include "intercept/hooks/queue_selftest.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "intercept/base/hsa_table.h"
#include "intercept/base/env_settings.h"
#include "intercept/base/tool.h"

enum {
    SMALL = 64, /* packets */
    LARGE = 4096,
    ROUNDS = 2,                            /* other threads allocate, too: each round must show growth */
    GROWTH = (LARGE - SMALL) * 64 / 4 * 3, /* bytes; the other quarter allows for memory that they free meanwhile */
};

enum selftest_result { UNKNOWN, SINGLE, BATCHES, UNSAFE };
static _Atomic int result;  /* create, under the lock; any loads */
static _Atomic bool warned; /* any: set once the user was warned */
static pthread_mutex_t selftest_lock = PTHREAD_MUTEX_INITIALIZER;
/* The test queues over all loads, and the last one's id: create, under the lock; any loads. */
static _Atomic uint64_t queues_made, last_id;

/* glibc's heap. With another allocator it doesn't grow, and the runtime counts as unsafe. */
static size_t heap_bytes(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 now = mallinfo2();
#else
    struct mallinfo now = mallinfo();
#endif
    return (size_t)now.uordblks + (size_t)now.hblkhd;
}

static hsa_queue_t *create_test_queue(hsa_agent_t agent, uint32_t packets)
{
    hsa_queue_t *queue = NULL;
    if (rtl_tool.hsa.amd_queue_intercept_create(agent, packets, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue) !=
            HSA_STATUS_SUCCESS ||
        !queue)
        return NULL;
    if (queue->id < atomic_load(&last_id)) /* the runtime was loaded again and numbers its queues from the start */
        atomic_store(&queues_made, 0);
    atomic_store(&last_id, queue->id);
    atomic_fetch_add(&queues_made, 1);
    return queue;
}

/* Drops the packets, so the GPU never gets them. Runs on this thread, before the doorbell returns. */
static void count_packets(const void *packets, uint64_t n, uint64_t index, void *data, rtl_packet_writer writer)
{
    uint64_t *most = data;
    (void)packets, (void)index, (void)writer;
    *most = n > *most ? n : *most;
}

/* Return how many of two packets behind one doorbell come in one call; 0 if unknown. */
static uint64_t packets_per_call(hsa_agent_t agent)
{
    static uint64_t most; /* not on the stack: a late call may come after the return */
    hsa_queue_t *queue = create_test_queue(agent, SMALL);
    most = 0;
    if (!queue)
        return 0;
    if (rtl_tool.hsa.amd_queue_intercept_register(queue, count_packets, &most) == HSA_STATUS_SUCCESS) {
        hsa_barrier_and_packet_t *ring = queue->base_address;
        for (int i = 0; i < 2; i++) {
            memset((char *)&ring[i] + sizeof ring[i].header, 0, sizeof ring[i] - sizeof ring[i].header);
            __atomic_store_n(&ring[i].header, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE, __ATOMIC_RELEASE);
        }
        rtl_tool.hsa.queue_store_write_index_screlease(queue, 2);
        rtl_tool.hsa.signal_store_screlease(queue->doorbell_signal, 1);
    }
    rtl_tool.hsa.queue_destroy(queue);
    return most;
}

static size_t heap_growth(hsa_agent_t agent, uint32_t packets)
{
    size_t before = heap_bytes();
    hsa_queue_t *queue = create_test_queue(agent, packets);
    size_t after = heap_bytes();
    if (queue)
        rtl_tool.hsa.queue_destroy(queue);
    return after > before ? after - before : 0;
}

static enum selftest_result run_selftest(hsa_agent_t agent)
{
    if (packets_per_call(agent) < 2)
        return SINGLE;
    for (int i = 0; i < ROUNDS; i++)
        if (heap_growth(agent, LARGE) < heap_growth(agent, SMALL) + GROWTH)
            return UNSAFE;
    return BATCHES;
}

bool rtl_queue_selftest(hsa_agent_t agent)
{
    if (!rtl_hsa_may_batch(rtl_tool.hsa.ext_bytes))
        return false;
    pthread_mutex_lock(&selftest_lock);
    if (atomic_load(&result) == UNKNOWN)
        atomic_store(&result, (int)run_selftest(agent));
    pthread_mutex_unlock(&selftest_lock);
    return atomic_load(&result) == UNSAFE;
}

void rtl_queue_selftest_warn(void)
{
    if (atomic_exchange(&warned, true))
        return;
    rtl_segment_note(&rtl_tool.segment, RTL_NOTE_BATCH_UNSAFE);
    rtl_say("this runtime's intercept queues overwrite memory (ROCm 7.2.0 to 7.2.4 do): kernels are not counted");
}

bool rtl_queue_selftest_batches(void)
{
    int now = atomic_load(&result);
    return now == BATCHES || now == UNSAFE;
}

uint64_t rtl_queue_selftest_id_without(uint64_t id)
{
    return id > atomic_load(&last_id) ? id - atomic_load(&queues_made) : id;
}

void rtl_queue_selftest_reset(void)
{
    pthread_mutex_lock(&selftest_lock);
    atomic_store(&result, UNKNOWN);
    atomic_store(&warned, false);
    pthread_mutex_unlock(&selftest_lock);
}
