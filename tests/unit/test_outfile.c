/* Output files: what may be replaced, and what remains after a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/outfile.h"

static char folder[] = "/tmp/rtl-outfile.XXXXXX", why[300];

/* Another user's action between two of our system calls; runs once. */
static void (*meanwhile)(void);

static void let_others(void)
{
    void (*act)(void) = meanwhile;
    meanwhile = NULL;
    if (act)
        act();
}

char *realpath(const char *restrict path, char *restrict out)
{
    let_others();
    assert_null(out);
    return canonicalize_file_name(path);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    let_others();
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/rtl-outfile.XXXXXX");
    return !mkdtemp(folder) || chdir(folder);
}

static int tear_down(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") || system(command);
}

static void make(const char *name, const char *text, mode_t mode)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(name, mode);
}

static const char *read_back(const char *name)
{
    static char text[64];
    FILE *f = fopen(name, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    return f ? text : NULL;
}

static int files(void)
{
    int count = -1;
    FILE *f = popen("ls -A | wc -l", "r");
    if (fscanf(f, "%d", &count) != 1)
        count = -1;
    pclose(f);
    return count;
}

static struct rtl_outfile *open_it(const char *path, bool force, const char *other)
{
    *why = 0;
    return rtl_outfile_open(path, &(struct rtl_outfile_options){force, {other}}, why, sizeof why);
}

static void put(struct rtl_outfile *file, const char *text)
{
    assert_int_equal(write(rtl_outfile_fd(file), text, strlen(text)), strlen(text));
}

static void a_new_file_exists_once_it_is_placed(void **state)
{
    (void)state;
    struct rtl_outfile *file = open_it("out", false, NULL);
    assert_non_null(file);
    assert_true(rtl_outfile_is_file(file));
    put(file, "one");
    assert_null(read_back("out"));
    assert_true(rtl_outfile_place(file, why, sizeof why));
    assert_string_equal(read_back("out"), "one");
    put(file, " two");
    assert_true(rtl_outfile_place(file, why, sizeof why)); /* a second call changes nothing */
    rtl_outfile_close(file);
    assert_string_equal(read_back("out"), "one two");
    assert_int_equal(files(), 1);
}

static void an_unplaced_file_leaves_nothing(void **state)
{
    (void)state;
    make("out", "old", 0600);
    struct rtl_outfile *file = open_it("out", true, NULL);
    assert_non_null(file);
    put(file, "new");
    rtl_outfile_close(file);
    assert_string_equal(read_back("out"), "old");
    assert_int_equal(files(), 1);
}

static void nothing_is_replaced_without_force(void **state)
{
    (void)state;
    struct stat info;
    make("out", "old", 0604);
    assert_null(open_it("out", false, NULL));
    assert_non_null(strstr(why, "--force"));
    struct rtl_outfile *file = open_it("out", true, NULL);
    put(file, "new");
    assert_true(rtl_outfile_place(file, why, sizeof why));
    rtl_outfile_close(file);
    assert_string_equal(read_back("out"), "new");
    assert_true(!stat("out", &info) && (info.st_mode & 07777) == 0604);
    file = open_it("late", false, NULL); /* created by another program meanwhile */
    make("late", "another's", 0600);
    assert_false(rtl_outfile_place(file, why, sizeof why));
    assert_non_null(strstr(why, "exists by now"));
    rtl_outfile_close(file);
    assert_string_equal(read_back("late"), "another's");
    assert_int_equal(files(), 2);
}

static void setuid_is_not_copied(void **state)
{
    (void)state;
    struct stat info;
    make("out", "old", 04711);
    struct rtl_outfile *file = open_it("out", true, NULL);
    assert_true(rtl_outfile_place(file, why, sizeof why));
    rtl_outfile_close(file);
    assert_true(!stat("out", &info) && (info.st_mode & 07777) == 0711);
}

static void the_input_is_never_the_output(void **state)
{
    (void)state;
    make("in.db", "data", 0600);
    assert_int_equal(link("in.db", "twin"), 0);
    assert_int_equal(symlink("in.db", "alias"), 0);
    assert_int_equal(mkdir("sub", 0700), 0);
    char absolute[100];
    snprintf(absolute, sizeof absolute, "%s/in.db", folder);
    const char *const names[] = {"in.db",         "./in.db",   "sub/../in.db", "twin",  "alias",
                                 "in.db-journal", "in.db-wal", "./in.db-shm",  absolute};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_null(open_it(names[i], true, "in.db"));
        assert_non_null(strstr(why, "is the recording itself"));
    }
    assert_null(open_it("./new", true, "new")); /* neither exists yet */
    struct rtl_outfile *file = open_it("in", true, "in.db"), *other = open_it("sub/in.db", true, "in.db");
    assert_true(file && other);
    rtl_outfile_close(file);
    rtl_outfile_close(other);
    assert_string_equal(read_back("in.db"), "data");
}

