/*
 * config.c - the table of GPU models, and the settings that tests/vgpu/run passes in VGPU_* variables.
 *
 * The launcher checks its arguments and exports them. The library checks them again, because a child process may have
 * changed its environment, and refuses to run with an invalid setting.
 */
#include "vgpu.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Capability bits of the topology: doorbells with AQL semantics (type 2), SRAM ECC, and firmware that supports
 * debuggers. Without the last, ROCr 6.4 aborts its own shutdown half-way and cannot be started again. */
#define CAP_DOORBELL2 (2u << 12)
#define CAP_SRAM_ECC  (1u << 26)
#define CAP_DEBUG     (1u << 29)

#define GIB (1ull << 30)

static const struct vg_model models[] = {
    {.gfx = "gfx90a",
     .marketing = "AMD Instinct MI210 (software model)",
     .target_version = 90010,
     .device_id = 0x740f,
     .cu_count = 104,
     .arrays = 8,
     .arrays_per_engine = 1,
     .cu_per_array = 14,
     .simd_per_cu = 4,
     .waves_per_simd = 8,
     .sdma_engines = 2,
     .xgmi_engines = 3,
     .num_xcc = 1,
     .clock_mhz = 1700,
     .mem_clock_mhz = 1600,
     .mem_width = 4096,
     .l2_kb = 8192,
     .vram = 64 * GIB,
     .family = 141,
     .capability = CAP_DOORBELL2 | CAP_SRAM_ECC | CAP_DEBUG},
    {.gfx = "gfx906",
     .marketing = "AMD Instinct MI50 (software model)",
     .target_version = 90006,
     .device_id = 0x66a1,
     .cu_count = 60,
     .arrays = 4,
     .arrays_per_engine = 1,
     .cu_per_array = 16,
     .simd_per_cu = 4,
     .waves_per_simd = 10,
     .sdma_engines = 2,
     .xgmi_engines = 0,
     .num_xcc = 1,
     .clock_mhz = 1725,
     .mem_clock_mhz = 1000,
     .mem_width = 4096,
     .l2_kb = 4096,
     .vram = 16 * GIB,
     .family = 141,
     .capability = CAP_DOORBELL2 | CAP_DEBUG},
    {.gfx = "gfx942",
     .marketing = "AMD Instinct MI300X (software model)",
     .target_version = 90402,
     .device_id = 0x74a1,
     .cu_count = 304,
     .arrays = 32,
     .arrays_per_engine = 1,
     .cu_per_array = 10,
     .simd_per_cu = 4,
     .waves_per_simd = 8,
     .sdma_engines = 2,
     .xgmi_engines = 14,
     .num_xcc = 8,
     .clock_mhz = 2100,
     .mem_clock_mhz = 1300,
     .mem_width = 8192,
     .l2_kb = 4096,
     .vram = 192 * GIB,
     .family = 141,
     .capability = CAP_DOORBELL2 | CAP_SRAM_ECC | CAP_DEBUG},
};

struct vg_config vg_cfg;

const struct vg_model *vg_model_find(const char *gfx)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (!strcmp(models[i].gfx, gfx))
            return &models[i];
    return NULL;
}

__attribute__((format(printf, 1, 0))) static void log_line(const char *fmt, va_list ap)
{
    /* A single write() keeps lines of several threads and processes apart. No stdio: the engine may call this
     * function. */
    char line[1024] = "vgpu: ";
    int n = vsnprintf(line + 6, sizeof line - 7, fmt, ap);
    size_t len = 6 + (n < 0 ? 0 : (size_t)n < sizeof line - 7 ? (size_t)n : sizeof line - 8);
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        return;
}

void vg_log(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    log_line(fmt, ap);
    va_end(ap);
}

void vg_die(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    log_line(fmt, ap);
    va_end(ap);
    abort();
}

_Noreturn static void setting_error(const char *what)
{
    vg_log("%s", what);
    _exit(2);
}

static uint64_t number_setting(const char *name, uint64_t fallback, uint64_t lo, uint64_t hi)
{
    const char *s = getenv(name);
    if (!s || !*s)
        return fallback;
    char *end;
    errno = 0;
    uint64_t v = strtoull(s, &end, 0);
    if (errno || *end || *s == '-' || v < lo || v > hi) {
        char text[256];
        snprintf(text, sizeof text, "%s=%.60s: a whole number from %llu to %llu is needed", name, s,
                 (unsigned long long)lo, (unsigned long long)hi);
        setting_error(text);
    }
    return v;
}

