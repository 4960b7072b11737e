/*
 * topology.c - the files below /sys/.../kfd/topology, made on request from the model's table.
 *
 * Node 0 is this machine's CPU, nodes 1 to N are the GPUs, each linked to the CPU by PCI Express and to the other
 * GPUs by XGMI, or by PCI Express (--pcie). The thunk reads the files only with fopen and opendir (interpose.c), so no
 * real file exists.
 */
#include "vgpu.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const roots[] = {
    "/sys/devices/virtual/kfd/kfd/topology",
    "/sys/class/kfd/kfd/topology",
};

#define CPU_CACHES 1 /* with 0 the runtime reads /sys/devices/system, which a chroot may lack */
#define GPU_CACHES 3

uint32_t vg_gpu_id(int gpu)
{
    return 0x5100u + (uint32_t)gpu * 0x11; /* must be distinct and not 0 */
}

int vg_gpu_index(uint32_t gpu_id)
{
    for (int i = 0; i < vg_cfg.gpus; i++)
        if (vg_gpu_id(i) == gpu_id)
            return i;
    return -1;
}

/* The path below the topology folder ("" for the folder itself); NULL: outside of it. */
static const char *path_below_root(const char *path)
{
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        size_t n = strlen(roots[i]);
        if (!strncmp(path, roots[i], n) && (path[n] == '/' || !path[n])) {
            path += n;
            while (*path == '/')
                path++;
            return path;
        }
    }
    return NULL;
}

bool vg_is_topology_path(const char *path)
{
    return path && path[0] == '/' && path[1] == 's' && path_below_root(path);
}

