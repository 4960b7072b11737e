/*
 * execute.c - executes kernels (VGPU_EXECUTE): turns a dispatch packet into a launch of the interpreter in gcn/, and
 * the interpreter's errors into what the driver would report.
 *
 * The engine's thread executes a kernel at its simulated launch, with worker threads for the workgroups, and does
 * nothing else until the kernel has finished. So a kernel's results are visible before its signal. Durations and
 * timestamps are the same as without execution.
 */
#include "vgpu.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "gcn/gcn.h"

/* Engine thread only, except `unsure`, which the thread that ends the process reads. */
static _Atomic uint64_t unsure; /* dispatches with wrong or incomplete results */
static uint64_t dispatches;
static struct gcn_account account;

/* The application may have unmapped registered memory, which it owns; the GPU then has no access either. */
static bool still_mapped(const char *host, uint64_t bytes)
{
    unsigned char pages[4096];
    const uint64_t step = sizeof pages * 4096;
    uint64_t inside = (uintptr_t)host & 4095;
    host -= inside;
    bytes += inside;
    for (uint64_t at = 0; at < bytes; at += step)
        if (mincore((void *)(uintptr_t)(host + at), bytes - at < step ? bytes - at : step, pages))
            return false;
    return true;
}

static bool find_span(uint64_t va, struct gcn_span *span)
{
    const struct vg_alloc *a = vg_alloc_find(va);
    if (!a || (a->kind == VG_MEM_USERPTR && !still_mapped(a->host, a->size)))
        return false;
    *span = (struct gcn_span){a->va, a->size, a->host};
    return true;
}

static void report_unknown(const struct vg_queue *q, const struct vg_kernel *k, const struct gcn_report *r)
{
    char words[40] = "";
    for (unsigned i = 0; i < r->words; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), " %08" PRIx32, r->raw[i]);
    vg_log("gpu %d queue %u: NOT MODELLED: %s (encoding%s at +0x%" PRIx64 " of %s): the kernel stopped there. "
           "WHAT THIS PROCESS COMPUTES FROM NOW ON IS NOT TO BE TRUSTED.",
           q->gpu, q->id, r->what, words[0] ? words : " none", r->pc - k->object, k->name);
}

static enum gcn_target target(void)
{
    return strcmp(vg_cfg.model->gfx, "gfx906") == 0   ? GCN_GFX906
           : strcmp(vg_cfg.model->gfx, "gfx90a") == 0 ? GCN_GFX90A
                                                      : GCN_GFX942;
}

static void write_waves(const struct vg_kernel *k)
{
    for (unsigned i = 0; i < GCN_UNITS; i++)
        if (account.waves[i])
            vg_truth_waves((uint64_t[]){i, account.waves[i], account.cycles[i], account.gaps[i], account.gap_cycles[i]},
                           k->name, strlen(k->name));
    memset(&account, 0, sizeof account);
}

bool vg_execute(struct vg_queue *q, const hsa_kernel_dispatch_packet_t *d, struct vg_kernel *k, uint64_t packet,
                uint64_t *bad)
{
    struct gcn_report report;
    struct gcn_waits waits = {
        .vector = vg_cfg.wait_cycles, .scalar = vg_cfg.wait_cycles / 4, .lds = vg_cfg.wait_cycles / 8};
    struct gcn_launch launch = {
        .target = target(),
        .object = d->kernel_object,
        .grid = {d->grid_size_x, d->grid_size_y, d->grid_size_z},
        .group = {d->workgroup_size_x, d->workgroup_size_y, d->workgroup_size_z},
        .lds_bytes = d->group_segment_size,
        .private_bytes = d->private_segment_size,
        .kernarg = (uint64_t)(uintptr_t)d->kernarg_address,
        .packet = packet,
        .queue = (uint64_t)(uintptr_t)q->amd,
        .dispatch_id = ++dispatches,
        .find = find_span,
        .threads = vg_cfg.execute_threads,
        .units = vg_cfg.wave_units ? vg_cfg.wave_units : (unsigned)vg_cfg.model->cu_count,
        .engines = (unsigned)vg_cfg.model->arrays,
        .dies = (unsigned)vg_cfg.model->num_xcc,
    };
    if (vg_cfg.waves) {
        launch.account = &account;
        launch.counted_clock = vg_clock_ns();
        if (vg_cfg.wait_cycles)
            launch.waits = &waits;
    }
    enum gcn_end end = gcn_run(&launch, &report);
    if (vg_cfg.waves)
        write_waves(k);
    switch (end) {
    case GCN_FAULT:
        *bad = report.address;
        vg_log("gpu %d queue %u: %s touches address 0x%" PRIx64 " at +0x%" PRIx64
               " of its code, which isn't GPU memory",
               q->gpu, q->id, k->name, report.address, report.pc - k->object);
        unsure++;
        return false;
    case GCN_NOT_MODELLED:
        /* Print once for each kernel and address, since a loop of dispatches would repeat it; the last line counts
         * them. */
        if (k->unknown_at != report.pc)
            report_unknown(q, k, &report);
        k->unknown_at = report.pc;
        unsure++;
        break;
    case GCN_DONE:
        break;
    }
    if (vg_cfg.verbose)
        vg_log("executed %s: %" PRIu64 " waves, %" PRIu64 " instructions", k->name, report.waves, report.instructions);
    return true;
}

void vg_execute_end(void)
{
    uint64_t n = unsure;
    if (n)
        vg_log("%" PRIu64 " dispatch%s didn't compute what %s should have: the results of this process are not to be "
               "trusted",
               n, n == 1 ? "" : "es", n == 1 ? "it" : "they");
}

void vg_execute_reset_after_fork(void)
{
    gcn_reset_after_fork();
    unsure = 0;
}
