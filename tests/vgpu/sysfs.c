/*
 * sysfs.c - the driver's files in /sys beside the topology: the folders by PCI address, of DRM and of hardware
 * monitors, which rocm-smi, amd-smi and programs with their libraries read. The model makes them on request; no real
 * file exists.
 *
 * One folder holds a GPU's files, /sys/devices/pci0000:00/0000:BB:00.0; the others are links to it, as in the kernel's
 * tree. Every path is resolved through the links first. Memory in use is that of this process, because each process has
 * its own GPUs.
 */
#include "vgpu.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PCI_ROOT "/sys/devices/pci0000:00"
enum { PATH_MAX_HERE = 512 };

/* A GPU's files: literal text, or "=" and the name of a number of the model. */
static const struct {
    const char *name, *text;
} gpu_files[] = {
    {"vendor", "0x1002"},
    {"device", "=device"},
    {"subsystem_vendor", "0x1002"},
    {"subsystem_device", "0x0c34"},
    {"revision", "0x02"},
    {"class", "0x120000"},
    {"uevent", "=uevent"},
    {"numa_node", "0"},
    {"local_cpulist", "0"},
    {"unique_id", "=unique"},
    {"serial_number", "=unique"},
    {"product_name", "=marketing"},
    {"vbios_version", "113-MODEL-001"},
    {"gpu_busy_percent", "0"},
    {"mem_busy_percent", "0"},
    {"mem_info_vram_total", "=vram"},
    {"mem_info_vram_used", "=vram_used"},
    {"mem_info_vis_vram_total", "=visible"},
    {"mem_info_vis_vram_used", "=vram_used"},
    {"mem_info_gtt_total", "=gtt"},
    {"mem_info_gtt_used", "0"},
    {"mem_info_vram_vendor", "software"},
    {"pp_dpm_sclk", "=sclk"},
    {"pp_dpm_mclk", "=mclk"},
    {"pp_dpm_pcie", "0: 16.0GT/s, x16 *"},
    {"power_dpm_force_performance_level", "auto"},
    {"current_link_speed", "16.0 GT/s PCIe"},
    {"current_link_width", "16"},
    {"max_link_speed", "16.0 GT/s PCIe"},
    {"max_link_width", "16"},
    {"pcie_replay_count", "0"},
    {"pcie_bw", "0 0 256"},
    {"hwmon/hwmon#/name", "amdgpu"},
    {"hwmon/hwmon#/temp1_input", "35000"},
    {"hwmon/hwmon#/temp1_label", "edge"},
    {"hwmon/hwmon#/temp1_crit", "100000"},
    {"hwmon/hwmon#/temp2_input", "38000"},
    {"hwmon/hwmon#/temp2_label", "junction"},
    {"hwmon/hwmon#/temp3_input", "36000"},
    {"hwmon/hwmon#/temp3_label", "mem"},
    {"hwmon/hwmon#/power1_average", "40000000"},
    {"hwmon/hwmon#/power1_label", "slowPPT"},
    {"hwmon/hwmon#/power1_cap", "300000000"},
    {"hwmon/hwmon#/power1_cap_default", "300000000"},
    {"hwmon/hwmon#/power1_cap_max", "300000000"},
    {"hwmon/hwmon#/power1_cap_min", "0"},
    {"drm/card#/dev", "=card"},
    {"drm/render#/dev", "=render"},
};

/* Folders that do not belong to a GPU. '#' stands for each GPU's number in turn (renders: 128 more). */
static const struct {
    const char *folder, *names;
} class_folders[] = {
    {"/sys/class/drm", "card# render#"},
    {"/sys/class/hwmon", "hwmon#"},
    {"/sys/class/kfd/kfd/proc", ""},
    {"/sys/module/amdgpu", "initstate version"},
};

static const struct {
    const char *file, *text;
} module_files[] = {
    {"/sys/module/amdgpu/initstate", "live"},
    {"/sys/module/amdgpu/version", "6.12.12"},
};

