#!/bin/sh
# What applications do to a library that they don't know of: cancelled threads, closed descriptors, a sandbox that comes
# later, memory that isn't there.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=intercept_harsh
preload=$tap_top/$O/tests/programs/intercept_refuse_preload.so

# The thread is cancelled before it calls: whatever is a cancellation point in the library ends it there. Without a worker
# nothing is known of how full a queue is, so then it doesn't outrun the GPU. Where each lock of the runtime's is one, queues
# are native: an intercept queue takes one of its own whenever its doorbell rings.
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
    is "a cancelled thread${refused:+ ($refused refused)}: ends well" "$status" 0
done

for refused in '' populate; do
    LD_PRELOAD=$preload REFUSE=$refused
    export LD_PRELOAD REFUSE
    play closed
    unset LD_PRELOAD REFUSE
    is "the segment's descriptor closed${refused:+ ($refused refused)}: the application's file there is left alone" \
        "$(grep '^own file' "$work/out")" "own file 0"
    is "the segment's descriptor closed${refused:+ ($refused refused)}: nothing is said" "$(cat "$work/err")" ""
    close_scene
    is "the segment's descriptor closed${refused:+ ($refused refused)}: ends well" "$status" 0
done

play sandbox
check "membarrier taken away: all accounted for" wait_until 60 settled 0
check "membarrier taken away: counts are the program's" counted_as_launched
check "membarrier taken away: it parks" wait_until 60 sh -c "'$dump' $program worker | grep -q 'parked 1'"
close_scene
is "membarrier taken away: ends well" "$status" 0

# More buckets than there were pages for at the start: what can't be kept is counted, under its reason.
scenes=intercept_scenes
LD_PRELOAD=$preload REFUSE=pages
export LD_PRELOAD REFUSE
play all
unset LD_PRELOAD REFUSE
check "no pages: all accounted for" wait_until 60 settled 0
is "no pages: all are counted" "$(look counted)" "counted 20000"
check "no pages: under its reason" test "$(look untimed | awk '$2 == "no_memory" { print $3 }')" -gt 0
check "no pages: what there was room for is timed" test "$(look timed | cut -d' ' -f2)" -gt 100
close_scene
is "no pages: ends well" "$status" 0
finish
