/* The pure parts of observing from outside: counting a ring, the running packet, the owner of a signal's times. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain_file.h"
#include "observe/debug_list.h"
#include "observe/elf_symbols.h"
#include "observe/kernel_names.h"
#include "observe/mappings.h"
#include "observe/observed_queue.h"
#include "observe/queue_finder.h"
#include "observe/read_convention.h"
#include "observe/ring_counter.h"
#include "observe/signal_times.h"

enum { RING = 8, INVALID = 1, DISPATCH = 2, BARRIER_AND = 3 };
static struct rtl_ring_counter counter;
static uint64_t taken[64], taken_count;
static struct rtl_ring_packet ring[RING];

static struct rtl_ring_packet dispatch(uint16_t header)
{
    return (struct rtl_ring_packet){
        .header = header, .setup = 1, .workgroup = {64, 1, 1}, .grid = {64, 1, 1}, .kernel_object = 0x1000};
}

static bool take(void *context, uint64_t number, const struct rtl_ring_packet *packet, enum rtl_packet_kind kind,
                 bool consumed)
{
    (void)packet;
    (void)consumed;
    if (context && number >= *(const uint64_t *)context)
        return false;
    assert_int_equal(kind, RTL_PACKET_DISPATCH);
    taken[taken_count++] = number;
    return true;
}

static void packets_are_counted_in_order_and_once(void **state)
{
    (void)state;
    for (int i = 0; i < RING; i++)
        ring[i] = dispatch(DISPATCH);
    taken_count = 0;
    rtl_ring_counter_begin(&counter, RING, 0, false);
    assert_int_equal(rtl_ring_counter_wanted(&counter, 3, 0), 3);
    assert_int_equal(rtl_ring_counter_count(&counter, ring, 3, 0, 3, 0, take, NULL), 3);
    assert_int_equal(rtl_ring_counter_wanted(&counter, 3, 3), 0);
    uint64_t until = 4; /* a packet that isn't counted now comes again */
    assert_int_equal(rtl_ring_counter_count(&counter, ring, 3, 3, 6, 3, take, &until), 1);
    assert_int_equal(rtl_ring_counter_wanted(&counter, 6, 3), 2);
    assert_int_equal(rtl_ring_counter_count(&counter, ring, 2, 3, 6, 3, take, NULL), 2);
    for (uint64_t i = 0; i < 6; i++)
        assert_int_equal(taken[i], i);
    assert_int_equal(taken_count, 6);
    assert_int_equal(counter.lost, 0);
}

static void a_packet_counts_once_it_is_written(void **state)
{
    (void)state;
    struct rtl_ring_packet p = dispatch(INVALID);
    assert_int_equal(rtl_packet_kind(&p, false), RTL_PACKET_UNREADY);
    assert_int_equal(rtl_packet_kind(&p, true), RTL_PACKET_DISPATCH); /* the packet processor invalidated its header */
    p.kernel_object = 0;
    assert_int_equal(rtl_packet_kind(&p, true), RTL_PACKET_OTHER);
    p = dispatch(INVALID);
    p.setup = 0; /* a barrier */
    assert_int_equal(rtl_packet_kind(&p, true), RTL_PACKET_OTHER);
    p = dispatch(INVALID);
    p.grid[2] = 0;
    assert_int_equal(rtl_packet_kind(&p, true), RTL_PACKET_OTHER);
    p.header = BARRIER_AND;
    assert_int_equal(rtl_packet_kind(&p, false), RTL_PACKET_BARRIER);
    p.header = 0;
    assert_int_equal(rtl_packet_kind(&p, false), RTL_PACKET_OTHER);
}

