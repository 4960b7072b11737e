/* An observer's thread on a process: this one, with synthetic queues. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "observe/observer_private.h"

enum { PAGE = 4096, SLOTS = 64, QUEUES = 173, BELL = 0x400, CODE_BYTES = 0x1000 };

__attribute__((visibility("default"))) struct r_debug _amdgpu_r_debug; /* the runtime's symbol */
static struct link_map code;
static char code_name[64], code_bytes[2][CODE_BYTES];

static char *queues; /* a page each */
static char *doorbells;
static struct rtl_ring_packet *ring;
static struct rtl_observer *observer;
static struct rtl_snapshot snapshot;

static struct rtl_queue_head *head_of(unsigned i)
{
    return (struct rtl_queue_head *)(void *)(queues + (size_t)i * PAGE);
}

static void make_queue(unsigned i)
{
    struct rtl_signal_image bell = {.kind = -1, .value = (intptr_t)doorbells, .queue = (uintptr_t)head_of(i)};
    struct rtl_queue_head head = {.features = 1,
                                  .ring = (uintptr_t)ring,
                                  .doorbell_signal = (uintptr_t)head_of(i) + BELL,
                                  .size = SLOTS,
                                  .id = i,
                                  .read_index_offset = 0x80};
    memcpy((char *)head_of(i) + BELL, &bell, sizeof bell);
    memcpy(head_of(i), &head, sizeof head);
}

/* Submit and process this many dispatches at once. */
static void dispatch(unsigned i, uint64_t count)
{
    struct rtl_queue_head *h = head_of(i);
    __atomic_store_n(&h->write_index, h->write_index + count, __ATOMIC_SEQ_CST);
    __atomic_store_n(&h->read_index, h->read_index + count, __ATOMIC_SEQ_CST);
}

static int set_up(void **state)
{
    (void)state;
    queues = mmap(NULL, QUEUES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ring = mmap(NULL, SLOTS * sizeof *ring, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(queues != MAP_FAILED && ring != MAP_FAILED);
    int device = memfd_create("doorbells", MFD_CLOEXEC);
    assert_int_equal(ftruncate(device, PAGE), 0);
    doorbells = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0);
    assert_true(doorbells != MAP_FAILED);
    close(device);
    assert_int_equal(madvise(queues, QUEUES * PAGE, MADV_DONTFORK), 0);
    for (int i = 0; i < SLOTS; i++)
        ring[i] = (struct rtl_ring_packet){
            .header = 1, .setup = 1, .workgroup = {64, 1, 1}, .grid = {64, 1, 1}, .kernel_object = 0x1040};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rtl_observer_close(observer);
    observer = NULL;
    munmap(queues, QUEUES * PAGE);
    munmap(doorbells, PAGE);
    munmap(ring, SLOTS * sizeof *ring);
    _amdgpu_r_debug.r_map = NULL;
    return 0;
}

static enum rtl_reader_status observe(struct rtl_observer_options options)
{
    char why[512];
    options.cpu = 1;
    return rtl_observer_open(getpid(), &options, &observer, why, sizeof why);
}

static void look(void)
{
    assert_int_equal(rtl_observer_snapshot(observer, &snapshot), RTL_READER_OK);
}

static uint64_t dispatches(void)
{
    return snapshot.counted;
}

static uint64_t living(void)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < snapshot.queue_count; i++)
        n += snapshot.queues[i].live;
    return n;
}

static uint64_t unsearched(void)
{
    return snapshot.notes & RTL_NOTE_MEMORY_UNSEARCHED;
}

static uint64_t passes(void)
{
    return snapshot.passes;
}

