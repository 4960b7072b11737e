#!/bin/sh
# The library leaves an agent's only cooperative queue as the runtime made it. The completion worker may use all CPUs of
# the process, not just those of the thread that started it.
. "$(dirname "$0")/tap.sh"

program=$O/tests/programs/intercept_cooperative
run_program() { # library
    HSA_TOOLS_LIB=$1 timeout -k 5 60 tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} -- \
        "$program" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}

run_program ""
is "without the library: exit status is 0" "$status" 0
is "without the library: there is no worker" "$(grep '^worker' "$work/out")" "worker none"
grep -v '^worker' "$work/out" >"$work/plain"
has "without the library: the program destroys its cooperative queue" "$(cat "$work/plain")" '^cooperative: destroyed 0x0 0x0'

run_program "$tap_top/$O/librtl.so"
is "with the library: exit status is 0" "$status" 0
is "with the library: the program's output is the same" "$(grep -v '^worker' "$work/out")" "$(cat "$work/plain")"
is "with the library: standard error is empty" "$(filter_runtimes_lines <"$work/err")" ""
is "with the library: the worker may use all CPUs of the process" "$(grep '^worker' "$work/out")" "worker $(nproc)"
finish