static void overwritten_packets_are_counted_exactly_as_lost(void **state)
{
    (void)state;
    for (int i = 0; i < RING; i++)
        ring[i] = dispatch(DISPATCH);
    taken_count = 0;
    rtl_ring_counter_begin(&counter, RING, 0, false);
    /* eleven were submitted meanwhile: the first three are overwritten, whatever the copies hold */
    assert_int_equal(rtl_ring_counter_count(&counter, ring, RING, 8, 11, 9, take, NULL), 8);
    assert_int_equal(counter.lost, 3);
    assert_int_equal(taken[0], 3);
    /* two rings later: one ring of packets is left */
    assert_int_equal(rtl_ring_counter_count(&counter, ring, RING, 30, 30, 30, take, NULL), 14);
    assert_int_equal(counter.lost, 3 + 14);
    assert_int_equal(rtl_ring_counter_wanted(&counter, 30, 30), RING);
    assert_int_equal(rtl_ring_counter_count(&counter, ring, RING, 30, 30, 30, take, NULL), RING);
    assert_int_equal(taken_count + counter.lost, 30);
    /* a thread that waits for a free slot has incremented the write index, but written nothing */
    rtl_ring_counter_begin(&counter, RING, 0, false);
    taken_count = 0;
    assert_int_equal(rtl_ring_counter_wanted(&counter, 10, 0), RING);
    assert_int_equal(rtl_ring_counter_count(&counter, ring, RING, 0, 10, 0, take, NULL), RING);
    assert_int_equal(counter.lost, 0);
}

static void packets_before_the_start_are_not_lost(void **state)
{
    (void)state;
    for (int i = 0; i < RING; i++)
        ring[i] = dispatch(INVALID);
    taken_count = 0;
    rtl_ring_counter_begin(&counter, RING, 100, false);
    assert_int_equal(counter.next, 92);
    rtl_ring_counter_count(&counter, ring, RING, 100, 103, 103, take, NULL);
    assert_int_equal(counter.lost, 0);
    assert_int_equal(taken_count, 5);
    rtl_ring_counter_begin(&counter, RING, 100, true); /* the queue was created meanwhile: all its packets count */
    assert_int_equal(counter.lost, 92);
    rtl_ring_counter_count(&counter, ring, RING, 100, 103, 103, take, NULL);
    assert_int_equal(counter.lost, 95);
}

static void false_indices_are_bounded(void **state)
{
    (void)state;
    rtl_ring_counter_begin(&counter, RING, UINT64_MAX, false);
    assert_true(rtl_ring_counter_wanted(&counter, UINT64_MAX, UINT64_MAX) <= RING);
    assert_true(rtl_ring_counter_wanted(&counter, 0, UINT64_MAX) == 0);
    rtl_ring_counter_begin(&counter, RING, 0, false);
    assert_true(rtl_ring_counter_wanted(&counter, UINT64_MAX, 0) <= RING);
    taken_count = 0;
    ring[0] = dispatch(DISPATCH);
    rtl_ring_counter_count(&counter, ring, 1, UINT64_MAX, UINT64_MAX, UINT64_MAX, take, NULL);
    assert_int_equal(counter.next, UINT64_MAX - RING);
}

/* --- the running packet --- */

static void see(struct rtl_evidence *e, struct rtl_queue_moment look, int times)
{
    for (int i = 0; i < times; i++)
        rtl_convention_add_evidence(e, &look);
}

