/* life_cases.c - self-tests of agents, threads, start and end of the runtime, and errors. */
#include "cases.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void case_agents(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int i = 0; i < h.gpus; i++) {
        char name[64], product[64];
        uint32_t bdf, cus;
        size_t vram;
        CHECK(hsa_agent_get_info(h.gpu[i], HSA_AGENT_INFO_NAME, name));
        CHECK(hsa_agent_get_info(h.gpu[i], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, product));
        CHECK(hsa_agent_get_info(h.gpu[i], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_BDFID, &bdf));
        CHECK(hsa_agent_get_info(h.gpu[i], (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &cus));
        CHECK(hsa_amd_memory_pool_get_info(h.vram[i], HSA_AMD_MEMORY_POOL_INFO_SIZE, &vram));
        printf("%s bdf %04x cus %u vram %zu GiB %s\n", name, bdf, cus, vram >> 30, product);
    }
}

void case_every_gpu(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (int g = 0; g < h.gpus; g++) {
        hsa_executable_t e = load_code(&h, g, code_file);
        uint64_t k = kernel_object(e, &h, g, "vg_short");
        hsa_queue_t *q = make_queue(&h, g, 64, true);
        hsa_signal_t s = signal_new(g + 1);
        for (int i = 0; i <= g; i++)
            dispatch(q, k, s, true);
        wait_zero(s);
    }
}

/* Each thread has its own queue and waits for interrupts; one kernel in eight is long. */
static void *one_thread(void *arg)
{
    int n = *(int *)arg;
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t quick = kernel_object(e, &h, 0, "vg_short"), slow = kernel_object(e, &h, 0, "vg_long");
    hsa_queue_t *q = make_queue(&h, 0, 64, true);
    hsa_signal_t s = signal_new(1);
    for (int i = 0; i < n; i++) {
        hsa_signal_store_relaxed(s, 1);
        dispatch(q, i % 8 ? quick : slow, s, true);
        wait_zero(s);
    }
    CHECK(hsa_queue_destroy(q));
    CHECK(hsa_signal_destroy(s));
    CHECK(hsa_executable_destroy(e));
    return NULL;
}

void case_threads(int argc, char **argv)
{
    enum { THREADS = 8 };
    int n = argc > 0 ? atoi(argv[0]) : 200;
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&t[i], NULL, one_thread, &n));
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

static void one_kernel(void)
{
    int n = 1;
    one_thread(&n);
}

void case_reinit(int argc, char **argv)
{
    int rounds = argc > 0 ? atoi(argv[0]) : 10;
    for (int i = 0; i < rounds; i++) {
        one_kernel();
        CHECK(hsa_shut_down());
        hsa_open(&h);
    }
}

static long resident_kb(void)
{
    char line[256];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb;
}

/* Create and destroy queues, 64 at a time. Prints the process's growth in kB over the last three quarters. */
void case_queues(int argc, char **argv)
{
    enum { AT_ONCE = 64 };
    int rounds = argc > 0 ? atoi(argv[0]) : 8;
    long before = 0;
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t k = kernel_object(e, &h, 0, "vg_short");
    for (int i = 0; i < rounds; i++) {
        hsa_queue_t *q[AT_ONCE];
        hsa_signal_t s = signal_new(AT_ONCE);
        for (int n = 0; n < AT_ONCE; n++)
            q[n] = make_queue(&h, 0, 64, true);
        for (int n = 0; n < AT_ONCE; n++)
            dispatch(q[n], k, s, true);
        wait_zero(s);
        for (int n = 0; n < AT_ONCE; n++)
            CHECK(hsa_queue_destroy(q[n]));
        CHECK(hsa_signal_destroy(s));
        if (i == rounds / 4)
            before = resident_kb();
    }
    printf("%ld\n", resident_kb() - before);
}

static void child_ends_well(pid_t pid)
{
    int status;
    REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail("child: status 0x%x", status);
}

/* Children that only exit, children that fork again, and work of the parent in between. */
void case_fork(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    one_kernel();
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (!pid) {
            pid_t grandchild = fork();
            if (!grandchild)
                _exit(0);
            child_ends_well(grandchild);
            _exit(0);
        }
        one_kernel();
        child_ends_well(pid);
    }
    /* After a process has shut the runtime down, its forked child can start it. */
    CHECK(hsa_shut_down());
    pid_t pid = fork();
    if (!pid) {
        hsa_open(&h);
        one_kernel();
        CHECK(hsa_shut_down());
        _exit(0);
    }
    child_ends_well(pid);
    hsa_open(&h);
    one_kernel();
}

