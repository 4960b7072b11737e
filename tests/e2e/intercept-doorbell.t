#!/bin/sh
# Programs that ring the hardware's doorbell themselves. With RTL_MODE=off they find the queue that they would find
# without the library. An intercept queue of any tool has no hardware doorbell, and the program can see this. A native
# queue has it.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_doorbell

print_doorbell() { sed -n 's/^rings //p' "$work/out"; }
check_end() { # NAME
    has "$1: all kernels complete" "$(cat "$work/out")" '^done'
    close_scene
    is "$1: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "
}
tools=
play ring
is "without the library: the doorbell is the hardware's" "$(print_doorbell)" itself
check_end "without the library"
tools=$noop
play ring
is "any intercepting tool: the doorbell is the runtime's" "$(print_doorbell)" "by the runtime"
check_end "with any tool that intercepts"
unset tools

RTL_MODE=off
export RTL_MODE
play ring
is "mode off: the doorbell is the hardware's" "$(print_doorbell)" itself
is "mode off: nothing is counted" "$(dump_segment counted)" "counted 0"
check_end "mode off"
unset RTL_MODE
# An intercept queue has no hardware doorbell. On a native queue the library notices that its doorbell isn't rung, stops
# intercepting the queue, and counts the packets that it finds in the ring.
for queues in intercept native; do
    if [ "$queues" = intercept ] && ! may_intercept; then
        skip "intercept: programs that ring the doorbell themselves" "intercept queues overwrite memory here"
        continue
    fi
    RTL_QUEUES=$queues
    export RTL_QUEUES
    case $queues in intercept) rings="by the runtime" ;; *) rings=itself ;; esac
    play ring
    is "$queues: the doorbell is that of the queue path" "$(print_doorbell)" "$rings"
    check "$queues: every dispatch is settled" wait_until 60 settled 0
    check "$queues: counts equal the program's" wait_until 60 counted_as_launched
    [ "$queues" = intercept ] || has "$queues: the segment has the note queue_demoted" "$(dump_segment note)" queue_demoted
    check_end "$queues"
done
finish
