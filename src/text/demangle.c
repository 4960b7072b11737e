/*
 * Demangling with a bound on time and memory. See demangle.h.
 *
 * One helper process demangles all names that could be expensive. It reads a length and a name from a socket, and
 * answers with two lengths and the result. If a name takes too long, the viewer kills the helper and the name stays
 * mangled. After LATE_MAX such names the viewer starts no helper any more, so hostile names cost a bounded time once.
 *
 * The demangler refuses the whole name if it doesn't know the suffix. So the name is cut before each character that may
 * begin a suffix, the last one first, until the demangler accepts the beginning. The demangler always refuses a cut
 * within the mangled name itself: either an identifier is shorter than its length says, or a reference or number lacks
 * the "_" that ends it.
 */
#include "text/demangle.h"
#include "text/demangle_partly.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* From libstdc++, which C has no header for: an allocated string, or NULL with *status set. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

enum {
    NAME_MAX_BYTES = 16 << 10,   /* a longer name, without its suffix, stays mangled */
    TRIES_MAX = 24,              /* beginnings of one name */
    TRIED_MAX_BYTES = 256 << 10, /* and their bytes in all */
    RESULT_MAX_BYTES = 64 << 10, /* longer results are refused */
    REFERENCES_CHEAP = 12,       /* each reference can at most double the work */
    HELPER_MEMORY = 256 << 20,
    CPU_MAX_MS = 200, /* the helper's CPU time for one name */
    LOOK_MS = 50,
    WAIT_MAX_MS = 5000, /* wall-clock time for one name */
    LATE_MAX = 4,
};

static struct {
    pid_t pid;
    int fd;
    int late; /* names that took too long */
} helper = {.fd = -1};

struct helper_answer {
    uint32_t used;  /* bytes of the name in front of its suffix */
    uint32_t bytes; /* of the result, which follows; 0: none */
};

static char *demangle_here(const char *name)
{
    int status;
    char *plain = __cxa_demangle(name, NULL, NULL, &status);
    /* Demanglers that don't know bfloat16, DF16b, may take it for a fixed-point number. */
    if (plain && strstr(name, "DF16b") && (strstr(plain, " _Accum") || strstr(plain, " _Fract"))) {
        free(plain);
        return NULL;
    }
    if (plain || !strstr(name, "TnDa"))
        return plain;
    /* Newer compilers write "TnDa" before an argument for an `auto` parameter, which older demanglers do not know.
     * Nothing else in the name refers to it. */
    char *older = strdup(name), *to = older;
    for (const char *from = name; to && *from;) {
        if (strncmp(from, "TnDa", 4) == 0)
            from += 4;
        else
            *to++ = *from++;
    }
    if (to)
        *to = '\0';
    plain = older ? __cxa_demangle(older, NULL, NULL, &status) : NULL;
    free(older);
    return plain;
}

/* The demangler knows some suffixes and writes them as "f() [clone .cold]". Cut those off the end of `plain`, and
 * return the length of the name without them. */
static size_t drop_clones(char *plain, const char *name, size_t length)
{
    static const char open[] = " [clone ";
    for (size_t n = strlen(plain); n > sizeof open && plain[n - 1] == ']';) {
        const char *bracket = memrchr(plain, '[', n);
        size_t at = bracket ? (size_t)(bracket - plain) : 0, begins = at + sizeof open - 2, bytes = n - 1 - begins;
        if (!at || begins > n - 1 || strncmp(plain + at - 1, open, sizeof open - 1) != 0 || bytes > length ||
            memcmp(name + length - bytes, plain + begins, bytes) != 0)
            break;
        length -= bytes;
        n = at - 1;
        plain[n] = '\0';
    }
    return length;
}

/* Demangle the beginning of the name, up to a suffix. *used is the length of what was demangled. Cuts `name`. */
static char *demangle_beginning(char *name, size_t length, size_t *used)
{
    char *plain = NULL;
    size_t at = length;
    for (size_t tries = 0, bytes = 0; !plain && at > 2 && tries < TRIES_MAX && bytes < TRIED_MAX_BYTES; at--)
        if (at == length || rtl_may_begin_suffix(name[at])) {
            tries++;
            bytes += at;
            name[at] = '\0';
            plain = demangle_here(name);
            *used = at;
        }
    if (!plain && at > 2) { /* a long chain of suffixes: our own reader may find the end of the name */
        free(rtl_demangle_partly(name, used));
        name[*used] = '\0';
        plain = demangle_here(name);
    }
    if (plain)
        *used = drop_clones(plain, name, *used);
    return plain;
}

