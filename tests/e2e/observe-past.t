#!/bin/sh
# Queues of a traced process that the library sees nothing of: found from outside, shown beside the others and marked,
# and every dispatch counted once, whoever saw it.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

# as the user does, without --observe
watch() {
    rm -f "$work/json"
    "$O/rtl-top" -p "$program" --json -d 0.2 >"$work/json" 2>"$work/observe.err" 3>&- &
    observer=$!
    tap_pids="$tap_pids $observer"
    wait_until 60 sh -c "test -s '$work/json' || ! kill -0 $observer"
}
past() { frame "[.queues[] | select(.way == \"observed\")] | $1"; }
sees_past() { [ "$(past length)" = "$1" ]; }
library=$tap_top/$O/librtl.so

for way in native intercept; do
    export RTL_QUEUES=$way
    tools="$tap_top/$O/tests/programs/observe_past_preload.so $library"
    play 2
    tell_all past 2
    # where the runtime's intercept queues overwrite memory the library leaves all queues alone: all four are past it
    unseen=2 outside=6000 inside=6000
    if grep -q '^librtl: .*intercept queues overwrite memory' "$work/err"; then
        unseen=4 outside=12000 inside=0
    fi
    tell_all run 4000 5 20 200 # before anybody looks
    watch
    check "$way: queues past the library are found" wait_until 60 sees_past "$unseen"
    tell_all run 8000 5 40 400
    tell_all "done"
    check "$way: every dispatch is counted, once" wait_until 120 counted_as_launched
    is "$way: $outside dispatches are counted from outside" "$(past '[.[].dispatches] | add')" "$outside"
    is "$way: dispatches from outside are untimed as observed" "$(frame .dispatches.untimed.observed)" "$outside"
    is "$way: the library counts the other dispatches" \
        "$(frame "[.queues[] | select(.way == \"$way\") | .dispatches] | add // 0")" "$inside"
    is "$way: the library's dispatches are timed" "$(frame .dispatches.timed)" "$inside"
    is "$way: it is said why" "$(past '[.[].way_why] | unique | join(" ")')" past_library
    is "$way: they are the GPU's, of which there is one" "$(frame '[.queues[].gpu] | unique | length') $(frame '.gpus | length')" "1 1"
    is "$way: the process is a traced one" "$(frame .mode)" default
    has "$way: in text" "$("$O/rtl-top" -p "$program" -b -n 6 -d 1 2>&1)" 'NOT timed of .*observed [0-9.]+'
    end_process "$observer"
    is "$way: --no-observe leaves it at what the library sees" \
        "$("$O/rtl-top" -p "$program" --no-observe --json -n 2 -d 2.5 | tail -n 1 | jq -c '[.dispatches.counted, (.queues | length)]')" "[$inside,$((4 - unseen))]"
    # kernels that the others have first; one that comes while it is watched
    watch
    wait_until 60 sees_past "$unseen"
    tell_all load
    tell_all past 1
    tell_all run 3000 0 10 500
    tell_all "done"
    sed -i '1,/^done/d' "$work/out" # the second tally holds the first
    check "$way: kernels and queues that come later, too" wait_until 120 counted_as_launched
    close_play
    is "$way: the program came to its end" "$status" 0
    wait "$observer"
    is "$way: and rtl-top saw it" $? 6
done
unset RTL_QUEUES

# with nothing past the library nothing is shown but what the library has, also after a while
tools=$library
play 3
watch
tell_all run 3000 3 20 1000
tell_all cycle 4
tell_all "done"
frames=$(wc -l <"$work/json")
wait_until 60 sh -c "test \$(wc -l <'$work/json') -gt $((frames + 15))"
is "nothing past the library: no queue is shown twice" "$(past length) $(frame .dispatches.untimed.observed)" "0 0"
is "nothing past the library: the counts are the library's" "$(frame .dispatches.counted)" 3040
close_play
wait "$observer"
finish
