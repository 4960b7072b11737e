#!/bin/sh
# A process that was started without the library, observed from outside. Its kernels are counted exactly, by name; its queues
# are listed; in all outputs, recorded and replayed. If a process can't be observed, rtl-top says so at once.
# shellcheck disable=SC2119 # observe has optional arguments
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

play 4 16384
observe
has "observed: JSON has the mode" "$(query_frame .mode)" '^observed$'
send_all run 40000 7 60 1000
send_all "done"
check "observed: every dispatch is counted, by name" wait_until 120 counted_as_launched
is "observed: no packet is lost" "$(query_frame .observed.packets_lost)" 0
is "observed: the program's four queues are listed" "$(query_frame '[.queues[] | select(.dispatches > 5000)] | length')" 4
is "observed: queues have the path observed" "$(query_frame '[.queues[].way] | unique | join(" ")')" observed
nothing_in_flight() { [ "$(query_frame '[.queues[].depth] | add')" = 0 ]; }
check "observed: no dispatch is in flight at the end" wait_until 60 nothing_in_flight # each queue is sampled after its last packet
send_all load
send_all run 3000 0 100 500
send_all "done"
sed -i '1,/^done/d' "$work/out" # the second tally includes the first
check "observed: kernels that are loaded later are counted" wait_until 120 counted_as_launched
close_play
is "observed: the program's exit status is 0" "$status" 0
wait_until 120 sh -c "! kill -0 $observer 2>/dev/null || grep -q zombie /proc/$observer/status"
wait "$observer"
is "observed: rtl-top exits with 6" $? 6
is "observed: rtl-top's standard error is empty" "$(cat "$work/observe.err")" ""

# Known at once: the packets that the rings still hold
play 4
send_all run 8000 0 20 0
send_all "done"
"$O/rtl-top" -p "$program" --json -n 1 >"$work/json"
check "attached later: dispatches still in the rings are counted" counted_as_launched
is "observed: JSON has null where nothing is measured" "$(jq -c '[.signals[], .gpus[0].idle, .gpus[0].pci | . == null] | unique' "$work/json")" '[true]'
has "snapshot of an observed process: says what it has" "$("$O/rtl-top" snapshot -p "$program" "$work/seen.db")" 'kernels of process .*, seen from outside: calls exact'
has "observed: text says so" "$("$O/rtl-top" -p "$program" -b -n 1)" '^OBSERVED from outside: calls exact'
has "observed: CSV has the kernels" "$("$O/rtl-top" -p "$program" --csv -n 1)" 'fast00'
has "observed: CSV has a column for estimates" "$("$O/rtl-top" -p "$program" --csv -n 1 | head -n 1)" ',estimated_ns$'
is "observed: a GPU of unknown address has null in JSON" "$(jq -c '[.gpus[].pci] | unique' "$work/json")" "[null]"
check "observed: a recording is written" "$O/rtl-top" -p "$program" -w "$work/run.db" -b -n 2 -d 0.2
has "observed: a replay has the kernels" "$("$O/rtl-top" -r "$work/run.db" -b -n 1)" 'fast00'
is "observed: a replay has the mode and the lost packets" "$("$O/rtl-top" -r "$work/run.db" --json -n 1 | jq -r '.mode, .observed.packets_lost' | tr '\n' ' ')" "observed 0 "
"$O/rtl-top" -p "$program" --no-observe -b -n 1 >"$work/no.out" 2>"$work/no.err"
is "--no-observe: rtl-top exits with 3" $? 3
close_play

# A process that holds the driver's file is in the list, with whether it can be observed.
if unshare -m sh -c 'mount -t tmpfs none /dev' 2>/dev/null; then
    unshare -m sh -c 'mount -t tmpfs none /dev && touch /dev/kfd && exec sleep 600 3</dev/kfd' &
    holder=$!
    tap_pids="$tap_pids $holder"
    wait_until 60 sh -c "ls -l /proc/$holder/fd | grep -q '/dev/kfd'"
    lock_for_viewing_all
    has "list: an untraced process can be observed" "$("$O/rtl-top" list)" "^ *$holder .* not traced, observable: rtl-top -p"
    is "list --json: an untraced process can be observed" "$("$O/rtl-top" list --json | jq ".processes[] | select(.pid == $holder) | .observable")" true
    unlock_viewing
    end_process "$holder" KILL
else
    skip "list: an untraced process can be observed" "the kernel refuses unshare -m"
fi

sleep 100 3>&- &
tap_pids="$tap_pids $!"
"$O/rtl-top" -p $! --observe -b -n 1 2>"$work/no.err"
is "--observe of a process without ROCm: exits with 3" $? 3
has "--observe of a process without ROCm: says so" "$(cat "$work/no.err")" 'has no HSA runtime'
end_process $! KILL
finish
