/*
 * hip_play.c - calls an emulated HIP (tests/e2e/hip-paths.t builds it and links this program to it) in unusual ways:
 * from many threads at once, at the end of a thread and of the process, after a fork, from a callback, and after a
 * callback that did not return.
 *
 * hip_play threads N CALLS | ends | fork | jump [--hold]: prints "called NAME N", then holds.
 * hip_play early: the exit status says whether a child that was forked at a bad moment could call.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int hipGetDevice(int *gpu);
int hipMalloc(void **at, size_t n);
int hipFree(void *at);
int hipLaunchHostFunc(void *stream, void (*f)(void *), void *data);

static pthread_barrier_t together;
static pthread_key_t key;
static int calls;

static void *many(void *unused)
{
    int gpu;
    pthread_barrier_wait(&together);
    for (int i = 0; i < calls; i++)
        hipGetDevice(&gpu);
    pthread_barrier_wait(&together); /* start all threads at once */
    return unused;
}

static void late(void *unused)
{
    int gpu;
    hipGetDevice(&gpu);
    if (unused &&
        (size_t)unused < 4) /* set again, so that this runs in a later round of destructors than the library's own */
        pthread_setspecific(key, (char *)unused + 1);
}

static void *ends(void *unused)
{
    int gpu;
    pthread_setspecific(key, (void *)1);
    hipGetDevice(&gpu);
    return unused;
}

static jmp_buf back;

static void leap(void *unused)
{
    (void)unused;
    longjmp(back, 1);
}

static void call(void *unused)
{
    int gpu;
    (void)unused;
    hipGetDevice(&gpu);
}

/* Call with a deeper stack than that of the call that did not return. */
static __attribute__((noinline)) void deeper(void)
{
    volatile char room[4096];
    room[0] = 0;
    call((void *)room);
}

static void jumps(void)
{
    static void *at;
    for (int i = 0; i < 10; i++) {
        if (setjmp(back) == 0)
            hipLaunchHostFunc(NULL, leap, NULL);
        deeper();
        if (i % 2)
            call(NULL);
    }
    hipLaunchHostFunc(NULL, call, NULL);
    hipMalloc(&at, 16);
    puts("called hipGetDevice 16\ncalled hipLaunchHostFunc 1\ncalled hipMalloc 1");
}

/* Block for ever inside dl_iterate_phdr, holding the linker's lock. */
static int stay(struct dl_phdr_info *info, size_t bytes, void *data)
{
    (void)info, (void)bytes, (void)data;
    pthread_barrier_wait(&together);
    for (;;)
        pause();
}

static void *hold_linker_lock(void *unused)
{
    dl_iterate_phdr(stay, NULL);
    return unused;
}

/* The child makes the process's very first call; its parent held the linker's lock at the fork. */
static int forks_early(void)
{
    pthread_t thread;
    int status = 1, gpu;
    pthread_barrier_init(&together, NULL, 2);
    if (pthread_create(&thread, NULL, hold_linker_lock, NULL) != 0)
        return 1;
    pthread_barrier_wait(&together);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(hipGetDevice(&gpu) != 0);
    }
    return waitpid(child, &status, 0) != child || status != 0;
}

static void at_exit(void)
{
    int gpu;
    hipGetDevice(&gpu);
}

__attribute__((destructor)) static void last(void)
{
    int gpu;
    hipGetDevice(&gpu);
}

static void run_threads(int n, void *(*function)(void *))
{
    pthread_t thread[200];
    pthread_barrier_init(&together, NULL, (unsigned)n);
    for (int i = 0; i < n; i++)
        if (pthread_create(&thread[i], NULL, function, NULL) != 0)
            exit(2);
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
}

int main(int argc, char **argv)
{
    int gpu, n = argc > 2 ? atoi(argv[2]) : 0;
    void *at;
    atexit(at_exit);
    if (argc > 3 && strcmp(argv[1], "threads") == 0 && n > 0 && n <= 200) {
        calls = atoi(argv[3]);
        run_threads(n, many);
        printf("called hipGetDevice %d\n", n * calls);
    } else if (argc > 1 && strcmp(argv[1], "early") == 0) {
        _exit(forks_early());
    } else if (argc > 1 && strcmp(argv[1], "jump") == 0) {
        jumps();
    } else if (argc > 1 && strcmp(argv[1], "ends") == 0) {
        pthread_key_create(&key, late);
        for (int i = 0; i < 300; i++) /* more threads than there are blocks, so blocks must be reused */
            run_threads(1, ends);
        printf("called hipGetDevice %d\n", 300 * 5);
    } else if (argc > 1 && strcmp(argv[1], "fork") == 0) {
        hipGetDevice(&gpu);
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0; i < 1000; i++)
                hipGetDevice(&gpu);
            _exit(hipMalloc(&at, 8) != 0 || hipFree(at) != 0);
        }
        int status = 1;
        if (waitpid(child, &status, 0) != child || status != 0)
            return 2;
        puts("called hipGetDevice 1");
    } else {
        for (int i = 0; i < 10; i++)
            if (hipMalloc(&at, 8) != 0 || hipFree(at) != (i % 5 == 4)) /* every fifth free fails */
                return 2;
        puts("called hipFree 10\ncalled hipMalloc 10");
    }
    fflush(stdout);
    if (strcmp(argv[argc - 1], "--hold") == 0) {
        puts("holding");
        fflush(stdout);
        while (getchar() != EOF)
            ;
    }
    return 0;
}