/* Wait for a snapshot with at least this value; it stays available. */
static void wait_for(uint64_t (*what)(void), uint64_t least)
{
    for (int i = 0; i < 6000; i++) {
        rtl_snapshot_free(&snapshot);
        look();
        if (what() >= least)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("the awaited value never came");
}

static void wait_for_none(uint64_t (*what)(void))
{
    for (int i = 0; i < 6000; i++) {
        rtl_snapshot_free(&snapshot);
        look();
        if (!what())
            return;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("the awaited value never came");
}

static void earlier_packets_are_no_loss_but_later_ones_are(void **state)
{
    (void)state;
    make_queue(0);
    dispatch(0, 1000);
    assert_int_equal(observe((struct rtl_observer_options){.named = true}), RTL_READER_OK);
    wait_for(dispatches, SLOTS);
    assert_int_equal(snapshot.packets_lost, 0);
    head_of(1)->write_index = head_of(1)->read_index = 0;
    pthread_mutex_lock(&observer->lock);
    make_queue(1);
    dispatch(1, SLOTS + 7);
    pthread_mutex_unlock(&observer->lock);
    wait_for(living, 2);
    wait_for(dispatches, 2 * SLOTS);
    assert_int_equal(snapshot.packets_lost, 7);
    rtl_snapshot_free(&snapshot);
}

/* A write index that briefly goes back ends a queue; it is found again and continues its counts. */
static void a_queue_found_again_counts_nothing_twice(void **state)
{
    (void)state;
    make_queue(0);
    dispatch(0, 1000);
    assert_int_equal(observe((struct rtl_observer_options){.named = true}), RTL_READER_OK);
    wait_for(dispatches, SLOTS);
    pthread_mutex_lock(&observer->lock);
    head_of(0)->features = 0;
    pthread_mutex_unlock(&observer->lock);
    wait_for_none(living);
    head_of(0)->features = 1;
    wait_for(living, 1);
    wait_for(passes, snapshot.passes + 3);
    assert_int_equal(snapshot.counted, SLOTS);
    assert_int_equal(snapshot.packets_lost, 0);
    dispatch(0, 5);
    wait_for(dispatches, SLOTS + 5);
    assert_int_equal(snapshot.counted, SLOTS + 5);
    assert_int_equal(snapshot.packets_lost, 0);
    rtl_snapshot_free(&snapshot);
}

static void queues_beyond_the_table_are_counted(void **state)
{
    (void)state;
    for (unsigned i = 0; i < QUEUES; i++)
        make_queue(i);
    assert_int_equal(observe((struct rtl_observer_options){.named = true}), RTL_READER_OK);
    wait_for(living, RTL_QUEUES_MAX - 1);
    assert_int_equal(living(), RTL_QUEUES_MAX - 1);
    assert_int_equal(snapshot.queues_refused, QUEUES - (RTL_QUEUES_MAX - 1));
    rtl_snapshot_free(&snapshot);
}

/* Without a free descriptor for the search, the observer continues with the known queues, reports it, and resumes the
 * search later.
 */
static void a_failed_search_is_resumed(void **state)
{
    (void)state;
    struct rlimit was, none;
    make_queue(0);
    assert_int_equal(observe((struct rtl_observer_options){.named = true}), RTL_READER_OK);
    wait_for(living, 1);
    assert_int_equal(unsearched(), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = was;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < 6000 && !atomic_load(&observer->unsearched) && !atomic_load(&observer->gone); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    bool alive = rtl_observer_alive(observer);
    dispatch(0, 9);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_true(alive);
    wait_for(dispatches, 9);
    make_queue(1);
    wait_for(living, 2);
    wait_for_none(unsearched);
    assert_true(rtl_observer_alive(observer));
    rtl_snapshot_free(&snapshot);
}

/* --- memory that doesn't answer --- */

static unsigned timed_waits;

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) /* libc's, for the complete test */
{
    timed_waits++;
    for (;;) {
        struct timespec now;
        if (pthread_mutex_trylock(mutex) == 0)
            return 0;
        clock_gettime(CLOCK_REALTIME, &now);
        if (now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec))
            return ETIMEDOUT;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void a_hanging_observer_is_waited_for_once(void **state)
{
    (void)state;
    make_queue(0);
    assert_int_equal(observe((struct rtl_observer_options){.named = true}), RTL_READER_OK);
    wait_for(living, 1);
    pthread_mutex_lock(&observer->lock); /* its thread blocks in a page that never arrives */
    timed_waits = 0;
    for (int i = 0; i < 10; i++) {
        rtl_snapshot_free(&snapshot);
        look();
        assert_int_equal(living(), 1);
    }
    assert_int_equal(timed_waits, 1);
    pthread_mutex_unlock(&observer->lock);
    dispatch(0, 3);
    wait_for(dispatches, 3);
    rtl_snapshot_free(&snapshot);
}

/* --- kernels --- */

/* Make a code object with one kernel at 0x40. */
static void make_code(char *at, const char *kernel)
{
    enum { SYMBOLS = 0x400, STRINGS = 0x600, HASH = 0x300, DYNAMIC = 0x200 };
    const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                               .e_phentsize = sizeof(Elf64_Phdr),
                               .e_phnum = 2,
                               .e_phoff = sizeof header};
    const Elf64_Phdr headers[] = {{.p_type = PT_LOAD, .p_filesz = CODE_BYTES, .p_memsz = CODE_BYTES},
                                  {.p_type = PT_DYNAMIC, .p_offset = DYNAMIC, .p_memsz = 5 * sizeof(Elf64_Dyn)}};
    const Elf64_Dyn dynamic[] = {{DT_SYMTAB, {SYMBOLS}}, {DT_STRTAB, {STRINGS}}, {DT_STRSZ, {64}}, {DT_HASH, {HASH}}};
    const uint32_t hash[] = {1, 2};
    const Elf64_Sym symbol = {
        .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), .st_shndx = 1, .st_value = 0x40};
    memset(at, 0, CODE_BYTES);
    memcpy(at, &header, sizeof header);
    memcpy(at + sizeof header, headers, sizeof headers);
    memcpy(at + DYNAMIC, dynamic, sizeof dynamic);
    memcpy(at + HASH, hash, sizeof hash);
    memcpy(at + SYMBOLS + sizeof symbol, &symbol, sizeof symbol);
    snprintf(at + STRINGS + 1, 60, "%s.kd", kernel);
}

/* Replace the loaded code object: list entry, name and address stay equal. */
static void load_code(unsigned which)
{
    snprintf(code_name, sizeof code_name, "memory://%d#offset=0x%llx&size=%d", (int)getpid(),
             (unsigned long long)(uintptr_t)code_bytes[which], CODE_BYTES);
    code = (struct link_map){.l_addr = 0x1000, .l_name = code_name};
    _amdgpu_r_debug.r_map = &code;
}

static uint64_t calls_of(const char *name)
{
    for (uint32_t i = 0; i < snapshot.kernel_count; i++)
        if (strcmp(snapshot.kernels[i].name, name) == 0)
            return snapshot.kernels[i].calls;
    return 0;
}

static void a_kernel_at_another_ones_address_has_its_own_name(void **state)
{
    (void)state;
    make_code(code_bytes[0], "before");
    make_code(code_bytes[1], "behind");
    load_code(0);
    make_queue(0);
    dispatch(0, 10);
    assert_int_equal(observe((struct rtl_observer_options){.named = true}), RTL_READER_OK);
    wait_for(dispatches, 10);
    for (unsigned i = 1; i <= 8; i++) {
        pthread_mutex_lock(&observer->lock); /* between two searches */
        load_code(i & 1);
        dispatch(0, 3);
        pthread_mutex_unlock(&observer->lock);
        wait_for(dispatches, 10 + 3 * i);
    }
    assert_int_equal(calls_of("before"), 10 + 12);
    assert_int_equal(calls_of("behind"), 12);
    rtl_snapshot_free(&snapshot);
}

/* --- a library's process --- */

static uint64_t past_counted(struct rtl_queue_snapshot *q, uint64_t now)
{
    struct rtl_snapshot segment = {0};
    segment.queues = q ? malloc(sizeof *q) : NULL;
    if (q)
        segment.queues[segment.queue_count++] = *q;
    rtl_observer_traced(observer, &segment, now);
    assert_true(rtl_observer_add(observer, &segment));
    uint64_t counted = segment.counted;
    rtl_snapshot_free(&segment);
    return counted;
}

/* The library publishes a queue later than usual: from then on it is the library's. */
static void a_queue_that_the_library_publishes_later_is_dropped(void **state)
{
    (void)state;
    struct rtl_queue_snapshot its = {.live = true, .real_id = 1};
    uint32_t live = 1;
    make_code(code_bytes[0], "past");
    load_code(0);
    make_queue(0);
    dispatch(0, 4);
    assert_int_equal(observe((struct rtl_observer_options){.past_library = true}), RTL_READER_OK);
    for (int i = 0; i < 6000 && past_counted(NULL, rtl_mono_ns() + 3 * RTL_OBSERVER_SECOND) < 4; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_int_equal(past_counted(NULL, 0), 4);
    for (int i = 0; i < 3000 && live; i++) {
        past_counted(&its, rtl_mono_ns());
        pthread_mutex_lock(&observer->lock);
        live = observer->queues[0].live;
        pthread_mutex_unlock(&observer->lock);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    assert_int_equal(live, 0);
    dispatch(0, 6);
    assert_int_equal(past_counted(&its, rtl_mono_ns()), 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(earlier_packets_are_no_loss_but_later_ones_are),
        TEST(a_queue_found_again_counts_nothing_twice),
        TEST(queues_beyond_the_table_are_counted),
        TEST(a_failed_search_is_resumed),
        TEST(a_hanging_observer_is_waited_for_once),
        TEST(a_queue_that_the_library_publishes_later_is_dropped),
        TEST(a_kernel_at_another_ones_address_has_its_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
