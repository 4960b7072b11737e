#!/bin/sh
# llama.cpp with kernels that compute (tests/vgpu/run --execute): its own test of operations, which compares the GPU with the CPU;
# and its server's probabilities of the next token on the GPU and on the CPU.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need "$llama_set"
check "llama.cpp: a model of random weights is made" llama_make_model
tool=$real_llama/usr/libexec/x86_64-linux-gnu/llama.cpp-tests/test-backend-ops

# operations GFX OPERATIONS CASES: run the cases of an operation that match a pattern; the others take too long here
operations() {
    (llama --execute --gfx "$1" -- "$tool" test -b ROCm0 -o "$2" -p "$3") >"$work/ops" 2>&1
    status=$?
    sed 's/\x1b\[[0-9;]*m//g' "$work/ops" >"$work/plain"
    good=$(grep -cE '^ *[A-Z_0-9]+\(.*: OK$' "$work/plain")
    bad=$(grep -cE '^ *[A-Z_0-9]+\(.*FAIL' "$work/plain")
    echo "# $1 $2: $good of $((good + bad)) cases agree with the CPU"
    is "$1 $2: agrees with the CPU" "$status $bad $(grep '^vgpu:' "$work/plain" | head -n 3)" "0 0 "
    check "$1 $2: at least one case ran" test "$good" -gt 0
}
small='^(?!.*[0-9]{3})'
simple='bs=\[1,1\],nr=\[1,1\],per=\[0,1,2,3\],k_v=0,o=1'
# on gfx90a probe.t compares most operations with the CPU, each kernel once
families=gfx906
[ "${REAL:-}" != all ] || families='gfx906 gfx90a'
columns='1|8' # on gfx906 more columns use rocBLAS, whose kernels for it aren't unpacked
for gfx in $families; do
    operations "$gfx" MUL_MAT "^type_a=(f32|f16|bf16|q4_0|q8_0|q4_K|q6_K),type_b=f32,m=16,n=($columns),k=256,$simple"
    columns='1|2|8|9|16'
    operations "$gfx" SOFT_MAX 'ne=\[16,[0-9]+,1,1\].*'
    operations "$gfx" ADD,MUL,DIV,SILU,GELU,TANH,EXP,SCALE,CONT,NORM,RMS_NORM,SUM_ROWS,ARGMAX,CONCAT "$small"
done
operations gfx90a CONT,CONCAT "$small"
operations gfx90a ROPE 'ne_a=\[128,32,2,1\],n_dims=128,mode=[02],.*fs=1.0.*ef=0.0'
operations gfx90a SWIGLU "$small"
operations gfx90a ABS,CLAMP,COS,CUMSUM,DIAG,FLOOR,LOG,MEAN,REPEAT,SIN,SQRT,SUM,TRI,XIELU "$small"
# barriers over the whole grid
operations gfx90a CROSS_ENTROPY_LOSS,CROSS_ENTROPY_LOSS_BACK '.*'
operations gfx90a RMS_NORM,NORM,SCALE,L2_NORM 'ne=\[(64,5,4,3|10,10,10,10)\]'
operations gfx90a SET_ROWS 'type_dst=(f32|f16|q8_0|q4_0),type_idx=i64,ne=\[256,5,1,3\],nr23=\[1,1\],r=1,v=0'
operations gfx90a GET_ROWS 'type=(f32|f16|q4_0|q8_0),n=256,m=5,r=4,be1=1,be2=1,v=0'
operations gfx90a MUL_MAT_ID 'type_a=(f32|f16|q4_0|q8_0|q4_K),type_b=f32,n_mats=4,n_used=2,b=0,m=512,n=1,k=256,.*m_v=0,ids_offset=0'

# ---- the server: prompts of a token at a time, which need none of the library's matrix products ----
logits() { # options of llama-server...
    rm -f "$work/llama.sock"
    (llama_server "$work/llama.sock" --execute -np 1 -ub 1 --no-warmup "$@" >"$work/out" 2>"$work/err" </dev/null) &
    program=$!
    tap_pids="$tap_pids $program"
    (llama_python "$tap_top/tests/real/ask.py" "$work/llama.sock" ready "$program") || tail -n 5 "$work/err" >&2
    (llama_python "$tap_top/tests/real/logits.py" ask "$work/llama.sock" 4)
    kill "$program" 2>/dev/null
    wait "$program"
    tap_pids=
}
llama_compare() { (llama_python "$tap_top/tests/real/logits.py" compare "$@"); }
logits -ngl 0 >"$work/cpu" 2>"$work/cpu.told"
logits -ngl 99 >"$work/gpu" 2>"$work/gpu.told"
sed 's/^/# the server on the CPU: /' "$work/cpu.told"
sed 's/^/# the server on the GPU: /' "$work/gpu.told"
has "the server on the GPU: prints the time of a token" "$(cat "$work/gpu.told")" '^[0-9.]+ s a token, of 9$'
is "the server on the GPU: met no unmodelled instruction" "$(grep '^vgpu:' "$work/err")" ""
check "the server: GPU and CPU agree on the next tokens" llama_compare "$work/cpu" "$work/gpu"
sed 's/^/# /' "$work/check.out"
finish
