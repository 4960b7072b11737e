/* Native queues by address, and the slots that each thread has reserved in them (native_ring.h). */
#include "intercept/track/native_ring.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "intercept/base/hsa_clock.h"
#include "intercept/base/futex.h"

enum {
    TABLE = RTL_NATIVE_PLACES,
    THREADS = 1024, /* records for submitting threads; queues of further threads become loose */
    PROBES = 64,
};

/* --- queues --- */

struct rtl_native_place rtl_native_places[TABLE];
static uint32_t used;                   /* create: occupied places, also of closed queues */
static struct rtl_native *all, *unused; /* create */

struct rtl_native *rtl_native_find_behind(const hsa_queue_t *queue)
{
    uint32_t at = rtl_native_place_of(queue, TABLE);
    for (int probes = 0; probes < PROBES; probes++) {
        const hsa_queue_t *found = atomic_load_explicit(&rtl_native_places[at].queue, memory_order_acquire);
        if (found == queue)
            return rtl_native_in(&rtl_native_places[at], queue);
        if (!found)
            return NULL;
        at = (at + 1) & (TABLE - 1);
    }
    return NULL;
}

/* Return the queue's place, or else a closed queue's or an empty one. */
static struct rtl_native_place *find_place(const hsa_queue_t *queue)
{
    uint32_t at = rtl_native_place_of(queue, TABLE);
    struct rtl_native_place *left = NULL;
    for (int probes = 0; probes < PROBES; probes++) {
        const hsa_queue_t *found = atomic_load_explicit(&rtl_native_places[at].queue, memory_order_relaxed);
        if (found == queue)
            return &rtl_native_places[at];
        if (!left &&
            (found ? !atomic_load_explicit(&rtl_native_places[at].native, memory_order_relaxed) : used < TABLE / 2))
            left = &rtl_native_places[at];
        if (!found)
            break;
        at = (at + 1) & (TABLE - 1);
    }
    return left;
}

/* Clear a closed queue's place. The address stays if probes must go on behind it. */
static void release_place(struct rtl_native_place *place)
{
    uint32_t at = (uint32_t)(place - rtl_native_places);
    atomic_store_explicit(&place->native, NULL, memory_order_release);
    if (atomic_load_explicit(&rtl_native_places[(at + 1) & (TABLE - 1)].queue, memory_order_relaxed))
        return;
    while (rtl_native_places[at].queue && !rtl_native_places[at].native) {
        atomic_store_explicit(&rtl_native_places[at].queue, NULL, memory_order_release);
        used--;
        at = (at - 1) & (TABLE - 1);
    }
}

