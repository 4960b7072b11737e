# Sourced by the tests of probed copies: a program's kernels and their copies side by side, against the interpreter's own
# account. $patch_overhead is what the exit stub takes behind its clock, in cycles: 4 an instruction; $refused_may matches what
# may be refused.
# shellcheck shell=sh disable=SC2034,SC2154 # what tap.sh and the tests set

swap=$O/tests/programs/probe_swap_preload.so
refused_may='rocclr.*Image'

fails() { ! "$@"; }

# swapped HOW PROGRAM [OPTIONS OF run...]: with PROBE_SWAP=HOW; what it says, if it says something or fails
swapped() {
    how_swapped=$1
    of=$2
    shift 2
    PROBE_SWAP=$how_swapped tests/vgpu/run --execute --preload "$swap" "$@" -- "$O/tests/programs/$of" >"$work/out" 2>"$work/err"
    echo "$? $(without_runtimes_own <"$work/err")"
}

# side_by_side WHAT PROGRAM [OPTIONS OF run...]: the digest of what it computes stays in $work/plain
side_by_side() {
    what=$1
    program=$2
    shift 2
    rm -f "$work/waves" "$work/plain" "$work/swap"
    PROBE_SWAP_OUT=$work/plain tests/vgpu/run --execute --preload "$swap" "$@" -- "$O/tests/programs/$program" >"$work/out" 2>"$work/err"
    is "$what: the program passes" "$? $(without_runtimes_own <"$work/err")" "0 "
    is "$what: with its kernels probed, too" \
        "$(PROBE_SWAP_OUT=$work/swap swapped 1 "$program" --waves "$work/waves" "$@")" "0 "
    is "$what: all that comes back is equal to the bit" "$(grep ^digest "$work/swap")" "$(grep ^digest "$work/plain")"
    check "$what: waves and cycles are those of the interpreter" tests/e2e/compare-probe "$patch_overhead" "$work/swap" "$work/waves"
    sed -n '1s/^/# /p' "$work/check.out"
    is "$what: only those are refused that have to be" "$(grep ^refused "$work/swap" | grep -vE "$refused_may")" ""
}

# gaps_seen WHAT CYCLES PROGRAM [OPTIONS OF run...], behind side_by_side: copies that record the gaps between waves, too,
# which takes so many CYCLES more behind the clock, 14 instructions more where there is one, and 6 between the clocks of two
# waves. On one compute unit: grids are small.
gaps_seen() {
    what=$1
    with_gaps=$((patch_overhead + $2))
    program=$3
    shift 3
    rm -f "$work/waves3"
    is "$what: with gaps" "$(
        PROBE_SWAP_OUT=$work/gaps VGPU_WAVE_UNITS=1 swapped gaps "$program" --waves "$work/waves3" "$@"
    ) $(grep ^digest "$work/gaps")" "0  $(grep ^digest "$work/plain")"
    check "$what: gaps are those of the interpreter" tests/e2e/compare-probe "$with_gaps/56/24" "$work/gaps" "$work/waves3"
    sed -n '1s/^/# /p' "$work/check.out"
    has "$what: there were some" "$(cat "$work/check.out")" ', [1-9][0-9]* gaps agree'
    check "$what: another number is noticed" fails tests/e2e/compare-probe "$with_gaps/56/28" "$work/gaps" "$work/waves3"
}

# waits_timed WHAT ROUND PROGRAM [OPTIONS OF run...], behind side_by_side: copies that time waits, those of one round; how
# many of them timed some is in $timed
waits_timed() {
    what=$1
    round=$2
    program=$3
    shift 3
    is "$what: with waits timed, round $round" "$(
        PROBE_SWAP_ROUND=$round PROBE_SWAP_OUT=$work/timed VGPU_WAIT_CYCLES=400 swapped waits "$program" "$@"
    ) $(grep ^digest "$work/timed")" "0  $(grep ^digest "$work/plain")"
    is "$what: the others for want of a wait" \
        "$(grep ^refused "$work/timed" | grep -vE "$refused_may|it has no wait")" ""
    timed=$(awk -F '\t' '$1 == "busy" && $2 == 3 && $3 > 0' "$work/timed" | wc -l)
}
