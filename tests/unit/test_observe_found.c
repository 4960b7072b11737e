/* What observing costs and finds: searching memory for queues, names without room, a clock, pauses, who is asked again.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "observe/kernel_names.h"
#include "observe/mappings.h"
#include "observe/pace.h"
#include "observe/queue_finder.h"
#include "observe/signal_times.h"
#include "session/refusals.h"

enum { DOORBELL_AT = 0x900000 };
#define DOORBELL_LINES "900000-902000 rw-s c000000000000000 00:05 7 /dev/kfd\nRss: 0 kB\nVmFlags: rd wr sh io dc pf\n"

static void put_queue(int fd, uint64_t at, uint64_t ring_at)
{
    const struct rtl_queue_head head = {
        .features = 1, .ring = ring_at, .doorbell_signal = at + 0x400, .size = 64, .id = at, .read_index_offset = 0x80};
    const struct rtl_signal_image bell = {.kind = -1, .value = DOORBELL_AT, .queue = at};
    assert_int_equal(pwrite(fd, &head, sizeof head, (off_t)at), sizeof head);
    assert_int_equal(pwrite(fd, &bell, sizeof bell, (off_t)at + 0x400), sizeof bell);
}

/* With no time at all: some pages a call, and the next call goes on. What is found in the first round was there before;
 * what comes to where the search had been has come since. */
static void a_search_that_is_cut_off_goes_on(void **state)
{
    (void)state;
    enum { FROM = 0x10000, TO = 0x610000, RING_AT = 0x600000, FAR = 0x500000, MOST = 2, CALLS = 64 };
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
    rtl_target_memory_of_file(dup(fileno(file)), &memory);
    put_queue(fileno(file), FAR, RING_AT);
    for (; !n && calls < CALLS; calls++)
        n = rtl_queues_find(&memory, &mappings, &search, found, MOST, 0, 0);
    assert_int_equal(n, 1);
    assert_true(calls > 2);
    assert_int_equal(found[0].at, FAR);
    assert_false(found[0].looked_before);
    assert_false(rtl_queue_search_done(&search));
    assert_false(search.whole);
    put_queue(fileno(file), FROM, RING_AT); /* it had been there */
    for (n = calls = 0; !n && calls < CALLS; calls++)
        n = rtl_queues_find(&memory, &mappings, &search, found, MOST, 0, 0);
    assert_int_equal(n, 1);
    assert_int_equal(found[0].at, FROM);
    assert_true(found[0].looked_before);
    assert_int_equal(search.rounds[RTL_SEARCH_LIKELY], 1);
    /* with time enough all of it, from wherever it was */
    put_queue(fileno(file), FROM + 0x1000, RING_AT);
    assert_int_equal(rtl_queues_find(&memory, &mappings, &search, found, MOST, 60000000000, 60000000000), MOST);
    assert_true(search.whole);
    assert_int_equal(search.beyond, 1);
    assert_int_equal(search.rounds[RTL_SEARCH_LIKELY], 2);
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    fclose(file);
}

/* A large process: each call searches all memory where runtimes put queues, and a piece of the rest. Until the rest was
 * searched once, nobody knows that a queue wasn't there before. */
static void the_rest_of_memory_is_searched_in_pieces(void **state)
{
    (void)state;
    enum { NEAR = 0x4000, RING_AT = 0x8000, FAR = 0x800000, MOST = 4, CALLS = 64 };
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
    rtl_target_memory_of_file(dup(fileno(file)), &memory);
    put_queue(fileno(file), NEAR, RING_AT);
    put_queue(fileno(file), FAR, RING_AT);
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
    put_queue(fileno(file), NEAR + 0x1000, RING_AT);
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

/* A forked child has its parent's memory and no doorbells: a call without time is through with it. */
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
    rtl_target_memory_of_file(dup(fileno(file)), &memory);
    put_queue(fileno(file), AT, AT + 0x1000);
    assert_int_equal(rtl_queues_find(&memory, &mappings, &search, found, MOST, 0, 0), 0);
    assert_true(search.whole && rtl_queue_search_done(&search));
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    fclose(file);
}

/* What was swapped out is brought back where queues are likely, and left alone in the rest; untouched pages everywhere.
 */