static void links_stay_and_are_followed(void **state)
{
    (void)state;
    char to[20] = "";
    make("real", "old", 0600);
    assert_int_equal(symlink("real", "link"), 0);
    assert_int_equal(symlink("nowhere", "astray"), 0);
    assert_null(open_it("link", false, NULL));
    assert_null(open_it("astray", true, NULL));
    struct rtl_outfile *file = open_it("link", true, NULL);
    put(file, "new");
    assert_true(rtl_outfile_place(file, why, sizeof why));
    rtl_outfile_close(file);
    assert_int_equal(readlink("link", to, sizeof to), 4);
    assert_string_equal(read_back("real"), "new");
    assert_null(read_back("nowhere"));
    assert_null(open_it(".", true, NULL));
    assert_null(open_it("", true, NULL));
    assert_null(open_it("none/out", true, NULL));
    assert_null(open_it("real/out", true, NULL));
    assert_null(open_it("real/", true, NULL));
}

static void devices_and_pipes_are_written_directly(void **state)
{
    (void)state;
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/null"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rtl_outfile *file = open_it(names[i], false, NULL);
        assert_non_null(file);
        assert_false(rtl_outfile_is_file(file));
        assert_true(rtl_outfile_place(file, why, sizeof why));
        rtl_outfile_close(file);
    }
    assert_null(open_it("/dev/fd/999999", false, NULL));
    assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0); /* it was not closed */
}

static void a_signal_deletes_the_unplaced_file(void **state)
{
    (void)state;
    pid_t child = fork();
    if (!child) {
        signal(SIGTERM, SIG_DFL);
        struct rtl_outfile *one = open_it("one", false, NULL), *two = open_it("two", false, NULL);
        put(one, "whole");
        put(two, "half");
        if (!rtl_outfile_place(one, why, sizeof why))
            _exit(1);
        raise(SIGTERM);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    assert_int_equal(files(), 1);
    assert_string_equal(read_back("one"), "whole");
}

static void lead_elsewhere(void)
{
    assert_int_equal(unlink("link"), 0);
    assert_int_equal(symlink("precious", "link"), 0);
}

static void lead_from_pipe(void)
{
    assert_int_equal(unlink("pipe"), 0);
    assert_int_equal(symlink("precious", "pipe"), 0);
}

/* In a folder that others can write to, a link may change before it is followed. */
static void an_output_link_that_changes_meanwhile_is_not_followed(void **state)
{
    (void)state;
    make("precious", "precious", 0600);
    make("theirs", "theirs", 0666);
    assert_int_equal(symlink("theirs", "link"), 0);
    meanwhile = lead_elsewhere;
    assert_null(rtl_outfile_open("link", &(struct rtl_outfile_options){.force = true}, why, sizeof why));
    assert_non_null(strstr(why, "link: another file"));
    assert_null(meanwhile);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    meanwhile = lead_from_pipe;
    assert_null(rtl_outfile_open("pipe", &(struct rtl_outfile_options){0}, why, sizeof why));
    assert_non_null(strstr(why, "pipe: another file"));
    assert_string_equal(read_back("precious"), "precious");
    assert_string_equal(read_back("theirs"), "theirs");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_exists_once_it_is_placed),    TEST(an_unplaced_file_leaves_nothing),
        TEST(nothing_is_replaced_without_force),      TEST(setuid_is_not_copied),
        TEST(the_input_is_never_the_output),          TEST(links_stay_and_are_followed),
        TEST(devices_and_pipes_are_written_directly), TEST(an_output_link_that_changes_meanwhile_is_not_followed),
        TEST(a_signal_deletes_the_unplaced_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
