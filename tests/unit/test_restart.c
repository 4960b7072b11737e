/* The command that starts an observed process again traced, from what /proc shows of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs these first */
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "text/text.h"
#include "watch/restart.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct rtl_restart r;

static struct rtl_restart_facts facts_of(const char *bytes, size_t size)
{
    return (struct rtl_restart_facts){{bytes, size}, "0::/user.slice/user-1000.slice/session-3.scope\n", "", "", ""};
}
#define FACTS(literal) facts_of(literal, sizeof literal)

static void a_command_line_is_repeated(void **state)
{
    (void)state;
    struct rtl_restart_facts facts = FACTS("/opt/venv/bin/python3\0-m\0vllm.entrypoints.openai.api_server\0--port=80");
    facts.folder = "/srv/models";
    rtl_restart_from(&facts, &r);
    assert_string_equal(
        r.whole,
        "cd /srv/models && rtl-top run -- /opt/venv/bin/python3 -m vllm.entrypoints.openai.api_server --port=80");
    assert_string_equal(r.brief, "rtl-top run -- python3 -m vllm.entrypoints.openai.api_server --port=80");
    facts.user = "llm";
    facts.folder = "";
    rtl_restart_from(&facts, &r);
    assert_ptr_equal(strstr(r.whole, "as user llm: rtl-top run -- /opt"), r.whole);
}

/* A shell that reads the command gets the same arguments. */
static void a_shell_reads_the_same_arguments(void **state)
{
    (void)state;
    static const char words[] = "printf\0%s|\0{\"a\": \"it's $HOME\"}\0\0a\\b `id`\0$HOME\0\x1b[2J\n\\n\xff"
                                "end\0\xe4\xb8\xad\0~\0*";
    static const char wanted[] = "{\"a\": \"it's $HOME\"}||a\\b `id`|$HOME|\x1b[2J\n\\n\xff"
                                 "end|\xe4\xb8\xad|~|*|";
    struct rtl_restart_facts facts = FACTS(words);
    static char script[2 * sizeof r], got[256];
    rtl_restart_from(&facts, &r);
    for (const char *at = r.whole; *at; at++)
        assert_true(*at >= 0x20 && *at < 0x7f);
    snprintf(script, sizeof script, "bash -c \"$(cat <<'END'\n%s\nEND\n)\"", r.whole + strlen("rtl-top run -- "));
    FILE *pipe = popen(script, "r");
    assert_non_null(pipe);
    got[fread(got, 1, sizeof got - 1, pipe)] = 0;
    assert_int_equal(pclose(pipe), 0);
    assert_string_equal(got, wanted);
}

static void a_service_and_a_container_get_their_own_advice(void **state)
{
    (void)state;
    struct rtl_restart_facts facts = FACTS("python3\0serve.py");
    facts.cgroup = "0::/system.slice/vllm@1.service\n";
    rtl_restart_from(&facts, &r);
    assert_string_equal(r.brief, "systemctl edit vllm@1.service");
    assert_non_null(strstr(r.whole, "rtl-top env --shell systemd"));
    assert_non_null(strstr(r.whole, "systemctl restart vllm@1.service"));
    facts.cgroup = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/llama.service\n";
    rtl_restart_from(&facts, &r);
    assert_string_equal(r.brief, "systemctl --user edit llama.service");
    facts.cgroup = "0::/system.slice/docker-" HEX64 ".scope\n";
    rtl_restart_from(&facts, &r);
    assert_string_equal(r.brief, "container 0123456789ab with rtl-top env --shell docker");
    facts.cgroup = "0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-" HEX64 ".scope\n";
    rtl_restart_from(&facts, &r);
    assert_string_equal(r.brief, "container 0123456789ab with rtl-top env --shell json");
    facts.own_cgroup = facts.cgroup; /* rtl-top runs in the same container */
    rtl_restart_from(&facts, &r);
    assert_string_equal(r.brief, "rtl-top run -- python3 serve.py");
}

/* These services start programs of their users: editing them would not start the program again. */
static void a_service_that_starts_others_is_not_edited(void **state)
{
    (void)state;
    static const char *const groups[] = {
        "0::/system.slice/ssh.service\n",
        "0::/system.slice/sshd.service\n",
        "0::/system.slice/cron.service\n",
        "0::/system.slice/slurmd.service\n",
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/tmux-spawn-1.scope\n",
        "0::/user.slice/user-1000.slice/user@1000.service\n",
        "0::/\n",
        "",
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        struct rtl_restart_facts facts = FACTS("python3\0serve.py");
        facts.cgroup = groups[i];
        rtl_restart_from(&facts, &r);
        assert_string_equal(r.whole, "rtl-top run -- python3 serve.py");
    }
}

