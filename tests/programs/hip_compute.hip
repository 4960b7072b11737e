/*
 * hip_compute.hip - a HIP program whose kernels compute, for the software GPU with --execute; compares each result with
 * the CPU's.
 *
 * Arithmetic of all widths, divisions and functions, divergence, LDS, atomics, lanes, private arrays, calls, several
 * streams and GPUs. hip_compute [--hold]: ends with "hip_compute: PASS, ..."; each failure is a line FAILED.
 * hip_compute fault: reads an unmapped address; unmapped: reads unmapped registered memory. hip_compute gws: executes
 * an instruction that the software GPU does not model; sync: a cooperative kernel, whose workgroups wait for each
 * other.
 */
#include "hip_check.h"
#include "hip_compute_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <sys/mman.h>

namespace {
verdict result;
} // namespace

namespace {

uint64_t state = 88172645463325252ull;
uint64_t any_number()
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

template <typename T> struct buffer {
    T *p;
    size_t n;
    explicit buffer(size_t count) : n(count)
    {
        HIP(hipMalloc((void **)&p, n * sizeof(T)));
        HIP(hipMemset(p, 0, n * sizeof(T)));
    }
    explicit buffer(const std::vector<T> &from) : buffer(from.size())
    {
        HIP(hipMemcpy(p, from.data(), n * sizeof(T), hipMemcpyHostToDevice));
    }
    buffer(const buffer &) = delete;
    ~buffer() { (void)hipFree(p); }
    std::vector<T> get() const
    {
        std::vector<T> v(n);
        HIP(hipMemcpy(v.data(), p, n * sizeof(T), hipMemcpyDeviceToHost));
        return v;
    }
};

void vectors()
{
    const int n = 1000;
    std::vector<float> a(n), b(n);
    for (int i = 0; i < n; i++)
        a[i] = (float)i * 0.5f, b[i] = 1.0f / (float)(i + 1);
    buffer<float> da(a), db(b), dc(n);
    compute_add<<<(n + 255) / 256, 256>>>(da.p, db.p, dc.p, n);
    std::vector<float> c = dc.get();
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= c[i] == a[i] + b[i];
    result.check(ok, "vector add");
}

void integers()
{
    const int n = 640;
    std::vector<uint64_t> a(n), b(n);
    for (int i = 0; i < n; i++) {
        a[i] = any_number() >> (any_number() & 63);
        b[i] = any_number() >> (any_number() & 63);
        if (i % 10 == 0)
            b[i] = a[i];
        if (i % 7 == 0)
            a[i] = ~a[i];
    }
    a[1] = 0, a[2] = UINT64_MAX, b[3] = 0, b[4] = UINT64_MAX, a[5] = INT32_MAX, b[5] = 2;
    buffer<uint64_t> da(a), db(b), out(n);
    for (int which = 0; which < INT_CASES; which++) {
        compute_ints<<<(n + 127) / 128, 128>>>(which, da.p, db.p, out.p, n);
        std::vector<uint64_t> v = out.get();
        for (int i = 0; i < n; i++)
            if (v[i] != int_case(which, a[i], b[i])) {
                std::printf("integers %d: of %llx, %llx: %llx instead of %llx\n", which, (unsigned long long)a[i],
                            (unsigned long long)b[i], (unsigned long long)v[i], (unsigned long long)int_case(which, a[i], b[i]));
                result.check(false, "integers");
                break;
            }
        result.check(true, "integers");
    }
}

/* Equal within so many units in the last place; 0 and NaN must be exact. */
template <typename T> bool near(T got, T want, double ulps)
{
    if (got == want || (got != got && want != want))
        return true;
    return std::fabs((double)got - (double)want) <=
           ulps * (sizeof(T) == 4 ? 1.2e-7 : 2.3e-16) * std::fmax(std::fabs((double)want), sizeof(T) == 4 ? 1e-37 : 1e-300);
}

template <typename T> void floats(const char *name)
{
    const int n = 512;
    std::vector<T> a(n), b(n);
    for (int i = 0; i < n; i++) {
        a[i] = (T)((double)(int64_t)any_number() / 9.2e18 * 20);
        b[i] = (T)((double)(int64_t)any_number() / 9.2e18 * 6 + 0.01);
    }
    a[0] = 0, a[1] = -0.0f, b[2] = (T)INFINITY, a[3] = (T)NAN, a[4] = b[4] = (T)2.5, a[5] = (T)1e-40, a[6] = (T)1e30, b[6] = (T)1e-30;
    a[7] = (T)-1.5, b[7] = (T)3.5;
    buffer<T> da(a), db(b), out(n);
    for (int which = 0; which < FLOAT_CASES; which++) {
        compute_floats<T><<<(n + 63) / 64, 64>>>(which, da.p, db.p, out.p, n);
        std::vector<T> v = out.get();
        /* The CPU's functions and the device's are both slightly inexact. */
        double ulps = which <= 1 || (which >= 6 && which <= 9) || which == 16 || which == 17 || which == 19 ? 0.01 : which == 5 ? 1 : which == 15 ? 64 : 8;
        bool ok = true;
        for (int i = 0; i < n && ok; i++) {
            T want = float_case<T>(which, a[i], b[i]);
            bool undefined = which == 9 && !(std::fabs(a[i]) < 1e6 && std::fabs(b[i]) < 1e6);
            ok = undefined || (which == 17 && !(std::fabs(b[i]) < 1e6)) || near<T>(v[i], want, ulps);
            if (!ok)
                std::printf("%s %d: of %.9g, %.9g: %.9g instead of %.9g\n", name, which, (double)a[i], (double)b[i],
                            (double)v[i], (double)want);
        }
        result.check(ok, name);
    }
}

void halves()
{
    const int n = 300;
    std::vector<__half> a(n), b(n);
    for (int i = 0; i < n; i++)
        a[i] = __float2half((float)(int)(any_number() % 2001) / 100.0f - 10), b[i] = __float2half((float)i / 64);
    buffer<__half> da(a), db(b), sum(n);
    buffer<__half2> pairs(n);
    buffer<float> wide(n);
    compute_halves<<<(n + 63) / 64, 64>>>(da.p, db.p, sum.p, pairs.p, wide.p, n);
    auto s = sum.get();
    auto p = pairs.get();
    auto w = wide.get();
    bool ok = true;
    for (int i = 0; i < n && ok; i++) {
        float x = __half2float(a[i]), y = __half2float(b[i]), fused = __half2float(__float2half(x * y + x)),
              twice = __half2float(__float2half(__half2float(__float2half(x * y)) + x)), got = __half2float(s[i]);
        ok = (got == fused || got == twice) && __half2float(__low2half(p[i])) == fused &&
             __half2float(__high2half(p[i])) == __half2float(__float2half(x * y + y)) && w[i] == x * y + 1.0f;
        if (!ok)
            std::printf("halves of %g, %g: %g instead of %g or %g, %g, %g\n", x, y, got, fused, twice,
                        __half2float(__low2half(p[i])), w[i]);
    }
    result.check(ok, "halves");
}

void together()
{
    const int n = 5000;
    std::vector<int> in(n);
    int want = 0;
    for (int &v : in)
        want += v = (int)(any_number() % 100);
    buffer<int> data(in), out(1);
    compute_reduce<<<(n + 255) / 256, 256>>>(data.p, out.p, n);
    result.check(out.get()[0] == want, "reduction");

    const int m = 50;
    std::vector<float> a(m * m), b(m * m);
    for (int i = 0; i < m * m; i++)
        a[i] = (float)(any_number() % 17) - 8, b[i] = (float)(any_number() % 9) * 0.25f;
    buffer<float> da(a), db(b), dc(m * m);
    compute_matrix<<<dim3((m + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(da.p, db.p, dc.p, m);
    std::vector<float> c = dc.get();
    bool ok = true;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) {
            float sum = 0;
            for (int k = 0; k < m; k++)
                sum += a[i * m + k] * b[k * m + j];
            ok &= std::fabs(sum - c[i * m + j]) < 1e-3f;
        }
    result.check(ok, "matrix product");

    buffer<int> dynamic(4 * 1500);
    compute_dynamic<<<4, 192, 1500 * sizeof(int)>>>(dynamic.p, 1500);
    std::vector<int> d = dynamic.get();
    ok = true;
    for (int g = 0; g < 4; g++)
        for (int i = 0; i < 1500; i++)
            ok &= d[g * 1500 + i] == (1499 - i) * (1499 - i) + g;
    result.check(ok, "dynamic LDS");
}

void atomic_operations()
{
    const unsigned n = 3000;
    atomics at = {};
    at.sub = 10000, at.min = 5000, at.bits_and = 0xffffffff;
    buffer<atomics> room(std::vector<atomics>{at});
    compute_atomics<<<(n + 255) / 256, 256>>>(room.p, (int)n);
    atomics v = room.get()[0];
    unsigned max = 0, min = 5000, bits = 0;
    for (unsigned i = 0; i < n; i++) {
        max = std::max(max, i * 7 % 1000);
        min = std::min(min, i * 13 % 1000 + 3);
        bits ^= i;
    }
    result.check(v.add == n * (n - 1) / 2 && v.sub == 10000 - n && v.max == max && v.min == min, "atomic add, sub, max, min");
    result.check(v.inc == n % 100 && v.bits_and == 0xffffff00 && v.bits_or == 0xffff && v.bits_xor == bits, "atomic inc, and, or, xor");
    result.check(v.sum == (float)n * 0.5f && v.sum64 == (double)n * 0.25, "atomic sums of floats");
    result.check(v.add64 == (uint64_t)n << 33 && v.max64 == (uint64_t)(n - 1) << 32, "atomics of 64 bits");
    result.check(v.signed_min == -(int)(n - 1) && v.swapped == 2 * n, "atomic signed min, compare and swap");
}

void lanes()
{
    const int n = 512;
    std::vector<int> in(n);
    for (int &v : in)
        v = (int)(any_number() % 100);
    buffer<int> data(in), down(n / 64), turned(n), any(n), scan(n);
    buffer<unsigned long long> votes(n);
    compute_lanes<<<n / 128, 128>>>(data.p, down.p, turned.p, any.p, votes.p, scan.p);
    auto d = down.get(), t = turned.get(), a = any.get(), s = scan.get();
    auto v = votes.get();
    bool sums = true, moved = true, asked = true, voted = true, scanned = true;
    for (int g = 0; g < n; g += 64) {
        const int *w = &in[g];
        int sum = 0, over = 0;
        unsigned long long odd = 0;
        for (int l = 0; l < 64; l++) {
            sum += w[l];
            over |= w[l] > 90;
            odd |= (unsigned long long)(w[l] & 1) << l;
            scanned &= s[g + l] == sum;
        }
        sums &= d[g / 64] == sum;
        for (int l = 0; l < 64; l++) {
            moved &= t[g + l] == w[l ^ 5] + w[(l + g % 128) * 3 & 63] + w[l ? l - 1 : 0];
            asked &= a[g + l] == over + 2;
            voted &= v[g + l] == odd;
        }
    }
    result.check(sums, "shuffle down");
    result.check(moved, "shuffles");
    result.check(asked, "any and all");
    result.check(voted, "ballot");
    result.check(scanned, "scan by shuffles");
}

int called_here(int depth, int *room)
{
    room[depth & 15] += depth;
    return depth <= 0 ? room[3] : called_here(depth - 1, room) + depth;
}

void private_memory()
{
    const int n = 300;
    std::vector<int> in(n);
    for (int i = 0; i < n; i++)
        in[i] = i * 5 % 97;
    buffer<int> data(in), out(n);
    compute_private<<<(n + 127) / 128, 128>>>(data.p, out.p, n);
    std::vector<int> v = out.get();
    bool ok = true;
    for (int i = 0; i < n; i++) {
        int room[16];
        for (int k = 0; k < 16; k++)
            room[k] = k;
        for (int k = 0; k < 100; k++)
            room[(in[i] + k * 7) & 15] += k;
        int want = called_here(in[i] & 7, room) * 1000;
        ok &= v[i] == want + room[in[i] & 15];
    }
    result.check(ok, "private arrays and calls");
}

void grid()
{
    const int nx = 37, ny = 11, nz = 5, zero = 0, constant[4] = {3, 1, 4, 1};
    int count;
    HIP(hipMemcpyToSymbol(HIP_SYMBOL(global_count), &zero, sizeof zero));
    buffer<unsigned> seen(nx * ny * nz);
    compute_grid<<<dim3(5, 3, 2), dim3(8, 4, 4)>>>(seen.p, nx, ny, nz);
    std::vector<unsigned> v = seen.get();
    bool ok = true;
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                int steps = 0, w = x + y * 3 + z * 7 + constant[x & 3];
                for (; w != 1 && steps < 200; steps++)
                    w = w & 1 ? 3 * w + 1 : w / 2;
                ok &= v[(z * ny + y) * nx + x] == (unsigned)steps;
            }
    HIP(hipMemcpyFromSymbol(&count, HIP_SYMBOL(global_count), sizeof count));
    result.check(ok, "a grid of three dimensions, each work-item with a loop of its own");
    result.check(count == nx * ny * nz, "a variable of the device");
}

void small()
{
    const int n = 700;
    std::vector<uint8_t> a(n);
    std::vector<int16_t> b(n);
    for (int i = 0; i < n; i++)
        a[i] = (uint8_t)any_number(), b[i] = (int16_t)any_number();
    buffer<uint8_t> da(a), dc(n);
    buffer<int16_t> db(b), dd(n);
    compute_bytes<<<(n + 255) / 256, 256>>>(da.p, db.p, dc.p, dd.p, n);
    auto c = dc.get();
    auto d = dd.get();
    bool ok = true;
    for (int i = 0; i < n; i++)
        ok &= c[i] == (uint8_t)(a[i] * 3 + b[i]) && d[i] == (int16_t)(b[i] * 5 - (int8_t)a[i]);
    result.check(ok, "bytes and shorts");
}

/* Chains of kernels in several streams of every GPU, with copies between. */
void streams()
{
    int gpus;
    HIP(hipGetDeviceCount(&gpus));
    for (int g = 0; g < gpus; g++) {
        HIP(hipSetDevice(g));
        const int n = 1000, chains = 6, steps = 20;
        std::vector<hipStream_t> s(chains);
        std::vector<int *> data(chains);
        std::vector<std::vector<int>> v(chains, std::vector<int>(n));
        for (int c = 0; c < chains; c++) {
            HIP(hipStreamCreate(&s[c]));
            HIP(hipMalloc((void **)&data[c], n * sizeof(int)));
            HIP(hipMemsetAsync(data[c], 0, n * sizeof(int), s[c]));
        }
        for (int k = 0; k < steps; k++)
            for (int c = 0; c < chains; c++)
                compute_step<<<(n + 255) / 256, 256, 0, s[c]>>>(data[c], n, c * 100 + k + g);
        bool ok = true;
        for (int c = 0; c < chains; c++) {
            HIP(hipMemcpyAsync(v[c].data(), data[c], n * sizeof(int), hipMemcpyDeviceToHost, s[c]));
            HIP(hipStreamSynchronize(s[c]));
            unsigned want = 0;
            for (int k = 0; k < steps; k++)
                want = want * 3 + (unsigned)(c * 100 + k + g);
            for (int x : v[c])
                ok &= x == (int)want;
            HIP(hipStreamDestroy(s[c]));
            HIP(hipFree(data[c]));
        }
        result.check(ok, "chains of kernels in streams");
    }
    HIP(hipSetDevice(0));
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 1 && std::strcmp(argv[1], "fault") == 0) {
        buffer<int> out(64);
        compute_read<<<1, 64>>>((const int *)0x123456789000, out.p);
        HIP(hipDeviceSynchronize());
        return 1; /* the runtime should have ended the process */
    }
    if (argc > 1 && std::strcmp(argv[1], "unmapped") == 0) {
        buffer<int> out(64);
        void *device, *host = mmap(nullptr, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        HIP(hipHostRegister(host, 65536, hipHostRegisterDefault));
        HIP(hipHostGetDevicePointer(&device, host, 0));
        ((int *)host)[5] = 77;
        compute_read<<<1, 64>>>((const int *)device, out.p);
        std::printf("read %d\n", out.get()[5]);
        std::fflush(stdout);
        munmap(host, 65536);
        compute_read<<<1, 64>>>((const int *)device, out.p);
        HIP(hipDeviceSynchronize());
        return 1;
    }
    if (argc > 1 && std::strcmp(argv[1], "gws") == 0) {
        buffer<int> out(64);
        compute_gws<<<1, 64>>>(out.p);
        HIP(hipDeviceSynchronize());
        return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "sync") == 0) {
        enum { GROUPS = 60, ITEMS = 128 };
        buffer<int> left(GROUPS), sums(GROUPS * ITEMS);
        void *arguments[] = {&left.p, &sums.p};
        HIP(hipLaunchCooperativeKernel((const void *)compute_grid_sync, dim3(GROUPS), dim3(ITEMS), arguments, 0, nullptr));
        HIP(hipDeviceSynchronize());
        int right = 0;
        for (int sum : sums.get())
            right += sum == GROUPS * (GROUPS + 1) / 2;
        std::printf("%d of %d\n", right, GROUPS * ITEMS);
        return 0;
    }
    vectors();
    integers();
    floats<float>("floats");
    floats<double>("doubles");
    halves();
    together();
    atomic_operations();
    lanes();
    private_memory();
    grid();
    small();
    streams();
    int status = result.report("hip_compute");
    if (argc > 1 && std::strcmp(argv[1], "--hold") == 0)
        hold_until_stdin_closes();
    return status;
}
