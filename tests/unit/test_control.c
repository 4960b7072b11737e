/*
 * The control page: valid words, the life of a heartbeat, the effect of a word on the mode in force. The viewer's side:
 * which pages it opens, that it never writes to anything else, and viewers that write at once.
 */
#include "process_fixture.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "intercept/worker/mode.h"
#include "shm/control_client.h"
#include "shm/reader_private.h"

#define SEC 1000000000ull

/* --- words --- */

static bool same(const struct rtl_control_request *a, const struct rtl_control_request *b)
{
    return a->heartbeat == b->heartbeat && a->number == b->number && a->mode == b->mode;
}

static void words_decode_to_what_was_encoded(void **state)
{
    (void)state;
    static const uint8_t modes[] = {RTL_MODE_OFF,  RTL_MODE_LITE, RTL_MODE_DEFAULT,
                                    RTL_MODE_FULL, RTL_MODE_AUTO, RTL_MODE_NONE};
    uint64_t random = 42;
    for (int i = 0; i < 100000; i++) {
        uint64_t r = fixture_random(&random);
        struct rtl_control_request requests = {(uint16_t)r, (uint16_t)(r >> 16), modes[(r >> 32) % sizeof modes]},
                                   read = {0};
        uint64_t word = rtl_control_encode(requests);
        assert_true(rtl_control_decode(word, &read));
        assert_true(same(&requests, &read));
        for (int bit = 0; bit < 64; bit++) { /* any wrong bit makes the word invalid */
            struct rtl_control_request kept = requests;
            assert_false(rtl_control_decode(word ^ 1ull << bit, &kept));
            assert_true(same(&kept, &requests));
        }
    }
}

static void invalid_words_are_ignored(void **state)
{
    (void)state;
    struct rtl_control_request read;
    uint64_t random = 4711;
    assert_false(rtl_control_decode(0, &read)); /* a zeroed page */
    assert_false(rtl_control_decode(UINT64_MAX, &read));
    for (int i = 0; i < 10000000; i++)
        assert_false(rtl_control_decode(fixture_random(&random), &read));
    for (unsigned mode = 0; mode < 256; mode++) /* modes of a later version are valid requests */
        assert_int_equal(
            rtl_control_decode(rtl_control_encode((struct rtl_control_request){1, 1, (uint8_t)mode}), &read),
            mode <= RTL_MODE_AUTO || mode == RTL_MODE_NONE);
}

/* --- effects of words --- */

static uint64_t beat_word(uint16_t heartbeat)
{
    return rtl_control_encode((struct rtl_control_request){.heartbeat = heartbeat, .mode = RTL_MODE_NONE});
}

static void a_heartbeat_lasts_three_seconds(void **state)
{
    (void)state;
    struct rtl_requests requests = {.mode = RTL_MODE_AUTO};
    uint64_t now = 1000 * SEC;
    rtl_requests_apply(&requests, beat_word(0), now); /* the page's first contents */
    assert_int_equal(rtl_requests_policy(&requests), RTL_COUNT);
    rtl_requests_apply(&requests, beat_word(1), now);
    assert_int_equal(rtl_requests_policy(&requests), RTL_TIME);
    rtl_requests_apply(&requests, beat_word(1), now + RTL_HEARTBEAT_NS);
    assert_int_equal(rtl_requests_policy(&requests), RTL_TIME);
    rtl_requests_apply(&requests, beat_word(1), now + RTL_HEARTBEAT_NS + 1);
    assert_int_equal(rtl_requests_policy(&requests), RTL_COUNT);
    rtl_requests_apply(&requests, beat_word(1), now + RTL_HEARTBEAT_NS + 2); /* an old heartbeat doesn't count again */
    assert_int_equal(rtl_requests_policy(&requests), RTL_COUNT);
    for (uint16_t heartbeat = 65530; heartbeat != 10; heartbeat++) { /* wrap-around, a second apart */
        now += 5 * SEC;
        rtl_requests_apply(&requests, beat_word(heartbeat), now);
        assert_int_equal(rtl_requests_policy(&requests), RTL_TIME);
    }
    rtl_requests_apply(&requests, 0x1234567890abcdef, now + SEC); /* an invalid word is no heartbeat, */
    assert_int_equal(rtl_requests_policy(&requests), RTL_TIME);
    rtl_requests_apply(&requests, 0x234567890abcdef1, now + 4 * SEC); /* and doesn't extend one */
    assert_int_equal(rtl_requests_policy(&requests), RTL_COUNT);
}

