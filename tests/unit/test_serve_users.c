/* rtl-top serve: limits on each user's cost and number of series, and which values it trusts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/totals.h"

static void a_user_is_charged_for_its_processes(void **state)
{
    (void)state;
    const uint64_t second = 1000000000;
    struct rtl_users users = {.own = 7};
    struct rtl_user *a = rtl_user_of(&users, 1, 0), *b = rtl_user_of(&users, 2, 0), *own = rtl_user_of(&users, 7, 0);
    assert_ptr_equal(rtl_user_of(&users, 1, 0), a);
    assert_true(rtl_user_may_read(a, 1));
    rtl_user_charge(a, RTL_USER_BURST_NS + 30000000);
    assert_false(rtl_user_may_read(a, 2));
    assert_true(rtl_user_may_read(b, 2)); /* and no other user */
    /* a tenth of the time is this user's */
    assert_false(rtl_user_may_read(a, 290000000));
    assert_true(rtl_user_may_read(a, 310000000));
    /* credit and debt are bounded */
    assert_true(rtl_user_may_read(a, 100 * second));
    rtl_user_charge(a, RTL_USER_BURST_NS);
    assert_false(rtl_user_may_read(a, 100 * second));
    rtl_user_charge(a, UINT64_MAX);
    rtl_user_charge(a, UINT64_MAX);
    assert_false(rtl_user_may_read(a, 105 * second));
    assert_true(rtl_user_may_read(a, 107 * second));
    rtl_user_charge(own, 1000 * second);
    assert_true(rtl_user_may_read(own, 3));
    /* users beyond the table share the other slot */
    for (uid_t uid = 100; uid < 700; uid++)
        rtl_user_of(&users, uid, 0)->processes++;
    assert_int_equal(users.count, RTL_USERS_MAX);
    assert_ptr_equal(rtl_user_of(&users, 698, 0), rtl_user_of(&users, 699, 0));
}

/* Slots are for users with processes: a machine's many other users must not fill the table. */
static void a_users_slot_is_free_without_processes(void **state)
{
    (void)state;
    struct rtl_users users = {.own = 7};
    for (uid_t uid = 1000; uid < 2000; uid++)
        assert_int_equal(rtl_user_of(&users, uid, 0)->uid, uid);
    struct rtl_user *a = rtl_user_of(&users, 1, 0);
    a->processes = 1;
    struct rtl_user *b = rtl_user_of(&users, 2, 0), *own = rtl_user_of(&users, 7, 0);
    b->names = 1;
    assert_ptr_not_equal(a, b);
    assert_null(rtl_user_known(&users, 1000));
    /* a user with memory, a GPU or debt keeps the slot; the server's own user always does */
    const uint64_t second = 1000000000;
    for (uid_t uid = 200; uid < 230; uid++)
        rtl_user_of(&users, uid, 0)->gpus = 1;
    for (uid_t uid = 230; uid < 240; uid++)
        rtl_user_of(&users, uid, 0)->bytes = 1;
    for (uid_t uid = 300; uid < 1000; uid++)
        rtl_user_charge(rtl_user_of(&users, uid, 0), RTL_USER_BURST_NS);
    assert_ptr_equal(rtl_user_known(&users, 1), a);
    assert_ptr_equal(rtl_user_known(&users, 2), b);
    assert_ptr_equal(rtl_user_of(&users, 7, 0), own);
    assert_true(own->trusted && rtl_user_known(&users, 200) && rtl_user_known(&users, 235));
    struct rtl_user *several = rtl_user_of(&users, 999, 0);
    assert_true(several->several && !several->trusted);
    assert_ptr_equal(rtl_user_of(&users, (uid_t)-1, 0), several);
    assert_null(rtl_user_known(&users, (uid_t)-1));
    /* after the debt is paid a slot is free again */
    assert_int_equal(rtl_user_of(&users, 999, 10 * second)->uid, 999);
}

