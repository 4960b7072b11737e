#!/bin/sh
# SOAK_DISPATCHES (3,000,000; `make soak-flow`: a billion) dispatches on native queues, as fast as the software GPUs accept them.
# Beside them: a viewer from beginning to end, recorders and traces that are killed, changes of mode, and probes. All counts are
# exact, and no process prints an error. SOAK_LANES is the number of threads, queues and GPUs.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

dispatches=${SOAK_DISPATCHES:-3000000}
cores=$(getconf _NPROCESSORS_ONLN)
lanes=${SOAK_LANES:-$((cores / 4 < 1 ? 1 : cores / 4 > 6 ? 6 : cores / 4))}
top=$tap_top/$O/rtl-top
tool=${tools-$tap_top/$O/librtl.so}

mkfifo "$work/in"
(RTL_QUEUES=native RTL_PROBE=1 RTL_TRACE=1 HSA_TOOLS_LIB=$tool exec tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} \
    --gpus "$lanes" --duration 0ns -- "$O/tests/programs/soak_flow" "$dispatches" "$lanes" <"$work/in" >"$work/out" 2>"$work/err") &
program=$!
tap_pids="$tap_pids $program"
exec 3>"$work/in"
check "the program begins" wait_until 120 grep -q '^begins' "$work/out"
check "the program is traced" wait_until 60 is_traced "$program"
"$top" -p "$program" --json -d 0.5 >"$work/frames" 2>"$work/frames.err" 3>&- &
viewer=$!
tap_pids="$tap_pids $viewer"

# --- beside the dispatches, until the program holds ---
goes_on() { ! grep -q '^holding' "$work/out" && is_alive "$program"; }
moment() { # a random moment of up to a second
    sleep "0.$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')"
}
note() { echo "$*" >>"$work/beside"; } # one line for each run: what, its exit status
kill_some() { # WHAT FILE COMMAND...: start, kill at a random moment, then read the file
    what=$1
    file=$2
    shift 2
    rm -f "$file" "$file"-*
    "$@" >/dev/null 2>"$work/$what.err" 3>&- &
    killed=$!
    moment
    kill -9 "$killed" 2>/dev/null
    wait "$killed" 2>/dev/null
    [ -e "$file" ] || return 0
    case $what in
    trace) "$top" export --csv - "$file" >"$work/$what.read" 2>"$work/$what.err" ;; # 15: killed before its first event
    *) "$top" -r "$file" --json -n 1 >"$work/$what.read" 2>"$work/$what.err" </dev/null ;;
    esac
    note "$what read $?"
}
modes() {
    while goes_on; do
        for mode in lite auto default; do
            "$top" mode -p "$program" "$mode" >/dev/null 2>>"$work/modes.err" 3>&-
            note "mode change $?"
            moment
        done
    done
}
recorders() { while goes_on; do kill_some record "$work/beside.db" "$top" record -p "$program" -d 0.1 "$work/beside.db"; done; }
tracers() { while goes_on; do kill_some trace "$work/beside.trace" "$top" trace -p "$program" "$work/beside.trace"; done; }
viewers() {
    while goes_on; do
        "$top" -p "$program" -b -d 0.1 -n 3 >/dev/null 2>>"$work/viewers.err" 3>&-
        note "viewer three frames $?"
    done
}
probes() {
    while goes_on; do
        "$top" probe -p "$program" -k lna_03 -n 5 --every 1000 --timeout 2 >/dev/null 2>"$work/probe.err" 3>&-
        note "probe run $?"
    done
}
others=''
for what in modes recorders tracers viewers probes; do
    $what &
    others="$others $!"
done
tap_pids="$tap_pids $others"
check "the program holds" wait_until "${SOAK_PATIENCE:-300}" grep -q '^holding' "$work/out"
# shellcheck disable=SC2086 # several processes
wait $others
tap_pids="$program $viewer"

# --- the counts ---
check "every dispatch is timed or untimed" wait_until 60 settled 0
check "each kernel's count equals the program's" counted_as_launched
is "the program launched all" "$(awk '{ n += $2 } END { print n }' "$work/launched")" "$dispatches"
is "all queues are native" "$("$top" -p "$program" --json -n 1 | jq -r '[.queues[].way] | unique[]')" native
sum_of_last() { tail -n 1 "$work/frames" | jq -r '.dispatches | "\(.counted) \(.timed + (.untimed | add))"'; }
last_frame_has_all() { [ "$(sum_of_last)" = "$dispatches $dispatches" ]; }
check "the viewer's last frame has every dispatch" wait_until 60 last_frame_has_all
check "the viewer's counts never decrease" sh -c "jq -se '[.[].dispatches.counted] | . == sort' '$work/frames'"

# --- viewers and other commands beside the dispatches ---
for what in mode viewer record trace probe; do
    check "beside the dispatches: $what ran" grep -q "^$what " "$work/beside"
done
is "beside the dispatches: no unexpected exit status" "$(sort "$work/beside" | uniq -c | grep -vE ' (mode change 0|viewer three frames 0|record read 0|trace read (0|15)|probe run (0|17))$')" ""
for what in modes viewers; do
    is "beside the dispatches: $what prints no error" "$(cat "$work/$what.err" 2>/dev/null)" ""
done
exec 3>&-
wait "$program"
is "the program's exit status is 0" "$?" 0
wait "$viewer"
is "the viewer exits with 6 when the process ends" "$?" 6
is "the viewer prints no error" "$(cat "$work/frames.err")" ""
check "the program loaded probes" grep -q '^librtl: a probe was loaded: ' "$work/err"
is "the program prints no error" "$(filter_runtimes_lines <"$work/err" | grep -v '^librtl: a probe was loaded: ')" ""
tap_pids=
sed -n 's/^\(memory\|work\)/# \1/p' "$work/out"
sort "$work/beside" | uniq -c | sed 's/^ */# beside it: /'
echo "# $(wc -l <"$work/frames") frames; dispatches $(sum_of_last)"
finish
