/*
 * The recorded functions of HIP and roctx, one entry each. This table generates the wrappers, the rows of the segment,
 * the answers of dlsym and hipGetProcAddress, and the names that the tests compare.
 *
 *  CALL(name, kind, parameters, arguments, bytes): bytes that the call moves, 0 for none; evaluated after success
 *  ALLOCATE(name, parameters, arguments, address, size, on the host): the allocation; evaluated after success
 *  FREE(name, parameters, arguments, address)
 *
 * Handles, pointers and structures that are only passed on are void *; enums are int. Signatures are those of every
 * release from 5.2 on. Functions whose signature changed under one name (hipGetDeviceProperties,
 * hipPointerGetAttributes) are left out. An argument that one release takes as 4 bytes and another as 8 is passed on as
 * 8.
 */
/* clang-format off */
#ifndef RTL_HIP_FUNCTIONS_H
#define RTL_HIP_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct rtl_dim3 { uint32_t x, y, z; };
struct rtl_extent { size_t width, height, depth; };
struct rtl_pitched { void *address; size_t pitch, width, height; };
struct rtl_position { size_t x, y, z; };
struct rtl_copy_3d { /* hipMemcpy3DParms */
    void *from_array; struct rtl_position from_position; struct rtl_pitched from;
    void *to_array; struct rtl_position to_position; struct rtl_pitched to;
    struct rtl_extent extent; int kind;
};
struct rtl_copy_2d { /* hip_Memcpy2D */
    size_t from[7], to[7], width, height;
};

#define RTL_VOLUME(e) ((e).width * (e).height * (e).depth)
#define RTL_LAUNCH_PARAMETERS \
    (const void *f, struct rtl_dim3 grid, struct rtl_dim3 block, void **kernel_args, size_t lds, void *stream)
#define RTL_LAUNCH_ARGUMENTS (f, grid, block, kernel_args, lds, stream)
#define RTL_MODULE_PARAMETERS \
    (void *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t lds, void *stream, \
     void **kernel_args, void **extra)
#define RTL_EXT_MODULE_PARAMETERS \
    (void *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t lds, void *stream, \
     void **kernel_args, void **extra, void *started, void *stopped, uint32_t flags)
#define RTL_EXT_MODULE_ARGUMENTS \
    (f, gx, gy, gz, bx, by, bz, lds, stream, kernel_args, extra, started, stopped, flags)
#define RTL_COPY_PARAMETERS (void *to, const void *from, size_t n, int kind)
#define RTL_COPY_STREAM_PARAMETERS (void *to, const void *from, size_t n, int kind, void *stream)
#define RTL_2D_PARAMETERS \
    (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind)
#define RTL_2D_STREAM_PARAMETERS \
    (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind, void *stream)

