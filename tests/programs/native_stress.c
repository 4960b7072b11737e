/*
 * native_stress.c - raw HSA under stress: many threads submit packets to few queues, by every method that programs use.
 *
 * native_stress [--packets N] [--seed N] [--for plain|intercept|native] [--set NAME] [--hold]
 * native_stress --script: print the script for tests/vgpu/run, which gives each kernel a distinct duration
 *
 * The run consists of rounds. A round draws from the seed a set of native_stress_sets.h: how slots are reserved, when
 * and by which thread the doorbell is rung, in which order a packet is written. It also draws the numbers of producers
 * and queues, the rings' sizes, and how many packets are in a batch, carry the program's signal, have the barrier bit
 * or are barriers. Not every kind of queue supports every set; --for selects the kind (plain).
 *
 * The program checks exactly what it can see: each of its signals decreases once for each packet that carries it, and
 * times that the GPU wrote into it are those of its kernel. Ends with "launched KERNEL N" for each kernel and
 * "native_stress: OK, packets N, seed N". Status 2: something is wrong; 3: nothing has moved for a long time.
 */
#include "intercept_hsa.h"

#include <hsa/amd_hsa_signal.h>
#include <pthread.h>
#include <stdatomic.h>

#include "native_stress_any.h"
#include "native_stress_sets.h"

enum { PRODUCERS = 8, QUEUES = 4, BATCH = 40, SIGNALS = 96, NO_KERNEL = FAMILY, PATIENCE = 120 };

struct own { /* a producer's signal */
    hsa_signal_t signal;
    int kernel; /* the kernel that carries it, or NO_KERNEL for a barrier */
    bool used;
};

struct lane { /* a queue of the round; constant while producers run */
    hsa_queue_t *queue;
    uint64_t mask;
};

struct batch {
    struct lane *lane;
    unsigned count, rung; /* rung: number of slots, from the front, for which the doorbell was rung */
    uint64_t index[BATCH];
    struct own *own[BATCH]; /* NULL: the packet has no signal */
};

struct producer { /* used by its thread alone, except `mail` */
    unsigned id;
    uint64_t random;
    unsigned next_own;
    struct own own[SIGNALS];
    struct batch late; /* written, but the doorbell not rung yet */
    bool stalled;      /* in sets with `stalls`: this batch stalls */
    unsigned long launched[FAMILY];
    struct lane *mail_lane;
    _Atomic uint64_t mail; /* index to ring for by another thread, plus 1; run_ringer sets it to 0 when it has rung */
};

static struct {
    unsigned long packets, seed;
    int kind;
    const char *set;
    bool hold;
} options = {.packets = 100000, .seed = 1, .kind = PLAIN};

static struct { /* this round's settings: constant while producers run */
    unsigned long number;
    const struct set *set;
    unsigned producers, lanes, batch, signalled, barrier_bits, barriers, slow; /* the last four in percent */
    uint32_t ring;
    struct lane lane[QUEUES];
} rounds;

static struct family family;
static struct producer producers[PRODUCERS];
static bool profiles;               /* enable profiling on the queues: in half of the runs */
static _Atomic unsigned long left;  /* packets of this round not yet claimed; any producer writes it */
static _Atomic unsigned long moved; /* written by any producer, read by the watchdog */
static _Atomic bool ringer_over;    /* written by main, read by the ringer */

/* --- durations of kernels --- */

/* All differ, so that mixed-up packets are detected; the last ones are long enough for rings to fill up. */
static uint64_t duration_ns(int kernel)
{
    static const uint64_t slow[] = {5000, 10000, 20000, 40000};
    return kernel < FAMILY - 4 ? 10 * (uint64_t)(kernel + 1) : slow[kernel - (FAMILY - 4)];
}

static int pick_kernel(struct producer *p)
{
    return chance(&p->random, rounds.slow) ? FAMILY - 4 + (int)below(&p->random, 4)
                                           : (int)(below(&p->random, FAMILY - 4) * below(&p->random, 100) / 100);
}

/* --- signals --- */

static void fail_signal(const struct own *own, const char *what)
{
    fprintf(stderr, "native_stress: seed %lu round %lu set %s: %s (hsa_%02d, signal value %ld)\n", options.seed,
            rounds.number, rounds.set->name, what, own->kernel, (long)hsa_signal_load_relaxed(own->signal));
    _exit(2);
}

