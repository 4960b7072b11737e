/*
 * kernels.hip - kernels for the C programs that load code objects themselves: 100 with short names, hsa_00 to hsa_99,
 * and one with a name of more than 2000 characters. Compiled for the device only (Makefile), without HIP's headers, so
 * that any clang that knows the GPU can build it. The bodies do not matter: by default the software GPU runs none.
 */
#define __global__ __attribute__((global))

#define ONE(n)                                                                                           \
    extern "C" __global__ void hsa_##n(float *out)                                                       \
    {                                                                                                    \
        out[0] = 1;                                                                                      \
    }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
TEN(0) TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)

template <long... NUMBERS> __global__ void long_name(float *out)
{
    out[0] = sizeof...(NUMBERS);
}
#define N10 1000000001, 1000000002, 1000000003, 1000000004, 1000000005, 1000000006, 1000000007, 1000000008, 1000000009, 1000000010
#define N50 N10, N10, N10, N10, N10
template __global__ void long_name<N50, N50, N50>(float *out);
