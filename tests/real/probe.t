#!/bin/sh
# Probed copies (src/probe) of kernels that Debian ships: how many kernels of libggml-hip and rocRAND can be probed, and why the
# others are refused; and llama.cpp's own test of operations with every kernel probed: results are equal to the bit.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need "$llama_set"
patch=$tap_top/$O/tests/programs/probe_patch
swap=$tap_top/$O/tests/programs/probe_swap_preload.so
check "probe: the test programs are built" make --no-print-directory O="$O" vgpu programs

# can NAME FILE...: at least 95 % of the kernels with an end of their own can be probed; the others have a reason
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
    is "$name: each refused kernel has a reason" "$(awk '{ n += $1 } END { print n + 0 }' "$work/why")" "$((all - good))"
    is "$name: no reason is an unknown instruction or a damaged object" "$(grep -E "isn't known|doesn't know|damaged|where no code is" "$work/why")" ""
}
can libggml-hip "$real_llama"/usr/lib/*/ggml/backends0/libggml-hip.so
if have rocrand; then can rocRAND "$real_store"/rocrand/usr/lib/*/librocrand.so.1; fi

# ---- llama.cpp's test of operations with original kernels, and with a probed copy of each: results equal to the bit ----
tool=$real_llama/usr/libexec/x86_64-linux-gnu/llama.cpp-tests/test-backend-ops
results=$tap_top/$O/tests/programs/ggml_results_preload.so
# Cases: products of each type by 1, 8 and 9 columns, where kernels differ; of other operations those without large numbers.
# Excluded: types that take seconds to start (iq1, iq2), and floats by 9 columns, which rocBLAS multiplies (also those by 8).
# rocBLAS's kernels are refused, and some, but not those by 8, add floats by atomics.
products='type_b=f32,m=16,n=[189],k=256,bs=\[1,1\],nr=\[1,1\],per=\[0,1,2,3\],k_v=0,o=1,'
attention='hsk=64,hsv=64,nh=4,nr23=\[1,1\],kv=113,nb=1,mask=1,sinks=0,max_bias=0.0*,logit_softcap=0.0*,prec=f32,type_K=f16,'
few='(?!type_a)(?!.*[=,[][0-9]{3})(?!.*(?:v|swapped|perm1|src_overlap)=1)(?!.*ne=\[10,5,[14],1\])(?!.*,nf=(?:[2-9]|1[0-9]))(?!.*nr=\[(?:1,)*[2-9])(?!.*iq[12]_)'
cases="^(?:type_a=(?!iq[12]_|b?f(?:16|32),.*n=9)[^,]*,$products|$attention|$few)"
names=$(tr '\n ' ',,' <<'END' | sed 's/,*$//'
ABS ADD ADD_ADD ADD_GELU_MUL ADD_ID ADD_RMS_NORM ADD_SIGMOID_MUL ADD_SILU_MUL ADD_SOFTPLUS_MUL ARANGE ARGMAX CEIL CLAMP
CONV_2D_DW COS CUMSUM DIAG DIAG_MASK_INF DIV DSV4_HC_COMB DSV4_HC_POST DSV4_HC_PRE
DUP ELU EXP EXPM1 FLASH_ATTN_EXT FLOOR GATED_LINEAR_ATTN GEGLU GEGLU_ERF GEGLU_QUICK GELU GELU_ERF GELU_MUL GELU_QUICK
GROUP_NORM HARDSIGMOID HARDSWISH L2_NORM L2_NORM_BATCH LEAKY_RELU LOG MEAN MUL MUL_MAT NEG NORM NORM_MUL_ADD NORM_SCALE
OPT_STEP_ADAMW OPT_STEP_SGD PAD REGLU RELU RELU_SQR REPEAT REPEAT_BACK RMS_NORM RMS_NORM_BACK RMS_NORM_MUL_ADD
RMS_NORM_SCALE ROLL ROPE ROUND RWKV_WKV6 RWKV_WKV7 SCALE SGN SIGMOID SIGMOID_MUL SILU SILU_BACK SILU_MUL SIN SNAKE_FUSE
SOFTCAP SOFTPLUS SOFTPLUS_MUL SOFT_MAX SOFT_MAX_BACK SQR SQRT SSM_SCAN_ROLLBACK STEP SUB SUM SUM_ROWS SWIGLU SWIGLU_CLAMP
SWIGLU_OAI TANH TIMESTEP_EMBEDDING TRI TRUNC UPSCALE XIELU
END
)
families=gfx90a
if [ "${REAL:-}" = all ]; then # other targets and all types, and more shapes
    families='gfx90a gfx906'
    names=$names,COL2IM_1D,CONCAT,CONT,CONV_TRANSPOSE_2D,SET
    cases="^(?:type_a=.*,type_b=f32,m=16,n=[1-9],k=256,|hsk=(64|128),.*kv=113,nb=(1|3),|(?!type_a)(?!.*[=,[][0-9]{3}))"
