/*
 * A thread that makes ahead what a first frame tells. See ahead.h.
 *
 * `made` and `ended` are written by the thread and read by the one that waits, under the lock, which is taken once a
 * batch of kernels and not once a kernel: a waiter that is behind the number it saw last, which only grows, needs no
 * lock. A kernel's growth is written by the thread before the number says so, and read after.
 */
#include "session/ahead.h"
#include "text/demangle.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORTH_A_THREAD = 512, /* kernels: some 5 ms, where starting a thread is 30 us */
    BATCH = 64,
};

struct rtl_ahead {
    struct rtl_names *names;
    const struct rtl_snapshot *snapshot;
    bool ascii;
    struct rtl_growth *growth; /* one a kernel of the snapshot */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more;
    uint32_t made;         /* kernels of the snapshot, from its first on; under the lock */
    bool ended;            /* the thread makes no more, for want of memory or because all are made; under the lock */
    uint32_t seen;         /* `made` as the waiter saw it last; the waiter's own */
    atomic_bool no_longer; /* waiter stores, thread loads, relaxed: it says stop, and hands nothing over */
};

/* The text in no more memory than it needs. */
static bool keep(struct rtl_growing *to, const struct rtl_growing *text)
{
    if (!text->used)
        return true;
    to->bytes = malloc(text->used);
    if (!to->bytes)
        return false;
    memcpy(to->bytes, text->bytes, text->used);
    to->used = to->size = text->used;
    return true;
}

/* False without memory: then there is no full name, or the cell is the uncut form itself. */
static bool make_one(struct rtl_ahead *a, uint32_t i, struct rtl_growth *growth)
{
    const struct rtl_kernel_snapshot *k = &a->snapshot->kernels[i];
    const char *full = rtl_names_form(a->names, k->id, k->name, k->name_length, RTL_NAME_FULL);
    const char *cell =
        rtl_names_cell(a->names, k->id, k->name, k->name_length, RTL_NAME_SHORT, RTL_NAMES_WHOLE, a->ascii);
    if (full == rtl_name_missing || cell == rtl_names_form(a->names, k->id, k->name, k->name_length, RTL_NAME_SHORT) ||
        !rtl_growth_tell(growth, NULL, &k->histogram))
        return false;
    struct rtl_growth *kept = &a->growth[i];
    kept->any = growth->any;
    memcpy(kept->quantile, growth->quantile, sizeof kept->quantile);
    return keep(&kept->buckets, &growth->buckets) && keep(&kept->coarse, &growth->coarse);
}

static void *make(void *context)
{
    struct rtl_ahead *a = context;
    const struct rtl_snapshot *s = a->snapshot;
    struct rtl_growth growth = {0};
    bool ended = false;
    for (uint32_t i = 0; !ended;) {
        uint32_t end = s->kernel_count - i > BATCH ? i + BATCH : s->kernel_count;
        while (i < end && make_one(a, i, &growth))
            i++;
        ended = i < end || i == s->kernel_count || atomic_load_explicit(&a->no_longer, memory_order_relaxed);
        if (ended) /* before it is said, because then others demangle */
            rtl_demangle_rest();
        pthread_mutex_lock(&a->lock);
        a->made = i;
        a->ended = ended;
        pthread_cond_signal(&a->more);
        pthread_mutex_unlock(&a->lock);
    }
    free(growth.buckets.bytes);
    free(growth.coarse.bytes);
    return NULL;
}

static void let_go(struct rtl_ahead *a)
{
    for (uint32_t i = 0; a->growth && i < a->snapshot->kernel_count; i++) {
        free(a->growth[i].buckets.bytes);
        free(a->growth[i].coarse.bytes);
    }
    free(a->growth);
    pthread_cond_destroy(&a->more);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

struct rtl_ahead *rtl_ahead_start(struct rtl_names *names, const struct rtl_snapshot *snapshot, bool ascii)
{
    if (snapshot->kernel_count < WORTH_A_THREAD)
        return NULL;
    struct rtl_ahead *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->names = names;
    a->snapshot = snapshot;
    a->ascii = ascii;
    a->growth = calloc(snapshot->kernel_count, sizeof *a->growth);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->more, NULL);
    sigset_t all, before; /* signals are for the thread that has the terminal */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = a->growth && pthread_create(&a->thread, NULL, make, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!runs) {
        let_go(a);
        return NULL;
    }
    return a;
}

const struct rtl_growth *rtl_ahead_wait(struct rtl_ahead *a, const struct rtl_kernel_snapshot *kernel)
{
    if (!a)
        return NULL;
    uint32_t at = (uint32_t)(kernel - a->snapshot->kernels);
    if (at >= a->seen) {
        pthread_mutex_lock(&a->lock);
        while (a->made <= at && !a->ended)
            pthread_cond_wait(&a->more, &a->lock);
        a->seen = a->made;
        pthread_mutex_unlock(&a->lock);
    }
    return at < a->seen ? &a->growth[at] : NULL;
}

void rtl_ahead_end(struct rtl_ahead *a)
{
    if (!a)
        return;
    atomic_store_explicit(&a->no_longer, true, memory_order_relaxed);
    pthread_join(a->thread, NULL);
    let_go(a);
}
