/*
 * Files of a process that are never delivered. A pipe of this process, without data, stands for a page behind FUSE that
 * never comes. Readers give up after a while, other processes stay readable, and the reading threads end when they can.
 */
#include "process_fixture.h"

#include <errno.h>
#include <fcntl.h>

#include "shm/late_file.h"

static void files_are_read_as_they_are(void **state)
{
    char text[256], tiny[5];
    (void)state;
    ssize_t n = rtl_late_file(0, "cmdline", text, sizeof text);
    assert_true(n > 0 && strstr(text, "test_late_file"));
    assert_int_equal(rtl_late_file(0, "cmdline", tiny, sizeof tiny), 4);
    assert_memory_equal(tiny, text, 4);
    assert_int_equal(tiny[4], 0);
    assert_int_equal(rtl_late_file(INT32_MAX, "cmdline", text, sizeof text), -ENOENT);
}

static void sleeps(int ready)
{
    (void)ready;
}

static void an_undelivered_file_is_unknown(void **state)
{
    char text[64], file[16];
    int ends[2];
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    snprintf(file, sizeof file, "fd/%d", ends[0]);
    for (int i = 0; i < 20; i++) { /* no further thread waits for this process */
        assert_int_equal(rtl_late_file(0, file, text, sizeof text), -ETIMEDOUT);
        assert_string_equal(text, "");
    }
    await_threads(2);
    pid_t child = start_process(sleeps); /* another process stays readable */
    assert_true(rtl_late_file(child, "cmdline", text, sizeof text) > 0);
    end_process(child);
    close(ends[1]); /* the read ends, and then its thread */
    await_threads(1);
    assert_true(rtl_late_file(0, "cmdline", text, sizeof text) > 0);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_read_as_they_are),
        cmocka_unit_test(an_undelivered_file_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