#define RTL_HIP_LAUNCHES(CALL) \
    CALL(hipLaunchKernel, LAUNCH, RTL_LAUNCH_PARAMETERS, RTL_LAUNCH_ARGUMENTS, 0) \
    CALL(hipLaunchKernel_spt, LAUNCH, RTL_LAUNCH_PARAMETERS, RTL_LAUNCH_ARGUMENTS, 0) \
    CALL(hipLaunchCooperativeKernel, LAUNCH, RTL_LAUNCH_PARAMETERS, RTL_LAUNCH_ARGUMENTS, 0) \
    CALL(hipLaunchCooperativeKernel_spt, LAUNCH, RTL_LAUNCH_PARAMETERS, RTL_LAUNCH_ARGUMENTS, 0) \
    CALL(hipLaunchCooperativeKernelMultiDevice, LAUNCH, (void *list, int n, uint32_t flags), (list, n, flags), 0) \
    CALL(hipExtLaunchMultiKernelMultiDevice, LAUNCH, (void *list, int n, uint32_t flags), (list, n, flags), 0) \
    CALL(hipLaunchByPtr, LAUNCH, (const void *f), (f), 0) \
    CALL(hipExtLaunchKernel, LAUNCH, \
         (const void *f, struct rtl_dim3 grid, struct rtl_dim3 block, void **kernel_args, size_t lds, void *stream, \
          void *started, void *stopped, int flags), \
         (f, grid, block, kernel_args, lds, stream, started, stopped, flags), 0) \
    CALL(hipLaunchKernelExC, LAUNCH, (const void *config, const void *f, void **kernel_args), \
         (config, f, kernel_args), 0) \
    CALL(hipDrvLaunchKernelEx, LAUNCH, (const void *config, void *f, void **kernel_args, void **extra), \
         (config, f, kernel_args, extra), 0) \
    CALL(hipModuleLaunchKernel, LAUNCH, RTL_MODULE_PARAMETERS, \
         (f, gx, gy, gz, bx, by, bz, lds, stream, kernel_args, extra), 0) \
    CALL(hipModuleLaunchCooperativeKernel, LAUNCH, \
         (void *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t lds, \
          void *stream, void **kernel_args), \
         (f, gx, gy, gz, bx, by, bz, lds, stream, kernel_args), 0) \
    CALL(hipExtModuleLaunchKernel, LAUNCH, RTL_EXT_MODULE_PARAMETERS, RTL_EXT_MODULE_ARGUMENTS, 0) \
    CALL(hipHccModuleLaunchKernel, LAUNCH, \
         (void *f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t lds, \
          void *stream, void **kernel_args, void **extra, void *started, void *stopped), \
         (f, gx, gy, gz, bx, by, bz, lds, stream, kernel_args, extra, started, stopped), 0) \
    CALL(hipGraphLaunch, LAUNCH, (void *graph, void *stream), (graph, stream), 0) \
    CALL(hipGraphLaunch_spt, LAUNCH, (void *graph, void *stream), (graph, stream), 0) \
    CALL(hipLaunchHostFunc, LAUNCH, (void *stream, void *f, void *data), (stream, f, data), 0) \
    CALL(hipLaunchHostFunc_spt, LAUNCH, (void *stream, void *f, void *data), (stream, f, data), 0)

