/*
 * The viewer's side of a probe: which pages it opens, what a request contains, and how it reads a state that the
 * process may forge or change meanwhile.
 */
#include "process_fixture.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "shm/hash.h"
#include "shm/probe_client.h"
#include "shm/reader_private.h"

/* --- words --- */

static void probe_words_decode_to_what_was_encoded(void **state)
{
    (void)state;
    uint64_t random = 42;
    for (int i = 0; i < 100000; i++) {
        uint64_t r = fixture_random(&random);
        struct rtl_probe_word word = {(uint16_t)r, (uint16_t)(r >> 16), (uint8_t)(r >> 32) % 4}, read = {0};
        uint64_t bits = rtl_probe_encode(word);
        assert_true(rtl_probe_decode(bits, &read));
        assert_true(read.heartbeat == word.heartbeat && read.number == word.number && read.ask == word.ask);
        for (int bit = 0; bit < 64; bit++)
            assert_false(rtl_probe_decode(bits ^ 1ull << bit, &read));
    }
    struct rtl_probe_word later = {1, 1, RTL_PROBE_ASK_DISARM + 1}, read;
    assert_false(rtl_probe_decode(rtl_probe_encode(later), &read));
    assert_false(rtl_probe_decode(0, &read));
}

/* --- pages --- */

static struct rtl_probe_page *made; /* in the child, writable */

