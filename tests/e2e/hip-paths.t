#!/bin/sh
# librtl-hip.so forwards each call to the function that its caller would get without it, also with several HIPs in a
# process. HIP's calls of its own functions aren't counted; threads, their ends and forks lose nothing; a missing
# function fails as without the library. The HIPs are fakes, so the test needs no GPU.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/hip.sh"
cc=${CC:-gcc}

# make_hip NAME RESULT: compile a fake HIP, whose hipMalloc calls other functions and whose hipDeviceSynchronize returns
# RESULT.
make_hip() {
    mkdir -p "$work/$1"
    cat >"$work/$1/hip.c" <<END
#include <stdlib.h>
#include <stddef.h>
int hipGetDevice(int *gpu) { *gpu = 0; return 0; }
int hipMemset(void *to, int value, size_t n) { (void)to; (void)value; (void)n; return 0; }
int hipMalloc(void **at, size_t n)
{
    int gpu;
    *at = malloc(n);
    return hipGetDevice(&gpu) || hipMemset(*at, 0, n);
}
int hipFree(void *at)
{
    static int calls;
    if (++calls % 5 == 0)
        return 1;
    free(at);
    return 0;
}
int hipDeviceSynchronize(void) { return $2; }
int hipLaunchHostFunc(void *stream, void (*f)(void *), void *data) { f(data); return stream != NULL; }
END
    "$cc" -shared -fPIC -o "$work/$1/libplay.so" "$work/$1/hip.c" -Wl,-soname,libplay.so || exit 1
}
make_hip one 0
make_hip two 7