struct text {
    char *p;
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...)
{
    char line[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    char *p = n > 0 ? realloc(t->p, t->len + (size_t)n + 1) : NULL;
    if (!p)
        return;
    memcpy(p + t->len, line, (size_t)n + 1);
    t->p = p;
    t->len += (size_t)n;
}

static unsigned links_of(int node)
{
    /* A GPU has links to the CPU and to every other GPU. The CPU has links to GPUs only if it can reach their memory:
     * runtimes detect a large BAR this way. */
    return node || vg_cfg.large_bar ? (unsigned)vg_cfg.gpus : 0;
}

static void node_properties(struct text *t, int node)
{
    const struct vg_model *m = vg_cfg.model;
    int gpu = node - 1;
    bool is_gpu = node > 0;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    add(t, "cpu_cores_count %ld\n", is_gpu ? 0 : cores > 0 ? cores : 1);
    add(t, "simd_count %u\n", is_gpu ? m->cu_count * m->simd_per_cu : 0);
    add(t, "mem_banks_count 1\n");
    add(t, "caches_count %u\n", is_gpu ? GPU_CACHES : CPU_CACHES);
    add(t, "io_links_count %u\n", links_of(node));
    add(t, "p2p_links_count 0\n");
    add(t, "cpu_core_id_base %u\n", 0);
    add(t, "simd_id_base %u\n", is_gpu ? 0x80001000u : 0);
    add(t, "max_waves_per_simd %u\n", is_gpu ? m->waves_per_simd : 0);
    add(t, "lds_size_in_kb %u\n", is_gpu ? 64 : 0);
    add(t, "gds_size_in_kb 0\n");
    add(t, "num_gws %u\n", is_gpu ? 64 : 0);
    add(t, "wave_front_size %u\n", is_gpu ? 64 : 0);
    add(t, "array_count %u\n", is_gpu ? m->arrays : 0);
    add(t, "simd_arrays_per_engine %u\n", is_gpu ? m->arrays_per_engine : 0);
    add(t, "cu_per_simd_array %u\n", is_gpu ? m->cu_per_array : 0);
    add(t, "simd_per_cu %u\n", is_gpu ? m->simd_per_cu : 0);
    add(t, "max_slots_scratch_cu %u\n", is_gpu ? 32 : 0);
    add(t, "gfx_target_version %u\n", is_gpu ? m->target_version : 0);
    add(t, "vendor_id %u\n", is_gpu ? 0x1002 : 0);
    add(t, "device_id %u\n", is_gpu ? m->device_id : 0);
    /* Bus 3, 4, ... of domain 0, function 0. */
    add(t, "location_id %u\n", is_gpu ? (unsigned)(gpu + 3) << 8 : 0);
    add(t, "domain 0\n");
    add(t, "drm_render_minor %d\n", is_gpu ? 128 + gpu : 0);
    add(t, "hive_id %llu\n", is_gpu && vg_cfg.gpus > 1 && !vg_cfg.pcie ? 0x51a9b3c7d2e4f601ull : 0);
    add(t, "num_sdma_engines %u\n", is_gpu ? m->sdma_engines : 0);
    add(t, "num_sdma_xgmi_engines %u\n", is_gpu ? m->xgmi_engines : 0);
    add(t, "num_sdma_queues_per_engine %u\n", is_gpu ? 8 : 0);
    add(t, "num_cp_queues %u\n", is_gpu ? 24 : 0);
    add(t, "max_engine_clk_ccompute 2400\n");
    if (!is_gpu)
        return;
    add(t, "local_mem_size 0\n");
    add(t, "fw_version 150\n");
    add(t, "capability %u\n", m->capability);
    add(t, "debug_prop 0\n");
    add(t, "sdma_fw_version 430\n");
    add(t, "unique_id %llu\n", 0x7b3e5d2c9a100000ull + (unsigned long long)gpu);
    add(t, "num_xcc %u\n", m->num_xcc);
    add(t, "max_engine_clk_fcompute %u\n", m->clock_mhz);
}

static void bank_properties(struct text *t, int node)
{
    const struct vg_model *m = vg_cfg.model;
    if (node) {
        add(t, "heap_type %d\n", vg_cfg.large_bar ? 1 : 2); /* local memory, visible to the host or not */
        add(t, "size_in_bytes %llu\n", (unsigned long long)m->vram);
        add(t, "flags 0\nwidth %u\nmem_clk_max %u\n", m->mem_width, m->mem_clock_mhz);
        return;
    }
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    add(t, "heap_type 0\n"); /* system memory */
    add(t, "size_in_bytes %llu\n", (unsigned long long)bytes);
    add(t, "flags 0\nwidth 64\nmem_clk_max 2666\n");
}

static void cache_properties(struct text *t, int node, unsigned cache)
{
    const struct vg_model *m = vg_cfg.model;
    /* Type bits: 1 data, 2 instruction, 4 CPU, 8 shared by SIMDs. */
    static const struct {
        unsigned level, kb, type;
    } caches[GPU_CACHES] = {{1, 16, 9}, {1, 64, 10}, {2, 0, 9}};
    add(t, "processor_id_low %u\n", node ? 2147487744u : 0);
    add(t, "level %u\n", caches[cache].level);
    add(t, "size %u\n", caches[cache].kb ? caches[cache].kb : m->l2_kb);
    add(t, "cache_line_size 64\ncache_lines_per_tag 1\nassociation 16\nlatency 1\n");
    add(t, "type %u\n", node ? caches[cache].type : 5);
    add(t, "sibling_map 1\n");
}

static void link_properties(struct text *t, int node, int link)
{
    /* A CPU's link i leads to GPU i; a GPU's link 0 leads to the CPU, its others to the other GPUs. */
    int to = node == 0 ? link + 1 : link == 0 ? 0 : link < node ? link : link + 1;
    bool xgmi = node && to && !vg_cfg.pcie;
    add(t, "type %u\n", xgmi ? 11 : 2);
    add(t, "version_major 0\nversion_minor 0\n");
    add(t, "node_from %d\nnode_to %d\n", node, to);
    add(t, "weight %u\n", xgmi ? 15 : 20);
    add(t, "min_latency 0\nmax_latency 0\n");
    add(t, "min_bandwidth %u\nmax_bandwidth %u\n", xgmi ? 50000 : 16000, xgmi ? 50000 : 32000);
    add(t, "recommended_transfer_size 0\nflags 1\n");
}

/* Parse nodes/N/...: return the number and set *rest to what follows; -1: the path has another form. */
static int node_of(const char *path, const char **rest)
{
    char *end;
    if (strncmp(path, "nodes/", 6))
        return -1;
    long n = strtol(path + 6, &end, 10);
    if (end == path + 6 || n < 0 || n > vg_cfg.gpus)
        return -1;
    while (*end == '/')
        end++;
    *rest = end;
    return (int)n;
}

static int numbered(const char *rest, const char *folder)
{
    size_t n = strlen(folder);
    char *end;
    if (strncmp(rest, folder, n) || rest[n] != '/')
        return -1;
    long i = strtol(rest + n + 1, &end, 10);
    return end == rest + n + 1 || strcmp(end, "/properties") || i < 0 ? -1 : (int)i;
}

char *vg_topology_file(const char *path, size_t *len)
{
    struct text t = {NULL, 0};
    const char *p = path_below_root(path), *rest;
    if (!strcmp(p, "generation_id")) {
        add(&t, "2\n");
    } else if (!strcmp(p, "system_properties")) {
        add(&t, "platform_oem 2314885673410447169\nplatform_id 35322352389441\nplatform_rev 1\n");
    } else {
        int node = node_of(p, &rest), i;
        if (node < 0)
            return NULL;
        if (!strcmp(rest, "gpu_id"))
            add(&t, "%u\n", node ? vg_gpu_id(node - 1) : 0);
        else if (!strcmp(rest, "name"))
            add(&t, "%s\n", node ? vg_cfg.model->gfx : "");
        else if (!strcmp(rest, "properties"))
            node_properties(&t, node);
        else if (numbered(rest, "mem_banks") == 0)
            bank_properties(&t, node);
        else if ((i = numbered(rest, "caches")) >= 0 && i < (node ? GPU_CACHES : CPU_CACHES))
            cache_properties(&t, node, (unsigned)i);
        else if ((i = numbered(rest, "io_links")) >= 0 && (unsigned)i < links_of(node))
            link_properties(&t, node, i);
    }
    *len = t.len;
    return t.p;
}

static char *numbers(unsigned n)
{
    struct text t = {NULL, 0};
    for (unsigned i = 0; i < n; i++) {
        add(&t, "%u", i);
        t.len++; /* keep the '\0' between names */
    }
    add(&t, "%s", "");
    char *p = realloc(t.p, t.len + 1);
    if (p)
        p[t.len] = '\0';
    return p;
}

/* A folder's path may end with a slash; RCCL's does. */
static bool is_folder(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return !strncmp(path, folder, n) && strspn(path + n, "/") == strlen(path + n);
}

char *vg_topology_dir(const char *path)
{
    const char *p = path_below_root(path), *rest;
    if (is_folder(p, "nodes"))
        return numbers((unsigned)vg_cfg.gpus + 1);
    int node = node_of(p, &rest);
    if (node < 0)
        return NULL;
    if (is_folder(rest, "mem_banks"))
        return numbers(1);
    if (is_folder(rest, "caches"))
        return numbers(node ? GPU_CACHES : CPU_CACHES);
    if (is_folder(rest, "io_links"))
        return numbers(links_of(node));
    return is_folder(rest, "p2p_links") ? numbers(0) : NULL;
}
