/*
 * hip_compute_kernels.h - the kernels of hip_compute.hip. The host runs the same function for each case.
 */
#ifndef RTL_TESTS_HIP_COMPUTE_KERNELS_H
#define RTL_TESTS_HIP_COMPUTE_KERNELS_H

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
/* After the runtime's header, whose names it uses. */
#include <hip/hip_cooperative_groups.h>

#include <cmath>
#include <cstdint>

/* ---- arithmetic: one value a work-item, selected by the case's number ---- */

extern "C" __global__ void compute_add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

#define INT_CASES 20
__host__ __device__ static inline uint64_t int_case(int which, uint64_t a, uint64_t b)
{
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    int32_t s = (int32_t)x, t = (int32_t)y;
    switch (which) {
    case 0:
        return x / (y | 1);
    case 1:
        return x % (y | 1);
    case 2:
        return (uint64_t)(int64_t)(s / (t | 1));
    case 3:
        return (uint64_t)(int64_t)(s % (t | 1));
    case 4:
        return a / (b | 1);
    case 5:
        return a % (b | 1);
    case 6:
        return (uint64_t)((int64_t)a / (int64_t)(b | 1));
    case 7:
        return a * b;
    case 8:
        return (uint64_t)x * y >> 7;
    case 9:
        return (uint64_t)((int64_t)s * t >> 5);
    case 10:
        return a << (b & 63) | a >> (y & 31);
    case 11:
        return (uint64_t)((int64_t)a >> (b & 63));
    case 12:
        return (uint16_t)((uint16_t)a * (uint16_t)b + 7) ^ (uint64_t)((int8_t)a >> 2) << 20;
    case 13:
        return (uint64_t)__builtin_popcount(x) + (x ? __builtin_clz(x) : 40) * 100 +
               (y ? __builtin_ctz(y) : 50) * 10000;
    case 14:
        return s < t ? (uint64_t)s : (uint64_t)t * 3;
    case 15:
        return (a > b) + 2 * ((int64_t)a >= (int64_t)b) + 4 * (a == b) + 8 * ((uint16_t)a < (uint16_t)b);
    case 16:
        return (x >> 3 & 0x1ff) | (y & 0x7f) << 12;
    case 17:
        return a + b + (a & b) - (a ^ b);
    case 18:
        return (x << 3) + y + ((x ^ y) | 5);
    default:
        return (uint64_t)(int64_t)(int16_t)(x + y) * 11 + (uint8_t)(x - y);
    }
}
extern "C" __global__ void compute_ints(int which, const uint64_t *a, const uint64_t *b, uint64_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = int_case(which, a[i], b[i]);
}

#define FLOAT_CASES 24
template <typename T> __host__ __device__ static inline T float_case(int which, T a, T b)
{
    switch (which) {
    case 0:
        return a + b;
    case 1:
        return a * b;
    case 2:
        return a / b;
    case 3:
        return (T)1 / a;
    case 4:
        return std::sqrt(std::fabs(a));
    case 5:
        return std::fma(a, b, a);
    case 6:
        return a < b ? a : b;
    case 7:
        return std::floor(a) + std::ceil(b);
    case 8:
        return std::trunc(a) - std::rint(b);
    case 9:
        return (T)(int)(a * (T)1000) + (T)(unsigned)(std::fabs(b) * (T)1000);
    case 10:
        return std::exp(a);
    case 11:
        return std::log(std::fabs(b));
    case 12:
        return std::sin(a);
    case 13:
        return std::cos(b);
    case 14:
        return std::tanh(a);
    case 15:
        return std::pow(std::fabs(a), b);
    case 16:
        return std::fmax(a, b) - std::fmin(a, b);
    case 17:
        return std::ldexp(a, (int)b);
    case 18:
        return (T)1 / std::sqrt(std::fabs(b));
    case 19:
        return (T)((a != a) + 2 * (a == b) + 4 * (a >= b) + 8 * std::isinf(a));
    case 20:
        return std::erf(a);
    case 21:
        return std::atan2(a, b);
    case 22:
        return std::sin(a * (T)100000);
    default:
        return std::fmod(a, b);
    }
}
template <typename T> __global__ void compute_floats(int which, const T *a, const T *b, T *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = float_case<T>(which, a[i], b[i]);
}

extern "C" __global__ void compute_halves(const __half *a, const __half *b, __half *sum, __half2 *pairs, float *wide,
                                          int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    sum[i] = a[i] * b[i] + a[i];
    __half2 x = __halves2half2(a[i], b[i]), y = __halves2half2(b[i], a[i]);
    pairs[i] = __hfma2(x, y, x);
    wide[i] = __half2float(a[i]) * __half2float(b[i]) + 1.0f;
}

/* ---- cooperation of work-items ---- */

extern "C" __global__ void compute_reduce(const int *in, int *out, int n)
{
    __shared__ int sums[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, sums[0]);
}