static void replace_page(off_t bytes, int seals)
{
    int fd = memfd_create(RTL_PROBE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct rtl_probe_page page = {.magic = RTL_PROBE_MAGIC,
                                  .version = RTL_PROBE_VERSION,
                                  .bytes = RTL_PROBE_PAGE_BYTES,
                                  .pid = (uint64_t)getpid()};
    struct stat identity;
    if (fd < 0 || pwrite(fd, &page, sizeof page, 0) != (ssize_t)sizeof page || ftruncate(fd, bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, seals) != 0 || fstat(fd, &identity) != 0)
        _exit(1);
    segment.probe->page_fd = (uint32_t)fd;
    segment.probe->page_inode = identity.st_ino;
}

static void with_probe(int ready)
{
    struct rtl_segment_config config = fixture_config;
    (void)ready;
    config.probe = true;
    if (rtl_segment_create(&segment, &config, why, sizeof why) != 0 || !segment.probe)
        _exit(1);
    rtl_segment_set_state(&segment, RTL_STATE_LIVE);
    made = mmap(NULL, RTL_PROBE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)segment.probe->page_fd, 0);
}
static void unsealed(int ready)
{
    with_probe(ready);
    replace_page(RTL_PROBE_PAGE_BYTES, F_SEAL_GROW);
}
static void too_small(int ready)
{
    with_probe(ready);
    replace_page(RTL_PROBE_CODE_AT, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}
static void of_another_process(int ready)
{
    with_probe(ready);
    made->pid++;
}
static void of_a_later_version(int ready)
{
    with_probe(ready);
    made->version++;
}
static void closed(int ready)
{
    with_probe(ready);
    close((int)segment.probe->page_fd);
}
/* As if the kernel didn't permit the viewer to trace the process. */
static void with_an_unreadable_key(int ready)
{
    with_probe(ready);
    segment.probe->key_at = 64;
}
static void switched_off(int ready)
{
    traced(ready);
    segment.header->mode = RTL_MODE_OFF;
}
static void of_an_older_library(int ready)
{
    traced(ready);
    segment.header->minor = 6;
}

static bool wants_setting; /* in the last request */

static enum rtl_reader_status probe_of(void (*body)(int ready))
{
    struct rtl_reader *reader;
    struct rtl_probe_link link;
    struct rtl_probe_state state;
    pid_t pid = start_process(body);
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    enum rtl_reader_status status = rtl_probe_open(reader, &link, why, sizeof why);
    if (status == RTL_READER_OK) {
        assert_true(rtl_reader_probe(reader, &state));
        assert_int_equal(state.phase, RTL_PROBE_PHASE_IDLE);
        assert_int_equal(state.kernel, RTL_KERNEL_UNKNOWN);
    } else {
        assert_null(link.page);
        wants_setting = rtl_probe_wants_setting(reader);
        assert_names(pid);
        assert_null(strchr(why, '\n'));
        rtl_probe_heartbeat(&link); /* must reach no page */
        assert_int_equal(rtl_probe_prepare(reader, &link, 4711, 0), 0);
        assert_int_equal(rtl_probe_disarm(reader, &link), 0);
    }
    rtl_probe_close(&link);
    rtl_reader_close(reader);
    end_process(pid);
    return status;
}

static void invalid_probe_pages_are_refused(void **state)
{
    (void)state;
    assert_int_equal(probe_of(with_probe), RTL_READER_OK);
    assert_int_equal(probe_of(with_an_unreadable_key), RTL_READER_PERMISSION);
    assert_says("may trace it (ptrace)");
    assert_int_equal(probe_of(unsealed), RTL_READER_NO_PROBE);
    assert_int_equal(probe_of(too_small), RTL_READER_NO_PROBE);
    assert_int_equal(probe_of(of_another_process), RTL_READER_NO_PROBE);
    assert_int_equal(probe_of(of_a_later_version), RTL_READER_NO_PROBE);
    assert_int_equal(probe_of(closed), RTL_READER_NO_PROBE);
    assert_says("closed a descriptor");
    assert_false(wants_setting); /* the library has the setting */
    assert_int_equal(probe_of(of_an_older_library), RTL_READER_NO_PROBE);
    assert_says("1.6");
    assert_false(wants_setting); /* an unknown setting */
    assert_int_equal(probe_of(switched_off), RTL_READER_NO_PROBE);
    assert_says("RTL_MODE=off");
    assert_false(wants_setting);
    assert_int_equal(probe_of(traced), RTL_READER_NO_PROBE);
    assert_says("RTL_PROBE=1");
    assert_true(wants_setting);
}

/* --- requests and states, both ends in this process --- */

static struct rtl_segment own;
static struct rtl_reader *reader;
static struct rtl_probe_link link_to;

static int open_own(void **state)
{
    struct rtl_segment_config config = fixture_config;
    (void)state;
    config.probe = true;
    assert_int_equal(rtl_segment_create(&own, &config, why, sizeof why), 0);
    assert_int_equal(rtl_reader_open_fd(dup(own.fd), &reader, why, sizeof why), RTL_READER_OK);
    link_to.page = mmap(NULL, RTL_PROBE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)own.probe->page_fd, 0);
    return 0;
}

static struct rtl_probe_word word_now(void)
{
    struct rtl_probe_word word = {0};
    assert_true(rtl_probe_decode(own.probe_page->word, &word));
    return word;
}

/* Compares with the SipHash authors' value for 15 bytes; lengths around a word give different hashes. */
static void the_keyed_hash_is_siphash(void **state)
{
    (void)state;
    const struct rtl_hash_key key = {{0x0706050403020100, 0x0f0e0d0c0b0a0908}};
    unsigned char bytes[64];
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    assert_int_equal(rtl_keyed_hash(&key, bytes, 15), 0xa129ca6149be45e5);
    assert_int_equal(rtl_keyed_hash(&key, bytes, 0), 0x726fdb47dd0e0e31);
    assert_int_equal(rtl_keyed_hash(&key, bytes, 8), 0x93f5f5799a932462);
    assert_int_equal(rtl_keyed_hash(&key, bytes, 63), 0x958a324ceb064572);
}

