/*
 * Demangling with a bound on time and memory. See demangle.h.
 *
 * One helper process demangles all names that could be expensive. It reads a length and a name from a socket, and
 * answers with two lengths and the result. If a name takes too long, the viewer kills the helper and the name stays
 * mangled. After LATE_MAX such names the viewer starts no helper any more, so hostile names cost a bounded time once.
 *
 * The demangler refuses the whole name if it doesn't know the suffix or a type's code, or if the name ends early. A
 * refused name is adapted (below) and tried once more.
 */
#include "text/demangle.h"
#include "text/names_scan.h"

#include <ctype.h>
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

/*
 * --- names that the demangler refuses: codes of newer compilers, suffixes, and names that end early ---
 *
 * A scan copies the name token by token. The scan knows the tokens and the brackets, but not the targets of
 * references. After each token that completes a part, the scan notes the place and the open brackets. A name with an
 * unknown token is cut at the last such place, and its brackets are closed. The demangler judges the result.
 */

enum {
    BRACKETS_MAX = 64,
    ACCEPTED_MAX = 1024, /* the demangler refuses longer names */
    CLOSE_MAX = 6,       /* bytes that close one bracket */
};
static const char ellipsis[] = "3..."; /* a type of that name */

/* Types that no GPU has stand in for types that older demanglers don't know; references count neither. */
static const struct {
    const char *stand_in, *name;
} types[] = {{"decimal32", "__bf16"}, {"decimal64", "_BitInt(8)"}, {"decimal128", "unsigned _BitInt(8)"}};

/* Before an argument, newer compilers write the type of its parameter behind Tn. References count the parts of that
 * type, so the scan makes the type an argument between two others, "g"; restore_adapted() drops them. */
static const char hidden[] = "__float128, ";

enum token {
    UNKNOWN,
    PREFIX, /* something has to follow */
    PART    /* a part of the name is complete */
};

struct brackets {
    char open[BRACKETS_MAX];
    int depth;
};

struct adapter {
    const char *at;
    char *out;
    size_t used;
    struct brackets now, cut; /* cut: at the last place where the name can be cut */
    size_t cut_used;
    int hidden; /* depth of a hidden argument that begins; 0: none */
};

/* Codes by what follows them; of two codes with the same beginning the longer one comes first. */
static const struct mangled_codes {
    const char *codes;   /* separated by spaces */
    const char *written; /* instead of the code; NULL: the code */
    char open;           /* the bracket that the code opens, which an E closes; 0: none */
    bool counted;        /* digits or capitals and "_" follow */
    enum token token;
} codes[] = {
    {"DF16b", "Df", 0, false, PART},
    {"DF16_", "Dh", 0, false, PART},
    {"DB8_", "Dd", 0, false, PART},
    {"DU8_", "De", 0, false, PART},
    {"TnDa Ty", "", 0, false, PREFIX},
    {"Tn", "g", 0, false, PREFIX},
    {"Sa Sb Ss C1 C2 Da Dn Dh Di Ds Du", NULL, 0, false, PART},
    {"Ut", NULL, 0, true, PART},
    {"Dv A", NULL, 0, true, PREFIX},
    {"Ul", NULL, 'U', false, PREFIX},
    {"XadL_Z", NULL, 'A', false, PREFIX}, /* the address of a function */
    {"Dt DT X", NULL, 'X', false, PREFIX},
    {"Dp St P R O K V M B U u", NULL, 0, false, PREFIX},
    {"S T", NULL, 0, true, PART},
    {"I", NULL, 'I', false, PART},
    {"J", NULL, 'J', false, PART},
    {"N", NULL, 'N', false, PREFIX},
    {"F", NULL, 'F', false, PREFIX},
    {"Z", NULL, 'Z', false, PREFIX},
    {"L_Z", NULL, 'M', false, PREFIX},
};

static void write_bytes(struct adapter *a, const char *bytes, size_t length)
{
    memcpy(a->out + a->used, bytes, length);
    a->used += length;
}

static void copy_bytes(struct adapter *a, size_t length)
{
    write_bytes(a, a->at, length);
    a->at += length;
}

static char innermost(const struct adapter *a)
{
    return a->now.depth ? a->now.open[a->now.depth - 1] : '\0';
}

static bool open_bracket(struct adapter *a, char bracket)
{
    if (a->now.depth == BRACKETS_MAX)
        return false;
    a->now.open[a->now.depth++] = bracket;
    return true;
}

/* Copy a reference's or lambda's number: digits or capitals, and "_". */
static bool copy_number(struct adapter *a)
{
    size_t n = 0;
    while (isdigit((unsigned char)a->at[n]) || isupper((unsigned char)a->at[n]))
        n++;
    if (a->at[n] != '_')
        return false;
    copy_bytes(a, n + 1);
    return true;
}

