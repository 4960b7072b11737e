#!/bin/sh
# Kernels and their probed copies, side by side in the real runtime: results are equal bit by bit; waves, cycles and gaps equal
# the interpreter's (gfx942: tests/releases/probe.t). LLVM's disassembly of a copy; the messages of the patching program.
. "$(dirname "$0")/tap.sh"
. "$tap_top/tests/e2e/probe.sh"

make --no-print-directory O="$O" vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
patch=$O/tests/programs/probe_patch
VGPU_EXECUTE_THREADS=1 && export VGPU_EXECUTE_THREADS # atomic sums of floats depend on the order
patch_overhead=176 # cycles of 44 instructions; with gaps 19 instructions more

for gfx in gfx90a gfx906; do
    compare_side_by_side "$gfx" hip_compute --gfx "$gfx"
    check "$gfx: at least 20 kernels are probed" test "$(grep -c ^block "$work/swap")" -ge 20
    # The number of swapped kernels falls with each round.
    check_waits "$gfx" 0 hip_compute --gfx "$gfx"
    check "$gfx: at least 10 copies time waits" test "$timed" -ge 10
    check_waits "$gfx" 1 hip_compute --gfx "$gfx"
    check "$gfx: some kernels need a second copy for their waits" test "$timed" -ge 1
    check_gaps "$gfx" 76 hip_compute --gfx "$gfx"
done
compare_side_by_side "two GPUs" hip_compute --gpus 2
compare_side_by_side "events, streams, graphs" hip_basic
for release in experimental trixie sid; do
    RTL_RELEASE=$release # to filter this runtime's own messages
    [ -d "cache/releases/$release" ] && compare_side_by_side "$release" hip_compute --release "$release"
done
unset RTL_RELEASE

# Checks of the comparison
sed 's/^\(block\t[^\t]*\t\)\([1-9][0-9]*\)/\11\2/' "$work/swap" >"$work/more"
check "compare-probe: finds too many waves" fails tests/e2e/compare-probe "$patch_overhead" "$work/more" "$work/waves"
check "compare-probe: finds too few cycles" fails tests/e2e/compare-probe $((patch_overhead + 4)) "$work/swap" "$work/waves"

# ---- disassembly of copies ----
mkdir "$work/objects"
tests/vgpu/gcn/unbundle "$work/objects" "$O/tests/programs/hip_compute" "$O/tests/programs/hip_basic" \
    "$O/tests/programs/serve" "$O/tests/programs/hip_compute-gfx942" >"$work/count"
"$patch" count "$work/objects"/*.co "$O"/tests/programs/*.co >"$work/out"
has "patch: all kernels of the test programs can be probed" "$(cat "$work/out")" '^([0-9]+) of \1 kernels can be probed: .*'
for target in gfx906 gfx90a gfx942; do
    cpu=$target returns=glc die=
    if [ "$target" = gfx942 ]; then # LLVM 15 knows only its predecessor
        cpu=gfx940 returns=sc0
        die='s_getreg_b32 s7, hwreg(HW_REG_XCC_ID, 0, 3);s_lshl_b32 s7, s7, 12;s_add_u32 s0, s0, s7;s_addc_u32 s1, s1, 0;--;'
        die=$die's_getreg_b32 vcc_lo, hwreg(HW_REG_XCC_ID, 0, 3);s_mul_i32 vcc_lo, vcc_lo, 0x1f000;s_add_u32 s7, s7, vcc_lo;'
        die=$die'v_mov_b32_e32 v1, s7;'
    fi
    for file in "$work/objects/$target"-*.co; do
        "$patch" write "$file" compute_add "$work/copy.co" >"$work/out" 2>&1 && break
    done
    has "$target: patch writes a copy" "$(cat "$work/out")" '^[0-9]+ instructions, 1 ends, 0 read the pc, clock in s[0-9]+, registers '
    GCN_NAMES=$O/tests/programs/gcn_names tests/vgpu/gcn/compare "$target" "$work/copy.co" >"$work/out"
    has "$target: LLVM disassembles it as the decoder does" "$? $(cat "$work/out")" '^0 ([0-9]+) of \1$'
    for objdump in /usr/lib/llvm-*/bin/llvm-objdump; do :; done # the newest; LLVM 14 doesn't know gfx940
    "$objdump" -d --triple=amdgcn-amd-amdhsa --mcpu="$cpu" "$work/copy.co" | sed -n 's,^\t\(.*[^ ]\) *// .*,\1,p' | grep -vE '^s_nop 0$' >"$work/code"
    is "$target: the entry stub reads both clocks" "$(sed -n '1,3s/[0-9][0-9]*/N/gp' "$work/code" | tr '\n' ';')" \
        "s_memtime s[N:N];s_memrealtime s[N:N];s_waitcnt lgkmcnt(N);"
    is "$target: the exit stub has 13 atomics" "$(grep -n -A 100 'hwreg(HW_REG_HW_ID, 8, 8)' "$work/code" | grep -c global_atomic)" 13
    is "$target: the exit stub swaps its slot's values" "$(grep -A 1 'global_atomic_swap' "$work/code" | tr '\n' ';')" \
        "global_atomic_swap_x2 v[2:3], v1, v[2:3], s[0:1] $returns;s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0);--;$(
        )global_atomic_swap_x2 v1, v[2:3], s[0:1];s_endpgm;"
    is "$target: the slot's number is that of unit, SIMD and slot" "$(grep -A 3 'hwreg(HW_REG_HW_ID, 0, 6)' "$work/code" | tr '\n' ';')" \
        "s_getreg_b32 s7, hwreg(HW_REG_HW_ID, 0, 6);s_lshl_b32 vcc_lo, s6, 6;s_or_b32 s7, s7, vcc_lo;s_lshl_b32 s7, s7, 3;"
    is "$target: the die's number selects page and table" "$(grep -A 3 XCC_ID "$work/code" | tr '\n' ';')" "$die"
    is "$target: only the stub has s_endpgm" "$(grep -c '^s_endpgm' "$work/code") $(tail -n 1 "$work/code")" "1 s_endpgm"
done
"$patch" write "$work/copy.co" nothing "$work/none.co" >"$work/out"
is "patch: an unknown kernel is refused" "$? $(cat "$work/out")" "1 refused: its code object has no such kernel"
# ---- code of a running process: found without help ----
run_live() { # OPTIONS OF run...
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
    run_live --execute $how
    gpus=1
    case $how in *gpus*) gpus=2 ;; esac
    is "$how: a kernel's code is found in a process, on each GPU" \
        "$found $(cut -f 2,3 "$work/out" | sort | uniq -c | tr -s ' \t' ' ')" "0  $gpus there yes"
    same=0
    for file in "$work/objects"/*.co; do cmp -s "$file" "$work/original-0.co" && same=$((same + 1)); done
    is "$how: the code equals the program's code object" "$same" 1
    check "$how: a copy can be made of it" test -s "$work/probed-$((gpus - 1)).co"
done
"$patch" count "$0" >"$work/out"
is "patch: a file that is no code object is refused" "$(head -n 1 "$work/out")" "$0: this is no code object of an AMD GPU"
tests/vgpu/run --waves "$work/waves" -- true >"$work/out" 2>"$work/err"
is "tests/vgpu/run --waves: needs --execute" "$(cat "$work/err")" \
    "vgpu: VGPU_WAVES: there are no waves unless kernels compute (VGPU_EXECUTE)"
finish