static unsigned count_references(const char *name, size_t length)
{
    unsigned n = 0;
    for (size_t i = 0; i + 1 < length; i++) {
        char next = name[i + 1];
        n += (name[i] == 'S' || name[i] == 'T') &&
             (next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z'));
    }
    return n;
}

static bool transfer(int fd, void *data, size_t bytes, bool write_it)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = write_it ? send(fd, (char *)data + done, bytes - done, MSG_NOSIGNAL)
                             : recv(fd, (char *)data + done, bytes - done, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Bytes that are mapped already; sanitizers map many. */
static rlim_t mapped_bytes(void)
{
    unsigned long long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (in && fscanf(in, "%llu", &pages) != 1)
        pages = 0;
    if (in)
        fclose(in);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static _Noreturn void serve_names(int fd)
{
    static char name[NAME_MAX_BYTES + 1];
    struct rlimit memory;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* the thread that forked may block all signals */
    prctl(PR_SET_PDEATHSIG, SIGKILL);      /* when that thread ends */
    prctl(PR_SET_NAME, "rtl-demangle");
    memory.rlim_cur = memory.rlim_max = mapped_bytes() + HELPER_MEMORY;
    setrlimit(RLIMIT_AS, &memory);
    for (int sig = 1; sig < NSIG; sig++)
        signal(sig, sig == SIGINT || sig == SIGTSTP || sig == SIGQUIT || sig == SIGWINCH ? SIG_IGN : SIG_DFL);
    for (uint32_t length; transfer(fd, &length, sizeof length, false) && length <= NAME_MAX_BYTES;) {
        if (!transfer(fd, name, length, false))
            break;
        name[length] = 0;
        size_t used = 0;
        char *plain = demangle_beginning(name, length, &used);
        struct helper_answer answer = {(uint32_t)used, 0};
        answer.bytes = plain && strlen(plain) <= RESULT_MAX_BYTES ? (uint32_t)strlen(plain) : 0;
        if (!transfer(fd, &answer, sizeof answer, true) || (answer.bytes && !transfer(fd, plain, answer.bytes, true)))
            break;
        free(plain);
    }
    _exit(0);
}

static void stop_helper(void)
{
    if (helper.fd < 0)
        return;
    close(helper.fd);
    helper.fd = -1;
    kill(helper.pid, SIGKILL);
    while (waitpid(helper.pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

static bool start_helper(void)
{
    int fds[2];
    if (helper.fd >= 0)
        return true;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return false;
    helper.pid = fork();
    if (helper.pid < 0) {
        close(fds[0]);
        close(fds[1]);
        return false;
    }
    if (!helper.pid) {
        /* the helper must not keep the terminal, a pipe or a segment open when the viewer ends */
        if (fds[1] != 3)
            dup2(fds[1], 3);
        for (int fd = 0; fd < 1024; fd++)
            if (fd != 3)
                close(fd);
        serve_names(3);
    }
    close(fds[1]);
    helper.fd = fds[0];
    return true;
}

/* The limit is CPU time, so that a busy machine does not make a harmless name look hostile. */
static uint64_t helper_cpu_ms(void)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(helper.pid, &clock) || clock_gettime(clock, &used))
        return 0;
    return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

static bool answer_in_time(void)
{
    uint64_t start = helper_cpu_ms();
    for (int waited = 0; waited < WAIT_MAX_MS; waited += LOOK_MS) {
        struct pollfd p = {.fd = helper.fd, .events = POLLIN};
        if (poll(&p, 1, LOOK_MS) > 0)
            return true;
        if (helper_cpu_ms() - start > CPU_MAX_MS)
            return false;
    }
    return false;
}

static char *demangle_apart(const char *name, size_t length, size_t *used)
{
    uint32_t bytes = (uint32_t)length;
    struct helper_answer answer;
    char *plain = NULL;
    if (helper.late >= LATE_MAX || !start_helper())
        return NULL;
    bool sent = transfer(helper.fd, &bytes, sizeof bytes, true);
    char *copy = sent ? strndup(name, length) : NULL;
    sent = copy && transfer(helper.fd, copy, length, true);
    free(copy);
    if (sent && answer_in_time() && transfer(helper.fd, &answer, sizeof answer, false) &&
        answer.bytes <= RESULT_MAX_BYTES && answer.used <= length) {
        plain = answer.bytes ? malloc(answer.bytes + 1) : NULL;
        if (!answer.bytes)
            return NULL;
        if (plain && answer_in_time() && transfer(helper.fd, plain, answer.bytes, false)) {
            plain[answer.bytes] = 0;
            *used = answer.used;
            return plain;
        }
    }
    free(plain);
    helper.late++;
    stop_helper();
    return NULL;
}

static char *append_suffix(char *plain, const char *suffix, size_t length)
{
    size_t n = strlen(plain), size = n + length + sizeof " [clone ]";
    char *both = realloc(plain, size);
    if (both)
        snprintf(both + n, size - n, " [clone %.*s]", (int)length, suffix);
    else
        free(plain);
    return both;
}

char *rtl_demangle(const char *name, size_t length)
{
    size_t head = length, used = 0;
    if (length < 3 || name[0] != '_' || name[1] != 'Z' || memchr(name, 0, length))
        return NULL;
    if (length > NAME_MAX_BYTES)
        for (head = NAME_MAX_BYTES; head > 2 && !rtl_may_begin_suffix(name[head]);)
            head--;
    char *plain = NULL, *copy = NULL;
    if (count_references(name, head) > REFERENCES_CHEAP)
        plain = demangle_apart(name, head, &used);
    else if ((copy = strndup(name, head)))
        plain = demangle_beginning(copy, head, &used);
    free(copy);
    return plain && used < length ? append_suffix(plain, name + used, length - used) : plain;
}
