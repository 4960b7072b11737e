#!/bin/sh
# What an observed process may be like: many queues, queues that come and go, stopped, ended, in a container, another user's,
# its runtime its own or deleted, one of several of which some are traced.
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

# a program that does without the runtime's functions
play 1 256
observe
tell_all own 3000
tell_all run 2000 0 20 1000
tell_all "done"
check "own doorbell: exact" wait_until 120 counted_as_launched
ends_well "own doorbell"

# the GPU's one cooperative queue; a fork, which has its parent's memory but for the queues
play 1
observe
tell_all coop
queues() { frame '.queues | length'; }
before=$(queues)
found() { [ "$(queues)" -gt "$before" ]; }
check "a cooperative queue is found" wait_until 60 found
tell_all run 1500 0 20 2000 # its ring is the runtime's, and short
tell_all fork
child=$(sed -n 's/^child //p' "$work/out")
"$O/rtl-top" -p "$program" --json -n 1 >"$work/family"
is "a fork is no second one" "$(jq -r '[.mode, (.processes // [] | length)] | join(" ")' "$work/family")" "observed 0"
tell_all run 1500 0 20 2000
tell_all "done"
check "cooperative queues: exact, and a fork changes nothing" wait_until 120 counted_as_launched
kill -9 "$child" 2>/dev/null
ends_well "a cooperative queue and a fork"

# its runtime is nobody else's: loaded by hand, for itself alone; and from a file of another name, which is gone
play 1
runtime=$(awk '/libhsa-runtime64/ { print $6; exit }' "/proc/$program/maps")
close_play

# a program that has the runtime and uses no GPU: there is nothing to be seen, which is said at once
if [ -z "${RTL_RELEASE:-}" ]; then # a newer release's needs a newer libc
    LD_PRELOAD=$runtime sleep 600 3>&- 2>"$work/err" &
    sleeper=$!
    tap_pids="$tap_pids $sleeper"
    wait_until 60 grep -q libhsa-runtime64 "/proc/$sleeper/maps"
    "$O/rtl-top" -p "$sleeper" -b -n 1 >"$work/no.out" 2>"$work/no.err"
    is "the runtime and no GPU: not traced" "$? $(wc -l <"$work/no.out")" "3 0"
    has "and nothing to be observed" "$(cat "$work/no.err")" 'no queue and no kernel so far to be observed'
    end_process "$sleeper"
fi

cp "$runtime" "$work/another-name.so"
for file in "$runtime" "$work/another-name.so"; do
    begin="$O/tests/programs/observe_local $file $O/tests/programs/observe_play.so"
    play 2
    case=RTLD_LOCAL
    if [ "$file" != "$runtime" ]; then
        case="deleted on disk"
        rm "$file"
        check "the runtime's file is gone" grep -q 'another-name.so (deleted)' "/proc/$program/maps"
        check "and there is no other" sh -c "! grep -q libhsa-runtime64 /proc/$program/maps"
    fi
    tell_all run 2000 0 20 0
    observe
    tell_all run 4000 5 30 500
    tell_all "done"
    check "a runtime $case: exact, by name" wait_until 120 counted_as_launched
    ends_well "a runtime $case"
done
begin=

# in a container: other numbers of processes, and kernels and a runtime from files that only it has
for how in -pfm -Urpfm; do
    name="a container (unshare $how)"
    if ! unshare "$how" --mount-proc true 2>/dev/null; then
        skip "$name" "the kernel refuses unshare $how"
        continue
    fi
    mkdir -p "$work/box"
    cat >"$work/enter" <<END
mount -t tmpfs none '$work/box' && cp '$INTERCEPT_KERNELS'/kernels-*.co '$work/another-name.so' '$work/box' || exit 77
export INTERCEPT_KERNELS='$work/box'
exec "\$@"
END
    cp "$runtime" "$work/another-name.so"
    under="unshare $how --mount-proc --kill-child sh $work/enter"
    begin="$O/tests/programs/observe_local $work/box/another-name.so $O/tests/programs/observe_play.so"
    play 2 1024
    outer=$program
    program=$(tr -d ' ' <"/proc/$outer/task/$outer/children")
    check "$name: it is process 1 in there" grep -qE "^NSpid:.*[[:space:]]1\$" "/proc/$program/status"
    check "$name: its files are there alone" test ! -e "$work/box/another-name.so"
    tell_all run 1000 0 20 0
    observe
    tell_all run 3000 5 30 500
    tell_all load
    tell_all run 1000 0 30 500
    tell_all "done"
    check "$name: exact, by name" wait_until 120 counted_as_launched
    is "$name: by the host's number" "$(frame '.pid // .process.pid')" "$program"
    program=$outer
    ends_well "$name"
done
begin=
under=

# 20 GB that nobody has touched: what isn't there is not looked at, nor does looking make it be there
play 1
tell_all map 20
resident=$(awk '/^Rss:/ { n += $2 } END { print n }' "/proc/$program/smaps")
tell_all run 2000 0 20 200
tell_all "done"
"$O/rtl-top" -p "$program" --json -n 1 >"$work/json"
check "20 GB of memory: counted" counted_as_launched
after=$(awk '/^Rss:/ { n += $2 } END { print n }' "/proc/$program/smaps")
check "20 GB of memory: none of it is there for that" test "$after" -lt $((resident + 65536))
# What attaching reads, which on a loaded machine says more than how long it takes (tests/bench/observe has the time). All
# page starts of 20 GB would be 5,242,880 heads, a gigabyte.
if strace -o "$work/reads" -f -e trace=process_vm_readv "$O/rtl-top" -p "$program" --json -n 1 >"$work/json" 2>/dev/null 3>&-; then
    bytes=$(awk '/process_vm_readv/ && $NF > 0 { n += $NF } END { print n + 0 }' "$work/reads")
    echo "# of its memory: $bytes bytes in $(grep -c process_vm_readv "$work/reads") calls"
    check "20 GB of memory: attaching reads little of it" test "$bytes" -gt 1000 -a "$bytes" -lt 4000000
    check "20 GB of memory: in few calls" test "$(grep -c process_vm_readv "$work/reads")" -lt 2000
