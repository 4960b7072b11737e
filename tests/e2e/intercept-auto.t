#!/bin/sh
# The mode of a running process. Mode auto always counts, and times only while a viewer is open. --mode changes any mode
# into any other under load, and counts stay exact. A user who may do neither gets the reason.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

top=$O/rtl-top
lock_out_viewers
for i in 0 1 2 3 4 5 6 7 8 9; do
    echo "sign0$i fixed $((i + 1))us"
done >"$work/script"
echo "sign99 fixed 3s" >>"$work/script"

# start_program MODE [VARIABLE=VALUE...]: start intercept_auto, which reads commands.
start_program() {
    mode=$1
    rm -f "$work/in" "$work/out" "$work/err"
    mkfifo "$work/in"
    (HSA_TOOLS_LIB=${library-$tap_top/$O/librtl.so} RTL_MODE=$mode exec timeout -s KILL 300 tests/vgpu/run \
        ${RTL_RELEASE:+--release "$RTL_RELEASE"} --script "$work/script" -- "$O/tests/programs/intercept_auto" \
        <"$work/in" >"$work/out" 2>"$work/err") &
    guard=$! # timeout; the program is its child
    tap_pids=$guard
    exec 3>"$work/in"
    told=0
    wait_until 60 sh -c "grep -q '^holding' '$work/out' || ! kill -0 $guard"
    program=$(tr -d ' ' <"/proc/$guard/task/$guard/children")
    tap_pids="$guard $program"
}
# send COMMAND...: send it, and wait until the program has executed it.
send() {
    told=$((told + 1))
    echo "$*" >&3
    wait_until 120 sh -c "test \$(grep -c '^did' '$work/out') -ge $told || ! kill -0 $program" ||
        echo "# $*: not done: $(tail -n 3 "$work/out" "$work/err")" >&2
}
stop_program() {
    exec 3>&-
    wait "$guard"
    status=$?
    tap_pids=
}
segment_number() { dump_segment "$1" | awk -v key="${2:-}" '$1 == "untimed" { if ($2 == key) print $3; next } { print $2 }'; }
segment_word() { dump_segment "$1" | cut -d' ' -f2-; }
worker_passes() { dump_segment worker | sed 's/.*passes \([0-9]*\).*/\1/'; }
change_mode() { "$top" --mode "$1" -p "$program" >"$work/said" 2>&1; }
# check_change MODE FORCE WAS: change the mode while dispatches come. On a busy machine rtl-top may stop waiting before the
# mode is in force.
check_change() {
    change_mode "$1"
    has "mode to $1: rtl-top reports the change" "$(cat "$work/said")" "mode $1(, was ($3)| from its next dispatch on, ($3) until then)\$"
    cat "$work/said" >>"$work/all-said"
    check "mode to $1: the library applies it" wait_until 60 is_in_force "$1 $2"
}
is_parked() { dump_segment worker | grep -q 'parked 1'; }
is_in_force() { test "$(segment_word mode) $(segment_word in_force)" = "$1"; }

# sleeps_through COMMAND...: the worker stays parked while the command runs. Once a second it checks native queues while
# parked, and gets up if it finds a half submitted dispatch: not five times in a row.
sleeps_through() {
    for _ in 1 2 3 4 5; do
        wait_until 60 is_parked
        before=$(worker_passes)
        "$@"
        [ "$(worker_passes)" != "$before" ] || return 0
    done
    return 1
}
run_and_sign() { send run 5000 && send sign 500; }

# --- no viewer ---
start_program auto
send run 5000
send sign 500
is "auto without a viewer: every dispatch is counted" "$(segment_number counted)" 5500
is "auto without a viewer: every dispatch is untimed as unwatched" "$(segment_number timed) $(segment_number untimed unwatched)" "0 5500"
has "auto without a viewer: the library creates no signal" "$(dump_segment signals)" ' created 0 '
is "auto without a viewer: mode and state are auto counting" "$(segment_word mode) $(segment_word in_force)" "auto counting"
check "auto without a viewer: the worker parks" wait_until 60 is_parked
check "auto without a viewer: dispatches don't wake the worker" sleeps_through run_and_sign
has "auto: a single frame shows the counting state" "$("$top" -b -n 1 --window all -p "$program")" '^mode auto: counting, .*unwatched 100'
unknown_gpu='{"busy":null,"verdict":null,"wait_p99_ns":null'
is "auto without a viewer: JSON leaves the GPU unknown" "$("$top" --json -n 1 -d 0.2 -p "$program" | jq -c '.gpus[0] | {busy, verdict, wait_p99_ns, unknown}')" \
    "$unknown_gpu,\"unknown\":\"counting\"}"
check "auto: a single frame doesn't wake the worker" sleeps_through send run 100
is "auto: a single frame times nothing" "$(segment_number timed)" 0

