/*
 * drm.c - the few libdrm calls that the thunk and ROCr make for a device name and a few facts, and the driver calls by
 * which amd-smi checks that a render node belongs to this driver.
 *
 * A device handle here is a small record with its own descriptor: libdrm duplicates the descriptor that it receives,
 * and the thunk closes its own as soon as it can ask for libdrm's.
 */
#include "vgpu.h"

#include <libdrm/amdgpu.h>
#include <libdrm/amdgpu_drm.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct amdgpu_device {
    int fd;
};

VG_EXPORT int drmOpenRender(int minor);
VG_EXPORT int drmOpenRender(int minor)
{
    char path[64];
    snprintf(path, sizeof path, "/dev/dri/renderD%d", minor);
    return open(path, O_RDWR | O_CLOEXEC);
}

VG_EXPORT int drmClose(int fd);
VG_EXPORT int drmClose(int fd)
{
    return close(fd);
}

VG_EXPORT int amdgpu_device_initialize(int fd, uint32_t *major, uint32_t *minor, amdgpu_device_handle *handle)
{
    if (!vg_mem_is_device_fd(fd))
        return -EBADF;
    struct amdgpu_device *d = malloc(sizeof *d);
    if (!d)
        return -ENOMEM;
    d->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (d->fd < 0) {
        free(d);
        return -errno;
    }
    *major = 3;
    *minor = 57;
    *handle = d;
    return 0;
}

VG_EXPORT int amdgpu_device_deinitialize(amdgpu_device_handle d)
{
    close(d->fd);
    free(d);
    return 0;
}

VG_EXPORT int amdgpu_device_get_fd(amdgpu_device_handle d)
{
    return d->fd;
}

VG_EXPORT const char *amdgpu_get_marketing_name(amdgpu_device_handle d)
{
    (void)d;
    return vg_cfg.model->marketing;
}

VG_EXPORT int amdgpu_query_gpu_info(amdgpu_device_handle d, struct amdgpu_gpu_info *info)
{
    (void)d;
    const struct vg_model *m = vg_cfg.model;
    memset(info, 0, sizeof *info);
    info->asic_id = m->device_id;
    info->family_id = m->family;
    info->max_engine_clk = m->clock_mhz * 1000ull;
    info->max_memory_clk = m->mem_clock_mhz * 1000ull;
    info->num_shader_engines = m->arrays / m->arrays_per_engine;
    info->num_shader_arrays_per_engine = m->arrays_per_engine;
    info->gpu_counter_freq = 1000000 / VG_TICK_NS; /* kHz */
    info->vram_type = AMDGPU_VRAM_TYPE_HBM;
    info->vram_bit_width = m->mem_width;
    info->cu_active_number = m->cu_count;
    return 0;
}

VG_EXPORT int drmCommandWrite(int fd, unsigned long index, void *data, unsigned long size);
VG_EXPORT int drmCommandWrite(int fd, unsigned long index, void *data, unsigned long size)
{
    (void)fd;
    (void)data;
    /* AMDGPU_INFO asks for facts that only tools need; a runtime continues without the answer. */
    vg_log("drmCommandWrite 0x%02lx (%lu bytes) isn't modelled: EINVAL", index, size);
    return -EINVAL;
}

VG_EXPORT int drmCommandWriteRead(int fd, unsigned long index, void *data, unsigned long size);
VG_EXPORT int drmCommandWriteRead(int fd, unsigned long index, void *data, unsigned long size)
{
    (void)fd;
    (void)data;
    vg_log("drmCommandWriteRead 0x%02lx (%lu bytes) isn't modelled: EINVAL", index, size);
    return -EINVAL;
}

static void answer(char *to, size_t *room,
                   const char *text) /* like the kernel: copy what fits, report the full length */
{
    if (to)
        memcpy(to, text, strlen(text) < *room ? strlen(text) : *room);
    *room = strlen(text);
}

int vg_drm_ioctl(unsigned long request, void *arg)
{
    if (_IOC_NR(request) == _IOC_NR(DRM_IOCTL_VERSION) && _IOC_SIZE(request) == sizeof(struct drm_version)) {
        struct drm_version *version = arg;
        size_t name = version->name_len, date = version->date_len, text = version->desc_len;
        version->version_major = 3;
        version->version_minor = 57;
        version->version_patchlevel = 0;
        answer(version->name, &name, "amdgpu");
        answer(version->date, &date, "20150101");
        answer(version->desc, &text, "AMD GPU (software model)");
        version->name_len = name;
        version->date_len = date;
        version->desc_len = text;
        return 0;
    }
    if (_IOC_NR(request) == _IOC_NR(DRM_IOCTL_GET_CLIENT) && _IOC_SIZE(request) == sizeof(struct drm_client)) {
        struct drm_client *client = arg;
        client->auth = 1;
        client->pid = (unsigned long)getpid();
        return 0;
    }
    vg_log("DRM ioctl 0x%02x (%u bytes) isn't modelled: EINVAL", (unsigned)_IOC_NR(request),
           (unsigned)_IOC_SIZE(request));
    errno = EINVAL;
    return -1;
}
