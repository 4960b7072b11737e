#!/bin/sh
# On the dispatch path there is no allocation and no system call in steady state: a million dispatches of one thread, with
# both counted in the process. The same count finds them where they are: while the pool grows, and when put in on purpose.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

program=$O/tests/programs/intercept_steady
echo 'slow99 fixed 60s' >"$work/script"
steady() { # name library arguments...
    name=$1
    library=$2
    shift 2
    # at its limit the pool can't grow any more, however late the worker gets its turn
    (HSA_TOOLS_LIB=$library RTL_SIGNALS=1024 timeout 200 tests/vgpu/run \
        ${RTL_RELEASE:+--release "$RTL_RELEASE"} --script "$work/script" --duration 0ns -- \
        "$program" "$@" </dev/null >"$work/out" 2>"$work/err")
    status=$?
    has "$name: it ran" "$(cat "$work/out")" '^holding'
    [ "$status" = 0 ] || echo "# $name: status $status, $(cat "$work/err")" >&2
    line=$(grep '^allocations' "$work/out")
}

steady "without a tool" "" 100000
is "without a tool: nothing is asked of the system" "$line" "allocations 0 syscalls 0 first -1"
steady "with a tool that only passes on" "$noop" 100000
is "with a tool that only passes on: nothing is asked" "$line" "allocations 0 syscalls 0 first -1"
steady "default" "$tap_top/$O/librtl.so" 1000000
is "default: nothing is asked of the system in a million dispatches" "$line" "allocations 0 syscalls 0 first -1"
RTL_TRACE=64K
export RTL_TRACE
steady "with an event ring that goes round" "$tap_top/$O/librtl.so" 300000
is "with an event ring that goes round: nothing is asked of the system" "$line" "allocations 0 syscalls 0 first -1"
unset RTL_TRACE
steady "signalled" "$tap_top/$O/librtl.so" 1000000 signalled
is "signals of the application's: nothing is asked in a million dispatches" "$line" "allocations 0 syscalls 0 first -1"
unwatched
RTL_MODE=auto
export RTL_MODE
steady "auto" "$tap_top/$O/librtl.so" 200000
is "auto with nobody watching: nothing is asked of the system" "$line" "allocations 0 syscalls 0 first -1"
steady "auto, signalled" "$tap_top/$O/librtl.so" 200000 signalled
is "nor with signals of the application's" "$line" "allocations 0 syscalls 0 first -1"
among_all
RTL_MODE=lite
steady "lite" "$tap_top/$O/librtl.so" 200000
is "lite: nothing is asked of the system" "$line" "allocations 0 syscalls 0 first -1"
unset RTL_MODE

# and the instrument itself
steady "cold" "$tap_top/$O/librtl.so" 2000 cold
check "cold: the growing pool is seen" test "$(echo "$line" | cut -d' ' -f2)" -gt 0
steady "an allocation" "$tap_top/$O/librtl.so" 2000 malloc
check "an allocation is seen" test "$(echo "$line" | cut -d' ' -f2)" -gt 0
steady "a system call" "$tap_top/$O/librtl.so" 2000 syscall
is "a system call is seen" "$line" "allocations 0 syscalls 1 first 110"
finish
