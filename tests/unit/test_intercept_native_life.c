/* Native queues that are created and destroyed while threads still use them: records, slots, threads, the unload. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>

#include "native_fixture.h"

#include <sys/mman.h>
#include <sys/wait.h>

#include "intercept/hooks/native_queue.h"

static const uint64_t KERNEL_OBJECT = 0x10000;
static hsa_queue_t *queue;

static int load_library(void **state)
{
    (void)state;
    fill_native_tables();
    return OnLoad(&root, 1, 0, NULL) ? 0 : -1;
}

static int unload_library(void **state)
{
    (void)state;
    OnUnload();
    return 0;
}

static int begin(void **state)
{
    (void)state;
    native_size = SLOTS;
    native_queue.hsa_queue.base_address = NULL;
    queue = app_queue();
    return native_of() ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    app_queue_destroy(queue);
    return native_of() ? -1 : 0;
}

/* --- a thread that is delayed while it publishes --- */

static _Atomic bool in_the_bell, may_go;

static void held_up(void)
{
    atomic_store(&in_bell, NULL);
    atomic_store(&in_the_bell, true);
    while (!atomic_load(&may_go))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    atomic_store(&in_the_bell, false);
}

static void *submits(void *data)
{
    uint64_t index = app_add(1);
    (void)data;
    put(index, KERNEL_OBJECT);
    app_ring(index);
    return NULL;
}

/* Start a thread whose packet is published, but which has not returned from its doorbell. */
static pthread_t held_up_thread(void)
{
    pthread_t thread;
    atomic_store(&may_go, false);
    atomic_store(&in_bell, held_up);
    pthread_create(&thread, NULL, submits, NULL);
    WAIT_UNTIL(atomic_load(&in_the_bell));
    return thread;
}

static void *lets_go(void *data)
{
    (void)data;
    for (int i = 0; i < patience() && native_of(); i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    nanosleep(&(struct timespec){0, 50000000}, NULL); /* without a wait this is too late */
    atomic_store(&may_go, true);
    return NULL;
}

static bool walked_when_gone, looked_after_when_gone;
static struct rtl_tracker *going;

static hsa_status_t see_it_go(hsa_queue_t *gone)
{
    (void)gone;
    walked_when_gone = atomic_load(&in_the_bell);
    looked_after_when_gone = atomic_load(&going->tend) != NULL;
    return HSA_STATUS_SUCCESS;
}

/* A kernel may end, and the queue may be destroyed, before the doorbell's function has returned to its caller. */
static void destroying_waits_for_a_publishing_thread(void **state)
{
    (void)state;
    pthread_t walker = held_up_thread(), helper;
    hsa_status_t (*gone)(hsa_queue_t *) = rtl_tool.hsa.queue_destroy;
    walked_when_gone = looked_after_when_gone = true;
    going = native_of()->tracker;
    rtl_tool.hsa.queue_destroy = see_it_go;
    pthread_create(&helper, NULL, lets_go, NULL);
    app_queue_destroy(queue);
    rtl_tool.hsa.queue_destroy = gone;
    assert_false(walked_when_gone);
    assert_false(looked_after_when_gone);
    pthread_join(walker, NULL);
    pthread_join(helper, NULL);
    begin(NULL);
}

/* A thread is delayed for longer than the destruction waits: its later actions must not affect the next queue. */
static void a_record_in_use_is_not_recycled(void **state)
{
    (void)state;
    struct rtl_native *before = native_of();
    pthread_t walker = held_up_thread();
    app_queue_destroy(queue);
    begin(NULL);
    assert_ptr_not_equal(native_of(), before);
    atomic_store(&may_go, true);
    pthread_join(walker, NULL);
    submits(NULL);
    assert_int_equal(real_load(queue), 1);
    app_queue_destroy(queue);
    begin(NULL);
    assert_false(rtl_turn_is_taken(&before->turn));
}

/* --- the worker --- */

/* The worker parks when it has nothing to poll. It must wake up for a new queue whose owner rings a hardware doorbell.
 */
static void a_new_queue_wakes_the_parked_worker(void **state)
{
    (void)state;
    app_queue_destroy(queue);
    WAIT_UNTIL(AT(rtl_tool.segment.header->parked));
    begin(NULL);
    put(app_add(1), KERNEL_OBJECT);
    WAIT_UNTIL(real_load(queue) == 1);
    gpu_takes(1);
}

/* The library is unloaded, or the process ends, with packets not yet written: no worker polls for them any more. */
static void a_queue_works_without_the_worker(void **state)
{
    (void)state;
    uint64_t early = app_add(2);
    put(early + 1, KERNEL_OBJECT);
    app_ring(early + 1);
    assert_int_equal(real_load(queue), 0);
    unload_library(NULL);
    assert_int_equal(real_load(queue), 2); /* as without the library: the GPU itself waits for the header */
    assert_int_equal(rung[atomic_load(&rings) - 1], 1);
    put(early, KERNEL_OBJECT);
    assert_int_equal(gpu_takes(4), 2);
    uint64_t packets = AT(native_line()->packets);
    assert_int_equal(app_add(1), 2);
    put(2, KERNEL_OBJECT);
    app_ring(2);
    assert_int_equal(AT(native_line()->packets), packets + 3); /* also the earlier packets that were written late */
    assert_int_equal(gpu_takes(4), 1);
    assert_int_equal(load_library(NULL), 0);
    begin(NULL);
}

/* Created after the worker's end; the same as when no worker could be started. */
static void a_queue_without_a_worker_is_counted(void **state)
{
    (void)state;
    app_queue_destroy(queue);
    unload_library(NULL);
    begin(NULL);
    struct rtl_queue *line = native_line();
    uint64_t dispatches = AT(line->dispatches), untimed = AT(*rtl_queue_untimed(line, RTL_UNTIMED_SHUTDOWN));
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(app_add(1), i);
        assert_int_equal(real_load(queue), i + 1);
        put(i, KERNEL_OBJECT);
        app_ring(i);
        assert_int_equal(rung[atomic_load(&rings) - 1], i);
    }
    assert_int_equal(gpu_takes(4), 3);
    assert_int_equal(AT(line->dispatches), dispatches + 3);
    /* the GPU may take published packets before the library counts them; kernels are unknown by then */
    packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE};
    barrier.kernel_object = KERNEL_OBJECT; /* a barrier with a dependent signal */
    put(app_add(1), KERNEL_OBJECT);
    *slot_of(app_add(1)) = barrier;
    assert_int_equal(gpu_takes(2), 2);
    app_ring(4);
    assert_int_equal(AT(line->dispatches), dispatches + 4);
    assert_int_equal(AT(*rtl_queue_untimed(line, RTL_UNTIMED_SHUTDOWN)), untimed + 4);
    app_queue_destroy(queue);
    assert_int_equal(load_library(NULL), 0);
    begin(NULL);
}

