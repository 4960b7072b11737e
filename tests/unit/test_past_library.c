/* Queues that the library can't see: how they are identified, and how they are added to a segment's snapshot. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/past_library.h"
#include "shm/gpu_names.h"

enum { SECOND = 1000000000, FIRST_ALONE = RTL_KERNELS_MAX - 1 };
static struct rtl_past_library *past;
static struct rtl_snapshot snapshot;

static void kernel(uint32_t id, const char *name, uint64_t calls)
{
    snapshot.kernels = realloc(snapshot.kernels, (snapshot.kernel_count + 1) * sizeof *snapshot.kernels);
    assert_non_null(snapshot.kernels);
    snapshot.kernels[snapshot.kernel_count++] =
        (struct rtl_kernel_snapshot){.id = id, .name = name, .name_length = strlen(name), .calls = calls};
    snapshot.counted += calls;
}

static void queue(uint32_t slot, uint64_t id)
{
    snapshot.queues = realloc(snapshot.queues, (snapshot.queue_count + 1) * sizeof *snapshot.queues);
    assert_non_null(snapshot.queues);
    snapshot.queues[snapshot.queue_count++] = (struct rtl_queue_snapshot){
        .slot = slot, .live = true, .shared = slot == RTL_QUEUE_SHARED, .queue_id = id, .real_id = id + 1};
}

/* Make a traced process with two kernels, two queues and `gpus` GPUs; one unseen queue has 10 dispatches. */
static void begin(uint32_t gpus)
{
    memset(past, 0, sizeof *past);
    kernel(2, "gemm", 100);
    kernel(5, "softmax", 50);
    queue(0, 0);
    queue(1, 7);
    snapshot.agents = calloc(gpus + 1, sizeof *snapshot.agents);
    assert_non_null(snapshot.agents);
    for (; snapshot.agent_count < gpus; snapshot.agent_count++)
        snapshot.agents[snapshot.agent_count] = (struct rtl_agent_snapshot){
            .gpu = snapshot.agent_count, .agent = snapshot.agent_count, .bdf = 0x300 + snapshot.agent_count};
    past->queues[past->queue_count++] =
        (struct rtl_queue_snapshot){.live = true, .dispatches = 10, .untimed[RTL_UNTIMED_OBSERVED] = 10};
}

static void row(const char *name, uint64_t calls)
{
    past->rows[past->row_count++] =
        (struct rtl_past_row){.name = name, .length = (uint32_t)strlen(name), .traced = UINT32_MAX, .calls = calls};
}

static uint64_t calls_of(uint32_t id)
{
    for (uint32_t i = 0; i < snapshot.kernel_count; i++) {
        assert_true(!i || snapshot.kernels[i - 1].id < snapshot.kernels[i].id);
        if (snapshot.kernels[i].id == id)
            return snapshot.kernels[i].calls;
    }
    return UINT64_MAX;
}

static void unseen_queues_are_those_not_in_the_segment(void **state)
{
    (void)state;
    struct rtl_traced_queues t;
    begin(1);
    snapshot.queues_refused = 1;
    rtl_traced_queues_of(&snapshot, 5, &t);
    assert_int_equal(t.as_of_ns, 5);
    assert_int_equal(t.refused, 1);
    assert_int_equal(rtl_traced_queues_find(&t, 7, 0), 1);
    assert_int_equal(rtl_traced_queues_find(&t, 8, 0), -1);
    snapshot.queues[1].live = false; /* another queue may have its number */
    rtl_traced_queues_of(&snapshot, 5, &t);
    assert_int_equal(rtl_traced_queues_find(&t, 7, 0), -1);
    snapshot.queues[0].real_id = 0; /* an older library */
    rtl_traced_queues_of(&snapshot, 5, &t);
    assert_int_equal(t.as_of_ns, 0);
    snapshot.queues[0].real_id = 1;
    snapshot.notes = RTL_NOTE_QUEUES_SHARED; /* queues that share a slot have no number */
    rtl_traced_queues_of(&snapshot, 5, &t);
    assert_int_equal(t.as_of_ns, 0);
    rtl_snapshot_free(&snapshot);
}

/* Each runtime of a process numbers its queues from 0. */
static void queues_of_two_runtimes_are_distinguished_by_key(void **state)
{
    (void)state;
    struct rtl_traced_queues t;
    begin(1);
    snapshot.queues[1].real_key = 0x1234;
    rtl_traced_queues_of(&snapshot, 5, &t);
    assert_int_equal(rtl_traced_queues_find(&t, 7, 0x1234), 1);
    assert_int_equal(rtl_traced_queues_find(&t, 7, 0x1235), -1);
    assert_int_equal(rtl_traced_queues_find(&t, 7, 0), 1); /* the queue has none */
    snapshot.queues[1].real_key = 0;                       /* an older library */
    rtl_traced_queues_of(&snapshot, 5, &t);
    assert_int_equal(rtl_traced_queues_find(&t, 7, 0x1235), 1);
    rtl_snapshot_free(&snapshot);
}