static void a_users_names_and_memory_are_bounded(void **state)
{
    (void)state;
    struct rtl_users users = {.own = 7};
    struct rtl_user *a = rtl_user_of(&users, 1, 0), *own = rtl_user_of(&users, 7, 0);
    const struct rtl_user *out;
    struct rtl_totals none = {.gpu_count = 0};
    uint32_t brought[3] = {0};
    for (int i = 0; i < 3; i++) {
        struct rtl_share before = rtl_user_share(a, &none, brought[i]), after = before;
        assert_int_equal(before.names, i < 2 ? RTL_PROCESS_NAMES : 0);
        after.names = 0;
        after.gpus = before.gpus ? before.gpus - 1 : 0;
        rtl_user_charge_share(a, &brought[i], &before, &after);
    }
    assert_int_equal(a->names, RTL_USER_NAMES);
    assert_int_equal(rtl_user_share(a, &none, 0).gpus, RTL_USER_GPUS - 3);
    rtl_user_release_names(a, brought[0]);
    assert_int_equal(rtl_user_share(a, &none, 0).names, RTL_PROCESS_NAMES);
    assert_int_equal(rtl_user_share(own, &none, 0).names, RTL_SERIES_MAX);
    a->processes = own->processes = RTL_USER_PROCESSES;
    assert_false(rtl_user_may_add_process(&users, a, false, &out));
    assert_true(rtl_user_may_add_process(&users, own, false, &out) && !out);
    uint64_t one = 0, other = 0;
    assert_true(rtl_user_may_hold(a, &one, RTL_USER_BYTES - 10));
    assert_false(rtl_user_may_hold(a, &other, 11));
    assert_int_equal(other, 0);
    assert_true(rtl_user_may_hold(a, &other, 10));
    assert_true(rtl_user_may_hold(a, &one, 100));
    assert_int_equal(a->bytes, 110);
    assert_false(rtl_user_may_hold(a, &one, UINT64_MAX));
    assert_int_equal(a->bytes, 10);
    /* the sum over users; the server's own user doesn't count */
    assert_true(rtl_user_may_hold(own, &one, 2ull * RTL_USERS_BYTES));
    assert_null(rtl_users_over_limit(&users));
    rtl_user_of(&users, 2, 0)->bytes = RTL_USERS_BYTES - 11;
    assert_null(rtl_users_over_limit(&users));
    rtl_user_of(&users, 3, 0)->bytes = 2;
    assert_ptr_equal(rtl_users_over_limit(&users), rtl_user_of(&users, 2, 0));
}

/* Processes of the user with the most processes are replaced, until all users have the same number. */
static void users_share_the_places(void **state)
{
    (void)state;
    struct rtl_users users = {.own = 7};
    const struct rtl_user *out;
    struct rtl_user *own = rtl_user_of(&users, 7, 0), *a = rtl_user_of(&users, 1, 0), *b = rtl_user_of(&users, 2, 0);
    struct rtl_user *c = rtl_user_of(&users, 3, 0);
    own->processes = 200;
    a->processes = 41;
    b->processes = 16;
    for (uint32_t taken = 0; rtl_user_may_add_process(&users, c, true, &out); taken++) {
        assert_true(taken < 60 && out && out->processes > c->processes + 1);
        rtl_user_known(&users, out->uid)->processes--;
        c->processes++;
    }
    assert_true(a->processes == 21 && b->processes == 16 && c->processes == 20);
    assert_int_equal(own->processes, 200);
    assert_true(rtl_user_may_add_process(&users, own, true, &out) && out == a);
    a->processes = b->processes = c->processes = 0;
    assert_false(rtl_user_may_add_process(&users, own, true, &out));
}

/* No user may have more entries than stay free, so several users can't use up a table. */
static void several_users_leave_names_and_gpus_for_others(void **state)
{
    (void)state;
    struct rtl_users users = {.own = 7};
    struct rtl_totals totals = {.gpu_count = 0};
    for (uid_t uid = 1; uid < 5; uid++) {
        struct rtl_user *user = rtl_user_of(&users, uid, 0);
        for (uint32_t brought = 0, i = 0; i < 100; i++) {
            struct rtl_share before = rtl_user_share(user, &totals, 0), after = before;
            assert_true(i || (before.names >= (uint32_t)RTL_SERIES_MAX >> (uid + 1) &&
                              before.gpus >= (uint32_t)RTL_SERVED_GPUS >> (uid + 1)));
            after.names = after.gpus = 0;
            totals.kernels.count += before.names;
            totals.gpu_count += before.gpus;
            rtl_user_charge_share(user, &brought, &before, &after);
        }
    }
    /* few long names use the room of many names */
    totals.kernels.count = 1;
    totals.kernels.text = RTL_SERIES_TEXT_MAX / 2;
    assert_int_equal(rtl_user_share(rtl_user_of(&users, 6, 0), &totals, 0).names, RTL_PROCESS_NAMES);
    totals.kernels.text += RTL_SERIES_TEXT_MAX / 4;
    assert_int_equal(rtl_user_share(rtl_user_of(&users, 6, 0), &totals, 0).names, RTL_SERIES_MAX / 8);
}