/* Check the signal after the last packet with it has completed. */
static void check_own(struct own *own)
{
    const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)own->signal.handle;
    hsa_signal_value_t value;
    if (!own->used)
        return;
    while ((value = hsa_signal_load_scacquire(own->signal)) >= 1)
        sched_yield();
    if (value != 0)
        fail_signal(own, "a signal came down twice");
    if (own->kernel != NO_KERNEL && (profiles || memory->end_ts) &&
        (memory->end_ts - memory->start_ts) * 10 != duration_ns(own->kernel))
        fail_signal(own, "the times in a signal are not its kernel's");
    own->used = false;
}

static void ring_late(struct producer *p);

static struct own *next_own_signal(struct producer *p)
{
    struct own *own = &p->own[p->next_own++ % SIGNALS];
    if (own->used && hsa_signal_load_scacquire(own->signal) >= 1)
        ring_late(p); /* the signal's packet may be in the late batch */
    check_own(own);
    hsa_signal_store_relaxed(own->signal, 1);
    own->used = true;
    return own;
}

/* --- doorbells --- */

/* Ring for the first `count` slots of the batch: once for all, or once for each. */
static void ring_for(struct producer *p, struct batch *b, unsigned count)
{
    if (b->rung >= count)
        return;
    bool each = rounds.set->bell != HANDED && chance(&p->random, 25);
    for (unsigned i = each ? b->rung : count - 1; i < count; i++) {
        if (rounds.set->bell != HANDED) {
            ring_bell(&p->random, b->lane->queue, b->index[i]);
            continue;
        }
        while (atomic_load_explicit(&p->mail, memory_order_acquire))
            sched_yield();
        p->mail_lane = b->lane;
        atomic_store_explicit(&p->mail, b->index[i] + 1, memory_order_release);
    }
    b->rung = count;
}

static void ring_late(struct producer *p)
{
    ring_for(p, &p->late, p->late.count);
    p->late.count = p->late.rung = 0;
}

/* Ring on behalf of all producers, in sets where they do not ring themselves. */
static void *run_ringer(void *data)
{
    uint64_t random = options.seed;
    (void)data;
    while (!atomic_load(&ringer_over)) {
        for (unsigned i = 0; i < rounds.producers; i++) {
            uint64_t mail = atomic_load_explicit(&producers[i].mail, memory_order_acquire);
            if (!mail)
                continue;
            ring_bell(&random, producers[i].mail_lane->queue, mail - 1);
            atomic_store_explicit(&producers[i].mail, 0, memory_order_release);
        }
        sched_yield();
    }
    return NULL;
}

/* --- slots --- */

static void reserve_slots(struct producer *p, struct batch *b)
{
    const hsa_queue_t *queue = b->lane->queue;
    uint64_t first = 0;
    enum way way = rounds.set->way == ANY ? (enum way)below(&p->random, STORE) : rounds.set->way;
    if (way == ADD_EACH) {
        for (unsigned i = 0; i < b->count; i++) {
            b->index[i] = add_index(&p->random, queue, 1);
            if (chance(&p->random, 20))
                sched_yield();
        }
        return;
    }
    if (way == ADD) {
        first = add_index(&p->random, queue, b->count);
    } else if (way == CAS) {
        uint64_t seen = load_index(&p->random, queue);
        do {
            first = seen;
            seen = compare_and_swap(&p->random, queue, first, first + b->count);
        } while (seen != first);
    } else { /* the only producer of this queue */
        first = load_index(&p->random, queue);
        if (chance(&p->random, 50))
            hsa_queue_store_write_index_relaxed(queue, first + b->count);
        else
            hsa_queue_store_write_index_screlease(queue, first + b->count);
    }
    for (unsigned i = 0; i < b->count; i++)
        b->index[i] = first + i;
}

/* Wait until the slot is free. Packets without a doorbell may block it, so ring for them first. */
static void wait_for_room(struct producer *p, struct batch *b, unsigned written, uint64_t index)
{
    const hsa_queue_t *queue = b->lane->queue;
    if (index - hsa_queue_load_read_index_scacquire(queue) < queue->size)
        return;
    ring_late(p);
    if (written)
        ring_for(p, b, written);
    while (index - hsa_queue_load_read_index_relaxed(queue) >= queue->size)
        sched_yield();
    hsa_queue_load_read_index_scacquire(queue);
}

/* --- packets --- */

/* Simulate preemption, sometimes so long that the library stops waiting for the packet. */
static void pause_now(struct producer *p, bool for_long)
{
    if (for_long && chance(&p->random, 1) && chance(&p->random, 5))
        usleep(30000);
    else if (chance(&p->random, 30))
        sched_yield();
}

