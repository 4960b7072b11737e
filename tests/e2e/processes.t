#!/bin/sh
# A server of eight processes on eight GPUs, one of them slow: all outputs name it. Processes come and go.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

lock_for_viewing_all

# --- eight ranks ---
{
    echo 'Cijk_*_MT128x128x64_*  fixed 400us'
    cat tests/programs/serve.script
} >"$work/slow.script"
cat >"$work/launcher" <<EOF
serve() { # RANK SCRIPT
    RANK=\$1 ROCR_VISIBLE_DEVICES=\$1 tests/vgpu/run --gpus 8 --script \$2 -- \
        "$O/tests/programs/serve" --gpus 1 --layers 4 --seconds 300
}
for rank in 0 1 2 3 4 6 7; do
    serve \$rank tests/programs/serve.script &
done
{
    serve 5 tests/programs/serve.script
    serve 5 $work/slow.script # restarted after its end, and slow from then on
} &
wait
EOF
(HSA_TOOLS_LIB=$tap_top/$O/librtl.so exec sh "$work/launcher") >"$work/serve.out" 2>&1 &
launcher=$!
tap_pids="$tap_pids $launcher"
list_ranks() { "$top" list --json | jq -r "[.processes[] | select(.traced and .command == \"serve --gpus 1 --layers 4 --seconds 300\")] | sort_by(.rank) | .[] | $1"; }
all_ranks() { [ "$(list_ranks .pid | wc -l)" = 8 ]; }
check "list: has eight ranks" wait_until 120 all_ranks
for pid in $(list_ranks .pid); do tap_pids="$tap_pids $pid"; done
is "list: has their numbers" "$(list_ranks .rank | tr '\n' ' ')" '0 1 2 3 4 5 6 7 '
own_gpus() { [ "$(list_ranks '.gpus[0].pci' | grep -v null | sort -u | wc -l)" = 8 ]; }
check "list: each rank has its GPU" wait_until 60 own_gpus # a process is listed before it makes a queue

# --- one rank becomes slow while the screen shows them ---
start_terminal 100 30 "'$top' -p $launcher -d 1"
check "screen: has eight processes" shows '8 processes' ' SLOWEST ' 'win 10s'
check "screen: no rank is slow at first" hides 'R[0-7] [2-3]\.[0-9]x .*128x128x64'
kill "$(list_ranks 'select(.rank == 5) | .pid')"
check "screen: shows the slow rank, its kernel and the change" \
    shows '^[> ]! .* ([2-3]\.[0-9]x|\+[0-9]+%) .* R5 [2-3]\.[0-9]x .*128x128x64'
keys q
check "list: has eight ranks again" wait_until 60 all_ranks
for pid in $(list_ranks .pid); do tap_pids="$tap_pids $pid"; done

write_frames() { "$top" -p "$launcher" --json -d 2 -n 4 >"$work/json"; }
check "-p LAUNCHER: watches its descendants" write_frames
query_last() { tail -n 1 "$work/json" | jq -r "$1"; }
is "JSON: has eight processes" "$(query_last '.processes | length')" 8
is "JSON: has eight GPUs" "$(query_last '[.processes[].gpus[].id] | sort | join(" ")')" '0 1 2 3 4 5 6 7'
is "JSON: GPUs are in the order of their addresses" "$(query_last '[.gpus[].pci] | . == sort')" true
is "JSON: names the slow rank" "$(query_last '.kernels[] | select(.name | test("MT128x128x64")) | .slowest | "\(.rank) \(.ratio > 2 and .ratio < 3.5)"')" '5 true'
is "JSON: the slow kernel has the largest ratio" "$(query_last '[.kernels[] | select(.slowest and (.slowest.arrives_last | not) and .window.total_ns > 0)
    | select(([.processes[].window.timed] | min) >= 40)] | max_by(.slowest.ratio) | .name | test("MT128x128x64")')" true
is "JSON: calls and timed of the processes add up" "$(jq -s 'all(.[].kernels[]; .calls == ([.processes[].calls] | add) and .timed == ([.processes[].timed] | add))' "$work/json")" true
is "JSON: dispatches of the processes add up" "$(jq -s 'all(.[]; .dispatches.counted == ([.processes[].counted] | add))' "$work/json")" true
"$top" -p "$launcher" -b -d 2 -n 2 >"$work/text"
check "text: names the slow rank" grep -qE '^.* R5 [2-3]\.[0-9]x .*128x128x64' "$work/text"

