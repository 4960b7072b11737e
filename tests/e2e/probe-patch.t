#!/bin/sh
# Kernels and their probed copies, side by side in the real runtime: results equal to the bit, waves and cycles those that
# the interpreter counted by itself; gaps likewise; what LLVM reads in a copy; what the program that makes copies says.
. "$(dirname "$0")/tap.sh"

make --no-print-directory O="$O" vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
patch=$O/tests/programs/probe_patch
swap=$O/tests/programs/probe_swap_preload.so
VGPU_EXECUTE_THREADS=1 && export VGPU_EXECUTE_THREADS # sums of floats by atomics depend on the order
# what the exit stub takes behind its clock: 44 instructions of 4 cycles
overhead=176

fails() { ! "$@"; }
side_by_side() { # how, program, options of run...
    how=$1
    program=$O/tests/programs/$2
    shift 2
    rm -f "$work/waves" "$work/plain" "$work/swap"
    PROBE_SWAP_OUT=$work/plain tests/vgpu/run --execute --preload "$swap" "$@" -- "$program" >"$work/out" 2>"$work/err"
    is "$how: the program passes" "$? $(cat "$work/err")" "0 "
    PROBE_SWAP=1 PROBE_SWAP_OUT=$work/swap tests/vgpu/run --execute --waves "$work/waves" --preload "$swap" "$@" -- \
        "$program" >"$work/out" 2>"$work/err"
    is "$how: with its kernels probed, too" "$? $(cat "$work/err")" "0 "
    is "$how: all that comes back is equal to the bit" "$(grep ^digest "$work/swap")" "$(grep ^digest "$work/plain")"
    check "$how: waves and cycles are those of the interpreter" tests/e2e/compare-probe "$overhead" "$work/swap" "$work/waves"
    sed -n '1s/^/# /p' "$work/check.out"
    is "$how: only kernels of images are refused" "$(grep ^refused "$work/swap" | grep -v 'rocclr.*Image')" ""
}
for gfx in gfx90a gfx906; do
    side_by_side "$gfx" hip_compute --gfx "$gfx"
    check "$gfx: there were many" test "$(grep -c ^block "$work/swap")" -ge 20
done
side_by_side "two GPUs" hip_compute --gpus 2
side_by_side "events, streams, graphs" hip_basic
for release in trixie sid; do
    [ -d "cache/releases/$release" ] && side_by_side "$release" hip_compute --release "$release"
done

# copies that record the gaps between waves, too: 19 instructions more behind the clock, 14 more where there is one, and
# 6 instructions between the clocks of two waves. On one compute unit: grids are small.
gaps_seen() { # GFX
    rm -f "$work/waves3"
    PROBE_SWAP=gaps PROBE_SWAP_OUT=$work/gaps VGPU_WAVE_UNITS=1 tests/vgpu/run --execute --waves "$work/waves3" --preload "$swap" --gfx "$1" -- \
        "$O/tests/programs/hip_compute" >"$work/out" 2>"$work/err"
    is "$1: with gaps" "$? $(cat "$work/err") $(grep ^digest "$work/gaps")" "0  $(grep ^digest "$work/plain")"
    check "$1: gaps are those of the interpreter" tests/e2e/compare-probe $((overhead + 76))/56/24 "$work/gaps" "$work/waves3"
    sed -n '1s/^/# /p' "$work/check.out"
    has "$1: there were some" "$(cat "$work/check.out")" ', [1-9][0-9]* gaps agree'
    check "$1: another number is noticed" fails tests/e2e/compare-probe $((overhead + 76))/56/28 "$work/gaps" "$work/waves3"
}

# copies that time waits, those of one round after another: the swapped kernels are fewer each time
waits_timed() { # GFX ROUND
    PROBE_SWAP_OUT=$work/plain tests/vgpu/run --execute --preload "$swap" --gfx "$1" -- "$O/tests/programs/hip_compute" \
        >"$work/out" 2>"$work/err"
    PROBE_SWAP=waits PROBE_SWAP_ROUND=$2 PROBE_SWAP_OUT=$work/timed VGPU_WAIT_CYCLES=400 tests/vgpu/run --execute --waves \
        "$work/waves2" --preload "$swap" --gfx "$1" -- "$O/tests/programs/hip_compute" >"$work/out" 2>"$work/err"
    is "$1: with waits timed, round $2" "$? $(cat "$work/err") $(grep ^digest "$work/timed")" \
        "0  $(grep ^digest "$work/plain")"
    is "$1: only for want of a wait kernels are refused" \
        "$(grep ^refused "$work/timed" | grep -vE 'rocclr.*Image|it has no wait')" ""
    timed=$(awk -F '\t' '$1 == "busy" && $2 == 3 && $3 > 0' "$work/timed" | wc -l)
}
for gfx in gfx90a gfx906; do
    waits_timed "$gfx" 0
    check "$gfx: there were some" test "$timed" -ge 10
    waits_timed "$gfx" 1
    check "$gfx: and some that take a second copy" test "$timed" -ge 1
    gaps_seen "$gfx"
done