static const char *model_text(const char *what, int gpu, char *out, size_t size)
{
    const struct vg_model *m = vg_cfg.model;
    unsigned long long vram = m->vram;
    if (!strcmp(what, "device"))
        snprintf(out, size, "0x%04x", m->device_id);
    else if (!strcmp(what, "uevent"))
        snprintf(out, size,
                 "DRIVER=amdgpu\nPCI_CLASS=120000\nPCI_ID=1002:%04X\nPCI_SUBSYS_ID=1002:0C34\n"
                 "PCI_SLOT_NAME=0000:%02x:00.0",
                 m->device_id, gpu + 3);
    else if (!strcmp(what, "unique"))
        snprintf(out, size, "%llx", 0x7b3e5d2c9a100000ull + (unsigned long long)gpu);
    else if (!strcmp(what, "marketing"))
        return m->marketing;
    else if (!strcmp(what, "vram"))
        snprintf(out, size, "%llu", vram);
    else if (!strcmp(what, "vram_used"))
        snprintf(out, size, "%llu", vram - (unsigned long long)vg_mem_available(gpu));
    else if (!strcmp(what, "visible"))
        snprintf(out, size, "%llu", vg_cfg.large_bar ? vram : 256ull << 20);
    else if (!strcmp(what, "gtt"))
        snprintf(out, size, "%llu", vram / 2);
    else if (!strcmp(what, "sclk"))
        snprintf(out, size, "0: 500Mhz\n1: %uMhz *", m->clock_mhz);
    else if (!strcmp(what, "mclk"))
        snprintf(out, size, "0: 400Mhz\n1: %uMhz *", m->mem_clock_mhz);
    else if (!strcmp(what, "card"))
        snprintf(out, size, "226:%d", gpu);
    else
        snprintf(out, size, "226:%d", 128 + gpu);
    return out;
}

/* "drm/card#" of GPU 2 is "drm/card2", "render#" is renderD130 */
static void expand_number(const char *pattern, int gpu, char *out, size_t size)
{
    const char *hash = strchr(pattern, '#');
    if (!hash)
        snprintf(out, size, "%s", pattern);
    else if (hash - pattern >= 6 && !strncmp(hash - 6, "render", 6))
        snprintf(out, size, "%.*sD%d%s", (int)(hash - pattern), pattern, 128 + gpu, hash + 1);
    else
        snprintf(out, size, "%.*s%d%s", (int)(hash - pattern), pattern, gpu, hash + 1);
}

/* Resolve the first link in path. `to` gets the link's complete target, *rest what follows it in the path. */
static bool link_in(const char *path, char *to, size_t size, const char **rest)
{
    static const struct {
        const char *from, *into; /* '@' stands for the GPU's own folder */
    } links[] = {
        {"/sys/class/drm/card#", "@/drm/card#"},
        {"/sys/class/drm/render#", "@/drm/render#"},
        {"/sys/class/hwmon/hwmon#", "@/hwmon/hwmon#"},
        {"@/drm/card#/device", "@"},
        {"@/drm/render#/device", "@"},
        {"@/hwmon/hwmon#/device", "@"},
    };
    for (int gpu = 0; gpu < vg_cfg.gpus; gpu++) {
        char own[64], from[PATH_MAX_HERE], side[2][PATH_MAX_HERE];
        snprintf(own, sizeof own, PCI_ROOT "/0000:%02x:00.0", gpu + 3);
        snprintf(from, sizeof from, "/sys/bus/pci/devices/0000:%02x:00.0", gpu + 3);
        for (size_t i = 0; i <= sizeof links / sizeof *links; i++) {
            bool pci = i == sizeof links / sizeof *links;
            for (int s = 0; s < 2; s++) {
                char numbered[PATH_MAX_HERE];
                const char *pattern = pci ? s ? "@" : from : s ? links[i].into : links[i].from;
                expand_number(pattern, gpu, numbered, sizeof numbered);
                if (numbered[0] == '@')
                    snprintf(side[s], sizeof side[s], "%s%.400s", own, numbered + 1);
                else
                    snprintf(side[s], sizeof side[s], "%s", numbered);
            }
            size_t n = strlen(side[0]);
            if (!strncmp(path, side[0], n) && (path[n] == '/' || !path[n])) {
                snprintf(to, size, "%s", side[1]);
                *rest = path + n;
                return true;
            }
        }
    }
    return false;
}

/* Normalise path: no "..", "." or double slashes, links resolved (the last one only if follow). False: not the
 * model's. */
static bool lead(const char *path, bool follow, char *out)
{
    size_t len = 0;
    char to[PATH_MAX_HERE];
    const char *rest;
    if (!path || strncmp(path, "/sys/", 5) || strlen(path) >= PATH_MAX_HERE)
        return false;
    for (const char *p = path; *p;) {
        while (*p == '/')
            p++;
        size_t n = strcspn(p, "/");
        if (!n)
            break;
        if (n == 2 && !strncmp(p, "..", 2)) {
            while (len && out[--len] != '/')
                ;
        } else if (n != 1 || *p != '.') {
            if (len + n + 2 > PATH_MAX_HERE)
                return false;
            out[len++] = '/';
            memcpy(out + len, p, n);
            len += n;
        }
        p += n;
        out[len] = '\0';
        if ((follow || *p) && link_in(out, to, sizeof to, &rest)) {
            len = strlen(to);
            memcpy(out, to, len + 1);
        }
    }
    return true;
}

