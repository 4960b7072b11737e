#!/bin/sh
# Probed copies (src/probe) of kernels that Debian ships: how many of libggml-hip's and rocRAND's can be had, what the others
# are refused for; and llama.cpp's own test of operations with every kernel probed.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need llama
patch=$tap_top/$O/tests/programs/probe_patch
swap=$tap_top/$O/tests/programs/probe_swap_preload.so
check "the programs are built" make --no-print-directory O="$O" vgpu programs

# can NAME FILE...: of the kernels that have an end of their own 95 % can be probed; the others say why
can() {
    mkdir "$work/objects"
    of=$1
    shift
    tests/vgpu/gcn/unbundle "$work/objects" "$@" >"$work/count"
    for gfx in gfx90a gfx906; do can_for "$of, $gfx" "$work/objects/$gfx"-*.co; done
    rm -r "$work/objects"
}
can_for() { # NAME CODE-OBJECT...
    name=$1
    shift
    "$patch" count "$@" >"$work/copies"
    tail -n 1 "$work/copies" | sed "s/^/# $name: /"
    sed -n 's/^[^:]*: [^:]*: \(.*\) (+0x[0-9a-f]* [0-9a-f]*)$/\1/p' "$work/copies" | sort | uniq -c | sort -rn >"$work/why"
    sed "s/^ */# $name: /" "$work/why"
    good=$(tail -n 1 "$work/copies" | cut -d ' ' -f 1)
    all=$(tail -n 1 "$work/copies" | cut -d ' ' -f 3)
    endless=$(awk '/it has no end/ { print $1 }' "$work/why")
    check "$name: at least 95 % of the kernels that have an end can be probed" \
        test "$((good * 100))" -ge "$(((all - ${endless:-0}) * 95))" -a "$good" -gt 0
    is "$name: each of the others says why" "$(awk '{ n += $1 } END { print n + 0 }' "$work/why")" "$((all - good))"
    is "$name: nothing of them is unknown" "$(grep -E "isn't known|doesn't know|damaged|where no code is" "$work/why")" ""
}
can libggml-hip "$real_llama"/usr/lib/*/ggml/backends0/libggml-hip.so
if have rocrand; then can rocRAND "$real_store"/rocrand/usr/lib/*/librocrand.so.1; fi

# ---- the same test with each kernel that is looked up probed ----
tool=$real_llama/usr/libexec/x86_64-linux-gnu/llama.cpp-tests/test-backend-ops
probed() { # GFX OPERATIONS CASES
    rm -f "$work/waves" "$work/swap"
    (
        PROBE_SWAP=1 PROBE_SWAP_OUT=$work/swap && export PROBE_SWAP PROBE_SWAP_OUT
        llama --execute --gfx "$1" --waves "$work/waves" --preload "$swap" -- "$tool" test -b ROCm0 -o "$2" -p "$3"
    ) >"$work/ops" 2>&1
    status=$?
    sed 's/\x1b\[[0-9;]*m//g' "$work/ops" >"$work/plain"
    good=$(grep -cE '^ *[A-Z_0-9]+\(.*: OK$' "$work/plain")
    bad=$(grep -cE '^ *[A-Z_0-9]+\(.*FAIL' "$work/plain")
    echo "# $1 $2: $good of $((good + bad)) cases agree with the CPU"
    is "$1 $2: agrees with the CPU, probed" "$status $bad $(grep '^vgpu:' "$work/plain" | head -n 3)" "0 0 "
    check "$1 $2: waves and cycles are those of the interpreter" \
        tests/e2e/compare-probe 176 "$work/swap" "$work/waves"
    sed -n '1s/^/# /p' "$work/check.out"
}
small='^(?!.*[0-9]{3})'
families=gfx90a
[ "${REAL:-}" != all ] || families='gfx90a gfx906' # half of the time is each
for gfx in $families; do
    probed "$gfx" MUL_MAT "^type_a=(f32|f16|q4_0|q8_0|q4_K),type_b=f32,m=16,n=(1|8),k=256,bs=\[1,1\],nr=\[1,1\],per=\[0,1,2,3\],k_v=0,o=1"
    probed "$gfx" ADD,MUL,DIV,SILU,SCALE,NORM,RMS_NORM,SUM_ROWS,ARGMAX "$small"
done
finish
