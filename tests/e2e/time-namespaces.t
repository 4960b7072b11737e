#!/bin/sh
# Processes in time namespaces, whose clocks are days ahead of the host's or behind: one time line in a trace of several
# processes, correct ages and rates on the screen, and mode auto as elsewhere.
. "$(dirname "$0")/tap.sh"

top=$O/rtl-top
programs=$O/tests/programs
INTERCEPT_KERNELS=$tap_top/$programs
HSA_TOOLS_LIB=$tap_top/$O/librtl.so
export INTERCEPT_KERNELS HSA_TOOLS_LIB
ahead=864000 # 10 days; boot time is 20 days ahead
behind=$(awk '{ print int($1 / 2) }' /proc/uptime)
if [ "$(id -u)" != 0 ] || ! unshare --time --fork --boottime $((2 * ahead)) --monotonic "$ahead" true 2>/dev/null; then
    skip "processes in time namespaces" "needs root, and a kernel with time namespaces"
    finish
fi
lock_out_viewers
for i in 0 1 2 3 4 5 6 7 8 9; do
    echo "sign0$i fixed $((i + 1))us"
done >"$work/script"
printf 'sign99 fixed 1000s\n* fixed 5us\n' >>"$work/script"
sql() { sqlite3 "$1" "$2" 2>&1; }

# start_program NAME COMMAND...: start a program on the GPU, below env or unshare, and wait until it holds; $program is
# its pid
start_program() {
    name=$1
    shift
    mkfifo "$work/$name.in"
    "$@" <"$work/$name.in" >"$work/$name.out" 2>"$work/$name.err" &
    program=$!
    tap_pids="$tap_pids $program"
    exec 5>"$work/$name.in"
    wait_until 120 sh -c "grep -q '^holding' '$work/$name.out' || ! kill -0 $program"
    [ "$1" = env ] || program=$(tr -d ' ' <"/proc/$program/task/$program/children")
}
gpu="tests/vgpu/run ${RTL_RELEASE:+--release $RTL_RELEASE} --script $work/script"

# --- two processes in one trace ---
# shellcheck disable=SC2086 # words
start_program here env RTL_TRACE=1 $gpu --truth "$work/here.truth" -- "$programs/hsa_dispatch" --launches 2000 --hold
here=$program
exec 3>&5
# shellcheck disable=SC2086
start_program there unshare --time --fork --kill-child --boottime $((2 * ahead)) --monotonic "$ahead" \
    env RTL_TRACE=1 $gpu --truth "$work/there.truth" -- "$programs/hsa_dispatch" --launches 2000 --hold
there=$program
exec 4>&5
check "two processes, one of them 10 days ahead, are traced into one file" \
    "$top" -p "$here,$there" --trace "$work/both.db" -n 2 -d 0.1
is "the trace has rows of both" "$(sql "$work/both.db" "SELECT count(DISTINCT id >> 40), count(*) > 2000 FROM rocpd_op")" "2|1"
is "the rows of both are on the host's time line" "$(sql "$work/both.db" \
    "SELECT max(abs(end - $(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime))) < 3600000000000 FROM rocpd_op")" 1
is "both processes began within an hour of each other" "$(sql "$work/both.db" "SELECT max(s) - min(s) < 3600000000000 FROM
    (SELECT json_extract(value, '\$.start_mono_ns') AS s FROM rocpd_metadata WHERE tag GLOB 'process *')")" 1
check "boot times of the process outside equal the software GPU's" tests/e2e/compare-trace "$work/here.truth" "$work/both.db" "$here"
check "boot times of the process in the namespace equal the software GPU's" \
    tests/e2e/compare-trace "$work/there.truth" "$work/both.db" "$there"
check "rtl-top in the namespace traces both processes" unshare --time --fork --boottime $((2 * ahead)) \
    --monotonic "$ahead" "$top" -p "$here,$there" --trace "$work/inside.db" -n 2 -d 0.1
sql "$work/both.db" "SELECT sequenceId, start, end FROM rocpd_op ORDER BY 2, 1" >"$work/outside"
sql "$work/inside.db" "SELECT sequenceId, start, end FROM rocpd_op ORDER BY 2, 1" >"$work/inside"
check "rtl-top in the namespace and outside of it record the same times" cmp "$work/outside" "$work/inside"