# the comparison can fail
sed 's/^\(block\t[^\t]*\t\)\([1-9][0-9]*\)/\11\2/' "$work/swap" >"$work/more"
check "waves too many are noticed" fails tests/e2e/compare-probe "$overhead" "$work/more" "$work/waves"
check "cycles too few are noticed" fails tests/e2e/compare-probe $((overhead + 4)) "$work/swap" "$work/waves"

# ---- what a copy says ----
mkdir "$work/objects"
tests/vgpu/gcn/unbundle "$work/objects" "$O/tests/programs/hip_compute" "$O/tests/programs/hip_basic" \
    "$O/tests/programs/serve" >"$work/count"
"$patch" count "$work/objects"/*.co "$O"/tests/programs/*-gfx90?.co >"$work/out"
has "all kernels of the test programs can be probed" "$(cat "$work/out")" '^([0-9]+) of \1 kernels can be probed: .*'
for target in gfx906 gfx90a; do
    for file in "$work/objects/$target"-*.co; do
        "$patch" write "$file" compute_add "$work/copy.co" >"$work/out" 2>&1 && break
    done
    has "$target: a copy is written" "$(cat "$work/out")" '^[0-9]+ instructions, 1 ends, 0 read the pc, clock in s[0-9]+, registers '
    GCN_NAMES=$O/tests/programs/gcn_names tests/vgpu/gcn/compare "$target" "$work/copy.co" >"$work/out"
    has "$target: LLVM reads it as the decoder does" "$? $(cat "$work/out")" '^0 ([0-9]+) of \1$'
    objdump=$(command -v llvm-objdump) || for objdump in /usr/lib/llvm-*/bin/llvm-objdump; do :; done
    "$objdump" -d --mcpu="$target" "$work/copy.co" | sed -n 's,^\t\(.*[^ ]\) *// .*,\1,p' | grep -vE '^s_nop 0$' >"$work/code"
    is "$target: the entry stub" "$(sed -n '1,3s/[0-9][0-9]*/N/gp' "$work/code" | tr '\n' ';')" \
        "s_memtime s[N:N];s_memrealtime s[N:N];s_waitcnt lgkmcnt(N);"
    is "$target: the exit stub" "$(grep -n -A 100 'hwreg(HW_REG_HW_ID, 8, 8)' "$work/code" | grep -c global_atomic)" 13
    is "$target: it takes what its slot has and leaves its own there" "$(grep -A 1 'global_atomic_swap' "$work/code" | tr '\n' ';')" \
        "global_atomic_swap_x2 v[2:3], v1, v[2:3], s[0:1] glc;s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0);--;$(
        )global_atomic_swap_x2 v1, v[2:3], s[0:1];s_endpgm;"
    is "$target: the slot is the unit's, the SIMD's, its own" "$(grep -A 3 'hwreg(HW_REG_HW_ID, 0, 6)' "$work/code" | tr '\n' ';')" \
        "s_getreg_b32 s7, hwreg(HW_REG_HW_ID, 0, 6);s_lshl_b32 vcc_lo, s6, 6;s_or_b32 s7, s7, vcc_lo;s_lshl_b32 s7, s7, 3;"
    is "$target: one end is left, the stub's" "$(grep -c '^s_endpgm' "$work/code") $(tail -n 1 "$work/code")" "1 s_endpgm"
done
"$patch" write "$work/copy.co" nothing "$work/none.co" >"$work/out"
is "a refusal is told" "$? $(cat "$work/out")" "1 refused: its code object has no such kernel"
# ---- out of a process that runs: where its code is, nobody has to tell ----
live() { # options of run...
    mkfifo "$work/stdin"
    tests/vgpu/run "$@" -- "$O/tests/programs/hip_compute" --hold <"$work/stdin" >"$work/live.out" 2>&1 &
    program=$!
    tap_pids="$tap_pids $program"
    exec 8>"$work/stdin"
    wait_until 60 grep -q PASS "$work/live.out"
    rm -f "$work"/original-* "$work"/probed-*
    "$O/tests/programs/probe_live" "$program" compute_grid "$work" >"$work/out" 2>&1
    found=$?
    exec 8>&-
    wait "$program"
    rm "$work/stdin"
}
for how in "--gfx gfx90a --gpus 2" "--gfx gfx906"; do
    # shellcheck disable=SC2086 # options
    live --execute $how
    gpus=1
    case $how in *gpus*) gpus=2 ;; esac
    is "$how: a kernel's code is found in a process, where it is loaded, on each GPU" \
        "$found $(cut -f 2,3 "$work/out" | sort | uniq -c | tr -s ' \t' ' ')" "0  $gpus there yes"
    same=0
    for file in "$work/objects"/*.co; do cmp -s "$file" "$work/original-0.co" && same=$((same + 1)); done
    is "$how: as it is in the program" "$same" 1
    check "$how: and a copy can be made of it" test -s "$work/probed-$((gpus - 1)).co"
done
"$patch" count "$0" >"$work/out"
is "and what is no code object" "$(head -n 1 "$work/out")" "$0: this is no code object of an AMD GPU"
tests/vgpu/run --waves "$work/waves" -- true >"$work/out" 2>"$work/err"
is "waves are there only where kernels compute" "$(cat "$work/err")" \
    "vgpu: VGPU_WAVES: there are no waves unless kernels compute (VGPU_EXECUTE)"
finish
