/*
 * Count the instructions of a thread between two marks: instructions COMMAND [ARGUMENT]... runs the command,
 * single-steps its first thread from each odd breakpoint instruction (int3) to the next, and prints
 * "instructions MEDIAN LEAST" over these pairs. All other code, and other threads, run at full speed. Instructions in
 * the operating system's kernel are not counted. Unlike a time, the count does not depend on other load.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS = 4096 };
static unsigned long counts[PAIRS];

static int ascending(const void *a, const void *b)
{
    unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;
    return (x > y) - (x < y);
}

/* True for the SIGTRAP of an int3, false for that of a step. */
static bool is_mark(pid_t pid)
{
    siginfo_t info;
    return ptrace(PTRACE_GETSIGINFO, pid, NULL, &info) == 0 && info.si_code == SI_KERNEL;
}

int main(int argc, char **argv)
{
    int status, pass_on = 0;
    bool counting = false;
    unsigned pairs = 0;
    if (argc < 2) {
        fputs("usage: instructions COMMAND [ARGUMENT]...\n", stderr);
        return 2;
    }
    pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
        perror("instructions");
        return 1;
    }
    ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
    for (;;) {
        ptrace(counting ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL, pass_on);
        if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
            break;
        pass_on = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (pass_on || status >> 16)
            continue; /* a signal of its own, or the start of a program */
        if (!is_mark(pid)) {
            counts[pairs]++;
        } else if (counting) {
            counting = false;
            counts[pairs]--; /* the mark */
            pairs++;
        } else {
            counting = pairs < PAIRS;
        }
    }
    if (!pairs || !WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "instructions: %s %s\n", argv[1], pairs ? "fails" : "makes no marks");
        return 1;
    }
    qsort(counts, pairs, sizeof counts[0], ascending);
    printf("instructions %lu %lu\n", counts[pairs / 2], counts[0]);
    return 0;
}
