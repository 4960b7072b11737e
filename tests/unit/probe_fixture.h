/*
 * A stand-in for the runtime that loads probes, with a viewer: it counts memory pools, copies and executables, has the
 * control page and the state of this process's own segment, and a clock that a test can put forward.
 */
#ifndef PROBE_FIXTURE_H
#define PROBE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime_fixture.h"

#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "intercept/track/probe_gate.h"
#include "probe/code_object.h"
#include "shm/hash.h"
#include "shm/probe_client.h"

enum { CPU_AGENT = 78, PROBED_KERNEL = 0x9000, FIRST_PROBE = 900 };

/* resources in use, and the runtime's behaviour */
static _Atomic int blocks, hosts, readers, executables, copies_begun;
static _Atomic bool no_block, no_load, copies_hang, copies_fail, copies_refused;
static _Atomic bool copy_is_other; /* the copy's kernel has another name; a longer name */
static _Atomic int copy_name_longer;
static _Atomic uint32_t copy_private, copy_group; /* bytes that the copy needs */
static void *_Atomic gpu_block;
static pthread_mutex_t gpu_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the block's contents */

/* --- a clock --- */

static _Atomic uint64_t put_forward; /* ns */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "clock_gettime");
        memcpy(&real, &symbol, sizeof real);
    }
    int result = real(clock, time);
    if (clock == CLOCK_MONOTONIC)
        time->tv_sec += (time_t)(atomic_load(&put_forward) / 1000000000);
    return result;
}

/* --- the runtime --- */

static hsa_status_t two_agents(hsa_status_t (*see)(hsa_agent_t, void *), void *data)
{
    hsa_status_t status = see((hsa_agent_t){77}, data);
    return status == HSA_STATUS_SUCCESS ? see((hsa_agent_t){CPU_AGENT}, data) : status;
}

static const char *_Atomic gpu_name = "gfx000"; /* the GPU that a probe is built for */

static hsa_status_t about_agent(hsa_agent_t agent, hsa_agent_info_t what, void *answer)
{
    if (agent.handle != CPU_AGENT && what == HSA_AGENT_INFO_NAME) {
        strcpy(answer, atomic_load(&gpu_name));
        return HSA_STATUS_SUCCESS;
    }
    if (agent.handle != CPU_AGENT)
        return agent_info(agent, what, answer);
    if (what != HSA_AGENT_INFO_DEVICE)
        return HSA_STATUS_ERROR;
    *(hsa_device_type_t *)answer = HSA_DEVICE_TYPE_CPU;
    return HSA_STATUS_SUCCESS;
}

/* Each agent has a pool that can't allocate, and one of the required kind: its handle. */
static hsa_status_t pools(hsa_agent_t agent, hsa_status_t (*see)(hsa_amd_memory_pool_t, void *), void *data)
{
    hsa_status_t status = see((hsa_amd_memory_pool_t){1}, data);
    return status == HSA_STATUS_SUCCESS ? see((hsa_amd_memory_pool_t){agent.handle}, data) : status;
}

static hsa_status_t about_pool(hsa_amd_memory_pool_t pool, hsa_amd_memory_pool_info_t what, void *answer)
{
    if (what == HSA_AMD_MEMORY_POOL_INFO_SEGMENT)
        *(hsa_amd_segment_t *)answer = HSA_AMD_SEGMENT_GLOBAL;
    else if (what == HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED)
        *(bool *)answer = pool.handle != 1;
    else
        *(uint32_t *)answer = pool.handle == CPU_AGENT ? HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED
                                                       : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
    return HSA_STATUS_SUCCESS;
}

/* Memory and executables that the library leaves to the runtime, because a kernel may still use them, are no leaks:
 * their addresses stay here.
 */
static void *_Atomic held_memory[64], *_Atomic held_code[2048];
static atomic_int made; /* number of all executables so far: each has its own handle */
static const void *_Atomic last_code;

static void hold(void *memory)
{
    for (size_t i = 0; i < sizeof held_memory / sizeof *held_memory; i++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&held_memory[i], &none, memory))
            return;
    }
}

static void let_go(void *memory)
{
    for (size_t i = 0; i < sizeof held_memory / sizeof *held_memory; i++) {
        void *it = memory;
        if (atomic_compare_exchange_strong(&held_memory[i], &it, NULL))
            return;
    }
}

static void hold_code(hsa_executable_t executable, const void *code)
{
    uint64_t i = executable.handle - FIRST_PROBE;
    if (executable.handle >= FIRST_PROBE && i < sizeof held_code / sizeof *held_code)
        atomic_store(&held_code[i], (void *)(uintptr_t)code);
}

static hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags, void **memory)
{
    if (flags || pool.handle == 1)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (atomic_load(&no_block))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *memory = aligned_alloc(4096, size);
    memset(*memory, 0x5a, size);
    hold(*memory);
    atomic_fetch_add(pool.handle == 77 ? &blocks : &hosts, 1);
    if (pool.handle == 77)
        atomic_store(&gpu_block, *memory);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_free(void *memory)
{
    pthread_mutex_lock(&gpu_lock);
    atomic_fetch_sub(memory == atomic_load(&gpu_block) ? &blocks : &hosts, 1);
    let_go(memory);
    free(memory);
    pthread_mutex_unlock(&gpu_lock);
    return HSA_STATUS_SUCCESS;
}

static struct { /* the last copy that hangs */
    void *to;
    const void *from;
    size_t size;
    amd_signal_t *done;
} hung;

static __attribute__((unused)) void end_hung_copy(void)
{
    pthread_mutex_lock(&gpu_lock);
    memcpy(hung.to, hung.from, hung.size);
    pthread_mutex_unlock(&gpu_lock);
    __atomic_store_n(&hung.done->value, 0, __ATOMIC_RELEASE);
}

static hsa_status_t copy_memory(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent, size_t size,
                                uint32_t n, const hsa_signal_t *before, hsa_signal_t signal)
{
    (void)to_agent, (void)from_agent, (void)n, (void)before;
    amd_signal_t *done = (amd_signal_t *)(uintptr_t)signal.handle;
    if (atomic_load(&copies_refused))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (atomic_load(&copies_hang)) {
        hung.to = to;
        hung.from = from;
        hung.size = size;
        hung.done = done;
        atomic_fetch_add(&copies_begun, 1);
        return HSA_STATUS_SUCCESS;
    }
    atomic_fetch_add(&copies_begun, 1);
    pthread_mutex_lock(&gpu_lock);
    memcpy(to, from, size);
    pthread_mutex_unlock(&gpu_lock);
    __atomic_store_n(&done->value, atomic_load(&copies_fail) ? -1 : 0, __ATOMIC_RELEASE);
    return HSA_STATUS_SUCCESS;
}

static void store_signal(hsa_signal_t signal, hsa_signal_value_t value)
{
    __atomic_store_n(&((amd_signal_t *)(uintptr_t)signal.handle)->value, value, __ATOMIC_RELEASE);
}

static hsa_status_t make_reader(const void *code, size_t size, hsa_code_object_reader_t *reader)
{
    (void)size;
    atomic_store(&last_code, code);
    reader->handle = (uint64_t)atomic_fetch_add(&readers, 1) + 1;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t reader_gone(hsa_code_object_reader_t reader)
{
    (void)reader;
    atomic_fetch_sub(&readers, 1);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t make_executable(hsa_profile_t profile_of, hsa_default_float_rounding_mode_t mode,
                                    const char *options, hsa_executable_t *executable)
{
    (void)profile_of, (void)mode, (void)options;
    atomic_fetch_add(&executables, 1);
    executable->handle = FIRST_PROBE + (uint64_t)atomic_fetch_add(&made, 1);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t load_code(hsa_executable_t executable, hsa_agent_t agent, hsa_code_object_reader_t reader,
                              const char *options, hsa_loaded_code_object_t *loaded)
{
    (void)agent, (void)reader, (void)options, (void)loaded;
    if (!atomic_load(&no_load))
        hold_code(executable, atomic_load(&last_code));
    return atomic_load(&no_load) ? HSA_STATUS_ERROR_INVALID_CODE_OBJECT : HSA_STATUS_SUCCESS;
}

static hsa_status_t executable_gone(hsa_executable_t executable)
{
    hold_code(executable, NULL);
    if (executable.handle >= FIRST_PROBE)
        atomic_fetch_sub(&executables, 1);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t symbols_of(hsa_executable_t executable,
                               hsa_status_t (*see)(hsa_executable_t, hsa_executable_symbol_t, void *), void *data)
{
    return see(executable, (hsa_executable_symbol_t){executable.handle >= FIRST_PROBE ? PROBED_KERNEL : 1}, data);
}

static _Atomic uint64_t loaded_on = 77; /* the agent of the loaded kernels; 0: unknown */

static hsa_status_t about_symbol(hsa_executable_symbol_t symbol, hsa_executable_symbol_info_t what, void *answer)
{
    if (what == HSA_EXECUTABLE_SYMBOL_INFO_AGENT) {
        *(hsa_agent_t *)answer = (hsa_agent_t){atomic_load(&loaded_on)};
        return atomic_load(&loaded_on) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
    }
    if (symbol.handle != PROBED_KERNEL)
        return symbol_info(symbol, what, answer);
    if (what == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT)
        *(uint64_t *)answer = PROBED_KERNEL;
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE)
        *(uint32_t *)answer = atomic_load(&copy_private);
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE)
        *(uint32_t *)answer = atomic_load(&copy_group);
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH)
        *(uint32_t *)answer = (uint32_t)(NAME + atomic_load(&copy_name_longer));
    else if (what == HSA_EXECUTABLE_SYMBOL_INFO_NAME) {
        char *name = answer;
        memset(name, 'n', (size_t)(NAME - 3 + atomic_load(&copy_name_longer)));
        if (atomic_load(&copy_is_other))
            name[NAME - 4] = 'm';
        memcpy(name + NAME - 3 + atomic_load(&copy_name_longer), ".kd", 3);
    } else {
        return symbol_info(symbol, what, answer);
    }
    return HSA_STATUS_SUCCESS;
}

/* --- the viewer --- */

static struct rtl_reader *reader;
static struct rtl_probe_link link_to;
static struct rtl_probe_state state_now;

static __attribute__((unused)) hsa_status_t app_freeze(uint64_t executable)
{
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    return freeze((hsa_executable_t){executable}, NULL);
}

static __attribute__((unused)) void app_executable_destroy(uint64_t executable)
{
    hsa_status_t (*destroy)(hsa_executable_t) = core.slot[84];
    assert_int_equal(destroy((hsa_executable_t){executable}), HSA_STATUS_SUCCESS);
}

static void (*fill_all_tables)(void) = fill_tables; /* replaced by a test with other queues */

static bool lacks_loading; /* the runtime has no executable_load_agent_code_object */

static void load_library(void)
{
    char why[200];
    fill_all_tables();
    any_attributes = true;
    core.slot[5] = (void *)two_agents;
    core.slot[6] = (void *)about_agent;
    core.slot[41] = (void *)store_signal;
    core.slot[84] = (void *)executable_gone;
    core.slot[93] = (void *)about_symbol;
    core.slot[94] = (void *)symbols_of;
    core.slot[116] = (void *)make_reader;
    core.slot[117] = (void *)reader_gone;
    core.slot[118] = (void *)make_executable;
    core.slot[120] = (void *)load_code;
    ext.slot[11] = (void *)about_pool;
    ext.slot[12] = (void *)pools;
    ext.slot[13] = (void *)pool_allocate;
    ext.slot[14] = (void *)pool_free;
    ext.slot[15] = (void *)copy_memory;
    setenv("RTL_PROBE", "1", 1);
    assert_true(OnLoad(&root, 1, 0, NULL));
    if (lacks_loading) /* before the first queue starts the worker, which reads the table */
        rtl_tool.hsa.executable_load_agent_code_object = NULL;
    assert_int_equal(app_freeze(1), HSA_STATUS_SUCCESS);
    assert_non_null(app_queue());
    assert_non_null(rtl_tool.segment.probe);
    if (!reader) {
        assert_int_equal(rtl_reader_open_fd(dup(rtl_tool.segment.fd), &reader, why, sizeof why), RTL_READER_OK);
        link_to.page = mmap(NULL, RTL_PROBE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
                            (int)rtl_tool.segment.probe->page_fd, 0);
        assert_ptr_not_equal(link_to.page, MAP_FAILED);
        link_to.key = rtl_tool.segment.probe_key;
    }
}

static void moment(void)
{
    nanosleep(&(struct timespec){0, 200000}, NULL);
    assert_true(rtl_reader_probe(reader, &state_now) || true);
}

/* Wait until the condition on state_now holds. */
#define AWAIT(condition)                                                        \
    do {                                                                        \
        for (int tries_ = 0; tries_ < 5 * patience() && !(condition); tries_++) \
            moment();                                                           \
        assert_true(condition);                                                 \
    } while (0)

static __attribute__((unused)) void beat(void)
{
    rtl_probe_heartbeat(&link_to);
}

/* A code object as a viewer makes it, whose kernel only ends. */
static _Alignas(8) char code[4992];
static __attribute__((unused)) size_t make_code(void)
{
    static const uint32_t words[64] = {0xbf810000};
    const struct rtl_code_draft draft = {.kernel = "k", .text = words, .text_bytes = sizeof words};
    size_t bytes = 0;
    void *made_now = rtl_code_write(&draft, &bytes);
    assert_non_null(made_now);
    assert_int_equal(bytes, sizeof code);
    memcpy(code, made_now, bytes);
    free(made_now);
    return bytes;
}

static __attribute__((unused)) void prepare(uint64_t object)
{
    uint16_t number = rtl_probe_prepare(reader, &link_to, object, 0);
    AWAIT(state_now.number == number);
}

static __attribute__((unused)) struct rtl_probe_request request_for(uint32_t every, uint64_t wanted)
{
    return (struct rtl_probe_request){.kernel_object = KERNEL, .every = every, .wanted = wanted, .ends_shift = 4};
}

static __attribute__((unused)) void arm_with(struct rtl_probe_request request)
{
    uint16_t number = rtl_probe_arm(reader, &link_to, state_now.number, &request, code, make_code());
    AWAIT(state_now.number == number);
}

static __attribute__((unused)) void arm_probe(uint32_t every, uint64_t wanted)
{
    prepare(KERNEL);
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_PREPARED);
    arm_with(request_for(every, wanted));
    assert_int_equal(state_now.phase, RTL_PROBE_PHASE_ARMED);
    assert_int_equal(state_now.why, RTL_PROBE_WHY_NONE);
}

static __attribute__((unused)) void disarm_probe(void)
{
    uint16_t number = rtl_probe_disarm(reader, &link_to);
    AWAIT(state_now.number == number);
}

static __attribute__((unused)) bool gate_is(enum rtl_probe_gate_state state)
{
    return atomic_load(&rtl_probe_gate.state) == state;
}

static __attribute__((unused)) bool nothing_is_held(void)
{
    return !atomic_load(&blocks) && !atomic_load(&hosts) && !atomic_load(&readers) && !atomic_load(&executables);
}

static __attribute__((unused)) void forget_what_is_held(void)
{
    atomic_store(&executables, 0);
    atomic_store(&readers, 0);
    atomic_store(&blocks, 0);
    atomic_store(&hosts, 0);
}

/* --- dispatches --- */

static uint64_t ticks = 1000;

static __attribute__((unused)) uint64_t timed(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < RTL_KERNELS_MAX; i++)
        sum += AT(rtl_tool.segment.histograms[RTL_HISTOGRAM_KERNEL(i)].count);
    return sum;
}

