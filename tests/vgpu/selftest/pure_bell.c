/*
 * pure_bell.c - tests doorbell.c on its own pages: a thread that stores to a protected doorbell stops, is reported and
 * continues, wherever the store falls between arming and disarming. Built with a long SLEEP_MAX_NS, so that a lost
 * wake-up is visible. Prints TAP.
 */
#include "../vgpu.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 100000 };

static int number, bad;
static volatile uint64_t *page;
static _Atomic uint64_t stored[THREADS];
static _Atomic bool over;

static void ok(bool good, const char *what)
{
    bad += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
    fflush(stdout);
}

/* Stubs for doorbell.c. */
void vg_log(const char *fmt, ...)
{
    printf("# said: %s\n", fmt);
}

static volatile uint64_t *map_doorbells(int fd)
{
    void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void *ring_doorbells(void *arg)
{
    int i = (int)(intptr_t)arg;
    for (uint64_t n = 1; !atomic_load(&over); n++) {
        page[i] = n;
        atomic_store(&stored[i], n);
    }
    return NULL;
}

static void *ring_once(void *arg)
{
    (void)arg;
    page[0] = 42;
    return NULL;
}

/* Only a lost wake-up takes a minute. */
static bool store_reported(void)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    vg_bell_wait(true, false, VG_NEVER);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return b.tv_sec - a.tv_sec < 30;
}

static void one_store(bool present)
{
    pthread_t t;
    if (present)
        page[0] = 0;
    ok(vg_bell_arm(), present ? "a used page can be armed" : "an untouched page can be armed");
    pthread_create(&t, NULL, ring_once, NULL);
    ok(store_reported(), "a store to an armed page is reported");
    ok(page[0] != 42, "a store to an armed page stops its thread");
    ok(vg_bell_disarm(true), "disarming reports a stopped thread");
    pthread_join(t, NULL);
    ok(page[0] == 42, "disarming lets the store through");
    ok(!vg_bell_disarm(false), "after disarming nothing is left to report");
}

/* Stores at random moments. If the engine reads a thread's message but does not wake it, the thread hangs once the
 * engine sleeps. So after each read, and at the end, arm the page and check that a store is reported. */
static void any_moment(void)
{
    pthread_t t[THREADS];
    bool good = true;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, ring_doorbells, (void *)(intptr_t)i);
    for (int round = 0; good && round < ROUNDS; round++) {
        vg_bell_arm();
        if (vg_bell_disarm(true) || round == ROUNDS - 1) {
            vg_bell_arm();
            good = store_reported();
            vg_bell_disarm(true);
        }
    }
    ok(good, "100,000 rounds with three threads that store: no store is missed");
    bool all = true;
    for (int i = 0; i < THREADS; i++) {
        uint64_t was = atomic_load(&stored[i]);
        for (int ms = 0; ms < 30000 && atomic_load(&stored[i]) == was; ms++)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        all &= atomic_load(&stored[i]) != was;
    }
    ok(all, "three threads that store: all continue");
    atomic_store(&over, true);
    if (good && all)
        for (int i = 0; i < THREADS; i++)
            pthread_join(t[i], NULL);
}

int main(void)
{
    int fd = memfd_create("bell", 0);
    if (fd < 0 || ftruncate(fd, 8192) || !(page = map_doorbells(fd)))
        return 1;
    if (!vg_bell_open()) {
        printf("1..0 # SKIP no userfaultfd here\n");
        return 0;
    }
    vg_bell_add((uint64_t)(uintptr_t)page, 8192);
    vg_bell_wait(false, true, 0); /* consume the kick */
    one_store(false);
    one_store(true);
    any_moment();
    printf("1..%d\n", number);
    return bad != 0;
}
