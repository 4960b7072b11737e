/*
 * Batches of copies through the library's hook: the direction under which each kind of operation counts, which
 * operations are timed, and that unknown operations and versions are not read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime_fixture.h"

#include "../programs/intercept_described.h"
#include "intercept/base/hsa_clock.h"
#include "intercept/track/app_signals.h"

enum { HOST = 78, SLOT = 76, MANY = 70, TIMED = 64 };

static hsa_status_t answer;
static uint32_t asked; /* operations that the runtime got last */

/* Each copy takes a tick for ten bytes of the first word of its sizes. */
static hsa_status_t runtime_batch(const struct operation *operations, uint32_t count, uint32_t n,
                                  const hsa_signal_t *after)
{
    static uint64_t now = 1000000;
    (void)n, (void)after;
    asked = count;
    for (uint32_t i = 0; answer == HSA_STATUS_SUCCESS && i < count; i++) {
        struct record *record = (struct record *)(uintptr_t)operations[i].completion_signal.handle;
        uint64_t start = now += 100000;
        __atomic_store_n(&record->copy_start, start, __ATOMIC_RELEASE);
        __atomic_store_n(&record->copy_end, start + 300, __ATOMIC_RELEASE);
        __atomic_fetch_sub(&record->signal.value, 1, __ATOMIC_RELEASE);
    }
    return answer;
}

static hsa_status_t runtime_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
    const struct record *record = (const struct record *)(uintptr_t)signal.handle;
    time->start = __atomic_load_n(&record->copy_start, __ATOMIC_ACQUIRE) * 10;
    time->end = __atomic_load_n(&record->copy_end, __ATOMIC_ACQUIRE) * 10;
    return HSA_STATUS_SUCCESS;
}

/* Exported like the runtime's, which is found in its table. The library looks it up by name, so this program exports
 * its symbols.
 */
__attribute__((visibility("default"))) hsa_status_t hsa_amd_memory_async_batch_copy(const struct operation *operations,
                                                                                    uint32_t count, uint32_t n,
                                                                                    const hsa_signal_t *after);
hsa_status_t hsa_amd_memory_async_batch_copy(const struct operation *operations, uint32_t count, uint32_t n,
                                             const hsa_signal_t *after)
{
    return ((hsa_status_t(*)(const struct operation *, uint32_t, uint32_t, const hsa_signal_t *))ext.slot[SLOT])(
        operations, count, n, after);
}

static void load(void)
{
    fill_tables();
    ext.version[1] = 16 + 84 * 8;
    ext.slot[5] = (void *)runtime_time;
    ext.slot[SLOT] = (void *)runtime_batch;
    assert_true(OnLoad(&root, 1, 0, NULL));
    assert_ptr_not_equal(ext.slot[SLOT], (void *)runtime_batch);
    answer = HSA_STATUS_SUCCESS;
    __atomic_store_n(&rtl_tool.segment.header->notes, 0, __ATOMIC_RELAXED);
}

static const struct rtl_copies *line(enum rtl_direction direction)
{
    return &rtl_tool.segment.copies[RTL_COPIES_OF(0, direction)];
}

static uint64_t timed(enum rtl_direction direction)
{
    return AT(rtl_tool.segment.histograms[RTL_HISTOGRAM_COPIES(RTL_COPIES_OF(0, direction))].count);
}

static bool unseen(void)
{
    return AT(rtl_tool.segment.header->notes) & RTL_NOTE_COPIES_UNSEEN;
}

static struct operation to_gpu(uint64_t bytes, hsa_signal_t signal)
{
    return (struct operation){
        .version = 1, .completion_signal = signal, .src_agent = {HOST}, .dst_agent = {77}, .size = bytes};
}

/* Submit one operation and return the number of bytes that were counted for it. */
static uint64_t bytes_of(const struct operation *o, enum rtl_direction direction)
{
    uint64_t count = AT(line(direction)->count), bytes = AT(line(direction)->bytes);
    assert_int_equal(hsa_amd_memory_async_batch_copy(o, 1, 0, NULL), answer);
    assert_int_equal(asked, 1);
    assert_int_equal(AT(line(direction)->count) - count, answer == HSA_STATUS_SUCCESS ? 1 : 0);
    return AT(line(direction)->bytes) - bytes;
}