/* Note that the name can be cut here, unless a literal or an expression would be incomplete, or the name too long. */
static void note_part(struct adapter *a)
{
    size_t depth = (size_t)a->now.depth;
    if (a->used + CLOSE_MAX * depth + 2 * sizeof ellipsis > ACCEPTED_MAX || memchr(a->now.open, 'L', depth) ||
        memchr(a->now.open, 'X', depth))
        return;
    a->cut = a->now;
    a->cut_used = a->used;
}

/* An identifier that the name's end cuts is written with the length that is left. */
static enum token copy_identifier(struct adapter *a)
{
    char digits[24];
    char *end;
    size_t length = strtoul(a->at, &end, 10), there = strnlen(end, length);
    if (!there || ((unsigned char)end[there] & 0xc0) == 0x80) /* no compiler ends an identifier within a character */
        return UNKNOWN;
    write_bytes(a, digits, (size_t)snprintf(digits, sizeof digits, "%zu", there));
    a->at = end;
    copy_bytes(a, there);
    if (there == length)
        return PART;
    note_part(a);
    return UNKNOWN;
}

static enum token close_bracket(struct adapter *a)
{
    char bracket = innermost(a);
    if (!bracket)
        return UNKNOWN;
    if (bracket == 'A' && a->at[1] != 'E')
        return UNKNOWN;
    copy_bytes(a, bracket == 'A' ? 2 : 1);
    a->now.depth--;
    if (bracket == 'U' && !copy_number(a))
        return UNKNOWN;
    return bracket == 'Z' ? PREFIX : PART; /* the name of the local entity follows */
}

/* Copy an operator in a name or expression. */
static enum token copy_operator(struct adapter *a)
{
    bool expression = innermost(a) == 'X';
    if (!islower((unsigned char)a->at[1]) && a->at[1] != 'L')
        return UNKNOWN;
    bool calls = strchr("cit", a->at[0]) && strchr("lp", a->at[1]),
         parameter = a->at[0] == 'f' && strchr("pL", a->at[1]);
    copy_bytes(a, 2);
    if (expression && calls)
        return open_bracket(a, 'X') ? PREFIX : UNKNOWN;
    if (expression && parameter)
        return copy_number(a) ? PART : UNKNOWN;
    return PART;
}

/* Return the length of the code of this row that the text begins with; 0: none. */
static size_t code_length(const char *text, const char *codes_of_row)
{
    for (const char *code = codes_of_row; *code; code += strspn(code, " ")) {
        size_t length = strcspn(code, " ");
        if (!strncmp(text, code, length))
            return length;
        code += length;
    }
    return 0;
}

static enum token copy_code(struct adapter *a, const struct mangled_codes *row, size_t length)
{
    const char *written = row->written ? row->written : a->at;
    size_t from = a->used;
    write_bytes(a, written, row->written ? strlen(written) : length);
    a->at += length;
    if ((row->open && !open_bracket(a, row->open)) || (row->counted && !copy_number(a)))
        return UNKNOWN;
    if (*written == 'g')
        a->hidden = a->now.depth;
    if (*written == 'T' && a->hidden) { /* the demangler doesn't know the parameter so early */
        a->used = from;
        write_bytes(a, "1T", 2);
    }
    return row->token;
}

static enum token copy_token(struct adapter *a)
{
    char bracket = innermost(a);
    bool argument = bracket && strchr("IJX", bracket);
    if (isdigit((unsigned char)*a->at))
        return copy_identifier(a);
    if (*a->at == 'E')
        return close_bracket(a);
    if (*a->at == '_') { /* distinguishes local entities with one name */
        copy_bytes(a, 1 + strspn(a->at + 1, "0123456789"));
        return PART;
    }
    for (size_t i = 0, length; i < sizeof codes / sizeof *codes; i++)
        if ((length = code_length(a->at, codes[i].codes)))
            return copy_code(a, &codes[i], length);
    if (*a->at == 'L' && (!argument || open_bracket(a, 'L'))) { /* a literal, or a name with internal linkage */
        copy_bytes(a, 1);
        return PREFIX;
    }
    if (!islower((unsigned char)*a->at))
        return UNKNOWN;
    if (bracket == 'N' || (bracket == 'X' && a->at[1] != 'E'))
        return copy_operator(a);
    copy_bytes(a, 1); /* a type */
    return PART;
}

static bool may_begin_suffix(char c)
{
    return c && strchr("._$@~", c);
}

