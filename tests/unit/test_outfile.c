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

/* Another user's action between two system calls of rtl-top: runs once, before the name is opened. */
static void (*meanwhile)(void);
static const char *meanwhile_at;

int openat(int at, const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    void (*act)(void) = meanwhile;
    if (act && !strncmp(name, meanwhile_at, strlen(meanwhile_at)) && !(flags & O_PATH && !strcmp(name, "pipe"))) {
        meanwhile = NULL;
        act();
    }
    return (int)syscall(SYS_openat, at, name, flags, mode);
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

static void put_link_there(void)
{
    assert_int_equal(unlink("theirs"), 0);
    assert_int_equal(symlink("precious", "theirs"), 0);
}

static void lead_from_pipe(void)
{
    assert_int_equal(unlink("pipe"), 0);
    assert_int_equal(symlink("precious", "pipe"), 0);
}

static void swap_folder(void)
{
    assert_int_equal(rename("sub", "moved"), 0);
    assert_int_equal(symlink("other", "sub"), 0);
}

static struct rtl_outfile *open_while(const char *path, void (*act)(void), const char *at)
{
    meanwhile = act;
    meanwhile_at = at;
    struct rtl_outfile *file = rtl_outfile_open(path, &(struct rtl_outfile_options){.force = true}, why, sizeof why);
    assert_null(meanwhile);
    return file;
}

/* In a folder that other users can write to, they may replace the name between any two steps of rtl-top. */
static void a_path_that_changes_meanwhile_leads_nowhere_else(void **state)
{
    (void)state;
    make("precious", "precious", 0600);
    make("theirs", "theirs", 0666);
    assert_int_equal(symlink("theirs", "link"), 0);
    void (*const acts[])(void) = {lead_elsewhere, put_link_there};
    const char *const when[] = {"theirs", ".rtl-top-"};
    for (int i = 0; i < 2; i++) {
        struct rtl_outfile *file = open_while("link", acts[i], when[i]);
        assert_non_null(file);
        put(file, "new");
        assert_true(rtl_outfile_place(file, why, sizeof why));
        rtl_outfile_close(file);
        assert_string_equal(read_back("theirs"), "new");
        assert_string_equal(read_back("precious"), "precious");
        unlink("link");
        assert_int_equal(symlink("theirs", "link"), 0);
    }
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_null(open_while("pipe", lead_from_pipe, "pipe"));
    assert_non_null(strstr(why, "pipe: another file"));
    assert_int_equal(mkdir("sub", 0700) | mkdir("other", 0700), 0);
    struct rtl_outfile *file = open_while("sub/out", swap_folder, "out");
    assert_true(file && rtl_outfile_place(file, why, sizeof why));
    rtl_outfile_close(file);
    assert_null(read_back("other/out"));
    assert_non_null(read_back("moved/out"));
    assert_string_equal(read_back("precious"), "precious");
}

/* Check that the path is refused with a line that has the reason. */
static void refuses(const char *path, const char *says)
{
    assert_null(open_it(path, true, NULL));
    if (!strstr(why, says) || strchr(why, '\n'))
        fail_msg("'%s' lacks '%s'", why, says);
}

static void links_and_files_of_other_users_are_refused(void **state)
{
    (void)state;
    static const mode_t shared[] = {01777, 0777, 01755};
    if (geteuid() != 0)
        skip(); /* only root can make another user's link */
    make("precious", "precious", 0600);
    assert_int_equal(mkdir("own", 0755) | mkdir("common", 0755) | symlink("../own", "common/folder"), 0);
    assert_int_equal(symlink("../precious", "common/link") | symlink("precious", "link"), 0);
    assert_int_equal(lchown("common/link", 65534, 65534) | lchown("link", 65534, 65534), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chmod("common", shared[i]), 0);
        refuses("common/link", "cannot write common/link: link is a link of another user");
        assert_int_equal(lchown("common/folder", 65534, 65534), 0);
        refuses("common/folder/out", "folder is a link of another user");
        assert_int_equal(lchown("common/folder", 0, 0), 0);
        rtl_outfile_close(open_it("common/folder/out", true, NULL)); /* root's link */
        assert_string_equal(why, "");
        make("common/planted", "theirs", 0666);
        assert_int_equal(chown("common/planted", 65534, 65534), 0);
        refuses("common/planted", "another user has put it");
        assert_int_equal(unlink("common/planted") | link("precious", "common/planted"), 0);
        refuses("common/planted", "second name");
        assert_int_equal(unlink("common/planted"), 0);
    }
    refuses("link", "link is a link of another user"); /* refused in the user's own folder, too */
    assert_int_equal(chmod("common", 0755) | lchown("common/folder", 65534, 65534), 0);
    rtl_outfile_close(open_it("common/folder/out", true, NULL)); /* only root could have put that folder there */
    assert_string_equal(why, "");
    assert_string_equal(read_back("precious"), "precious");
    assert_int_equal(symlink("loop", "loop"), 0);
    refuses("loop", "cannot write loop: Too many levels of symbolic links");
    refuses("loop/out", "cannot write loop/out: Too many levels of symbolic links");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_exists_once_it_is_placed),
        TEST(an_unplaced_file_leaves_nothing),
        TEST(nothing_is_replaced_without_force),
        TEST(setuid_is_not_copied),
        TEST(the_input_is_never_the_output),
        TEST(links_stay_and_are_followed),
        TEST(devices_and_pipes_are_written_directly),
        TEST(a_path_that_changes_meanwhile_leads_nowhere_else),
        TEST(links_and_files_of_other_users_are_refused),
        TEST(a_signal_deletes_the_unplaced_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
