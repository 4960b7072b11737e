/* Queues in another process's memory: which page is a queue, in which kinds of memory it is found, and how a search
 * continues.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "observe/mappings.h"
#include "observe/queue_finder.h"

static void pages_of_queues_are_recognised(void **state)
{
    (void)state;
    const struct rtl_queue_head good = {
        .features = 1, .ring = 0x10000, .doorbell_signal = 0x40, .size = 64, .read_index_offset = 0x80};
    struct rtl_queue_head h = good;
    assert_true(rtl_queue_plausible(&h));
#define WRONG(field, value)      \
    h = good, h.field = (value); \
    assert_false(rtl_queue_plausible(&h))
    WRONG(type, 3);
    WRONG(features, 0);
    WRONG(features, 4);
    WRONG(ring, 0);
    WRONG(ring, 0x10040);
    WRONG(doorbell_signal, 0);
    WRONG(doorbell_signal, 0x48);
    WRONG(size, 0);
    WRONG(size, 65);
    WRONG(size, 2 * RTL_RING_PACKETS_MAX);
    WRONG(reserved1, 1);
    WRONG(read_index_offset, 0x88);
}

enum { QUEUE_AT = 0x2000, BELL_AT = 0x2400, RING_AT = 0x40000, DOORBELL_AT = 0x900000, PAGE = 0x1000 };
#define RING_LINES     "40000-41000 rw-p 00000000 00:00 0 \nRss: 4 kB\nVmFlags: rd wr\n"
#define DOORBELL_LINES "900000-902000 rw-s c000000000000000 00:05 7 /dev/kfd\nRss: 0 kB\nVmFlags: rd wr sh io dc pf\n"

/* Search `memory_file`, mapped as `smaps_lines` describe, with a new search and enough time. */
static uint32_t find_in(FILE *memory_file, const char *smaps_lines, struct rtl_found_queue *found, uint32_t most)
{
    struct rtl_target_memory memory;
    struct rtl_mappings mappings;
    struct rtl_queue_search search = {0};
    memory = (struct rtl_target_memory){.fd = dup(fileno(memory_file)), .pagemap = -1};
    FILE *smaps = fmemopen((void *)(uintptr_t)smaps_lines, strlen(smaps_lines), "r");
    assert_non_null(smaps);
    assert_true(rtl_mappings_parse(smaps, &mappings));
    fclose(smaps);
    uint32_t count = rtl_queues_find(&memory, &mappings, &search, found, most, 60000000000, 60000000000);
    assert_true(search.whole && rtl_queue_search_done(&search));
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    return count;
}

/* A queue of ROCm 7.2.4, followed by its doorbell's signal. Tests may change its fields. */
static struct rtl_queue_head queue_head;
static struct rtl_signal_image queue_bell;

static FILE *file_with_queue(uint64_t bytes)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)bytes), 0);
    assert_int_equal(pwrite(fileno(file), &queue_head, sizeof queue_head, QUEUE_AT), sizeof queue_head);
    assert_int_equal(pwrite(fileno(file), &queue_bell, sizeof queue_bell, BELL_AT), sizeof queue_bell);
    return file;
}

static void make_queue(void)
{
    queue_head = (struct rtl_queue_head){.features = 1,
                                         .ring = RING_AT,
                                         .doorbell_signal = BELL_AT,
                                         .size = 64,
                                         .id = 7,
                                         .caps = 2,
                                         .read_index_offset = 0x80};
    queue_bell = (struct rtl_signal_image){.kind = -1, .value = DOORBELL_AT + 0x10, .queue = QUEUE_AT};
}

static uint32_t find_queue(const char *smaps_lines, struct rtl_found_queue *found)
{
    FILE *file = file_with_queue(RING_AT + PAGE);
    uint32_t count = find_in(file, smaps_lines, found, 4);
    fclose(file);
    return count;
}