# --- two viewers, killed one after the other ---
"$top" --json -d 0.3 -p "$program" >"$work/json" &
one=$!
"$top" -b -d 3600 -p "$program" >"$work/text" & # writes heartbeats between its frames
two=$!
tap_pids="$tap_pids $one $two"
send flow
check "auto with two viewers: dispatches are timed" wait_until 60 is_in_force "auto timing"
kill -9 "$one"
wait "$one" 2>/dev/null
timed=$(segment_number timed)
sleep 4 # longer than a heartbeat is valid; a delayed heartbeat of the other viewer starts timing again
check "auto with one viewer left: the state is still timing" wait_until 60 is_in_force "auto timing"
check "auto with one viewer left: more dispatches are timed" wait_until 60 sh -c "test \$('$dump' $program timed | cut -d' ' -f2) -gt $timed"
has "auto with a viewer: the text line shows the timing state" "$("$top" -b -n 1 -p "$program")" '^mode auto: timing \(watched\), '
has "auto with a viewer: JSON has mode and state" "$("$top" --json -n 1 -p "$program")" '"mode": *"auto", *"in_force": *"timing"'
kill -9 "$two"
wait "$two" 2>/dev/null
check "auto after the viewers: timing stops by itself" wait_until 60 is_in_force "auto counting"
timed=$(segment_number timed)
check "auto after the viewers: dispatches are still counted" wait_until 60 sh -c \
    "now=\$('$dump' $program | awk '\$2 == \"unwatched\" { print \$3 }'); test \$now -gt $(($(segment_number untimed unwatched) + 1000))"
check "auto after the viewers: signals in flight return to the pool" wait_until 60 sh -c "'$dump' $program signals | grep -q 'in_use 0 '"
send ebb
check "auto after the viewers: the worker parks" wait_until 60 is_parked
timed=$(segment_number timed)
check "auto after the viewers: dispatches don't wake the worker" sleeps_through send run 2000
is "auto after the viewers: nothing is timed" "$(segment_number timed)" "$timed"
check "auto after the viewers: every dispatch is settled" wait_until 60 settled 0

# --- a child, and dispatches in flight while the mode changes ---
send fork
is "fork: the child counts nothing and the mode stays" "$(segment_word mode) $(segment_word in_force)" "auto counting"
change_mode default
has "default on an idle process: rtl-top says that the next dispatch applies it" "$(cat "$work/said")" 'mode default from its next dispatch on, auto until then$'
has "default on an idle process: the text line shows the wanted mode" "$("$top" -b -n 1 -p "$program")" \
    '^mode auto: default wanted, from the next dispatch on; '
send run 1
check "default on an idle process: the next dispatch applies it" wait_until 60 is_in_force "default timing"
check "default on an idle process: every dispatch is settled" wait_until 60 settled 0
timed=$(segment_number timed)
send slow
check "slow kernels: two are in flight" wait_until 60 settled 2
check_change auto counting default # the worker is awake, so no dispatch is needed
send late # the application waits for the slow kernel and reuses its signal
check "slow kernels: both are timed, although the mode counts only now" wait_until 60 sh -c \
    "test \$('$dump' $program timed | cut -d' ' -f2) = $((timed + 2))"
has "slow kernels: their times are right" "$(dump_segment kernel | grep sign99)" '^kernel sign99(\.kd)? 2 2 0 60000000[0-9][0-9] 30000000'
stop_program
is "auto: exit status is 0" "$status" 0
is "auto: says nothing" "$(grep -c librtl "$work/err")" 0

# --- every mode into every other, under load ---
start_program lite
send flow
for mode in default auto lite auto lite default auto default lite default; do
    [ "$mode" = auto ] && force=counting || force=timing
    check_change "$mode" "$force" 'lite|default|auto'
done
has "modes under load: rtl-top reports the previous mode" "$(cat "$work/all-said")" ', was '
send ebb
check "modes under load: every dispatch is settled" wait_until 60 settled 0
stop_and_compare() { # compare with the program's tally; read the segment before the program ends
    dump_segment kernel | awk '{ sub(/\.kd$/, "", $2); print $2, $3 }' | sort >"$work/counted"
    stop_program
    sed -n 's/^launched //p' "$work/out" | sort >"$work/launched"
    is "$1: counts equal the program's" "$(diff "$work/launched" "$work/counted")" ""
    check "$1: the program launched kernels" test -s "$work/launched"
}
stop_and_compare "modes under load"