static void the_rest_is_not_swapped_in(void **state)
{
    (void)state;
    enum { PAGES = 0x30, PAGE = 0x1000 };
    const uint64_t present = 1ull << 63, swapped = 1ull << 62;
    uint64_t entries[PAGES] = {[2] = present, [3] = swapped, [5] = swapped, [6] = present, [0x10] = swapped};
    struct rtl_target_region regions[RTL_TARGET_REGIONS];
    struct rtl_target_memory memory;
    FILE *file = tmpfile(), *pagemap = tmpfile();
    assert_true(file && pagemap);
    assert_int_equal(pwrite(fileno(pagemap), entries, sizeof entries, 0), sizeof entries);
    rtl_target_memory_of_file(dup(fileno(file)), &memory);
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
    memory.pagemap = -1; /* without it all of a process's pages may be there, or may not */
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

/* A search for queues leaves the rest of memory as it is: only queues' own pages are brought back. */
static void a_search_brings_back_small_mappings_only(void **state)
{
    (void)state;
    enum { NEAR = 0x4000, FAR = 0x20000, RING_AT = 0x8000, PAGE = 0x1000, PAGES = 0x60, MOST = 4 };
    static const char text[] =
        "4000-5000 rw-p 00000000 00:00 0 \nRss: 0 kB\nSwap: 4 kB\nVmFlags: rd wr ac\n"
        "8000-9000 rw-p 00000000 00:00 0 \nRss: 4 kB\nVmFlags: rd wr ac\n"
        "10000-50000 rw-p 00000000 00:00 0 \nRss: 0 kB\nSwap: 4 kB\nVmFlags: rd wr ac\n" DOORBELL_LINES;
    uint64_t entries[PAGES] = {[NEAR / PAGE] = 1ull << 62, [FAR / PAGE] = 1ull << 62, [RING_AT / PAGE] = 1ull << 63};
    struct rtl_found_queue found[MOST];
    struct rtl_target_memory memory;
    struct rtl_mappings mappings;
    struct rtl_queue_search search = {0};
    FILE *file = tmpfile(), *pagemap = tmpfile(), *smaps = fmemopen((void *)(uintptr_t)text, sizeof text - 1, "r");
    assert_true(file && pagemap && smaps && rtl_mappings_parse(smaps, &mappings));
    fclose(smaps);
    assert_int_equal(ftruncate(fileno(file), PAGES * PAGE), 0);
    assert_int_equal(pwrite(fileno(pagemap), entries, sizeof entries, 0), sizeof entries);
    rtl_target_memory_of_file(dup(fileno(file)), &memory);
    memory.pagemap = dup(fileno(pagemap));
    put_queue(fileno(file), NEAR, RING_AT);
    put_queue(fileno(file), FAR, RING_AT);
    assert_int_equal(rtl_queues_find(&memory, &mappings, &search, found, MOST, 60000000000, 60000000000), 1);
    assert_int_equal(found[0].at, NEAR);
    assert_true(search.whole);
    rtl_mappings_free(&mappings);
    rtl_target_memory_close(&memory);
    fclose(pagemap);
    fclose(file);
}

/* More kernel objects than there is room for: packets go on being counted, without a name, and it is said. */
static void kernels_beyond_all_room_are_unknown(void **state)
{
    (void)state;
    enum { ROOM = 1 << 20 };
    struct rtl_kernel_names *n = rtl_kernel_names_create();
    for (uint64_t i = 1; i <= ROOM; i++)
        rtl_kernel_names_add(n, "gemm", 4, 64 * i);
    assert_false(rtl_kernel_names_full(n));
    assert_false(rtl_kernel_names_known(n, 64 * (ROOM + 1ull)));
    rtl_kernel_names_add(n, "norm", 4, 64); /* what has a place keeps it */
    assert_false(rtl_kernel_names_full(n));
    assert_int_equal(rtl_kernel_names_row(n, 64), RTL_KERNEL_FIRST + 1);
    rtl_kernel_names_add(n, "gemm", 4, 64 * (ROOM + 1ull));
    assert_true(rtl_kernel_names_full(n));
    assert_true(rtl_kernel_names_known(n, 64 * (ROOM + 1ull)));
    assert_int_equal(rtl_kernel_names_row(n, 64 * (ROOM + 1ull)), RTL_KERNEL_UNKNOWN);
    rtl_kernel_names_free(n);
}

/* Of a clock that nobody knows the length comes out as near as the readings are. */
static void an_unknown_clock_is_measured(void **state)
{
    (void)state;
    struct rtl_tick_clock clock = {0};
    for (uint64_t ms = 1; ms < 4000; ms++) {
        uint64_t now = 5000000000 + ms * 1000000, end = ms * 33000; /* 33 MHz */
        rtl_tick_duration(&clock, end - 1000, end, now - 500000, now);
    }
    assert_in_range(clock.hz, 32900000, 33100000);
}

/* --- what it costs --- */

static void pauses_keep_the_budget_of_all(void **state)
{
    (void)state;
    const uint64_t ms = 1000000, second = 1000 * ms;
    struct rtl_pace one = {.cpu = 0.05, .looking = 1, .scanning = 1, .cost_ns = 30000}, p = one;
    assert_int_equal(rtl_pace_look_ns(&p), 2 * ms); /* nothing runs */
    p.rate = 10000;
    assert_in_range(rtl_pace_look_ns(&p), 799000, 801000); /* it would want 12.5 us: 30 us are 3.75 % of so many */
    p.looking = 10;
    assert_in_range(rtl_pace_look_ns(&p), 7999000, 8001000);
    p.cost_ns = 1e9;
    assert_int_equal(rtl_pace_look_ns(&p), 4 * second); /* somebody watches */
    p = one;
    p.past_library = true;
    assert_int_equal(rtl_pace_look_ns(&p), 20 * ms);
    /* a quarter of 5 %, for the scans of all */
    assert_in_range(rtl_pace_scan_ns(&one, 20 * ms), 1599 * ms, 1601 * ms);
    p.scanning = 20;
    assert_in_range(rtl_pace_scan_ns(&p, 20 * ms), 31999 * ms, 32001 * ms);
    assert_in_range(rtl_pace_scan_ns(&p, UINT64_MAX), second, 3600 * second);
}

/* --- who has nothing to be observed --- */

/* A forked child of a large process: looked into after pauses that grow, and not for longer than that at once. */
static void who_has_nothing_is_asked_less_and_less(void **state)
{
    (void)state;
    const uint64_t ms = 1000000, second = 1000 * ms;
    struct rtl_refusals r = {0};
    const struct rtl_process_entry child = {.pid = 7, .start_time = 1}, reused = {.pid = 7, .start_time = 2};
    uint32_t asked = 0;
    for (uint64_t now = second; now <= 21 * second; now += second) { /* twenty frames */
        rtl_refusals_begin(&r, &child, 1);
        if (!rtl_refusals_may(&r, &child, now))
            continue;
        rtl_refusals_looked(&r, &child, true, now, now + ms);
        asked++;
    }
    assert_int_equal(asked, 2);
    assert_true(rtl_refusals_may(&r, &reused, 21 * second));
    for (uint64_t now = 22 * second; now < 322 * second; now += second)
        if (rtl_refusals_may(&r, &child, now))
            rtl_refusals_looked(&r, &child, true, now, now), asked++;
    assert_in_range(asked, 2 + 8, 2 + 11); /* never longer than 32 s */
    rtl_refusals_begin(&r, &reused, 1);
    assert_int_equal(r.count, 0);
    rtl_refusals_free(&r);
}

static void nobody_waits_for_many_of_them_at_once(void **state)
{
    (void)state;
    enum { CHILDREN = 32 };
    const uint64_t ms = 1000000, second = 1000 * ms;
    struct rtl_refusals r = {0};
    struct rtl_process_entry children[CHILDREN];
    uint64_t now = second, waited = 0, most = 0;
    for (int i = 0; i < CHILDREN; i++)
        children[i] = (struct rtl_process_entry){.pid = 10 + i, .start_time = 1};
    for (int frame = 0; frame < 300; frame++, now += second) {
        uint64_t from = now;
        rtl_refusals_begin(&r, children, CHILDREN);
        for (int i = 0; i < CHILDREN; i++)
            if (rtl_refusals_may(&r, &children[i], now)) {
                rtl_refusals_looked(&r, &children[i], true, now, now + 140 * ms);
                now += 140 * ms;
            }
        waited += now - from;
        most = now - from > most ? now - from : most;
    }
    assert_in_range(most, 140 * ms, 280 * ms);
    assert_true(r.count == CHILDREN); /* each had its turn */
    assert_true(waited < (now - second) / 15);
    rtl_refusals_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_that_is_cut_off_goes_on),
        cmocka_unit_test(the_rest_of_memory_is_searched_in_pieces),
        cmocka_unit_test(memory_without_doorbells_is_not_read),
        cmocka_unit_test(the_rest_is_not_swapped_in),
        cmocka_unit_test(a_search_brings_back_small_mappings_only),
        cmocka_unit_test(kernels_beyond_all_room_are_unknown),
        cmocka_unit_test(an_unknown_clock_is_measured),
        cmocka_unit_test(pauses_keep_the_budget_of_all),
        cmocka_unit_test(who_has_nothing_is_asked_less_and_less),
        cmocka_unit_test(nobody_waits_for_many_of_them_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