static void the_read_indexs_meaning_follows_from_signals(void **state)
{
    (void)state;
    struct rtl_queue_moment
        ended = {.waiting = true, .queued = true, .before_signalled = true, .before_in_order = true},
        pending = {.waiting = true, .queued = true, .before_signalled = true, .before_pending = true}, look;
    struct rtl_evidence e = {0, 0};
    assert_int_equal(rtl_convention_judge(&e), RTL_CONVENTION_UNKNOWN);
    see(&e, ended, 7);
    assert_int_equal(rtl_convention_judge(&e), RTL_CONVENTION_UNKNOWN);
    see(&e, ended, 1);
    assert_int_equal(rtl_convention_judge(&e), RTL_CONVENTION_LATE);
    see(&e, pending, 1); /* one in eight contradicts a late read index */
    assert_int_equal(rtl_convention_judge(&e), RTL_CONVENTION_UNKNOWN);
    see(&e, pending, 3);
    assert_int_equal(rtl_convention_judge(&e), RTL_CONVENTION_EARLY);
    e = (struct rtl_evidence){0, 0};
    look = ended;
    look.queued = false; /* it was submitted just now: possibly not processed yet */
    see(&e, look, 20);
    look = ended;
    look.before_in_order = false; /* an earlier packet may still run */
    see(&e, look, 20);
    look = ended;
    look.before_signalled = false;
    see(&e, look, 20);
    look = ended;
    look.waiting = false;
    see(&e, look, 20);
    look = pending;
    look.queued = false; /* a pending value may belong to another signal at that address by now */
    see(&e, look, 20);
    look = pending;
    look.waiting = false;
    see(&e, look, 20);
    assert_int_equal(rtl_convention_judge(&e), RTL_CONVENTION_UNKNOWN);
}

static void the_running_packet_depends_on_the_read_indexs_meaning(void **state)
{
    (void)state;
    struct rtl_queue_moment look = {.waiting = true, .in_order = true, .before = true};
    assert_int_equal(rtl_convention_running(RTL_CONVENTION_UNKNOWN, &look), 1);
    assert_int_equal(rtl_convention_running(RTL_CONVENTION_LATE, &look), 0);
    assert_int_equal(rtl_convention_running(RTL_CONVENTION_EARLY, &look), -1);
    look.blocked = true; /* another program's signal: the previous packet's end is unknown */
    assert_int_equal(rtl_convention_running(RTL_CONVENTION_EARLY, &look), 1);
    look.before_signalled = look.before_pending = true;
    assert_int_equal(rtl_convention_running(RTL_CONVENTION_EARLY, &look), -1);
    look.before_pending = false;
    assert_int_equal(rtl_convention_running(RTL_CONVENTION_EARLY, &look), 1);
    look = (struct rtl_queue_moment){.before = true, .before_signalled = true, .before_pending = true};
    assert_int_equal(rtl_convention_running(RTL_CONVENTION_LATE, &look), 1);
    assert_int_equal(rtl_convention_running(RTL_CONVENTION_EARLY, &look), -1);
}

/* --- signals --- */

static struct rtl_signal_user users[RTL_SIGNAL_USERS];
static struct rtl_awaited_ring awaited, other;

static void a_reused_signal_times_no_packet(void **state)
{
    (void)state;
    memset(&awaited, 0, sizeof awaited);
    memset(users, 0, sizeof users);
    assert_true(rtl_await(users, &awaited, &(struct rtl_awaited){.number = 1, .signal = 0x40}));
    assert_true(rtl_await(users, &awaited, &(struct rtl_awaited){.number = 2, .signal = 0x80}));
    rtl_await_displaced(users, &awaited, 3, 0x40);
    assert_true(awaited.at[0].given_up);
    assert_false(awaited.at[1].given_up);
    /* read before the packet could be there */
    awaited.at[1].read = true;
    awaited.at[1].until = 5;
    rtl_await_displaced(users, &awaited, 5, 0x80);
    assert_false(awaited.at[1].given_up);
    rtl_await_displaced(users, &other, 9, 0x80); /* the order to another queue's packet is unknown */
    assert_true(awaited.at[1].given_up);
    assert_true(rtl_await(users, &awaited, &(struct rtl_awaited){.number = 6, .signal = 0xc0}));
    awaited.at[2].read = true;
    awaited.at[2].until = 8;
    rtl_await_displaced(users, &awaited, 7, 0xc0);
    assert_true(awaited.at[2].given_up);
    while (awaited.end - awaited.first < RTL_AWAITED_MAX)
        assert_true(rtl_await(users, &awaited, &(struct rtl_awaited){.signal = 64 * awaited.end}));
    assert_false(rtl_await(users, &awaited, &(struct rtl_awaited){.signal = 64}));
    rtl_await_forget(users, &awaited);
    for (int i = 0; i < RTL_SIGNAL_USERS; i++)
        assert_null(users[i].ring);
}