/* A child execs another program on the GPU while the parent works. */
void case_exec(int argc, char **argv)
{
    REQUIRE(argc > 0);
    one_kernel();
    pid_t pid = fork();
    if (!pid) {
        execl(argv[0], argv[0], code_file, "reinit", "1", (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 20; i++)
        one_kernel();
    child_ends_well(pid);
}

/* End with kernels in flight: return, exit, _exit, abort, kill. */
void case_exit(int argc, char **argv)
{
    const char *how = argc > 0 ? argv[0] : "exit";
    hsa_executable_t e = load_code(&h, 0, code_file);
    uint64_t slow = kernel_object(e, &h, 0, "vg_long");
    hsa_queue_t *q = make_queue(&h, 0, 1024, true);
    hsa_signal_t s = signal_new(1000), first = signal_new(1);
    dispatch(q, slow, first, true);
    wait_zero(first);
    for (int i = 0; i < 100; i++)
        dispatch(q, slow, s, true);
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "exit"))
        exit(0);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "kill")) {
        kill(getpid(), SIGKILL);
        pause();
    }
}

/* Print the CPU time, in microseconds, of some idle seconds after some work, and how often its threads slept. With a
 * second argument a queue waits for the host meanwhile. */
void case_idle(int argc, char **argv)
{
    struct timespec pause = {argc > 0 ? atoi(argv[0]) : 2, 0}, t0, t1;
    struct rusage u0, u1;
    one_kernel();
    hsa_queue_t *q = make_queue(&h, 0, 1024, true);
    hsa_signal_t gate = signal_new(1), passed = signal_new(1);
    if (argc > 1)
        barrier_and(q, &gate, 1, passed, true);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    getrusage(RUSAGE_SELF, &u0);
    nanosleep(&pause, NULL);
    getrusage(RUSAGE_SELF, &u1);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    hsa_signal_store_screlease(gate, 0);
    if (argc > 1)
        wait_zero(passed);
    printf("%ld %ld\n", (t1.tv_sec - t0.tv_sec) * 1000000 + (t1.tv_nsec - t0.tv_nsec) / 1000,
           u1.ru_nvcsw - u0.ru_nvcsw);
    CHECK(hsa_queue_destroy(q));
}

/* Packets that every GPU rejects: the queue reports an error (status 3 from its callback). */
void case_bad_packet(int argc, char **argv)
{
    const char *what = argc > 0 ? argv[0] : "type";
    char packet[64] = {0};
    hsa_queue_t *q = make_queue(&h, 0, 64, true);
    if (!strcmp(what, "vendor")) {
        packet[2] = 77;
        submit(q, packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC);
    } else if (!strcmp(what, "kernel")) {
        submit(q, packet, HSA_PACKET_TYPE_KERNEL_DISPATCH);
    } else {
        submit(q, packet, 9);
    }
    sleep(120);
    fail("the queue reported no error");
}

/* A copy to an unmapped address: the runtime ends the process. */
void case_fault(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    void *from = alloc(&h, h.host, 4096);
    hsa_signal_t s = signal_new(1);
    CHECK(hsa_amd_memory_async_copy((void *)0x123450000000, h.gpu[0], from, h.cpu, 4096, 0, NULL, s));
    sleep(120);
    fail("no memory fault was reported");
}

/* Code is unloaded and other code loaded at its address: the names must change with it. */
void case_reload(int argc, char **argv)
{
    static const char *const names[] = {"vg_short", "vg_other"};
    int rounds = argc > 0 ? atoi(argv[0]) : 20, same = 0;
    uint64_t last = 0;
    long before = 0;
    hsa_queue_t *q = make_queue(&h, 0, 64, true);
    for (int i = 0; i < rounds; i++) {
        char file[4096];
        /* The other file has the kernels in another order, so each address gets another name. */
        snprintf(file, sizeof file, "%s%s", code_file, i % 2 ? ".swapped" : "");
        hsa_executable_t e = load_code(&h, 0, file);
        uint64_t k = kernel_object(e, &h, 0, names[i % 2]);
        same += k == last;
        last = k;
        hsa_signal_t s = signal_new(1);
        dispatch(q, k, s, true);
        wait_zero(s);
        CHECK(hsa_signal_destroy(s));
        CHECK(hsa_executable_destroy(e));
        if (i == rounds / 4)
            before = resident_kb();
    }
    printf("%d of %d at the same address, grown by %ld kB\n", same, rounds - 1, resident_kb() - before);
}
