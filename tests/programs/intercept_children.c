/*
 * intercept_children.c - children of a process that uses the GPU: intercept_children SCENE.
 *
 * Prints "launched KERNEL N" for the process's own dispatches and "child PID KERNEL N" for those of a child that has
 * its own runtime and lives as long as its parent, then "holding" until standard input closes. The results of calls in
 * a child that inherited a runtime are printed as "met ...".
 */
#include "intercept_hsa.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
static struct family family;
static _Atomic bool over;

enum { PATIENCE = 50 }; /* seconds until SIGALRM ends a child that hangs */

static void run_and_drain(hsa_queue_t *queue, unsigned kernel, int n)
{
    for (int i = 0; i < n; i++)
        launch(queue, family.object[kernel]);
    drain(queue);
}

static void print_launched(unsigned kernel, unsigned long n)
{
    printf("launched hsa_%02u %lu\n", kernel, n);
    fflush(stdout);
}

static void wait_for(pid_t child, int wanted, const char *what)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != wanted) {
        fprintf(stderr, "%s ended with %#x\n", what, (unsigned)status);
        die("a child ended wrongly");
    }
}

/* --- a child with its own runtime --- */

/* Dispatch, report it through the descriptor, and stay until standard input closes. */
static void live(unsigned kernel, int say)
{
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    hsa_queue_t *queue = open_queue(1024);
    run_and_drain(queue, kernel, 100 + (int)kernel);
    dprintf(say, "child %d hsa_%02u %d\n", (int)getpid(), kernel, 100 + (int)kernel);
    close(say);
    while (getchar() != EOF)
        ;
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
}

/* Print the children's messages until the last child has closed the descriptor. */
static void pass_on(int from)
{
    char text[4096];
    ssize_t n;
    while ((n = read(from, text, sizeof text)) > 0)
        fwrite(text, 1, (size_t)n, stdout);
    fflush(stdout);
    close(from);
}

/* This program's command line with another scene; the executable may be another release's loader. */
static void arguments(char **argv, int most, char *scene)
{
    static char line[65536];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), n = 0;
    ssize_t length = read(file, line, sizeof line - 1);
    close(file);
    for (char *at = line; at < line + length && n < most; at += strlen(at) + 1)
        argv[n++] = at;
    argv[n - 1] = scene;
    argv[n] = NULL;
}

/* Descriptor for messages of an exec'd child, opened by its parent. */
static int message_fd(void)
{
    const char *number = getenv("CHILDREN_SAY");
    return number ? atoi(number) : STDOUT_FILENO;
}

/* --- scenes --- */

/* Fork before the first use of the runtime: two runtimes, two processes that both count. */
static void scene_before(void)
{
    int say[2];
    if (pipe(say) != 0)
        die("pipe");
    pid_t child = fork();
    if (child == 0) {
        close(say[0]);
        live(1, say[1]);
        exit(4);
    }
    close(say[1]);
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    hsa_queue_t *queue = open_queue(1024);
    run_and_drain(queue, 0, 200);
    pass_on(say[0]);
    print_launched(0, 200);
    hold();
    wait_for(child, 4, "the child with a runtime");
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
}

/* vfork and exec, posix_spawn: each child uses its environment and nothing of its parent's. */
static void scene_spawn(void)
{
    int say[2];
    char *argv[64], as_vforked[] = "vforked", as_spawned[] = "spawned", number[16];
    if (!open_runtime() || pipe(say) != 0)
        die("no GPU");
    load_family(&family, "hsa_");
    hsa_queue_t *queue = open_queue(1024);
    run_and_drain(queue, 0, 100);
    snprintf(number, sizeof number, "%d", say[1]); /* descriptor for the new programs' live() */
    setenv("CHILDREN_SAY", number, 1);
    arguments(argv, 62, as_vforked);
    pid_t vforked = vfork();
    if (vforked == 0) {
        execv("/proc/self/exe", argv);
        _exit(9);
    }
    pid_t spawned, simple = vfork();
    if (simple == 0)
        _exit(3);
    wait_for(simple, 3, "vfork and _exit");
    arguments(argv, 62, as_spawned);
    if (vforked < 0 || posix_spawn(&spawned, "/proc/self/exe", NULL, NULL, argv, environ) != 0)
        die("spawn");
    close(say[1]);
    run_and_drain(queue, 0, 100);
    pass_on(say[0]);
    print_launched(0, 200);
    hold();
    wait_for(vforked, 0, "vfork and exec");
    wait_for(spawned, 0, "posix_spawn");
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
}

/*
 * Print what the runtime returns in a child that inherited it while its parent has work in flight. The test also reads
 * how the child ends, because not every release returns.
 */
static void meet(const char *what, hsa_status_t status)
{
    printf("met %s %#x\n", what, (unsigned)status);
    fflush(stdout);
}

