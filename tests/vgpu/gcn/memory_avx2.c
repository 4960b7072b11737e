/*
 * memory_avx2.c - memory.c compiled for AVX2 and FMA; run.c selects it on processors that have them.
 */
#ifdef __x86_64__
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define GCN_AVX2
#define gcn_memory_execute gcn_memory_execute_avx2
#include "memory.c"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
