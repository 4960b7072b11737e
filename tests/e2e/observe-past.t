#!/bin/sh
# Queues of a traced process that the library doesn't see. rtl-top finds them from outside, lists and marks them, and
# counts every dispatch once.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

# Watch as a user does, without --observe.
start_viewer() {
    rm -f "$work/json"
    "$O/rtl-top" -p "$program" --json -d 0.2 >"$work/json" 2>"$work/observe.err" 3>&- &
    observer=$!
    tap_pids="$tap_pids $observer"
    wait_until 60 sh -c "test -s '$work/json' || ! kill -0 $observer"
}
unseen_queues() { query_frame "[.queues[] | select(.way == \"observed\")] | $1"; }
sees_unseen() { [ "$(unseen_queues length)" = "$1" ]; }
library=$tap_top/$O/librtl.so

for way in native intercept; do
    export RTL_QUEUES=$way
    tools="$tap_top/$O/tests/programs/observe_past_preload.so $library"
    play 2
    send_all past 2
    # Where intercept queues overwrite memory, the library intercepts no queue: all four are unseen.
    unseen=2 outside=6000 inside=6000
    if grep -q '^librtl: .*intercept queues overwrite memory' "$work/err"; then
        unseen=4 outside=12000 inside=0
    fi
    send_all run 4000 5 20 200 # before rtl-top attaches
    start_viewer
    check "$way: queues past the library are found" wait_until 60 sees_unseen "$unseen"
    send_all run 8000 5 40 400
    send_all "done"
    check "$way: every dispatch is counted, once" wait_until 120 counted_as_launched
    is "$way: $outside dispatches are counted from outside" "$(unseen_queues '[.[].dispatches] | add')" "$outside"
    is "$way: dispatches from outside are untimed as observed" "$(query_frame .dispatches.untimed.observed)" "$outside"
    is "$way: the library counts the other dispatches" \
        "$(query_frame "[.queues[] | select(.way == \"$way\") | .dispatches] | add // 0")" "$inside"
    is "$way: the library's dispatches are timed" "$(query_frame .dispatches.timed)" "$inside"
    is "$way: queues from outside have the reason past_library" "$(unseen_queues '[.[].way_why] | unique | join(" ")')" past_library
    is "$way: all queues belong to the one GPU" "$(query_frame '[.queues[].gpu] | unique | length') $(query_frame '.gpus | length')" "1 1"
    is "$way: the process's mode is default" "$(query_frame .mode)" default
    has "$way: text has the rate of observed dispatches" "$("$O/rtl-top" -p "$program" -b -n 6 -d 1 2>&1)" 'NOT timed of .*observed [0-9.]+'
    end_process "$observer"
    is "$way: --no-observe shows only what the library sees" \
        "$("$O/rtl-top" -p "$program" --no-observe --json -n 2 -d 2.5 | tail -n 1 | jq -c '[.dispatches.counted, (.queues | length)]')" "[$inside,$((4 - unseen))]"
    # Kernels that the unseen queues run first; a queue that is made while rtl-top watches
    start_viewer
    wait_until 60 sees_unseen "$unseen"
    send_all load
    send_all past 1
    send_all run 3000 0 10 500
    send_all "done"
    sed -i '1,/^done/d' "$work/out" # the second tally includes the first
    check "$way: later kernels and queues are counted" wait_until 120 counted_as_launched
    close_play
    is "$way: the program's exit status is 0" "$status" 0
    wait "$observer"
    is "$way: rtl-top exits with 6" $? 6
done
unset RTL_QUEUES

# If the library sees all queues, rtl-top shows only these, also later.
tools=$library
play 3
start_viewer
send_all run 3000 3 20 1000
send_all cycle 4
send_all "done"
frames=$(wc -l <"$work/json")
wait_until 60 sh -c "test \$(wc -l <'$work/json') -gt $((frames + 15))"
is "no unseen queue: no queue is listed twice" "$(unseen_queues length) $(query_frame .dispatches.untimed.observed)" "0 0"
is "no unseen queue: counts equal the library's" "$(query_frame .dispatches.counted)" 3040
close_play
wait "$observer"
finish
