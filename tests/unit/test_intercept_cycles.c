/*
 * Queues and code objects come and go while other threads dispatch, a GPU completes and the worker collects: all at
 * once on the stand-in runtime, so that ThreadSanitizer checks it (make tsan). ThreadSanitizer can't run with the real
 * runtime.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { PLACES = 8, NAMES = 50 };
#include "code_objects.h"

#include "intercept/worker/worker.h"

#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DISPATCHERS = 4,
    LOADERS = 2,
    QUEUES = 1000,  /* that each dispatcher opens and closes */
    PACKETS = 24,   /* on each queue */
    LOADS = 3000,   /* that each loader loads and unloads */
    IN_FLIGHT = 64, /* packets of one queue that the GPU can have */
};

/* --- a GPU that completes its packets in its own time; packets of a destroyed queue never complete --- */

static struct lane {
    pthread_mutex_t lock;
    packet_t packet[IN_FLIGHT];
    unsigned n;
} lanes[DISPATCHERS + LOADERS];
static __thread struct lane *lane; /* of this thread's queue */
static _Atomic bool gpu_over;

static void *gpu(void *data)
{
    uint64_t tick = 1000000;
    unsigned seed = 1;
    while (!atomic_load(&gpu_over)) {
        for (int i = 0; i < DISPATCHERS; i++) {
            pthread_mutex_lock(&lanes[i].lock);
            for (int burst = rand_r(&seed) % 4; burst >= 0 && lanes[i].n; burst--) {
                unsigned which = (unsigned)rand_r(&seed) % lanes[i].n; /* in any order */
                complete(&lanes[i].packet[which], tick += 10, 3);
                lanes[i].packet[which] = lanes[i].packet[--lanes[i].n];
            }
            pthread_mutex_unlock(&lanes[i].lock);
        }
        sched_yield();
    }
    return data;
}

static void give_to_gpu(const packet_t *packet)
{
    if (!packet->completion_signal.handle)
        return;
    for (;; sched_yield()) {
        pthread_mutex_lock(&lane->lock);
        bool room = lane->n < IN_FLIGHT;
        if (room)
            lane->packet[lane->n++] = *packet;
        pthread_mutex_unlock(&lane->lock);
        if (room)
            return;
    }
}

static hsa_status_t queue_ends(hsa_queue_t *queue)
{
    (void)queue;
    pthread_mutex_lock(&lane->lock);
    lane->n = 0;
    pthread_mutex_unlock(&lane->lock);
    return HSA_STATUS_SUCCESS;
}

static void load(uint64_t handle)
{
    hsa_status_t (*freeze)(hsa_executable_t, const char *) = core.slot[86];
    freeze((hsa_executable_t){handle}, NULL);
}

static void unload(uint64_t handle)
{
    hsa_status_t (*destroy)(hsa_executable_t) = core.slot[84];
    destroy((hsa_executable_t){handle});
}

/* --- threads --- */

static uint64_t launched[DISPATCHERS + LOADERS][50]; /* by name; each thread writes its own row */

/* Open a queue, dispatch, and close it with kernels in flight; every third queue is idle when it is closed. */
static void *opens_and_closes(void *data)
{
    uintptr_t id = (uintptr_t)data;
    uint64_t handle = 8 * (100 + id) + id; /* an executable and an address of its own */
    lane = &lanes[id];
    load(handle);
    for (int i = 0; i < QUEUES; i++) {
        hsa_queue_t *queue = app_queue();
        packet_t p = kernel_packet(object_of(handle), 0);
        for (int j = 0; j < PACKETS; j++) {
            hand_over(&p, 1);
            give_to_gpu(&written[0]);
            launched[id][handle % 50]++;
        }
        for (bool busy = i % 3 == 0; busy; sched_yield()) {
            pthread_mutex_lock(&lane->lock);
            busy = lane->n != 0;
            pthread_mutex_unlock(&lane->lock);
        }
        app_queue_destroy(queue);
    }
    return NULL;
}

/* Load, dispatch once or twice on a long-lived queue, unload; every name appears at every address. */
static void *loads_and_unloads(void *data)
{
    uintptr_t id = (uintptr_t)data;
    lane = &lanes[id];
    hsa_queue_t *queue = app_queue();
    for (uint64_t i = 0; i < LOADS; i++) {
        uint64_t handle = 8 * (i * LOADERS + id) + id; /* an address that only this thread uses, the i-th name */
        packet_t p = kernel_packet(object_of(handle), 0);
        load(handle);
        for (uint64_t n = 0; n <= i % 2; n++) {
            hand_over(&p, 1);
            if (written[0].completion_signal.handle)
                complete(&written[0], 5000000 + i, 2);
            launched[id][handle % 50]++;
        }
        unload(handle);
    }
    app_queue_destroy(queue);
    return NULL;
}

static uint64_t calls_of(uint32_t row)
{
    uint64_t calls = 0;
    for (uint64_t slot = 0; slot < RTL_QUEUES_MAX; slot++)
        calls += AT(rtl_tool.segment.dispatches[slot * RTL_KERNELS_MAX + row].calls);
    return calls;
}

