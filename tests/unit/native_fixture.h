/*
 * A native queue as the runtime makes it, for the stand-in of runtime_fixture.h: an amd_queue_t with ring and doorbell,
 * the runtime's functions on its write index, and a GPU that takes packets when a test requests it.
 */
#ifndef NATIVE_FIXTURE_H
#define NATIVE_FIXTURE_H

#include "runtime_fixture.h"

#include <hsa/amd_hsa_queue.h>
#include <semaphore.h>

#include "intercept/track/native_ring.h"

enum { SLOTS = 256, BELLS = 4096 };

static amd_queue_t native_queue;
static packet_t slots[SLOTS];
static amd_signal_t bell = {.kind = AMD_SIGNAL_KIND_DOORBELL, .queue_ptr = &native_queue};
static _Atomic int64_t rung[BELLS]; /* values written to the runtime's doorbell, in order */
static _Atomic uint32_t rings;
static uint32_t native_size = SLOTS;

static void (*_Atomic in_bell)(void);  /* a test's hook: runs in the publishing thread, in the doorbell */
static void (*_Atomic in_index)(void); /* a test's hook: runs before the runtime's index is set */

static void put_bell(hsa_signal_t signal, hsa_signal_value_t value)
{
    void (*then)(void) = atomic_load(&in_bell);
    if (signal.handle == (uintptr_t)&bell)
        rung[atomic_fetch_add(&rings, 1) % BELLS] = value;
    else
        __atomic_store_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, value, __ATOMIC_RELEASE);
    if (then)
        then();
}

#define REAL (*(uint64_t *)(uintptr_t)&native_queue.write_dispatch_id)
#define READ (*(uint64_t *)(uintptr_t)&native_queue.read_dispatch_id)

static uint64_t real_load(const hsa_queue_t *queue)
{
    (void)queue;
    return __atomic_load_n(&REAL, __ATOMIC_SEQ_CST);
}

static void real_store(const hsa_queue_t *queue, uint64_t index)
{
    void (*then)(void) = atomic_load(&in_index);
    (void)queue;
    if (then)
        then();
    __atomic_store_n(&REAL, index, __ATOMIC_SEQ_CST);
}

