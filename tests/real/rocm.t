#!/bin/sh
# Debian's programs of ROCm 7.2.4 on one GPU and on two, run to the end with librtl.so: benchmarks of rocBLAS and hipBLASLt, tests
# of RCCL and rocFFT. Every kernel's count and times equal the software GPU's.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need rocm
libexec=$real_store/rocm/usr/libexec/rocm

# one_type TYPE: give rocBLAS a folder with the kernels of one type, because it loads its whole folder before it begins
one_type() {
    rm -rf "$work/library"
    mkdir "$work/library"
    for file in "$real_store"/rocm/usr/lib/*/rocblas/*/library/*; do
        case ${file##*/} in *"_Type_$1_"* | *.dat | [!T]*) ln -s "$file" "$work/library" ;; esac
    done
    ROCBLAS_TENSILE_LIBPATH=$work/library
    export ROCBLAS_TENSILE_LIBPATH
}

one_type SS
gemm() { # NAME GPU-OPTIONS ARGS
    run_real rocm "$1" "$2" "$libexec/librocblas5-bench/rocblas-bench" -f gemm -r f32_r -m 512 -n 512 -k 512 \
        --lda 512 --ldb 512 --ldc 512 -i 400 -j 4 --device "$3"
    has "$1: prints a result" "$(cat "$work/out")" '^N,N,512,512,512,'
}
RTL_MODE=hip
export RTL_MODE
gemm "rocblas-bench, mode hip" "--gpus 1" 0
unset RTL_MODE
gemm "rocblas-bench on the second GPU" "--gpus 2" 1
gpus_as_in_truth "rocblas-bench on the second GPU" 1
unset ROCBLAS_TENSILE_LIBPATH

lt() { # NAME GPU-OPTIONS DEVICE
    run_real rocm "$1" "$2" "$libexec/libhipblaslt1-bench/hipblaslt-bench" -m 512 -n 512 -k 512 --precision f16_r \
        --compute_type f32_r --iters 400 --cold_iters 4 --device "$3"
    has "$1: prints a result" "$(cat "$work/out")" '^ *N,N,0,1,512,512,512,'
}
RTL_MODE=hip
export RTL_MODE
lt "hipblaslt-bench, mode hip" "--gpus 1" 0
unset RTL_MODE
lt "hipblaslt-bench on the second GPU" "--gpus 2" 1
gpus_as_in_truth "hipblaslt-bench on the second GPU" 0 1 # one of HIP's fills is on the first

# Each of RCCL's tests runs in its own child. NCCL_P2P_DISABLE makes RCCL move data through host memory, because the software GPU
# does not model handles by which other processes map GPU memory. RCCL ignores the variable for GPUs connected by XGMI. Results
# are wrong, as without the library.
NCCL_P2P_DISABLE=1 UT_MIN_GPUS=2 UT_DATATYPES=ncclFloat32 UT_REDOPS=sum
export NCCL_P2P_DISABLE UT_MIN_GPUS UT_DATATYPES UT_REDOPS
# rccl NAME PROCESSES CHILDREN TESTS: PROCESSES is UT_PROCESS_MASK: 1, a child for both GPUs; 2, one for each
rccl() {
    wanted=1
    UT_PROCESS_MASK=$2 && export UT_PROCESS_MASK
    run_children rocm "$1" "--gpus 2 --pcie" "$libexec/librccl1-tests/rccl-UnitTests" --gtest_filter="$4"
    wanted=
    is "$1: number of child processes that launched kernels" "$children" "$3"
    check "$1: RCCL's own kernel ran" grep -q ncclDevKernel "$work/truth"
}
gpus='0 1'
rccl "RCCL, a process with two GPUs" 1 1 AllReduce.OutOfPlace
[ "${REAL:-}" != all ] || rccl "RCCL, more tests" 1 4 AllGather.InPlaceGraph:Broadcast.InPlace:ReduceScatter.OutOfPlace:SendRecv.SinglePairs
gpus=
RTL_MODE=hip
export RTL_MODE
rccl "RCCL, two processes with a GPU each, mode hip" 2 2 AllReduce.OutOfPlace

seconds=400 # rocFFT compiles its kernels while it runs
fft() { # NAME TESTS
    run_real rocm "$1" "--gpus 1" "$libexec/librocfft0-tests/rocfft-test" --gtest_filter="$2"
}
fft "rocFFT, mode hip" 'bitwise_repro_test.compare_lengths:bitwise_repro_test.compare_precisions:rocfft_UnitTest.plan_description'
has "rocFFT: its tests pass" "$(cat "$work/out")" '^\[  PASSED  \] 3 tests'
unset RTL_MODE
if [ "${REAL:-}" = all ]; then # these compare results
    wanted=1
    fft "rocFFT, several streams and a graph" 'rocfft_UnitTest.hipGraph_execution:rocfft_UnitTest.simple_multistream_*'
    wanted=
fi
finish