#define RTL_HIP_COPIES(CALL) \
    CALL(hipMemcpy, COPY, RTL_COPY_PARAMETERS, (to, from, n, kind), n) \
    CALL(hipMemcpy_spt, COPY, RTL_COPY_PARAMETERS, (to, from, n, kind), n) \
    CALL(hipMemcpyAsync, COPY, RTL_COPY_STREAM_PARAMETERS, (to, from, n, kind, stream), n) \
    CALL(hipMemcpyAsync_spt, COPY, RTL_COPY_STREAM_PARAMETERS, (to, from, n, kind, stream), n) \
    CALL(hipMemcpyWithStream, COPY, RTL_COPY_STREAM_PARAMETERS, (to, from, n, kind, stream), n) \
    CALL(hipMemcpyHtoD, COPY, (void *to, void *from, size_t n), (to, from, n), n) \
    CALL(hipMemcpyDtoH, COPY, (void *to, void *from, size_t n), (to, from, n), n) \
    CALL(hipMemcpyDtoD, COPY, (void *to, void *from, size_t n), (to, from, n), n) \
    CALL(hipMemcpyHtoDAsync, COPY, (void *to, void *from, size_t n, void *stream), (to, from, n, stream), n) \
    CALL(hipMemcpyDtoHAsync, COPY, (void *to, void *from, size_t n, void *stream), (to, from, n, stream), n) \
    CALL(hipMemcpyDtoDAsync, COPY, (void *to, void *from, size_t n, void *stream), (to, from, n, stream), n) \
    CALL(hipMemcpyPeer, COPY, (void *to, int to_gpu, const void *from, int from_gpu, size_t n), \
         (to, to_gpu, from, from_gpu, n), n) \
    CALL(hipMemcpyPeerAsync, COPY, (void *to, int to_gpu, const void *from, int from_gpu, size_t n, void *stream), \
         (to, to_gpu, from, from_gpu, n, stream), n) \
    CALL(hipMemcpy2D, COPY, RTL_2D_PARAMETERS, (to, to_pitch, from, from_pitch, width, height, kind), width * height) \
    CALL(hipMemcpy2D_spt, COPY, RTL_2D_PARAMETERS, (to, to_pitch, from, from_pitch, width, height, kind), \
         width * height) \
    CALL(hipMemcpy2DAsync, COPY, RTL_2D_STREAM_PARAMETERS, \
         (to, to_pitch, from, from_pitch, width, height, kind, stream), width * height) \
    CALL(hipMemcpy2DAsync_spt, COPY, RTL_2D_STREAM_PARAMETERS, \
         (to, to_pitch, from, from_pitch, width, height, kind, stream), width * height) \
    CALL(hipMemcpyParam2D, COPY, (const struct rtl_copy_2d *copy), (copy), copy ? copy->width * copy->height : 0) \
    CALL(hipMemcpyParam2DAsync, COPY, (const struct rtl_copy_2d *copy, void *stream), (copy, stream), \
         copy ? copy->width * copy->height : 0) \
    CALL(hipMemcpy3D, COPY, (const struct rtl_copy_3d *copy), (copy), copy ? RTL_VOLUME(copy->extent) : 0) \
    CALL(hipMemcpy3D_spt, COPY, (const struct rtl_copy_3d *copy), (copy), copy ? RTL_VOLUME(copy->extent) : 0) \
    CALL(hipMemcpy3DAsync, COPY, (const struct rtl_copy_3d *copy, void *stream), (copy, stream), \
         copy ? RTL_VOLUME(copy->extent) : 0) \
    CALL(hipMemcpy3DAsync_spt, COPY, (const struct rtl_copy_3d *copy, void *stream), (copy, stream), \
         copy ? RTL_VOLUME(copy->extent) : 0) \
    CALL(hipMemcpyToSymbol, COPY, (const void *to, const void *from, size_t n, size_t offset, int kind), \
         (to, from, n, offset, kind), n) \
    CALL(hipMemcpyToSymbol_spt, COPY, (const void *to, const void *from, size_t n, size_t offset, int kind), \
         (to, from, n, offset, kind), n) \
    CALL(hipMemcpyToSymbolAsync, COPY, \
         (const void *to, const void *from, size_t n, size_t offset, int kind, void *stream), \
         (to, from, n, offset, kind, stream), n) \
    CALL(hipMemcpyToSymbolAsync_spt, COPY, \
         (const void *to, const void *from, size_t n, size_t offset, int kind, void *stream), \
         (to, from, n, offset, kind, stream), n) \
    CALL(hipMemcpyFromSymbol, COPY, (void *to, const void *from, size_t n, size_t offset, int kind), \
         (to, from, n, offset, kind), n) \
    CALL(hipMemcpyFromSymbol_spt, COPY, (void *to, const void *from, size_t n, size_t offset, int kind), \
         (to, from, n, offset, kind), n) \
    CALL(hipMemcpyFromSymbolAsync, COPY, \
         (void *to, const void *from, size_t n, size_t offset, int kind, void *stream), \
         (to, from, n, offset, kind, stream), n) \
    CALL(hipMemcpyFromSymbolAsync_spt, COPY, \
         (void *to, const void *from, size_t n, size_t offset, int kind, void *stream), \
         (to, from, n, offset, kind, stream), n) \
    CALL(hipMemPrefetchAsync, COPY, (const void *at, size_t n, int gpu, void *stream), (at, n, gpu, stream), n)

