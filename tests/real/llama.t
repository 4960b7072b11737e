#!/bin/sh
# Debian's llama.cpp server on the software GPU: answers, counts and times with librtl.so in every mode, over two GPUs split
# by layer and by tensor, with and without HIP graphs; recorded, traced and exported.
. "$(dirname "$0")/../e2e/tap.sh"
. "$(dirname "$0")/look.sh"

need "$llama_set"
check "llama-server: a model of random weights is made" llama_make_model
cat >"$work/script" <<'END'
*mul_mat*   lognormal 12us 0.3
Cijk_*      bimodal 20us 200us 0.9
*flash*     lognormal 15us 0.4
*           uniform 2us 6us
END

python() {
    (llama_python "$tap_top/tests/real/ask.py" "$work/llama.sock" "$@")
}

# start_server MODE GPU-OPTIONS ARGS: start it and wait until it answers; $program is its pid. MODE: one of librtl.so, or none.
start_server() {
    mode=$1 options=$2
    shift 2
    rm -f "$work/truth" "$work/llama.sock"
    (
        [ "$mode" = none ] || export HSA_TOOLS_LIB="$tap_top/$O/librtl.so" RTL_MODE="$mode"
        [ "$mode" != hip ] || export LD_PRELOAD="$tap_top/$O/librtl-hip.so"
        llama_server "$work/llama.sock" "--script $work/script --truth $work/truth $options" "$@" >"$work/out" 2>&1 </dev/null
    ) &
    program=$!
    tap_pids="$tap_pids $program"
    python ready "$program" && return
    tail -n 20 "$work/out" >&2
    check "llama-server: starts" false
    finish
}

end_server() { # name
    kill "$program" 2>/dev/null
    wait_until 60 gone "$program" || kill -9 "$program"
    wait "$program"
    is "$1: the server ends with status 0" "$?" 0
    tap_pids=
}

# baseline NAME GPU-OPTIONS ARGS: keep the answers without the library
baseline() {
    name=$1
    shift
    start_server none "$@"
    check "$name, without the library: answers" python answers 3
    cp "$work/check.out" "$work/answers"
    end_server "$name, alone"
}

# with_library NAME MODE GPU-OPTIONS ARGS
with_library() {
    name="$1, $2"
    shift
    start_server "$@"
    watcher=
    if [ "$1" = auto ]; then # mode auto times only with a viewer
        "$O/rtl-top" -p "$program" --json -d 0.2 >"$work/watched" 2>&1 &
        watcher=$!
        tap_pids="$tap_pids $watcher"
    fi
    python answers 3 >"$work/said" 2>&1
    is "$name: the same answers as without it" "$(diff "$work/answers" "$work/said" | head -n 5)" ""
    exact_now "$name" "$program" "$1"
    if [ "$1" = hip ]; then
        launches_linked "$name" "$program"
        has "$name: copies were linked" "$(grep '^copied' "$work/linked")" '^copied linked [1-9]'
    fi
    end_server "$name"
    if [ -n "$watcher" ]; then
        wait "$watcher"
        check "$name: some dispatches were timed" jq -e '.dispatches.timed > 0' "$work/json"
    fi
}

one='--gpus 1'
two='--gpus 2'
baseline "one GPU" "$one"
check "one GPU: a long question is answered in full" grep -q '^round 3 .*"limit", 200, 16, false, \[[0-9]' "$work/answers"
for mode in off lite default auto hip; do
    with_library "one GPU" "$mode" "$one"
done
is "llama-server: queues are native" "$(jq -r '[.queues[].way] | unique[]' "$work/json")" native
export RTL_QUEUES=intercept
start_server default "$one"
if grep -q '^librtl: .* intercept queues .* not counted$' "$work/out"; then # intercept queues overwrite memory here: man/librtl.7
    python answers 3 >"$work/said" 2>&1
    is "intercept queues refused: the same answers as without the library" "$(diff "$work/answers" "$work/said" | head -n 5)" ""
    settled_json "$program"
    is "intercept queues refused: no dispatch is counted, no queue listed" \
        "$(jq -c '[.dispatches.counted, (.queues | length)]' "$work/json")" '[0,0]'
    end_server "intercept queues refused"
else
    end_server "intercept queues"
    with_library "one GPU, intercept queues" default "$one"
    with_library "one GPU, intercept queues" hip "$one"
    is "llama-server: queues are intercepted" "$(jq -r '[.queues[].way] | unique[]' "$work/json")" intercept
fi
unset RTL_QUEUES

# --- the default mode, recorded and traced at the same time ---
export RTL_TRACE=1
start_server default "$one"
"$O/rtl-top" -p "$program" --trace "$work/trace.db" -d 0.2 2>"$work/traced" &
tracer=$!
"$O/rtl-top" -p "$program" --json -d 0.3 -w "$work/run.db" >"$work/live" 2>"$work/recorded" &
recorder=$!
tap_pids="$tap_pids $tracer $recorder"
python answers 3 >"$work/said" 2>&1
is "recorded and traced: the same answers as without" "$(diff "$work/answers" "$work/said" | head -n 5)" ""
exact_now "recorded and traced" "$program" default
check "llama-server: a snapshot is written" "$O/rtl-top" -p "$program" --snapshot "$work/snapshot.db"
pairs='.kernels | map(select(.calls > 0) | [.name, .calls, .timed, .total_ns]) | sort'
is "llama-server: the snapshot has the live numbers" "$("$O/rtl-top" -r "$work/snapshot.db" --json | jq -c "$pairs" | cksum)" \
    "$(jq -c "$pairs" "$work/json" | cksum)"
end_server "recorded and traced"
wait "$recorder"
is "recording: ends with the process, with status 6" "$?" 6
wait "$tracer"
is "trace: ends with the process, with status 0" "$?" 0
unset RTL_TRACE
"$O/rtl-top" -r "$work/run.db" --json >"$work/again"
check "recording: the replay equals the live output, byte for byte" cmp "$work/live" "$work/again"
is "recording: frames add up to the launched dispatches" \
    "$(sqlite3 "$work/run.db" 'SELECT sum(calls) FROM rtl_kernel_sample')" "$(awk -F '\t' 'FNR > 1 && $7 !~ /^</' "$work/truth" | wc -l)"
check "trace: every row equals a dispatch of the software GPU" tests/e2e/compare-trace "$work/truth" "$work/trace.db"
sed 's/^/# /' "$work/check.out"
has "trace: no record is lost" "$(cat "$work/traced")" ' 0 lost'
check "trace: exports for Perfetto and as CSV" "$O/rtl-top" export "$work/trace.db" --perfetto "$work/trace.json" --csv "$work/trace.csv"
rows=$(sqlite3 "$work/trace.db" 'SELECT count(*) FROM rocpd_op')
is "trace: both exports have every row" "$(jq '[.traceEvents[] | select(.ph == "X" and .cat != "marker")] | length' "$work/trace.json") $(grep -c '^[0-9]' "$work/trace.csv")" "$rows $rows"

# --- two GPUs, and without graphs ---
baseline "layers over two GPUs" "$two"
with_library "layers over two GPUs" default "$two"
gpus_as_in_truth "layers over two GPUs" 0 1
baseline "each layer over two GPUs" "$two" -sm tensor
with_library "each layer over two GPUs" default "$two" -sm tensor
gpus_as_in_truth "each layer over two GPUs" 0 1
export GGML_CUDA_DISABLE_GRAPHS=1
baseline "without HIP graphs" "$one"
with_library "without HIP graphs" default "$one"
unset GGML_CUDA_DISABLE_GRAPHS
finish