static void requests_change_the_mode(void **state)
{
    (void)state;
    static const struct {
        enum rtl_mode mode;
        enum rtl_policy policy, watched;
        enum rtl_activity activity;
    } means[] = {{RTL_MODE_OFF, RTL_PASS_ON, RTL_PASS_ON, RTL_ACTIVITY_OFF},
                 {RTL_MODE_LITE, RTL_TIME_UNSIGNALLED, RTL_TIME_UNSIGNALLED, RTL_ACTIVITY_TIMING},
                 {RTL_MODE_DEFAULT, RTL_TIME, RTL_TIME, RTL_ACTIVITY_TIMING},
                 {RTL_MODE_FULL, RTL_TIME, RTL_TIME, RTL_ACTIVITY_TIMING},
                 {RTL_MODE_AUTO, RTL_COUNT, RTL_TIME, RTL_ACTIVITY_COUNTING}};
    struct rtl_requests requests = {.mode = RTL_MODE_DEFAULT};
    uint16_t number = 0, heartbeat = 0;
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        uint64_t now = (i + 1) * 100 * SEC;
        struct rtl_control_request request = {heartbeat, ++number, (uint8_t)means[i].mode};
        rtl_requests_apply(&requests, rtl_control_encode(request), now);
        assert_int_equal(requests.mode, means[i].mode);
        assert_int_equal(requests.number, number);
        assert_int_equal(rtl_requests_policy(&requests), means[i].policy);
        assert_int_equal(rtl_requests_activity(&requests), means[i].activity);
        request.mode = RTL_MODE_DEFAULT; /* the same number is the same request */
        rtl_requests_apply(&requests, rtl_control_encode(request), now);
        assert_int_equal(requests.mode, means[i].mode);
        request.heartbeat = ++heartbeat;
        rtl_requests_apply(&requests, rtl_control_encode(request), now);
        assert_int_equal(rtl_requests_policy(&requests), means[i].watched);
        rtl_requests_apply(&requests, 0, now);
        assert_int_equal(rtl_requests_policy(&requests), means[i].watched);
        /* a dispatch depends on heartbeats only in modes that time for a viewer */
        rtl_requests_apply(&requests, 0, now + 50 * SEC);
        uint64_t mask =
            means[i].policy == RTL_COUNT ? RTL_CONTROL_REQUEST | RTL_CONTROL_HEARTBEAT : RTL_CONTROL_REQUEST;
        assert_int_equal(rtl_requests_mask(&requests), mask);
    }
}

/* --- the viewer's side --- */

static struct rtl_control *made; /* in the child, writable */

/* Replace the library's page by one of that size with those seals. */
static int replace_page(off_t bytes, int seals)
{
    int fd = memfd_create(RTL_CONTROL_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct rtl_control page = {.magic = RTL_CONTROL_MAGIC,
                               .version = RTL_CONTROL_VERSION,
                               .bytes = RTL_CONTROL_BYTES,
                               .pid = (uint64_t)getpid()};
    struct stat identity;
    if (fd < 0 || pwrite(fd, &page, sizeof page, 0) != (ssize_t)sizeof page || ftruncate(fd, bytes) != 0 ||
        fcntl(fd, F_ADD_SEALS, seals) != 0 || fstat(fd, &identity) != 0)
        _exit(1);
    segment.header->control_fd = (uint32_t)fd;
    segment.header->control_inode = identity.st_ino;
    return fd;
}

static void with_control(int ready)
{
    struct rtl_segment_config config = fixture_config;
    (void)ready;
    config.control = true;
    if (rtl_segment_create(&segment, &config, why, sizeof why) != 0 || segment.control == &rtl_control_none)
        _exit(1);
    rtl_segment_set_state(&segment, RTL_STATE_LIVE);
    made = mmap(NULL, RTL_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)segment.header->control_fd, 0);
}