/* --- threads --- */

enum { THREADS_EVER = 3000, STACK_BYTES = 64 << 10 };

/* Threads come and go, each at a new address: the queue must not start to trust headers because of that. */
static void thousands_of_threads_keep_the_queue_native(void **state)
{
    (void)state;
    char *stacks = mmap(NULL, (size_t)THREADS_EVER * STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(stacks, MAP_FAILED);
    for (size_t i = 0; i < THREADS_EVER; i++) {
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stacks + i * STACK_BYTES, STACK_BYTES);
        assert_int_equal(pthread_create(&thread, &attributes, submits, NULL), 0);
        pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
        assert_int_equal(real_load(queue), i + 1);
        gpu_takes(1);
        madvise(stacks + i * STACK_BYTES, STACK_BYTES, MADV_DONTNEED);
    }
    munmap(stacks, (size_t)THREADS_EVER * STACK_BYTES);
    assert_false(atomic_load(&native_of()->loose));
}

/* --- slots that threads left reserved in other queues --- */

static struct rtl_native *open_foreign(void)
{
    static amd_signal_t foreign_bell = {.kind = AMD_SIGNAL_KIND_DOORBELL};
    static amd_queue_t foreign = {.hsa_queue = {.base_address = slots, .size = 64}};
    foreign.hsa_queue.doorbell_signal.handle = (uintptr_t)&foreign_bell;
    pthread_mutex_lock(&rtl_tool.create);
    struct rtl_native *native = rtl_native_add(&foreign.hsa_queue, native_of()->tracker, 0);
    pthread_mutex_unlock(&rtl_tool.create);
    return native;
}

static void close_foreign(struct rtl_native *native)
{
    pthread_mutex_lock(&rtl_tool.create);
    rtl_native_remove(native);
    rtl_native_recycle(native);
    pthread_mutex_unlock(&rtl_tool.create);
}

