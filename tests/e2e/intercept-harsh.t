#!/bin/sh
# Applications that don't know of the library: they cancel threads, close descriptors, start a sandbox later, or run out of
# memory.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_harsh
preload=$tap_top/$O/tests/programs/intercept_refuse_preload.so

# The thread is cancelled before it calls, so any cancellation point in the library would end it there. Without a worker
# the library doesn't know how full a queue is, so the thread must not outrun the GPU. Where each lock of the runtime is
# a cancellation point, queues are native: an intercept queue locks whenever its doorbell rings.
way=${RTL_QUEUES:-}
for refused in '' lock populate 'thread populate'; do
    LD_PRELOAD=$preload REFUSE=$refused
    export LD_PRELOAD REFUSE
    case $refused in lock) export RTL_QUEUES=native ;; esac
    case $refused in *thread*) play cancel 0 ;; *) play cancel 5000 ;; esac
    unset LD_PRELOAD REFUSE RTL_QUEUES
    [ -z "$way" ] || export RTL_QUEUES="$way"
    is "a cancelled thread${refused:+ ($refused refused)}: the library doesn't end it" \
        "$(grep cancelled "$work/out")" "not cancelled"
    close_scene
    is "a cancelled thread${refused:+ ($refused refused)}: exit status is 0" "$status" 0
done

for refused in '' populate; do
    LD_PRELOAD=$preload REFUSE=$refused
    export LD_PRELOAD REFUSE
    play closed
    unset LD_PRELOAD REFUSE
    is "the segment's descriptor closed${refused:+ ($refused refused)}: the library leaves the application's file alone" \
        "$(grep '^own file' "$work/out")" "own file 0"
    is "the segment's descriptor closed${refused:+ ($refused refused)}: standard error is empty" "$(cat "$work/err")" ""
    close_scene
    is "the segment's descriptor closed${refused:+ ($refused refused)}: exit status is 0" "$status" 0
done

play sandbox
check "membarrier removed: every dispatch is settled" wait_until 60 settled 0
check "membarrier removed: counts equal the program's" counted_as_launched
check "membarrier removed: the worker parks" wait_until 60 sh -c "'$dump' $program worker | grep -q 'parked 1'"
close_scene
is "membarrier removed: exit status is 0" "$status" 0

# More buckets than the pages reserved at the start: dispatches whose time can't be kept are counted under their reason.
scenes=intercept_scenes
LD_PRELOAD=$preload REFUSE=pages
export LD_PRELOAD REFUSE
play all
unset LD_PRELOAD REFUSE
check "no pages: every dispatch is settled" wait_until 60 settled 0
is "no pages: every dispatch is counted" "$(dump_segment counted)" "counted 20000"
check "no pages: some dispatches are untimed as no_memory" test "$(dump_segment untimed | awk '$2 == "no_memory" { print $3 }')" -gt 0
check "no pages: dispatches for which there is room are timed" test "$(dump_segment timed | cut -d' ' -f2)" -gt 100
close_scene
is "no pages: exit status is 0" "$status" 0
finish