static void the_library_has_time_to_publish_a_queue(void **state)
{
    (void)state;
    struct rtl_candidate c = {.seen_ns = 10ull * SECOND};
    struct rtl_traced_queues t = {.as_of_ns = 10ull * SECOND};
    assert_false(rtl_candidate_is_past(&c, &t));
    t.as_of_ns = 9ull * SECOND; /* an old list */
    assert_false(rtl_candidate_is_past(&c, &t));
    t.as_of_ns = 11ull * SECOND;
    assert_false(rtl_candidate_is_past(&c, &t));
    t.as_of_ns = 11ull * SECOND + 1;
    assert_true(rtl_candidate_is_past(&c, &t));
    t.as_of_ns = 0;
    assert_false(rtl_candidate_is_past(&c, &t));
}

static void kernels_of_one_name_have_one_row(void **state)
{
    (void)state;
    begin(1);
    row("softmax", 4);
    row("alone", 3);
    row("never", 0);
    past->unnamed = 2;
    past->other = 1;
    assert_true(rtl_past_library_add(past, &snapshot));
    assert_int_equal(calls_of(RTL_KERNEL_OTHER), 1);
    assert_int_equal(calls_of(RTL_KERNEL_UNKNOWN), 2);
    assert_int_equal(calls_of(2), 100);
    assert_int_equal(calls_of(5), 54);
    assert_int_equal(calls_of(FIRST_ALONE - 1), 3);
    assert_int_equal(snapshot.kernel_count, 5);
    assert_int_equal(snapshot.counted, 160);
    assert_int_equal(snapshot.untimed[RTL_UNTIMED_OBSERVED], 10);
    assert_int_equal(snapshot.untimed_total, 10);
    rtl_snapshot_free(&snapshot);
    /* from now on the library sees the queue, too: its calls move there, and no other row has them */
    snapshot.kernels = NULL;
    uint32_t rows = past->row_count;
    kernel(2, "gemm", 100);
    kernel(9, "alone", 20);
    assert_true(rtl_past_library_add(past, &snapshot));
    assert_int_equal(past->row_count, rows);
    assert_int_equal(calls_of(9), 23);
    assert_int_equal(calls_of(FIRST_ALONE - 1), 0);
    rtl_snapshot_free(&snapshot);
    /* a segment with all rows in use leaves no room */
    begin(1);
    row("alone", 3);
    kernel(FIRST_ALONE, "last", 1);
    assert_true(rtl_past_library_add(past, &snapshot));
    assert_int_equal(calls_of(RTL_KERNEL_OTHER), 3);
    assert_int_equal(calls_of(FIRST_ALONE), 1);
    rtl_snapshot_free(&snapshot);
}

static void unseen_queues_are_appended(void **state)
{
    (void)state;
    begin(1);
    queue(RTL_QUEUE_SHARED, 0);
    snapshot.queues_refused = 1;
    snapshot.notes = RTL_NOTE_QUEUE_NOT_INTERCEPTED;
    past->lost = 3;
    past->queues[past->queue_count++] = (struct rtl_queue_snapshot){.slot = 4, .agent = UINT32_MAX};
    assert_true(rtl_past_library_add(past, &snapshot));
    assert_int_equal(snapshot.queue_count, 5);
    for (uint32_t i = 1; i < snapshot.queue_count; i++)
        assert_true(snapshot.queues[i - 1].slot < snapshot.queues[i].slot);
    assert_int_equal(snapshot.queues[2].gpu, 0); /* there is no other GPU */
    assert_int_equal(snapshot.agent_count, 1);
    /* the live queue was the one that the library had to refuse */
    assert_int_equal(snapshot.queues_refused, 0);
    assert_int_equal(snapshot.notes, RTL_NOTE_PACKETS_UNSEEN);
    assert_int_equal(snapshot.packets_lost, 3);
    rtl_snapshot_free(&snapshot);
    /* with two GPUs the GPU is unknown: one more row */
    begin(2);
    past->queues[0].agent = UINT32_MAX;
    past->queues[past->queue_count++] = (struct rtl_queue_snapshot){.slot = 1, .agent = 1};
    past->queues[past->queue_count++] = (struct rtl_queue_snapshot){.slot = 2, .agent = UINT32_MAX};
    assert_true(rtl_past_library_add(past, &snapshot));
    assert_int_equal(snapshot.agent_count, 3);
    assert_int_equal(snapshot.agents[2].bdf, RTL_NO_BDF);
    assert_int_equal(snapshot.queues[2].gpu, 2);
    assert_int_equal(snapshot.queues[3].gpu, 1);
    assert_int_equal(snapshot.queues[4].gpu, 2);
    rtl_snapshot_free(&snapshot);
    /* the segment's slots keep their queues */
    begin(1);
    queue(RTL_QUEUE_SHARED - 1, 9);
    assert_true(rtl_past_library_add(past, &snapshot));
    assert_int_equal(snapshot.queue_count, 3);
    assert_int_equal(snapshot.counted, 160);
    rtl_snapshot_free(&snapshot);
    /* no unseen queue: no change */
    begin(1);
    past->queue_count = 0;
    row("gemm", 5);
    assert_true(rtl_past_library_add(past, &snapshot));
    assert_int_equal(calls_of(2), 100);
    rtl_snapshot_free(&snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unseen_queues_are_those_not_in_the_segment),
        cmocka_unit_test(queues_of_two_runtimes_are_distinguished_by_key),
        cmocka_unit_test(the_library_has_time_to_publish_a_queue),
        cmocka_unit_test(kernels_of_one_name_have_one_row),
        cmocka_unit_test(unseen_queues_are_appended),
    };
    past = calloc(1, sizeof *past);
    int failed = past ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    free(past);
    return failed;
}