static __attribute__((unused)) uint64_t counted_probed(void)
{
    return AT(counters_of()->untimed[RTL_UNTIMED_PROBED]);
}

static __attribute__((unused)) uint64_t dispatched(const packet_t *packet)
{
    hand_over(packet, 1);
    assert_int_equal(written_count, 1);
    return written[0].kernel_object;
}

static __attribute__((unused)) void finish_last(void)
{
    uint64_t before = AT(counters_of()->completed);
    ticks += 100000;
    complete(&written[0], ticks, 400);
    wait_completed(counters_of(), before + 1);
}

/* Write the results of a dispatch's 10 waves: one of them ends early, and one much later than the others. */
static __attribute__((unused)) void run_waves(uint64_t waves)
{
    pthread_mutex_lock(&gpu_lock);
    struct rtl_probe_block *b = atomic_load(&gpu_block);
    uint64_t *table = (uint64_t *)(void *)((char *)b + RTL_PROBE_SLOTS_AT);
    assert_int_equal(b->waves, 0); /* the block is clear */
    for (size_t i = 0; i < RTL_PROBE_SLOTS; i++)
        assert_int_equal(table[i], 0);
    table[0] = table[RTL_PROBE_SLOTS - 1] = 4711;
    assert_int_equal(b->first_start, UINT64_MAX);
    b->waves = waves;
    b->sum = 1000;
    b->min = 50;
    b->max = 300;
    b->first_start = 4096 + 8;
    b->last_end = 4096 + 160;
    b->durations[6] = (uint32_t)waves;
    b->busy[17] = 1000;
    b->gap_sum = 70;
    b->gaps[4] = b->gaps[63] = 3;
    b->ends[(4096 + 16) / 16 % 256] = 1;
    b->ends[(4096 + 32) / 16 % 256] = (uint32_t)waves - 2;
    b->ends[(4096 + 160) / 16 % 256] = 1;
    pthread_mutex_unlock(&gpu_lock);
}

static __attribute__((unused)) void set_waves(uint64_t waves)
{
    pthread_mutex_lock(&gpu_lock);
    ((struct rtl_probe_block *)atomic_load(&gpu_block))->waves = waves;
    pthread_mutex_unlock(&gpu_lock);
}

static __attribute__((unused)) void refused_with(enum rtl_probe_why why)
{
    AWAIT(state_now.phase == RTL_PROBE_PHASE_OVER);
    assert_int_equal(state_now.why, why);
    assert_true(nothing_is_held());
    assert_int_equal(atomic_load(&rtl_probe_gate.kernel_object), 0);
    assert_int_equal(atomic_load(&rtl_hot.more), 0);
}

/* Set-up and tear-down of a group of tests. */
static __attribute__((unused)) int load_it(void **state)
{
    (void)state;
    load_library();
    return 0;
}

static __attribute__((unused)) int unload_it(void **state)
{
    OnUnload();
    return free_signals(state);
}

#endif
