#!/bin/sh
# Debian's OpenCL and OpenMP programs, run to the end with librtl.so: every kernel's count and times equal the software GPU's.
# REAL=all: also benchmarks and tests of the libraries of ROCm 6.4 and 5.7 (rocm.t runs those of 7.2.4). Kernels don't execute,
# so tests that compare results fail, as they do without the library.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

libexec=usr/libexec/rocm
if have opencl; then
    of=$real_store/opencl
    OCL_ICD_VENDORS=$of/etc/OpenCL/vendors
    export OCL_ICD_VENDORS
    devices=$( (exec tests/vgpu/run --release "$of" --gpus 2 -- "$of/usr/bin/clinfo" -l) 2>&1)
    is "OpenCL: clinfo lists two GPUs" "$(echo "$devices" | grep -c 'Device #[01]: gfx90a')" 2
    run_real opencl "clpeak" "--gpus 1" "$of/usr/bin/clpeak" -i 5 --global-bandwidth --compute-sp --compute-integer \
        --kernel-latency
    has "clpeak: prints a result" "$(cat "$work/out")" 'Kernel launch latency : [0-9]'
    unset OCL_ICD_VENDORS
fi
if have openmp; then # compiled by this system's clang, on this system's runtime
    of=$(echo "$real_store"/openmp/usr/lib/llvm-*/lib)
    number=${of%/lib}
    devices=$(find /usr/lib -name ockl.bc | head -n 1)
    check "OpenMP: clang compiles a program that offloads loops" "clang-${number##*-}" -O2 -fopenmp -fopenmp-targets=amdgcn-amd-amdhsa \
        -Xopenmp-target=amdgcn-amd-amdhsa -march=gfx90a --rocm-device-lib-path="${devices%/*}" --libomptarget-amdgpu-bc-path="$of" \
        -I"$(echo "$of"/clang/*/include)" -L"$of" tests/real/offload.c -o "$work/offload"
    LD_LIBRARY_PATH=$of
    OMP_TARGET_OFFLOAD=MANDATORY
    export LD_LIBRARY_PATH OMP_TARGET_OFFLOAD
    (exec tests/vgpu/run --gpus 2 -- "$work/offload") >"$work/out" 2>&1
    wanted=$? # the status of a crash: see offload.c
    run_real '' "OpenMP" "--gpus 2" "$work/offload"
    wanted=
    unset LD_LIBRARY_PATH OMP_TARGET_OFFLOAD
    has "OpenMP: the program offloads its loops to two GPUs" "$(cat "$work/out")" '^2 GPUs, 600 loops$'
    is "OpenMP: all 600 offloaded loops were counted" "$(jq '[.kernels[] | select(.name | startswith("__omp_offloading_")) | .calls] | add' "$work/json")" 600
fi
if [ "${REAL:-}" = all ]; then
    if have llama-sid; then
        seconds=240 # loads all of rocBLAS's kernels first
        run_real llama-sid "rocblas-bench" "--gpus 1" "$real_store/llama-sid/$libexec/librocblas4-bench/rocblas-bench" \
            -f gemm -r f32_r -m 512 -n 512 -k 512 --lda 512 --ldb 512 --ldc 512 -i 40 -j 4
        seconds=
        has "rocblas-bench: prints a result of the GPU" "$(cat "$work/out")" '^N,N,512,512,512,'
    fi
    if have rand; then
        for test in basic hipgraphs generate_uniform; do
            run_real rand "rocRAND, $test" "--gpus 1" "$real_store/rand/$libexec/librocrand1-tests/test_rocrand_$test"
            has "rocRAND, $test: its tests pass" "$(cat "$work/out")" '^\[  PASSED  \] [0-9]+ tests'
        done
    fi
    if have blaslt; then
        run_real blaslt "hipblaslt-bench" "--gpus 1" "$real_store/blaslt/$libexec/libhipblaslt1-bench/hipblaslt-bench" \
            -m 512 -n 512 -k 512 --precision f16_r --compute_type f32_r --iters 40 --cold_iters 4
    fi
    if have fft; then
        seconds=400 # compiles its kernels while it runs
        run_real fft "rocFFT" "--gpus 1" "$real_store/fft/$libexec/librocfft0-tests/rocfft-test" \
            --gtest_filter='bitwise_repro_test.compare_lengths:bitwise_repro_test.compare_precisions'
        seconds=
    fi
    if have rccl; then # each test is a child that ends by itself: only its end can be checked
        for tool in '' "$tap_top/$O/librtl.so"; do
            rm -f "$work/truth"
            (
                HSA_TOOLS_LIB=$tool
                export HSA_TOOLS_LIB
                exec tests/vgpu/run --release "$real_store/rccl" --gpus 2 --truth "$work/truth" -- \
                    "$real_store/rccl/$libexec/librccl1-tests/UnitTests" --gtest_filter=AllReduce.OutOfPlace
            ) >"$work/out" 2>"$work/err" </dev/null
            is "RCCL on two GPUs${tool:+, with the library}: ends as with wrong results" "$?" 1
            check "RCCL on two GPUs${tool:+, with the library}: it launched its kernels" grep -q ncclKernel_ "$work/truth"
        done
    fi
fi
finish