fi

operations() { # GFX HOW
    rm -f "$work/waves" "$work/swap"
    (
        GGML_RESULTS=$work/$2 && export GGML_RESULTS
        if [ "$2" != plain ]; then
            PROBE_SWAP=$2 PROBE_SWAP_OUT=$work/swap PROBE_SWAP_ONLY=$work/ran
            export PROBE_SWAP PROBE_SWAP_OUT PROBE_SWAP_ONLY
        fi
        llama --execute --gfx "$1" --waves "$work/waves" --preload "$results" --preload "$swap" -- \
            "$tool" test -b ROCm0 -o "$names" -p "$cases"
    ) >"$work/ops" 2>&1
    status=$?
    sed 's/\x1b\[[0-9;]*m//g' "$work/ops" >"$work/text"
    good=$(grep -cE '^ *[A-Z_0-9]+\(.*: OK$' "$work/text")
    bad=$(grep -cE '^ *[A-Z_0-9]+\(.*FAIL' "$work/text")
    echo "# $1, $2: $good of $((good + bad)) cases agree with the CPU"
    is "$1, $2: the operations agree with the CPU" "$status $bad $(grep '^vgpu:' "$work/text" | head -n 3)" "0 0 "
}

# probed GFX HOW: run with copies of that kind. Every kernel that ran is probed or has a refusal.
probed() {
    operations "$1" "$2"
    is "$1, $2: results equal those without a probe, to the bit" "$(diff "$work/plain" "$work/$2" | head -n 6)" ""
    awk -F '\t' '$1 == "block" && $3 > 0 { print $2 }' "$work/swap" | sort -u >"$work/probed"
    echo "# $1, $2: of $(wc -l <"$work/ran") different kernels $(wc -l <"$work/probed") ran probed, $(wc -l <"$work/plain") results"
    comm -23 "$work/ran" "$work/probed" >"$work/others"
    sed -n 's/^refused\t\(.*\)\t\([^\t]*\)$/\2\t\1/p' "$work/swap" | grep -F -f "$work/others" | sort -u >"$work/refused"
    cut -f 1 "$work/refused" | sort | uniq -c | sort -rn | sed "s/^ */# $1, $2: /"
    is "$1, $2: each kernel that was not probed has a refusal" "$(cut -f 2 "$work/refused" | sort -u | comm -23 "$work/others" -)" ""
}
for gfx in $families; do
    operations "$gfx" plain
    sed 1d "$work/waves" | cut -f 6 | sort -u >"$work/ran"
    probed "$gfx" gaps
    check "$gfx: there are results, and at least 95 % of the kernels that ran are probed" test -s "$work/plain" -a \
        "$(($(wc -l <"$work/probed") * 100))" -ge "$(($(wc -l <"$work/ran") * 95))"
    # overhead of the stubs: as in tests/e2e/probe-patch.t
    check "$gfx, gaps: waves and cycles equal the interpreter's" tests/e2e/compare-probe 252/56/24 "$work/swap" "$work/waves"
    sed -n '1s/^/# /p' "$work/check.out"
    [ "${REAL:-}" = all ] || continue # the other kinds: with waits timed, and for a library whose block has no room for gaps
    probed "$gfx" waits
    probed "$gfx" 1
    check "$gfx, 1: waves and cycles equal the interpreter's" tests/e2e/compare-probe 176 "$work/swap" "$work/waves"
done
finish
