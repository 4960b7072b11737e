/*
 * The GPU's constant clock, as a kernel reads it: the one that a dispatch's timestamps are taken from. Which
 * instruction reads it changed with gfx11. Device code only; HIP's wall_clock64() isn't in every release.
 */
#ifndef RTL_TESTS_SPIN_CLOCK_H
#define RTL_TESTS_SPIN_CLOCK_H

static inline __attribute__((device, always_inline)) unsigned long long spin_clock(void)
{
#if !defined(__AMDGCN__)
    return 0; /* the host's pass over the same source */
#elif __has_builtin(__builtin_readsteadycounter)
    return __builtin_readsteadycounter();
#elif defined(__GFX11__) || defined(__GFX12__)
    return __builtin_amdgcn_s_sendmsg_rtnl(0x83);
#else
    return __builtin_amdgcn_s_memrealtime();
#endif
}

#endif