/* A thread that left a slot in another queue, which it will never ring for, still publishes alone in this queue. */
static void slots_left_in_other_queues_are_forgotten(void **state)
{
    enum { GONE, DEMOTED, RUNG_FOR, WAYS };
    uint64_t (*add)(const hsa_queue_t *, uint64_t) = core.slot[24];
    (void)state;
    for (int way = GONE; way < WAYS; way++) {
        struct rtl_native *foreign = open_foreign();
        assert_non_null(foreign);
        add(foreign->queue, 1);
        if (way == GONE)
            close_foreign(foreign);
        else if (way == DEMOTED)
            atomic_fetch_or(&foreign->reserved, RTL_NATIVE_DEMOTED);
        else { /* by another thread, so that headers count */
            atomic_store(&foreign->loose, true);
            atomic_store(&foreign->published, 1);
        }
        submits(NULL);
        submits(NULL);
        assert_int_equal(rtl_native_mine->count, 0);
        assert_int_not_equal(atomic_load(&native_of()->turn.owner), RTL_TURN_SHARED);
        if (way != GONE)
            close_foreign(foreign);
    }
    /* but a slot that the thread may still ring for is kept */
    struct rtl_native *foreign = open_foreign();
    add(foreign->queue, 1);
    submits(NULL);
    assert_int_equal(rtl_native_mine->count, 1);
    assert_ptr_equal(rtl_native_mine->of[0].native, foreign);
    close_foreign(foreign);
    assert_int_equal(real_load(queue), 2 * WAYS + 1);
    gpu_takes(SLOTS);
}

/* Ring with this slot number at another queue's doorbell while the thread has reserved slots here. */
static void a_doorbell_of_another_queue_does_not_ring_for_this_one(void **state)
{
    struct rtl_native *foreign = open_foreign();
    void (*store)(hsa_signal_t, hsa_signal_value_t) = core.slot[42];
    uint64_t mine = app_add(1);
    (void)state;
    put(mine, KERNEL_OBJECT);
    store(foreign->doorbell, (hsa_signal_value_t)mine);
    assert_int_equal(real_load(queue), 0);
    app_ring(mine);
    assert_int_equal(real_load(queue), 1);
    close_foreign(foreign);
    gpu_takes(1);
}

/* --- a demoted queue --- */

/* More than a lap between two polls: overwritten slots count as packets of unknown kind, with a note. */
static void overwritten_packets_are_counted(void **state)
{
    enum { LOST = 44 };
    struct rtl_queue *line = native_line();
    uint64_t packets = AT(line->packets), dispatches = AT(line->dispatches);
    (void)state;
    put(real_add(queue, 1), KERNEL_OBJECT);
    WAIT_UNTIL(rtl_native_is_demoted(native_of()));
    WAIT_UNTIL(AT(line->packets) == packets + 1);
    assert_false(AT(rtl_tool.segment.header->notes) & RTL_NOTE_PACKETS_UNSEEN);
    gpu_takes(1);
    __atomic_store_n(&READ, 1 + LOST + SLOTS, __ATOMIC_SEQ_CST);
    real_add(queue, LOST + SLOTS);
    WAIT_UNTIL(AT(line->packets) == packets + 1 + LOST + SLOTS);
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_PACKETS_UNSEEN);
    assert_int_equal(AT(line->dispatches), dispatches + 2); /* of the others only the one that is still in the ring */
}

/* --- queues that are shared by reference --- */

enum { LENDINGS = 100000 };
enum { LENDINGS_LEAST = 1000 }; /* on a busy machine, where a round may take milliseconds */
enum { LENDINGS_SECONDS = 30 };
static _Atomic uint32_t ready;
static _Atomic bool lent_enough; /* main stores before a round, the other thread loads in the round */

static void together(uint32_t number)
{
    atomic_fetch_add(&ready, 1);
    for (int spins = 0; atomic_load(&ready) < number; spins++)
        if (spins > 2000) /* at the same moment on two CPUs */
            sched_yield();
}

static void *gives_back(void *data)
{
    for (uint32_t i = 0;; i++) {
        together(4 * i + 2);
        if (atomic_load(&lent_enough))
            return NULL;
        rtl_native_release(data);
        together(4 * i + 4);
    }
}