extern "C" __global__ void compute_matrix(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[16][17], tb[16][17];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        ta[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
        tb[y][x] = column < n && k + y < n ? b[(k + y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

struct atomics {
    unsigned add, sub, max, min, exchanged, inc, bits_and, bits_or, bits_xor, swapped;
    float sum;
    unsigned long long add64, max64;
    double sum64;
    int signed_min;
};
extern "C" __global__ void compute_atomics(atomics *at, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (unsigned)n)
        return;
    atomicAdd(&at->add, i);
    atomicSub(&at->sub, 1u);
    atomicMax(&at->max, i * 7 % 1000);
    atomicMin(&at->min, i * 13 % 1000 + 3);
    atomicInc(&at->inc, 99u);
    atomicAnd(&at->bits_and, ~(1u << (i & 7)));
    atomicOr(&at->bits_or, 1u << (i & 15));
    atomicXor(&at->bits_xor, i);
    atomicAdd(&at->sum, 0.5f);
    atomicAdd(&at->add64, 1ull << 33);
    atomicMax(&at->max64, (unsigned long long)i << 32);
    atomicAdd(&at->sum64, 0.25);
    atomicMin(&at->signed_min, -(int)i);
    unsigned old = at->swapped, seen;
    do {
        seen = old;
        old = atomicCAS(&at->swapped, seen, seen + 2);
    } while (old != seen);
}

extern "C" __global__ void compute_lanes(const int *in, int *down, int *turned, int *any, unsigned long long *votes,
                                         int *scan)
{
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, v = in[i], sum = v;
    for (int s = 32; s > 0; s >>= 1)
        sum += __shfl_down(sum, s);
    if (t % 64 == 0)
        down[i / 64] = sum;
    turned[i] = __shfl_xor(v, 5) + __shfl(v, (t * 3) & 63) + __shfl_up(v, 1);
    any[i] = __any(v > 90) + 2 * __all(v >= 0);
    votes[i] = __ballot(v & 1);
    int before = v;
    for (int s = 1; s < 64; s <<= 1) {
        int other = __shfl_up(before, s);
        if (t % 64 >= s)
            before += other;
    }
    scan[i] = before;
}

extern __shared__ int dynamic_room[];
extern "C" __global__ void compute_dynamic(int *out, int n)
{
    int t = threadIdx.x;
    for (int i = t; i < n; i += blockDim.x)
        dynamic_room[i] = i * i + (int)blockIdx.x;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        out[blockIdx.x * n + i] = dynamic_room[n - 1 - i];
}

__device__ __noinline__ int called(int depth, int *room)
{
    room[depth & 15] += depth;
    return depth <= 0 ? room[3] : called(depth - 1, room) + depth;
}
extern "C" __global__ void compute_private(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, room[16];
    if (i >= n)
        return;
    for (int k = 0; k < 16; k++)
        room[k] = k;
    for (int k = 0; k < 100; k++)
        room[(in[i] + k * 7) & 15] += k; /* index known only at run time: needs an array in memory */
    out[i] = called(in[i] & 7, room) * 1000 + room[in[i] & 15];
}

__device__ int global_count;
__constant__ int constants[4] = {3, 1, 4, 1};
extern "C" __global__ void compute_grid(unsigned *seen, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    int steps = 0, v = x + y * 3 + z * 7 + constants[x & 3]; /* the number of rounds differs between lanes */
    while (v != 1 && steps < 200) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        steps++;
    }
    seen[(z * ny + y) * nx + x] = (unsigned)steps;
    atomicAdd(&global_count, 1);
}

extern "C" __global__ void compute_bytes(const uint8_t *a, const int16_t *b, uint8_t *c, int16_t *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = (uint8_t)(a[i] * 3 + b[i]);
        d[i] = (int16_t)(b[i] * 5 - (int8_t)a[i]);
    }
}

extern "C" __global__ void compute_step(int *data, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * 3 + by;
}

extern "C" __global__ void compute_read(const int *from, int *out)
{
    out[threadIdx.x] = from[threadIdx.x];
}
extern "C" __global__ void compute_gws(int *out)
{
#if defined(__gfx906__) || defined(__gfx90a__) || defined(__gfx940__) /* other targets may lack it too */
    asm volatile("s_mov_b32 m0, 0\n ds_gws_sema_p gds\n s_waitcnt lgkmcnt(0)" ::"v"(out[1]));
#endif
    out[threadIdx.x] = 1;
}

/* Each workgroup's first work-item stores a number; after the barrier every workgroup reads all of them. */
extern "C" __global__ void compute_grid_sync(int *left, int *sums)
{
    if (threadIdx.x == 0)
        left[blockIdx.x] = blockIdx.x + 1;
    cooperative_groups::this_grid().sync();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++)
        sum += ((volatile int *)left)[i];
    sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

#endif
