#!/bin/sh
# Releases whose intercept queues overwrite memory when a large batch wraps around the ring (ROCm 7.2.0 to 7.2.4). On
# such a release, and elsewhere on a stand-in for it, the program crashes under any tool that intercepts, but not under
# librtl.so. On fixed releases every dispatch is counted and timed.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=native_batches
on_unsafe='native'

batching=$tap_top/$O/tests/programs/intercept_batching_preload.so
export BATCHING_AS=fixed
cat >"$work/script" <<'EOT'
hsa_?0 fixed 1us
hsa_?1 fixed 2us
hsa_?2 fixed 3us
hsa_0* fixed 500ns
*      fixed 700ns
EOT

check_exact() { # NAME
    check "$1: every dispatch is settled" wait_until 60 settled 0
    check "$1: counts equal the program's" counted_as_launched
    check "$1: every dispatch is timed" test "$(dump_segment timed)" = "timed $(dump_segment counted | cut -d' ' -f2)"
    check "$1: times equal the GPU's" wait_until 60 times_are_true
}
check_end() { # NAME [STANDARD-ERROR]
    has "$1: all kernels complete" "$(cat "$work/out")" '^done$'
    check "$1: batches wrap around" grep -qE '^wrapped [1-9]' "$work/out"
    close_scene
    is "$1: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 ${2:-}"
}

play 40
check_exact "the plain runtime"
way=$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.queues[0].way')
check_end "the plain runtime"
if ! may_intercept; then
    is "the plain runtime: the queue is native" "$way" native
    tools="$noop"
    play 40 2>/dev/null
    close_scene
    check "the plain runtime, another tool that intercepts: the program crashes" test "$status" -gt 128
    skip "stand-in for unsafe releases" "this release is unsafe itself"
    finish
fi
tools="$batching"
play 40
if grep -q 'too old' "$work/err"; then # the stand-in needs release 5.6; make check-releases runs newer ones
    close_scene
    finish
fi
check_end "the stand-in alone"
for as in past short; do
    BATCHING_AS=$as
    tools="$batching $noop"
    play 40 2>/dev/null
    close_scene
    is "$as, another tool that intercepts: the program crashes" "$status" 139

    tools="$batching $tap_top/$O/librtl.so"
    play 40
    if [ "$on_unsafe" = plain ]; then
        is "$as: nothing is counted" "$(dump_segment counted)" "counted 0"
        is "$as: notes say so" "$(dump_segment note | sort | tr '\n' ' ')" "note batch_unsafe note queue_not_intercepted "
        check_end "$as" "$(grep '^librtl: this runtime.s intercept queues overwrite memory' "$work/err")"
    else
        check_exact "$as"
        is "$as: the queue is native" \
            "$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.queues[0].way')" native
        check_end "$as"
    fi
done
BATCHING_AS=fixed
tools="$batching $noop"
play 40
check_end "fixed, another tool that intercepts"
tools="$batching $tap_top/$O/librtl.so"
play 40
check_exact "fixed"
check_end "fixed"
finish