start_terminal 100 30 "'$top' -p $launcher -d 1"
check "screen: names the slow rank" shows 'R5 [2-3]\.[0-9]x .*128x128x64' '8 processes'
check "screen: the window reaches 10 s" shows 'win 10s'
keys p
check "key p: shows a row for each process" shows '^ +PID  RANK +GPU %BUSY DISP/s +P99' "^.* R5 +[0-9a-f:.]+ .* serve --gpus 1" 'EscBack'
keys '>' '>' '>' '>' '>' '>'
check "key >: sorts by P99" shows 'sort P99'
keys R
check "key R: reverses the order" shows 'sort P99, reversed'
keys Enter
check "Enter: shows one process" shows '%TIME .*KERNEL' "pid [0-9]+ .*LIVE"
is "Enter: the process has its whole window at once" "$(print_screen | grep -cE 'win ([0-4]\.[0-9]s|[0-9]+ms) of')" 0
keys p
check "key p: leads back to the processes" shows '^ +PID  RANK' '8 processes'
keys Escape
check "Esc: leads to the kernels" shows '%TIME .*SLOWEST' '8 processes'
keys / 128x128x64 Enter e
check "key e: shows the kernel in each rank, the slow one marked" shows '^! *[0-9]+ +R5 .* [2-3]\.[0-9]+x *$' 'VS MEDIAN'
keys Tab
check "Tab: queues have their process" shows '^ +PID +QUEUE +GPU' "^[> ] +$(list_ranks 'select(.rank == 0) | .pid') "
keys Escape Escape
check "Esc: leads back to the kernels" shows '%TIME .*SLOWEST'
keys q

# --- one process ends, another starts ---
gone=$(list_ranks 'select(.rank == 3) | .pid')
rm -f "$work/json"
"$top" -p "$launcher" --json -d 0.3 >"$work/json" &
viewer=$!
tap_pids="$tap_pids $viewer"
check "--json: prints frames" wait_until 60 test -s "$work/json"
kill -9 "$gone"
says_gone() { tail -n 2 "$work/json" | head -n 1 | jq -e ".processes[] | select(.pid == $gone) | .state == \"exited\""; }
check "a killed process: JSON has its state exited" wait_until 60 says_gone
check "a killed process: the viewer goes on" is_alive "$viewer"
is "a killed process: totals never decrease" "$(head -n -1 "$work/json" | jq -s '[.[].dispatches.counted] | . == sort')" true
kill "$viewer"
end_process "$launcher"
for pid in $(list_ranks .pid); do kill "$pid"; done

# --- by pid, by name, all ---
name=demo$$ # other tests may run the same program
cp "$O/tests/programs/segment_demo" "$work/$name"
"$work/$name" --kernels 12 --rate 1000 >/dev/null &
one=$!
"$work/$name" --kernels 20 --rate 1000 >/dev/null &
two=$!
tap_pids="$tap_pids $one $two"
check "two processes: -p accepts both" wait_until 60 sh -c "'$top' -p $one,$two -b -n 1"
list_pids() { "$top" "$@" --json -n 1 | jq -r '[.processes[]?.pid] | sort | join(" ")'; }
both=$(printf '%s\n' "$one" "$two" | sort -n | xargs)
is "two processes: -p selects them by pid" "$(list_pids -p "$one,$two")" "$both"
is "two processes: arguments select them by pid" "$(list_pids "$one" "$two")" "$both"
is "two processes: an argument selects them by name" "$(list_pids "$name")" "$both"
is "two processes: kernels of the same name are merged" "$("$top" "$name" --json -n 1 | jq '[.kernels[].name] | length == (unique | length)')" true
is "two processes: queues have their process" "$("$top" "$name" --json -n 1 | jq -r '[.queues[].pid] | unique | length')" 2
is "two processes: CSV has lines for each" "$("$top" "$name" --csv -n 1 | cut -d, -f2 | sort -u | grep -c '^[0-9]')" 2
"$top" -p "$one,$two" --json -d 0.3 -n 4 -w "$work/both.db" >"$work/json"
for pid in $one $two; do
    replayed() { "$top" -r "$work/both.db" -p "$pid" --json | jq -c '[.dispatches.counted, (.kernels | length), ([.kernels[].calls] | add), .pid]'; }
    live() { jq -c ".processes[] | select(.pid == $pid) | [.counted]" "$work/json"; }
    is "two processes: each is recorded separately, with its count" "$(replayed | jq -c '.[0:1]')" "$(live)"
    is "two processes: the recording of each has its kernels and pid" "$(replayed | jq -c '(.[0] - .[2] | if . < 0 then -. else . end) <= .[0] / 20 and .[3] == '"$pid" | sort -u)" true
done
check "two processes: a replay equals the live output byte by byte" sh -c "'$top' replay '$work/both.db' --json | cmp - '$work/json'"
is "two processes: frames of one moment have the same times" "$(sqlite3 "$work/both.db" 'SELECT count(DISTINCT time_ns) = 4 AND count(*) = 8 AND count(DISTINCT mono_ns) = 4 FROM rtl_frame')" 1
start_terminal 100 30 "'$top' replay '$work/both.db'"
check "two processes: the screen of a replay has both" shows '2 processes'
keys p
check "two processes: the list of a replay has both" shows "$one" "$two"
keys q
check "two processes: --snapshot succeeds" "$top" -p "$one,$two" --snapshot "$work/both.db"
is "two processes: a snapshot adds a recording of each" "$(sqlite3 "$work/both.db" "SELECT group_concat(kind) FROM (SELECT kind FROM rtl_recording ORDER BY id)")" 'series,series,snapshot,snapshot'
is "one process: JSON has no list of processes and no slowest rank" "$("$top" -p "$one" --json -n 1 | jq -r 'has("processes"), (.kernels[0] | has("slowest"))' | xargs)" 'false false'
check "an unknown name: is refused" sh -c "'$top' no_such_name -b -n 1 2>&1 | grep -q \"no process called 'no_such_name'\""
finish