static void queues_and_code_objects_come_and_go_at_once(void **state)
{
    pthread_t thread[DISPATCHERS + LOADERS], engine;
    uint64_t total = 0, counted = 0, untimed = 0, timed = 0;
    (void)state;
    fill_tables();
    core.slot[9] = (void *)queue_ends;
    fill_symbols();
    assert_true(OnLoad(&root, 1, 0, NULL));
    for (int i = 0; i < DISPATCHERS + LOADERS; i++)
        pthread_mutex_init(&lanes[i].lock, NULL);
    assert_int_equal(pthread_create(&engine, NULL, gpu, NULL), 0);
    for (uintptr_t i = 0; i < DISPATCHERS + LOADERS; i++)
        assert_int_equal(
            pthread_create(&thread[i], NULL, i < DISPATCHERS ? opens_and_closes : loads_and_unloads, (void *)i), 0);
    for (int i = 0; i < DISPATCHERS + LOADERS; i++)
        pthread_join(thread[i], NULL);
    atomic_store(&gpu_over, true);
    pthread_join(engine, NULL);
    OnUnload(); /* the worker has ended: the counts are final */

    for (uint32_t row = RTL_KERNEL_FIRST; row < atomic_load(&rtl_tool.segment.kernel_count); row++) {
        const struct rtl_kernel *kernel = &rtl_tool.segment.kernels[row];
        unsigned name = 0;
        uint64_t wanted = 0;
        assert_int_equal(sscanf(rtl_tool.segment.names + kernel->name_offset, "k%3u", &name), 1);
        for (int i = 0; i < DISPATCHERS + LOADERS; i++)
            wanted += launched[i][name];
        assert_int_equal(calls_of(row), wanted);
        timed += AT(rtl_tool.segment.histograms[row].count);
        total += wanted;
    }
    assert_int_equal(total, DISPATCHERS * QUEUES * PACKETS + LOADERS * (LOADS + LOADS / 2));
    for (uint32_t slot = 0; slot < RTL_QUEUES_MAX; slot++) {
        counted += AT(rtl_tool.segment.queues[slot].dispatches);
        untimed += sum_untimed(&rtl_tool.segment.queues[slot]);
    }
    assert_int_equal(counted, total);
    assert_int_equal(timed + untimed, counted);
    assert_true(timed >= counted / 4);
    assert_int_equal(AT(rtl_tool.segment.header->notes), 0); /* no unknown kernel, no shared slot */
}

/* A child shares its parent's segment: its dispatches on inherited queues must not be counted. */
static void a_child_counts_nothing(void **state)
{
    static struct lane own = {.lock = PTHREAD_MUTEX_INITIALIZER};
    int status = 0;
    (void)state;
    lane = &own;
    fill_tables();
    fill_symbols();
    assert_true(OnLoad(&root, 1, 0, NULL));
    load(8);
    hsa_queue_t *queue = app_queue();
    packet_t p = kernel_packet(object_of(8), 0);
    hand_over(&p, 1);
    uint64_t before = AT(counters_of()->dispatches), packets = AT(counters_of()->packets);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        for (int i = 0; i < 10; i++)
            hand_over(&p, 1);
        bool untouched = written[0].completion_signal.handle == 0;
        load(16);
        unload(16);
        app_queue_destroy(queue);
        app_queue();
        hand_over(&p, 1);
        OnUnload();
        _exit(untouched ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(AT(counters_of()->dispatches), before);
    assert_int_equal(AT(counters_of()->packets), packets);
    assert_int_equal(AT(rtl_tool.segment.header->state), RTL_STATE_LIVE);
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_FORKED);
    app_queue_destroy(queue);
    OnUnload();
}

/* Another writer to the segment changes what is displayed, not what the library does. */
static void the_library_reads_no_identities_from_the_segment(void **state)
{
    static struct lane own = {.lock = PTHREAD_MUTEX_INITIALIZER};
    (void)state;
    lane = &own;
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    hsa_queue_t *queue = app_queue();
    const struct rtl_tracker *tracker = handler_data;
    struct rtl_queue *line = counters_of();
    uint32_t generation = AT(line->generation);
    assert_true(generation > 0 && generation % 2 == 0);
    assert_int_equal(atomic_load(&tracker->generation), generation);
    __atomic_store_n(&line->generation, 12345, __ATOMIC_RELAXED);
    app_queue_destroy(queue);
    assert_int_equal(AT(line->generation), generation + 2);
    __atomic_store_n(&line->generation, 777, __ATOMIC_RELAXED);
    queue = app_queue();
    assert_ptr_equal(counters_of(), line); /* the same slot again */
    assert_int_equal(AT(line->generation), generation + 4);
    assert_int_equal(atomic_load(&tracker->generation), generation + 4);
    app_queue_destroy(queue);
    OnUnload();
    assert_int_equal(AT(line->generation), generation + 6);
}

/* A queue that is created during the unload has no pool; its tracker has the markers of the previous queue. */
static void a_queue_created_during_the_unload_is_safe(void **state)
{
    static struct lane own = {.lock = PTHREAD_MUTEX_INITIALIZER};
    (void)state;
    lane = &own;
    fill_tables();
    assert_true(OnLoad(&root, 1, 0, NULL));
    rtl_tool.fragile = true; /* as on a runtime before 6.0 */
    app_queue_destroy(app_queue());
    struct rtl_tracker *tracker = atomic_load(&rtl_trackers);
    while (tracker && !tracker->markers_of)
        tracker = tracker->next;
    assert_non_null(tracker);
    rtl_worker_stop();
    hsa_queue_t *queue = app_queue();
    assert_non_null(queue);
    assert_null(tracker->pool);
    alarm(60); /* a crash inside would leave a lock held */
    OnUnload();
    alarm(0);
    assert_null(tracker->markers_of);
    app_queue_destroy(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_reads_no_identities_from_the_segment),
        cmocka_unit_test(a_queue_created_during_the_unload_is_safe),
        cmocka_unit_test(queues_and_code_objects_come_and_go_at_once),
        cmocka_unit_test(a_child_counts_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