#define RTL_HIP_SETS(CALL) \
    CALL(hipMemset, SET, (void *to, int value, size_t n), (to, value, n), n) \
    CALL(hipMemset_spt, SET, (void *to, int value, size_t n), (to, value, n), n) \
    CALL(hipMemsetAsync, SET, (void *to, int value, size_t n, void *stream), (to, value, n, stream), n) \
    CALL(hipMemsetAsync_spt, SET, (void *to, int value, size_t n, void *stream), (to, value, n, stream), n) \
    CALL(hipMemsetD8, SET, (void *to, uint8_t value, size_t n), (to, value, n), n) \
    CALL(hipMemsetD16, SET, (void *to, uint16_t value, size_t n), (to, value, n), 2 * n) \
    CALL(hipMemsetD32, SET, (void *to, int value, size_t n), (to, value, n), 4 * n) \
    CALL(hipMemsetD8Async, SET, (void *to, uint8_t value, size_t n, void *stream), (to, value, n, stream), n) \
    CALL(hipMemsetD16Async, SET, (void *to, uint16_t value, size_t n, void *stream), (to, value, n, stream), 2 * n) \
    CALL(hipMemsetD32Async, SET, (void *to, int value, size_t n, void *stream), (to, value, n, stream), 4 * n) \
    CALL(hipMemset2D, SET, (void *to, size_t pitch, int value, size_t width, size_t height), \
         (to, pitch, value, width, height), width * height) \
    CALL(hipMemset2D_spt, SET, (void *to, size_t pitch, int value, size_t width, size_t height), \
         (to, pitch, value, width, height), width * height) \
    CALL(hipMemset2DAsync, SET, (void *to, size_t pitch, int value, size_t width, size_t height, void *stream), \
         (to, pitch, value, width, height, stream), width * height) \
    CALL(hipMemset2DAsync_spt, SET, (void *to, size_t pitch, int value, size_t width, size_t height, void *stream), \
         (to, pitch, value, width, height, stream), width * height) \
    CALL(hipMemset3D, SET, (struct rtl_pitched to, int value, struct rtl_extent extent), (to, value, extent), \
         RTL_VOLUME(extent)) \
    CALL(hipMemset3D_spt, SET, (struct rtl_pitched to, int value, struct rtl_extent extent), (to, value, extent), \
         RTL_VOLUME(extent)) \
    CALL(hipMemset3DAsync, SET, (struct rtl_pitched to, int value, struct rtl_extent extent, void *stream), \
         (to, value, extent, stream), RTL_VOLUME(extent)) \
    CALL(hipMemset3DAsync_spt, SET, (struct rtl_pitched to, int value, struct rtl_extent extent, void *stream), \
         (to, value, extent, stream), RTL_VOLUME(extent))

#define RTL_HIP_MEMORY(ALLOCATE, FREE) \
    ALLOCATE(hipMalloc, (void **at, size_t n), (at, n), *at, n, 0) \
    ALLOCATE(hipExtMallocWithFlags, (void **at, size_t n, uint32_t flags), (at, n, flags), *at, n, 0) \
    ALLOCATE(hipMallocManaged, (void **at, size_t n, uint32_t flags), (at, n, flags), *at, n, 0) \
    ALLOCATE(hipMallocAsync, (void **at, size_t n, void *stream), (at, n, stream), *at, n, 0) \
    ALLOCATE(hipMallocFromPoolAsync, (void **at, size_t n, void *pool, void *stream), (at, n, pool, stream), *at, n, 0) \
    ALLOCATE(hipMallocPitch, (void **at, size_t *pitch, size_t width, size_t height), (at, pitch, width, height), *at, \
             *pitch * height, 0) \
    ALLOCATE(hipMemAllocPitch, (void **at, size_t *pitch, size_t width, size_t height, uint32_t element), \
             (at, pitch, width, height, element), *at, *pitch * height, 0) \
    ALLOCATE(hipMalloc3D, (struct rtl_pitched * at, struct rtl_extent extent), (at, extent), at->address, \
             at->pitch * extent.height * extent.depth, 0) \
    ALLOCATE(hipMemCreate, (void **at, size_t n, const void *properties, uint64_t flags), (at, n, properties, flags), \
             *at, n, 0) \
    ALLOCATE(hipHostMalloc, (void **at, size_t n, uint32_t flags), (at, n, flags), *at, n, 1) \
    ALLOCATE(hipHostAlloc, (void **at, size_t n, uint32_t flags), (at, n, flags), *at, n, 1) \
    ALLOCATE(hipMallocHost, (void **at, size_t n), (at, n), *at, n, 1) \
    ALLOCATE(hipMemAllocHost, (void **at, size_t n), (at, n), *at, n, 1) \
    FREE(hipFree, (void *at), (at), at) \
    FREE(hipFreeAsync, (void *at, void *stream), (at, stream), at) \
    FREE(hipFreeHost, (void *at), (at), at) \
    FREE(hipHostFree, (void *at), (at), at) \
    FREE(hipMemRelease, (void *at), (at), at)

