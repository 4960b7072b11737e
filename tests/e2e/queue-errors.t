#!/bin/sh
# A kernel's fault stops its queue: rtl-top names error, kernel and queue, live, in recordings and after the process's end.
# The program gets the same errors and ends as without the library. Tests each kind of queue and each way in which the
# runtime reports an error.
# shellcheck disable=SC2016 # programs of jq
. "$(dirname "$0")/tap.sh"
program=$O/tests/programs/queue_errors
INTERCEPT_KERNELS=$tap_top/$O/tests/programs
export INTERCEPT_KERNELS

# start WAY ERROR: start the program, which waits before its kernel fails; sets pid
start() {
    rm -f "$work/in" "$work/out" "$work/live"
    mkfifo "$work/in"
    echo "bad_* fails $2" >"$work/script"
    (on_gpu --script "$work/script" -- "$program" "$1" <"$work/in" >"$work/out" 2>"$work/err") &
    pid=$!
    tap_pids="$tap_pids $pid"
    exec 3>"$work/in"
    wait_until 60 grep -q ready "$work/out"
}
end() { # let the program end; $status
    exec 3>&-
    wait "$pid"
    status=$?
}
has_ended() { ! is_alive "$pid"; }
view() { "$O/rtl-top" -p "$pid" --json -n 1 | jq -c "$1"; }
# The error and the kernel of each failed queue, then the number of the other queues.
errors='[.queues[] | select(.failed) | .error.key, .error.kernel] + [[.queues[] | select(.failed | not)] | length]'
print_end() { sed 's/0x[0-9a-f]*/ADDRESS/g; /^vgpu:/d; /Assertion/!d' "$1"; grep -A1 '^Queue at' "$1" | sed 's/0x[0-9a-f]*/ADDRESS/'; }

for queues in native intercept; do
    RTL_QUEUES=$queues
    export RTL_QUEUES
    if [ "$queues" = intercept ] && ! may_intercept; then
        skip "intercept: errors of queues" "intercept queues overwrite memory here"
        continue
    fi
    for error in instruction:illegal_instruction:42 memory:memory_fault:43; do
        key=${error#*:}
        start handled "${error%%:*}"
        is "$queues, $error: no queue has failed before" "$(view '[.queues[].failed]')" "[false,false]"
        echo >&3
        check "$queues, $error: the program gets its error" wait_until 60 grep -qx "told ${key#*:}" "$work/out"
        wait_until 60 grep -q holding "$work/out"
        is "$queues, $error: error and kernel are named, on one queue" "$(view "$errors")" "[\"${key%:*}\",\"bad_00\",1]"
        end
        is "$queues, $error: the program gets one error and ends by itself" "$status $(grep -c told "$work/out")" "0 1"
    done

    # The runtime ends the process right after it has reported the error.
    for error in aperture:memory_aperture memory:memory_fault; do
        start default "${error%%:*}"
        rm -f "$work/live"
        "$O/rtl-top" -p "$pid" --json -d 0.2 -w "$work/$queues.db" --force >"$work/live" 2>"$work/rec.err" &
        viewer=$!
        tap_pids="$tap_pids $viewer"
        check "$queues, $error, no callback: the viewer writes a frame" wait_until 60 test -s "$work/live"
        echo >&3
        check "$queues, $error, no callback: the process ends" wait_until 60 has_ended
        has_ended || kill -9 "$pid"
        wait "$viewer"
        end
        is "$queues, $error, no callback: the last frame names error and kernel" "$(tail -n 1 "$work/live" | jq -c "$errors")" \
            "[\"${error#*:}\",\"bad_00\",1]"
        "$O/rtl-top" replay "$work/$queues.db" --json >"$work/again"
        check "$queues, $error, no callback: a replay equals the live output" cmp "$work/live" "$work/again"
        print_end "$work/err" >"$work/traced.err"
        echo | env -u HSA_TOOLS_LIB tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} --script "$work/script" -- "$program" default \
            >"$work/out" 2>"$work/plain.err"
        is "$queues, $error, no callback: the process ends as without the library" "$status" "$?"
        print_end "$work/plain.err" >"$work/untraced.err"
        check "$queues, $error, no callback: it prints what it prints without the library" cmp "$work/traced.err" "$work/untraced.err"
    done
done
finish