/* A queue in device memory is found without reading its ring. An unreadable ring outside device memory is no queue. */
static void a_ring_in_device_memory_is_reported_but_not_read(void **state)
{
    (void)state;
    static const char *const device[] = {"rd wr sh io de", "rd wr sh pf dd", "rd wr sh dc io pf"};
    struct rtl_found_queue found[4];
    char lines[512];
    make_queue();
    for (size_t i = 0; i <= sizeof device / sizeof *device; i++) {
        snprintf(lines, sizeof lines,
                 "2000-3000 rw-p 00000000 00:00 0 \nRss: 4 kB\nVmFlags: rd wr dc\n"
                 "100000-101000 rw-s 00000000 00:05 7 /dev/dri/renderD128\nRss: 4 kB\nVmFlags: %s\n" DOORBELL_LINES,
                 i < sizeof device / sizeof *device ? device[i] : "rd wr sh dc");
        queue_head.ring = 0x100000; /* no readable bytes there */
        if (i == sizeof device / sizeof *device) {
            assert_int_equal(find_queue(lines, found), 0);
            break;
        }
        assert_int_equal(find_queue(lines, found), 1);
        assert_true(found[0].device_ring);
        assert_int_equal(found[0].at, QUEUE_AT);
        assert_int_equal(found[0].id, 7);
    }
}

/* The kinds of memory that runtime releases and GPUs use for queues (src/observe/README.md). */
static void a_queue_is_found_in_each_kind_of_memory(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *lines;
        bool found;
    } cases[] = {
        {"up to ROCm 7.0: private, not for children", "2000-3000 rw-p 0 00:00 0 \nRss: 4 kB\nVmFlags: rd wr dc\n",
         true},
        {"ROCm 7.2.4: private, no mark", "2000-3000 rw-p 0 00:00 0 \nRss: 4 kB\nVmFlags: rd wr ac\n", true},
        {"between them: shared, no mark",
         "2000-3000 rw-s 0 00:01 9 /dev/zero (deleted)\nRss: 4 kB\nVmFlags: rd wr sh\n", true},
        {"merged with a neighbour", "1000-3000 rw-p 0 00:00 0 \nRss: 4 kB\nVmFlags: rd wr ac\n", true},
        {"merged with large neighbours", "1000-3f000 rw-p 0 00:00 0 \nRss: 4 kB\nVmFlags: rd wr ac\n", true},
        {"in memory that has a name", "1000-3f000 rw-p 0 00:00 0 [anon:hsa]\nRss: 4 kB\nVmFlags: rd wr ac\n", true},
        {"merged with large neighbours, shared",
         "1000-3f000 rw-s 0 00:01 9 /dev/zero (deleted)\nRss: 4 kB\nVmFlags: rd wr sh\n", true},
        {"swapped out", "2000-3000 rw-p 0 00:00 0 \nRss: 0 kB\nSwap: 4 kB\nVmFlags: rd wr ac\n", true},
        {"gfx11 and later: the driver's, whose pages nobody counts",
         "2000-3000 rw-s 100000000 00:05 8 /dev/dri/renderD128\nRss: 0 kB\nVmFlags: rd wr sh io dc pf\n", true},
        {"a device's memory that is too large to be one's queue",
         "2000-22000 rw-s 100000000 00:05 8 /dev/dri/renderD128\nRss: 0 kB\nVmFlags: rd wr sh io dc pf\n", false},
        {"another device's registers",
         "2000-3000 rw-s 0 00:05 8 /dev/infiniband/uverbs0\nRss: 0 kB\nVmFlags: rd wr sh io dc pf\n", false},
        {"never touched", "2000-3000 rw-p 0 00:00 0 \nRss: 0 kB\nVmFlags: rd wr ac\n", false},
        {"not for writing", "2000-3000 r--p 0 00:00 0 \nRss: 4 kB\nVmFlags: rd ac\n", false},
        {"not for reading", "2000-3000 -w-p 0 00:00 0 \nRss: 4 kB\nVmFlags: wr ac\n", false},
        {"a library's data", "2000-3000 rw-p 0 00:05 9 /lib/libhsa.so\nRss: 4 kB\nVmFlags: rd wr ac\n", false},
        {"a shared file", "2000-3000 rw-s 0 00:05 9 /tmp/file\nRss: 4 kB\nVmFlags: rd wr sh\n", false},
        {"the heap", "2000-3000 rw-p 0 00:00 0 [heap]\nRss: 4 kB\nVmFlags: rd wr ac\n", false},
    };
    struct rtl_found_queue found[4];
    char lines[1024];
    make_queue();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(lines, sizeof lines, "%s" RING_LINES DOORBELL_LINES, cases[i].lines);
        uint32_t count = find_queue(lines, found);
        if (count != cases[i].found)
            fail_msg("%s: %u queues", cases[i].kind, count);
        if (count)
            assert_int_equal(found[0].at, QUEUE_AT);
    }
}