static void ticks_become_time_once_the_rate_is_known(void **state)
{
    (void)state;
    enum { TICK = 10 };
    struct rtl_tick_clock clock = {0};
    const uint64_t zero = 5000000000; /* host time at tick 0 */
    uint64_t known = 0;
    for (uint64_t ms = 1; ms < 400; ms++) {
        uint64_t now = zero + ms * 1000000, end = (now - zero - 20000) / TICK, start = end - 1000;
        uint64_t ns = rtl_tick_duration(&clock, start, end, now - 500000, now);
        known += ns != UINT64_MAX;
        assert_true(ns == UINT64_MAX || ns == 1000 * TICK);
    }
    assert_int_equal(clock.hz, 100000000);
    assert_true(known > 200);
    uint64_t now = zero + 400000000, tick = (now - zero) / TICK;
    assert_true(rtl_tick_duration(&clock, tick - 100000, tick - 99000, now - 500000, now) == UINT64_MAX); /* too old */
    /* in the future */
    assert_true(rtl_tick_duration(&clock, tick + 90000, tick + 100000, now - 500000, now) == UINT64_MAX);
    assert_true(rtl_tick_duration(&clock, tick - 10, tick - 20, now - 500000, now) == UINT64_MAX);
    assert_true(rtl_tick_duration(&clock, 0, tick, now - 500000, now) == UINT64_MAX);
    assert_true(rtl_tick_duration(&clock, tick - 10, tick - 10, now - 500000, now) == 0); /* no ticks are a time */
}

/* The first sample comes 6 ms late: 25 MHz looks like 27 MHz until the possible delay is known. A rate learnt from
 * another queue's times is learnt again.
 */
static void a_late_sample_sets_no_wrong_rate(void **state)
{
    (void)state;
    enum { TICK = 40 };
    const uint64_t zero = 5000000000;
    for (int wrong = 0; wrong < 2; wrong++) {
        struct rtl_tick_clock clock = {0};
        uint64_t known = 0;
        for (uint64_t ms = 1; ms < 4000; ms++) {
            if (ms == 2)
                ms = 8; /* no sample until the first one is read */
            uint64_t done = zero + ms * 1000000, end = (done - zero) / TICK, start = end - 1000;
            uint64_t now = done + (ms == 1 ? 6000000 : 20000), after = done - 500000;
            if (wrong && ms <= 800) /* from another clock, of 27 MHz */
                end = (done - zero) * 27 / 1000, start = end - 1000;
            uint64_t ns = rtl_tick_duration(&clock, start, end, after, now);
            known += ns == 1000 * TICK;
            assert_true(ns == UINT64_MAX || ns == 1000 * TICK || (wrong && ms <= 800));
            assert_true(wrong || !clock.hz || clock.hz == 25000000);
            assert_true(!wrong || ms != 800 || clock.hz == 27000000);
        }
        assert_int_equal(clock.hz, 25000000);
        assert_true(known > 1000);
    }
}

/* --- the process's data --- */

