/*
 * A stand-in for the runtime: loads the library and lets a test complete signals. It keeps the contract of
 * hsa_amd_queue_intercept_register: the runtime owns the packets that it passes in, and copies those given to the
 * writer. One queue a thread.
 */
#ifndef RUNTIME_FIXTURE_H
#define RUNTIME_FIXTURE_H

#include <dlfcn.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/amd_hsa_queue.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "intercept/base/tool.h"
#include "intercept/hooks/hooks.h"
#include "intercept/hooks/queues.h"
#include "intercept/track/hot_line.h"
#include "intercept/track/queue_tracker.h"

/* The library's exported functions; they have no header. */
extern bool OnLoad(void *table, uint64_t version, uint64_t failed, const char *const *names);
extern void OnUnload(void);

enum { RING = 1024 };
typedef hsa_kernel_dispatch_packet_t packet_t;

/* each thread has its own queue */
static packet_t ring[RING];
#define INACTIVE_SIGNAL 0x7f0000001240ull
static __thread amd_queue_t whole_queue = {.hsa_queue = {.base_address = ring, .size = RING, .id = 5},
                                           .queue_inactive_signal = {INACTIVE_SIGNAL}};
#define the_queue whole_queue.hsa_queue
static __thread rtl_packet_handler handler;
static __thread void *handler_data;
static __thread packet_t written[8 * RING];
static __thread uint64_t written_count, writes;
static __thread const void *written_from;
static bool any_attributes;
static bool intercept_works = true, hardware_works = true;
static __thread uint32_t segment_sizes[2];

static void take(const void *packets, uint64_t count)
{
    memcpy(&written[written_count], packets, count * sizeof(packet_t));
    written_count += count;
    written_from = packets;
    writes++;
}

/* The system's clock is this many ns ahead of the GPU's, so that none of the tests' ticks is in the future. */
static const uint64_t AHEAD = 1000000000000000;

