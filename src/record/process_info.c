/* What /proc says of a process. See process_info.h. */
#include "record/process_info.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_command(pid_t pid, char *out, size_t size)
{
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(out, 1, size - 1, f) : 0;
    if (f)
        fclose(f);
    while (n && !out[n - 1])
        n--;
    for (size_t i = 0; i < n; i++)
        if (!out[i])
            out[i] = ' ';
    out[n] = 0;
}

static void read_runtime(pid_t pid, char *out, size_t size)
{
    char path[48], line[4096 + 128];
    *out = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        char *name = strchr(line, '/');
        if (!name || !strstr(name, "/libhsa-runtime64.so"))
            continue;
        name[strcspn(name, "\n")] = 0;
        snprintf(out, size, "%s", name);
        break;
    }
    if (f)
        fclose(f);
}

void rtl_process_user(pid_t pid, char *out, size_t size)
{
    char path[48];
    struct stat process;
    *out = 0;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &process))
        return;
    const struct passwd *user = getpwuid(process.st_uid);
    if (user)
        snprintf(out, size, "%s", user->pw_name);
    else
        snprintf(out, size, "%u", (unsigned)process.st_uid);
}

void rtl_process_info_read(pid_t pid, struct rtl_process_info *info)
{
    memset(info, 0, sizeof *info);
    gethostname(info->host, sizeof info->host - 1);
    rtl_process_user(pid, info->user, sizeof info->user);
    read_command(pid, info->command, sizeof info->command);
    read_runtime(pid, info->runtime, sizeof info->runtime);
}