static void a_title_is_no_command(void **state)
{
    (void)state;
    static const char *const titles[] = {"VLLM::Worker_TP0", "sglang::scheduler_TP1", "nginx: worker process", ""};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        struct rtl_restart_facts facts = facts_of(titles[i], strlen(titles[i]) + 1);
        rtl_restart_from(&facts, &r);
        assert_string_equal(r.whole, "start it with rtl-top run, or with the variables that rtl-top env prints");
    }
    struct rtl_restart_facts facts = FACTS("/srv/a b/c:d");
    rtl_restart_from(&facts, &r);
    assert_string_equal(r.brief, "rtl-top run -- c:d");
    facts = FACTS("serve\0-v\0\0\0\0\0"); /* a title that is shorter than the command line */
    rtl_restart_from(&facts, &r);
    assert_string_equal(r.brief, "rtl-top run -- serve -v");
}

static void any_command_line_has_an_end(void **state)
{
    (void)state;
    static char bytes[8192];
    for (int kind = 0; kind < 4; kind++)
        for (size_t size = 1; size < sizeof bytes; size += size < 600 ? 1 : 1201) {
            memset(bytes, "x\1 \xff"[kind], size);
            bytes[0] = '/';
            bytes[size] = 0;
            struct rtl_restart_facts facts = facts_of(bytes, size);
            memset(&r, 'z', sizeof r);
            rtl_restart_from(&facts, &r);
            size_t brief = strnlen(r.brief, sizeof r.brief), whole = strnlen(r.whole, sizeof r.whole);
            assert_true(brief < sizeof r.brief && whole < sizeof r.whole);
            assert_int_equal(rtl_text_columns(r.brief), brief);
            if (size > sizeof r.brief)
                assert_string_equal(r.brief + brief - 4, " ...");
        }
    struct rtl_restart_facts endless = FACTS("serve\0-v");
    for (size_t size = sizeof r.whole / 4 - 40; size < sizeof r.whole / 4 + 10;
         size++) { /* a folder fills the buffer */
        static char folder[sizeof r.whole];
        memset(folder, 1, size);
        endless.folder = folder;
        memset(&r, 'z', sizeof r);
        rtl_restart_from(&endless, &r);
        assert_true(strnlen(r.whole, sizeof r.whole) < sizeof r.whole);
        assert_string_equal(r.brief, "rtl-top run -- serve -v");
    }
    memset(bytes, 'x', sizeof bytes - 1); /* as much as is read: there may be more */
    struct rtl_restart_facts facts = facts_of(bytes, sizeof bytes - 1);
    rtl_restart_from(&facts, &r);
    assert_string_equal(r.whole + strlen(r.whole) - 5, "x ...");
}

/* A worker that the same program has started: its launcher's command. */
static void a_worker_is_started_by_its_launcher(void **state)
{
    (void)state;
    char first[sizeof r.whole], c;
    int started[2], ends[2];
    rtl_restart_read(getpid(), &r);
    assert_int_equal(r.pid, getpid());
    assert_non_null(strstr(r.whole, "test_restart"));
    snprintf(first, sizeof first, "%s", r.whole);
    assert_true(!pipe2(started, O_CLOEXEC) && !pipe(ends));
    pid_t child = fork();
    if (!child) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[1]);
        execl("/proc/self/exe", "worker", "--wait", NULL);
        _exit(127);
    }
    close(started[1]);
    assert_int_equal(read(started[0], &c, 1), 0); /* exec has closed the other end */
    rtl_restart_read(child, &r);
    close(ends[1]);
    waitpid(child, NULL, 0);
    close(ends[0]);
    close(started[0]);
    assert_string_equal(r.whole, first);
    rtl_restart_read(child, &r); /* it has ended */
    assert_string_equal(r.whole, "start it with rtl-top run, or with the variables that rtl-top env prints");
}

int main(int argc, char **argv)
{
    char c;
    if (argc > 1 && !strcmp(argv[1], "--wait")) /* the worker of a test: ends with its standard input */
        return read(STDIN_FILENO, &c, 1) != 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_line_is_repeated),
        cmocka_unit_test(a_shell_reads_the_same_arguments),
        cmocka_unit_test(a_service_and_a_container_get_their_own_advice),
        cmocka_unit_test(a_service_that_starts_others_is_not_edited),
        cmocka_unit_test(a_title_is_no_command),
        cmocka_unit_test(any_command_line_has_an_end),
        cmocka_unit_test(a_worker_is_started_by_its_launcher),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
