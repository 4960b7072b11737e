#!/bin/sh
# The end of a process: calls after OnUnload, and the time that the library adds with work in flight. The test prints the
# time, and asserts only that the process ends.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

scenes=intercept_late
play late
program_value() { sed -n "s/^$1 //p" "$work/out"; }
untimed_for() { dump_segment untimed | awk -v key="$1" '$2 == key { print $3 }'; }
is "after OnUnload: the segment's state is unloaded" "$(dump_segment state)" "state unloaded"
is "after OnUnload: every dispatch is counted, before and after" "$(dump_segment counted)" "counted $(program_value total)"
check "after OnUnload: each dispatch is timed or has its reason" settled 0
check "after OnUnload: completed dispatches are timed" test "$(dump_segment timed | cut -d' ' -f2)" -ge "$(program_value before)"
check "after OnUnload: dispatches in flight are abandoned" test "$(untimed_for abandoned)" -ge "$(program_value gated)"
check "after OnUnload: later dispatches have the reason shutdown" test "$(untimed_for shutdown)" -ge 3000
check "after OnUnload: librtl prints nothing" sh -c "! grep librtl '$work/err'"
close_scene
is "after OnUnload: exit status is 0" "$status" 0

# measure_end HOW LIBRARY: microseconds from the command to the end of the process, with kernels in flight
measure_end() {
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in"
    (HSA_TOOLS_LIB=$2 exec timeout -s KILL 60 tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} \
        --script "$work/script" -- "$O/tests/programs/intercept_scenes" end "$1" <"$work/in" >"$work/out" 2>/dev/null) &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 60 grep -q '^holding' "$work/out"
    begun=$(date +%s%N)
    exec 3>&-
    wait "$program" 2>/dev/null
    status=$?
    ended=$(date +%s%N)
    tap_pids=
    echo "$status $(((ended - begun) / 1000))" >>"$work/ends"
}
median_time() { # the median of the times, in us
    cut -d' ' -f2 "$work/ends" | sort -n | sed -n 3p
}
for how in exit _exit return shutdown abort kill; do
    rm -f "$work/ends"
    for _ in 1 2 3 4 5; do measure_end "$how" ""; done
    plain=$(median_time)
    without=$(cut -d' ' -f1 "$work/ends" | sort -u)
    rm "$work/ends"
    for _ in 1 2 3 4 5; do measure_end "$how" "$tap_top/$O/librtl.so"; done
    is "$how with kernels in flight: exit status is that without the library" "$(cut -d' ' -f1 "$work/ends" | sort -u)" "$without"
    median_time | awk -v plain="$plain" -v how="$how" \
        '{ printf "# %s: %.1f ms, %.1f ms without the library (medians of 5)\n", how, $1 / 1000, plain / 1000 }'
done
finish
