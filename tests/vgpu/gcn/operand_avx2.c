/*
 * operand_avx2.c - operand.c compiled for AVX2 and FMA, for the other *_avx2.c files.
 */
#ifdef __x86_64__
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define GCN_AVX2
#include "operand.c"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
