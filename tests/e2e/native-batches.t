#!/bin/sh
# Releases whose intercept queues overwrite memory when a large batch wraps around the ring (ROCm 7.2.0 to 7.2.4): on such a
# one, and behind a stand-in for them elsewhere, the program dies under any tool that intercepts, and not under librtl.so. On
# fixed releases every dispatch is counted and timed.
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

exact() { # name
    check "$1: all accounted for" wait_until 60 settled 0
    check "$1: counts are the program's" counted_as_launched
    check "$1: all timed" test "$(look timed)" = "timed $(look counted | cut -d' ' -f2)"
    check "$1: times are the GPU's" wait_until 60 times_are_true
}
ends_well() { # name [what it says on standard error]
    has "$1: all completes" "$(cat "$work/out")" '^done$'
    check "$1: batches wrapped" grep -qE '^wrapped [1-9]' "$work/out"
    close_scene
    is "$1: ends well" "$status $(without_runtimes_own <"$work/err")" "0 ${2:-}"
}

play 40
exact "the runtime as it is"
way=$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.queues[0].way')
ends_well "the runtime as it is"
if ! may_intercept; then
    is "the runtime as it is: the queue is native" "$way" native
    tools="$noop"
    play 40 2>/dev/null
    close_scene
    check "the runtime as it is, another tool that intercepts: the program crashes" test "$status" -gt 128
    skip "behind a stand-in for such releases" "this one is such a release itself"
    finish
fi
tools="$batching"
play 40
if grep -q 'too old' "$work/err"; then # the stand-in needs release 5.6; the others are in make check-releases
    close_scene
    finish
fi
ends_well "the stand-in alone"
for as in past short; do
    BATCHING_AS=$as
    tools="$batching $noop"
    play 40 2>/dev/null
    close_scene
    is "$as, any tool that intercepts: it dies" "$status" 139

    tools="$batching $tap_top/$O/librtl.so"
    play 40
    if [ "$on_unsafe" = plain ]; then
        is "$as: nothing is counted" "$(look counted)" "counted 0"
        is "$as: and that is said" "$(look note | sort | tr '\n' ' ')" "note batch_unsafe note queue_not_intercepted "
        ends_well "$as" "$(grep '^librtl: this runtime.s intercept queues overwrite memory' "$work/err")"
    else
        exact "$as"
        is "$as: the queue is no intercept queue" \
            "$("$O/rtl-top" -p "$program" --json -n 1 | jq -r '.queues[0].way')" native
        ends_well "$as"
    fi
done
BATCHING_AS=fixed
tools="$batching $noop"
play 40
ends_well "fixed, any tool that intercepts"
tools="$batching $tap_top/$O/librtl.so"
play 40
exact "fixed"
ends_well "fixed"
finish
