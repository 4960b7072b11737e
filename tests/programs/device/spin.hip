/*
 * Kernels that spin until a clock has counted so far, for hardware_clocks: how long one lasts at least is known without
 * asking whoever times it. Compiled for the device only (Makefile), without HIP's headers, so that any clang that knows the
 * GPU will do.
 */
#include "../spin_clock.h"

/* ticks of the GPU's constant clock; where its first and last reading go; what is set to 1 when it runs */
#define SPIN(name)                                                                                                      \
    extern "C" __attribute__((global)) void name(unsigned long long ticks, unsigned long long *clocks, unsigned *runs) \
    {                                                                                                                   \
        unsigned long long begin = spin_clock(), at;                                                                   \
        __atomic_store_n(runs, 1u, __ATOMIC_RELEASE);                                                                   \
        do                                                                                                              \
            at = spin_clock();                                                                                         \
        while (at - begin < ticks);                                                                                     \
        clocks[0] = begin;                                                                                              \
        clocks[1] = at;                                                                                                 \
    }
SPIN(spin_0)
SPIN(spin_1)
SPIN(spin_2)
SPIN(spin_busy)
SPIN(spin_index)