# play_alone PROGRAM...: run without a GPU until it holds
play_alone() {
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in"
    (RTL_MODE=hip LD_PRELOAD=$hip_library LD_LIBRARY_PATH=$work/one exec "$@" --hold <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 60 grep -q '^holding' "$work/out"
}
list_calls() { run_api --json | jq -r '.api[] | "called \(.name) \(.calls)"' | sort; }

"$cc" -o "$work/play" tests/programs/play/hip_play.c -L "$work/one" -lplay -pthread || exit 1
play_alone "$work/play"
is "fake HIP: its calls of its own functions aren't counted" "$(list_calls)" "$(grep ^called "$work/out")"
is "fake HIP: memory of a failed hipFree stays in use" "$(run_api --json | jq -c '[.memory[] | .in_use_bytes, .peak_bytes, .allocations]')" '[16,16,2]'
close_play
is "fake HIP: exit status is that without rtl-top" "$status" 0

play_alone "$work/play" threads 100 2000
is "100 threads at once: every call is counted" "$(list_calls)" "$(grep ^called "$work/out")"
check "100 threads at once: over 30 of them use the shared counters" sh -c "test \"\$('$O/rtl-top' api -p $program --json | jq .shared_threads)\" -gt 30"
close_play
is "100 threads at once: exit status is that without rtl-top" "$status" 0

play_alone "$work/play" ends
is "ending threads: calls in their destructors are counted" "$(list_calls)" "$(grep ^called "$work/out")"
is "ending threads: 300 in a row need no shared counters" "$(run_api --json | jq .shared_threads)" 0
close_play
is "ending process: calls in its destructors are harmless" "$status" 0

play_alone "$work/play" fork
is "fork: a child adds nothing to its parent's counts" "$(list_calls)" "$(grep ^called "$work/out")"
close_play
is "fork: exit status is that without rtl-top" "$status" 0

check "fork: a child forked under the linker's lock makes its first call" \
    env RTL_MODE=hip LD_PRELOAD="$hip_library" LD_LIBRARY_PATH="$work/one" "$work/play" early

play_alone "$work/play" jump
is "longjmp: a call left by a jump is counted, and a callback's calls are the application's" "$(list_calls)" \
    "$(grep ^called "$work/out")"
close_play
is "longjmp: exit status is that without rtl-top" "$status" 0

# --- two HIPs in one process, each loaded by a plugin with RTLD_LOCAL ---
for name in one two; do
    cat >"$work/$name/plugin.c" <<END
int hipDeviceSynchronize(void);
int ${name}_says(void) { return hipDeviceSynchronize(); }
END
    # different names: the linker loads only one library of a name
    "$cc" -shared -fPIC -o "$work/$name/lib$name.so" "$work/$name/hip.c" -Wl,-soname,"lib$name.so" || exit 1
    "$cc" -shared -fPIC -o "$work/$name/plugin.so" "$work/$name/plugin.c" -L "$work/$name" "-l$name" -Wl,-rpath,"$work/$name" || exit 1
done
cat >"$work/both.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
static int ask(const char *plugin, const char *name)
{
    void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    int (*says)(void) = NULL;
    if (handle)
        *(void **)&says = dlsym(handle, name);
    return says ? says() : -1;
}
static int look(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    int (*says)(void) = NULL;
    if (handle)
        *(void **)&says = dlsym(handle, "hipDeviceSynchronize");
    return says ? says() : -1;
}
int main(int argc, char **argv)
{
    (void)argc;
    for (int i = 0; i < 3; i++)
        printf("%d %d %d %d\n", ask(argv[1], "one_says"), ask(argv[2], "two_says"), look(argv[3]), look(argv[4]));
    return 0;
}
END
"$cc" -o "$work/both" "$work/both.c" || exit 1
run_both() { "$@" "$work/both" "$work/one/plugin.so" "$work/two/plugin.so" "$work/one/libone.so" "$work/two/libtwo.so" | tr '\n' ','; }
is "two HIPs without rtl-top: each caller has its own" "$(run_both env)" "0 7 0 7,0 7 0 7,0 7 0 7,"
is "two HIPs in mode hip: each caller has its own" "$(run_both env RTL_MODE=hip LD_PRELOAD="$hip_library")" "0 7 0 7,0 7 0 7,0 7 0 7,"

# --- dlopen with RTLD_DEEPBIND, while another HIP is global: every way to name the plugin works as without rtl-top ---
cat >"$work/deep.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int hipDeviceSynchronize(void);
static int ask(void *handle)
{
    int (*says)(void) = NULL;
    if (handle)
        *(void **)&says = dlsym(handle, "two_says");
    return says ? says() : -1;
}
int main(int argc, char **argv)
{
    static const char *const names[] = {"libdeep1.so", "$ORIGIN/two/libdeep2.so"};
    (void)argc;
    printf("%d", hipDeviceSynchronize());
    for (int i = 0; i < 2; i++)
        printf(" %d", ask(dlopen(names[i], RTLD_NOW | RTLD_DEEPBIND)));
    printf(" %d", ask(dlopen(argv[1], RTLD_LAZY | RTLD_DEEPBIND)));
    printf(" %d", ask(dlopen(argv[1], RTLD_LAZY | RTLD_DEEPBIND | RTLD_NOLOAD)));
    printf(" %d", ask(dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW)));
    printf(" %d", ask(dlmopen(LM_ID_NEWLM, "libdeep1.so", RTLD_NOW)));
    printf(" %d", dlopen("/nowhere/deep.so", RTLD_NOW | RTLD_DEEPBIND) == NULL && dlerror() != NULL);
    printf(" %d\n", dlopen(NULL, RTLD_NOW | RTLD_DEEPBIND) != NULL);
    return 0;
}
END
# the RUNPATH of the program finds libdeep1.so; that of librtl-hip.so would not
cp "$work/two/plugin.so" "$work/two/libdeep1.so"
cp "$work/two/plugin.so" "$work/two/libdeep2.so"
"$cc" -D_GNU_SOURCE -o "$work/deep" "$work/deep.c" -L "$work/one" -lone -Wl,-rpath,"$work/one:$work/two" -Wl,--enable-new-dtags || exit 1
run_deep() { "$@" "$work/deep" "$work/two/plugin.so"; }
is "RTLD_DEEPBIND without rtl-top: the plugin calls its own HIP" "$(run_deep env)" "0 7 7 7 7 7 7 1 1"
is "RTLD_DEEPBIND in mode hip: the plugin calls its own HIP" "$(run_deep env RTL_MODE=hip LD_PRELOAD="$hip_library")" "0 7 7 7 7 7 7 1 1"

