/* rtl-top serve with many processes: which ones it reads, and which user the time is charged to. The processes are
 * children of the test.
 */
#include "process_fixture.h"

#include <stdlib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "serve/fleet.h"
#include "serve/render.h"
#include "shm/process.h"

/* A fleet of one process only, whose user is not the server's. */
static struct rtl_options only;

static struct rtl_fleet *fleet_of(pid_t pid)
{
    rtl_options_default(&only);
    only.pids[0] = pid;
    only.pid_count = 1;
    struct rtl_fleet *fleet = rtl_fleet_create(10, &only, false, false);
    assert_non_null(fleet);
    fleet->users.own = geteuid() + 1;
    return fleet;
}

static void look_around(struct rtl_fleet *fleet)
{
    fleet->scan_ns = 0;
    while (rtl_fleet_tick(fleet))
        ;
}

/* --- cost of a scan: replaces libc's, so that each readlink takes the time that the test sets --- */

static uint64_t link_ns, links_took_ns, stopped_ns; /* stopped_ns: the time of a stopped clock */

ssize_t readlink(const char *path, char *to, size_t bytes)
{
    links_took_ns += link_ns;
    return (ssize_t)syscall(SYS_readlinkat, AT_FDCWD, path, to, bytes);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    uint64_t ns = clock == CLOCK_THREAD_CPUTIME_ID ? links_took_ns : clock == CLOCK_MONOTONIC ? stopped_ns : 0;
    if (clock != CLOCK_THREAD_CPUTIME_ID && !ns)
        return (int)syscall(SYS_clock_gettime, clock, t);
    *t = (struct timespec){.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    return 0;
}

static void a_scan_is_charged_to_the_user_of_the_process(void **state)
{
    (void)state;
    pid_t pid = start_process(plain);
    struct rtl_fleet *fleet = fleet_of(pid);
    link_ns = RTL_USER_BURST_NS;
    look_around(fleet);
    struct rtl_user *user = rtl_user_known(&fleet->users, geteuid());
    assert_true(user && user->left_ns < 0);
    rtl_fleet_free(fleet);
    end_process(pid);

    /* and a user in debt is not scanned until the debt is paid */
    pid = start_process(traced);
    fleet = fleet_of(pid);
    link_ns = 0;
    user = rtl_user_of(&fleet->users, geteuid(), rtl_mono_ns());
    rtl_user_charge(user, UINT64_MAX);
    look_around(fleet);
    assert_int_equal(fleet->count, 0);
    user->left_ns = RTL_USER_BURST_NS;
    look_around(fleet);
    assert_int_equal(fleet->count, 1);
    assert_ptr_equal(fleet->served[0]->user, user);
    assert_int_equal(user->processes, 1);
    rtl_fleet_free(fleet);
    end_process(pid);
}

/* The check for an exit costs time, too: a process with many mappings and closed descriptors takes long. */
static void checking_for_an_exit_is_charged(void **state)
{
    (void)state;
    pid_t pid = start_process(traced);
    struct rtl_fleet *fleet = fleet_of(pid);
    look_around(fleet);
    assert_int_equal(fleet->count, 1);
    end_process(pid);
    fleet->scan_ns = UINT64_MAX;
    rtl_user_charge(fleet->served[0]->user, UINT64_MAX);
    rtl_fleet_tick(fleet);
    assert_int_equal(fleet->served[0]->ended_ns, 0);
    fleet->served[0]->user->left_ns = RTL_USER_BURST_NS;
    rtl_fleet_tick(fleet);
    assert_int_equal(fleet->count, 0);
    assert_int_equal(fleet->ended, 1);
    rtl_fleet_free(fleet);
}

static void users_without_processes_use_no_slot(void **state)
{
    (void)state;
    pid_t pid = start_process(plain);
    struct rtl_fleet *fleet = fleet_of(pid);
    look_around(fleet);
    assert_int_equal(fleet->count, 0);
    assert_null(rtl_user_known(&fleet->users, geteuid()));
    rtl_fleet_free(fleet);
    end_process(pid);
}

/* --- who pays --- */

enum { MALLORY = 54321, MALLORYS_SECOND = 54322 };

/* As after a user's exec of a program that becomes root: only the segment still belongs to the user. */
static void root_with_a_users_segment(int ready)
{
    if (seteuid(MALLORY))
        _exit(1);
    traced(ready);
    if (seteuid(0) || prctl(PR_SET_PDEATHSIG, SIGKILL)) /* changes of the user clear it */
        _exit(1);
}

/* As during the exec of a set-user-ID program that root has given a segment. */
static void users_process_as_root(int ready)
{
    traced(ready);
    if (setresuid(MALLORY, 0, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL))
        _exit(1);
}

/* A namespace has many uids for its owner; the test maps one of them to 0 there. */
static void in_a_users_namespace(int ready)
{
    if (setresuid(MALLORY, MALLORY, MALLORY) || unshare(CLONE_NEWUSER))
        _exit(1);
    *forked = 1;
    while (*forked != 2)
        sched_yield();
    if (setresuid(0, 0, 0) || unshare(CLONE_NEWUSER) ||
        prctl(PR_SET_PDEATHSIG, SIGKILL)) /* and an inner namespace, which the other uid owns */
        _exit(1);
    traced(ready);
}

static void map_ids(const char *which, int outside)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)forked[1], which);
    FILE *map = fopen(path, "w");
    if (!map || fprintf(map, "0 %d 1\n", outside) < 0 || fclose(map))
        _exit(1);
}