/* A doorbell lies in a device's file. One elsewhere is a queue's copy in a forked child, or a forgery. */
static void a_doorbell_outside_a_device_makes_no_queue(void **state)
{
    (void)state;
    static const char queue_lines[] = "2000-3000 rw-p 0 00:00 0 \nRss: 4 kB\nVmFlags: rd wr ac\n" RING_LINES;
    static const char *const others[] = {
        "900000-902000 rw-p 0 00:00 0 \nVmFlags: rd wr\n",
        "900000-902000 rw-p 0 00:05 7 /dev/kfd\nVmFlags: rd wr\n",
        "900000-902000 r--s 0 00:05 7 /dev/kfd\nVmFlags: rd sh\n",
        "900000-902000 rw-s 0 00:01 7 /dev/zero (deleted)\nVmFlags: rd wr sh\n",
        "900000-902000 rw-s 0 00:01 7 /dev/shm/torch_77 (deleted)\nVmFlags: rd wr sh\n",
        "900000-902000 rw-s 0 00:00 0 \nVmFlags: rd wr sh\n",
        "902000-904000 rw-s 0 00:05 7 /dev/kfd\nVmFlags: rd wr sh\n",
    };
    static const int64_t wrong[] = {0,
                                    -1,
                                    INT64_MIN,
                                    INT64_MAX,
                                    QUEUE_AT,
                                    RING_AT,
                                    BELL_AT,
                                    DOORBELL_AT + 1,
                                    DOORBELL_AT + 2,
                                    DOORBELL_AT - 4,
                                    DOORBELL_AT + 0x2000};
    struct rtl_found_queue found[4];
    char lines[512];
    make_queue();
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(lines, sizeof lines, "%s%s", queue_lines, others[i]);
        assert_int_equal(find_queue(lines, found), 0);
        snprintf(lines, sizeof lines, "%s%s910000-911000 rw-s 0 00:05 7 /dev/kfd\nVmFlags: rd wr sh\n", queue_lines,
                 others[i]); /* another device's doorbell is there */
        assert_int_equal(find_queue(lines, found), 0);
    }
    snprintf(lines, sizeof lines, "%s" DOORBELL_LINES, queue_lines);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        queue_bell.value = wrong[i];
        assert_int_equal(find_queue(lines, found), 0);
    }
    make_queue();
    queue_bell.kind = -2; /* doorbells of 4 bytes */
    queue_bell.value = DOORBELL_AT + 0x1ffc;
    assert_int_equal(find_queue(lines, found), 1);
    assert_int_equal(found[0].doorbell, DOORBELL_AT + 0x1ffc);
    queue_bell.queue = QUEUE_AT + 64;
    assert_int_equal(find_queue(lines, found), 0);
    queue_bell.queue = 0;
    assert_int_equal(find_queue(lines, found), 0);
    for (int64_t kind = -4; kind < 3; kind++) {
        make_queue();
        queue_bell.kind = kind;
        assert_int_equal(find_queue(lines, found), kind == -1 || kind == -2);
    }
}

/* Fields of newer runtimes and firmware, and the indices, may hold any value. */
static void fields_of_newer_runtimes_hide_no_queue(void **state)
{
    (void)state;
    static const char lines[] = "2000-3000 rw-p 0 00:00 0 \nRss: 4 kB\nVmFlags: rd wr ac\n" RING_LINES DOORBELL_LINES;
    struct rtl_found_queue found[4];
    make_queue();
    memset(&queue_head.caps, 0xff, sizeof queue_head.caps + sizeof queue_head.reserved2);
    memset(queue_head.reserved3, 0xff, sizeof queue_head.reserved3);
    queue_head.write_index = queue_head.read_index = UINT64_MAX;
    queue_head.scratch_at = queue_head.scratch_bytes = queue_head.reserved4 = UINT64_MAX;
    assert_int_equal(find_queue(lines, found), 1);
    assert_int_equal(found[0].size, 64);
    /* a ring that extends past readable memory */
    queue_head.size = 128;
    assert_int_equal(find_queue(lines, found), 0);
    queue_head.size = RTL_RING_PACKETS_MAX;
    queue_head.ring = (uint64_t)INT64_MAX & ~(uint64_t)(PAGE - 1);
    assert_int_equal(find_queue(lines, found), 0);
    queue_head.ring = UINT64_MAX & ~(uint64_t)(PAGE - 1);
    assert_int_equal(find_queue(lines, found), 0);
}

