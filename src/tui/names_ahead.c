/*
 * A thread that makes names ahead. See names_ahead.h.
 *
 * `made` and `ended` are written by the thread and read by the one that waits, under the lock, which is taken once a
 * batch of names and not once a name: a waiter that is behind the number it saw last, which only grows, needs no lock.
 */
#include "tui/names_ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    WORTH_A_THREAD = 512, /* kernels: some 3 ms of names, where starting a thread is 30 us */
    BATCH = 64,
};

struct rtl_names_ahead {
    struct rtl_names *names;
    const struct rtl_snapshot *snapshot;
    bool ascii;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    uint32_t made;         /* kernels of the snapshot, from its first on; under the lock */
    bool ended;            /* the thread makes no more, for want of memory or because all are made; under the lock */
    uint32_t seen;         /* `made` as the waiter saw it last; the waiter's own */
    atomic_bool no_longer; /* written by the waiter, read by the thread, relaxed: it says stop, and hands nothing over */
};

/* False without memory: a cell that could not be made is the uncut form itself. */
static bool make_one(struct rtl_names_ahead *a, const struct rtl_kernel_snapshot *k)
{
    rtl_names_form(a->names, k->id, k->name, k->name_length, RTL_NAME_FULL);
    const char *cell =
        rtl_names_cell(a->names, k->id, k->name, k->name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, a->ascii);
    return cell != rtl_names_form(a->names, k->id, k->name, k->name_length, RTL_NAME_SHORT);
}

static void *make(void *context)
{
    struct rtl_names_ahead *a = context;
    const struct rtl_snapshot *s = a->snapshot;
    bool ended = false;
    for (uint32_t i = 0; !ended;) {
        uint32_t end = s->kernel_count - i > BATCH ? i + BATCH : s->kernel_count;
        while (i < end && make_one(a, &s->kernels[i]))
            i++;
        ended = i < end || i == s->kernel_count || atomic_load_explicit(&a->no_longer, memory_order_relaxed);
        pthread_mutex_lock(&a->lock);
        a->made = i;
        a->ended = ended;
        pthread_cond_signal(&a->more);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

struct rtl_names_ahead *rtl_names_ahead_start(struct rtl_names *names, const struct rtl_snapshot *snapshot, bool ascii)
{
    if (snapshot->kernel_count < WORTH_A_THREAD)
        return NULL;
    struct rtl_names_ahead *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->names = names;
    a->snapshot = snapshot;
    a->ascii = ascii;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->more, NULL);
    sigset_t all, before; /* signals are for the thread that has the terminal */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = pthread_create(&a->thread, NULL, make, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!runs) {
        pthread_cond_destroy(&a->more);
        pthread_mutex_destroy(&a->lock);
        free(a);
        return NULL;
    }
    return a;
}

void rtl_names_ahead_wait(struct rtl_names_ahead *a, const struct rtl_kernel_snapshot *kernel)
{
    if (!a)
        return;
    uint32_t at = (uint32_t)(kernel - a->snapshot->kernels);
    if (at < a->seen)
        return;
    pthread_mutex_lock(&a->lock);
    while (a->made <= at && !a->ended)
        pthread_cond_wait(&a->more, &a->lock);
    a->seen = a->made;
    pthread_mutex_unlock(&a->lock);
}

void rtl_names_ahead_end(struct rtl_names_ahead *a)
{
    if (!a)
        return;
    atomic_store_explicit(&a->no_longer, true, memory_order_relaxed);
    pthread_join(a->thread, NULL);
    pthread_cond_destroy(&a->more);
    pthread_mutex_destroy(&a->lock);
    free(a);
}
