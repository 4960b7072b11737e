/*
 * hip_found.c - uses HIP like programs that are not linked to it: dlopen with RTLD_LOCAL, then dlsym, or
 * hipGetProcAddress as Triton does, or a library that is linked to HIP (Python's extensions).
 *
 * hip_found dlsym|proc|plugin|deep|space|past LIBRARY [--hold]: calls the functions that it finds, prints "called NAME
 * N" for each and "libraries N", the number of mapped libamdhip64, then holds. A plugin has a function `plugin_run`,
 * which calls HIP and prints the lines. "deep" opens the plugin with RTLD_DEEPBIND, "space" with dlmopen in a namespace
 * of its own; both do so after the process has used HIP. "past" finds HIP by dlvsym, so no wrapper sees its calls, like
 * those of a plugin with HIP linked into it. Exit status 3: the library has no hipGetProcAddress.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int malloc_function(void **at, size_t n);
typedef int free_function(void *at);
typedef int count_function(int *n);
typedef int proc_function(const char *name, void **found, int version, uint64_t flags, void *status);

static void *find_hip_symbol(void *handle, const char *name)
{
    void *f = dlsym(handle, name);
    if (!f) {
        fprintf(stderr, "hip_found: %s\n", dlerror());
        exit(2);
    }
    return f;
}

/* Count different files, because one file may be mapped under several names. */
static void count_libraries(void)
{
    char line[4400], seen[8][80];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char device[40] = "", inode[40] = "", key[80];
        if (!strstr(line, "libamdhip64") || sscanf(line, "%*s %*s %*s %39s %39s", device, inode) != 2)
            continue;
        snprintf(key, sizeof key, "%.38s %.38s", device, inode);
        int i = 0;
        while (i < count && strcmp(seen[i], key) != 0)
            i++;
        if (i == count && count < 8)
            strcpy(seen[count++], key);
    }
    if (maps)
        fclose(maps);
    printf("libraries %d\n", count);
}

static void use_hip(void *handle, int proc)
{
    malloc_function *allocate;
    free_function *release;
    count_function *count;
    void *found[3] = {0};
    static const char *const names[] = {"hipMalloc", "hipFree", "hipGetDeviceCount"};
    proc_function *get = NULL;
    int gpus = 0;
    if (proc) {
        *(void **)&get = dlsym(handle, "hipGetProcAddress");
        if (!get)
            exit(3);
    }
    for (int i = 0; i < 3; i++) {
        if (!proc)
            found[i] = find_hip_symbol(handle, names[i]);
        else if (get(names[i], &found[i], 60000000, 0, NULL) != 0 || !found[i])
            exit(2);
    }
    memcpy(&allocate, &found[0], sizeof allocate);
    memcpy(&release, &found[1], sizeof release);
    memcpy(&count, &found[2], sizeof count);
    if (count(&gpus) != 0)
        exit(2);
    for (int i = 0; i < 20; i++) {
        void *at;
        if (allocate(&at, 1000) != 0 || (i % 4 && release(at) != 0))
            exit(2);
    }
    puts("called hipFree 15\ncalled hipGetDeviceCount 1\ncalled hipMalloc 20");
}

/* Find HIP by dlvsym and launch 10 kernels: those that fill memory. */
static void use_hip_past(void *handle)
{
    malloc_function *allocate;
    int (*fill)(void *at, int value, size_t n), (*wait)(void);
    void *at;
    *(void **)&allocate = dlvsym(handle, "hipMalloc", "hip_4.2");
    *(void **)&fill = dlvsym(handle, "hipMemset", "hip_4.2");
    *(void **)&wait = dlvsym(handle, "hipDeviceSynchronize", "hip_4.2");
    if (!allocate || !fill || !wait || allocate(&at, 4000) != 0)
        exit(2);
    for (int i = 0; i < 10; i++)
        if (fill(at, i, 4000) != 0 || wait() != 0)
            exit(2);
}

static void *open_library(const char *how, const char *library)
{
    if (strcmp(how, "deep") != 0 && strcmp(how, "space") != 0)
        return dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *hip = dlopen("libamdhip64.so.5", RTLD_NOW | RTLD_LOCAL);
    count_function *count;
    int gpus = 0;
    *(void **)&count = hip ? find_hip_symbol(hip, "hipGetDeviceCount") : NULL;
    if (!count || count(&gpus) != 0)
        return NULL;
    return *how == 'd' ? dlopen(library, RTLD_LAZY | RTLD_DEEPBIND) : dlmopen(LM_ID_NEWLM, library, RTLD_NOW);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    void *handle = open_library(argv[1], argv[2]);
    if (!handle) {
        fprintf(stderr, "hip_found: %s\n", dlerror());
        return 2;
    }
    if (strcmp(argv[1], "past") == 0) {
        use_hip_past(handle);
    } else if (strcmp(argv[1], "plugin") == 0 || strcmp(argv[1], "deep") == 0) {
        void (*run)(void);
        *(void **)&run = find_hip_symbol(handle, "plugin_run");
        run();
    } else if (strcmp(argv[1], "space") != 0) {
        use_hip(handle, strcmp(argv[1], "proc") == 0);
    }
    /* HIP is not in the global scope. */
    printf("everybody's %s\n", dlsym(RTLD_DEFAULT, "hipMalloc") ? "yes" : "no");
    count_libraries();
    fflush(stdout);
    if (argc > 3) {
        puts("holding");
        fflush(stdout);
        while (getchar() != EOF)
            ;
    }
    return 0;
}