static void mappings_are_parsed(void **state)
{
    (void)state;
    static const char text[] = "1000-3000 rw-p 00000000 00:00 0 \n"
                               "Rss:                   8 kB\n"
                               "Swap:                  4 kB\n"
                               "SwapPss:               4 kB\n"
                               "VmFlags: rd wr mr mw me dc ac \n"
                               "4000-5000 r-xs 00001000 fe:01 77                         /opt/a file (deleted)\n"
                               "VmFlags: rd ex io pf \n"
                               "nonsense\n"
                               "4800-6000 rw-p 00000000 00:00 0 \n" /* overlaps */
                               "7000-6000 rw-p 00000000 00:00 0 \n"
                               "Rss: 99999999999999999999999999 kB\n";
    FILE *file = fmemopen((void *)(uintptr_t)text, sizeof text - 1, "r");
    struct rtl_mappings m;
    assert_true(rtl_mappings_parse(file, &m));
    fclose(file);
    assert_int_equal(m.count, 2);
    assert_int_equal(m.list[0].resident, 12 << 10);
    assert_true(m.list[0].dontfork && m.list[0].write && !m.list[0].shared && !m.list[0].device);
    assert_true(m.list[1].device && m.list[1].shared && !m.list[1].write);
    assert_int_equal(m.list[1].offset, 0x1000);
    assert_int_equal(m.list[1].inode, 77);
    assert_string_equal(m.list[1].name, "/opt/a file (deleted)");
    assert_ptr_equal(rtl_mapping_of(&m, 0x2fff), &m.list[0]);
    assert_null(rtl_mapping_of(&m, 0x3000));
    assert_null(rtl_mapping_of(&m, 0));
    assert_ptr_equal(rtl_mapping_of(&m, 0x4000), &m.list[1]);
    rtl_mappings_free(&m);
}

