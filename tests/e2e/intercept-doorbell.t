#!/bin/sh
# Programs that ring the hardware's doorbell themselves: with RTL_MODE=off they find the queue that they would find without
# the library. On an intercept queue there is no such doorbell, whatever tool makes it; who looks sees that. A native queue
# has it.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_doorbell

found() { sed -n 's/^rings //p' "$work/out"; }
ends_well() { # name
    has "$1: all completes" "$(cat "$work/out")" '^done'
    close_scene
    is "$1: ends well" "$status $(without_runtimes_own <"$work/err")" "0 "
}
tools=
play ring
is "without the library: hardware" "$(found)" itself
ends_well "without the library"
tools=$noop
play ring
is "with any tool that intercepts: none" "$(found)" "by the runtime"
ends_well "with any tool that intercepts"
unset tools

RTL_MODE=off
export RTL_MODE
play ring
is "off: hardware" "$(found)" itself
is "off: nothing is counted" "$(look counted)" "counted 0"
ends_well "off"
unset RTL_MODE
# an intercept queue has no hardware doorbell; in front of a native one the library notices that nobody rings, gives the
# queue up, and counts what it finds in the ring
for queues in intercept native; do
    if [ "$queues" = intercept ] && ! may_intercept; then
        skip "intercept: programs that ring themselves" "the library makes no intercept queues here: they overwrite memory"
        continue
    fi
    RTL_QUEUES=$queues
    export RTL_QUEUES
    case $queues in intercept) rings="by the runtime" ;; *) rings=itself ;; esac
    play ring
    is "$queues: hardware or not" "$(found)" "$rings"
    check "$queues: all accounted for" wait_until 60 settled 0
    check "$queues: counts are the program's" wait_until 60 counted_as_launched
    [ "$queues" = intercept ] || has "$queues: it is said" "$(look note)" queue_demoted
    ends_well "$queues"
done
finish
