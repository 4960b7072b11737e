# Sourced by the tests of probed copies. Runs a program with its kernels and with their copies, and compares them with
# the interpreter's account. $patch_overhead: the exit stub's cycles after it reads the clock, 4 an instruction.
# $refused_may: pattern of the kernels that may be refused.
# shellcheck shell=sh disable=SC2034,SC2154 # tap.sh and the tests set them

swap=$O/tests/programs/probe_swap_preload.so
refused_may='rocclr.*Image'

fails() { ! "$@"; }

# run_swapped HOW PROGRAM [OPTIONS OF run...]: run with PROBE_SWAP=HOW; print the exit status and standard error.
run_swapped() {
    how_swapped=$1
    of=$2
    shift 2
    PROBE_SWAP=$how_swapped tests/vgpu/run --execute --preload "$swap" "$@" -- "$O/tests/programs/$of" >"$work/out" 2>"$work/err"
    echo "$? $(filter_runtimes_lines <"$work/err")"
}

# compare_side_by_side WHAT PROGRAM [OPTIONS OF run...]: the digest of the results stays in $work/plain.
compare_side_by_side() {
    what=$1
    program=$2
    shift 2
    rm -f "$work/waves" "$work/plain" "$work/swap"
    PROBE_SWAP_OUT=$work/plain tests/vgpu/run --execute --preload "$swap" "$@" -- "$O/tests/programs/$program" >"$work/out" 2>"$work/err"
    is "$what: the program passes" "$? $(filter_runtimes_lines <"$work/err")" "0 "
    is "$what: the program passes with its kernels probed" \
        "$(PROBE_SWAP_OUT=$work/swap run_swapped 1 "$program" --waves "$work/waves" "$@")" "0 "
    is "$what: results with probed kernels equal the plain results bit by bit" "$(grep ^digest "$work/swap")" "$(grep ^digest "$work/plain")"
    check "$what: waves and cycles are those of the interpreter" tests/e2e/compare-probe "$patch_overhead" "$work/swap" "$work/waves"
    sed -n '1s/^/# /p' "$work/check.out"
    is "$what: only kernels that may be refused are refused" "$(grep ^refused "$work/swap" | grep -vE "$refused_may")" ""
}

# check_gaps WHAT CYCLES PROGRAM [OPTIONS OF run...], after compare_side_by_side: copies that also record the gaps between waves.
# A copy needs CYCLES more after the clock, 14 instructions more for a gap, and 6 between the clocks of two waves. Runs
# on one compute unit, because grids are small.
check_gaps() {
    what=$1
    with_gaps=$((patch_overhead + $2))
    program=$3
    shift 3
    rm -f "$work/waves3"
    is "$what: copies that record gaps give the plain results" "$(
        PROBE_SWAP_OUT=$work/gaps VGPU_WAVE_UNITS=1 run_swapped gaps "$program" --waves "$work/waves3" "$@"
    ) $(grep ^digest "$work/gaps")" "0  $(grep ^digest "$work/plain")"
    check "$what: gaps equal the interpreter's" tests/e2e/compare-probe "$with_gaps/56/24" "$work/gaps" "$work/waves3"
    sed -n '1s/^/# /p' "$work/check.out"
    has "$what: copies record gaps" "$(cat "$work/check.out")" ', [1-9][0-9]* gaps agree'
    check "$what: compare-probe notices a wrong gap overhead" fails tests/e2e/compare-probe "$with_gaps/56/28" "$work/gaps" "$work/waves3"
}

# check_waits WHAT ROUND PROGRAM [OPTIONS OF run...], after compare_side_by_side: copies that time the waits of one round. $timed
# is the number of copies that timed a wait.
check_waits() {
    what=$1
    round=$2
    program=$3
    shift 3
    is "$what: copies that time waits give the plain results, round $round" "$(
        PROBE_SWAP_ROUND=$round PROBE_SWAP_OUT=$work/timed VGPU_WAIT_CYCLES=400 run_swapped waits "$program" "$@"
    ) $(grep ^digest "$work/timed")" "0  $(grep ^digest "$work/plain")"
    is "$what: other kernels are refused because they have no wait" \
        "$(grep ^refused "$work/timed" | grep -vE "$refused_may|it has no wait")" ""
    timed=$(awk -F '\t' '$1 == "busy" && $2 == 3 && $3 > 0' "$work/timed" | wc -l)
}