static uint64_t real_cas(const hsa_queue_t *queue, uint64_t expected, uint64_t index)
{
    (void)queue;
    __atomic_compare_exchange_n(&REAL, &expected, index, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}

static uint64_t real_add(const hsa_queue_t *queue, uint64_t n)
{
    (void)queue;
    return __atomic_fetch_add(&REAL, n, __ATOMIC_SEQ_CST);
}

static hsa_status_t make_plain(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                               void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    (void)agent, (void)size, (void)error, (void)data, (void)private_segment, (void)group_segment;
    *queue = &native_queue.hsa_queue;
    if (type == HSA_QUEUE_TYPE_COOPERATIVE && native_queue.hsa_queue.base_address)
        return HSA_STATUS_SUCCESS; /* the same queue again */
    memset(&native_queue, 0, sizeof native_queue);
    native_queue.hsa_queue = (hsa_queue_t){
        .type = type, .base_address = slots, .size = native_size, .doorbell_signal = {(uintptr_t)&bell}, .id = 7};
    memset(slots, 0, sizeof slots);
    for (int i = 0; i < SLOTS; i++)
        slots[i].header = HSA_PACKET_TYPE_INVALID;
    atomic_store(&rings, 0);
    return HSA_STATUS_SUCCESS;
}

static void fill_native_tables(void)
{
    fill_tables();
    setenv("RTL_QUEUES", "native", 1);
    core.slot[7] = (void *)make_plain;
    for (int i = 13; i < 15; i++)
        core.slot[i] = (void *)real_load;
    for (int i = 15; i < 17; i++)
        core.slot[i] = (void *)real_store;
    for (int i = 17; i < 21; i++)
        core.slot[i] = (void *)real_cas;
    for (int i = 21; i < 25; i++)
        core.slot[i] = (void *)real_add;
    core.slot[41] = core.slot[42] = core.slot[102] = core.slot[103] = (void *)put_bell;
}

/* --- the application's calls --- */

__attribute__((unused)) static uint64_t app_add(uint64_t n)
{
    uint64_t (*add)(const hsa_queue_t *, uint64_t) = core.slot[24];
    return add(&native_queue.hsa_queue, n);
}

__attribute__((unused)) static uint64_t app_load(void)
{
    uint64_t (*load)(const hsa_queue_t *) = core.slot[14];
    return load(&native_queue.hsa_queue);
}

__attribute__((unused)) static void app_store(uint64_t index)
{
    void (*store)(const hsa_queue_t *, uint64_t) = core.slot[16];
    store(&native_queue.hsa_queue, index);
}

__attribute__((unused)) static uint64_t app_cas(uint64_t expected, uint64_t index)
{
    uint64_t (*cas)(const hsa_queue_t *, uint64_t, uint64_t) = core.slot[17];
    return cas(&native_queue.hsa_queue, expected, index);
}

static void app_ring(uint64_t index)
{
    void (*store)(hsa_signal_t, hsa_signal_value_t) = core.slot[42];
    store(native_queue.hsa_queue.doorbell_signal, (hsa_signal_value_t)index);
}

static packet_t *slot_of(uint64_t index)
{
    return &slots[index % native_size];
}

static void put_body(uint64_t index, uint64_t object)
{
    packet_t p = kernel_packet(object, 0);
    memcpy((char *)slot_of(index) + 2, (char *)&p + 2, sizeof p - 2);
}

static void put_header(uint64_t index)
{
    __atomic_store_n(&slot_of(index)->header, HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE,
                     __ATOMIC_RELEASE);
}

__attribute__((unused)) static void put(uint64_t index, uint64_t object)
{
    put_body(index, object);
    put_header(index);
}

/* The GPU takes up to n published packets and completes them. */
__attribute__((unused)) static uint32_t gpu_takes(uint32_t n)
{
    static uint64_t ticks = 1000000;
    uint32_t taken = 0;
    while (taken < n && READ < __atomic_load_n(&REAL, __ATOMIC_SEQ_CST) &&
           (__atomic_load_n(&slot_of(READ)->header, __ATOMIC_ACQUIRE) & 0xff) != HSA_PACKET_TYPE_INVALID) {
        packet_t p = *slot_of(READ);
        __atomic_store_n(&slot_of(READ)->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
        __atomic_store_n(&READ, READ + 1, __ATOMIC_RELEASE);
        if (p.completion_signal.handle)
            complete(&p, ticks += 100, 7);
        taken++;
    }
    return taken;
}

/* --- the library's side --- */

static struct rtl_native *native_of(void)
{
    return rtl_native_find(&native_queue.hsa_queue);
}

__attribute__((unused)) static struct rtl_queue *native_line(void)
{
    return native_of()->tracker->counters;
}

/* Wait for an effect of another thread. */
#define WAIT_UNTIL(condition)                                               \
    do {                                                                    \
        for (int waited = 0; waited < patience() && !(condition); waited++) \
            nanosleep(&(struct timespec){0, 1000000}, NULL);                \
        assert_true(condition);                                             \
    } while (0)

/* --- another application thread, which executes the orders that it gets, one after the other --- */

enum order { RESERVES, WRITES, WRITES_HEADER, WRITES_BODY, RINGS };
static struct {
    pthread_t thread;
    sem_t go, done;
    enum order order;
    uint64_t index, object;
    bool end;
} other;

static void *be_other(void *data)
{
    (void)data;
    for (;;) {
        sem_wait(&other.go);
        if (other.end)
            return NULL;
        switch (other.order) {
        case RESERVES:
            other.index = app_add(1);
            break;
        case WRITES:
            put(other.index, other.object);
            break;
        case WRITES_HEADER:
            put_header(other.index);
            break;
        case WRITES_BODY:
            put_body(other.index, other.object);
            break;
        case RINGS:
            app_ring(other.index);
            break;
        }
        sem_post(&other.done);
    }
}

__attribute__((unused)) static void other_starts(void)
{
    memset(&other, 0, sizeof other);
    sem_init(&other.go, 0, 0);
    sem_init(&other.done, 0, 0);
    pthread_create(&other.thread, NULL, be_other, NULL);
}

__attribute__((unused)) static void other_does(enum order order)
{
    other.order = order;
    sem_post(&other.go);
    while (sem_wait(&other.done) != 0)
        ;
}

__attribute__((unused)) static void other_ends(void)
{
    other.end = true;
    sem_post(&other.go);
    pthread_join(other.thread, NULL);
}

#endif
