/*
 * A HIP program with kernels that no probe takes, for the software GPU without --execute: each is launched once, then it
 * says "holding" and does so until its standard input closes.
 */
#include "hip_check.h"

#include <cstdio>

extern "C" __global__ void refused_mode(float *out) // vector instructions are skipped
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
