/*
 * launch_play.c - a program for rtl-top to start: launch_play [runtime]. With `runtime` it loads the HSA runtime while
 * it runs, as Python programs do, starts it and prints the result. Then it prints "holding" and waits for a signal.
 */
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "runtime") == 0) {
        void *runtime = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_GLOBAL);
        hsa_status_t (*init)(void) = runtime ? (hsa_status_t(*)(void))dlsym(runtime, "hsa_init") : NULL;
        printf("hsa_init: %s\n", !init ? dlerror() : init() == HSA_STATUS_SUCCESS ? "ok" : "failed");
    }
    puts("holding");
    fflush(stdout);
    pause();
    return 0;
}
