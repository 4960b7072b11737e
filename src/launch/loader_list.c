/* Runs the dynamic loader to list libraries. See loader_list.h. */
#include "launch/loader_list.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { LIST_MAX = 1 << 18 };
static const uint64_t PATIENCE_NS = 10000000000ull;

static bool own_loader(char *path, size_t size)
{
    char why[100];
    struct rtl_elf_file *self = malloc(sizeof *self);
    bool known = self && rtl_elf_read("/proc/self/exe", self, why, sizeof why) && self->interpreter[0] == '/';
    if (known)
        snprintf(path, size, "%s", self->interpreter);
    free(self);
    return known;
}

bool rtl_loader_is_ours(const struct rtl_elf_file *elf)
{
    char ours[RTL_ELF_NAME_MAX + 1];
    return own_loader(ours, sizeof ours) && strcmp(ours, elf->interpreter) == 0;
}

/* Reads until the end of the output, LIST_MAX bytes or PATIENCE_NS. */
static void read_output(int fd, char *list)
{
    uint64_t from = rtl_mono_ns();
    size_t used = 0;
    while (used < LIST_MAX - 1) {
        uint64_t waited = rtl_mono_ns() - from;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (waited >= PATIENCE_NS || poll(&p, 1, (int)((PATIENCE_NS - waited) / 1000000) + 1) <= 0)
            break;
        ssize_t n = read(fd, list + used, LIST_MAX - 1 - used);
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    list[used] = '\0';
    for (size_t i = 0; i < used; i++) /* the list is searched as text */
        if (!list[i])
            list[i] = '?';
}

char *rtl_loader_list(const char *path)
{
    char loader[RTL_ELF_NAME_MAX + 1], *list = malloc(LIST_MAX);
    int out[2];
    if (!list || !own_loader(loader, sizeof loader) || pipe2(out, O_CLOEXEC) != 0) {
        free(list);
        return NULL;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        for (int fd = STDOUT_FILENO; fd <= STDOUT_FILENO + 1; fd++)
            if (dup2(out[1], fd) < 0)
                _exit(1);
        if (null >= 0)
            dup2(null, STDIN_FILENO);
        execl(loader, loader, "--list", path, (char *)NULL);
        _exit(1);
    }
    close(out[1]);
    list[0] = '\0';
    if (pid > 0) {
        read_output(out[0], list);
        kill(pid, SIGKILL); /* it has ended, or hangs */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(out[0]);
    return list;
}

bool rtl_loader_find(const char **at, const char *name, char *where, size_t size)
{
    while (**at) {
        const char *word = *at + strspn(*at, " \t"), *end = *at + strcspn(*at, "\n");
        const char *arrow = strstr(word, " => ");
        *at = end + (*end == '\n');
        if (strncmp(word, name, strlen(name)) != 0 || !arrow || arrow > end)
            continue;
        arrow += 4;
        const char *stop = strstr(arrow, " (0x");
        if (*arrow != '/' || !stop || stop > end)
            stop = arrow;
        snprintf(where, size, "%.*s", (int)(stop - arrow), arrow);
        return true;
    }
    return false;
}

bool rtl_loader_complaint(const char *list, char *text, size_t size)
{
    for (const char *line = list; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *word = line + strspn(line, " \t");
        int length = (int)strcspn(word, "\n");
        if (!memmem(word, (size_t)length, "not found", 9) && !memmem(word, (size_t)length, "error while loading", 19))
            continue;
        snprintf(text, size, "%.*s", length, word);
        return true;
    }
    return false;
}
