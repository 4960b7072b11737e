#!/bin/sh
# The completion worker makes only the system calls that librtl(7) lists. A filter on that thread ends the process at any
# other call, while viewers watch and change the mode, and the worker parks.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
programs=$O/tests/programs

# list_calls ROW: the calls in that row of the manual's table
list_calls() {
    awk -v row="$1" '$0 == ".It " row { found = 1; next } found && /^\.(It|El)/ { exit } found && $1 == ".Cm" { print }' man/librtl.7 |
        tr -d ',' | sed 's/^\.Cm //' | tr '\n' ' '
}
# start_paced CALLS EVERY: a kernel every EVERY microseconds, with the worker in a sandbox that permits CALLS and the
# software GPU's fstat in its madvise (newfstatat in some libc). The pool of signals starts at its limit, because its
# growth needs the runtime's calls.
start_paced() {
    rm -f "$work/mark" "$work/err"
    (RTL_SIGNALS=64 SANDBOX_MARK=$work/mark SANDBOX_CALLS="$1 newfstatat fstat" LD_PRELOAD=$tap_top/$programs/intercept_sandbox_preload.so HSA_TOOLS_LIB=$tap_top/$O/librtl.so \
        exec tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --duration 10us -- "$programs/intercept_paced" 1 "$2" \
        >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    wait_until 60 is_traced "$program"
    wait_until 60 sh -c "test \"\$('$O/rtl-top' -p $program --json -n 1 | jq .dispatches.counted)\" -gt 2"
    : >"$work/mark"
    wait_until 20 grep -q sandboxed "$work/err" || echo "# the worker isn't in its sandbox" >&2
}
count_now() { "$O/rtl-top" -p "$program" --json -n 1 2>"$work/why" | jq .dispatches.counted; }
counts_on() {
    was=$(count_now)
    wait_until 20 sh -c "test \"\$('$O/rtl-top' -p $program --json -n 1 2>'$work/why' | jq .dispatches.counted)\" -gt ${was:-999999999}" &&
        is_alive "$program"
}

worker=$(list_calls "worker, always")
has "manual: lists the worker's calls" "$worker" 'futex'
for every in 300 60000; do # rarely: the worker parks in between
    start_paced "$worker" "$every"
    check "a kernel every $every us: the worker makes no other call" counts_on
    for mode in lite auto default; do
        "$O/rtl-top" mode -p "$program" "$mode" >"$work/mode" 2>&1
        check "a kernel every $every us, mode $mode: the worker makes no other call" counts_on
    done
    kill -9 "$program" 2>/dev/null
    wait "$program" 2>/dev/null
done

# check of the test itself: the worker makes each call of the list
for call in $worker; do
    start_paced "$(echo " $worker" | sed "s/ $call / /")" 60000
    case $call in
    madvise) ;; # only for new kernels and queues
    *) check "without $call: the worker is stopped" wait_until 20 sh -c "! kill -0 $program 2>/dev/null || grep -q zombie /proc/$program/status" ;;
    esac
    kill -9 "$program" 2>/dev/null
    wait "$program" 2>/dev/null
done
finish