static void put_queue(int fd, uint64_t at, uint64_t ring_at)
{
    const struct rtl_queue_head head = {
        .features = 1, .ring = ring_at, .doorbell_signal = at + 0x400, .size = 64, .id = at, .read_index_offset = 0x80};
    const struct rtl_signal_image bell = {.kind = -1, .value = DOORBELL_AT, .queue = at};
    assert_int_equal(pwrite(fd, &head, sizeof head, (off_t)at), sizeof head);
    assert_int_equal(pwrite(fd, &bell, sizeof bell, (off_t)at + 0x400), sizeof bell);
}

/* Without time: a few pages per call, and the next call continues. A queue found in the first round existed before; one
 * in memory already searched is new.
 */
static void an_interrupted_search_continues(void **state)
{
    (void)state;
    enum { FROM = 0x10000, TO = 0x610000, RING = 0x600000, FAR = 0x500000, MOST = 2, CALLS = 64 };
    static const char text[] = "10000-310000 rw-p 00000000 00:00 0 \nRss: 4 kB\nVmFlags: rd wr dc\n"
                               "310000-610000 rw-p 00000000 00:00 0 \nRss: 4 kB\nVmFlags: rd wr dc\n" DOORBELL_LINES;
    struct rtl_found_queue found[MOST];
    struct rtl_target_memory memory;
    struct rtl_mappings mappings;
    struct rtl_queue_search search = {0};
    uint32_t n = 0, calls = 0;
    FILE *file = tmpfile(), *smaps = fmemopen((void *)(uintptr_t)text, sizeof text - 1, "r");
    assert_true(file && smaps && rtl_mappings_parse(smaps, &mappings));
    fclose(smaps);
    assert_int_equal(ftruncate(fileno(file), TO), 0);
    memory = (struct rtl_target_memory){.fd = dup(fileno(file)), .pagemap = -1};
    put_queue(fileno(file), FAR, RING);
    for (; !n && calls < CALLS; calls++)
        n = rtl_queues_find(&memory, &mappings, &search, found, MOST, 0, 0);
    assert_int_equal(n, 1);
    assert_true(calls > 2);
    assert_int_equal(found[0].at, FAR);
    assert_false(found[0].looked_before);
    assert_false(rtl_queue_search_done(&search));
    assert_false(search.whole);
    put_queue(fileno(file), FROM, RING); /* it had existed before */
    for (n = calls = 0; !n && calls < CALLS; calls++)
        n = rtl_queues_find(&memory, &mappings, &search, found, MOST, 0, 0);
    assert_int_equal(n, 1);
    assert_int_equal(found[0].at, FROM);
    assert_true(found[0].looked_before);
    assert_int_equal(search.rounds[RTL_SEARCH_LIKELY], 1);
    /* with enough time all memory, from any position */
    put_queue(fileno(file), FROM + 0x1000, RING);
    assert_int_equal(rtl_queues_find(&memory, &mappings, &search, found, MOST, 60000000000, 60000000000), MOST);
    assert_true(search.whole);
    assert_int_equal(search.beyond, 1);
    assert_int_equal(search.rounds[RTL_SEARCH_LIKELY], 2);
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    fclose(file);
}

/* A large process: each call searches all likely memory, and a piece of the other memory. Until all of that was
 * searched once, a found queue may be old.
 */
