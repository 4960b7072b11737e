#!/bin/sh
# The dispatch path has no allocation and no system call in steady state. The test counts both inside the process during
# a million dispatches of one thread. Checks of the counter itself: it sees the growing pool, and an allocation and a
# system call put in on purpose.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

program=$O/tests/programs/intercept_steady
echo 'slow99 fixed 60s' >"$work/script"
run_steady() { # NAME LIBRARY ARGUMENTS...
    name=$1
    library=$2
    shift 2
    # At its limit the pool can't grow, however late the worker runs.
    (HSA_TOOLS_LIB=$library RTL_SIGNALS=1024 timeout 200 tests/vgpu/run \
        ${RTL_RELEASE:+--release "$RTL_RELEASE"} --script "$work/script" --duration 0ns -- \
        "$program" "$@" </dev/null >"$work/out" 2>"$work/err")
    status=$?
    has "$name: the program finishes" "$(cat "$work/out")" '^holding'
    [ "$status" = 0 ] || echo "# $name: status $status, $(cat "$work/err")" >&2
    line=$(grep '^allocations' "$work/out")
}

run_steady "without a tool" "" 100000
is "without a tool: no allocation and no system call" "$line" "allocations 0 syscalls 0 first -1"
run_steady "a tool that only forwards" "$noop" 100000
is "a tool that only forwards: no allocation and no system call" "$line" "allocations 0 syscalls 0 first -1"
run_steady "default" "$tap_top/$O/librtl.so" 1000000
is "default: no allocation and no system call in a million dispatches" "$line" "allocations 0 syscalls 0 first -1"
RTL_TRACE=64K
export RTL_TRACE
run_steady "a full event ring" "$tap_top/$O/librtl.so" 300000
is "a full event ring: no allocation and no system call" "$line" "allocations 0 syscalls 0 first -1"
unset RTL_TRACE
run_steady "signalled" "$tap_top/$O/librtl.so" 1000000 signalled
is "the application's signals: no allocation and no system call in a million dispatches" "$line" "allocations 0 syscalls 0 first -1"
lock_out_viewers
RTL_MODE=auto
export RTL_MODE
run_steady "auto" "$tap_top/$O/librtl.so" 200000
is "auto without a viewer: no allocation and no system call" "$line" "allocations 0 syscalls 0 first -1"
run_steady "auto, signalled" "$tap_top/$O/librtl.so" 200000 signalled
is "auto without a viewer, the application's signals: no allocation and no system call" "$line" "allocations 0 syscalls 0 first -1"
unlock_viewing
RTL_MODE=lite
run_steady "lite" "$tap_top/$O/librtl.so" 200000
is "lite: no allocation and no system call" "$line" "allocations 0 syscalls 0 first -1"
unset RTL_MODE

# Checks of the counter
run_steady "cold" "$tap_top/$O/librtl.so" 2000 cold
check "counter: sees the growing pool" test "$(echo "$line" | cut -d' ' -f2)" -gt 0
run_steady "an allocation" "$tap_top/$O/librtl.so" 2000 malloc
check "counter: sees an allocation" test "$(echo "$line" | cut -d' ' -f2)" -gt 0
run_steady "a system call" "$tap_top/$O/librtl.so" 2000 syscall
is "counter: sees a system call" "$line" "allocations 0 syscalls 1 first 110"
finish
