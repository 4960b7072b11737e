#!/bin/sh
# An agent's one cooperative queue is left as the runtime made it, and the completion worker runs where the process may,
# not where the thread that came first was tied to.
. "$(dirname "$0")/tap.sh"

program=$O/tests/programs/intercept_cooperative
run() { # library
    HSA_TOOLS_LIB=$1 timeout -k 5 60 tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} -- \
        "$program" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}

run ""
is "without the library: ends well" "$status" 0
is "without the library: no worker" "$(grep '^worker' "$work/out")" "worker none"
grep -v '^worker' "$work/out" >"$work/plain"
has "without the library: it played" "$(cat "$work/plain")" '^cooperative: destroyed 0x0 0x0'

run "$tap_top/$O/librtl.so"
is "with it: ends well" "$status" 0
is "with it: the application sees the same" "$(grep -v '^worker' "$work/out")" "$(cat "$work/plain")"
is "with the library: standard error is empty" "$(without_runtimes_own <"$work/err")" ""
is "with it: the worker has all CPUs of the process" "$(grep '^worker' "$work/out")" "worker $(nproc)"
finish
