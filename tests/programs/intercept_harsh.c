/*
 * intercept_harsh.c - what applications may do to a library that they do not know of: intercept_harsh SCENE [N]. It
 * runs scenes and prints their results like intercept_scenes.
 */
#include "intercept_hsa.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static struct family fast;

static void setup(void)
{
    if (!open_runtime())
        die("no GPU");
    load_family(&fast, "fast");
}

/*
 * A thread with a pending cancellation ends at its first cancellation point; the calls made here must have none. It
 * creates queues and loads code before, because ROCr itself has cancellation points there.
 */
static const char *doomed_in;

static void *doomed(void *data)
{
    enum { MORE = 5 };
    static struct family more[MORE];
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    hsa_queue_t *queue = open_queue(1024);
    for (int i = 0; i < MORE; i++) {
        char prefix[16];
        snprintf(prefix, sizeof prefix, "m%03d", i);
        load_family(&more[i], prefix);
    }
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    doomed_in = "new kernels";
    for (int i = 0; i < MORE * FAMILY; i++)
        launch(queue, more[i / FAMILY].object[i % FAMILY]);
    doomed_in = "outrunning the GPU";
    for (int i = 0; i < *(const int *)data; i++)
        launch(queue, fast.object[99]);
    drain(queue);
    doomed_in = "unloading";
    for (int i = 0; i < MORE; i++)
        unload_family(&more[i]);
    doomed_in = "destroying the queue";
    must(hsa_queue_destroy(queue), "destroy");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    return data;
}

/* `flood`: number of kernels, more than the GPU can hold. */
static void scene_cancel(int flood)
{
    pthread_t thread;
    void *result = NULL;
    setup();
    pthread_create(&thread, NULL, doomed, &flood);
    pthread_join(thread, &result);
    if (result == PTHREAD_CANCELED)
        printf("cancelled in %s\n", doomed_in);
    else
        puts("not cancelled");
    hold();
    must(hsa_shut_down(), "shut down");
}

/* The application closes an unknown descriptor, the segment's, and opens its own file in its place. */
static void scene_closed(void)
{
    struct stat file = {.st_size = -1};
    struct family more;
    int own = -1;
    setup();
    hsa_queue_t *queue = open_queue(1024);
    launch(queue, fast.object[0]);
    drain(queue);
    for (int fd = 3; fd < 4096; fd++) {
        char link[64], to[256] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, to, sizeof to - 1) > 0 && strstr(to, "rtl-segment")) {
            int made = memfd_create("own", MFD_CLOEXEC);
            own = dup2(made, fd);
            close(made);
        }
    }
    load_family(&more, "more");
    hsa_queue_t *another = open_queue(64); /* needs its own slot in the segment, with new pages */
    for (int i = 0; i < FAMILY; i++) {
        launch(queue, more.object[i]);
        launch(another, more.object[i]);
    }
    drain(queue);
    drain(another);
    if (own >= 0)
        fstat(own, &file);
    printf("own file %ld\n", (long)file.st_size);
    hold();
    must(hsa_queue_destroy(another), "destroy");
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

/* A sandbox that starts late makes membarrier fail for every thread. */
static void forbid_membarrier(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
        die("no seccomp filter");
}

static void scene_sandbox(void)
{
    enum { ROUNDS = 30 };
    setup();
    hsa_queue_t *queue = open_queue(1024);
    for (int round = 0; round < ROUNDS; round++) {
        if (round == ROUNDS / 3)
            forbid_membarrier();
        for (int i = 0; i < 10; i++)
            launch(queue, fast.object[i]);
        drain(queue);
        nanosleep(&(struct timespec){0, 1000000 + 2000000 * round},
                  NULL); /* about as long as the worker spins before it parks */
    }
    for (unsigned i = 0; i < 10; i++)
        printf("launched fast%02u %d\n", i, ROUNDS);
    hold();
    must(hsa_queue_destroy(queue), "destroy");
    must(hsa_shut_down(), "shut down");
}

int main(int argc, char **argv)
{
    const char *scene = argc > 1 ? argv[1] : "";
    if (strcmp(scene, "cancel") == 0)
        scene_cancel(argc > 2 ? atoi(argv[2]) : 0);
    else if (strcmp(scene, "closed") == 0)
        scene_closed();
    else if (strcmp(scene, "sandbox") == 0)
        scene_sandbox();
    else
        die("no such scene");
    return 0;
}