static void other_memory_is_searched_in_pieces(void **state)
{
    (void)state;
    enum { NEAR = 0x4000, RING = 0x8000, FAR = 0x800000, MOST = 4, CALLS = 64 };
    static const char text[] = "4000-6000 rw-p 00000000 00:00 0 \nRss: 8 kB\nVmFlags: rd wr ac\n"
                               "8000-9000 rw-p 00000000 00:00 0 \nRss: 4 kB\nVmFlags: rd wr ac\n"
                               "10000-810000 rw-p 00000000 00:00 0 \nRss: 8192 kB\nVmFlags: rd wr ac\n" DOORBELL_LINES;
    struct rtl_found_queue found[MOST];
    struct rtl_target_memory memory;
    struct rtl_mappings mappings;
    struct rtl_queue_search search = {0};
    uint32_t n = 0, calls = 0;
    FILE *file = tmpfile(), *smaps = fmemopen((void *)(uintptr_t)text, sizeof text - 1, "r");
    assert_true(file && smaps && rtl_mappings_parse(smaps, &mappings));
    fclose(smaps);
    assert_int_equal(ftruncate(fileno(file), FAR + 0x10000), 0);
    memory = (struct rtl_target_memory){.fd = dup(fileno(file)), .pagemap = -1};
    put_queue(fileno(file), NEAR, RING);
    put_queue(fileno(file), FAR, RING);
    for (; n < 2 && calls < CALLS; calls++) {
        n = rtl_queues_find(&memory, &mappings, &search, found, MOST, 60000000000, 0);
        assert_true(n >= 1); /* each time */
        assert_int_equal(found[0].at, NEAR);
        assert_false(found[0].looked_before);
        assert_int_equal(search.rounds[RTL_SEARCH_LIKELY], calls + 1);
    }
    assert_int_equal(n, 2);
    assert_true(calls > 2);
    assert_int_equal(found[1].at, FAR);
    assert_false(found[1].looked_before);
    while (!rtl_queue_search_done(&search) && calls++ < CALLS)
        rtl_queues_find(&memory, &mappings, &search, found, MOST, 60000000000, 0);
    put_queue(fileno(file), NEAR + 0x1000, RING);
    assert_int_equal(rtl_queues_find(&memory, &mappings, &search, found, MOST, 60000000000, 0), 2);
    assert_int_equal(found[1].at, NEAR + 0x1000);
    assert_true(found[1].looked_before);
    assert_false(search.whole);
    assert_int_equal(rtl_queues_find(&memory, &mappings, &search, found, MOST, 60000000000, 60000000000), 3);
    assert_true(search.whole);
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    fclose(file);
}

/* A forked child has its parent's memory and no doorbells: a call without time completes the search. */
static void memory_without_doorbells_is_not_read(void **state)
{
    (void)state;
    enum { AT = 0x10000, BYTES = 0x800000, MOST = 4 };
    static const char text[] = "10000-810000 rw-p 00000000 00:00 0 \nRss: 8192 kB\nVmFlags: rd wr dc\n"
                               "900000-902000 rw-s 0 00:01 7 /dev/shm/torch_1\nRss: 8 kB\nVmFlags: rd wr sh\n";
    struct rtl_found_queue found[MOST];
    struct rtl_target_memory memory;
    struct rtl_mappings mappings;
    struct rtl_queue_search search = {0};
    FILE *file = tmpfile(), *smaps = fmemopen((void *)(uintptr_t)text, sizeof text - 1, "r");
    assert_true(file && smaps && rtl_mappings_parse(smaps, &mappings));
    fclose(smaps);
    assert_int_equal(ftruncate(fileno(file), BYTES), 0);
    memory = (struct rtl_target_memory){.fd = dup(fileno(file)), .pagemap = -1};
    put_queue(fileno(file), AT, AT + 0x1000);
    assert_int_equal(rtl_queues_find(&memory, &mappings, &search, found, MOST, 0, 0), 0);
    assert_true(search.whole && rtl_queue_search_done(&search));
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    fclose(file);
}

