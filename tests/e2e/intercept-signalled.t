#!/bin/sh
# Kernels with a completion signal of the application. The library times them exactly with that signal, and nothing
# delays a thread that waits for it. Kernels whose times can't be read are counted under their reason.
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

run_scene() { # NAME [MODE]
    RTL_MODE=${2:-default} run_exact "$1, ${2:-default}" --script "$work/script" -- "$program_of_scenes" "$1"
}
list_untimed() { # the untimed ones by reason
    jq -c '.dispatches.untimed // {} | with_entries(select(.value > 0))' "$work/json"
}

# Signals that are reused on other queues, on barriers and copies, destroyed, or passed between threads: all kernels are
# timed.
for name in reuse fleeting threads chain; do
    run_scene "$name"
    is "$name: every kernel is timed" "$(list_untimed)" '{}'
done
run_scene counter
is "counter: kernels that share a signal are untimed as shared_signal" "$(list_untimed)" '{"shared_signal":160}'
run_scene foreign
is "foreign: kernels with unknown signals are untimed as unsafe_signal" "$(list_untimed)" '{"unsafe_signal":200}'

# Two kernels lose their times: the signal of one is destroyed before it could complete, the queue of the other. The
# second one's signal lives on.
run_scene_lost() {
    rm -f "$work/out" # of the previous scene
    mkfifo "$work/lost"
    RTL_MODE=default on_gpu --script "$work/script" "$program_of_scenes" lost --hold <"$work/lost" >"$work/out" 2>"$work/err" &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/lost"
    wait_until 60 held_or_gone "$program"
    "$O/rtl-top" -p "$program" --json -n 1 >"$work/json"
    is "lost: each has its reason" "$(list_untimed)" '{"queue_gone":1,"signal_gone":1}'
    is "lost: all others are timed" "$(jq .dispatches.timed "$work/json")" 21
    exec 3>&-
    wait "$program"
    is "lost: exit status is that without rtl-top" $? 0
    tap_pids=
}
run_scene_lost

# A tool that forwards completions in the order of submission deadlocks where librtl doesn't.
run_chain() { # TOOL SCENE SECONDS
    HSA_TOOLS_LIB=$1 SIGNALLED_PATIENCE=$3 timeout -s KILL 100 tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} \
        --script "$work/script" -- "$program_of_scenes" "$2" </dev/null 2>&1 | grep '^intercept_signalled'
}
is "chain: a tool that forwards in order deadlocks" "$(run_chain "$forward" chain 2)" "intercept_signalled: STUCK"
is "chain: the order is the cause" "$(run_chain "$forward" apart 60)" "intercept_signalled: PASS"
for mode in off lite default; do
    is "chain, $mode: the program passes" "$(RTL_MODE=$mode run_chain "$tap_top/$O/librtl.so" chain 60)" "intercept_signalled: PASS"
done

# HIP's events show the script's durations to the tick.
for i in 0 1 2 3 4 5 6 7; do
    echo "timed_$i fixed $((1 << (2 * i)))3ticks"
done >"$work/script"
echo '* fixed 5us' >>"$work/script"
run_exact "HIP events" --script "$work/script" -- "$O/tests/programs/hip_events"
check_mostly_timed "HIP events"
echo "# HIP events: untimed: $(list_untimed)"

# Mode lite reads none of these signals.
run_lite() {
    run_scene "$1" lite
    is "$1, lite: every kernel is untimed as own_signal" "$(list_untimed)" "{\"own_signal\":$2}"
}
run_lite chain 3
run_lite foreign 200
finish