static void map_another_user(void)
{
    while (*forked != 1)
        sched_yield();
    map_ids("uid_map", MALLORYS_SECOND);
    map_ids("gid_map", 0);
    *forked = 2;
}

static void in_a_users_namespace_noted(int ready)
{
    forked[1] = getpid();
    in_a_users_namespace(ready);
}

static uid_t charged(pid_t pid)
{
    struct rtl_fleet *fleet = fleet_of(pid);
    fleet->users.own = 0;
    look_around(fleet);
    assert_int_equal(fleet->count, 1);
    uid_t uid = fleet->served[0]->user->uid;
    assert_int_equal(fleet->served[0]->user->trusted, uid == 0);
    rtl_fleet_free(fleet);
    end_process(pid);
    return uid;
}

static void the_user_behind_a_process_of_root_pays(void **state)
{
    (void)state;
    if (geteuid() || FIXTURE_TSAN) /* its thread may not create a user namespace */
        skip();
    assert_int_equal(charged(start_process(traced)), 0);
    assert_int_equal(charged(start_process(root_with_a_users_segment)), MALLORY);
    assert_int_equal(charged(start_process(users_process_as_root)), MALLORY);
    *forked = 0;
    pid_t helper = fork();
    if (!helper) {
        map_another_user();
        _exit(0);
    }
    pid_t pid = start_process(in_a_users_namespace_noted);
    assert_int_equal(waitpid(helper, NULL, 0), helper);
    assert_int_equal(charged(pid), MALLORY);
}

static void gives_up_root_when_told(int ready)
{
    traced(ready);
    say_ready(ready);
    while (*forked != 1)
        sched_yield();
    if (setresuid(MALLORY, MALLORY, MALLORY) || prctl(PR_SET_PDEATHSIG, SIGKILL))
        _exit(1);
    *forked = 2;
    for (;;)
        pause();
}

/* A process changes from root to a user: all its memory is charged to the user. */
static void a_process_that_changes_its_user_is_charged_to_the_new_one(void **state)
{
    (void)state;
    if (geteuid())
        skip();
    *forked = 0;
    pid_t pid = start_process(gives_up_root_when_told);
    struct rtl_fleet *fleet = fleet_of(pid);
    fleet->users.own = 0;
    look_around(fleet);
    rtl_fleet_collect(fleet);
    struct rtl_served *s = fleet->served[0];
    assert_true(s->user->trusted && s->bytes && s->user->processes == 1);
    *forked = 1;
    while (*forked != 2)
        sched_yield();
    look_around(fleet);
    const struct rtl_user *root = rtl_user_known(&fleet->users, 0);
    assert_true(s->user->uid == MALLORY && s->user->bytes == s->bytes && s->user->processes == 1);
    assert_true(!root->bytes && !root->processes);
    rtl_fleet_free(fleet);
    end_process(pid);
}

