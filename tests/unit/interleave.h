/*
 * Run a few threads in every order of their steps, and report whether any order fails.
 *
 * A test includes this file, then source files of the library. Their atomic operations, fences, locks and waiting
 * system calls become steps here; the library itself is compiled without this. The threads are contexts of one thread,
 * so the list of a run's choices repeats the run exactly; all lists are tried.
 *
 * Memory is as on x86-64: a store waits in its thread's store buffer, in order, until some later moment. Its own thread
 * sees it at once, other threads see it only then. An exchange or a fence empties the thread's buffer; membarrier
 * empties all buffers. Reordering by compilers or by weaker CPUs is not covered.
 *
 * Only watched memory (step_watch) makes a step; all other memory counts as private to its thread. Where there are too
 * many orders, `most_breaks` leaves out those that interrupt threads more often.
 */
#ifndef RTL_TESTS_INTERLEAVE_H
#define RTL_TESTS_INTERLEAVE_H

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define STEP_FIBERS 1
#include <sanitizer/tsan_interface.h>
#endif
#if __has_feature(address_sanitizer)
#define STEP_SHADOWED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(STEP_SHADOWED)
#include <sanitizer/asan_interface.h>
#endif

enum { STEP_THREADS = 3, STEP_STORES = 64, STEP_CHOICES = 400, STEP_WATCHED = 16, STEP_STACK = 256 << 10 };

struct step_store {
    uintptr_t at;
    size_t size;
    uint64_t value;
};

static struct {
    struct step_thread {
        ucontext_t context;
        void *stack, *fiber;
        void (*body)(void);
        bool done, yielded;
        uintptr_t asleep; /* on this word; 0 = awake */
        struct step_store store[STEP_STORES];
        unsigned stores;
    } thread[STEP_THREADS];
    unsigned threads;
    int current; /* -1: none, all accesses go straight to memory */
    ucontext_t scheduler;
    void *fiber;
    struct {
        uintptr_t from, to;
    } watched[STEP_WATCHED];
    unsigned watches;
    uintptr_t gone_from, gone_to; /* freed memory: no read allowed */
    const char *wrong;
    bool no_membarrier;
    uintptr_t locked; /* the one locked mutex */
    uint16_t choice[STEP_CHOICES], options[STEP_CHOICES];
    unsigned depth;
    uint64_t runs;
    unsigned breaks, most_breaks; /* interruptions of a runnable thread; most_breaks 0: no limit */
} stepping = {.current = -1};

/* --- memory --- */

static void step_raw_write(uintptr_t at, size_t size, uint64_t value)
{
    memcpy((void *)at, &value, size); /* little-endian */
}

static bool step_watches(uintptr_t at)
{
    for (unsigned i = 0; i < stepping.watches; i++)
        if (at >= stepping.watched[i].from && at < stepping.watched[i].to)
            return true;
    return false;
}

static void step_flush_one(struct step_thread *thread)
{
    step_raw_write(thread->store[0].at, thread->store[0].size, thread->store[0].value);
    memmove(thread->store, thread->store + 1, --thread->stores * sizeof thread->store[0]);
}

static void step_flush(struct step_thread *thread)
{
    while (thread->stores)
        step_flush_one(thread);
}

/* --- turns --- */

static void step_switch(struct step_thread *to)
{
    struct step_thread *from = stepping.current >= 0 ? &stepping.thread[stepping.current] : NULL;
    stepping.current = to ? (int)(to - stepping.thread) : -1;
#ifdef STEP_FIBERS
    __tsan_switch_to_fiber(to ? to->fiber : stepping.fiber, 0);
#endif
    swapcontext(from ? &from->context : &stepping.scheduler, to ? &to->context : &stepping.scheduler);
}

/* Other threads may run here. */
static void step_point(void)
{
    if (stepping.current >= 0)
        step_switch(NULL);
}

static unsigned step_choose(unsigned options);

/*
 * Choose how many stores of other threads are visible now. The choice matters only to a load of that address, so it is
 * made only then.
 */
static void step_let_through(uintptr_t at)
{
    for (unsigned i = 0; i < stepping.threads; i++) {
        struct step_thread *thread = &stepping.thread[i];
        unsigned there = 0, through;
        if ((int)i == stepping.current)
            continue;
        for (unsigned n = 0; n < thread->stores; n++)
            there += thread->store[n].at == at;
        for (through = step_choose(there + 1); through; step_flush_one(thread))
            through -= thread->store[0].at == at;
    }
}