#define RTL_HIP_WAITS(CALL) \
    CALL(hipDeviceSynchronize, WAIT, (void), (), 0) \
    CALL(hipStreamSynchronize, WAIT, (void *stream), (stream), 0) \
    CALL(hipStreamSynchronize_spt, WAIT, (void *stream), (stream), 0) \
    CALL(hipEventSynchronize, WAIT, (void *event), (event), 0)

#define RTL_HIP_STREAMS(CALL) \
    CALL(hipStreamCreate, STREAM, (void **stream), (stream), 0) \
    CALL(hipStreamCreateWithFlags, STREAM, (void **stream, uint32_t flags), (stream, flags), 0) \
    CALL(hipStreamCreateWithPriority, STREAM, (void **stream, uint32_t flags, int priority), \
         (stream, flags, priority), 0) \
    CALL(hipExtStreamCreateWithCUMask, STREAM, (void **stream, uint32_t n, const uint32_t *mask), \
         (stream, n, mask), 0) \
    CALL(hipStreamDestroy, STREAM, (void *stream), (stream), 0) \
    CALL(hipStreamQuery, STREAM, (void *stream), (stream), 0) \
    CALL(hipStreamQuery_spt, STREAM, (void *stream), (stream), 0) \
    CALL(hipStreamWaitEvent, STREAM, (void *stream, void *event, uint32_t flags), (stream, event, flags), 0) \
    CALL(hipStreamWaitEvent_spt, STREAM, (void *stream, void *event, uint32_t flags), (stream, event, flags), 0) \
    CALL(hipStreamAddCallback, STREAM, (void *stream, void *f, void *data, uint32_t flags), \
         (stream, f, data, flags), 0) \
    CALL(hipStreamAddCallback_spt, STREAM, (void *stream, void *f, void *data, uint32_t flags), \
         (stream, f, data, flags), 0) \
    CALL(hipStreamGetFlags, STREAM, (void *stream, uint32_t *flags), (stream, flags), 0) \
    CALL(hipStreamGetFlags_spt, STREAM, (void *stream, uint32_t *flags), (stream, flags), 0) \
    CALL(hipStreamGetPriority, STREAM, (void *stream, int *priority), (stream, priority), 0) \
    CALL(hipStreamGetPriority_spt, STREAM, (void *stream, int *priority), (stream, priority), 0) \
    CALL(hipStreamWaitValue32, STREAM, (void *stream, void *at, uint32_t value, uint32_t flags, uint32_t mask), \
         (stream, at, value, flags, mask), 0) \
    CALL(hipStreamWaitValue64, STREAM, (void *stream, void *at, uint64_t value, uint32_t flags, uint64_t mask), \
         (stream, at, value, flags, mask), 0) \
    CALL(hipStreamWriteValue32, STREAM, (void *stream, void *at, uint32_t value, uint32_t flags), \
         (stream, at, value, flags), 0) \
    CALL(hipStreamWriteValue64, STREAM, (void *stream, void *at, uint64_t value, uint32_t flags), \
         (stream, at, value, flags), 0) \
    CALL(hipEventCreate, EVENT, (void **event), (event), 0) \
    CALL(hipEventCreateWithFlags, EVENT, (void **event, uint32_t flags), (event, flags), 0) \
    CALL(hipEventDestroy, EVENT, (void *event), (event), 0) \
    CALL(hipEventRecord, EVENT, (void *event, void *stream), (event, stream), 0) \
    CALL(hipEventRecord_spt, EVENT, (void *event, void *stream), (event, stream), 0) \
    CALL(hipEventRecordWithFlags, EVENT, (void *event, void *stream, uint32_t flags), (event, stream, flags), 0) \
    CALL(hipEventQuery, EVENT, (void *event), (event), 0) \
    CALL(hipEventElapsedTime, EVENT, (float *ms, void *from, void *to), (ms, from, to), 0)

