/* Recognises releases of the HSA runtime. See runtime_release.h. */
#include "launch/runtime_release.h"

#include "base/plain_file.h"
#include "shm/process.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 1 << 16, PARENTS = 3 };

#define RUNTIME    "/libhsa-runtime64.so"
#define WHEEL      "rocm_sdk_core-"
#define CHARACTERS "0123456789.+-_~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Copies `length` bytes as a version, as "7.2.4-93", if they begin with a digit and have only CHARACTERS; else "". */
static bool copy_version(char version[RTL_VERSION_MAX], const char *text, size_t length)
{
    bool plain = *text >= '0' && *text <= '9' && length < RTL_VERSION_MAX && strspn(text, CHARACTERS) >= length;
    snprintf(version, RTL_VERSION_MAX, "%.*s", plain ? (int)length : 0, text);
    return *version;
}

bool rtl_version_file(pid_t pid, const char *path, char version[RTL_VERSION_MAX])
{
    char text[2 * RTL_VERSION_MAX] = "";
    struct stat st;
    int fd = rtl_plain_file_open(rtl_process_open(pid, path, O_PATH), &st);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    return copy_version(version, text, n > 0 ? strcspn(text, "\n") : 0);
}

bool rtl_version_of_wheel(const char *name, char version[RTL_VERSION_MAX])
{
    const size_t prefix = strlen(WHEEL);
    const char *end = strstr(name, ".dist-info");
    *version = '\0';
    return !strncmp(name, WHEEL, prefix) && end && !end[strlen(".dist-info")] &&
           copy_version(version, name + prefix, (size_t)(end - name) - prefix);
}

/* Finds the version of a wheel in the name of a folder beside the wheel's own. */
static bool find_wheel(pid_t pid, const char *folder, char version[RTL_VERSION_MAX])
{
    int fd = rtl_process_open(pid, folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK), left = ENTRIES_MAX;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    *version = '\0';
    for (struct dirent *e; dir && !*version && left-- && (e = readdir(dir));)
        rtl_version_of_wheel(e->d_name, version);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return *version;
}

/* Finds the version in a folder's name in the path, as in /opt/rocm-6.4.3/lib and /opt/rocm/core-7.14/lib. */
static bool find_in_path(const char *path, char version[RTL_VERSION_MAX])
{
    const char *at = strstr(path, "/rocm-"), *core = strstr(path, "/rocm/core-");
    at = at ? at + strlen("/rocm-") : core ? core + strlen("/rocm/core-") : "";
    return copy_version(version, at, strcspn(at, "/"));
}

/* Finds the version in the folders above the runtime or in its path; returns the source's name, or NULL. */
static const char *find_version(pid_t pid, const char *path, unsigned build, char version[RTL_VERSION_MAX])
{
    char folder[PATH_MAX], file[PATH_MAX + 20];
    /* after an upgrade the folders are about another release than the one that the process has loaded */
    bool replaced = pid && strstr(path, " (deleted)");
    snprintf(folder, sizeof folder, "%s", path);
    for (int i = 0; i < PARENTS && !replaced && strrchr(folder, '/'); i++) {
        *strrchr(folder, '/') = '\0';
        snprintf(file, sizeof file, "%s/.info/version", folder);
        if (rtl_version_file(pid, file, version))
            return ".info/version";
        if (i == PARENTS - 1 && strstr(path, "/_rocm_sdk_") && find_wheel(pid, folder, version))
            return "Python wheel";
    }
    /* the vendor's files end in the release, 60403 for 6.4.3 */
    if (build >= 10000)
        snprintf(version, RTL_VERSION_MAX, "%u.%u.%u", build / 10000, build / 100 % 100, build % 100);
    return build >= 10000 ? "its file's name" : find_in_path(path, version) ? "its folder's name" : NULL;
}

void rtl_runtime_release_read(pid_t pid, const char *path, struct rtl_runtime_release *release)
{
    char real[PATH_MAX], version[RTL_VERSION_MAX];
    unsigned major = 0, minor = 0, build = 0, patch = 0;
    *release = (struct rtl_runtime_release){.name = "HSA runtime"};
    /* another process's mapping shows the real path; realpath would resolve it below our own root */
    if (pid || !realpath(path, real))
        snprintf(real, sizeof real, "%s", path);
    const char *number = strstr(real, RUNTIME ".");
    if (number)
        sscanf(number, RUNTIME ".%5u.%5u.%6u", &major, &minor, &build);
    const char *from = find_version(pid, real, build, version);
    if (from)
        snprintf(release->name, sizeof release->name, "ROCm %s (%s)", version, from);
    else if (major)
        snprintf(release->name, sizeof release->name, "HSA runtime %u.%u", major, minor);
    if (from && sscanf(version, "%3u.%2u.%2u", &major, &minor, &patch) >= 2)
        release->rocm = major * 10000 + minor * 100 + patch;
}

bool rtl_runtime_release_loaded(pid_t pid, struct rtl_runtime_release *release)
{
    char path[PATH_MAX];
    bool loaded = rtl_process_mapped_file(pid, RUNTIME, path, sizeof path);
    if (loaded)
        rtl_runtime_release_read(pid, path, release);
    return loaded;
}

bool rtl_runtime_overwrites(const struct rtl_runtime_release *release)
{
    return release->rocm >= 70200 && release->rocm < 70205;
}