/* GPU whose folder contains the resolved path, and the remaining path ("" for the folder itself); -1: none. */
static int gpu_of(const char *led, const char **rest)
{
    for (int gpu = 0; gpu < vg_cfg.gpus; gpu++) {
        char own[64];
        size_t n = (size_t)snprintf(own, sizeof own, PCI_ROOT "/0000:%02x:00.0", gpu + 3);
        if (!strncmp(led, own, n) && (led[n] == '/' || !led[n])) {
            *rest = led + n + (led[n] == '/');
            return gpu;
        }
    }
    return -1;
}

char *vg_sysfs_file(const char *path, size_t *len)
{
    char led[PATH_MAX_HERE], name[PATH_MAX_HERE], text[512];
    const char *rest, *found = NULL;
    if (!lead(path, true, led))
        return NULL;
    int gpu = gpu_of(led, &rest);
    for (size_t i = 0; gpu < 0 && i < sizeof module_files / sizeof *module_files; i++)
        if (!strcmp(led, module_files[i].file))
            found = module_files[i].text;
    for (size_t i = 0; gpu >= 0 && !found && i < sizeof gpu_files / sizeof *gpu_files; i++) {
        expand_number(gpu_files[i].name, gpu, name, sizeof name);
        if (!strcmp(rest, name))
            found = gpu_files[i].text[0] == '=' ? model_text(gpu_files[i].text + 1, gpu, text, sizeof text)
                                                : gpu_files[i].text;
    }
    size_t n = found ? strlen(found) : 0;
    char *copy = found ? malloc(n + 2) : NULL;
    if (copy) {
        memcpy(copy, found, n);
        memcpy(copy + n, "\n", 2);
        *len = n + 1;
    }
    return copy;
}

static void add_name(char **names, size_t *len, const char *name, size_t n)
{
    for (size_t at = 0; at < *len; at += strlen(*names + at) + 1)
        if (strlen(*names + at) == n && !memcmp(*names + at, name, n))
            return;
    char *more = realloc(*names, *len + n + 2);
    if (!more)
        return;
    memcpy(more + *len, name, n);
    memset(more + *len + n, 0, 2);
    *names = more;
    *len += n + 1;
}

char *vg_sysfs_dir(const char *path)
{
    char led[PATH_MAX_HERE], name[PATH_MAX_HERE];
    const char *rest;
    if (!lead(path, true, led))
        return NULL;
    char *names = calloc(1, 2);
    size_t len = 0;
    bool found = false;
    int gpu = gpu_of(led, &rest);
    for (size_t i = 0; names && gpu < 0 && i < sizeof class_folders / sizeof *class_folders; i++) {
        if (strcmp(led, class_folders[i].folder) != 0)
            continue;
        found = true;
        for (const char *p = class_folders[i].names; *p; p += strspn(p, " ")) {
            char pattern[32];
            size_t n = strcspn(p, " ");
            snprintf(pattern, sizeof pattern, "%.*s", (int)n, p);
            for (int each = 0; each < vg_cfg.gpus; each++) {
                expand_number(pattern, each, name, sizeof name);
                add_name(&names, &len, name, strlen(name));
            }
            p += n;
        }
    }
    size_t depth = gpu >= 0 ? strlen(rest) : 0;
    for (size_t i = 0; names && gpu >= 0 && i < sizeof gpu_files / sizeof *gpu_files; i++) {
        expand_number(gpu_files[i].name, gpu, name, sizeof name);
        if (depth && (strncmp(name, rest, depth) != 0 || name[depth] != '/'))
            continue;
        found = true;
        const char *next = name + depth + (depth > 0);
        add_name(&names, &len, next, strcspn(next, "/"));
    }
    if (found)
        return names;
    free(names);
    return NULL;
}

bool vg_sysfs_link(const char *path, char *to, size_t size)
{
    char led[PATH_MAX_HERE];
    const char *rest;
    return lead(path, false, led) && link_in(led, to, size, &rest) && !*rest;
}

uint64_t vg_sysfs_number(const char *path, bool follow)
{
    char led[PATH_MAX_HERE];
    uint64_t h = 1469598103934665603ull;
    for (const char *p = lead(path, follow, led) ? led : path; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211ull;
    return h;
}