static void write_body(void *slot, const void *packet)
{
    memcpy((char *)slot + 4, (const char *)packet + 4, 60);
}

static void write_packet(struct producer *p, struct batch *b, unsigned i)
{
    union {
        hsa_kernel_dispatch_packet_t kernel;
        hsa_barrier_and_packet_t barrier;
    } packet;
    struct own *own = b->own[i];
    uint32_t *slot = (uint32_t *)((char *)b->lane->queue->base_address + 64 * (b->index[i] & b->lane->mask));
    unsigned header, setup = 0;
    memset(&packet, 0, sizeof packet);
    if (chance(&p->random, rounds.barriers)) {
        header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE;
        packet.barrier.completion_signal = own ? own->signal : (hsa_signal_t){0};
        if (own)
            own->kernel = NO_KERNEL;
    } else {
        int kernel = pick_kernel(p);
        header = KERNEL_HEADER;
        setup = 1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS;
        packet.kernel.setup = (uint16_t)setup;
        packet.kernel.workgroup_size_x = 64;
        packet.kernel.workgroup_size_y = packet.kernel.workgroup_size_z = 1;
        packet.kernel.grid_size_x = 64 * (uint32_t)(kernel + 1);
        packet.kernel.grid_size_y = packet.kernel.grid_size_z = 1;
        packet.kernel.kernel_object = family.object[kernel];
        packet.kernel.kernarg_address = kernarg_block;
        packet.kernel.completion_signal = own ? own->signal : (hsa_signal_t){0};
        if (own)
            own->kernel = kernel;
        p->launched[kernel]++;
    }
    if (chance(&p->random, rounds.barrier_bits))
        header |= BARRIER_BIT;
    if (rounds.set->torn) { /* like a copy of the packet from its first byte on */
        __atomic_store_n(slot, header | setup << 16, __ATOMIC_RELEASE);
        if (!rounds.set->shared) {
            pause_now(p, true);
        } else if (p->stalled) {
            usleep(2000); /* far below the library's limit, which must count from the header at the earliest */
            p->stalled = false;
        } else {
            /* A short pause that the library cannot take for a stall, without yielding the processor. */
            for (unsigned n = below(&p->random, 200); n > 0; n--)
                __builtin_ia32_pause();
        }
        write_body(slot, &packet);
    } else {
        write_body(slot, &packet);
        if (chance(&p->random, 50)) {
            __atomic_store_n(slot, header | setup << 16, __ATOMIC_RELEASE);
        } else {
            __atomic_store_n((uint16_t *)slot + 1, (uint16_t)setup, __ATOMIC_RELAXED);
            __atomic_store_n((uint16_t *)slot, (uint16_t)header, __ATOMIC_RELEASE);
        }
    }
}

static void write_range(struct producer *p, struct batch *b, unsigned from, unsigned to, unsigned rings)
{
    for (unsigned i = from; i < to; i++) {
        wait_for_room(p, b, rings ? i : 0, b->index[i]);
        write_packet(p, b, i);
    }
}

/* --- a batch --- */

static void submit_batch(struct producer *p, struct batch *b)
{
    const hsa_queue_t *queue = b->lane->queue;
    unsigned half = b->count / 2;
    for (unsigned i = 0; i < b->count; i++) /* before reserving slots: a wait with empty slots would never end */
        b->own[i] = chance(&p->random, rounds.signalled) ? next_own_signal(p) : NULL;
    if (p->late.count && p->late.lane != b->lane)
        ring_late(p);
    reserve_slots(p, b);
    p->stalled = rounds.set->stalls && chance(&p->random, 1);
    if (p->stalled)
        usleep(30000);
    pause_now(p, !rounds.set->stalls);
    switch (rounds.set->bell) {
    case AFTER:
    case HANDED:
        write_range(p, b, 0, b->count, true);
        ring_for(p, b, b->count);
        break;
    case LATE:
        write_range(p, b, 0, b->count, true);
        if (b->rung < b->count) { /* ring for all late batches including this one, now or later */
            p->late = *b;
            if (chance(&p->random, 40))
                ring_late(p);
        }
        break;
    case EARLY:
        ring_for(p, b, b->count);
        pause_now(p, false);
        write_range(p, b, 0, b->count, false);
        if (chance(&p->random, 20)) /* ring a second time, as cautious programs do */
            ring_bell(&p->random, queue, b->index[b->count - 1]);
        break;
    case DISORDER:
        /* The second half first. If other producers' slots lie between, it may not fit before the first half is
         * done. */
        if (b->index[b->count - 1] - b->index[0] >= queue->size)
            half = 0;
        write_range(p, b, half, b->count, half == 0);
        ring_bell(&p->random, queue, b->index[b->count - 1]);
        pause_now(p, false);
        write_range(p, b, 0, half, false);
        if (half)
            ring_bell(&p->random, queue, b->index[half - 1]);
        break;
    }
    /* A producer that writes the header first must be alone with the queue: all rung packets must have been
     * consumed. */
    if (rounds.set->torn && !rounds.set->shared)
        while (hsa_queue_load_read_index_scacquire(queue) <= b->index[b->count - 1])
            sched_yield();
}

