/* Native queues that come and go while threads still have to do with them: records, places, threads, the end. */
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

/* --- a thread that is held up while it walks --- */

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

/* Another thread's packet is out, and it is still on its way back. */
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
    nanosleep(&(struct timespec){0, 50000000}, NULL); /* if nobody waits, it is too late then */
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

/* A kernel may be over, and the queue destroyed, before the doorbell's function has returned to who rang it. */
static void destroying_waits_for_who_still_walks(void **state)
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

/* He is held up for longer than anybody waits: what he does then must not be taken for the next queue's. */
static void record_that_is_still_walked_is_not_used_again(void **state)
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

/* It sleeps for good where nothing needs looking after; then there is a queue whose owner has a doorbell of his own. */
static void worker_that_sleeps_gets_up_for_a_queue(void **state)
{
    (void)state;
    app_queue_destroy(queue);
    WAIT_UNTIL(AT(rtl_tool.segment.header->parked));
    begin(NULL);
    put(app_add(1), KERNEL_OBJECT);
    WAIT_UNTIL(real_load(queue) == 1);
    gpu_takes(1);
}

/* The library is unloaded, or the process ends, with packets under way: nobody looks for what is written late. */
static void queue_outlives_the_worker(void **state)
{
    (void)state;
    uint64_t early = app_add(2);
    put(early + 1, KERNEL_OBJECT);
    app_ring(early + 1);
    assert_int_equal(real_load(queue), 0);
    unload_library(NULL);
    assert_int_equal(real_load(queue), 2); /* as without us: the GPU waits for the header itself */
    assert_int_equal(rung[atomic_load(&rings) - 1], 1);
    put(early, KERNEL_OBJECT);
    assert_int_equal(gpu_takes(4), 2);
    uint64_t packets = AT(native_line()->packets);
    assert_int_equal(app_add(1), 2);
    put(2, KERNEL_OBJECT);
    app_ring(2);
    assert_int_equal(AT(native_line()->packets), packets + 3); /* also those before, which came late */
    assert_int_equal(gpu_takes(4), 1);
    assert_int_equal(load_library(NULL), 0);
    begin(NULL);
}

/* Made when the worker has ended already; where none could be had it is the same. */
static void queue_without_a_worker_is_counted(void **state)
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
    /* told of them already, the GPU takes them before we look; and no kernel is known any more */
    packet_t barrier = {.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE};
    barrier.kernel_object = KERNEL_OBJECT; /* where it has a signal to wait for */
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

/* Threads that come and go, each at an address of its own: the queue doesn't come to believe headers by that. */
static void threads_do_not_run_out(void **state)
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

/* --- what threads have left in other queues --- */

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

/* A thread that has reserved there what it won't ring for any more goes the short way elsewhere all the same. */
static void what_is_left_elsewhere_is_forgotten(void **state)
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
        else { /* by another thread, which makes it loose */
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
    /* but what it may still ring for is kept */
    struct rtl_native *foreign = open_foreign();
    add(foreign->queue, 1);
    submits(NULL);
    assert_int_equal(rtl_native_mine->count, 1);
    assert_ptr_equal(rtl_native_mine->of[0].native, foreign);
    close_foreign(foreign);
    assert_int_equal(real_load(queue), 2 * WAYS + 1);
    gpu_takes(SLOTS);
}

/* The same value at another doorbell, while it has slots here. */
static void ring_at_another_doorbell_is_not_for_this_queue(void **state)
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

/* --- a queue that is somebody else's --- */

/* More than a lap between two looks: what they were nobody knows any more, so they are packets, and it is said. */
static void packets_that_are_overwritten_are_counted(void **state)
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
    assert_int_equal(AT(line->dispatches), dispatches + 2); /* of the rest only the one that is still there */
}

/* --- queues that are lent out --- */

enum { LENDINGS = 100000 };
static _Atomic uint32_t ready;

static void together(uint32_t number)
{
    atomic_fetch_add(&ready, 1);
    for (int spins = 0; atomic_load(&ready) < number; spins++)
        if (spins > 2000) /* at the same moment, where there are two processors */
            sched_yield();
}

static void *gives_back(void *data)
{
    for (uint32_t i = 0; i < LENDINGS; i++) {
        together(4 * i + 2);
        rtl_native_release(data);
        together(4 * i + 4);
    }
    return NULL;
}

/* One gives the queue back while another gets it: it is looked after, whoever was first. */
static void lent_queue_is_looked_after(void **state)
{
    (void)state;
    pthread_t thread;
    uint32_t lost = 0;
    atomic_store(&ready, 0);
    pthread_create(&thread, NULL, gives_back, queue);
    for (uint32_t i = 0; i < LENDINGS; i++) {
        together(4 * i + 2);
        for (volatile uint32_t later = i % 512; later > 0; later--) /* a little later each time */
            ;
        bool again = rtl_native_add_user(queue);
        together(4 * i + 4);
        lost += !again || !atomic_load(&native_of()->tracker->tend);
    }
    pthread_join(thread, NULL);
    assert_int_equal(lost, 0);
    assert_int_equal(native_of()->references, 1);
}

/* The runtime has made another one where it was. */
static void lent_queue_with_another_doorbell_is_another(void **state)
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

/* Another thread has the lock when the process forks: the child never gets it. */
static void queue_is_destroyed_in_a_child(void **state)
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

/* --- places --- */

enum { ADDRESSES = 20000, AT_ONCE = 900 };
static hsa_queue_t many[ADDRESSES];

/* Queues at ever new addresses, some of which live for long: all that are there are found, and no other. */
static void addresses_do_not_run_out(void **state)
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
        TEST(destroying_waits_for_who_still_walks),
        TEST(record_that_is_still_walked_is_not_used_again),
        TEST(worker_that_sleeps_gets_up_for_a_queue),
        TEST(queue_outlives_the_worker),
        TEST(queue_without_a_worker_is_counted),
        TEST(threads_do_not_run_out),
        TEST(what_is_left_elsewhere_is_forgotten),
        TEST(ring_at_another_doorbell_is_not_for_this_queue),
        TEST(packets_that_are_overwritten_are_counted),
        TEST(lent_queue_is_looked_after),
        TEST(lent_queue_with_another_doorbell_is_another),
        TEST(queue_is_destroyed_in_a_child),
        TEST(addresses_do_not_run_out),
    };
    return cmocka_run_group_tests(tests, load_library, unload_library);
}
