#!/bin/sh
# Kernels that compute: the interpreter's decoder against LLVM's disassembler, and a HIP program's results on two kinds of GPU,
# with and without librtl.so; a bad address, and an instruction that isn't modelled.
. "$(dirname "$0")/tap.sh"

make --no-print-directory O="$O" vgpu programs all >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
program=$O/tests/programs/hip_compute

# ---- decoding ----
mkdir "$work/objects"
tests/vgpu/gcn/unbundle "$work/objects" "$program" "$O/tests/programs/hip_basic" "$O/tests/programs/serve" \
    "$program-gfx942" "$O/tests/programs/hip_basic-gfx942" >"$work/count"
check "decoder: programs have at least 8 code objects" test "$(cat "$work/count")" -ge 8
GCN_NAMES=$O/tests/programs/gcn_names
export GCN_NAMES
for target in gfx906 gfx90a gfx942; do
    check "decoder, $target: names and lengths of all instructions equal LLVM's" \
        tests/vgpu/gcn/compare "$target" "$work/objects/$target"-*.co "$O/tests/programs/kernels-$target.co"
done
echo "s_endpgm BF810000" | "$GCN_NAMES" gfx90a >"$work/out"
is "decoder: an instruction that agrees is counted" "$? $(cat "$work/out")" "0 1 of 1"
echo "s_nop BF810000" | "$GCN_NAMES" gfx90a >"$work/out"
is "decoder: an instruction that doesn't agree is counted" "$? $(tail -n 1 "$work/out")" "1 0 of 1"

# ---- computing ----
check_compute() { # HOW OPTIONS OF run...
    how=$1
    shift
    tests/vgpu/run --execute "$@" -- "$program" >"$work/out" 2>"$work/err"
    is "compute, $how: every result is right" "$? $(tail -n 1 "$work/out" | cut -d ' ' -f 2-4)" "0 PASS, ${checks:-88} checks,"
    is "compute, $how: standard error is empty" "$(cat "$work/err")" ""
}
check_compute "gfx90a"
check_compute "gfx906" --gfx gfx906
checks=90 && check_compute "three GPUs" --gpus 3
checks=88
VGPU_EXECUTE_THREADS=1 && export VGPU_EXECUTE_THREADS
check_compute "one thread" --bar small
HSA_TOOLS_LIB=$tap_top/$O/librtl.so && export HSA_TOOLS_LIB
unset VGPU_EXECUTE_THREADS
for way in native intercept; do
    RTL_QUEUES=$way && export RTL_QUEUES
    for mode in default auto; do
        RTL_MODE=$mode && export RTL_MODE
        check_compute "with librtl.so, $way, $mode"
    done
done
unset HSA_TOOLS_LIB RTL_QUEUES RTL_MODE

# A cooperative kernel, whose workgroups wait for each other
for gfx in gfx90a gfx906; do
    timeout 300 tests/vgpu/run --execute --gfx "$gfx" -- "$program" sync >"$work/out" 2>"$work/err"
    is "compute, $gfx: a barrier of the whole grid works" "$? $(cat "$work/out" "$work/err")" "0 7680 of 7680"
done

# Computing doesn't change times: they are the script's to the tick.
echo '* fixed 7us' >"$work/script"
tests/vgpu/run --execute --script "$work/script" --truth "$work/truth" -- "$program" >"$work/out" 2>"$work/err"
is "compute: durations are the script's" "$(awk -F '\t' '$7 ~ /^compute_|^_Z/ { print $5 - $4 }' "$work/truth" | sort -u)" 7000

# ---- faults ----
tests/vgpu/run --execute -- "$program" fault >"$work/out" 2>"$work/err"
is "bad address: ends the program as the runtime does" $? 134
has "bad address: the message has address and kernel" "$(cat "$work/err")" \
    '^vgpu: gpu 0 queue [0-9]+: compute_read touches address 0x123456789000 at \+0x[0-9a-f]+ of its code, which isn.t GPU memory'
has "bad address: the runtime reports it" "$(cat "$work/err")" '^Memory access fault by GPU node-1 .* on address 0x123456789000'
tests/vgpu/run --execute -- "$program" unmapped >"$work/out" 2>"$work/err"
is "unmapped memory: ends the program, not the model" \
    "$? $(cat "$work/out") $(grep -c '^vgpu: .*compute_read touches address' "$work/err")" "134 read 77 1"
tests/vgpu/run --execute -- "$program" gws >"$work/out" 2>"$work/err"
has "unknown instruction: the message has name, encoding and kernel" "$(cat "$work/err")" \
    '^vgpu: .* NOT MODELLED: ds_gws_sema_p \(encoding d9390000 00000000 at \+0x[0-9a-f]+ of compute_gws\).* NOT TO BE TRUSTED'
has "unknown instruction: the last line says that results are wrong" "$(tail -n 1 "$work/err")" \
    "^vgpu: 1 dispatch didn't compute what it should have: .* not to be trusted"
tests/vgpu/run -- "$program" gws >"$work/out" 2>"$work/err"
is "unknown instruction: is not executed without --execute" "$? $(cat "$work/err")" "0 "
finish
