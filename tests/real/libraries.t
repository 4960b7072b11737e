#!/bin/sh
# More of ROCm's libraries: Debian's tests and benchmarks that launch many kernels and reach their end although no kernel
# executes, each alone and with librtl.so. Only with REAL=all: each set is 0.4 to 0.9 GB to fetch, and 2 to 6 GB on disk.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

if [ "${REAL:-}" != all ]; then
    echo "1..0 # SKIP only with REAL=all"
    exit 0
fi
HOME=$work # MIOpen and MIGraphX cache compiled code there
export HOME
libexec=usr/libexec/rocm
seconds=300

# tests_of SET TITLE PREFIX TEST...
tests_of() {
    set_of=$1 title=$2 prefix=$3
    shift 3
    have "$set_of" || return 0
    for test; do
        twice "$set_of" "$title, $test" "--gpus 1" "$prefix$test"
    done
}

tests_of hiprand hipRAND "$real_store/hiprand/$libexec/libhiprand1-tests/test_hiprand_" api cpp_wrapper kernel
tests_of prim rocPRIM "$real_store/prim/$libexec/librocprim-tests/test_" hipgraph_basic hipgraph_algs hip_async_copy \
    device_find_end device_search_n device_merge device_segmented_radix_sort
tests_of cub hipCUB "$real_store/cub/$libexec/libhipcub-tests/test_hipcub_" device_segmented_sort device_merge_sort block_reduce \
    device_histogram warp_exchange
tests_of thrust rocThrust "$real_store/thrust/$libexec/librocthrust-tests/test_thrust_" merge reverse tabulate zip_iterator

# sparse_cases FUNCTION...: print some of the 289,385 cases of rocSPARSE's data file, which rocSPARSE reads many times at each
# start: a header of 788 bytes, then 768 bytes for each case, sorted by function
sparse_cases() {
    of=$real_store/sparse/usr/share/librocsparse1-tests/data/rocsparse_test.data
    head -c 788 "$of"
    for function; do
        at=$(LC_ALL=C grep -aboP "\\x00$function\\x00" "$of" | head -n 1 | cut -d : -f 1)
        tail -c +$((788 + (at - 788) / 768 * 768 + 1)) "$of" | head -c $((400 * 768))
    done
}
if have sparse; then
    for function in gtsv csrsv csrsort; do
        sparse_cases "$function" >"$work/cases"
        twice sparse "rocSPARSE, $function" "--gpus 1" "$real_store/sparse/$libexec/librocsparse1-tests/rocsparse-test" \
            --data "$work/cases" --gtest_filter="*/$function.*:-*nightly*"
        check "rocSPARSE, $function: more than fifty tests ran" test "$(wc -l <"$work/verdicts")" -gt 50
    done
fi
if have solver; then
    for call in '-f getrf -m 500' '-f geqrf -m 500' '-f syevd -n 200 --evect V'; do
        # shellcheck disable=SC2086 # options without blanks
        twice solver "rocsolver-bench $call" "--gpus 1" "$real_store/solver/$libexec/librocsolver0-bench/rocsolver-bench" $call --perf 1
    done
fi
if have miopen; then # only kernels that it need not compile: see doc/verified.md
    twice miopen "MIOpenDriver gemm" "--gpus 1" "$real_store/miopen/$libexec/libmiopen1-tests/MIOpenDriver" gemm -V 0 -i 100
fi
if have migraphx; then
    twice migraphx "migraphx-driver" "--gpus 1" "$real_store/migraphx/usr/bin/migraphx-driver" perf --test -n 300
    has "migraphx-driver: prints a result" "$(cat "$work/out" "$work/err")" '^Rate: [0-9]'
fi
finish