static void unsealed(int ready)
{
    with_control(ready);
    replace_page(RTL_CONTROL_BYTES, F_SEAL_GROW);
}
static void too_small(int ready)
{
    with_control(ready);
    replace_page(2048, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}
static void for_reading_only(int ready)
{
    with_control(ready);
    replace_page(RTL_CONTROL_BYTES, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | F_SEAL_WRITE);
}
static void of_another_process(int ready)
{
    with_control(ready);
    made->pid++;
}
static void of_a_later_version(int ready)
{
    with_control(ready);
    made->version++;
}
static void closed(int ready)
{
    with_control(ready);
    close((int)segment.header->control_fd);
}
static void closed_and_used_again(int ready)
{
    with_control(ready);
    dup3(0, (int)segment.header->control_fd, O_CLOEXEC);
}

static char victim[] = "/tmp/rtl-test-victim-XXXXXX";

/* A writable file in the page's place: the viewer must not write to it. */
static void lures_into_a_file(int ready)
{
    with_control(ready);
    struct stat identity;
    int fd = open(victim, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &identity) != 0)
        _exit(1);
    segment.header->control_fd = (uint32_t)fd;
    segment.header->control_inode = identity.st_ino;
}

static void of_an_older_library(int ready)
{
    traced(ready);
    segment.header->minor = 1;
    segment.header->in_force = 0;
}
static void started_with_off(int ready)
{
    traced(ready);
    segment.header->mode = RTL_MODE_OFF;
}

static enum rtl_reader_status control_of(void (*body)(int ready))
{
    struct rtl_reader *reader;
    struct rtl_control_link link;
    pid_t pid = start_process(body);
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    enum rtl_reader_status status = rtl_control_open(reader, &link, why, sizeof why);
    if (status != RTL_READER_OK) {
        assert_null(link.page);
        assert_names(pid);
        assert_null(strchr(why, '\n'));
        rtl_control_heartbeat(&link); /* must reach no file */
        assert_int_equal(rtl_control_requested_mode(reader, &link), RTL_MODE_NONE);
    }
    rtl_control_close(&link);
    rtl_reader_close(reader);
    end_process(pid);
    return status;
}

static void invalid_pages_are_refused(void **state)
{
    (void)state;
    assert_int_equal(control_of(with_control), RTL_READER_OK);
    assert_int_equal(control_of(unsealed), RTL_READER_NO_CONTROL);
    assert_int_equal(control_of(too_small), RTL_READER_NO_CONTROL);
    assert_int_equal(control_of(for_reading_only), RTL_READER_NO_CONTROL);
    assert_int_equal(control_of(of_another_process), RTL_READER_NO_CONTROL);
    assert_int_equal(control_of(of_a_later_version), RTL_READER_NO_CONTROL);
    assert_int_equal(control_of(closed), RTL_READER_NO_CONTROL);
    assert_says("closed a descriptor");
    assert_int_equal(control_of(closed_and_used_again), RTL_READER_NO_CONTROL);
    assert_int_equal(control_of(of_an_older_library), RTL_READER_NO_CONTROL);
    assert_says("1.1");
    assert_int_equal(control_of(started_with_off), RTL_READER_NO_CONTROL);
    assert_says("RTL_MODE=off");
    assert_int_equal(control_of(traced), RTL_READER_NO_CONTROL);
    assert_says("no control page");
}

static void the_viewer_writes_to_no_file(void **state)
{
    (void)state;
    char page[RTL_CONTROL_BYTES], after[RTL_CONTROL_BYTES];
    struct rtl_control head = {.magic = RTL_CONTROL_MAGIC, .version = RTL_CONTROL_VERSION, .bytes = RTL_CONTROL_BYTES};
    int fd = mkstemp(victim);
    assert_true(fd >= 0);
    memset(page, 'x', sizeof page);
    memcpy(page, &head, sizeof head);
    assert_int_equal(write(fd, page, sizeof page), sizeof page);
    assert_int_equal(control_of(lures_into_a_file), RTL_READER_NO_CONTROL);
    assert_int_equal(pread(fd, after, sizeof after, 0), sizeof after);
    assert_memory_equal(page, after, sizeof page);
    unlink(victim);
    close(fd);
}

enum { WRITERS = 4, BEATS = 3000 };