/* --- places --- */

static void users_traced(int ready)
{
    if (setresuid(MALLORY, MALLORY, MALLORY) || prctl(PR_SET_PDEATHSIG, SIGKILL))
        _exit(1);
    traced(ready);
}

static uint64_t timed_in_all(const struct rtl_fleet *fleet)
{
    uint64_t sum = 0;
    for (int f = 0; f < RTL_FAMILY_COUNT; f++)
        sum += fleet->totals.families[f].times.values;
    return sum;
}

/* A process of another user replaces one. The replaced process gets a place again, and its counts aren't added twice.
 */
static void a_user_with_many_processes_makes_room(void **state)
{
    (void)state;
    if (geteuid())
        skip();
    pid_t late = start_process(traced), other = start_process(users_traced);
    struct rtl_process self;
    struct rtl_fleet *fleet = fleet_of(late);
    assert_int_equal(rtl_process_read(getpid(), &self), 0);
    look_around(fleet);
    rtl_fleet_collect(fleet);
    assert_int_equal(timed_in_all(fleet), 10);
    struct rtl_user *user = fleet->served[0]->user;
    while (fleet->count < RTL_SERVED_MAX) { /* older processes of this user, without a segment */
        struct rtl_served *s = calloc(1, sizeof *s);
        *s = (struct rtl_served){.pid = getpid(), .start_time = self.start_time, .user = user, .api = -1};
        fleet->served[fleet->count++] = s;
        user->processes++;
    }
    only.pids[only.pid_count++] = other;
    look_around(fleet);
    look_around(fleet);
    assert_int_equal(fleet->count, RTL_SERVED_MAX);
    assert_int_equal(user->processes, RTL_SERVED_MAX - 1);
    assert_int_equal(rtl_user_known(&fleet->users, MALLORY)->processes, 1);
    assert_int_equal(fleet->left_out, 1);
    assert_int_equal(fleet->evicted_count, 1);
    rtl_fleet_collect(fleet);
    assert_int_equal(timed_in_all(fleet), 20);
    while (fleet->served[0]->pid == getpid() || fleet->count > 1) { /* until the older ones are removed */
        uint32_t at = fleet->served[0]->pid == getpid() ? 0 : 1;
        free(fleet->served[at]);
        fleet->served[at] = fleet->served[--fleet->count];
        user->processes--;
    }
    look_around(fleet);
    assert_int_equal(fleet->count, 2);
    assert_int_equal(fleet->evicted_count, 0);
    rtl_fleet_collect(fleet);
    assert_true(fleet->served[1]->has_snapshot);
    assert_int_equal(timed_in_all(fleet), 20);
    rtl_fleet_free(fleet);
    end_process(late);
    end_process(other);
}

/* --- memory --- */

/* Each row has its own name: the same text from another start. */
static void with_names_of_one_text(int ready)
{
    enum { ROWS = 256 };
    static char text[RTL_NAME_MAX];
    traced(ready);
    memset(text, 'n', sizeof text);
    rtl_segment_add_kernel(&segment, text, sizeof text, 0x2000);
    uint32_t first = segment.header->kernel_count - 1;
    for (uint32_t i = 1; i < ROWS; i++) {
        segment.kernels[first + i] = segment.kernels[first];
        segment.kernels[first + i].name_offset += i;
        segment.kernels[first + i].name_length -= 256;
    }
    segment.header->kernel_count = first + ROWS;
}

