/*
 * A runtime newer than any available one: it has a queue constructor whose slot in the table is unknown. The library
 * prints this once, and allows for packets in queues that it can't see.
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

/* Load the library with standard error in `said`. */
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

static void an_unknown_queue_constructor_is_reported_once(void **state)
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

static void seen_queues_are_counted_and_timed_by_library_signals_only(void **state)
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
        cmocka_unit_test(an_unknown_queue_constructor_is_reported_once),
        cmocka_unit_test(seen_queues_are_counted_and_timed_by_library_signals_only),
    };
    return cmocka_run_group_tests(tests, NULL, free_signals);
}