/* One thread releases the queue while another one gets it: the queue stays traced, whichever comes first. */
static void a_shared_queue_stays_traced(void **state)
{
    (void)state;
    pthread_t thread;
    uint32_t lost = 0;
    atomic_store(&ready, 0);
    atomic_store(&lent_enough, false);
    time_t end = time(NULL) + LENDINGS_SECONDS;
    pthread_create(&thread, NULL, gives_back, queue);
    for (uint32_t i = 0;; i++) {
        bool enough = i == LENDINGS || (i >= LENDINGS_LEAST && time(NULL) >= end);
        atomic_store(&lent_enough, enough);
        together(4 * i + 2);
        if (enough)
            break;
        for (volatile uint32_t later = i % 512; later > 0; later--) /* a little later in each round */
            ;
        bool again = rtl_native_add_user(queue);
        together(4 * i + 4);
        lost += !again || !atomic_load(&native_of()->tracker->tend);
    }
    pthread_join(thread, NULL);
    assert_int_equal(lost, 0);
    assert_int_equal(native_of()->references, 1);
}

/* The runtime has created another queue at the same address. */
static void a_queue_with_another_doorbell_is_a_new_queue(void **state)
{
    (void)state;
    amd_signal_t other_bell = bell;
    rtl_native_release(queue);
    native_queue.hsa_queue.doorbell_signal.handle = (uintptr_t)&other_bell;
    assert_false(rtl_native_add_user(queue));
    native_queue.hsa_queue.doorbell_signal.handle = (uintptr_t)&bell;
    assert_true(rtl_native_add_user(queue));
}

/* --- a fork --- */

/* Another thread holds the lock when the process forks: it is never released in the child. */
static void a_queue_is_destroyed_in_a_child(void **state)
{
    (void)state;
    int status = -1;
    pthread_mutex_lock(&rtl_tool.create);
    pid_t child = fork();
    if (child == 0) {
        alarm((unsigned)patience() / 1000);
        app_queue_destroy(queue);
        _exit(0);
    }
    pthread_mutex_unlock(&rtl_tool.create);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* --- records by address --- */

enum { ADDRESSES = 20000, AT_ONCE = 900 };
static hsa_queue_t many[ADDRESSES];

/* Queues at ever new addresses, some long-lived: all existing queues are found, and no others. */
static void queues_are_found_at_ever_new_addresses(void **state)
{
    (void)state;
    static struct rtl_native *of[ADDRESSES];
    static amd_signal_t no_queue = {.kind = AMD_SIGNAL_KIND_DOORBELL};
    uint32_t there = 0, random = 1;
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        many[i] = (hsa_queue_t){.base_address = slots, .size = 64, .doorbell_signal = {(uintptr_t)&no_queue}};
        pthread_mutex_lock(&rtl_tool.create);
        of[i] = rtl_native_add(&many[i], native_of()->tracker, 0);
        pthread_mutex_unlock(&rtl_tool.create);
        assert_non_null(of[i]);
        for (there++; there > AT_ONCE;) {
            random = random * 1103515245 + 12345;
            uint32_t gone = random / 7 % (i + 1);
            if (!of[gone])
                continue;
            pthread_mutex_lock(&rtl_tool.create);
            rtl_native_remove(of[gone]);
            rtl_native_recycle(of[gone]);
            pthread_mutex_unlock(&rtl_tool.create);
            of[gone] = NULL;
            there--;
        }
        if (i % 500 == 0 || i == ADDRESSES - 1)
            for (uint32_t n = 0; n <= i; n++)
                assert_ptr_equal(rtl_native_find(&many[n]), of[n]);
    }
    for (uint32_t i = 0; i < ADDRESSES; i++) {
        if (!of[i])
            continue;
        pthread_mutex_lock(&rtl_tool.create);
        rtl_native_remove(of[i]);
        rtl_native_recycle(of[i]);
        pthread_mutex_unlock(&rtl_tool.create);
    }
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(destroying_waits_for_a_publishing_thread),
        TEST(a_record_in_use_is_not_recycled),
        TEST(a_new_queue_wakes_the_parked_worker),
        TEST(a_queue_works_without_the_worker),
        TEST(a_queue_without_a_worker_is_counted),
        TEST(thousands_of_threads_keep_the_queue_native),
        TEST(slots_left_in_other_queues_are_forgotten),
        TEST(a_doorbell_of_another_queue_does_not_ring_for_this_one),
        TEST(overwritten_packets_are_counted),
        TEST(a_shared_queue_stays_traced),
        TEST(a_queue_with_another_doorbell_is_a_new_queue),
        TEST(a_queue_is_destroyed_in_a_child),
        TEST(queues_are_found_at_ever_new_addresses),
    };
    return cmocka_run_group_tests(tests, load_library, unload_library);
}