static hsa_status_t info(hsa_system_info_t what, void *answer)
{
    if (what == HSA_SYSTEM_INFO_TIMESTAMP) {
        struct timespec t;
        clock_gettime(CLOCK_BOOTTIME, &t);
        *(uint64_t *)answer = AHEAD + (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
    } else {
        *(uint16_t *)answer = 1;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t agents(hsa_status_t (*see)(hsa_agent_t, void *), void *data)
{
    return see((hsa_agent_t){77}, data);
}

static hsa_status_t agent_info(hsa_agent_t agent, hsa_agent_info_t what, void *answer)
{
    if (agent.handle != 77)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (what == HSA_AGENT_INFO_DEVICE)
        *(hsa_device_type_t *)answer = HSA_DEVICE_TYPE_GPU;
    else if (what == HSA_AGENT_INFO_NAME)
        strcpy(answer, "gfx000");
    else if ((int)what == 0xA016)
        *(uint64_t *)answer = 100000000;
    else
        *(uint32_t *)answer = 3;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t plain_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    (void)agent, (void)size, (void)type, (void)error, (void)data, (void)private_segment, (void)group_segment;
    *queue = &the_queue;
    return hardware_works ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

static hsa_status_t intercept_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, rtl_queue_error error,
                                    void *data, uint32_t private_segment, uint32_t group_segment, hsa_queue_t **queue)
{
    (void)agent, (void)size, (void)type, (void)error, (void)data;
    segment_sizes[0] = private_segment;
    segment_sizes[1] = group_segment;
    *queue = &the_queue;
    return intercept_works ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static hsa_status_t intercept_register(hsa_queue_t *queue, rtl_packet_handler registered, void *data)
{
    (void)queue;
    handler = registered;
    handler_data = data;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t queue_gone(hsa_queue_t *queue)
{
    (void)queue;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t profile(hsa_queue_t *queue, int on)
{
    (void)queue;
    return on ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

static hsa_status_t convert(hsa_agent_t agent, uint64_t tick, uint64_t *time)
{
    (void)agent;
    *time = tick * 10;
    return HSA_STATUS_SUCCESS;
}

/* The runtime's memory behind a signal. */
struct record {
    amd_signal_t signal;
    uint64_t copy_start, object, id, reserved0, copy_end, reserved1[3];
};
#define RECORD_ID 0x71FCCA6A3D5D5276ull

/* The library never destroys signals that it gave up, because a GPU might still write to them: the fixture frees them
 * at the end.
 */
static pthread_mutex_t signals_lock = PTHREAD_MUTEX_INITIALIZER;
static amd_signal_t *signals[1 << 16];
static uint32_t signals_top;

static hsa_status_t signal_made(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *consumers, uint64_t attributes,
                                hsa_signal_t *signal)
{
    amd_signal_t *made = NULL;
    (void)n, (void)consumers;
    if (!any_attributes)
        assert_int_equal(attributes, HSA_AMD_SIGNAL_AMD_GPU_ONLY);
    if (posix_memalign((void **)&made, 64, sizeof(struct record)) != 0)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    memset(made, 0, sizeof(struct record));
    ((struct record *)(void *)made)->id = RECORD_ID;
    made->value = value;
    signal->handle = (uintptr_t)made;
    pthread_mutex_lock(&signals_lock);
    made->reserved3[0] = signals_top;
    assert_true(signals_top < sizeof signals / sizeof signals[0]);
    signals[signals_top++] = made;
    pthread_mutex_unlock(&signals_lock);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t signal_gone(hsa_signal_t signal)
{
    amd_signal_t *gone = (amd_signal_t *)(uintptr_t)signal.handle;
    pthread_mutex_lock(&signals_lock);
    signals[gone->reserved3[0]] = NULL;
    pthread_mutex_unlock(&signals_lock);
    free(gone);
    return HSA_STATUS_SUCCESS;
}

__attribute__((unused)) static int free_signals(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < signals_top; i++)
        free(signals[i]);
    return 0;
}

/* Make a signal of the application. */
static hsa_status_t own_signal_made(hsa_signal_value_t value, uint32_t n, const hsa_agent_t *consumers,
                                    hsa_signal_t *signal)
{
    hsa_status_t status = signal_made(value, n, consumers, HSA_AMD_SIGNAL_AMD_GPU_ONLY, signal);
    ((amd_signal_t *)(uintptr_t)signal->handle)->kind = AMD_SIGNAL_KIND_USER;
    return status;
}

/*
 * The library looks up here what the newest runtimes export. The API table lies in this program, whose file can't be
 * opened as a library; the library would then assume exports that it can't see. This runtime has none.
 */
__attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
    static void *(*real)(const char *, int);
    void *symbol = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&real, &symbol, sizeof real);
    return real(strstr(file ? file : "", "/test_") ? NULL : file, mode);
}

static hsa_status_t nothing(void)
{
    return HSA_STATUS_SUCCESS;
}

/* The only executable has one kernel; its name is longer than a page. */
enum { KERNEL = 0x7000, NAME = 5000 };

static hsa_status_t symbol_info(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, void *answer)
{
    (void)symbol;
    if (what == HSA_EXECUTABLE_SYMBOL_INFO_TYPE) {
        *(hsa_symbol_kind_t *)answer = HSA_SYMBOL_KIND_KERNEL;
    } else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH) {
        *(uint32_t *)answer = NAME;
    } else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME) {
        memset(answer, 'n', NAME - 3);
        memcpy((char *)answer + NAME - 3, ".kd", 3); /* not terminated, as in real runtimes */
    } else {
        *(uint64_t *)answer = KERNEL;
    }
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t symbols(hsa_executable_t executable,
                            hsa_status_t (*see)(hsa_executable_t, hsa_executable_symbol_t, void *), void *data)
{
    return see(executable, (hsa_executable_symbol_t){1}, data);
}

static struct {
    uint32_t version[4];
    void *slot[125];
} core = {{2, 16 + 125 * 8, 0, 0}, {0}};
static struct {
    uint32_t version[4];
    void *slot[84]; /* the version holds the number of slots in use */
} ext = {{2, 16 + 74 * 8, 0x0D, 0}, {0}};
static struct {
    uint32_t version[4];
    void *core, *ext, *more[4];
} root = {{3, 64, 0, 0}, &core, &ext, {0}};

__attribute__((unused)) static void fill_tables(void)
{
    for (int i = 0; i < 125; i++)
        core.slot[i] = (void *)nothing;
    for (int i = 0; i < 84; i++)
        ext.slot[i] = (void *)nothing;
    /* these tests are about intercept queues; native_fixture.h is for native ones */
    setenv("RTL_QUEUES", "intercept", 1);
    core.slot[2] = (void *)info;
    core.slot[5] = (void *)agents;
    core.slot[6] = (void *)agent_info;
    core.slot[7] = (void *)plain_queue;
    core.slot[9] = (void *)queue_gone;
    core.slot[37] = (void *)own_signal_made;
    core.slot[38] = (void *)signal_gone;
    core.slot[93] = (void *)symbol_info;
    core.slot[94] = (void *)symbols;
    ext.slot[2] = (void *)profile;
    ext.slot[6] = (void *)convert;
    ext.slot[33] = (void *)signal_made;
    ext.slot[37] = (void *)intercept_queue;
    ext.slot[38] = (void *)intercept_register;
}

/* The application's calls: through the API table, as the runtime's exported functions make them. */
__attribute__((unused)) static hsa_queue_t *app_queue(void)
{
    hsa_queue_t *queue = NULL;
    hsa_status_t (*create)(hsa_agent_t, uint32_t, hsa_queue_type32_t, rtl_queue_error, void *, uint32_t, uint32_t,
                           hsa_queue_t **) = core.slot[7];
    return create((hsa_agent_t){77}, RING, 0, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue) == HSA_STATUS_SUCCESS ? queue
                                                                                                                : NULL;
}

__attribute__((unused)) static void app_queue_destroy(hsa_queue_t *queue)
{
    hsa_status_t (*destroy)(hsa_queue_t *) = core.slot[9];
    assert_int_equal(destroy(queue), HSA_STATUS_SUCCESS);
}

__attribute__((unused)) static hsa_signal_t app_signal(hsa_signal_value_t value)
{
    hsa_signal_t signal = {0};
    hsa_status_t (*create)(hsa_signal_value_t, uint32_t, const hsa_agent_t *, hsa_signal_t *) = core.slot[37];
    assert_int_equal(create(value, 0, NULL, &signal), HSA_STATUS_SUCCESS);
    return signal;
}

__attribute__((unused)) static void app_signal_destroy(hsa_signal_t signal)
{
    hsa_status_t (*destroy)(hsa_signal_t) = core.slot[38];
    assert_int_equal(destroy(signal), HSA_STATUS_SUCCESS);
}

__attribute__((unused)) static void app_copy(hsa_signal_t signal)
{
    hsa_status_t (*copy)(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t, const hsa_signal_t *,
                         hsa_signal_t) = ext.slot[15];
    hsa_agent_t agent = {77};
    assert_int_equal(copy(NULL, agent, NULL, agent, 0, 0, NULL, signal), HSA_STATUS_SUCCESS);
}

__attribute__((unused)) static void hand_over(const packet_t *packets, uint64_t count)
{
    written_count = writes = 0;
    handler(packets, count, 0, handler_data, take);
}

__attribute__((unused)) static packet_t kernel_packet(uint64_t object, uint64_t own)
{
    packet_t p;
    memset(&p, 0, sizeof p);
    p.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE;
    p.grid_size_x = 640;
    p.workgroup_size_x = 64;
    p.kernel_object = object;
    p.completion_signal.handle = own;
    return p;
}

__attribute__((unused)) static packet_t other_packet(unsigned type, uint64_t filling)
{
    packet_t p;
    memset(&p, 0x5a, sizeof p);
    p.header = (uint16_t)(type << HSA_PACKET_HEADER_TYPE);
    p.reserved2 = filling;
    return p;
}

__attribute__((unused)) static void complete(const packet_t *packet, uint64_t start, uint64_t ticks)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)packet->completion_signal.handle;
    /* one field at a time, as a GPU does: the worker polls application signals meanwhile */
    __atomic_store_n(&signal->start_ts, start, __ATOMIC_RELEASE);
    __atomic_store_n(&signal->end_ts, start + ticks, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&signal->value, 1, __ATOMIC_RELEASE);
}

/*
 * Return for how many ms a test waits: enough for the slowest machine. RTL_PATIENCE lowers it for runs with an injected
 * fault, where the event may never come.
 */
__attribute__((unused)) static int patience(void)
{
    const char *ms = getenv("RTL_PATIENCE");
    return ms ? atoi(ms) : 60000;
}

/* --- the segment, read directly, because other threads write it --- */

#define AT(counter) __atomic_load_n(&(counter), __ATOMIC_RELAXED)

__attribute__((unused)) static struct rtl_queue *counters_of(void)
{
    return ((struct rtl_tracker *)handler_data)->counters;
}

__attribute__((unused)) static uint64_t sum_untimed(struct rtl_queue *line)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < RTL_UNTIMED_LIMIT; i++)
        sum += AT(*rtl_queue_untimed(line, i));
    return sum;
}

__attribute__((unused)) static void wait_completed(const struct rtl_queue *line, uint64_t want)
{
    for (int i = 0; i < patience() && __atomic_load_n(&line->completed, __ATOMIC_ACQUIRE) < want; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(__atomic_load_n(&line->completed, __ATOMIC_ACQUIRE), want);
}

#endif