void vg_config_load(void)
{
    char text[512];
    const char *gfx = getenv("VGPU_GFX");
    vg_cfg.model = vg_model_find(gfx && *gfx ? gfx : "gfx90a");
    if (!vg_cfg.model) {
        snprintf(text, sizeof text, "VGPU_GFX=%.60s: not a GPU of this model (gfx90a, gfx906, gfx942)", gfx);
        setting_error(text);
    }
    vg_cfg.gpus = (int)number_setting("VGPU_GPUS", 1, 1, VG_MAX_GPUS);
    vg_cfg.pcie = number_setting("VGPU_PCIE", 0, 0, 1);
    vg_cfg.seed = number_setting("VGPU_SEED", 1, 0, UINT64_MAX);
    vg_cfg.default_ticks = number_setting("VGPU_DURATION_NS", 5000, 0, 3600000000000ull) / VG_TICK_NS;
    vg_cfg.copy_bytes_per_us = number_setting("VGPU_COPY_MBPS", 25000, 1, 100000000);
    const char *bar = getenv("VGPU_BAR");
    vg_cfg.large_bar = !bar || !*bar || !strcmp(bar, "large");
    if (!vg_cfg.large_bar && strcmp(bar, "small"))
        setting_error("VGPU_BAR: large or small is needed");
    const char *read_index = getenv("VGPU_READ_INDEX");
    vg_cfg.read_index_late = read_index && !strcmp(read_index, "late");
    if (read_index && *read_index && !vg_cfg.read_index_late && strcmp(read_index, "early"))
        setting_error("VGPU_READ_INDEX: early or late is needed");
    vg_cfg.verbose = number_setting("VGPU_VERBOSE", 0, 0, 1);
    vg_cfg.execute = number_setting("VGPU_EXECUTE", 0, 0, 1);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    vg_cfg.execute_threads = (unsigned)number_setting("VGPU_EXECUTE_THREADS",
                                                      cores < 1    ? 1
                                                      : cores > 16 ? 16
                                                                   : (uint64_t)cores,
                                                      1, 64);
    vg_cfg.wait_cycles = (uint32_t)number_setting("VGPU_WAIT_CYCLES", 0, 0, 1000000);
    vg_cfg.wave_units = (uint32_t)number_setting("VGPU_WAVE_UNITS", 0, 0, 256);
    const char *drift = getenv("VGPU_DRIFT_PPM");
    if (drift && *drift) {
        char *end;
        vg_cfg.drift_ppm = strtod(drift, &end);
        if (*end || !(vg_cfg.drift_ppm >= -1000 && vg_cfg.drift_ppm <= 1000))
            setting_error("VGPU_DRIFT_PPM: a number from -1000 to 1000 is needed");
    }
    const char *shift = getenv("VGPU_SHIFT_NS");
    if (shift && *shift) {
        char *end;
        vg_cfg.shift_ticks = strtol(shift, &end, 10) / VG_TICK_NS;
        if (*end)
            setting_error("VGPU_SHIFT_NS: a number is needed");
    }
    char err[256];
    vg_cfg.script = getenv("VGPU_SCRIPT");
    if (vg_cfg.script && *vg_cfg.script && !vg_script_load(vg_cfg.script, err, sizeof err))
        setting_error(err);
    vg_cfg.reload_script = vg_cfg.script && *vg_cfg.script && number_setting("VGPU_RELOAD", 0, 0, 1);
    const char *meet = getenv("VGPU_MEET"), *place = getenv("VGPU_RANK");
    if (meet && *meet && !vg_meet_open(meet, place ? place : "", err, sizeof err))
        setting_error(err);
    vg_cfg.truth = getenv("VGPU_TRUTH");
    if (vg_cfg.truth && !*vg_cfg.truth)
        vg_cfg.truth = NULL;
    vg_cfg.copy_truth = getenv("VGPU_COPY_TRUTH");
    if (vg_cfg.copy_truth && !*vg_cfg.copy_truth)
        vg_cfg.copy_truth = NULL;
    vg_cfg.waves = getenv("VGPU_WAVES");
    if (vg_cfg.waves && !*vg_cfg.waves)
        vg_cfg.waves = NULL;
    if (vg_cfg.waves && !vg_cfg.execute)
        setting_error("VGPU_WAVES: there are no waves unless kernels compute (VGPU_EXECUTE)");
}