static void concurrent_viewers_keep_each_others_words(void **state)
{
    (void)state;
    struct rtl_reader *reader;
    struct rtl_control_link link;
    pid_t pid = start_process(with_control), writers[WRITERS];
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    assert_int_equal(rtl_control_open(reader, &link, why, sizeof why), RTL_READER_OK);
    for (int w = 0; w < WRITERS; w++) {
        fflush(NULL);
        writers[w] = fork();
        assert_true(writers[w] >= 0);
        if (writers[w] == 0) {
            for (int i = 0; i < BEATS; i++)
                rtl_control_heartbeat(&link);
            _exit(0);
        }
    }
    for (int i = 0; i < 500; i++) {
        uint32_t mode = i % 2 ? RTL_MODE_LITE : RTL_MODE_AUTO;
        assert_int_equal(rtl_control_request_mode(reader, &link, (enum rtl_mode)mode), i + 1);
        assert_int_equal(rtl_control_requested_mode(reader, &link), mode);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status = -1;
        assert_int_equal(waitpid(writers[w], &status, 0), writers[w]);
        assert_int_equal(status, 0);
    }
    struct rtl_control_request requests = {0};
    bool known = false;
    for (int w = 0; w < WRITERS; w++)
        known |= rtl_control_writer(&link) == (uint64_t)writers[w];
    assert_true(known);
    assert_true(rtl_control_decode(link.page->word, &requests));
    assert_int_equal(requests.heartbeat, WRITERS * BEATS); /* no heartbeat was lost, and requests are not heartbeats */
    assert_int_equal(requests.number, 500);
    assert_int_equal(requests.mode, RTL_MODE_LITE);

    link.page->word = 0x0123456789abcdef; /* an invalid word: the next viewer repairs it */
    assert_int_equal(rtl_control_requested_mode(reader, &link), RTL_MODE_NONE);
    rtl_control_heartbeat(&link);
    assert_true(rtl_control_decode(link.page->word, &requests));
    assert_int_equal(requests.mode, RTL_MODE_NONE);
    assert_int_not_equal(rtl_control_request_mode(reader, &link, RTL_MODE_FULL), 0);
    assert_int_equal(rtl_control_requested_mode(reader, &link), RTL_MODE_FULL);
    rtl_control_close(&link);
    rtl_reader_close(reader);
    end_process(pid);
}

static void wishes_that_are_set(int ready)
{
    with_control(ready);
    rtl_segment_set_in_force(&segment, RTL_MODE_DEFAULT, RTL_ACTIVITY_TIMING, 5);
}

/* The library ignores a request with the number of the last one: whatever the page holds, a new request gets a new
 * number.
 */
static void a_request_always_has_a_new_number(void **state)
{
    (void)state;
    struct rtl_reader *reader;
    struct rtl_control_link link;
    pid_t pid = start_process(wishes_that_are_set);
    assert_int_equal(rtl_reader_open(pid, &reader, why, sizeof why), RTL_READER_OK);
    assert_int_equal(rtl_control_open(reader, &link, why, sizeof why), RTL_READER_OK);
    for (uint16_t there = 0; there < 10; there++) {
        link.page->word = rtl_control_encode((struct rtl_control_request){1, there, RTL_MODE_LITE});
        uint16_t number = rtl_control_request_mode(reader, &link, RTL_MODE_FULL);
        assert_int_not_equal(number, 5);
        assert_int_not_equal(number, there);
        assert_int_equal(rtl_control_requested_mode(reader, &link), RTL_MODE_FULL);
    }
    link.page->word = 0; /* zeroed */
    assert_int_equal(rtl_control_request_mode(reader, &link, RTL_MODE_FULL), 6);
    assert_int_equal(rtl_control_requested_mode(reader, &link), RTL_MODE_FULL);
    rtl_control_close(&link);
    rtl_reader_close(reader);
    end_process(pid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_decode_to_what_was_encoded),
        cmocka_unit_test(invalid_words_are_ignored),
        cmocka_unit_test(a_heartbeat_lasts_three_seconds),
        cmocka_unit_test(requests_change_the_mode),
        cmocka_unit_test(invalid_pages_are_refused),
        cmocka_unit_test(the_viewer_writes_to_no_file),
        cmocka_unit_test(concurrent_viewers_keep_each_others_words),
        cmocka_unit_test(a_request_always_has_a_new_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
