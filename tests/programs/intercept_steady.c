/*
 * intercept_steady.c - counts a dispatching thread's allocations and system calls in steady state.
 *
 * intercept_steady DISPATCHES [signalled | cold | malloc | syscall]
 * One thread dispatches; 500,000 dispatches warm everything up before it counts. Allocations: this program's malloc and
 * related functions override libc's for every library in the process. System calls: a seccomp filter of the thread
 * turns each into a signal, whose handler makes the call. With `signalled` the dispatches carry the program's signals,
 * reused again and again. The other words make the test fail on purpose: `cold` skips the warm-up, `malloc` and
 * `syscall` do one of these in the loop. Prints "allocations N syscalls N first NUMBER".
 *
 * Meanwhile the kernel slow99 is in flight on another queue (the test's script gives it a minute). While a kernel is in
 * flight the worker never parks, so no dispatch may have to wake it, however this thread is scheduled.
 */
#include "intercept_hsa.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { CHUNK = 512, KERNELS = 50 };

static __thread volatile bool counting; /* each thread's own; set by the dispatching thread */
static volatile unsigned long allocations, syscalls;
static volatile int first = -1;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *memory);
extern void *__libc_memalign(size_t alignment, size_t size);
int posix_memalign(void **memory, size_t alignment, size_t size);

static void seen(void)
{
    if (counting)
        allocations++;
}

void *malloc(size_t size)
{
    seen();
    return __libc_malloc(size);
}
void *calloc(size_t n, size_t size)
{
    seen();
    return __libc_calloc(n, size);
}
void *realloc(void *old, size_t size)
{
    seen();
    return __libc_realloc(old, size);
}
void free(void *memory)
{
    seen();
    __libc_free(memory);
}
void *aligned_alloc(size_t alignment, size_t size)
{
    seen();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size)
{
    seen();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

/* The filter lets system calls through only from here. */
long pass_call(long number, long a, long b, long c, long d, long e, long f);
__asm__(".text\n"
        ".globl pass_call\n"
        "pass_call:\n"
        "    mov %rdi, %rax\n"
        "    mov %rsi, %rdi\n"
        "    mov %rdx, %rsi\n"
        "    mov %rcx, %rdx\n"
        "    mov %r8, %r10\n"
        "    mov %r9, %r8\n"
        "    mov 8(%rsp), %r9\n"
        "    syscall\n"
        ".globl pass_call_end\n"
        "pass_call_end:\n"
        "    ret\n");
extern const char pass_call_end[];

static void trapped(int number, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)number;
    if (counting) {
        syscalls++;
        if (first < 0)
            first = info->si_syscall;
    }
    r[REG_RAX] = pass_call(info->si_syscall, r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]);
}

/* From here on every system call of this thread is counted. */
static void filter(void)
{
    uint64_t ip = (uint64_t)(uintptr_t)pass_call_end;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 5, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)ip, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(ip >> 32), 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        die("no seccomp filter");
}

static struct family family, slow;
static hsa_queue_t *queue;
static hsa_signal_t done;
static unsigned long wanted;
static const char *fault = "";

/* Dispatch one kernel; `signalled`: on a signal of the program, one for each that can be in flight. */
static hsa_signal_t own[CHUNK];

static void dispatch_one(unsigned long number)
{
    hsa_signal_t signal = own[number % CHUNK];
    if (signal.handle)
        hsa_signal_store_relaxed(signal, 1);
    launch_packet(queue, family.object[number % KERNELS], signal, BARRIER_BIT, true);
}

/* Drain without a system call: the thread spins on the signal's value. */
static void spin_drain(void)
{
    uint64_t index;
    hsa_signal_store_relaxed(done, 1);
    hsa_barrier_and_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->completion_signal = done;
    publish_packet(queue, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT, 0, index, true);
    while (hsa_signal_load_scacquire(done) >= 1)
        __builtin_ia32_pause();
}

/* Block the GPU until more dispatches are in flight than there can be signals; then no more are ever created. */
static void fill_the_pool(void)
{
    uint64_t index;
    hsa_signal_t gate;
    must(hsa_signal_create(1, 0, NULL, &gate), "signal");
    hsa_barrier_and_packet_t *packet = reserve_slot(queue, &index);
    memset((char *)packet + 4, 0, sizeof *packet - 4);
    packet->dep_signal[0] = gate;
    publish_packet(queue, packet, HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | BARRIER_BIT, 0, index, true);
    for (int i = 0; i < 5000; i++)
        launch(queue, family.object[i % KERNELS]);
    hsa_signal_store_screlease(gate, 0);
    spin_drain();
    must(hsa_signal_destroy(gate), "destroy signal");
}

static void *run_dispatches(void *data)
{
    unsigned long sent = 0;
    (void)data;
    if (strcmp(fault, "cold") != 0) {
        fill_the_pool();
        for (; sent < 500000; sent++) {
            dispatch_one(sent);
            if (sent % CHUNK == CHUNK - 1)
                spin_drain();
        }
    }
    spin_drain();
    filter();
    counting = true;
    for (sent = 0; sent < wanted; sent++) {
        dispatch_one(sent);
        if (sent % CHUNK == CHUNK - 1)
            spin_drain();
        if (sent == wanted / 2 && strcmp(fault, "malloc") == 0)
            free(*(void *volatile[]){malloc(100)});
        if (sent == wanted / 2 && strcmp(fault, "syscall") == 0)
            syscall(SYS_getppid);
    }
    counting = false;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    fault = argc > 2 ? argv[2] : "";
    if (!open_runtime())
        die("no GPU");
    load_family(&family, "hsa_");
    load_family(&slow, "slow");
    hsa_queue_t *other = open_queue(64);
    launch(other, slow.object[99]);
    queue = open_queue(65536); /* large enough that no dispatch has to wait (intercept/track/throttle.h) */
    must(hsa_signal_create(1, 0, NULL, &done), "signal");
    for (int i = 0; strcmp(fault, "signalled") == 0 && i < CHUNK; i++)
        must(hsa_signal_create(0, 0, NULL, &own[i]), "signal");
    pthread_create(&thread, NULL, run_dispatches, NULL);
    pthread_join(thread, NULL);
    drain(queue);
    must(hsa_signal_destroy(done), "destroy signal");
    for (int i = 0; i < CHUNK && own[i].handle; i++)
        must(hsa_signal_destroy(own[i]), "destroy signal");
    printf("allocations %lu syscalls %lu first %d\n", allocations, syscalls, first);
    hold();
    must(hsa_queue_destroy(queue), "destroy queue");
    must(hsa_queue_destroy(other), "destroy queue");
    must(hsa_shut_down(), "shut down");
    return 0;
}