static void step_load(uintptr_t at, void *value, size_t size)
{
    if (stepping.current >= 0 && step_watches(at)) {
        step_point();
        step_let_through(at);
    }
    if (stepping.current >= 0 && (at < 4096 || (at >= stepping.gone_from && at < stepping.gone_to))) {
        stepping.wrong = "freed memory was read";
        memset(value, 0, size);
        return;
    }
    memcpy(value, (const void *)at, size);
    for (unsigned i = 0; stepping.current >= 0 && i < stepping.thread[stepping.current].stores; i++) {
        const struct step_store *store = &stepping.thread[stepping.current].store[i];
        if (store->at == at)
            memcpy(value, &store->value, size);
    }
}

/* A fence: empties the thread's buffer. Other threads run before it if they could see one of the stores. */
__attribute__((unused)) static void step_fence(void)
{
    if (stepping.current < 0)
        return;
    struct step_thread *thread = &stepping.thread[stepping.current];
    for (unsigned i = 0; i < thread->stores; i++)
        if (step_watches(thread->store[i].at)) {
            step_point();
            break;
        }
    step_flush(thread);
}

/* A fence, then a step if the address is watched. */
static void step_act(uintptr_t at)
{
    if (stepping.current < 0)
        return;
    step_fence();
    if (!at || step_watches(at))
        step_point();
    if (at && step_watches(at))
        step_let_through(at);
}

static void step_put(uintptr_t at, const void *from, size_t size, bool fence)
{
    uint64_t value = 0;
    memcpy(&value, from, size);
    if (fence)
        step_act(at);
    struct step_thread *thread = stepping.current >= 0 ? &stepping.thread[stepping.current] : NULL;
    if (!thread || fence || (!thread->stores && !step_watches(at))) {
        step_raw_write(at, size, value);
        return;
    }
    if (thread->stores == STEP_STORES) /* longer than a real buffer */
        step_flush_one(thread);
    thread->store[thread->stores++] = (struct step_store){at, size, value};
}

/* This thread can continue only after another thread's step. */
__attribute__((unused)) static void step_yield(void)
{
    if (stepping.current < 0)
        return;
    stepping.thread[stepping.current].yielded = true;
    step_point();
    for (unsigned i = 0; i < stepping.threads; i++)
        step_flush(&stepping.thread[i]); /* no store waits this long */
}

__attribute__((unused)) static int step_lock(uintptr_t mutex)
{
    step_act(0);
    while (stepping.current >= 0 && stepping.locked)
        step_yield();
    stepping.locked = stepping.current >= 0 ? mutex : 0;
    return 0;
}

__attribute__((unused)) static int step_unlock(void)
{
    step_fence();
    stepping.locked = 0;
    return 0;
}

/* futex wait and wake, and membarrier; other calls are refused. */
__attribute__((unused)) static long step_syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    uintptr_t word = number == SYS_futex ? (uintptr_t)va_arg(args, void *) : 0;
    int what = number == SYS_futex || number == SYS_membarrier ? va_arg(args, int) : 0;
    uint32_t value = number == SYS_futex ? va_arg(args, uint32_t) : 0;
    va_end(args);
    step_act(0);
    if (stepping.current < 0)
        return 0;
    if (number == SYS_futex && what == FUTEX_WAKE_PRIVATE) {
        for (unsigned i = 0; i < stepping.threads; i++)
            if (stepping.thread[i].asleep == word)
                stepping.thread[i].asleep = 0;
        return 0;
    }
    if (number == SYS_futex && what == FUTEX_WAIT_PRIVATE) {
        uint32_t now;
        memcpy(&now, (const void *)word, sizeof now);
        errno = EAGAIN;
        if (now != value)
            return -1;
        stepping.thread[stepping.current].asleep = word;
        step_point();
        return 0;
    }
    if (number == SYS_membarrier && !stepping.no_membarrier) {
        for (unsigned i = 0; i < stepping.threads; i++)
            step_flush(&stepping.thread[i]);
        return 0;
    }
    errno = ENOSYS;
    return -1;
}

/* --- all orders --- */

