/*
 * intercept_auto.c - a process whose tracing mode changes while it runs. It executes commands from standard input, one
 * a line, and prints "did COMMAND" after each.
 *
 *   run N      N kernels on one queue, none with a signal; waits for them
 *   sign N     N kernels one after another on one signal; the signal's times must be those of the latest kernel
 *   flow       start two threads that dispatch, with signals and without, and wait now and then
 *   ebb        stop these threads
 *   slow       a kernel that takes as long as the test's script says, without waiting for it
 *   late       put the slow kernel's signal on another kernel once the slow one has ended
 *   scribble N write random words to the control page from another thread, as fast as possible, during N dispatches
 *   wish N     likewise with words that viewers could write, of all modes but off
 *   fork       a child that dispatches nothing and ends
 *
 * At the end of the input it prints "launched KERNEL N" for every kernel, and ends.
 */
#include "intercept_hsa.h"

#include <hsa/amd_hsa_signal.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "shm/control.h"

enum { FLOWS = 2, SOME = 10, SLOW = 99 };

static struct family sign;
static unsigned long launched[FAMILY];
static hsa_queue_t *queue, *aside;
static _Atomic bool flowing, scribbling;
static pthread_t flow[FLOWS], scribbler;
static hsa_signal_t slow_signal;

static void send_kernel(hsa_queue_t *to, unsigned kernel, hsa_signal_t signal)
{
    __atomic_fetch_add(&launched[kernel], 1, __ATOMIC_RELAXED);
    launch_packet(to, sign.object[kernel], signal, BARRIER_BIT, true);
}

static hsa_signal_t new_signal(void)
{
    hsa_signal_t signal;
    must(hsa_signal_create(1, 0, NULL, &signal), "signal");
    return signal;
}

static void wait_for(hsa_signal_t signal)
{
    while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1)
        ;
}

/* Kernel k takes 100 * (k + 1) ticks: whatever the mode, the application must read its own kernel's time. */
static void send_signalled(hsa_queue_t *to, unsigned kernel, hsa_signal_t signal)
{
    const amd_signal_t *memory = (const amd_signal_t *)(uintptr_t)signal.handle;
    hsa_signal_store_relaxed(signal, 1);
    send_kernel(to, kernel, signal);
    wait_for(signal);
    if (memory->end_ts - memory->start_ts != 100 * (kernel + 1))
        die("the application's own signal has another kernel's times, or none");
}

static void run_unsignalled(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        send_kernel(queue, i % SOME, (hsa_signal_t){0});
        if (i % 512 == 511)
            drain(queue);
    }
    drain(queue);
}

static void *flow_on(void *data)
{
    hsa_queue_t *own = open_queue(1024);
    hsa_signal_t signal = new_signal();
    (void)data;
    for (unsigned i = 0; flowing; i++) {
        for (unsigned k = 0; k < SOME; k++)
            send_kernel(own, k, (hsa_signal_t){0});
        send_signalled(own, i % SOME, signal);
    }
    drain(own);
    must(hsa_signal_destroy(signal), "destroy signal");
    must(hsa_queue_destroy(own), "destroy queue");
    return NULL;
}

static struct rtl_control *control_page(void)
{
    char path[40], link[80];
    for (int fd = 0; fd < 2048; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, link, sizeof link - 1);
        if (n <= 0)
            continue;
        link[n] = '\0';
        if (!strstr(link, RTL_CONTROL_NAME))
            continue;
        int again = open(path, O_RDWR | O_CLOEXEC);
        void *page = mmap(NULL, RTL_CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0);
        close(again);
        if (page != MAP_FAILED)
            return page;
    }
    die("no control page");
}

static void *scribble(void *data)
{
    struct rtl_control *page = control_page();
    struct rtl_control was = *page;
    bool wishes = data != NULL;
    static const uint8_t modes[] = {RTL_MODE_LITE, RTL_MODE_DEFAULT, RTL_MODE_FULL, RTL_MODE_AUTO, RTL_MODE_NONE};
    uint64_t random = 88172645463325252ull;
    while (scribbling) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t word = random;
        if (wishes)
            word = rtl_control_encode((struct rtl_control_request){(uint16_t)random, (uint16_t)(random >> 16),
                                                                   modes[(random >> 32) % sizeof modes]});
        __atomic_store_n(&page->word, word, __ATOMIC_RELAXED);
        page->magic = page->version = page->bytes = (uint32_t)random; /* the library never reads these */
    }
    page->magic = was.magic; /* viewers do read them */
    page->version = was.version;
    page->bytes = was.bytes;
    if (wishes) /* end with a valid request */
        __atomic_store_n(&page->word, rtl_control_encode((struct rtl_control_request){7, 4711, RTL_MODE_DEFAULT}),
                         __ATOMIC_RELAXED);
    munmap(page, RTL_CONTROL_BYTES);
    return NULL;
}

static void under_scribbling(unsigned long n, bool wishes)
{
    scribbling = true;
    if (pthread_create(&scribbler, NULL, scribble, wishes ? &scribbling : NULL) != 0)
        die("no thread");
    run_unsignalled(n);
    scribbling = false;
    pthread_join(scribbler, NULL);
}

static void fork_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0)
        die("the child did not end well");
}

static void obey_line(const char *command, unsigned long n)
{
    if (!strcmp(command, "run")) {
        run_unsignalled(n);
    } else if (!strcmp(command, "sign")) {
        hsa_signal_t signal = new_signal();
        for (unsigned long i = 0; i < n; i++)
            send_signalled(queue, i % SOME, signal);
        must(hsa_signal_destroy(signal), "destroy signal");
    } else if (!strcmp(command, "flow")) {
        flowing = true;
        for (int i = 0; i < FLOWS; i++)
            if (pthread_create(&flow[i], NULL, flow_on, NULL) != 0)
                die("no thread");
    } else if (!strcmp(command, "ebb")) {
        flowing = false;
        for (int i = 0; i < FLOWS; i++)
            pthread_join(flow[i], NULL);
    } else if (!strcmp(command, "slow")) {
        if (!slow_signal.handle)
            slow_signal = new_signal();
        hsa_signal_store_relaxed(slow_signal, 1);
        send_kernel(aside, SLOW, slow_signal);
        send_kernel(aside, SLOW, (hsa_signal_t){0});
    } else if (!strcmp(command, "late")) {
        wait_for(slow_signal);
        send_signalled(queue, 3, slow_signal);
        drain(aside);
    } else if (!strcmp(command, "scribble") || !strcmp(command, "wish")) {
        under_scribbling(n, command[0] == 'w');
    } else if (!strcmp(command, "fork")) {
        fork_child();
    } else {
        die("no such command");
    }
}

int main(void)
{
    char command[16];
    unsigned long n;
    int fields;
    if (!open_runtime())
        die("no GPU");
    load_family(&sign, "sign");
    queue = open_queue(4096);
    aside = open_queue(64);
    puts("holding");
    fflush(stdout);
    for (char line[64]; fgets(line, sizeof line, stdin);) {
        n = 0;
        fields = sscanf(line, "%15s %lu", command, &n);
        if (fields < 1)
            continue;
        obey_line(command, n);
        printf("did %s\n", command);
        fflush(stdout);
    }
    for (unsigned k = 0; k < FAMILY; k++)
        if (launched[k])
            printf("launched sign%02u %lu\n", k, launched[k]);
    fflush(stdout);
    must(hsa_queue_destroy(aside), "destroy queue");
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_shut_down(), "shut down");
    return 0;
}
