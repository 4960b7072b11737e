/*
 * A runtime that is newer than any at hand: it has a creator of queues whose place in the table isn't known. That is
 * said, once, and what may go into such queues unseen is allowed for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime_fixture.h"

#include <stdio.h>
#include <unistd.h>

static char said[1024];

/* Loads the library with standard error in `said`. */
static void load(void)
{
    FILE *file = tmpfile();
    int before = dup(STDERR_FILENO);
    assert_non_null(file);
    dup2(fileno(file), STDERR_FILENO);
    assert_true(OnLoad(&root, 1, 0, NULL));
    dup2(before, STDERR_FILENO);
    close(before);
    memset(said, 0, sizeof said);
    ssize_t n = pread(fileno(file), said, sizeof said - 1, 0);
    assert_true(n >= 0);
    fclose(file);
}

static void it_is_said_once(void **state)
{
    (void)state;
    fill_tables();
    ext.version[2] = 0x10;
    load();
    assert_non_null(strstr(said, "librtl: this runtime may make queues in ways that can't be hooked"));
    assert_int_equal(strchr(said, '\n') - said, (long)strlen(said) - 1);
    assert_true(AT(rtl_tool.segment.header->notes) & RTL_NOTE_QUEUE_NOT_INTERCEPTED);
    OnUnload();
    fill_tables();
    load();
    assert_string_equal(said, "");
}

static void queues_that_are_seen_count_and_only_own_signals_tell_times(void **state)
{
    (void)state;
    hsa_queue_t *queue = app_queue();
    struct rtl_queue *line = counters_of();
    hsa_signal_t signal = app_signal(1);
    packet_t p = kernel_packet(KERNEL, 0), q = kernel_packet(KERNEL, signal.handle);
    hand_over(&p, 1);
    complete(&written[0], 1000000, 7);
    hand_over(&q, 1);
    complete(&written[0], 1000100, 7);
    wait_completed(line, 1);
    assert_int_equal(line->dispatches, 2);
    assert_int_equal(AT(line->untimed[RTL_UNTIMED_UNSAFE_SIGNAL]), 1);
    app_signal_destroy(signal);
    app_queue_destroy(queue);
    OnUnload();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_said_once),
        cmocka_unit_test(queues_that_are_seen_count_and_only_own_signals_tell_times),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