static void requests_have_all_fields(void **state)
{
    (void)state;
    static const char code[] = "a probed copy";
    struct rtl_probe_request request = {.kernel_object = 4711, .agent = 3, .every = 7, .wanted = 8, .ends_shift = 2};
    assert_int_equal(rtl_probe_writer(&link_to), 0);
    uint16_t first = rtl_probe_prepare(reader, &link_to, 4711, 3);
    assert_int_not_equal(first, 0);
    assert_int_equal(word_now().number, first);
    assert_int_equal(word_now().ask, RTL_PROBE_ASK_PREPARE);
    assert_int_equal(own.probe_page->request.kernel_object, 4711);
    assert_int_equal(own.probe_page->request.agent, 3);
    assert_int_equal(rtl_probe_writer(&link_to), getpid());
    uint16_t heartbeat = word_now().heartbeat;
    rtl_probe_heartbeat(&link_to);
    assert_int_equal(word_now().heartbeat, (uint16_t)(heartbeat + 1));
    assert_int_equal(word_now().number, first);
    assert_int_equal(word_now().ask, RTL_PROBE_ASK_PREPARE);
    const struct rtl_probe_page page = *own.probe_page;
    assert_int_equal(rtl_probe_arm(reader, &link_to, (uint16_t)(first + 1), &request, code, sizeof code), 0);
    assert_memory_equal(own.probe_page, &page, sizeof page); /* another viewer's request stays unchanged */
    uint16_t second = rtl_probe_arm(reader, &link_to, first, &request, code, sizeof code);
    assert_int_not_equal(second, first);
    assert_int_equal(word_now().ask, RTL_PROBE_ASK_ARM);
    assert_int_equal(own.probe_page->request.code_bytes, sizeof code);
    assert_int_equal(own.probe_page->request.code_hash, rtl_hash(code, sizeof code));
    assert_int_equal(own.probe_page->request.every, 7);
    assert_int_equal(own.probe_page->request.wanted, 8);
    assert_memory_equal((const char *)own.probe_page + RTL_PROBE_CODE_AT, code, sizeof code);
    assert_int_equal(rtl_probe_arm(reader, &link_to, second, &request, code, RTL_PROBE_CODE_MAX + 1ull), 0);
    assert_int_equal(word_now().number, second);
    /* numbers wrap round, skip 0 and the number in use, also when the page was zeroed */
    for (int i = 0; i < 70000; i++) {
        uint16_t number = rtl_probe_disarm(reader, &link_to);
        assert_int_not_equal(number, 0);
        assert_int_not_equal(number, second);
        own.probe->number = second = number;
        if (i % 1000 == 0)
            link_to.page->word = 0;
    }
    own.probe->number = 1;
    link_to.page->word = 0;
    assert_int_equal(rtl_probe_disarm(reader, &link_to), 2);
    own.probe->number = 6; /* another viewer has written an older word */
    link_to.page->word = rtl_probe_encode((struct rtl_probe_word){.number = 5});
    assert_int_equal(rtl_probe_disarm(reader, &link_to), 7);
}

static void forged_states_are_bounded(void **state)
{
    (void)state;
    struct rtl_probe_state read;
    uint64_t random = 99, words[sizeof read / 8];
    for (int i = 0; i < 20000; i++) {
        for (size_t w = 0; w < sizeof words / 8; w++)
            words[w] = fixture_random(&random);
        memcpy(own.probe, words, sizeof words);
        own.probe->sequence &= ~1u;
        if (i % 2)
            own.probe->phase %= RTL_PROBE_PHASE_COUNT;
        bool known = own.probe->phase < RTL_PROBE_PHASE_COUNT;
        assert_int_equal(rtl_reader_probe(reader, &read), known);
        if (!known)
            continue;
        assert_true(read.why < RTL_PROBE_WHY_COUNT && read.agent < RTL_AGENTS_MAX && read.kernel < RTL_KERNELS_MAX);
        assert_true(read.ends_shift < 64 && read.probed <= read.dispatches && read.recorded <= read.probed &&
                    read.tails <= read.recorded && read.dies <= RTL_PROBE_DIES);
        own.probe->recorded = own.probe->waves = 0;
        assert_true(rtl_reader_probe(reader, &read));
        assert_true(!read.duration_min_ns && !read.min && !read.max && !read.tail_max_ns && !read.tails);
    }
    own.probe->sequence = 7; /* the writer was killed */
    assert_false(rtl_reader_probe(reader, &read));
    memset(own.probe, 0, sizeof *own.probe);
}