static void step_start(void)
{
    stepping.thread[stepping.current].body();
    stepping.thread[stepping.current].done = true;
    for (;;)
        step_point();
}

static void step_make(struct step_thread *thread, void (*body)(void))
{
    if (!thread->stack)
        thread->stack = mmap(NULL, STEP_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#if defined(__SANITIZE_ADDRESS__) || defined(STEP_SHADOWED)
    __asan_unpoison_memory_region(thread->stack, STEP_STACK); /* frames of an unfinished run */
#endif
#ifdef STEP_FIBERS
    if (thread->fiber)
        __tsan_destroy_fiber(thread->fiber);
    thread->fiber = __tsan_create_fiber(0);
    stepping.fiber = __tsan_get_current_fiber();
#endif
    thread->body = body;
    thread->done = thread->yielded = false;
    thread->asleep = 0;
    thread->stores = 0;
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack;
    thread->context.uc_stack.ss_size = STEP_STACK;
    thread->context.uc_link = NULL;
    makecontext(&thread->context, step_start, 0);
}

/* Return this run's choice among `options`. The next run changes the last choice that has options left. */
static unsigned step_choose(unsigned options)
{
    if (options < 2)
        return 0;
    if (stepping.depth == STEP_CHOICES) {
        stepping.wrong = "the run doesn't end";
        return 0;
    }
    stepping.options[stepping.depth] = (uint16_t)options;
    return stepping.choice[stepping.depth++];
}

static void step_run(void)
{
    struct step_thread *last = NULL;
    stepping.breaks = 0;
    while (!stepping.wrong) {
        struct step_thread *can[STEP_THREADS];
        unsigned n = 0, patient = 0;
        const struct step_thread *before = last;
        bool goes_on = false; /* the thread that ran before could continue */
        for (unsigned i = 0; i < stepping.threads; i++) {
            struct step_thread *thread = &stepping.thread[i];
            if (!thread->done && !thread->asleep && !thread->yielded)
                can[n++] = thread, goes_on |= thread == last;
            patient += thread->yielded;
        }
        if (n == 0 && !patient)
            break;
        if (goes_on && stepping.most_breaks && stepping.breaks == stepping.most_breaks)
            can[0] = last, n = 1;
        unsigned chosen = n ? step_choose(n) : 0;
        last = n ? can[chosen] : NULL;
        stepping.breaks += goes_on && last != before;
        for (unsigned i = 0; i < stepping.threads; i++)
            if (n == 0 || &stepping.thread[i] != can[chosen])
                stepping.thread[i].yielded = false;
        if (n)
            step_switch(can[chosen]);
    }
    for (unsigned i = 0; i < stepping.threads; i++)
        step_flush(&stepping.thread[i]); /* at the end all stores are visible */
}

__attribute__((unused)) static void step_watch(const volatile void *from, size_t size)
{
    stepping.watched[stepping.watches].from = (uintptr_t)from;
    stepping.watched[stepping.watches++].to = (uintptr_t)from + size;
}

/*
 * Run the bodies in all orders: `set` resets the state before each run, `check` returns an error or NULL after it.
 * Returns the first error, with the run's choices on standard error; NULL without one.
 */
static const char *step_all_orders(void (*set)(void), void (*const *bodies)(void), unsigned threads,
                                   const char *(*check)(void))
{
    unsigned known = 0;
    stepping.threads = threads;
    stepping.runs = 0;
    memset(stepping.choice, 0, sizeof stepping.choice);
    for (;;) {
        stepping.wrong = NULL;
        stepping.depth = 0;
        stepping.locked = 0;
        stepping.gone_from = stepping.gone_to = 0;
        set();
        for (unsigned i = 0; i < threads; i++)
            step_make(&stepping.thread[i], bodies[i]);
        step_run();
        stepping.runs++;
        if (!stepping.wrong)
            stepping.wrong = check();
        if (stepping.wrong) {
            fprintf(stderr, "# run %llu, choices", (unsigned long long)stepping.runs);
            for (unsigned i = 0; i < stepping.depth; i++)
                fprintf(stderr, " %d/%d", stepping.choice[i], stepping.options[i]);
            fprintf(stderr, ": %s\n", stepping.wrong);
            return stepping.wrong;
        }
        known = stepping.depth;
        while (known && stepping.choice[known - 1] + 1 >= stepping.options[known - 1])
            known--;
        if (!known)
            return NULL;
        stepping.choice[known - 1]++;
        memset(stepping.choice + known, 0, (STEP_CHOICES - known) * sizeof stepping.choice[0]);
    }
}

__attribute__((unused)) static void step_gone(const volatile void *from, size_t size)
{
    stepping.gone_from = (uintptr_t)from;
    stepping.gone_to = (uintptr_t)from + size;
}

/* --- definitions that the sources see --- */

#define STEP_TYPE(object) __typeof__((void)0, *(object))
#define STEP_LOAD(object)                                                   \
    ({                                                                      \
        STEP_TYPE(object) step_got;                                         \
        step_load((uintptr_t)(object), (void *)&step_got, sizeof step_got); \
        step_got;                                                           \
    })
#define STEP_STORE(object, desired, fence)                                                \
    ({                                                                                    \
        STEP_TYPE(object) step_new = (desired);                                           \
        step_put((uintptr_t)(object), (const void *)&step_new, sizeof step_new, (fence)); \
    })
/* one step: other threads run before it, and the buffer is empty after it */
#define STEP_CHANGE(object, expression)                                                \
    ({                                                                                 \
        STEP_TYPE(object) step_was, step_new;                                          \
        step_act((uintptr_t)(object));                                                 \
        memcpy((void *)&step_was, (const void *)(uintptr_t)(object), sizeof step_was); \
        step_new = (STEP_TYPE(object))(expression);                                    \
        memcpy((void *)(uintptr_t)(object), (const void *)&step_new, sizeof step_new); \
        step_was;                                                                      \
    })
#define STEP_COMPARE(object, expected, desired)                                       \
    ({                                                                                \
        STEP_TYPE(object) step_want = *(expected), step_old;                          \
        step_old = STEP_CHANGE(object, step_was == step_want ? (desired) : step_was); \
        *(expected) = step_old;                                                       \
        step_old == step_want;                                                        \
    })

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and_explicit
#undef atomic_thread_fence
#undef atomic_signal_fence
#define atomic_load(object)                                       STEP_LOAD(object)
#define atomic_load_explicit(object, order)                       STEP_LOAD(object)
#define atomic_store(object, desired)                             STEP_STORE(object, desired, true)
#define atomic_store_explicit(object, desired, order)             STEP_STORE(object, desired, (order) == memory_order_seq_cst)
#define atomic_exchange(object, desired)                          STEP_CHANGE(object, desired)
#define atomic_exchange_explicit(object, desired, order)          STEP_CHANGE(object, desired)
#define atomic_compare_exchange_strong(object, expected, desired) STEP_COMPARE(object, expected, desired)
#define atomic_compare_exchange_strong_explicit(object, expected, desired, success, failure) \
    STEP_COMPARE(object, expected, desired)
#define atomic_compare_exchange_weak_explicit(object, expected, desired, success, failure) \
    STEP_COMPARE(object, expected, desired)
#define atomic_fetch_add(object, operand)                 STEP_CHANGE(object, step_was + (operand))
#define atomic_fetch_add_explicit(object, operand, order) STEP_CHANGE(object, step_was + (operand))
#define atomic_fetch_sub(object, operand)                 STEP_CHANGE(object, step_was - (operand))
#define atomic_fetch_sub_explicit(object, operand, order) STEP_CHANGE(object, step_was - (operand))
#define atomic_fetch_or_explicit(object, operand, order)  STEP_CHANGE(object, step_was | (operand))
#define atomic_fetch_and_explicit(object, operand, order) STEP_CHANGE(object, step_was &(operand))
#define atomic_thread_fence(order)                        ((order) == memory_order_seq_cst ? step_fence() : (void)0)
#define atomic_signal_fence(order)                        ((void)0)
#define __atomic_load_n(object, order)                    STEP_LOAD(object)
#define __atomic_store_n(object, desired, order)          STEP_STORE(object, desired, false)
#define __atomic_fetch_add(object, operand, order)        STEP_CHANGE(object, step_was + (operand))

#define syscall                     step_syscall
#define nanosleep(moment, left)     ((void)(moment), step_yield())
#define sched_yield()               step_yield()
#define pthread_mutex_lock(mutex)   step_lock((uintptr_t)(mutex))
#define pthread_mutex_unlock(mutex) ((void)(mutex), step_unlock())

#endif