static void each_kind_of_operation_counts_its_bytes(void **state)
{
    hsa_agent_t hosts[3] = {{HOST}, {HOST}, {HOST}};
    size_t sizes[3] = {100, 20, 3};
    (void)state;
    load();
    hsa_signal_t signal = app_signal(1000);
    struct operation o = to_gpu(4000, signal);
    assert_int_equal(bytes_of(&o, RTL_COPY_H2D), 4000);
    for (int type = 3; type < OPERATION_KINDS; type++) { /* through an address in memory */
        o.type = (uint16_t)type;
        assert_int_equal(bytes_of(&o, RTL_COPY_H2D), 4000);
    }
    o.type = OPERATION_SWAP;
    o.dst_size = 5;
    assert_int_equal(bytes_of(&o, RTL_COPY_H2D), 4005);
    o = (struct operation){.version = 1,
                           .num_entries = 3,
                           .completion_signal = signal,
                           .src_agent = {77},
                           .dst_agent_list = hosts,
                           .size_list = sizes};
    assert_int_equal(bytes_of(&o, RTL_COPY_D2H), 123);
    o.type = OPERATION_SWAP;
    assert_int_equal(bytes_of(&o, RTL_COPY_D2H), 246);
    o.type = OPERATION_BROADCAST;
    o.size = 50;
    assert_int_equal(bytes_of(&o, RTL_COPY_D2H), 150);
    assert_false(unseen());
    answer = HSA_STATUS_ERROR; /* a refused copy isn't counted */
    assert_int_equal(bytes_of(&o, RTL_COPY_D2H), 0);
    OnUnload();
}

static void unknown_operations_are_passed_on_unread(void **state)
{
    hsa_agent_t host = {HOST};
    size_t size = 1;
    (void)state;
    load();
    hsa_signal_t signal = app_signal(1000);
    struct operation good = to_gpu(1, signal), bad[9];
    for (int i = 0; i < 9; i++)
        bad[i] = good;
    bad[0].version = 2;
    bad[1].version = 0;
    bad[2].type = OPERATION_KINDS;
    bad[3].type = OPERATION_BROADCAST; /* no destination */
    bad[4].num_entries = 2;            /* no sizes */
    bad[4].dst_agent_list = &host;
    bad[4].size_list = NULL;
    bad[5].num_entries = 2; /* no agents */
    bad[5].dst_agent_list = NULL;
    bad[5].size_list = &size;
    bad[6].num_entries = ENTRIES_MOST + 1;
    bad[6].dst_agent_list = &host;
    bad[6].size_list = &size;
    bad[7].type = 3; /* several indirections */
    bad[7].num_entries = 1;
    bad[7].dst_agent_list = &host;
    bad[7].size_list = &size;
    bad[8].type = OPERATION_BROADCAST;
    bad[8].num_entries = 1;
    bad[8].dst_agent_list = NULL;
    for (int i = 0; i < 9; i++) {
        struct operation two[2] = {good, bad[i]};
        uint64_t count = AT(line(RTL_COPY_H2D)->count);
        __atomic_store_n(&rtl_tool.segment.header->notes, 0, __ATOMIC_RELAXED);
        assert_int_equal(hsa_amd_memory_async_batch_copy(two, 2, 0, NULL), HSA_STATUS_SUCCESS);
        assert_int_equal(asked, 2);
        assert_true(unseen());
        assert_int_equal(AT(line(RTL_COPY_H2D)->count), count + 1); /* the operations before it are counted */
    }
    answer = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    assert_int_equal(hsa_amd_memory_async_batch_copy(NULL, 7, 0, NULL), HSA_STATUS_ERROR_INVALID_ARGUMENT);
    assert_int_equal(asked, 7);
    OnUnload();
}

static void batched_copies_are_timed_up_to_the_limit(void **state)
{
    struct operation operations[MANY];
    (void)state;
    load();
    uint64_t count = AT(line(RTL_COPY_H2D)->count), was = timed(RTL_COPY_H2D),
             room = AT(line(RTL_COPY_H2D)->untimed[RTL_COPY_UNTIMED_NO_ROOM]);
    for (int i = 0; i < MANY; i++)
        operations[i] = to_gpu(10, app_signal(1));
    assert_int_equal(hsa_amd_memory_async_batch_copy(operations, MANY, 0, NULL), HSA_STATUS_SUCCESS);
    assert_int_equal(AT(line(RTL_COPY_H2D)->count), count + MANY);
    assert_int_equal(AT(line(RTL_COPY_H2D)->untimed[RTL_COPY_UNTIMED_NO_ROOM]), room + MANY - TIMED);
    for (int i = 0; i < patience() && timed(RTL_COPY_H2D) < was + TIMED; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(timed(RTL_COPY_H2D), was + TIMED);
    assert_int_equal(AT(rtl_tool.segment.histograms[RTL_HISTOGRAM_COPIES(RTL_COPIES_OF(0, RTL_COPY_H2D))].max_ns),
                     3000);
    OnUnload();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_operation_counts_its_bytes),
        cmocka_unit_test(unknown_operations_are_passed_on_unread),
        cmocka_unit_test(batched_copies_are_timed_up_to_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