/* Cut the name at the last possible place and close its brackets. */
static void complete_name(struct adapter *a)
{
    bool said = false;
    a->used = a->cut_used;
    for (int i = a->cut.depth; i-- > 0;) {
        char bracket = a->cut.open[i];
        if (!said && (bracket == 'I' || bracket == 'J')) {
            write_bytes(a, ellipsis, sizeof ellipsis - 1);
            said = true;
        }
        const char *close = bracket == 'Z'   ? "vE3..."
                            : bracket == 'F' ? "vE"
                            : bracket == 'U' ? "E_"
                            : bracket == 'A' ? "EE"
                                             : "E";
        write_bytes(a, close, strlen(close));
    }
    write_bytes(a, "vv", 2); /* a return type and a parameter, for names that need them */
}

struct adapted_name {
    char *mangled;  /* the caller frees it; NULL without memory, or if not even an identifier can be read */
    size_t used;    /* bytes of the name in front of its suffix; all of them if it has none */
    bool completed; /* the name ends early, is too long, or has unknown syntax: "..." stands for missing arguments */
};

/* `complete`: the name ends early, whatever it looks like. */
static struct adapted_name adapt_name(const char *name, bool complete)
{
    struct adapted_name result = {.used = strlen(name)};
    struct adapter *a = calloc(1, sizeof *a);
    enum token token = PREFIX;
    if (a && result.used > 2 && (a->out = malloc(result.used + BRACKETS_MAX * CLOSE_MAX + 2 * sizeof ellipsis))) {
        a->at = name;
        copy_bytes(a, 2);
        for (; *a->at && (token = copy_token(a)) != UNKNOWN;) {
            if (token != PART)
                continue;
            if (innermost(a) == 'L' && *a->at != 'I') /* the literal's value */
                copy_bytes(a, strspn(a->at, "0123456789abcdefn"));
            if (a->hidden && a->now.depth == a->hidden && *a->at != 'I') {
                write_bytes(a, "g", 1);
                a->hidden = 0;
            }
            note_part(a);
            if (!a->now.depth && may_begin_suffix(*a->at))
                break;
        }
        bool whole = token == PART && !a->now.depth;
        if (whole)
            result.used = (size_t)(a->at - name);
        result.completed = complete || !whole || a->used > ACCEPTED_MAX;
        if (result.completed)
            complete_name(a);
        a->out[a->used] = '\0';
        result.mangled = a->cut_used ? a->out : NULL;
        if (!result.mangled)
            free(a->out);
    }
    free(a);
    return result;
}

/* Return the demangled name with the types for which the adapted name has stand-ins; the parameters of a completed name
 * are unknown, "(...)". NULL without memory. */
static char *restore_adapted(const char *plain, bool completed)
{
    struct rtl_name_span name = {plain, strlen(plain)};
    char *text = NULL;
    size_t size, count = sizeof types / sizeof *types;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (completed)
        name = rtl_span_declared(name);
    for (const char *at = name.at, *end = name.at + name.length; at < end;) {
        size_t i = 0;
        while (i < count && strncmp(at, types[i].stand_in, strlen(types[i].stand_in)) != 0)
            i++;
        if (i < count) {
            fputs(types[i].name, out);
            at += strlen(types[i].stand_in);
        } else if (!strncmp(at, hidden, sizeof hidden - 1)) {
            const char *last = strstr(at + 1, hidden);
            at = (last && last < end ? last : at) + sizeof hidden - 1;
        } else {
            fputc(*at++, out);
        }
    }
    if (completed)
        fputs("(...)", out);
    if (!fclose(out))
        return text;
    free(text);
    return NULL;
}

/* --- the demangler and its helper process --- */

/* From libstdc++, which C has no header for: an allocated string, or NULL with *status set. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

enum {
    NAME_MAX_BYTES = 16 << 10,   /* a longer name is cut and completed */
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

static char *demangle_adapted(const char *name, bool complete, size_t *used)
{
    struct adapted_name adapted = adapt_name(name, complete);
    char *found = adapted.mangled ? demangle_here(adapted.mangled) : NULL;
    char *plain = found ? restore_adapted(found, adapted.completed) : NULL;
    free(found);
    free(adapted.mangled);
    *used = adapted.used;
    return plain;
}

/* Demangle the name up to a suffix. *used is the length of the demangled part. */
static char *demangle_beginning(const char *name, size_t length, size_t *used)
{
    char *plain = demangle_here(name);
    *used = length;
    if (!plain)
        plain = demangle_adapted(name, false, used);
    if (!plain)
        plain = demangle_adapted(name, true, used);
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
    if (head > NAME_MAX_BYTES)
        head = NAME_MAX_BYTES;
    char *plain = NULL, *copy = NULL;
    if (count_references(name, head) > REFERENCES_CHEAP)
        plain = demangle_apart(name, head, &used);
    else if ((copy = strndup(name, head)))
        plain = demangle_beginning(copy, head, &used);
    free(copy);
    if (used == head)
        used = length;
    return plain && used < length ? append_suffix(plain, name + used, length - used) : plain;
}
