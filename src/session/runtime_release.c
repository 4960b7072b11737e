/* Recognises releases of the HSA runtime. See runtime_release.h. */
#include "session/runtime_release.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A folder of the path that is named for a release, as in /opt/rocm-6.4.3/lib. */
static unsigned from_folder(const char *path)
{
    const char *at = strstr(path, "/rocm-");
    unsigned major, minor, patch = 0;
    if (!at || sscanf(at, "/rocm-%3u.%2u.%2u", &major, &minor, &patch) < 2)
        return 0;
    return major * 10000 + minor * 100 + patch;
}

void rtl_runtime_release_read(const char *path, struct rtl_runtime_release *release)
{
    char real[PATH_MAX];
    unsigned major = 0, minor = 0, build = 0;
    *release = (struct rtl_runtime_release){.name = "HSA runtime"};
    /* below another process's root a path is as it was mapped; resolved it would be one below ours */
    if (!strncmp(path, "/proc/", 6) || !realpath(path, real))
        snprintf(real, sizeof real, "%s", path);
    const char *version = strstr(real, "libhsa-runtime64.so.");
    if (version)
        sscanf(version, "libhsa-runtime64.so.%5u.%5u.%6u", &major, &minor, &build);
    /* the vendor's files end in the release, 60403 for 6.4.3 */
    release->rocm = build >= 10000 ? build : from_folder(real);
    if (release->rocm)
        snprintf(release->name, sizeof release->name, "ROCm %u.%u.%u", release->rocm / 10000, release->rocm / 100 % 100,
                 release->rocm % 100);
    else if (major)
        snprintf(release->name, sizeof release->name, "HSA runtime %u.%u", major, minor);
}

bool rtl_runtime_overwrites(const struct rtl_runtime_release *release)
{
    return release->rocm >= 70200 && release->rocm < 70205;
}
