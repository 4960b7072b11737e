/*
 * hip_refused.hip - a HIP program with kernels that the prober refuses, for the software GPU without --execute. It
 * launches each once, then prints "holding" until its standard input closes.
 */
#include "hip_check.h"

#include <cstdio>

extern "C" __global__ void refused_mode(float *out) // s_setvskip skips vector instructions
{
    asm volatile("s_setvskip 0, 1");
    out[0] = 1;
}
extern "C" __global__ void refused_ending(float *out)
{
    out[0] = 1;
    asm volatile("s_endpgm_saved");
}
extern "C" __global__ void refused_nothing(float *out)
{
    out[0] = 1;
}

int main()
{
    float *out;
    HIP(hipMalloc((void **)&out, sizeof *out));
    refused_mode<<<1, 64>>>(out);
    refused_ending<<<1, 64>>>(out);
    refused_nothing<<<1, 64>>>(out);
    HIP(hipDeviceSynchronize());
    hold_until_stdin_closes();
    return 0;
}
