#!/bin/sh
# HIP calls and roctx ranges beside the kernels of a live process, and of several processes: JSON, text and screen agree
# with the program's own tally.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/hip.sh"
. "$(dirname "$0")/screen.sh"

gpu="--gpus 2"
play "$O/tests/programs/hip_api" --hold
"$top" -p "$program" --json -n 2 -d 0.2 >"$work/frames"
frame=$(tail -n 1 "$work/frames")
is "JSON: each function's calls and bytes equal the program's tally" \
    "$(echo "$frame" | jq -r '.api.functions[] | "called \(.name) \(.calls) \(.bytes)"' | sort)" "$(grep '^called' "$work/out" | sort)"
is "JSON: memory in use equals the program's tally" \
    "$(echo "$frame" | jq -r '.api.memory[] | select(.allocations > 0) |
        "memory \(.place)\(if .gpu == null then "" else .gpu end) \(.in_use_bytes) \(.allocations)"' | sort)" \
    "$(grep '^memory' "$work/out" | sort)"
is "JSON: functions equal those of rtl-top api" \
    "$(echo "$frame" | jq -c '[.api.functions[] | [.name, .kind, .calls, .total_ns, .errors, .bytes, .in_use_bytes]] | sort')" \
    "$(run_api --json | jq -c '[.api[] | [.name, .kind, .calls, .total_ns, .errors, .bytes, .in_use_bytes]] | sort')"
is "JSON: the last interval has no calls" "$(echo "$frame" | jq '[.api.functions[].window.calls] | add')" 0
is "JSON: kernels are listed, too" "$(echo "$frame" | jq '.kernels | length > 0')" true
"$top" -p "$program" -b -n 1 >"$work/text"
is "text: has a line for each function" "$(grep -c '^call hip' "$work/text")" "$(grep -c '^called' "$work/out")"
has "text: has errors" "$(cat "$work/text")" '^call hip.*  errors [0-9]'
has "text: has memory" "$(cat "$work/text")" '^memory of device [0-9]+  in use .*at most 64M  allocations [0-9]+'
"$top" record -p "$program" -n 2 -d 0.2 -b "$work/run.db" >"$work/text2"
"$top" replay "$work/run.db" --json -n 2 >"$work/frames"
same='.api.functions |= map(del(.window)) | .api'
is "replay: the recorded API data equals the live frame" "$(tail -n 1 "$work/frames" | jq -Sc "$same")" "$(echo "$frame" | jq -Sc "$same")"
"$top" snapshot -p "$program" "$work/once.db"
is "snapshot: the API data equals the live frame" "$("$top" replay "$work/once.db" --json | jq -Sc "$same")" "$(echo "$frame" | jq -Sc "$same")"
start_terminal 100 30 "exec '$top' -p $program -d 0.2"
check "screen: starts with kernels" shows "KERNEL"
keys a
check "screen: key a shows the calls" shows "FUNCTION" " hipFree"
keys End
check "screen: memory is below the calls" shows "memory of device 0: "
keys A
check "screen: key A shows that there are no ranges" shows "no roctx range or mark so far"
keys Escape
check "screen: Esc leads back to the calls" shows "FUNCTION"
keys a
check "screen: key a again shows the kernels" shows "KERNEL"
run_tmux kill-server
close_play

# Ranges with their kernels' time, and launch latencies
gpu="--duration 20us ${RTL_RELEASE:+--title}"
play "$O/tests/programs/hip_links" --launches 1600 --threads 2 --hold
wait_until 60 sh -c "'$top' -p $program --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'" >/dev/null
"$top" -p "$program" --json -n 1 >"$work/frame"
timed=$(jq .dispatches.timed "$work/frame")
is "ranges: their kernels add up to the timed ones" "$(jq '[.api.nested[].kernels] | add' "$work/frame")" "$timed"
is "ranges: 16 nested ranges were entered once each" "$(jq -c '[.api.nested[] | select(.depth == 1)] | [length, ([.[].count] | unique)]' "$work/frame")" '[16,[1]]'
is "ranges: their kernels' time adds up to that of all kernels" "$(jq '[.api.nested[].kernels_ns] | add' "$work/frame")" \
    "$(jq '[.kernels[].total_ns // 0] | add' "$work/frame")"