#define RTL_HIP_GRAPHS(CALL) \
    CALL(hipGraphCreate, GRAPH, (void **graph, uint32_t flags), (graph, flags), 0) \
    CALL(hipGraphDestroy, GRAPH, (void *graph), (graph), 0) \
    CALL(hipGraphInstantiate, GRAPH, (void **made, void *graph, void *node, char *log, size_t n), \
         (made, graph, node, log, n), 0) \
    CALL(hipGraphInstantiateWithFlags, GRAPH, (void **made, void *graph, uint64_t flags), (made, graph, flags), 0) \
    CALL(hipGraphInstantiateWithParams, GRAPH, (void **made, void *graph, void *parameters), \
         (made, graph, parameters), 0) \
    CALL(hipGraphUpload, GRAPH, (void *graph, void *stream), (graph, stream), 0) \
    CALL(hipGraphExecDestroy, GRAPH, (void *graph), (graph), 0) \
    CALL(hipGraphExecUpdate, GRAPH, (void *made, void *graph, void **node, void *result), \
         (made, graph, node, result), 0) \
    CALL(hipStreamBeginCapture, GRAPH, (void *stream, int mode), (stream, mode), 0) \
    CALL(hipStreamBeginCapture_spt, GRAPH, (void *stream, int mode), (stream, mode), 0) \
    CALL(hipStreamEndCapture, GRAPH, (void *stream, void **graph), (stream, graph), 0) \
    CALL(hipStreamEndCapture_spt, GRAPH, (void *stream, void **graph), (stream, graph), 0) \
    CALL(hipStreamIsCapturing, GRAPH, (void *stream, int *status), (stream, status), 0) \
    CALL(hipStreamIsCapturing_spt, GRAPH, (void *stream, int *status), (stream, status), 0)