/* Libraries before minor version 8, and before 9, have a shorter state: memory after it isn't read. */
static void an_older_librarys_state_is_read(void **state)
{
    (void)state;
    struct rtl_section *section = &own.header->section[RTL_SECTION_PROBE];
    const uint32_t strides[] = {RTL_PROBE_STATE_FIRST, offsetof(struct rtl_probe_state, dies), section->stride};
    const uint32_t sections = own.header->section_count;
    struct rtl_reader *older;
    struct rtl_probe_state read;
    memset(own.probe, 0xff, sizeof *own.probe);
    own.probe->sequence = 2;
    own.probe->phase = RTL_PROBE_PHASE_ARMED;
    for (int i = 0; i < 3; i++) {
        section->stride = strides[i];
        own.header->section_count = i < 2 ? RTL_SECTION_PROBE_DIES : sections;
        assert_int_equal(rtl_reader_open(getpid(), &older, why, sizeof why), RTL_READER_OK);
        assert_true(rtl_reader_probe(older, &read));
        assert_int_equal(read.tail_ns[RTL_PROBE_DURATIONS - 1], UINT64_MAX);
        assert_int_equal(read.block_bytes, i ? UINT64_MAX : 0);
        assert_int_equal(read.gap_sum, read.block_bytes);
        assert_int_equal(read.gaps[RTL_PROBE_DURATIONS - 1], read.block_bytes);
        assert_int_equal(read.dies, i == 2 ? RTL_PROBE_DIES : 0);
        for (uint32_t die = 0; die < RTL_PROBE_DIES - 1; die++)
            assert_int_equal(read.die[die].busy[die], i == 2 ? UINT64_MAX : 0);
        rtl_reader_close(older);
    }
    memset(own.probe, 0, sizeof *own.probe);
}

/* Old viewers don't know of dies, and accept an entry longer than they need. */
static void an_older_viewer_reads_the_state(void **state)
{
    (void)state;
    const struct rtl_section *section = &own.header->section[RTL_SECTION_PROBE];
    assert_in_range(section->stride, offsetof(struct rtl_probe_state, dies), RTL_STRIDE_GROWTH * RTL_PROBE_STATE_FIRST);
    assert_int_equal(section->capacity, 1);
    assert_int_equal(section[1].offset, section->offset + section->stride); /* one struct in the library */
    assert_int_equal(own.header->features_required, 0);
}

/* Dies without their section are not read, wherever the section claims to be. */
static void only_announced_dies_are_read(void **state)
{
    (void)state;
    struct rtl_section *section = &own.header->section[RTL_SECTION_PROBE_DIES];
    const struct rtl_section was = *section;
    struct rtl_reader *one;
    struct rtl_probe_state read;
    memset(own.probe, 0, sizeof *own.probe);
    for (uint32_t die = 0; die < RTL_PROBE_DIES - 1; die++)
        own.probe->die[die].busy[RTL_PROBE_UNITS - 1] = die + 1;
    for (uint64_t dies = 0; dies < 10; dies++) {
        own.probe->dies = dies;
        assert_true(rtl_reader_probe(reader, &read));
        for (uint32_t unit = 0; unit < RTL_PROBE_UNITS_ALL; unit++) {
            bool last = unit % RTL_PROBE_UNITS == RTL_PROBE_UNITS - 1;
            assert_int_equal(rtl_probe_busy(&read, unit), dies > 1 && last ? unit / RTL_PROBE_UNITS : 0);
        }
        assert_int_equal(rtl_probe_units(&read), dies > 1 ? RTL_PROBE_UNITS_ALL : RTL_PROBE_UNITS);
    }
    section->capacity = 2; /* fewer than the maximum */
    assert_int_equal(rtl_reader_open(getpid(), &one, why, sizeof why), RTL_READER_OK);
    assert_true(rtl_reader_probe(one, &read));
    assert_int_equal(read.die[1].busy[RTL_PROBE_UNITS - 1], 2);
    assert_int_equal(read.die[2].busy[RTL_PROBE_UNITS - 1], 0);
    rtl_reader_close(one);
    static const struct rtl_section lies[] = {{0, 2048, 7}, {UINT64_MAX - 63, 2048, 7}, {0, 2040, 7}, {0, 8200, 7}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        *section = lies[i];
        section->offset = lies[i].stride == 2048 ? lies[i].offset : was.offset;
        assert_int_equal(rtl_reader_open(getpid(), &one, why, sizeof why), RTL_READER_VERSION);
    }
    *section = was;
    memset(own.probe, 0, sizeof *own.probe);
}