static void bring_ranges(struct rtl_totals *totals, const struct rtl_user *user, unsigned kind, const char *what,
                         uint32_t count)
{
    struct rtl_hip_api_row_snapshot *rows = calloc(count, sizeof *rows);
    struct rtl_hip_api_snapshot calls = {.count = count, .rows = rows};
    struct rtl_share share = {.credit = {.events = count}};
    for (uint32_t i = 0; i < count; i++) {
        rows[i].kind = kind;
        rows[i].name_bytes = (uint32_t)snprintf(rows[i].name, sizeof rows[i].name, "%s %u", what, i);
        rows[i].histogram.count = 1;
    }
    rtl_user_share_calls(user, totals, &share);
    rtl_totals_add_calls(totals, NULL, &calls, &share);
    free(rows);
}

static void one_users_ranges_leave_room_for_others(void **state)
{
    (void)state;
    struct rtl_users users = {.own = 7};
    struct rtl_totals totals;
    assert_true(rtl_totals_init(&totals, 10));
    const struct rtl_user *a = rtl_user_of(&users, 1, 0), *b = rtl_user_of(&users, 2, 0);
    for (int round = 0; round < 2; round++) {
        bring_ranges(&totals, a, RTL_HIP_API_RANGE, round ? "more" : "mine", RTL_SERIES_MAX);
        bring_ranges(&totals, a, RTL_HIP_API_LAUNCH, round ? "more" : "mine", RTL_SERIES_MAX);
        rtl_totals_settle(&totals, 1 + (uint64_t)round);
    }
    assert_int_equal(rtl_ranked_living(&totals.ranges), RTL_USER_NAMES);
    assert_int_equal(rtl_ranked_living(&totals.functions), RTL_USER_NAMES);
    bring_ranges(&totals, b, RTL_HIP_API_RANGE, "other", 3);
    bring_ranges(&totals, b, RTL_HIP_API_LAUNCH, "other", 3);
    assert_int_not_equal(rtl_ranked_find(&totals.ranges, "other 2", 7, 0, NULL), RTL_SERIES_OTHER);
    assert_int_not_equal(rtl_ranked_find(&totals.functions, "other 2", 7, RTL_HIP_API_LAUNCH, NULL), RTL_SERIES_OTHER);
    assert_int_equal(rtl_ranked_count_owned(&totals.ranges, 2), 3);
    rtl_totals_settle(&totals, 3);
    /* a forgotten range no longer counts for the user */
    rtl_totals_settle(&totals, 3 + RTL_RANGES_KEPT_NS);
    assert_true(rtl_ranked_count_owned(&totals.ranges, 1) <= 10);
    rtl_totals_free(&totals);
}

