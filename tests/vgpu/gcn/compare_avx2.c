/*
 * compare_avx2.c - compare.c once more, for processors that have AVX2 and FMA: run.c takes this one where it can.
 */
#ifdef __x86_64__
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#define GCN_AVX2
#define gcn_compare_execute gcn_compare_execute_avx2
#include "compare.c"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