/* Swapped-out pages are read where queues are likely, and skipped elsewhere; untouched pages are skipped everywhere. */
static void other_memory_is_not_swapped_in(void **state)
{
    (void)state;
    enum { PAGES = 0x30 };
    const uint64_t present = 1ull << 63, swapped = 1ull << 62;
    uint64_t entries[PAGES] = {[2] = present, [3] = swapped, [5] = swapped, [6] = present, [0x10] = swapped};
    struct rtl_target_region regions[RTL_TARGET_REGIONS];
    struct rtl_target_memory memory;
    FILE *file = tmpfile(), *pagemap = tmpfile();
    assert_true(file && pagemap);
    assert_int_equal(pwrite(fileno(pagemap), entries, sizeof entries, 0), sizeof entries);
    memory = (struct rtl_target_memory){.fd = dup(fileno(file)), .pagemap = -1};
    memory.pagemap = dup(fileno(pagemap));
    for (int likely = 0; likely < 2; likely++) {
        uint64_t at = PAGE;
        assert_int_equal(rtl_target_regions(&memory, likely, &at, PAGES * PAGE, regions), likely ? 3 : 2);
        assert_int_equal(at, PAGES * PAGE);
        assert_int_equal(regions[0].from, 2 * PAGE);
        assert_int_equal(regions[0].to, likely ? 4 * PAGE : 3 * PAGE);
        assert_int_equal(regions[1].from, likely ? 5 * PAGE : 6 * PAGE);
        assert_int_equal(regions[1].to, 7 * PAGE);
    }
    close(memory.pagemap);
    memory.pagemap = -1; /* without pagemap a page's presence is unknown */
    memory.pid = getpid();
    uint64_t at = PAGE;
    assert_int_equal(rtl_target_regions(&memory, true, &at, 9 * PAGE, regions), 1);
    assert_int_equal(regions[0].to, 9 * PAGE);
    at = PAGE;
    assert_int_equal(rtl_target_regions(&memory, false, &at, 9 * PAGE, regions), 0);
    assert_int_equal(at, 9 * PAGE);
    rtl_target_memory_close(&memory);
    fclose(pagemap);
    fclose(file);
}

/* A search swaps in only the pages of queues. */
static void a_search_swaps_in_small_mappings_only(void **state)
{
    (void)state;
    enum { NEAR = 0x4000, FAR = 0x20000, RING = 0x8000, PAGES = 0x60, MOST = 4 };
    static const char text[] =
        "4000-5000 rw-p 00000000 00:00 0 \nRss: 0 kB\nSwap: 4 kB\nVmFlags: rd wr ac\n"
        "8000-9000 rw-p 00000000 00:00 0 \nRss: 4 kB\nVmFlags: rd wr ac\n"
        "10000-50000 rw-p 00000000 00:00 0 \nRss: 0 kB\nSwap: 4 kB\nVmFlags: rd wr ac\n" DOORBELL_LINES;
    uint64_t entries[PAGES] = {[NEAR / PAGE] = 1ull << 62, [FAR / PAGE] = 1ull << 62, [RING / PAGE] = 1ull << 63};
    struct rtl_found_queue found[MOST];
    struct rtl_target_memory memory;
    struct rtl_mappings mappings;
    struct rtl_queue_search search = {0};
    FILE *file = tmpfile(), *pagemap = tmpfile(), *smaps = fmemopen((void *)(uintptr_t)text, sizeof text - 1, "r");
    assert_true(file && pagemap && smaps && rtl_mappings_parse(smaps, &mappings));
    fclose(smaps);
    assert_int_equal(ftruncate(fileno(file), PAGES * PAGE), 0);
    assert_int_equal(pwrite(fileno(pagemap), entries, sizeof entries, 0), sizeof entries);
    memory = (struct rtl_target_memory){.fd = dup(fileno(file)), .pagemap = -1};
    memory.pagemap = dup(fileno(pagemap));
    put_queue(fileno(file), NEAR, RING);
    put_queue(fileno(file), FAR, RING);
    assert_int_equal(rtl_queues_find(&memory, &mappings, &search, found, MOST, 60000000000, 60000000000), 1);
    assert_int_equal(found[0].at, NEAR);
    assert_true(search.whole);
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    fclose(pagemap);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_queues_are_recognised),
        cmocka_unit_test(a_queue_is_found_in_each_kind_of_memory),
        cmocka_unit_test(a_doorbell_outside_a_device_makes_no_queue),
        cmocka_unit_test(fields_of_newer_runtimes_hide_no_queue),
        cmocka_unit_test(a_ring_in_device_memory_is_reported_but_not_read),
        cmocka_unit_test(an_interrupted_search_continues),
        cmocka_unit_test(other_memory_is_searched_in_pieces),
        cmocka_unit_test(memory_without_doorbells_is_not_read),
        cmocka_unit_test(other_memory_is_not_swapped_in),
        cmocka_unit_test(a_search_swaps_in_small_mappings_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
