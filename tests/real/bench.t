#!/bin/sh
# llama.cpp's own benchmark and its tests of GPU code on the software GPU, run to the end with librtl.so: every kernel's count
# and times equal the software GPU's.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need "$llama_set"
check "llama-bench: a model of random weights is made" llama_make_model
run_in=$real_llama/usr/lib/x86_64-linux-gnu/ggml/backends0 # see llama in real.sh
bench=$real_llama/usr/bin/llama-bench

# AMD_LOG_LEVEL: HIP logs its calls
for graphs in with without; do
    (
        [ "$graphs" = with ] || export GGML_CUDA_DISABLE_GRAPHS=1
        AMD_LOG_LEVEL=3
        export AMD_LOG_LEVEL
        llama "--gpus" 1 -- "$bench" -m "$real_model" -p 0 -n 4 -r 1 >"$work/out" 2>"$work/err" </dev/null
    )
    is "llama-bench $graphs graphs, alone: launches of graphs" \
        "$(grep -acE 'hipGraphLaunch ' "$work/err" | sed 's/^[1-9][0-9]*/some/')" "$([ $graphs = with ] && echo some || echo 0)"
done
RTL_MODE=default
export RTL_MODE
run_real "$llama_set" "llama-bench" "--gpus 1" "$bench" -m "$real_model" -p 64,512 -n 24 -r 1 -o jsonl
is "llama-bench: prints its results" "$(jq -c '[.n_prompt, .n_gen, .backends]' "$work/out" | tr '\n' ' ')" \
    '[64,0,"ROCm"] [512,0,"ROCm"] [0,24,"ROCm"] '
GGML_CUDA_DISABLE_GRAPHS=1
export GGML_CUDA_DISABLE_GRAPHS
run_real "$llama_set" "llama-bench without graphs" "--gpus 1" "$bench" -m "$real_model" -p 64 -n 16 -r 1 -o jsonl
unset GGML_CUDA_DISABLE_GRAPHS
run_real "$llama_set" "llama-bench, two GPUs" "--gpus 2" "$bench" -m "$real_model" -p 64 -n 16 -r 1 -o jsonl

# Its tests compare GPU results with the CPU's. Kernels don't execute here, so these tests fail as they do without librtl.so,
# but launch kernels of all kinds. Tests that compare nothing pass.
ops=$real_llama/usr/libexec/x86_64-linux-gnu/ggml/test-backend-ops
wanted=1
run_real "$llama_set" "test-backend-ops, tests" "--gpus 1" "$ops" test -o RMS_NORM,SILU,GELU
check "test-backend-ops, tests: more than eight kernels were launched" jq -e '.kernels | length > 8' "$work/json"
wanted=0
run_real "$llama_set" "test-backend-ops, measured" "--gpus 1" "$ops" perf -o ADD
has "test-backend-ops, measured: both backends pass" "$(cat "$work/out")" '2/2 backends passed'
finish