static void names_count_as_memory(void **state)
{
    (void)state;
    const uint64_t least = 255ull * (RTL_NAME_MAX - 256);
    pid_t pid = start_process(with_names_of_one_text);
    struct rtl_fleet *fleet = fleet_of(pid);
    look_around(fleet);
    assert_int_equal(fleet->count, 1);
    rtl_fleet_collect(fleet);
    struct rtl_served *s = fleet->served[0];
    assert_true(s->has_snapshot && !s->too_large);
    assert_true(s->bytes > least && s->user->bytes == s->bytes);
    assert_true(s->bytes < least + (1 << 20)); /* unused rows use none */
    /* in total the users exceed the limit: the largest user is left out, though below a single user's limit */
    for (uid_t uid = 60000; uid < 60050; uid++) {
        rtl_user_of(&fleet->users, uid, 0)->bytes = RTL_USERS_BYTES / 50;
        rtl_user_of(&fleet->users, uid, 0)->processes = 1;
    }
    assert_true(least > RTL_USERS_BYTES / 50);
    rtl_fleet_collect(fleet);
    assert_true(s->too_large && !s->has_snapshot && !s->attach.reader);
    assert_int_equal(s->bytes, 0);
    assert_null(rtl_users_over_limit(&fleet->users));
    rtl_fleet_collect(fleet);
    look_around(fleet);
    assert_true(fleet->count == 1 && !s->attach.reader);
    rtl_fleet_free(fleet);
    end_process(pid);
}

/* --- impossible numbers --- */

static void with_absurd_numbers(int ready)
{
    traced(ready);
    segment.dispatches[RTL_KERNEL_FIRST].calls = 1ull << 60;
    segment.histograms[RTL_KERNEL_FIRST].total_ns = 1ull << 60;
}

static void numbers_impossible_for_the_age_of_a_process_are_ignored(void **state)
{
    (void)state;
    void (*const bodies[])(int) = {traced, with_absurd_numbers};
    for (int i = 0; i < 2; i++) {
        uint64_t began = rtl_clock_ns(CLOCK_BOOTTIME) / RTL_TICK_NS * RTL_TICK_NS;
        pid_t pid = start_process(bodies[i]);
        struct rtl_fleet *fleet = fleet_of(pid);
        look_around(fleet);
        assert_int_equal(fleet->count, 1);
        rtl_fleet_collect(fleet);
        assert_true(fleet->served[0]->has_snapshot);
        assert_int_equal(timed_in_all(fleet), i ? 0 : 10);
        assert_int_equal(fleet->untrue, i);
        /* of a process that has just begun, not of the machine */
        uint64_t first = fleet->served[0]->credit.events;
        assert_true(first <= rtl_clock_ns(CLOCK_BOOTTIME) - began);
        rtl_fleet_collect(fleet);
        assert_true(fleet->served[0]->credit.events > first);
        assert_int_equal(fleet->untrue, i);
        rtl_fleet_free(fleet);
        end_process(pid);
    }
}

/* --- pages --- */

enum { KERNELS = 1000, PROCESSES = 64, NAME = 190 };

/* Unread processes with the same kernels, whose names have the maximum length of a page. */
static struct rtl_fleet *crowd(char letter)
{
    static char names[KERNELS][NAME + 1];
    static struct rtl_kernel_snapshot kernels[KERNELS];
    static uint32_t series[RTL_KERNELS_MAX];
    static struct rtl_served served[PROCESSES];
    struct rtl_fleet *fleet = rtl_fleet_create(KERNELS, &only, false, false);
    struct rtl_share share = {.names = RTL_SERIES_MAX, .credit = {.events = 2 * KERNELS, .busy_ns = UINT64_MAX}};
    assert_non_null(fleet);
    memset(series, 0, sizeof series);
    for (uint32_t i = 0; i < KERNELS; i++) {
        memset(names[i], letter, NAME);
        names[i][snprintf(names[i], NAME, "%u", i)] = letter;
        kernels[i] = (struct rtl_kernel_snapshot){
            .id = i, .name = names[i], .name_length = NAME, .calls = 1, .histogram = {.count = 1, .total_ns = 1000}};
    }
    struct rtl_snapshot snapshot = {.kernel_count = KERNELS, .kernels = kernels};
    rtl_totals_add(&fleet->totals, NULL, &snapshot, series, &share);
    rtl_totals_settle(&fleet->totals, 1);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        served[i] = (struct rtl_served){
            .pid = 4000000 + (pid_t)i, .api = -1, .series = series, .snapshot = snapshot, .has_snapshot = true};
        served[i].user = rtl_user_of(&fleet->users, 1, 0);
        fleet->served[fleet->count++] = &served[i];
    }
    return fleet;
}