# Mode off stops counting, and another mode resumes it. Every counted dispatch is timed or has a reason.
start_program default
send run 1000
check "before off: every dispatch is settled" wait_until 60 settled 0
send flow
check_change off off default
check "off: dispatches in flight are settled" wait_until 60 settled 0
counted=$(segment_number counted)
send sign 300
send run 300
is "off: nothing is counted" "$(segment_number counted)" "$counted"
has "off: the text line shows the mode" "$("$top" -b -n 1 -p "$program")" '^mode off: nothing is counted now, '
is "off: JSON leaves the GPU unknown" "$("$top" --json -n 1 -d 0.2 -p "$program" | jq -c '.gpus[0] | {busy, verdict, wait_p99_ns, unknown}')" \
    "$unknown_gpu,\"unknown\":\"mode_off\"}"
is "off: JSON has no depth and no window" "$("$top" --json -n 1 -d 0.2 -p "$program" | jq -c '[.queues[0].depth, .kernels[0].window.calls]')" '[null,null]'
has "off: text has no busy, depth, wait and rate" "$("$top" -b -n 1 -d 0.2 -p "$program")" '^G0 .*busy -  .*depth -  wait p99 -  not known: mode off'
has "off: text has no rate of dispatches" "$("$top" -b -n 1 -d 0.2 -p "$program")" '^dispatches -/s'
for mode in auto off lite off default off full; do change_mode "$mode"; done
check "off and on: the last mode wins" wait_until 60 is_in_force "default timing"
send ebb
check "off and on: every dispatch is settled" wait_until 60 settled 0
send sign 500
counted=$(segment_number counted)
send sign 500
is "default after off: the application's signals are timed" "$(segment_number untimed shared_signal) $(($(segment_number counted) - counted))" "0 500"
stop_program
is "off and on: exit status is 0" "$status" 0

# --- a control page full of random bytes ---
start_program default
send run 100 # so that the worker exists
send scribble 1000000
check "random control page: every dispatch is settled" wait_until 60 settled 0
is "random control page: each of a million dispatches is counted" "$(segment_number counted)" 1000100
is "random control page: mode and state are unchanged" "$(segment_word mode) $(segment_word in_force)" "default timing"
send wish 100000
check "all mode requests at once: every dispatch is settled" wait_until 60 settled 0
send run 100
is "all mode requests at once: every dispatch is counted" "$(segment_number counted)" 1100200
check "all mode requests at once: the last mode wins" wait_until 60 is_in_force "default timing"
change_mode lite
send run 100
check "after random requests: the mode changes as before" wait_until 60 is_in_force "lite timing"
stop_and_compare "random control page"

# --- refusals ---
check_refused() { # NAME STATUS PATTERN COMMAND...
    name=$1 want=$2 pattern=$3
    shift 3
    "$@" >"$work/said" 2>&1
    is "--mode, $name: exit status" $? "$want"
    has "--mode, $name: the message says why" "$(cat "$work/said")" "$pattern"
}
check_refused "unknown mode" 1 "^rtl-top: --mode needs one of off lite default auto, not 'fast'$" "$top" --mode fast -p 1
check_refused "no process" 1 '--mode needs a process' "$top" --mode lite
check_refused "with another option" 1 '--mode switches the mode and ends' "$top" --mode lite -p 1 -b
check_refused "untraced process" 3 'is not traced' "$top" --mode lite -p $$
start_program off
send run 10
check_refused "process started with off" 8 'RTL_MODE=off hooks nothing, so its mode cannot be changed' "$top" --mode auto -p "$program"
stop_program
is "process started with off: exit status is 0" "$status" 0

if can_be_other_user "--mode, another user"; then # a viewer that may read the process's memory but is neither its user nor root
    start_program auto
    send run 10
    may=+sys_ptrace,+dac_read_search
    stranger="setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps $may --ambient-caps $may --bounding-set -all,$may"
    cp "$top" "$work/rtl-top"
    chmod 755 "$work" "$work/rtl-top"
    # shellcheck disable=SC2086 # words are wanted
    check_refused "another user" 4 'belongs to uid 0 and you are uid 54321' $stranger "$work/rtl-top" --mode lite -p "$program"
    # shellcheck disable=SC2086
    $stranger "$work/rtl-top" -b -n 2 -d 0.1 -p "$program" >"$work/said" 2>"$work/complaint"
    is "auto, another user's viewer: exit status is 0" $? 0
    # shellcheck disable=SC2086
    $stranger "$work/rtl-top" --json -n 2 -d 0.1 -p "$program" 2>&1 >/dev/null | head -n 1 >"$work/complaint"
    has "auto, another user's viewer: JSON mode warns on standard error" "$(cat "$work/complaint")" "^rtl-top: mode auto counts without timing: another user's"
    has "auto, another user's viewer: the text says that it can't wake the worker" "$(cat "$work/said")" \
        "^mode auto: counting, not to be woken by you: another user's process, "
    send run 10
    is "auto, another user's viewer: nothing is timed" "$(segment_number timed)" 0
    stop_program
fi
finish