#define RTL_HIP_OTHERS(CALL) \
    CALL(hipModuleLoad, MODULE, (void **module, const char *file), (module, file), 0) \
    CALL(hipModuleLoadData, MODULE, (void **module, const void *image), (module, image), 0) \
    CALL(hipModuleLoadDataEx, MODULE, (void **module, const void *image, uint32_t n, void *options, void **values), \
         (module, image, n, options, values), 0) \
    CALL(hipModuleUnload, MODULE, (void *module), (module), 0) \
    CALL(hipModuleGetFunction, MODULE, (void **f, void *module, const char *name), (f, module, name), 0) \
    CALL(hipModuleGetGlobal, MODULE, (void **at, size_t *n, void *module, const char *name), (at, n, module, name), 0) \
    CALL(hipFuncSetAttribute, MODULE, (const void *f, int attribute, int value), (f, attribute, value), 0) \
    CALL(hipFuncGetAttributes, MODULE, (void *attributes, const void *f), (attributes, f), 0) \
    CALL(hipInit, DEVICE, (uint32_t flags), (flags), 0) \
    CALL(hipSetDevice, DEVICE, (int gpu), (gpu), 0) \
    CALL(hipGetDevice, DEVICE, (int *gpu), (gpu), 0) \
    CALL(hipGetDeviceCount, DEVICE, (int *n), (n), 0) \
    CALL(hipDeviceReset, DEVICE, (void), (), 0) \
    CALL(hipDeviceGetAttribute, DEVICE, (int *value, int attribute, int gpu), (value, attribute, gpu), 0) \
    CALL(hipDeviceCanAccessPeer, DEVICE, (int *can, int gpu, int peer), (can, gpu, peer), 0) \
    CALL(hipDeviceEnablePeerAccess, DEVICE, (int peer, uint32_t flags), (peer, flags), 0) \
    CALL(hipMemGetInfo, DEVICE, (size_t *unused, size_t *total), (unused, total), 0) \
    CALL(hipHostRegister, MAPPING, (void *at, size_t n, uint32_t flags), (at, n, flags), n) \
    CALL(hipHostUnregister, MAPPING, (void *at), (at), 0) \
    CALL(hipHostGetDevicePointer, MAPPING, (void **at, void *host, uint32_t flags), (at, host, flags), 0) \
    CALL(hipMemMap, MAPPING, (void *at, size_t n, size_t offset, void *handle, uint64_t flags), \
         (at, n, offset, handle, flags), n) \
    CALL(hipMemUnmap, MAPPING, (void *at, size_t n), (at, n), 0) \
    CALL(hipMemAddressReserve, MAPPING, (void **at, size_t n, size_t alignment, void *hint, uint64_t flags), \
         (at, n, alignment, hint, flags), 0) \
    CALL(hipMemAddressFree, MAPPING, (void *at, size_t n), (at, n), 0) \
    CALL(hipMemSetAccess, MAPPING, (void *at, size_t n, const void *list, size_t count), (at, n, list, count), 0) \
    CALL(hipMemPoolTrimTo, MAPPING, (void *pool, size_t n), (pool, n), 0) \
    CALL(hipIpcGetMemHandle, MAPPING, (void *handle, void *at), (handle, at), 0) \
    CALL(hipIpcCloseMemHandle, MAPPING, (void *at), (at), 0)

#define RTL_HIP_FUNCTIONS(CALL, ALLOCATE, FREE) \
    RTL_HIP_LAUNCHES(CALL) \
    RTL_HIP_COPIES(CALL) \
    RTL_HIP_SETS(CALL) \
    RTL_HIP_MEMORY(ALLOCATE, FREE) \
    RTL_HIP_WAITS(CALL) \
    RTL_HIP_STREAMS(CALL) \
    RTL_HIP_GRAPHS(CALL) \
    RTL_HIP_OTHERS(CALL)

/* Names under which a release also exports a function: ALIAS(symbol, name). 5.2 has these in C++ only. */
#define RTL_HIP_ALIASES(ALIAS) \
    ALIAS("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j", \
          hipExtModuleLaunchKernel) \
    ALIAS("_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_", \
          hipHccModuleLaunchKernel)

/* Functions of roctx, which have their own semantics (roctx.c): ROCTX(name). */
#define RTL_ROCTX_FUNCTIONS(ROCTX) \
    ROCTX(roctxMarkA) \
    ROCTX(roctxMark) \
    ROCTX(roctxRangePushA) \
    ROCTX(roctxRangePush) \
    ROCTX(roctxRangePop) \
    ROCTX(roctxRangeStartA) \
    ROCTX(roctxRangeStart) \
    ROCTX(roctxRangeStop)

#define RTL_NUMBER_CALL(name, ...) RTL_FN_##name,
enum rtl_hip_function {
    RTL_HIP_FUNCTIONS(RTL_NUMBER_CALL, RTL_NUMBER_CALL, RTL_NUMBER_CALL)
    RTL_FN_HIP_COUNT, /* functions with rows of their own in the segment */
    RTL_FN_hipGetProcAddress = RTL_FN_HIP_COUNT,
    RTL_ROCTX_FUNCTIONS(RTL_NUMBER_CALL)
    RTL_FN_COUNT
};
#undef RTL_NUMBER_CALL

/* Return roctx's function (roctx.c) for dlsym. */
void *rtl_roctx_wrapper(enum rtl_hip_function function);

#endif