/* Long names count, too, even if they are few. */
static void long_names_count_as_several(void **state)
{
    (void)state;
    enum { KERNELS = 300 };
    static uint32_t series[2][RTL_KERNELS_MAX];
    struct rtl_users users = {.own = 7};
    struct rtl_totals totals;
    struct rtl_kernel_snapshot kernels[KERNELS] = {0};
    struct rtl_snapshot s = {.kernel_count = KERNELS, .kernels = kernels};
    char *text = malloc(RTL_NAME_MAX + KERNELS);
    assert_true(text && rtl_totals_init(&totals, 10));
    memset(text, 'x', RTL_NAME_MAX + KERNELS);
    for (uint32_t i = 0; i < KERNELS; i++)
        kernels[i] =
            (struct rtl_kernel_snapshot){.id = i, .name = text, .name_length = RTL_NAME_MAX - KERNELS + i, .calls = 1};
    struct rtl_share share = rtl_user_share(rtl_user_of(&users, 1, 0), &totals, 0);
    share.names = RTL_USER_NAMES;
    rtl_credit_add(&share.credit, 1000);
    rtl_totals_add(&totals, NULL, &s, series[0], &share);
    assert_true(share.refused > 0 && totals.kernels.text <= RTL_SERIES_TEXT_MAX / 2);
    uint64_t refused = share.refused;
    share = rtl_user_share(rtl_user_of(&users, 2, 0), &totals, 0);
    rtl_credit_add(&share.credit, 1000);
    kernels[0].name_length = RTL_NAME_MAX - 1;
    s.kernel_count = 1;
    rtl_totals_add(&totals, NULL, &s, series[1], &share);
    assert_int_equal(share.refused, 0);
    assert_int_equal(rtl_ranked_living(&totals.kernels), KERNELS - refused + 1);
    rtl_totals_free(&totals);
    free(text);
}

/* --- impossible numbers --- */

static void credit_grows_with_elapsed_time(void **state)
{
    (void)state;
    struct rtl_credit credit = {0};
    rtl_credit_add(&credit, 1000);
    rtl_credit_add(&credit, 500);
    assert_int_equal(credit.events, 1500);
    assert_int_equal(credit.busy_ns, 1500 * RTL_CREDIT_BUSY);
    assert_int_equal(credit.waited_ns, 1500 * RTL_CREDIT_WAITING);
    assert_int_equal(credit.bytes, 1500 * RTL_CREDIT_BYTES);
    rtl_credit_add(&credit, UINT64_MAX / 2);
    assert_true(credit.events == UINT64_MAX / 2 + 1500 && credit.bytes == UINT64_MAX);
}

enum { ROOM = 4 };

/* Set every count to `times`, each with a duration of `ns_each`. */
static void say(struct rtl_snapshot *s, uint64_t times, uint64_t ns_each)
{
    static uint64_t coarse[2][RTL_OCTAVES_MAX];
    static struct rtl_kernel_snapshot kernels[2][ROOM];
    static struct rtl_queue_snapshot queues[2][1];
    static struct rtl_agent_snapshot agents[2][1];
    static struct rtl_copies_snapshot copies[2][1];
    static const char *const names[ROOM] = {"a", "b", "c", "d"};
    int n = times > 1000; /* two of them are distinct */
    coarse[n][20] = times;
    struct rtl_histogram_copy h = {.count = times, .total_ns = times * ns_each, .coarse = coarse[n]};
    *s = (struct rtl_snapshot){.kernel_count = ROOM,
                               .kernels = kernels[n],
                               .queue_count = 1,
                               .queues = queues[n],
                               .agent_count = 1,
                               .agents = agents[n],
                               .copies_count = 1,
                               .copies = copies[n]};
    for (uint32_t i = 0; i < ROOM; i++)
        kernels[n][i] =
            (struct rtl_kernel_snapshot){.id = i, .name = names[i], .name_length = 1, .calls = times, .histogram = h};
    for (uint32_t i = 0; i < RTL_UNTIMED_LIMIT; i++)
        s->untimed[i] = times;
    queues[n][0].wait = h;
    agents[n][0].bdf = 0x300;
    agents[n][0].busy_ns = times * ns_each;
    for (int i = 0; i < RTL_IDLE_COUNT; i++)
        agents[n][0].idle[i] = (struct rtl_idle){.count = times, .total_ns = times * ns_each};
    copies[n][0] = (struct rtl_copies_snapshot){.count = times, .bytes = times * ns_each, .histogram = h};
}