# --- the live view ---
"$top" -p "$there" -b -n 1 --window all >"$work/text"
has "clock ahead: the first frame has rates" "$(cat "$work/text")" '^dispatches [1-9][0-9.]*k?/s'
has "clock ahead: report shows less than three hours of watching" "$("$top" report -p "$there")" ', watched for [0-9]{1,4} s$'
has "both processes together: the first frame has rates" "$("$top" -p "$here,$there" -b -n 1 --window all)" '^dispatches [1-9][0-9.]*k?/s'
has "rtl-top in the namespace, of a process outside: the first frame has rates" "$(unshare --time --fork \
    --boottime $((2 * ahead)) --monotonic "$ahead" "$top" -p "$here" -b -n 1 --window all)" '^dispatches [1-9][0-9.]*k?/s'
check "both processes are recorded into one file" "$top" -p "$here,$there" -w "$work/series.db" -b -n 3 -d 0.1 -o /dev/null
is "recorded frames of both processes are on one time line" "$(sql "$work/series.db" "SELECT count(DISTINCT recording) > 1,
    max(mono_ns) - min(mono_ns) < 3600000000000, max(abs(heartbeat_mono_ns - mono_ns)) < 3600000000000 FROM rtl_frame")" "1|1|1"
is "replay shows frames of both processes within an hour" \
    "$("$top" replay --json "$work/series.db" | jq -s '(map(.window_ns // 0) | max) < 3600000000000')" true
exec 3>&- 4>&- 5>&-

# --- HIP calls of a process whose clock is ahead: in a trace, in exports and live ---
# shellcheck disable=SC2086
start_program calls unshare --time --fork --kill-child --boottime $((2 * ahead)) --monotonic "$ahead" \
    env RTL_TRACE=1 RTL_MODE=hip LD_PRELOAD="$tap_top/$O/librtl-hip.so" $gpu -- "$programs/hip_links" --launches 500 --hold
check "clock ahead: HIP calls are traced" "$top" -p "$program" --trace "$work/calls.db" -n 1 -d 0.1
is "clock ahead: no call begins after the kernel that it launches, or an hour before it" "$(sql "$work/calls.db" "SELECT
    count(*) > 100, min(o.start - a.start) >= 0, max(o.start - a.start) < 3600000000000 FROM rocpd_api_ops l
    JOIN rocpd_api a ON a.id = l.api_id JOIN rocpd_op o ON o.id = l.op_id WHERE o.gpuId >= 0")" "1|1|1"
"$top" export "$work/calls.db" --perfetto "$work/calls.json" --csv "$work/calls.csv" 2>"$work/err"
is "clock ahead: an export spans less than an hour" "$(jq '[.traceEvents[] | select(.ph == "X").ts] | max - min < 3600000000' "$work/calls.json")" true
"$top" -p "$program" --json -n 1 >"$work/json"
is "clock ahead: times from call to kernel are less than an hour" \
    "$(jq '[.kernels[].launch_p99_ns | numbers] | length > 0 and max < 3600000000000' "$work/json")" true
exec 5>&-

# --- a process whose clock is ahead, observed from outside ---
# shellcheck disable=SC2086
start_program observed unshare --time --fork --kill-child --boottime $((2 * ahead)) --monotonic "$ahead" \
    env -u HSA_TOOLS_LIB $gpu -- "$programs/hsa_dispatch" --launches 2000 --signals 2 --hold
"$top" -p "$program" --json -n 2 -d 0.3 >"$work/json"
is "observed, clock ahead: window and times are less than an hour" "$(jq -s '[.[] | .window_ns, .kernels[].total_ns, .gpus[].busy_ns |
    numbers] | length > 0 and max < 3600000000000' "$work/json")" true
exec 5>&-

# --- a process whose clock is behind, with a kernel in flight, in mode auto ---
# shellcheck disable=SC2086
start_program behind unshare --time --fork --kill-child --boottime "-$behind" --monotonic "-$behind" \
    env RTL_MODE=auto $gpu -- "$programs/intercept_auto"
write_frame() { "$top" -p "$program" --json -n 1 >"$work/json"; }
is_word() { write_frame && jq -e ".in_force == \"$1\"" "$work/json"; }
check "clock behind, auto: the library counts while nobody watches" wait_until 60 is_word counting
"$top" --json -d 0.3 -p "$program" >"$work/frames" &
watcher=$!
tap_pids="$tap_pids $watcher"
echo flow >&5
check "clock behind, auto: the library times while a viewer watches" wait_until 60 is_word timing
echo slow >&5
check "clock behind: a long kernel is in flight" wait_until 60 grep -q '^did slow' "$work/behind.out"
live() { write_frame && jq -e '.state == "live" and ([.queues[].depth] | add > 0)' "$work/json"; }
check "clock behind: the first frame says live, not stale" wait_until 30 live
end_process "$watcher" KILL
check "clock behind, auto: the library stops timing when nobody watches" wait_until 60 is_word counting
exec 5>&-
finish