static unsigned claim_share(struct producer *p)
{
    unsigned want = 1 + below(&p->random, rounds.batch);
    unsigned long now = atomic_load(&left);
    while (now && !atomic_compare_exchange_weak(&left, &now, now > want ? now - want : 0))
        ;
    return now > want ? want : (unsigned)now;
}

static void *run_producer(void *data)
{
    struct producer *p = data;
    unsigned in_flight = 0; /* upper bound, for this producer on all queues */
    struct batch b;
    while ((b.count = claim_share(p)) != 0) {
        b.lane = &rounds.lane[rounds.set->shared ? below(&p->random, rounds.lanes) : p->id];
        b.rung = 0;
        submit_batch(p, &b);
        atomic_fetch_add_explicit(&moved, b.count, memory_order_relaxed);
        if (options.kind != INTERCEPT || (in_flight += b.count) < IN_FLIGHT)
            continue;
        ring_late(p);
        for (unsigned i = 0; i < rounds.lanes; i++)
            if (rounds.set->shared || i == p->id) /* a producer that is alone with a queue stores its index */
                drain(rounds.lane[i].queue);
        in_flight = 0;
    }
    ring_late(p);
    while (atomic_load(&p->mail))
        sched_yield();
    return NULL;
}

/* --- a round --- */

static void start_thread(pthread_t *thread, void *(*run)(void *), void *data)
{
    if (pthread_create(thread, NULL, run, data) != 0)
        die("no thread");
}

static const struct set *pick_set(uint64_t *random)
{
    for (int tries = 0; tries < 1000; tries++) {
        const struct set *set = &sets[below(random, SETS)];
        if (options.set ? strcmp(options.set, set->name) == 0 : (set->borne & options.kind) != 0)
            return set;
    }
    die("no such set");
}

static void run_round(uint64_t *random, unsigned long packets)
{
    static const unsigned percents[] = {0, 0, 2, 25, 50, 100};
    pthread_t thread[PRODUCERS], ringer;
    rounds.number++;
    rounds.set = pick_set(random);
    rounds.producers = !rounds.set->shared ? 1 + below(random, QUEUES)
                       : rounds.set->torn  ? 2
                                           : 2 + below(random, PRODUCERS - 1);
    rounds.lanes = rounds.set->shared ? 1 + below(random, 2) * below(random, QUEUES) : rounds.producers;
    rounds.ring = options.kind == INTERCEPT ? (uint32_t)RING << below(random, 3)
                                            : 64u << (rounds.set->full ? 0 : below(random, 7));
    rounds.batch = chance(random, 30) ? 1 : 2 + below(random, BATCH - 1);
    rounds.signalled = percents[below(random, 6)];
    rounds.barrier_bits = percents[below(random, 6)];
    rounds.barriers = chance(random, 50) ? 0 : 1 + below(random, 20);
    rounds.slow = rounds.set->full ? 10 : below(random, 2);
    printf(
        "round %lu: set %s, %lu packets, %u producers, %u queues of %u, batches to %u, %u %% signalled, %u %% with the "
        "barrier bit, %u %% barriers\n",
        rounds.number, rounds.set->name, packets, rounds.producers, rounds.lanes, rounds.ring, rounds.batch,
        rounds.signalled, rounds.barrier_bits, rounds.barriers);
    fflush(stdout);
    for (unsigned i = 0; i < rounds.lanes; i++) {
        struct lane *lane = &rounds.lane[i];
        must(hsa_queue_create(gpu_agent, rounds.ring,
                              rounds.set->shared || chance(random, 50) ? HSA_QUEUE_TYPE_MULTI : HSA_QUEUE_TYPE_SINGLE,
                              NULL, NULL, UINT32_MAX, UINT32_MAX, &lane->queue),
             "queue");
        lane->mask = lane->queue->size - 1;
        if (profiles)
            must(hsa_amd_profiling_set_profiler_enabled(lane->queue, 1), "profiling");
    }
    atomic_store(&left, packets);
    atomic_store(&ringer_over, false);
    for (unsigned i = 0; i < rounds.producers; i++) {
        producers[i].random = draw_random(random);
        start_thread(&thread[i], run_producer, &producers[i]);
    }
    if (rounds.set->bell == HANDED)
        start_thread(&ringer, run_ringer, NULL);
    for (unsigned i = 0; i < rounds.producers; i++)
        pthread_join(thread[i], NULL);
    atomic_store(&ringer_over, true);
    if (rounds.set->bell == HANDED)
        pthread_join(ringer, NULL);
    for (unsigned i = 0; i < rounds.lanes; i++)
        drain(rounds.lane[i].queue);
    for (unsigned i = 0; i < rounds.producers; i++)
        for (int s = 0; s < SIGNALS; s++)
            check_own(&producers[i].own[s]);
    for (unsigned i = 0; i < rounds.lanes; i++)
        must(hsa_queue_destroy(rounds.lane[i].queue), "destroy queue");
}