static void impossible_numbers_add_nothing(void **state)
{
    (void)state;
    static uint32_t series[3][RTL_KERNELS_MAX];
    const uint64_t second = 1000000000;
    struct rtl_snapshot absurd, honest;
    struct rtl_totals totals;
    assert_true(rtl_totals_init(&totals, 1));
    struct rtl_share forger = {.names = 2, .gpus = 1}, other = {.names = 2, .gpus = 1};
    rtl_credit_add(&forger.credit, 10 * second);
    rtl_credit_add(&other.credit, 10 * second);
    say(&absurd, 1ull << 62, 3);
    rtl_totals_add(&totals, NULL, &absurd, series[0], &forger);
    rtl_totals_settle(&totals, 1);
    assert_int_equal(forger.untrue, ROOM + RTL_UNTIMED_LIMIT + 1 + 2 * RTL_IDLE_COUNT + 2);
    assert_int_equal(rtl_ranked_living(&totals.kernels), 0);
    /* of many shorter ones as many as fit */
    say(&absurd, 4 * second, 100);
    absurd.queue_count = absurd.agent_count = absurd.copies_count = 0;
    memset(absurd.untimed, 0, sizeof absurd.untimed);
    rtl_totals_add(&totals, NULL, &absurd, series[1], &forger);
    assert_true(forger.credit.events <= 2 * second);
    say(&honest, 100, 1000000);
    rtl_totals_add(&totals, NULL, &honest, series[2], &other);
    assert_int_equal(other.untrue, 0);
    const struct rtl_tally *family = &totals.families[RTL_FAMILY_OTHER];
    assert_int_equal(family->calls, 4 * second + ROOM * 100);
    assert_int_equal(family->times.values, 4 * second + ROOM * 100);
    assert_int_equal(totals.untimed[0], 100);
    assert_int_equal(totals.gpus[0].busy_ns, 100 * 1000000ull);
    assert_int_equal(totals.gpus[0].wait.values, 100);
    assert_int_equal(totals.gpus[0].copies[0].bytes, 100 * 1000000ull);
    /* the next frame starts from the last values, however often they come and go */
    say(&absurd, 1ull << 62, 3);
    rtl_totals_add(&totals, &absurd, &honest, series[0], &forger);
    rtl_totals_add(&totals, &honest, &absurd, series[0], &forger);
    assert_int_equal(family->calls, 4 * second + ROOM * 100);
    rtl_totals_free(&totals);
}

static void impossible_calls_add_nothing(void **state)
{
    (void)state;
    struct rtl_octave octave = {.bucket = {[5] = 1ull << 60}};
    struct rtl_hip_api_row_snapshot rows[2] = {{.kind = RTL_HIP_API_RANGE,
                                                .name_bytes = 1,
                                                .name = "a",
                                                .histogram = {.count = 7, .octave_count = 1, .octaves = &octave}},
                                               {.kind = RTL_HIP_API_RANGE,
                                                .name_bytes = 1,
                                                .name = "b",
                                                .errors = 1,
                                                .histogram = {.count = 7, .total_ns = 70}}};
    struct rtl_hip_api_snapshot calls = {.count = 2, .rows = rows};
    struct rtl_share share = {.ranges = 2};
    struct rtl_totals totals;
    assert_true(rtl_totals_init(&totals, 1));
    rtl_credit_add(&share.credit, 1000);
    rtl_totals_add_calls(&totals, NULL, &calls, &share);
    assert_int_equal(share.untrue, 1);
    assert_int_equal(share.credit.events, 1000 - 8);
    assert_int_equal(rtl_ranked_find(&totals.ranges, "a", 1, 0, NULL), RTL_SERIES_OTHER);
    assert_int_not_equal(rtl_ranked_find(&totals.ranges, "b", 1, 0, NULL), RTL_SERIES_OTHER);
    rtl_totals_free(&totals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_is_charged_for_its_processes),
        cmocka_unit_test(a_users_slot_is_free_without_processes),
        cmocka_unit_test(a_users_names_and_memory_are_bounded),
        cmocka_unit_test(users_share_the_places),
        cmocka_unit_test(several_users_leave_names_and_gpus_for_others),
        cmocka_unit_test(one_users_ranges_leave_room_for_others),
        cmocka_unit_test(long_names_count_as_several),
        cmocka_unit_test(credit_grows_with_elapsed_time),
        cmocka_unit_test(impossible_numbers_add_nothing),
        cmocka_unit_test(impossible_calls_add_nothing),
    };
    return cmocka_run_group_tests_name("serve, users", tests, NULL, NULL);
}
