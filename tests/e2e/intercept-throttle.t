#!/bin/sh
# A queue is kept full by kernels that take no time, with few signals, so that the worker can't keep up. Nothing stops or
# hangs, and every dispatch is counted. (On ROCr before 6.0 a full intercept queue of any tool stops the process:
# src/intercept/track/throttle.h.)
. "$(dirname "$0")/tap.sh"

dispatches=1000448 # a multiple of the program's 512
warm=4096          # dispatches before it counts

# start_flood SIGNALS WHAT COMMAND...: run the program until it has dispatched everything and holds
start_flood() {
    limit=$1
    what=$2
    shift 2
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in"
    (INTERCEPT_KERNELS=$tap_top/$O/tests/programs RTL_SIGNALS=$limit HSA_TOOLS_LIB=$tap_top/$O/librtl.so \
        exec "$@" tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --duration 0ns -- \
        "$O/tests/bench/dispatch_hsa" "$((dispatches - 512))" 100 flow "$what" hold <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 120 sh -c "grep -qs '^holding' '$work/out' || ! kill -0 $program || grep -q zombie /proc/$program/status"
}

dump_segment() {
    "$O/tests/programs/intercept_dump" "$program" >"$work/dump" 2>&1
}
segment_sum() { # KEY
    awk -v key="$1" '$1 == key { print $2 }' "$work/dump"
}
all_settled() { # nothing is in flight
    dump_segment
    test "$(($(segment_sum timed) + $(segment_sum untimed_total)))" = "$(segment_sum counted)"
}

run_flood() { # NAME SIGNALS WHAT COMMAND...
    name=$1
    shift
    start_flood "$@"
    has "$name: the program finishes" "$(cat "$work/out")" '^holding'
    check "$name: every dispatch is timed or untimed" wait_until 60 all_settled
    is "$name: every dispatch is counted" "$(segment_sum counted)" "$((dispatches + warm))"
    exec 3>&-
    wait "$program"
    is "$name: exit status is 0" "$?" 0
    is "$name: standard error is empty" "$(filter_runtimes_lines <"$work/err")" ""
    tap_pids=
}

run_flood "64 signals" 64 plain env
run_flood "4096 signals" 4096 plain env
run_flood "the application's signals, several packets on each" 4096 signalled env
run_flood "one CPU for all, 64 signals" 64 plain taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')"
finish