static void crowd_free(struct rtl_fleet *fleet)
{
    fleet->count = 0;
    rtl_fleet_free(fleet);
}

static uint32_t count_of(const struct rtl_page *page, const char *what)
{
    uint32_t count = 0;
    for (const char *at = page->text, *end = at + page->used; (at = memmem(at, (size_t)(end - at), what, strlen(what)));
         at++)
        count++;
    return count;
}

static void many_processes_with_many_kernels_fit_on_a_page(void **state)
{
    (void)state;
    struct rtl_fleet *fleet = crowd('k');
    struct rtl_serve_facts facts = {0};
    struct rtl_page page;
    char last[80];
    rtl_page_begin(&page, RTL_FORMAT_TEXT, 1);
    rtl_render(fleet, &facts, &page);
    assert_true(rtl_page_end(&page));
    assert_int_equal(count_of(&page, "\nrtl_process_kernel_duration_seconds_sum{"), RTL_SERVED_PROCESS_KERNELS);
    /* each process has the same number of kernels */
    snprintf(last, sizeof last, "\nrtl_process_kernel_duration_seconds_sum{pid=\"%d\"", 4000000 + PROCESSES - 1);
    assert_int_equal(count_of(&page, last), RTL_SERVED_PROCESS_KERNELS / PROCESSES);
    rtl_page_free(&page);
    crowd_free(fleet);
}

static void an_oversized_page_is_not_rebuilt_all_the_time(void **state)
{
    (void)state;
    struct rtl_fleet *fleet = crowd('"');
    struct rtl_pages pages = {0};
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(!bind(listening, (struct sockaddr *)&here, sizeof here) && !listen(listening, 1));
    struct rtl_http *http = rtl_http_start(listening, NULL, NULL);
    assert_non_null(http);
    stopped_ns = 1000000000;
    for (uint32_t i = 0; i < PROCESSES; i++)
        fleet->served[i]->ended_ns = 1; /* so that no process is read */
    assert_null(rtl_pages_get(&pages, fleet, http, RTL_FORMAT_TEXT, 4));
    assert_null(rtl_pages_get(&pages, fleet, http, RTL_FORMAT_TEXT, 4));
    assert_int_equal(pages.made, 1);
    stopped_ns += RTL_PAGE_NS - 1;
    assert_null(rtl_pages_get(&pages, fleet, http, RTL_FORMAT_TEXT, 4));
    assert_int_equal(pages.made, 1);
    /* another format fits, and is built as often */
    struct rtl_http_body *body = rtl_pages_get(&pages, fleet, http, RTL_FORMAT_PROTOBUF, 1);
    assert_non_null(body);
    assert_ptr_equal(rtl_pages_get(&pages, fleet, http, RTL_FORMAT_PROTOBUF, 1), body);
    assert_int_equal(pages.made, 2);
    stopped_ns++;
    assert_null(rtl_pages_get(&pages, fleet, http, RTL_FORMAT_TEXT, 4));
    assert_int_equal(pages.made, 3);
    stopped_ns = 0;
    rtl_pages_free(&pages);
    rtl_http_stop(http);
    crowd_free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_is_charged_to_the_user_of_the_process),
        cmocka_unit_test(checking_for_an_exit_is_charged),
        cmocka_unit_test(the_user_behind_a_process_of_root_pays),
        cmocka_unit_test(a_process_that_changes_its_user_is_charged_to_the_new_one),
        cmocka_unit_test(a_user_with_many_processes_makes_room),
        cmocka_unit_test(names_count_as_memory),
        cmocka_unit_test(numbers_impossible_for_the_age_of_a_process_are_ignored),
        cmocka_unit_test(many_processes_with_many_kernels_fit_on_a_page),
        cmocka_unit_test(an_oversized_page_is_not_rebuilt_all_the_time),
        cmocka_unit_test(users_without_processes_use_no_slot),
    };
    forked = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests_name("serve among processes", tests, NULL, NULL);
}
