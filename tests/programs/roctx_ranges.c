/*
 * roctx_ranges.c - calls every roctx function for ranges and marks, in a program without a GPU, and prints the results.
 *
 * roctx_ranges [--hold]: it finds the functions in the global scope, like programs that are not linked to libroctx64;
 * exit status 3 if they are missing. The output must be the same for every implementation of roctx.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void (*mark)(const char *);
static int (*push)(const char *);
static int (*pop)(void);
static uint64_t (*start)(const char *);
static void (*stop)(uint64_t);

static uint64_t first;

static void *other(void *unused)
{
    (void)unused;
    stop(first); /* another thread's range */
    int outer = push("left open"), inner = push("inner");
    printf("other thread: %d %d\n", outer, inner);
    printf("pop: %d\n", pop());
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    static char lengthy[10000];
    *(void **)&mark = dlsym(RTLD_DEFAULT, "roctxMarkA");
    *(void **)&push = dlsym(RTLD_DEFAULT, "roctxRangePushA");
    *(void **)&pop = dlsym(RTLD_DEFAULT, "roctxRangePop");
    *(void **)&start = dlsym(RTLD_DEFAULT, "roctxRangeStartA");
    *(void **)&stop = dlsym(RTLD_DEFAULT, "roctxRangeStop");
    (void)argv;
    if (!mark || !push || !pop || !start || !stop)
        return 3;
    printf("pop of nothing: %d %d\n", pop(), pop());
    for (int i = 0; i < 10; i++) {
        int a = push("decode"), b = push("attention"), c = push("\033[31mred\n\xff");
        int d = pop(), e = pop(), f = pop();
        if (i == 0 || i == 9)
            printf("levels: %d %d %d, %d %d %d\n", a, b, c, d, e, f);
        mark("token");
    }
    printf("pop of nothing: %d\n", pop());
    memset(lengthy, 'x', sizeof lengthy - 1);
    printf("lengthy: %d\n", push(lengthy));
    printf("pop: %d\n", pop());
    int nameless = push("");
    printf("nameless: %d %d\n", nameless, pop());
    int deep = 0;
    for (int i = 0; i < 200; i++)
        deep = push("deep");
    printf("deep: %d\n", deep);
    for (int i = 0; i < 200; i++)
        deep = pop();
    printf("back: %d\n", deep);
    first = start("request");
    uint64_t second = start("request"), third = start("never stopped");
    printf("ids: %d %d\n", (int)(second - first), (int)(third - second));
    if (pthread_create(&thread, NULL, other, NULL) != 0)
        return 2;
    pthread_join(thread, NULL);
    stop(second);
    stop(second);   /* already stopped */
    stop(99999999); /* a range that does not exist */
    if (argc > 1)
        puts("holding");
    fflush(stdout);
    while (argc > 1 && getchar() != EOF)
        ;
    return 0;
}
