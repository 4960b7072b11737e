/*
 * spin_clock.h - reads the GPU's constant clock in a kernel: the clock of a dispatch's timestamps. The instruction that
 * reads it changed with gfx11. Device code only; not every release has HIP's wall_clock64().
 */
#ifndef RTL_TESTS_SPIN_CLOCK_H
#define RTL_TESTS_SPIN_CLOCK_H

static inline __attribute__((device, always_inline)) unsigned long long spin_clock(void)
{
#if !defined(__AMDGCN__)
    return 0; /* when compiled for the host */
#elif __has_builtin(__builtin_readsteadycounter)
    return __builtin_readsteadycounter();
#elif defined(__GFX11__) || defined(__GFX12__)
    return __builtin_amdgcn_s_sendmsg_rtnl(0x83);
#else
    return __builtin_amdgcn_s_memrealtime();
#endif
}

#endif