/* Report the state after a time without progress that machine load cannot explain. */
static void *watch_progress(void *data)
{
    unsigned long before = 0;
    (void)data;
    for (int still = 0; still < PATIENCE; still++) {
        sleep(1);
        unsigned long now = atomic_load(&moved);
        if (now != before)
            still = 0;
        before = now;
    }
    fprintf(stderr, "native_stress: seed %lu round %lu set %s: nothing has moved for %d s", options.seed, rounds.number,
            rounds.set->name, PATIENCE);
    for (unsigned i = 0; i < rounds.lanes; i++)
        fprintf(stderr, "; queue %u: written %lu, read %lu of %u", i,
                (unsigned long)hsa_queue_load_write_index_relaxed(rounds.lane[i].queue),
                (unsigned long)hsa_queue_load_read_index_relaxed(rounds.lane[i].queue), rounds.ring);
    fputc('\n', stderr);
    _exit(3);
}

static void parse_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--script") == 0) {
            for (int k = 0; k < FAMILY; k++)
                printf("hsa_%02d fixed %luns\n", k, (unsigned long)duration_ns(k));
            exit(0);
        } else if (strcmp(argv[i], "--hold") == 0) {
            options.hold = true;
            continue;
        } else if (strcmp(argv[i], "--packets") == 0) {
            options.packets = strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--seed") == 0) {
            options.seed = strtoul(value, NULL, 10);
        } else if (strcmp(argv[i], "--set") == 0) {
            options.set = value;
        } else if (strcmp(argv[i], "--for") == 0 && strchr("pin", *value)) {
            options.kind = *value == 'p' ? PLAIN : *value == 'i' ? INTERCEPT : NATIVE;
        } else {
            die("usage: [--packets N] [--seed N] [--for plain|intercept|native] [--set NAME] [--hold] | --script");
        }
        i++;
    }
}

int main(int argc, char **argv)
{
    pthread_t watcher;
    parse_options(argc, argv);
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    uint64_t random = options.seed;
    profiles = chance(&random, 50);
    for (unsigned i = 0; i < PRODUCERS; i++) {
        producers[i].id = i;
        for (int s = 0; s < SIGNALS; s++) /* half of them do not make the GPU interrupt */
            must(s % 2 ? hsa_signal_create(0, 0, NULL, &producers[i].own[s].signal)
                       : hsa_amd_signal_create(0, 0, NULL, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &producers[i].own[s].signal),
                 "signal");
    }
    start_thread(&watcher, watch_progress, NULL);
    for (unsigned long sent = 0; sent < options.packets;) {
        unsigned long n = 200 + below(&random, 6000);
        n = n < options.packets - sent ? n : options.packets - sent;
        run_round(&random, n);
        sent += n;
    }
    for (int k = 0; k < FAMILY; k++) {
        unsigned long launched = 0;
        for (unsigned i = 0; i < PRODUCERS; i++)
            launched += producers[i].launched[k];
        if (launched)
            printf("launched hsa_%02d %lu\n", k, launched);
    }
    printf("native_stress: OK, packets %lu, seed %lu\n", options.packets, options.seed);
    fflush(stdout);
    if (options.hold)
        hold();
    for (unsigned i = 0; i < PRODUCERS; i++)
        for (int n = 0; n < SIGNALS; n++)
            must(hsa_signal_destroy(producers[i].own[n].signal), "destroy signal");
    return 0;
}
