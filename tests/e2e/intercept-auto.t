#!/bin/sh
# The mode of a running process: auto counts and times only while somebody watches; --mode changes any mode into any
# other, under load, with exact counts; and whoever can't do either is told why.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

top=$O/rtl-top
unwatched
for i in 0 1 2 3 4 5 6 7 8 9; do
    echo "sign0$i fixed $((i + 1))us"
done >"$work/script"
echo "sign99 fixed 3s" >>"$work/script"

# start MODE [VARIABLE=VALUE...]: intercept_auto, which does what it is told
start() {
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
# tell COMMAND...: until it has done it
tell() {
    told=$((told + 1))
    echo "$*" >&3
    wait_until 120 sh -c "test \$(grep -c '^did' '$work/out') -ge $told || ! kill -0 $program" ||
        echo "# $*: not done: $(tail -n 3 "$work/out" "$work/err")" >&2
}
stop() {
    exec 3>&-
    wait "$guard"
    status=$?
    tap_pids=
}
number() { look "$1" | awk -v key="${2:-}" '$1 == "untimed" { if ($2 == key) print $3; next } { print $2 }'; }
word() { look "$1" | cut -d' ' -f2-; }
passes() { look worker | sed 's/.*passes \([0-9]*\).*/\1/'; }
change() { "$top" --mode "$1" -p "$program" >"$work/said" 2>&1; }
# becomes MODE FORCE WAS: asked for while dispatches come. On a busy machine rtl-top may give up waiting before it is.
becomes() {
    change "$1"
    has "to $1: it is said" "$(cat "$work/said")" "mode $1(, was ($3)| from its next dispatch on, ($3) until then)\$"
    cat "$work/said" >>"$work/all-said"
    check "to $1: taken up" wait_until 60 in_force "$1 $2"
}
parked() { look worker | grep -q 'parked 1'; }
in_force() { test "$(word mode) $(word in_force)" = "$1"; }

# The worker sleeps through what is told. Once a second it looks at native queues without getting up, but for a dispatch that
# it finds half submitted: not five times in a row.
sleeps_through() {
    for _ in 1 2 3 4 5; do
        wait_until 60 parked
        before=$(passes)
        "$@"
        [ "$(passes)" != "$before" ] || return 0
    done
    return 1
}
run_and_sign() { tell run 5000 && tell sign 500; }

# --- nobody watches ---
start auto
tell run 5000
tell sign 500
is "auto: all is counted" "$(number counted)" 5500
is "auto: nothing is timed, for one reason" "$(number timed) $(number untimed unwatched)" "0 5500"
has "auto: no signal was made" "$(look signals)" ' created 0 '
is "auto: the mode says so" "$(word mode) $(word in_force)" "auto counting"
check "auto: the worker sleeps" wait_until 60 parked
check "auto: and isn't woken by dispatches" sleeps_through run_and_sign
has "auto: a single frame looks, and wakes nothing" "$("$top" -b -n 1 -p "$program")" '^mode auto: counting, .*unwatched 100'
check "auto: as the counters show" sleeps_through tell run 100
is "auto: and nothing was timed" "$(number timed)" 0

# --- somebody does, two do, and both are killed ---
"$top" --json -d 0.3 -p "$program" >"$work/json" &
one=$!
"$top" -b -d 3600 -p "$program" >"$work/text" & # beats between its frames
two=$!
tap_pids="$tap_pids $one $two"
tell flow
check "watched: it is timed" wait_until 60 in_force "auto timing"
kill -9 "$one"
wait "$one" 2>/dev/null
timed=$(number timed)
sleep 4 # more than a beat holds: that of the other goes on (if it is late on a busy machine, it is timed again)
check "watched by the second alone: still timed" wait_until 60 in_force "auto timing"
check "and more and more is" wait_until 60 sh -c "test \$('$dump' $program timed | cut -d' ' -f2) -gt $timed"
has "the screen's line says so" "$("$top" -b -n 1 -p "$program")" '^mode auto: timing \(watched\), '
has "and JSON" "$("$top" --json -n 1 -p "$program")" '"mode": *"auto", *"in_force": *"timing"'
kill -9 "$two"
wait "$two" 2>/dev/null
check "killed: it stops, unasked" wait_until 60 in_force "auto counting"
timed=$(number timed)
check "killed: dispatches go on, counted" wait_until 60 sh -c \
    "now=\$('$dump' $program | awk '\$2 == \"unwatched\" { print \$3 }'); test \$now -gt $(($(number untimed unwatched) + 1000))"
check "killed: what was in flight was harvested" wait_until 60 sh -c "'$dump' $program signals | grep -q 'in_use 0 '"
tell ebb
check "killed: the worker sleeps" wait_until 60 parked
timed=$(number timed)
check "killed: for good" sleeps_through tell run 2000
is "killed: and nothing is timed" "$(number timed)" "$timed"
check "auto: all accounted for" wait_until 60 settled 0

# --- a child, and what is in flight while the mode changes ---
tell fork
is "fork: the child counts nothing, the mode stays" "$(word mode) $(word in_force)" "auto counting"
change default
has "default, while nothing is dispatched: it is said" "$(cat "$work/said")" 'mode default from its next dispatch on, auto until then$'
has "default: the screen's line shows both until then" "$("$top" -b -n 1 -p "$program")" \
    '^mode auto: default wanted, from the next dispatch on; '
tell run 1
check "default: the next dispatch brings it" wait_until 60 in_force "default timing"
check "default: all accounted for" wait_until 60 settled 0
timed=$(number timed)
tell slow
check "slow: two are in flight" wait_until 60 settled 2
becomes auto counting default # the worker is awake: it needs no dispatch
tell late # the application waits for the slow one, and uses its signal again
check "slow: both were timed, though only counted is now" wait_until 60 sh -c \
    "test \$('$dump' $program timed | cut -d' ' -f2) = $((timed + 2))"
has "slow: with their own times" "$(look kernel | grep sign99)" '^kernel sign99(\.kd)? 2 2 0 60000000[0-9][0-9] 30000000'
stop
is "auto: ends well" "$status" 0
is "auto: says nothing" "$(grep -c librtl "$work/err")" 0

# --- every mode into every other, under load ---
start lite
tell flow
for mode in default auto lite auto lite default auto default lite default; do
    [ "$mode" = auto ] && force=counting || force=timing
    becomes "$mode" "$force" 'lite|default|auto'
done
has "modes under load: who asks is told when it is so" "$(cat "$work/all-said")" ', was '
tell ebb
check "modes under load: all accounted for" wait_until 60 settled 0
stop_and_compare() { # with what the program launched: the segment is looked at before it ends
    look kernel | awk '{ sub(/\.kd$/, "", $2); print $2, $3 }' | sort >"$work/counted"
    stop
    sed -n 's/^launched //p' "$work/out" | sort >"$work/launched"
    is "$1: counted as launched" "$(diff "$work/launched" "$work/counted")" ""
    check "$1: something was" test -s "$work/launched"
}
stop_and_compare "modes under load"

# off: counts stop, go on; and what is counted is timed or not, whatever comes
start default
tell run 1000
check "before off: all over" wait_until 60 settled 0
tell flow
becomes off off default
check "off: what was in flight is accounted for" wait_until 60 settled 0
counted=$(number counted)
tell sign 300
tell run 300
is "off: nothing is counted" "$(number counted)" "$counted"
has "off: the screen's line says so" "$("$top" -b -n 1 -p "$program")" '^mode off: nothing is counted now, '
for mode in auto off lite off default off full; do change "$mode"; done
check "off and on: the last one holds" wait_until 60 in_force "default timing"
tell ebb
check "off and on: all accounted for" wait_until 60 settled 0
tell sign 500
counted=$(number counted)
tell sign 500
is "default again: the application's signals are timed" "$(number untimed shared_signal) $(($(number counted) - counted))" "0 500"
stop
is "off and on: ends well" "$status" 0

# --- a control page full of nonsense ---
start default
tell run 100 # the worker is there
tell scribble 1000000
check "nonsense: all accounted for" wait_until 60 settled 0
is "nonsense: every one of a million dispatches is counted" "$(number counted)" 1000100
is "nonsense: no mode came of it" "$(word mode) $(word in_force)" "default timing"
tell wish 100000
check "all wishes at once: all accounted for" wait_until 60 settled 0
tell run 100
is "all wishes at once: every dispatch is counted" "$(number counted)" 1100200
check "all wishes at once: the last one holds" wait_until 60 in_force "default timing"
change lite
tell run 100
check "after that: modes change as before" wait_until 60 in_force "lite timing"
stop_and_compare "nonsense"

# --- who can't ---
refused() { # name status pattern command...
    name=$1 want=$2 pattern=$3
    shift 3
    "$@" >"$work/said" 2>&1
    is "$name: status" $? "$want"
    has "$name: why" "$(cat "$work/said")" "$pattern"
}
refused "no such mode" 1 "^rtl-top: --mode needs one of off lite default auto, not 'fast'$" "$top" --mode fast -p 1
refused "no process" 1 '--mode needs a process' "$top" --mode lite
refused "with something else" 1 '--mode switches the mode and ends' "$top" --mode lite -p 1 -b
refused "not traced" 3 'is not traced' "$top" --mode lite -p $$
start off
tell run 10
refused "started with off" 8 'RTL_MODE=off hooks nothing, so its mode cannot be changed' "$top" --mode auto -p "$program"
stop
is "started with off: ends well" "$status" 0

if as_others "another user"; then # a viewer that may look into the process but is neither its user nor root
    start auto
    tell run 10
    may=+sys_ptrace,+dac_read_search
    stranger="setpriv --reuid 54321 --regid 54321 --clear-groups --inh-caps $may --ambient-caps $may --bounding-set -all,$may"
    cp "$top" "$work/rtl-top"
    chmod 755 "$work" "$work/rtl-top"
    # shellcheck disable=SC2086 # words are what is wanted
    refused "another user" 4 'belongs to uid 0 and you are uid 54321' $stranger "$work/rtl-top" --mode lite -p "$program"
    # shellcheck disable=SC2086
    $stranger "$work/rtl-top" -b -n 2 -d 0.1 -p "$program" >"$work/said" 2>"$work/complaint"
    is "another user's look: no failure" $? 0
    # shellcheck disable=SC2086
    $stranger "$work/rtl-top" --json -n 2 -d 0.1 -p "$program" 2>&1 >/dev/null | head -n 1 >"$work/complaint"
    has "another user's JSON: complains" "$(cat "$work/complaint")" "^rtl-top: mode auto counts without timing: another user's"
    has "another user's look: says so" "$(cat "$work/said")" \
        "^mode auto: counting, not to be woken by you: another user's process, "
    tell run 10
    is "another user's look: wakes nothing" "$(number timed)" 0
    stop
fi
finish