else
    skip "20 GB of memory: attaching reads little of it" "strace isn't there, or isn't allowed"
fi
close_play

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

# memory that doesn't answer: whoever reads it waits, and that isn't who draws

export LD_BIND_NOW=1 # the program itself looks for no more names in the library
play stuck
unset LD_BIND_NOW
if grep -q '^stuck' "$work/out"; then
    skip "memory that doesn't answer" "the kernel lets nobody hold up others (userfaultfd)"
    close_play
else
    "$O/rtl-top" -p "$program" --observe -b -n 1 >"$work/no.out" 2>"$work/no.err"
    is "memory that doesn't answer: status" $? 1
    has "memory that doesn't answer: it is said" "$(cat "$work/no.err")" "its memory doesn't answer"
    close_play
    play 1
    observe -n 80
    tell_all run 1000 0 10 0
    all_seen() { [ "$(frame '[.kernels[] | select(.name | startswith("(") | not) | .calls] | add')" = 1000 ]; }
    check "and while it is watched: counted so far" wait_until 60 all_seen
    tell stick
    frames=$(wc -l <"$work/json")
    check "frames go on" wait_until 60 sh -c "test \$(wc -l <'$work/json') -gt $((frames + 8))"
    check "with what was known" all_seen
    wait "$observer"
    is "and rtl-top ends without waiting for it" $? 0
    exec 3>&-
    kill -9 "$program"
    wait "$program" 2>/dev/null
fi

if as_others "another user's process"; then
    play 1
    tell_all run 100 0 5 0
    cp "$O/rtl-top" "$work/rtl-top"
    chmod 755 "$work" "$work/rtl-top"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$work/rtl-top" -p "$program" -b -n 1 >"$work/no.out" 2>"$work/no.err"
    is "another user's process: permission" $? 4
    has "which it says, and what to do" "$(cat "$work/no.err")" 'sudo'
    is "one line of it" "$(wc -l <"$work/no.err")" 1
    close_play
    # the same user's, into which nobody may look any more while it is watched: what is known goes on
    chmod 777 "$work"
    under='setpriv --reuid 65534 --regid 65534 --clear-groups'
    # shellcheck disable=SC2086 # several words
    if $under test -x "$tap_top/$O/tests/programs/observe_play"; then
        play 2
        # shellcheck disable=SC2086 # several words
        $under "$work/rtl-top" -p "$program" --observe --no-children --json -d 0.2 >"$work/json" 2>"$work/observe.err" 3>&- &
        observer=$!
        # shellcheck disable=SC2086
        $under "$work/rtl-top" -p "$program" --observe --no-children -b -d 0.2 >"$work/text" 2>&1 3>&- &
        reader=$!
        tap_pids="$tap_pids $observer $reader"
        wait_until 60 test -s "$work/json" -a -s "$work/text"
        check "so far all memory was searched" sh -c "! grep 'not all memory was searched' '$work/text'"
        tell_all hide
        check "nobody may look into it any more: that is said" wait_until 60 grep 'not all memory was searched' "$work/text"
        tell_all run 2000 0 20 500
        tell_all "done"
        check "and what it launches is counted all the same" wait_until 120 counted_as_launched
        close_play
        wait "$observer"
        is "until it has ended" $? 6
        wait "$reader"
    else
        skip "nobody may look into it any more" "in this folder other users can't run anything"
    fi
    under=
    # the same user's, that nobody may look into; on this system, and on one whose kernel allows nobody to look at others
    chmod 777 "$work"
    cp "$O/tests/programs/observe_play" "$work/play"
    as_nobody='setpriv --reuid 65534 --regid 65534 --clear-groups'
    mkfifo "$work/hold"
    exec 4<>"$work/hold"
    $as_nobody "$work/play" hidden <"$work/hold" >"$work/hidden" 2>&1 3>&- &
    hidden=$!
    tap_pids="$tap_pids $hidden"
    wait_until 60 grep -q '^ready' "$work/hidden"
    $as_nobody "$work/rtl-top" -p "$hidden" --observe -b -n 1 2>"$work/no.err"
    is "dumpable=0: permission" $? 4
    has "dumpable=0: it is said" "$(cat "$work/no.err")" 'is yours .* but not dumpable'
    mkdir "$work/yama"
    echo 1 >"$work/yama/ptrace_scope"
    if unshare -m sh -c "mount -t tmpfs none /proc/sys/kernel && cp -r '$work/yama' /proc/sys/kernel/yama" 2>/dev/null; then
        unshare -m sh -c "mount -t tmpfs none /proc/sys/kernel && cp -r '$work/yama' /proc/sys/kernel/yama &&
            exec $as_nobody '$work/rtl-top' -p $hidden --observe -b -n 1" 2>"$work/no.err"
        is "a system that forbids it: permission" $? 4
        has "a system that forbids it: what does, and what to do" "$(cat "$work/no.err")" 'ptrace_scope is 1.*sudo rtl-top -p'
    else
        skip "a system that forbids it" "the kernel refuses mounts"
    fi
    end_process "$hidden" KILL
fi
finish