static void uris_of_code_objects_are_parsed(void **state)
{
    (void)state;
    char path[64];
    uint64_t offset, size;
    assert_true(rtl_code_object_uri("file:///a%20b/c#offset=0x10&size=32", path, sizeof path, &offset, &size));
    assert_string_equal(path, "/a b/c");
    assert_int_equal(offset, 16);
    assert_int_equal(size, 32);
    assert_true(rtl_code_object_uri("file:///c", path, sizeof path, &offset, &size));
    assert_int_equal(size, 0);
    assert_true(rtl_code_object_uri("memory://4711#offset=0x7f00&size=99", path, sizeof path, &offset, &size));
    assert_string_equal(path, "");
    static const char *const wrong[] = {
        "",
        "memory://4711",
        "memory://1#offset=0&size=0",
        "http://a#offset=1&size=1",
        "file://relative",
        "file:///a%00b",
        "file:///a#offset=-1&size=3",
        "file:///a#offset=1",
        "file:///a#offset=99999999999999999999&size=1",
        "file:///a-name-that-is-longer-than-there-is-room-for-in-this-test-and-so-is-none"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(rtl_code_object_uri(wrong[i], path, sizeof path, &offset, &size));
}

static void each_name_has_one_row(void **state)
{
    (void)state;
    struct rtl_kernel_names *n = rtl_kernel_names_create();
    rtl_kernel_names_add(n, "gemm", 4, 0x100);
    rtl_kernel_names_add(n, "norm", 4, 0x200);
    rtl_kernel_names_add(n, "gemm", 4, 0x300); /* on another GPU */
    assert_int_equal(rtl_kernel_names_row(n, 0x100), RTL_KERNEL_FIRST);
    assert_int_equal(rtl_kernel_names_row(n, 0x300), RTL_KERNEL_FIRST);
    assert_int_equal(rtl_kernel_names_row(n, 0x200), RTL_KERNEL_FIRST + 1);
    assert_int_equal(rtl_kernel_names_row(n, 0x999), RTL_KERNEL_UNKNOWN);
    assert_false(rtl_kernel_names_known(n, 0x999));
    rtl_kernel_names_set_nameless(n, 0x999);
    assert_true(rtl_kernel_names_known(n, 0x999));
    assert_int_equal(rtl_kernel_names_row(n, 0x999), RTL_KERNEL_UNKNOWN);
    rtl_kernel_names_add(n, "late", 4, 0x999); /* its code object was found later */
    assert_int_equal(rtl_kernel_names_row(n, 0x999), RTL_KERNEL_FIRST + 2);
    /* a name of a megabyte is cut, and stays distinct from another with the same beginning */
    size_t bytes = 1 << 20;
    char *large = malloc(bytes);
    memset(large, 'x', bytes);
    rtl_kernel_names_add(n, large, bytes, 0x400);
    large[bytes - 2] = 'y';
    rtl_kernel_names_add(n, large, bytes, 0x500);
    rtl_kernel_names_add(n, large, bytes, 0x600);
    assert_int_not_equal(rtl_kernel_names_row(n, 0x400), rtl_kernel_names_row(n, 0x500));
    assert_int_equal(rtl_kernel_names_row(n, 0x500), rtl_kernel_names_row(n, 0x600));
    const char *text = n->name[rtl_kernel_names_row(n, 0x400)];
    assert_int_equal(n->length[rtl_kernel_names_row(n, 0x400)], RTL_NAME_MAX);
    assert_int_equal(text[RTL_NAME_MAX - 17], '~');
    free(large);
    for (uint32_t i = 0; i < 2 * RTL_KERNELS_MAX; i++) {
        char name[16];
        rtl_kernel_names_add(n, name, (size_t)snprintf(name, sizeof name, "k%u", (unsigned)i), 0x10000 + 64 * i);
    }
    assert_true(n->full);
    assert_int_equal(n->rows, RTL_KERNELS_MAX);
    assert_int_equal(rtl_kernel_names_row(n, 0x10000 + 64 * (2 * RTL_KERNELS_MAX - 1)), RTL_KERNEL_OTHER);
    rtl_kernel_names_free(n);
}

static bool count_symbol(void *context, const struct rtl_elf_symbol *symbol)
{
    assert_true(symbol->length < 1 << 16);
    ++*(uint64_t *)context;
    return true;
}

/* Symbols that share a text of megabytes, and one with a short name after them. */
static void symbol_names_are_scanned_within_bounds(void **state)
{
    (void)state;
    enum { SYMBOLS = 5000, TEXT = 4 << 20, HASH = 0x400, SYMTAB = 0x1000, STRINGS = 0x40000 };
    size_t size = STRINGS + TEXT;
    char *image = calloc(1, size);
    const Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB},
                               .e_phentsize = sizeof(Elf64_Phdr),
                               .e_phnum = 2,
                               .e_phoff = sizeof header};
    const Elf64_Phdr headers[] = {{.p_type = PT_LOAD, .p_filesz = size, .p_memsz = size},
                                  {.p_type = PT_DYNAMIC, .p_offset = 0x200, .p_memsz = 5 * sizeof(Elf64_Dyn)}};
    const Elf64_Dyn dynamic[] = {{DT_SYMTAB, {SYMTAB}}, {DT_STRTAB, {STRINGS}}, {DT_STRSZ, {TEXT}}, {DT_HASH, {HASH}}};
    const uint32_t hash[] = {1, SYMBOLS};
    Elf64_Sym *symbols = (Elf64_Sym *)(void *)(image + SYMTAB);
    memcpy(image, &header, sizeof header);
    memcpy(image + sizeof header, headers, sizeof headers);
    memcpy(image + 0x200, dynamic, sizeof dynamic);
    memcpy(image + HASH, hash, sizeof hash);
    memset(image + STRINGS + 1, 'x', TEXT - 5);
    symbols[1].st_name = TEXT - 8; /* a short one */
    for (int i = 2; i < SYMBOLS; i++)
        symbols[i].st_name = 1;
    symbols[SYMBOLS - 1].st_name = TEXT - 8; /* after the scanned ones */
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(fwrite(image, 1, size, file), size);
    fflush(file);
    uint64_t count = 0, bytes = 0;
    const struct rtl_elf_image elf = {.fd = fileno(file), .size = size};
    assert_true(rtl_elf_symbols(&elf, count_symbol, &count, &bytes));
    assert_int_equal(count, 1);
    assert_in_range(bytes, RTL_ELF_STRINGS_MAX, RTL_ELF_STRINGS_MAX + TEXT + SYMBOLS * sizeof *symbols + (1 << 16));
    fclose(file);
    free(image);
}

