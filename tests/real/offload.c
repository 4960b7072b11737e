/*
 * Offload loops to all GPUs by OpenMP, one at a time and from several threads at once. Prints their number and ignores
 * their results. Compiled by tests/real/programs.t.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 1 << 14, ROUNDS = 200, THREADS = 4, PARTS = 100 };

int main(void)
{
    int devices = omp_get_num_devices(), loops = 0;
    float *a = calloc(ELEMENTS, sizeof *a), *b = calloc(ELEMENTS, sizeof *b);
    if (!a || !b || devices == 0) {
        printf("no GPU\n");
        return 1;
    }
    for (int device = 0; device < devices; device++) {
#pragma omp target data map(tofrom : a [0:ELEMENTS]) map(to : b [0:ELEMENTS]) device(device)
        for (int round = 0; round < ROUNDS; round++) {
#pragma omp target teams distribute parallel for device(device)
            for (int i = 0; i < ELEMENTS; i++)
                a[i] = 2 * a[i] + b[i];
            loops++;
        }
#pragma omp parallel for num_threads(THREADS) reduction(+ : loops)
        for (int part = 0; part < PARTS; part++) {
#pragma omp target teams distribute parallel for map(tofrom : a [part * 100:100]) device(device)
            for (int i = part * 100; i < (part + 1) * 100; i++)
                a[i] += 1;
            loops++;
        }
    }
    printf("%d GPUs, %d loops\n", devices, loops);
    fflush(stdout); /* LLVM 15's libomptarget uses the HSA runtime after shutting it down, and crashes at exit, also
                       without librtl.so */
    free(a);
    free(b);
    return 0;
}
