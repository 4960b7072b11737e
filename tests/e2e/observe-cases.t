#!/bin/sh
# What an observed process may be like: many queues, queues that come and go, several GPUs, stopped, ended, another user's,
# its runtime deleted, one of several of which some are traced.
# shellcheck disable=SC2119 # observe: with options of rtl-top, or without
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

ends_well() {
    close_play
    is "$1: the program came to its end" "$status" 0
    wait "$observer"
    is "$1: and rtl-top saw it" $? 6
}

play 64 1024
observe
found() { [ "$(frame '[.queues[] | select(.depth == 0)] | length >= 64')" = true ]; }
check "64 queues are found" wait_until 60 found
tell_all run 12800 0 30 500
tell_all "done"
check "64 queues: exact" wait_until 120 counted_as_launched
ends_well "64 queues"

play 1
observe
tell_all cycle 12
tell_all "done"
# a queue is found within a second or so; what one did that came and went in between is not known
check "queues that come and go: never more than was launched" sh -c "
    test \"\$(tail -n 2 '$work/json' | head -n 1 | jq '[.kernels[] | select(.name | startswith(\"(\") | not) | .calls] | add // 0')\" -le 120"
tell_all run 2000 0 10 300
sed -i '1,/^done/d' "$work/out"
ends_well "queues that come and go"

play 2
observe
kill -STOP "$program"
before=$(wc -l <"$work/json")
check "a stopped process is looked at all the same" wait_until 60 sh -c "test \$(wc -l <'$work/json') -gt $((before + 3))"
kill -CONT "$program"
tell_all run 3000 5 20 500
tell_all "done"
check "and counted when it goes on" wait_until 120 counted_as_launched
kill -KILL "$program"
wait "$program" 2>/dev/null
wait "$observer"
is "killed while it is watched: status" $? 6
exec 3>&-

# one of several is traced
play 1
mkfifo "$work/idle"
exec 4<>"$work/idle"
tell_all run 300 0 5 0
on_gpu --script "$work/script" -- "$O/tests/programs/observe_play" 1 <"$work/idle" >"$work/out2" 2>&1 &
other=$!
tap_pids="$tap_pids $other"
wait_until 60 grep -q '^ready' "$work/out2"
"$O/rtl-top" -p "$program,$other" --json -n 2 -d 0.3 2>&1 3>&- | tail -n 1 >"$work/mixed"
is "traced and observed ones together: the mode of each is told" \
    "$(jq -r '[.mode] + [.processes[].mode] | sort | join(" ")' "$work/mixed")" "default mixed observed"
end_process "$other" KILL
close_play

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    play 1
    tell_all run 100 0 5 0
    cp "$O/rtl-top" "$work/rtl-top"
    chmod 755 "$work" "$work/rtl-top"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$work/rtl-top" -p "$program" -b -n 1 >"$work/no.out" 2>"$work/no.err"
    is "another user's process: permission" $? 4
    has "which it says, and what to do" "$(cat "$work/no.err")" 'sudo'
    is "one line of it" "$(wc -l <"$work/no.err")" 1
    close_play
fi
finish