# --- RTLD_DEEPBIND while another thread opens a plugin: the linker goes on writing to the page with the other's slots.
# A function that the linker calls for an address of the other plugin holds it there, from the given dl_iterate_phdr on. ---
cat >"$work/slow.c" <<'END'
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
__attribute__((noplt)) int hipDeviceSynchronize(void); /* its slot is set before those of functions with a PLT */
int two_says(void) { return hipDeviceSynchronize(); }
static long call(long n, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
static int nothing(void) { return 0; }
static int (*choose(void))(void)
{
    struct timespec often = {0, 1000000};
    call(SYS_close, call(SYS_open, (long)PLACE "/reached", O_CREAT | O_WRONLY, 0600), 0, 0);
    while (call(SYS_access, (long)PLACE "/go", 0, 0) != 0)
        call(SYS_nanosleep, (long)&often, 0, 0);
    return nothing;
}
int chosen(void) __attribute__((ifunc("choose")));
int ask(void) { return chosen(); }
END
cat >"$work/meet.c" <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int hipDeviceSynchronize(void);
static const char *slow;
static pthread_t other;
static __thread int armed; /* calls of dl_iterate_phdr until the other thread starts */
static int ask(void *handle)
{
    int (*says)(void) = NULL;
    if (handle)
        *(void **)&says = dlsym(handle, "two_says");
    return says ? says() : -1;
}
static void *open_slow(void *unused)
{
    (void)unused;
    return dlopen(slow, RTLD_NOW | RTLD_DEEPBIND);
}
int dl_iterate_phdr(int (*f)(struct dl_phdr_info *, size_t, void *), void *data)
{
    static int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    int now = armed && --armed == 0;
    if (now)
        pthread_create(&other, NULL, open_slow, NULL);
    while (now && access(PLACE "/reached", F_OK) != 0)
        usleep(1000);
    int result = real(f, data);
    if (now)
        close(open(PLACE "/go", O_CREAT | O_WRONLY, 0600));
    return result;
}
int main(int argc, char **argv)
{
    void *late = NULL;
    if (argc < 4 || hipDeviceSynchronize() != 0)
        return 2;
    slow = argv[2];
    armed = atoi(argv[3]);
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
    int met = armed == 0;
    armed = 0;
    if (met)
        pthread_join(other, &late);
    printf("%d %d\n", ask(plugin), met ? ask(late) : 7);
    return 0;
}
END
"$cc" -shared -fPIC -O1 -DPLACE="\"$work\"" -o "$work/slow.so" "$work/slow.c" -L "$work/two" -ltwo -Wl,-rpath,"$work/two" \
    -Wl,-z,now -Wl,-z,relro || exit 1
"$cc" -D_GNU_SOURCE -DPLACE="\"$work\"" -o "$work/meet" "$work/meet.c" -L "$work/one" -lone -Wl,-rpath,"$work/one" -pthread || exit 1
for call in 1 2 3 4 5 6 7 8; do
    rm -f "$work/reached" "$work/go"
    is "another thread in the linker at list $call: both plugins call their HIP" \
        "$(RTL_MODE=hip LD_PRELOAD=$hip_library timeout 20 "$work/meet" "$work/two/plugin.so" "$work/slow.so" "$call")" "7 7"
done

# --- another library that wraps the linker's functions, behind librtl-hip.so ---
cat >"$work/wraps.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
void *dlopen(const char *file, int flags)
{
    void *(*real)(const char *, int);
    *(void **)&real = dlvsym(RTLD_NEXT, "dlopen", "GLIBC_2.2.5");
    printf("dlopen ");
    return real(file, flags);
}
void *dlmopen(Lmid_t space, const char *file, int flags)
{
    void *(*real)(Lmid_t, const char *, int);
    *(void **)&real = dlvsym(RTLD_NEXT, "dlmopen", "GLIBC_2.3.4");
    printf("dlmopen ");
    return real(space, file, flags);
}
void *dlsym(void *handle, const char *name)
{
    void *(*real)(void *, const char *);
    *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
    if (strcmp(name, "two_says") == 0)
        printf("dlsym ");
    return real(handle, name);
}
END
"$cc" -D_GNU_SOURCE -shared -fPIC -o "$work/wraps.so" "$work/wraps.c" || exit 1
is "another wrapper of the linker: it gets the calls that it gets without rtl-top" \
    "$(RTL_MODE=hip LD_PRELOAD="$hip_library $work/wraps.so" "$work/both" "$work/one/plugin.so" "$work/two/plugin.so" \
        "$work/one/libone.so" "$work/two/libtwo.so")" \
    "$(LD_PRELOAD=$work/wraps.so "$work/both" "$work/one/plugin.so" "$work/two/plugin.so" "$work/one/libone.so" "$work/two/libtwo.so")"
# the wrapper is a caller without the program's RUNPATH, so the two names that need it fail, with rtl-top and without
is "another wrapper of the linker: RTLD_DEEPBIND and dlmopen pass it, too" \
    "$(run_deep env RTL_MODE=hip LD_PRELOAD="$hip_library $work/wraps.so")" "$(run_deep env LD_PRELOAD="$work/wraps.so")"

# --- a plugin that is loaded again, with HIP at another address: the old one is mapped without access ---
cat >"$work/again.c" <<'END'
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
    (void)argc;
    for (int i = 0; i < 3; i++) {
        void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *hip = dlopen(argv[2], RTLD_LAZY | RTLD_NOLOAD);
        if (!plugin || !hip)
            return 2;
        int (*says)(void), (*handed)(void);
        *(void **)&says = dlsym(plugin, "two_says");
        *(void **)&handed = dlsym(hip, "hipDeviceSynchronize");
        printf("%d %d\n", says(), handed());
        void *at = (void *)((struct link_map *)hip)->l_addr;
        dlclose(hip);
        dlclose(plugin);
        mmap(at, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    return 0;
}
END
"$cc" -D_GNU_SOURCE -o "$work/again" "$work/again.c" || exit 1
run_again() { "$@" "$work/again" "$work/two/plugin.so" "$work/two/libtwo.so" 2>&1 | tr '\n' ','; }
is "reloaded plugin without rtl-top: calls its HIP" "$(run_again env)" "7 7,7 7,7 7,"
is "reloaded plugin in mode hip: calls its HIP" "$(run_again env RTL_MODE=hip LD_PRELOAD="$hip_library")" "7 7,7 7,7 7,"
RTL_MODE=hip LD_PRELOAD=$hip_library "$work/again" "$work/two/plugin.so" "$work/two/libtwo.so" >"$work/out" 2>&1
is "reloaded plugin: exit status is that without rtl-top" "$?" 0

# --- more callers than the table has entries, and generated code, while a thread holds the linker's lock ---
cat >"$work/locked.c" <<'END'
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int hipDeviceSynchronize(void);
static int (*says)(void), (*volatile wrapper)(void) = hipDeviceSynchronize;
static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3}; /* calls its argument */
static int (*volatile made)(int (*)(void));
static volatile int held;
static int hold(struct dl_phdr_info *info, size_t bytes, void *data)
{
    (void)info, (void)bytes, (void)data;
    held = 1;
    for (;;)
        pause();
    return 0;
}
static void *lock(void *unused)
{
    dl_iterate_phdr(hold, NULL);
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(at, code, sizeof code);
    mprotect(at, 4096, PROT_READ | PROT_EXEC);
    *(void **)&made = at;
    made(wrapper);
    for (int i = 1; i < argc; i++) {
        void *handle = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        *(void **)&says = handle ? dlsym(handle, "two_says") : NULL;
        if (!says)
            return 2;
        says();
    }
    if (pthread_create(&thread, NULL, lock, NULL) != 0)
        return 2;
    while (!held)
        usleep(1000);
    alarm(20);
    pid_t child = fork();
    alarm(20);
    printf("%d %d %d\n", made(wrapper), says(), wrapper());
    fflush(stdout);
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    _exit(0);
}
END
"$cc" -D_GNU_SOURCE -o "$work/locked" "$work/locked.c" -L "$work/two" -ltwo -Wl,-rpath,"$work/two" -Wl,-z,now -pthread || exit 1
i=0
while [ $((i += 1)) -le 140 ]; do
    cp "$work/two/plugin.so" "$work/two/plugin$i.so"
done
run_locked() { "$@" "$work/locked" "$work"/two/plugin*.so | tr '\n' ','; }
is "linker's lock held, without rtl-top: 140 callers and generated code reach HIP, in a fork, too" "$(run_locked env)" "7 7 7,7 7 7,"
is "linker's lock held, in mode hip: 140 callers and generated code reach HIP" "$(run_locked env RTL_MODE=hip LD_PRELOAD="$hip_library")" "7 7 7,7 7 7,"

# --- a signal handler calls HIP and pushes ranges at any moment; the first call makes another call ---
cat >"$work/handler.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
int hipDeviceSynchronize(void);
static int (*push)(const char *), (*pop)(void);
static volatile unsigned long handled, calls;
static int nested;
/* The library creates the segment in the first call. This function then makes a second call. */
int memfd_create(const char *name, unsigned flags)
{
    if (nested++ == 0)
        hipDeviceSynchronize();
    return (int)syscall(SYS_memfd_create, name, flags);
}
static void on_alarm(int number)
{
    (void)number;
    hipDeviceSynchronize();
    push("in a handler");
    pop();
    handled++;
}
int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    int nests = argc > 1 && strcmp(argv[1], "nested") == 0;
    nested = !nests;
    hipDeviceSynchronize();
    if (nests)
        return nested == 0;
    *(void **)&push = dlsym(RTLD_DEFAULT, "roctxRangePushA");
    *(void **)&pop = dlsym(RTLD_DEFAULT, "roctxRangePop");
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (calls = 1; handled < 20000; calls++) {
        push("outside");
        pop();
        if (calls % 64 == 0)
            hipDeviceSynchronize();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("called hipDeviceSynchronize %lu\nrange in a handler %lu 0\nrange outside %lu 0\nholding\n",
           handled + (calls - 1) / 64 + 1, handled, calls - 1);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
END
"$cc" -O1 -o "$work/handler" "$work/handler.c" -L "$work/one" -lone -Wl,-rpath,"$work/one" || exit 1
play_alone "$work/handler"
is "signal handler: the handler's calls are counted" "$(list_calls)" "$(grep ^called "$work/out")"
is "signal handler: ranges inside and outside end as often as they begin" \
    "$(run_api --json | jq -r '.ranges[] | "range \(.name) \(.calls) \(.open)"' | sort)" "$(grep ^range "$work/out")"
close_play
is "signal handler: exit status is that without rtl-top" "$status" 0
check "a call inside the first call: both return" \
    env RTL_MODE=hip LD_PRELOAD="$hip_library" timeout 20 "$work/handler" nested

# --- missing functions ---
cat >"$work/lacks.c" <<'END'
int hipGraphLaunch(void *graph, void *stream);
int main(void) { return hipGraphLaunch(0, 0); }
END
"$cc" -o "$work/lacks" "$work/lacks.c" -Wl,--unresolved-symbols=ignore-all -Wl,-z,lazy || exit 1
"$work/lacks" >"$work/out" 2>"$work/without"
is "missing function without rtl-top: exit status 127" "$?" 127
RTL_MODE=hip LD_PRELOAD=$hip_library "$work/lacks" >"$work/out" 2>"$work/with"
is "missing function in mode hip: exit status 127" "$?" 127
is "missing function: the linker's message is the same" "$(cat "$work/with")" "$(cat "$work/without")"
cat >"$work/asks.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    void *self = dlopen(NULL, RTLD_NOW);
    printf("%d %d %d\n", dlsym(RTLD_DEFAULT, "hipMalloc") != NULL, dlsym(self, "hipMalloc") != NULL,
           dlsym(RTLD_NEXT, "printf") != NULL);
    dlsym(self, "hipNothing");
    return dlerror() == NULL;
}
END
"$cc" -o "$work/asks" "$work/asks.c" || exit 1
is "dlsym: finds no HIP where none is loaded" "$(RTL_MODE=hip LD_PRELOAD=$hip_library "$work/asks"; echo $?)" "$("$work/asks"; echo $?)"
finish