/* The writer runs between any two words that the reader loads. */
static unsigned every, met;
static void write_meanwhile(void *context, uint64_t offset)
{
    (void)context, (void)offset;
    static unsigned n;
    if (++n % every)
        return;
    met++;
    own.probe->sequence++;
    own.probe->dispatches = own.probe->probed = own.probe->recorded = own.probe->waves = ++own.probe->sum;
    own.probe->busy[255] = own.probe->die[RTL_PROBE_DIES - 2].busy[255] = own.probe->sum;
    own.probe->sequence++;
}

static void states_are_never_torn(void **state)
{
    (void)state;
    struct rtl_probe_state read;
    unsigned got = 0;
    memset(own.probe, 0, sizeof *own.probe);
    own.probe->dies = RTL_PROBE_DIES;
    reader->meanwhile = write_meanwhile;
    for (every = 100; every < 20000; every += 7)
        if (rtl_reader_probe(reader, &read)) {
            got++;
            assert_int_equal(read.sum, read.busy[255]);
            assert_int_equal(read.sum, rtl_probe_busy(&read, RTL_PROBE_UNITS_ALL - 1));
            assert_int_equal(read.sum, read.waves);
            assert_int_equal(read.sum, read.dispatches);
        }
    reader->meanwhile = NULL;
    assert_true(got > 100 && met > 1000);
}

/* Two viewers with one number would both believe that the probe is theirs. */
enum { REQUESTS = 20000 };
static uint8_t had[1 << 16];

static void *ask_often(void *context)
{
    struct rtl_probe_link link = link_to;
    (void)context;
    for (int i = 0; i < REQUESTS; i++)
        __atomic_fetch_add(&had[rtl_probe_prepare(reader, &link, 4711, 0)], 1, __ATOMIC_RELAXED);
    return NULL;
}

static void no_two_requests_have_one_number(void **state)
{
    pthread_t other;
    (void)state;
    if (FIXTURE_TSAN)
        skip(); /* two threads write the body of one request at a time; processes can't be kept from that */
    assert_int_equal(pthread_create(&other, NULL, ask_often, NULL), 0);
    ask_often(NULL);
    pthread_join(other, NULL);
    for (size_t i = 0; i < sizeof had; i++)
        assert_in_range(had[i], 0, 1);
    assert_int_equal(had[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probe_words_decode_to_what_was_encoded),
        cmocka_unit_test(invalid_probe_pages_are_refused),
        cmocka_unit_test(the_keyed_hash_is_siphash),
        cmocka_unit_test(requests_have_all_fields),
        cmocka_unit_test(forged_states_are_bounded),
        cmocka_unit_test(an_older_librarys_state_is_read),
        cmocka_unit_test(an_older_viewer_reads_the_state),
        cmocka_unit_test(only_announced_dies_are_read),
        cmocka_unit_test(states_are_never_torn),
        cmocka_unit_test(no_two_requests_have_one_number),
    };
    return cmocka_run_group_tests(tests, open_own, NULL);
}