is "ranges: each one's kernels are in its list" \
    "$(jq -c '[.api.range_kernels | group_by(.range)[] | [.[0].range, (map(.timed) | add), (map(.total_ns) | add)]] | sort' "$work/frame")" \
    "$(jq -c '[foreach .api.nested[] as $n ([]; .[:$n.depth] + [$n.name]; [., $n.kernels, $n.kernels_ns])] | map(select(.[1] > 0)) | sort' "$work/frame")"
is "ranges: every pair had room" "$(jq .api.pairs_over "$work/frame")" 0
is "ranges: rtl-top api has the same lists" "$(run_api --json | jq -Sc .range_kernels)" "$(jq -Sc .api.range_kernels "$work/frame")"
is "ranges: CSV has the same lists" "$(run_api --csv | grep -c ',kernel,')" "$(jq '.api.range_kernels | length' "$work/frame")"
has "ranges: the table has the lists" "$(run_api)" 'KERNEL IN RANGE'
is "links: every dispatch is linked" "$(jq -c '.api.links | [.dispatches, (.unlinked | add)]' "$work/frame")" '[1600,0]'
is "kernels: have launch latencies since the start" "$(jq '[.kernels[] | .launch_p50_ns > 0 and .launch_p99_ns >= .launch_p50_ns] | all' "$work/frame")" true
"$top" snapshot -p "$program" "$work/links.db"
"$top" diff "$work/once.db" "$work/links.db" >"$work/diff"
has "diff: lists functions and ranges beside kernels" "$(tr '\n' ' ' <"$work/diff")" ' KERNEL .* FUNCTION .* hipLaunchKernel .* RANGE .* thread 0'
is "diff --json: has the functions' calls" "$("$top" diff --json "$work/once.db" "$work/links.db" | jq -r 'select(.kind == "function" and .name == "hipExtLaunchKernel").b.calls')" \
    "$(jq '.api.functions[] | select(.name == "hipExtLaunchKernel").calls' "$work/frame")"
lock_for_viewing_all
has "JSON and list: the mode is hip" "$(jq -r .mode "$work/frame") $("$top" list | grep hip_links)" '^hip .* hip '
unlock_viewing
same='.api | del(.functions[].window, .ranges[].window, .nested[].window_share, .nested[].window_gpu_share)'
is "snapshot with ranges: the API data equals the live frame" "$("$top" replay "$work/links.db" --json | jq -Sc "$same")" "$(jq -Sc "$same" "$work/frame")"
start_terminal 120 40 "exec '$top' -p $program -d 0.2 --window all"
check "screen: kernels have the column LAUNCH" shows "LAUNCH"
keys A
check "screen: key A shows nested ranges" shows "^.*thread [01]\$" "^.*  part [0-9]\$"
keys Down Enter
check "screen: Enter shows the kernels of a range" shows "KERNEL in thread [01] > part [0-9]" "timed in range thread"
keys Escape
check "screen: Esc leads back to the ranges" shows "^.*  part [0-9]\$"
run_tmux kill-server
close_play
gpu="--gpus 2"

# Several processes: functions are merged by name, memory stays separate.
for n in 1 2; do
    mkfifo "$work/in$n"
    # shellcheck disable=SC2086 # several options
    (RTL_MODE=hip LD_PRELOAD=$hip_library HSA_TOOLS_LIB=$tap_top/$O/librtl.so exec \
        tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} $gpu -- "$O/tests/programs/hip_api" --hold \
        <"$work/in$n" >"$work/out$n" 2>"$work/err$n") &
    eval "program$n=\$!"
    tap_pids="$tap_pids $!"
done
exec 3>"$work/in1" 4>"$work/in2"
wait_until 120 sh -c "grep -q '^holding' '$work/out1' && grep -q '^holding' '$work/out2'"
# shellcheck disable=SC2154 # set above
"$top" -p "$program1,$program2" --json -n 1 >"$work/frame"
is "two processes: calls and bytes are the sum" \
    "$(jq -r '.api.functions[] | "\(.name) \(.calls) \(.bytes)"' "$work/frame" | sort)" \
    "$(cat "$work/out1" "$work/out2" | awk '$1 == "called" { calls[$2] += $3; bytes[$2] += $4 }
        END { for (f in calls) print f, calls[f], bytes[f] }' | sort)"
is "two processes: memory is listed for each" "$(jq -c '[.api.memory[].pid] | unique' "$work/frame")" \
    "$(printf '%s\n' "$program1" "$program2" | sort -n | jq -sc .)"
exec 3>&- 4>&-
wait "$program1" "$program2"
tap_pids=
finish