static void meet_end(pid_t child, const char *what)
{
    int status = 0;
    waitpid(child, &status, 0);
    printf("met the end of %s %#x\n", what, (unsigned)status);
    fflush(stdout);
}

static void use_inherited(void)
{
    hsa_signal_t signal = {0};
    hsa_queue_t *made = NULL;
    hsa_executable_t executable = {0};
    alarm(PATIENCE);
    meet("hsa_init", hsa_init());
    meet("hsa_shut_down", hsa_shut_down());
    meet("executable_create",
         hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    meet("executable_freeze", hsa_executable_freeze(executable, NULL));
    meet("executable_destroy", hsa_executable_destroy(executable));
    meet("signal_create", hsa_signal_create(1, 0, NULL, &signal));
    if (signal.handle)
        meet("signal_destroy", hsa_signal_destroy(signal));
    pid_t grandchild = fork();
    if (grandchild == 0)
        _exit(hsa_signal_create(1, 0, NULL, &signal) == HSA_STATUS_SUCCESS ? 5 : 6);
    meet_end(grandchild, "a grandchild");
    meet("queue_create",
         hsa_queue_create(gpu_agent, 64, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &made));
    if (made)
        meet("queue_destroy", hsa_queue_destroy(made));
}

static void scene_inherit(void)
{
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    hsa_queue_t *queue = open_queue(1024);
    for (int i = 0; i < 100; i++)
        launch(queue, family.object[0]);
    pid_t child = fork();
    if (child == 0) {
        use_inherited();
        _exit(4);
    }
    meet_end(child, "the child");
    run_and_drain(queue, 0, 100);
    print_launched(0, 200);
    hold();
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
}

/* A child that starts the runtime again after its parent has shut it down. */
static void scene_after(void)
{
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    hsa_queue_t *queue = open_queue(1024);
    run_and_drain(queue, 0, 100);
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
    pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        hsa_status_t status = hsa_init();
        meet("hsa_init", status);
        if (status != HSA_STATUS_SUCCESS)
            _exit(5);
        if (!open_runtime())
            _exit(6);
        load_family(&family, "hsa_");
        queue = open_queue(1024);
        run_and_drain(queue, 1, 100);
        meet("hsa_queue_destroy", hsa_queue_destroy(queue));
        _exit(4);
    }
    meet_end(child, "the child");
    print_launched(0, 100);
    hold();
}

/* Children of all kinds while other threads dispatch, create and destroy. */
static void *rage_queues(void *data)
{
    unsigned long *launched = data;
    while (!over) {
        hsa_queue_t *queue = open_queue(256);
        for (int i = 0; i < 100; i++, (*launched)++)
            launch(queue, family.object[2]);
        drain(queue);
        must(hsa_queue_destroy(queue), "destroy queue");
    }
    return NULL;
}

static pid_t start_child(unsigned kind)
{
    static char name[] = "true";
    char *argv[] = {name, NULL};
    pid_t child = -1;
    if (kind == 0 && posix_spawnp(&child, "true", NULL, NULL, argv, environ) != 0)
        die("spawn");
    if (kind == 1) {
        child = vfork();
        if (child == 0) {
            execvp("true", argv);
            _exit(9);
        }
    }
    if (kind < 2)
        return child;
    child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        if (kind == 2)
            _exit(0);
        if (kind == 3) {
            execvp("true", argv);
            _exit(9);
        }
        pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(7);
        wait_for(grandchild, 7, "a grandchild");
        _exit(0);
    }
    return child;
}

static void scene_storm(void)
{
    enum { RAGERS = 3, CHILDREN = 60 };
    static const char *const kind[] = {"posix_spawn", "vfork and exec", "fork and _exit", "fork and exec", "two forks"};
    pthread_t thread[RAGERS];
    static unsigned long launched[RAGERS];
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    for (int i = 0; i < RAGERS; i++)
        pthread_create(&thread[i], NULL, rage_queues, &launched[i]);
    for (unsigned i = 0; i < CHILDREN; i++)
        wait_for(start_child(i % 5), 0, kind[i % 5]);
    over = true;
    for (int i = 0; i < RAGERS; i++)
        pthread_join(thread[i], NULL);
    print_launched(2, launched[0] + launched[1] + launched[2]);
    hold();
    must(hsa_shut_down(), "shut down");
}

int main(int argc, char **argv)
{
    const char *scene = argc > 1 ? argv[argc - 1] : "";
    if (strcmp(scene, "before") == 0)
        scene_before();
    else if (strcmp(scene, "spawn") == 0)
        scene_spawn();
    else if (strcmp(scene, "vforked") == 0)
        live(3, message_fd());
    else if (strcmp(scene, "spawned") == 0)
        live(4, message_fd());
    else if (strcmp(scene, "inherit") == 0)
        scene_inherit();
    else if (strcmp(scene, "after") == 0)
        scene_after();
    else if (strcmp(scene, "storm") == 0)
        scene_storm();
    else
        die("no such scene");
    return 0;
}
