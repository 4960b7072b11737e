/*
 * observe_local.c - runs observe_play with a runtime that is loaded from any file with RTLD_LOCAL.
 * observe_local RUNTIME OBSERVE_PLAY.SO ARGS...
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *runtime = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *play = runtime ? dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) : NULL; /* resolves to the runtime loaded above */
    int (*begin)(int, char **) = play ? (int (*)(int, char **))dlsym(play, "main") : NULL;
    if (!begin || dlsym(RTLD_DEFAULT, "hsa_init")) {
        const char *why = dlerror();
        fprintf(stderr, "observe_local: %s\n", why ? why : "the runtime is there for everybody");
        return 2;
    }
    return begin(argc - 2, argv + 2);
}
