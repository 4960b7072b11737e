#!/bin/sh
# Why a GPU is idle, on the software GPU: causes and longest gaps of a program whose gaps are known, live and recorded, with
# both kinds of queues. A steady program keeps its verdict.
# shellcheck disable=SC2016 # programs of jq
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

top=$O/rtl-top
echo "* fixed 2ms" >"$work/script"

start_launches() {
    on_gpu --script "$work/script" -- "$O/tests/programs/serve" --gpus 1 --layers 4 --seconds 120 >"$work/out" 2>"$work/err" &
    guard=$!
    tap_pids="$tap_pids $guard"
    program=
    wait_until 60 find_program
}
find_program() {
    for pid in $(cat "/proc/$guard/task/$guard/children" 2>/dev/null) "$guard"; do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = serve ] && program=$pid && return 0
    done
    return 1
}
stop_program() {
    kill "$program"
    wait "$guard" 2>/dev/null
}
has_gaps() { "$top" -p "$program" --json -n 1 -d 1 >"$work/json" && jq -e '.gpus[0].gaps | length > 3' "$work/json" >"$work/ok"; }

start_launches
check "the library records gaps" wait_until 60 has_gaps
is "each cause of idle time is listed" "$(jq -r '[.gpus[0].causes[].cause] | join(" ")' "$work/json")" \
    "between_kernels no_work copies barrier queued unknown"
check "the causes add up to the time between kernels" jq -e '.gpus[0] | ((.causes | map(.total_ns) | add) / (.idle | map(.total_ns) | add) - 1)
    | . > -0.02 and . < 0.02' "$work/json"
check "the time of submission of each kernel is known" jq -e '.gpus[0].causes[] | select(.cause == "unknown") | .total_ns == 0' "$work/json"
check "the longest gap comes first, and its parts are within it" jq -e '.gpus[0].gaps | ([.[].length_ns] | . == (sort | reverse))
    and all(.no_work_ns + .copies_ns <= .length_ns and .length_ns >= 10000)' "$work/json"
check "each gap has the kernels around it, and their queues" jq -e '.gpus[0].gaps
    | all(.kernel_before != null and .kernel_after != null and .queue_before != null and .queue_after != null)' "$work/json"
check "the gaps ended in the last 20 seconds" jq -e '.time_ns as $now | .gpus[0].gaps | all($now - .start_ns - .length_ns | . < 25e9 and . > -1e9)' "$work/json"

# --- a steady program: at most one change, at the start ---
"$top" -p "$program" --json -n 40 -d 0.5 >"$work/series"
changes=$(jq -r '.gpus[0].verdict' "$work/series" | sed 1d | uniq | wc -l)
echo "# $(jq -r '.gpus[0].verdict' "$work/series" | sed 1d | uniq -c | tr -s '\n ' ' ')"
check "a steady program has one verdict, or two at the start" test "$changes" -le 2

# --- recorded and replayed ---
"$top" -p "$program" --csv -n 8 -d 0.5 -w "$work/run.db" >"$work/csv"
stop_program
"$top" -r "$work/run.db" --json >"$work/replayed"
check "replay: the last frame has the causes" jq -es '.[-1].gpus[0].causes | length == 6 and (map(.total_ns) | add) > 0' "$work/replayed"
check "replay: frames have gaps with kernels" jq -es '.[-1].gpus[0].gaps | length > 3 and all(.kernel_after != null)' "$work/replayed"
check "replay: the first frame has totals and no shares" jq -es '.[0].gpus[0].causes | all(.share == null) and (map(.total_ns) | add) > 0' "$work/replayed"
check "recording: each gap is stored once" test "$(sqlite3 "$work/run.db" \
    'SELECT count(*) - count(DISTINCT gpu || " " || start_mono_ns) FROM rtl_gap WHERE length_ns > 0')" = 0
check "recording: the view names causes and kernels" test "$(sqlite3 "$work/run.db" \
    "SELECT count(*) FROM rtl_gaps WHERE after IS NOT NULL AND cause IN ('no_work', 'queued', 'barrier', 'copies')")" -gt 3
sqlite3 "$work/run.db" 'DROP VIEW rtl_gaps; DROP TABLE rtl_gap; DROP TABLE rtl_gpu_cause;'
check "replay of an older recording: causes and gaps are null" sh -c "'$top' -r $work/run.db --json |
    jq -es '.[-1].gpus[0] | .causes == null and .gaps == null and .busy != null'"
finish