static void only_plain_files_are_opened(void **state)
{
    (void)state;
    struct stat st;
    int fd = rtl_plain_file_open(open("/proc/self/exe", O_PATH | O_CLOEXEC), &st);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(rtl_plain_file_open(open("/dev/null", O_PATH | O_CLOEXEC), &st), -1);
    assert_int_equal(errno, 0);
    assert_int_equal(rtl_plain_file_open(open("/dev", O_PATH | O_CLOEXEC), &st), -1);
    assert_int_equal(errno, 0);
    assert_int_equal(rtl_plain_file_open(open("/nowhere", O_PATH | O_CLOEXEC), &st), -1);
    assert_int_equal(errno, ENOENT);
}

/* Indices near the maximum, and an index that goes back between two samples. */
static void an_index_that_goes_back_ends_a_queue(void **state)
{
    (void)state;
    enum { SLOTS = 8, AT = 0x1000 };
    struct rtl_queue_head head = {.features = 1,
                                  .ring = 0x10000,
                                  .doorbell_signal = 0x40,
                                  .size = SLOTS,
                                  .read_index_offset = 0x80,
                                  .write_index = 3,
                                  .read_index = 3};
    const struct rtl_found_queue found = {.at = AT, .ring = 0x10000, .size = SLOTS};
    static struct rtl_ring_packet slots[SLOTS];
    struct rtl_target_memory memory;
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(pwrite(fileno(file), &head, sizeof head, AT), sizeof head);
    assert_int_equal(pwrite(fileno(file), slots, sizeof slots, 0x10000), sizeof slots);
    memory = (struct rtl_target_memory){.fd = dup(fileno(file)), .pagemap = -1};
    struct rtl_observed *o = calloc(1, sizeof *o);
    struct rtl_observed_queue q = {0};
    o->memory = &memory;
    o->names = rtl_kernel_names_create();
    o->users = calloc(RTL_SIGNAL_USERS, sizeof *o->users);
    assert_true(rtl_observed_queue_begin(&q, &found, &head, true));
    assert_true(rtl_observed_queue_poll(o, &q, &head, 1));
    head.write_index = head.read_index = UINT64_MAX - 1; /* the file's index stays 3 */
    assert_false(rtl_observed_queue_poll(o, &q, &head, 2));
    assert_int_equal(pwrite(fileno(file), &head, sizeof head, AT), sizeof head);
    assert_true(rtl_observed_queue_poll(o, &q, &head, 3)); /* and that ends it */
    rtl_observed_queue_end(o, &q);
    rtl_kernel_names_free(o->names);
    free(o->users);
    rtl_target_memory_close(&memory);
    fclose(file);
    free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_are_counted_in_order_and_once),
        cmocka_unit_test(a_packet_counts_once_it_is_written),
        cmocka_unit_test(overwritten_packets_are_counted_exactly_as_lost),
        cmocka_unit_test(packets_before_the_start_are_not_lost),
        cmocka_unit_test(false_indices_are_bounded),
        cmocka_unit_test(the_read_indexs_meaning_follows_from_signals),
        cmocka_unit_test(the_running_packet_depends_on_the_read_indexs_meaning),
        cmocka_unit_test(a_reused_signal_times_no_packet),
        cmocka_unit_test(ticks_become_time_once_the_rate_is_known),
        cmocka_unit_test(a_late_sample_sets_no_wrong_rate),
        cmocka_unit_test(mappings_are_parsed),
        cmocka_unit_test(uris_of_code_objects_are_parsed),
        cmocka_unit_test(each_name_has_one_row),
        cmocka_unit_test(symbol_names_are_scanned_within_bounds),
        cmocka_unit_test(only_plain_files_are_opened),
        cmocka_unit_test(an_index_that_goes_back_ends_a_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