static struct rtl_native *allocate_native(uint64_t slots)
{
    struct rtl_native **link = &unused, *native = NULL;
    /* skip a closed queue's record that a thread still walks: the thread would go on in the new queue */
    while (*link && ((*link)->rung_slots < slots || rtl_turn_is_taken(&(*link)->turn)))
        link = &(*link)->next;
    if (*link) {
        native = *link;
        *link = native->next;
        for (uint64_t i = 0; i < slots; i++)
            atomic_store_explicit(&native->rung[i], 0, memory_order_relaxed);
        return native;
    }
    if (posix_memalign((void **)&native, 64, sizeof *native) != 0)
        return NULL;
    memset(native, 0, sizeof *native);
    native->rung =
        mmap(NULL, slots * sizeof native->rung[0], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (native->rung == MAP_FAILED) {
        free(native);
        return NULL;
    }
    native->rung_slots = slots;
    return native;
}

struct rtl_native *rtl_native_add(const hsa_queue_t *queue, struct rtl_tracker *tracker, uint64_t first)
{
    struct rtl_native_place *place = find_place(queue);
    struct rtl_native *native = place ? allocate_native(queue->size) : NULL;
    if (!native)
        return NULL;
    __atomic_store_n(&native->queue, queue,
                     __ATOMIC_RELAXED); /* a thread with a stale pointer to the record may read this */
    native->ring = queue->base_address;
    native->slots = queue->size;
    __atomic_store_n(&native->doorbell.handle, queue->doorbell_signal.handle, __ATOMIC_RELAXED); /* and this */
    native->tracker = tracker;
    native->first = first;
    native->references = 1;
    native->unheard = 0;
    native->stuck_at = UINT64_MAX;
    atomic_store(&native->limit, first);
    atomic_store(&native->seen, first);
    atomic_store(&native->early, 0);
    atomic_store(&native->rung_to, first);
    atomic_store(&native->loose, false);
    atomic_store(&native->unrung, 0);
    atomic_store(&native->unattended, false);
    rtl_turn_start(&native->turn);
    atomic_store(&native->published, first);
    atomic_store(&native->reserved, first);
    atomic_fetch_add(&native->use, 1);
    native->next = all;
    all = native;
    used += !place->queue;
    atomic_store_explicit(&place->native, native, memory_order_release);
    atomic_store_explicit(&place->queue, queue, memory_order_release);
    return native;
}

void rtl_native_remove(struct rtl_native *native)
{
    atomic_fetch_add(&native->use, 1); /* invalidates the slots that threads have reserved there */
    struct rtl_native_place *place = find_place(native->queue);
    if (place)
        release_place(place);
    for (struct rtl_native **link = &all; *link; link = &(*link)->next)
        if (*link == native) {
            *link = native->next;
            break;
        }
}

static const uint64_t LEAVE = 1000000000, MOMENT = 50000; /* ns */

void rtl_native_wait_unused(struct rtl_native *native)
{
    uint64_t since = rtl_clock_now();
    int error = errno;
    while (rtl_turn_is_taken(&native->turn) && rtl_clock_now() - since < LEAVE)
        /* a timed sleep: no thread wakes this one */
        rtl_futex_wait(&native->turn.rings, atomic_load(&native->turn.rings), MOMENT);
    errno = error;
}

void rtl_native_recycle(struct rtl_native *native)
{
    native->next = unused;
    unused = native;
}

void rtl_native_forget_all(void)
{
    for (uint32_t i = 0; i < TABLE; i++) {
        atomic_store_explicit(&rtl_native_places[i].native, NULL, memory_order_relaxed);
        atomic_store_explicit(&rtl_native_places[i].queue, NULL, memory_order_relaxed);
    }
    used = 0;
    while (all) {
        struct rtl_native *native = all;
        atomic_fetch_add(&native->use, 1);
        all = native->next;
        native->next = unused;
        unused = native;
    }
}

/* --- threads --- */

/* Each submitting thread has a place with a record until it ends; then another thread may claim the place. A pthread
 * key reports the thread's end. If the key's number is so high that the thread library would allocate for it, places
 * are never released. */
enum { NOBODY = 1, KEYS_WITHOUT_MEMORY = 32 }; /* no thread's id */
static _Atomic uintptr_t threads[THREADS];     /* any, by exchange: pthread_self; 0 = never used, NOBODY = released */
static struct rtl_reserver reservers[THREADS];
static pthread_key_t key;
static bool has_key; /* load */
/* The calling thread's record, cached after one search in the table. */
__thread struct rtl_reserver *rtl_native_mine;

static void release_thread_place(void *place)
{
    rtl_native_mine = NULL; /* later destructors of this thread claim a place of their own */
    reservers[(_Atomic uintptr_t *)place - threads].count = 0; /* the next thread finds an empty record */
    atomic_store_explicit((_Atomic uintptr_t *)place, NOBODY, memory_order_release);
}

void rtl_native_watch_threads(void)
{
    if (!has_key && pthread_key_create(&key, release_thread_place) == 0) {
        has_key = key < KEYS_WITHOUT_MEMORY;
        if (!has_key)
            pthread_key_delete(key);
    }
}

/* Claim a place for the calling thread. */
static struct rtl_reserver *claim_thread_place(uintptr_t id)
{
    uint32_t at = rtl_native_place_of((const void *)id, THREADS);
    for (int probes = 0; probes < PROBES; probes++, at = (at + 1) & (THREADS - 1)) {
        uintptr_t found = atomic_load_explicit(&threads[at], memory_order_relaxed);
        if (found > NOBODY || !atomic_compare_exchange_strong(&threads[at], &found, id))
            continue;
        if (has_key)
            pthread_setspecific(key, &threads[at]);
        return &reservers[at];
    }
    return NULL;
}

/* Lock-free, bounded; no allocation. */
static struct rtl_reserver *find_reserver(void)
{
    uintptr_t id = (uintptr_t)pthread_self();
    uint32_t at = rtl_native_place_of((const void *)id, THREADS);
    for (int probes = 0; probes < PROBES; probes++, at = (at + 1) & (THREADS - 1)) {
        uintptr_t found = atomic_load_explicit(&threads[at], memory_order_relaxed);
        if (found == id)
            return &reservers[at];
        if (!found)
            break;
    }
    return claim_thread_place(id);
}

struct rtl_reserver *rtl_native_me(void)
{
    if (unlikely(!rtl_native_mine))
        rtl_native_mine = find_reserver();
    return rtl_native_mine;
}

/* True if the reservation needs no doorbell any more: its queue is closed or demoted, or loose and published that
 * far. */
static bool is_void(const struct rtl_reservation *of)
{
    const struct rtl_native *native = of->native; /* records of queues are never freed */
    return of->use != atomic_load_explicit(&native->use, memory_order_relaxed) || rtl_native_is_demoted(native) ||
           (atomic_load_explicit(&native->loose, memory_order_relaxed) &&
            of->to <= atomic_load_explicit(&native->published, memory_order_relaxed));
}

uint64_t rtl_native_remember_more(struct rtl_native *native, uint32_t use, uint64_t from, uint64_t to)
{
    struct rtl_reserver *r = rtl_native_me();
    if (!rtl_native_change(r)) { /* the slots belong to no thread */
        atomic_store_explicit(&native->loose, true, memory_order_relaxed);
        return from;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++) /* void entries would keep this thread off the fast path for ever */
        if (!is_void(&r->of[i]))
            r->of[kept++] = r->of[i];
    struct rtl_reservation *last = &r->of[kept ? kept - 1 : 0];
    if (kept && last->native == native && last->use == use && last->to == from) {
        last->to = to;
    } else {
        if (kept == RTL_RESERVATIONS) /* drop the oldest: the worker lets it go if no thread rings for it */
            memmove(&r->of[0], &r->of[1], --kept * sizeof r->of[0]);
        r->of[kept++] = (struct rtl_reservation){native, use, from, to};
    }
    r->count = kept;
    rtl_native_changed(r);
    return from;
}

bool rtl_native_rung(struct rtl_native *native)
{
    struct rtl_reserver *r = rtl_native_me();
    uint32_t use = atomic_load_explicit(&native->use, memory_order_relaxed), kept = 0;
    uint64_t published = atomic_load_explicit(&native->published, memory_order_relaxed), mask = native->slots - 1;
    bool any = false;
    if (!rtl_native_change(r))
        return false;
    for (uint32_t i = 0; i < r->count; i++) {
        struct rtl_reservation of = r->of[i];
        if (of.native == native && of.use == use) {
            any = true;
            if (of.from < published) {
                /* the worker published these packets meanwhile; their slots may hold the next lap's. Their thread
                 * rings now, so it was only slow, unless threads ring before they write */
                of.from = published;
                if (!atomic_load_explicit(&native->early, memory_order_relaxed))
                    atomic_store_explicit(&native->unrung, 0, memory_order_relaxed);
            }
            while (of.from < of.to && rtl_native_is_free(native, of.from) && rtl_native_has_header(native, of.from)) {
                atomic_store_explicit(&native->rung[of.from & mask], of.from + 1, memory_order_release);
                of.from++;
            }
        }
        if (of.from < of.to && (of.native != native || of.use == use))
            r->of[kept++] = of;
    }
    r->count = kept;
    rtl_native_changed(r);
    return any;
}
