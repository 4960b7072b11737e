/*
 * spin.hip - kernels that spin until a clock has advanced by a given number of ticks, for hardware_clocks. So a
 * kernel's minimal duration is known independently of its measurement. Compiled for the device only (Makefile), without
 * HIP's headers, so that any clang that knows the GPU can build it.
 */
#include "../spin_clock.h"

/* Arguments: ticks of the GPU's constant clock; where to store the first and last reading; a flag set to 1 when
 * running. */
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
