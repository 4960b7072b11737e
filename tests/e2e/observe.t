#!/bin/sh
# A process that was started without the library, observed from outside: its kernels by name, counted exactly, its queues;
# in all outputs, recorded and replayed; and what can't be observed, said at once.
# shellcheck disable=SC2119 # observe: with options of rtl-top, or without
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

play 4 16384
observe
has "it is observed" "$(frame .mode)" '^observed$'
tell_all run 40000 7 60 1000
tell_all "done"
check "every dispatch is counted, by name" wait_until 120 counted_as_launched
is "nothing was lost" "$(frame .observed.packets_lost)" 0
is "its four queues are there, beside the runtime's own" "$(frame '[.queues[] | select(.dispatches > 5000)] | length')" 4
is "as observed ones" "$(frame '[.queues[].way] | unique | join(" ")')" observed
nothing_in_flight() { [ "$(frame '[.queues[].depth] | add')" = 0 ]; }
check "nothing is in flight any more" wait_until 60 nothing_in_flight # a look at each queue later than its last packet
tell_all load
tell_all run 3000 0 100 500
tell_all "done"
sed -i '1,/^done/d' "$work/out" # the second tally holds the first
check "kernels that are loaded later, too" wait_until 120 counted_as_launched
close_play
is "the program came to its end" "$status" 0
wait_until 120 sh -c "! kill -0 $observer 2>/dev/null || grep -q zombie /proc/$observer/status"
wait "$observer"
is "and so did rtl-top, with its own status for that" $? 6
is "which said nothing on standard error" "$(cat "$work/observe.err")" ""

# known at once: what the rings still have
play 4
tell_all run 8000 0 20 0
tell_all "done"
"$O/rtl-top" -p "$program" --json -n 1 >"$work/json"
check "without an option: what ran before, as far as the rings have it" counted_as_launched
is "what isn't measured is null" "$(jq -c '[.signals[], .gpus[0].idle, .gpus[0].pci | . == null] | unique' "$work/json")" '[true]'
has "a snapshot says what it has" "$("$O/rtl-top" snapshot -p "$program" "$work/seen.db")" 'kernels of process .*, seen from outside: calls exact'
has "in text" "$("$O/rtl-top" -p "$program" -b -n 1)" '^OBSERVED from outside: calls exact'
has "in CSV" "$("$O/rtl-top" -p "$program" --csv -n 1)" 'fast00'
has "where estimates have a column" "$("$O/rtl-top" -p "$program" --csv -n 1 | head -n 1)" ',estimated_ns$'
is "a GPU whose address isn't told has none in JSON" "$(jq -c '[.gpus[].pci] | unique' "$work/json")" "[null]"
check "recorded" "$O/rtl-top" -p "$program" -w "$work/run.db" -b -n 2 -d 0.2
has "and replayed" "$("$O/rtl-top" -r "$work/run.db" -b -n 1)" 'fast00'
is "as what it was" "$("$O/rtl-top" -r "$work/run.db" --json -n 1 | jq -r '.mode, .observed.packets_lost' | tr '\n' ' ')" "observed 0 "
"$O/rtl-top" -p "$program" --no-observe -b -n 1 >"$work/no.out" 2>"$work/no.err"
is "--no-observe: not traced" $? 3
close_play

# who holds the driver's file is in the list, and whether it can be observed
if unshare -m sh -c 'mount -t tmpfs none /dev' 2>/dev/null; then
    unshare -m sh -c 'mount -t tmpfs none /dev && touch /dev/kfd && exec sleep 600 3</dev/kfd' &
    holder=$!
    tap_pids="$tap_pids $holder"
    wait_until 60 sh -c "ls -l /proc/$holder/fd | grep -q '/dev/kfd'"
    watches_all
    has "list: one that isn't traced can be observed" "$("$O/rtl-top" list)" "^ *$holder .* not traced, observable: rtl-top -p"
    is "list: in JSON, too" "$("$O/rtl-top" list --json | jq ".processes[] | select(.pid == $holder) | .observable")" true
    among_all
    end_process "$holder" KILL
else
    skip "list: one that isn't traced can be observed" "the kernel refuses unshare -m"
fi

sleep 100 3>&- &
tap_pids="$tap_pids $!"
"$O/rtl-top" -p $! --observe -b -n 1 2>"$work/no.err"
is "a process that isn't ROCm's can't be observed" $? 3
has "which it says" "$(cat "$work/no.err")" 'has no HSA runtime'
end_process $! KILL
finish
