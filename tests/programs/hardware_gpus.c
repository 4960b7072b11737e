/*
 * hardware_gpus.c - prints the GPUs that the runtime sees and their properties, a fact a line, for tests/hardware.
 *
 * "software 1" when the software GPU plays the driver below this process, so that the report says so. "isa NAME" once
 * for each kind of GPU: the target to compile for. This program reads firmware and driver instead of a script, because
 * only a process on the software GPU sees its files. Status 3: no GPU, or no access to it.
 */
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

enum { GPUS = 64, NODES = 64 };

static struct gpu {
    char isa[64], product[64];
    uint32_t units, mhz, bdf, node;
} gpus[GPUS];
static unsigned gpu_count;

static int see_library(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    if (info->dlpi_name && strstr(info->dlpi_name, "libvgpu"))
        *(bool *)data = true;
    return 0;
}

static hsa_status_t see_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
    (void)data;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type != HSA_DEVICE_TYPE_GPU || gpu_count == GPUS)
        return HSA_STATUS_SUCCESS;
    struct gpu *g = &gpus[gpu_count++];
    hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, g->isa);
    hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, g->product);
    hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &g->units);
    hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, &g->mhz);
    hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_BDFID, &g->bdf);
    hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &g->node);
    g->isa[63] = g->product[63] = '\0';
    return HSA_STATUS_SUCCESS;
}

/* Print a fact from a driver's file; nothing if the file does not exist. */
static void print_file(const char *what, const char *path)
{
    char line[128] = "";
    FILE *file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        printf("%s %s\n", what, line);
    }
    if (file)
        fclose(file);
}

/* Print the topology's facts of a GPU's firmware. */
static void print_node(unsigned index, uint32_t node)
{
    char path[128], line[128], word[64];
    unsigned long long value;
    snprintf(path, sizeof path, "/sys/class/kfd/kfd/topology/nodes/%" PRIu32 "/properties", node);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%63s %llu", word, &value) == 2 &&
            (!strcmp(word, "fw_version") || !strcmp(word, "sdma_fw_version") || !strcmp(word, "gfx_target_version") ||
             !strcmp(word, "num_xcc")))
            printf("gpu %u %s %llu\n", index, word, value);
    if (file)
        fclose(file);
}

static void print_gpu(unsigned index, const struct gpu *g)
{
    static const char *const firmware[] = {"mec_fw_version", "mec2_fw_version", "mes_fw_version",
                                           "rlc_fw_version", "sdma_fw_version", "smc_fw_version"};
    char what[64], path[160], folder[80];
    printf("gpu %u %s, %s, %" PRIu32 " CUs, %" PRIu32 " MHz at most, PCI %02x:%02x.%x\n", index, g->isa, g->product,
           g->units, g->mhz, g->bdf >> 8, g->bdf >> 3 & 31, g->bdf & 7);
    print_node(index, g->node);
    snprintf(folder, sizeof folder, "/sys/bus/pci/devices/0000:%02x:%02x.%x", g->bdf >> 8 & 255, g->bdf >> 3 & 31,
             g->bdf & 7);
    for (size_t i = 0; i < sizeof firmware / sizeof *firmware; i++) {
        snprintf(what, sizeof what, "gpu %u %s", index, firmware[i]);
        snprintf(path, sizeof path, "%s/fw_version/%s", folder, firmware[i]);
        print_file(what, path);
    }
    snprintf(what, sizeof what, "gpu %u vbios", index);
    snprintf(path, sizeof path, "%s/vbios_version", folder);
    print_file(what, path);
    snprintf(what, sizeof what, "gpu %u busy before, %%:", index);
    snprintf(path, sizeof path, "%s/gpu_busy_percent", folder);
    print_file(what, path);
}

int main(void)
{
    bool software = false;
    uint16_t major = 0, minor = 0;
    const char *text = "?";
    struct utsname u;
    dl_iterate_phdr(see_library, &software);
    printf("software %d\n", software);
    if (!uname(&u)) /* but not the machine's name */
        printf("kernel %s %s %s\n", u.sysname, u.release, u.machine);
    print_file("driver amdgpu", "/sys/module/amdgpu/version");
    print_file("rocm", "/opt/rocm/.info/version");
    fflush(stdout);
    hsa_status_t status = hsa_init();
    if (status != HSA_STATUS_SUCCESS) {
        hsa_status_string(status, &text);
        printf("none hsa_init: %s\n", text);
        return 3;
    }
    hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major);
    hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor);
    printf("hsa %u.%u\n", major, minor);
    hsa_iterate_agents(see_agent, NULL);
    for (unsigned i = 0; i < gpu_count; i++) {
        bool known = false;
        print_gpu(i, &gpus[i]);
        for (unsigned j = 0; j < i; j++)
            known = known || !strcmp(gpus[i].isa, gpus[j].isa);
        if (!known)
            printf("isa %s\n", gpus[i].isa);
    }
    hsa_shut_down();
    if (!gpu_count)
        puts("none the runtime finds no GPU");
    return gpu_count ? 0 : 3;
}
