#!/bin/bash
# Steps of a server on the software GPU against its own list of dispatches: the marker, its count, kernels per step.
# shellcheck source-path=SCRIPTDIR disable=SC2016
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/serve.sh"
top=$O/rtl-top
sampler=top_k_top_p_sampling_kernel

# serve_steps NAME ARGS...: run the server under rtl-top until it ends; the software GPU lists every dispatch.
serve_steps() {
    name=$1
    shift
    tests/vgpu/run --gpus 1 --script tests/programs/serve.script --truth "$work/$name.truth" -- \
        "$top" run -o "$work/$name" "$@" -- "$O/tests/programs/serve" --layers 4 --seconds 12 >"$work/$name.out" 2>&1
}
count_runs() { grep -c "$2" "$work/$1.truth"; }
last_step() { jq -s "last.step | $2" "$work/$1"; }
# frames FILTER: of the frames with steps
frames() { jq -cs "[.[].step | select(. != null and .steps != null)] | $1" "$work/json"; }

serve_steps json --json -d 0.5 -w "$work/run.db"
has "steps: the kernel that samples is chosen automatically" "$(last_step json '"\(.automatic) \(.kind) \(.marker)"')" "true kernel $sampler"
is "steps: the total equals the software GPU's runs of the sampler" "$(last_step json .total)" "$(count_runs json $sampler)"
is "steps: the first frames have none, as nothing is chosen yet" "$(jq -cs '.[:3] | map(.step)' "$work/json")" "[null,null,null]"
is "steps: the windows add up to the total" "$(frames '.[-1].total - .[0].total == (.[1:] | map(.steps) | add)')" true
is "steps: the time of a step is the window by its runs" \
    "$(jq -cs '[.[] | select(.step != null) | .window_ns / .step.steps - .step.step_ns] | all(. < 1 and . >= 0)' "$work/json")" true
# 4 layers with 3 products each, and one after the layers; a prompt has 12 more
is "steps: a step has the server's matrix products" \
    "$(frames 'map(.families[] | select(.name == "gemm") | .dispatches) | sort | .[length / 2 | floor] | . > 12 and . < 15')" true
is "steps: kernels of a family add up to it" \
    "$(frames '.[-1].families | all((.kernels | map(.ns) | add) - .ns | . < 9 and . > -9)')" true
is "steps: families and idle time add up to the step on one GPU" \
    "$(frames 'map(((.families | map(.ns) | add) + .idle_ns) / .step_ns) | sort | .[length / 2 | floor] | . > 0.9 and . < 1.1')" true

# --- marks of the user ---
serve_steps marked --json -d 0.5 --step MT64x32x256 -w "$work/marked.db"
is "--step: a part of a kernel's name marks steps" "$(last_step marked '"\(.automatic) \(.kind) \(.total)"')" \
    "\"false kernel $(count_runs marked MT64x32x256)\""
"$top" replay "$work/run.db" --json --step nothing_of_this_name >"$work/nothing"
is "--step: a pattern without a match is explained, and all numbers are null" \
    "$(last_step nothing '[.marker, .trouble, .kind, .total, .steps, .step_ns, .idle_ns, .families]' | jq -c .)" \
    '["nothing_of_this_name","no range or kernel of this name has run so far",null,null,null,null,null,[]]'
is "--step auto: the marker is chosen automatically" \
    "$("$top" replay "$work/run.db" --json --step auto | jq -s 'last.step | [.automatic, .total]' -c)" \
    "[true,$(count_runs json $sampler)]"
check "--step '': is refused" sh -c "! '$top' -r '$work/run.db' --step '' 2>'$work/err' && grep -q '^rtl-top: --step needs' '$work/err'"

# --- recordings ---
"$top" replay "$work/run.db" --json >"$work/replayed"
is "replay: the steps of every frame are those of the live output" \
    "$(jq -c '.step | [.marker, .total, .steps, .step_ns]' "$work/replayed")" \
    "$(jq -c '.step | [.marker, .total, .steps, .step_ns]' "$work/json")"
"$top" replay "$work/marked.db" --json >"$work/again"
is "replay: the marker that the recorder's user chose marks its steps" "$(jq -c .step "$work/again")" "$(jq -c .step "$work/marked")"
has "replay -b: a line has the cost of a step" "$("$top" replay "$work/run.db" -b --window 5 | grep '^step ' | tail -n 1)" \
    "^step [0-9.]+m?s a step.*[:,] gemm [0-9.]+, .*automatic: $sampler"

# --- without times ---
tests/vgpu/run --script tests/programs/serve.script -- "$O/tests/programs/serve" --layers 4 >/dev/null 2>&1 &
server=$!
tap_pids="$tap_pids $server"
wait_until 60 grep -q libhsa-runtime64 "/proc/$server/maps"
"$top" --observe -p $server --json -d 0.5 >"$work/observed" 2>"$work/err" &
observer=$!
tap_pids="$tap_pids $observer"
count_observed() { [ "$(jq -c '.step.steps // empty' "$work/observed" 2>/dev/null | wc -l)" -gt 3 ]; }
check "observed: steps are counted and their marker is chosen automatically" wait_until 120 count_observed
kill -TERM "$server" "$observer"
wait "$observer" "$server" 2>/dev/null
is "observed: times and idle time are null, dispatches per step are known" \
    "$(jq -cs '[.[].step | select(. != null and .steps != null)] | all(.idle_ns == null and .untimed == 1 and
        (.families | length > 3 and all(.ns == null and .share == null and .dispatches > 0)))' "$work/observed")" true

# --- rtl-top serve ---
HSA_TOOLS_LIB=$tap_top/$O/librtl.so tests/vgpu/run --script tests/programs/serve.script -- "$O/tests/programs/serve" --layers 4 >/dev/null 2>&1 &
program=$!
tap_pids="$tap_pids $program"
wait_until 60 is_traced "$program"
start_server automatic -p "$program" 127.0.0.1:0
has_steps() { get_page >"$work/page" && grep -q "^$1{" "$work/page"; }
check "serve: the marker is chosen automatically" wait_until 120 has_steps rtl_step_seconds
series=$(sed -n "s/^rtl_steps_total{pid=\"$program\",\(kernel=\"${sampler}[^}]*\)}.*/\1/p" "$work/page")
is "serve: steps are the dispatches of the kernel that samples" "$(sed -n "s/^rtl_steps_total{.*} //p" "$work/page")" \
    "$(awk -v series="$series" 'index($0, "rtl_kernel_dispatches_total{" series "}") == 1 { print $2 }' "$work/page")"
start_server marked -p "$program" --step MT64x32x256 127.0.0.1:0
check "serve --step: a part of a kernel's name marks steps" wait_until 60 has_steps rtl_step_seconds
has "serve --step: that kernel's runs are counted" "$(cat "$work/page")" "^rtl_steps_total\{pid=\"$program\",kernel=\"gemm TN bf16 64x32x256"
finish
