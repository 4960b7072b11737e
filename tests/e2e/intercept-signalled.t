#!/bin/sh
# Kernels that carry a completion signal of the application's: timed by that signal, exactly, with nothing between the
# kernel and whoever waits for it; those whose times can't be told are counted under their reason.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/exact.sh"

INTERCEPT_KERNELS=$tap_top/$O/tests/programs
export INTERCEPT_KERNELS
program_of_scenes=$O/tests/programs/intercept_signalled
forward=$tap_top/$O/tests/programs/intercept_forward_preload.so
for i in 0 1 2 3 4 5 6 7 8 9; do
    echo "sign0$i fixed $((i + 1))us"
done >"$work/script"
echo "sign99 lognormal 8us 0.5" >>"$work/script"

scene() { # name [mode]
    RTL_MODE=${2:-default} run_exact "$1, ${2:-default}" --script "$work/script" -- "$program_of_scenes" "$1"
}
untimed() { # what was not timed, and why
    jq -c '.dispatches.untimed // {} | with_entries(select(.value > 0))' "$work/json"
}

# Used again on other queues, on barriers and copies; destroyed; handed from thread to thread: all are timed.
for name in reuse fleeting threads chain; do
    scene "$name"
    is "$name: every kernel was timed" "$(untimed)" '{}'
done
scene counter
is "counter: one signal on eight kernels at once is counted so" "$(untimed)" '{"shared_signal":160}'
scene foreign
is "foreign: signals not seen made are left alone" "$(untimed)" '{"unsafe_signal":200}'

# A kernel whose signal is destroyed before it could complete, one whose queue is; the latter's signal goes on living.
scene_lost() {
    rm -f "$work/out" # of the scene before
    mkfifo "$work/lost"
    RTL_MODE=default on_gpu --script "$work/script" "$program_of_scenes" lost --hold <"$work/lost" >"$work/out" 2>"$work/err" &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/lost"
    wait_until 60 held_or_gone "$program"
    "$O/rtl-top" -p "$program" --json -n 1 >"$work/json"
    is "lost: each under its reason" "$(untimed)" '{"queue_gone":1,"signal_gone":1}'
    is "lost: all others were timed" "$(jq .dispatches.timed "$work/json")" 21
    exec 3>&-
    wait "$program"
    is "lost: it ends as it would without us" $? 0
    tap_pids=
}
scene_lost

# A tool that passes completions on in the order of submission stands still where this one gets through.
chain() { # tool scene seconds
    HSA_TOOLS_LIB=$1 SIGNALLED_PATIENCE=$3 timeout -s KILL 100 tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} \
        --script "$work/script" -- "$program_of_scenes" "$2" </dev/null 2>&1 | grep '^intercept_signalled'
}
is "chain: passed on in order, it stands still" "$(chain "$forward" chain 2)" "intercept_signalled: STUCK"
is "chain: which is due to the order" "$(chain "$forward" apart 60)" "intercept_signalled: PASS"
for mode in off lite default; do
    is "chain, $mode: gets through" "$(RTL_MODE=$mode chain "$tap_top/$O/librtl.so" chain 60)" "intercept_signalled: PASS"
done

# What HIP's events say is what the script says, to the tick.
for i in 0 1 2 3 4 5 6 7; do
    echo "timed_$i fixed $((1 << (2 * i)))3ticks"
done >"$work/script"
echo '* fixed 5us' >>"$work/script"
run_exact "HIP events" --script "$work/script" -- "$O/tests/programs/hip_events"
mostly_timed "HIP events"
echo "# HIP events: not timed: $(untimed)"

# lite looks at none of them
run_lite() {
    scene "$1" lite
    is "$1, lite: all of them are left alone" "$(untimed)" "{\"own_signal\":$2}"
}
run_lite chain 3
run_lite foreign 200
finish
