#!/bin/sh
# Observed processes: with many queues, with short-lived queues, stopped, ended, in a container, of another user, with a
# private or deleted runtime, and together with traced ones.
# shellcheck disable=SC2119 # observe has optional arguments
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/observe.sh"

check_end() {
    close_play
    is "$1: the program's exit status is 0" "$status" 0
    wait "$observer"
    is "$1: rtl-top exits with 6" $? 6
}

play 64 1024
observe
queues_found() { [ "$(query_frame '[.queues[] | select(.depth == 0)] | length >= 64')" = true ]; }
check "64 queues: all are found" wait_until 60 queues_found
send_all run 12800 0 30 500
send_all "done"
check "64 queues: counts equal the program's" wait_until 120 counted_as_launched
check_end "64 queues"

play 1
observe
send_all cycle 12
send_all "done"
# rtl-top finds a new queue within about a second; a queue that lives shorter may be missed.
check "short-lived queues: at most the launches are counted" sh -c "
    test \"\$(tail -n 2 '$work/json' | head -n 1 | jq '[.kernels[] | select(.name | startswith(\"(\") | not) | .calls] | add // 0')\" -le 120"
send_all run 2000 0 10 300
sed -i '1,/^done/d' "$work/out"
check_end "short-lived queues"

play 2
observe
kill -STOP "$program"
before=$(wc -l <"$work/json")
check "a stopped process: rtl-top goes on printing frames" wait_until 60 sh -c "test \$(wc -l <'$work/json') -gt $((before + 3))"
kill -CONT "$program"
send_all run 3000 5 20 500
send_all "done"
check "a continued process: counts equal the program's" wait_until 120 counted_as_launched
kill -KILL "$program"
wait "$program" 2>/dev/null
wait "$observer"
is "a process killed while observed: rtl-top exits with 6" $? 6
exec 3>&-

# A program that doesn't use the runtime's functions
play 1 256
observe
send_all own 3000
send_all run 2000 0 20 1000
send_all "done"
check "own doorbell: counts equal the program's" wait_until 120 counted_as_launched
check_end "own doorbell"

# The GPU's only cooperative queue; a forked child, which has its parent's memory except for the queues
play 1
observe
send_all coop
count_queues() { query_frame '.queues | length'; }
before=$(count_queues)
queues_found() { [ "$(count_queues)" -gt "$before" ]; }
check "a cooperative queue: it is found" wait_until 60 queues_found
send_all run 1500 0 20 2000 # the runtime makes its ring, which is short
send_all fork
child=$(sed -n 's/^child //p' "$work/out")
"$O/rtl-top" -p "$program" --json -n 1 >"$work/family"
is "a forked child: it is not listed" "$(jq -r '[.mode, (.processes // [] | length)] | join(" ")' "$work/family")" "observed 0"
send_all run 1500 0 20 2000
send_all "done"
check "a cooperative queue and a forked child: counts equal the program's" wait_until 120 counted_as_launched
kill -9 "$child" 2>/dev/null
check_end "a cooperative queue and a fork"

# A private runtime: loaded with RTLD_LOCAL; and from a deleted file of another name.
play 1
runtime=$(awk '/libhsa-runtime64/ { print $6; exit }' "/proc/$program/maps")
close_play

# A program that has the runtime and uses no GPU: rtl-top says at once that it has nothing to observe.
if [ -z "${RTL_RELEASE:-}" ]; then # a newer release needs a newer libc
    LD_PRELOAD=$runtime sleep 600 3>&- 2>"$work/err" &
    sleeper=$!
    tap_pids="$tap_pids $sleeper"
    wait_until 60 grep -q libhsa-runtime64 "/proc/$sleeper/maps"
    "$O/rtl-top" -p "$sleeper" -b -n 1 >"$work/no.out" 2>"$work/no.err"
    is "the runtime without GPU: rtl-top exits with 3" "$? $(wc -l <"$work/no.out")" "3 0"
    has "the runtime without GPU: rtl-top says that it has nothing to observe" "$(cat "$work/no.err")" 'no queue and no kernel so far to be observed'
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
        check "a runtime deleted on disk: the program still has it mapped" grep -q 'another-name.so (deleted)' "/proc/$program/maps"
        check "a runtime deleted on disk: there is no other" sh -c "! grep -q libhsa-runtime64 /proc/$program/maps"
    fi
    send_all run 2000 0 20 0
    observe
    send_all run 4000 5 30 500
    send_all "done"
    check "a runtime $case: counts equal the program's" wait_until 120 counted_as_launched
    check_end "a runtime $case"
done
begin=

# A container: other process numbers, and kernels and a runtime in files that exist only inside
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
    check "$name: the program is process 1 inside" grep -qE "^NSpid:.*[[:space:]]1\$" "/proc/$program/status"
    check "$name: its files exist only inside" test ! -e "$work/box/another-name.so"
    send_all run 1000 0 20 0
    observe
    send_all run 3000 5 30 500
    send_all load
    send_all run 1000 0 30 500
    send_all "done"
    check "$name: counts equal the program's" wait_until 120 counted_as_launched
    is "$name: JSON has the host's number" "$(query_frame '.pid // .process.pid')" "$program"
    program=$outer
    check_end "$name"
done
begin=
under=

# 20 GB that are not resident: rtl-top doesn't read them and doesn't make them resident.
play 1
send_all map 20
resident=$(awk '/^Rss:/ { n += $2 } END { print n }' "/proc/$program/smaps")
send_all run 2000 0 20 200
send_all "done"
"$O/rtl-top" -p "$program" --json -n 1 >"$work/json"
check "20 GB of memory: counts equal the program's" counted_as_launched
after=$(awk '/^Rss:/ { n += $2 } END { print n }' "/proc/$program/smaps")
check "20 GB of memory: observing makes nothing resident" test "$after" -lt $((resident + 65536))
# The bytes that attaching reads: on a loaded machine a better measure than its time (tests/bench/observe measures that).
# All page starts of 20 GB would be 5,242,880 reads and a gigabyte.
if strace -o "$work/reads" -f -e trace=process_vm_readv "$O/rtl-top" -p "$program" -b -n 1 --window all >"$work/text" 2>/dev/null 3>&-; then
    bytes=$(awk '/process_vm_readv/ && $NF > 0 { n += $NF } END { print n + 0 }' "$work/reads")
    echo "# of its memory: $bytes bytes in $(grep -c process_vm_readv "$work/reads") calls"
    check "20 GB of memory: attaching reads less than 4 MB" test "$bytes" -gt 1000 -a "$bytes" -lt 4000000
    check "20 GB of memory: attaching reads in less than 2000 calls" test "$(grep -c process_vm_readv "$work/reads")" -lt 2000
else
    skip "20 GB of memory: attaching reads less than 4 MB" "strace is missing or not allowed"
fi
close_play

# A traced process and an observed one together
play 1
mkfifo "$work/idle"
exec 4<>"$work/idle"
send_all run 300 0 5 0
on_gpu --script "$work/script" -- "$O/tests/programs/observe_play" 1 <"$work/idle" >"$work/out2" 2>&1 &
other=$!
tap_pids="$tap_pids $other"
wait_until 60 grep -q '^ready' "$work/out2"
"$O/rtl-top" -p "$program,$other" --json -n 2 -d 0.3 2>&1 3>&- | tail -n 1 >"$work/mixed"
is "traced and observed together: JSON has the mode of each" \
    "$(jq -r '[.mode] + [.processes[].mode] | sort | join(" ")' "$work/mixed")" "default mixed observed"
end_process "$other" KILL
close_play

# Memory that doesn't answer: a read of it blocks, but not the drawing thread.

export LD_BIND_NOW=1 # so that the program needs no more symbol lookups in the library
play stuck
unset LD_BIND_NOW
if grep -q '^stuck' "$work/out"; then
    skip "memory that doesn't answer" "the kernel doesn't allow userfaultfd"
    close_play
else
    "$O/rtl-top" -p "$program" --observe -b -n 1 >"$work/no.out" 2>"$work/no.err"
    is "memory that doesn't answer: rtl-top exits with 1" $? 1
    has "memory that doesn't answer: rtl-top says so" "$(cat "$work/no.err")" "its memory doesn't answer"
    close_play
    play 1
    observe -n 80
    send_all run 1000 0 10 0
    all_seen() { [ "$(query_frame '[.kernels[] | select(.name | startswith("(") | not) | .calls] | add')" = 1000 ]; }
    check "memory that stops answering: counts are right before" wait_until 60 all_seen
    send stick
    frames=$(wc -l <"$work/json")
    check "memory that stops answering: rtl-top goes on printing frames" wait_until 60 sh -c "test \$(wc -l <'$work/json') -gt $((frames + 8))"
    check "memory that stops answering: the last counts stay" all_seen
    wait "$observer"
    is "memory that stops answering: rtl-top ends without waiting" $? 0
    exec 3>&-
    kill -9 "$program"
    wait "$program" 2>/dev/null
fi

if can_be_other_user "another user's process"; then
    play 1
    send_all run 100 0 5 0
    cp "$O/rtl-top" "$work/rtl-top"
    chmod 755 "$work" "$work/rtl-top"
    setpriv --reuid 65534 --regid 65534 --clear-groups "$work/rtl-top" -p "$program" -b -n 1 >"$work/no.out" 2>"$work/no.err"
    is "another user's process: rtl-top exits with 4" $? 4
    has "another user's process: rtl-top says what to do" "$(cat "$work/no.err")" 'sudo'
    is "another user's process: rtl-top prints one line" "$(wc -l <"$work/no.err")" 1
    close_play
    # A process of the same user that becomes unreadable while it is observed: known queues are still read.
    chmod 777 "$work"
    under='setpriv --reuid 65534 --regid 65534 --clear-groups'
    # shellcheck disable=SC2086 # several words
    if $under test -x "$tap_top/$O/tests/programs/observe_play"; then
        play 2
        rm -f "$work/json" "$work/text" # of earlier processes: their new frames are waited for
        # shellcheck disable=SC2086 # several words
        $under "$work/rtl-top" -p "$program" --observe --no-children --json -d 0.2 >"$work/json" 2>"$work/observe.err" 3>&- &
        observer=$!
        # shellcheck disable=SC2086
        $under "$work/rtl-top" -p "$program" --observe --no-children -b -d 0.2 >"$work/text" 2>&1 3>&- &
        reader=$!
        tap_pids="$tap_pids $observer $reader"
        wait_until 60 test -s "$work/json" -a -s "$work/text"
        check "a process that becomes unreadable: at first all memory is searched" sh -c "! grep 'not all memory was searched' '$work/text'"
        send_all hide
        check "a process that becomes unreadable: rtl-top says so" wait_until 60 grep 'not all memory was searched' "$work/text"
        send_all run 2000 0 20 500
        send_all "done"
        check "a process that becomes unreadable: counts equal the program's" wait_until 120 counted_as_launched
        close_play
        wait "$observer"
        is "a process that becomes unreadable: rtl-top exits with 6 at its end" $? 6
        wait "$reader"
    else
        skip "a process that becomes unreadable" "other users can't run programs in this folder"
    fi
    under=
    # A process of the same user that isn't dumpable; and a kernel that forbids reading other processes
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
    is "dumpable=0: rtl-top exits with 4" $? 4
    has "dumpable=0: rtl-top says so" "$(cat "$work/no.err")" 'is yours .* but not dumpable'
    mkdir "$work/yama"
    echo 1 >"$work/yama/ptrace_scope"
    if unshare -m sh -c "mount -t tmpfs none /proc/sys/kernel && cp -r '$work/yama' /proc/sys/kernel/yama" 2>/dev/null; then
        unshare -m sh -c "mount -t tmpfs none /proc/sys/kernel && cp -r '$work/yama' /proc/sys/kernel/yama &&
            exec $as_nobody '$work/rtl-top' -p $hidden --observe -b -n 1" 2>"$work/no.err"
        is "ptrace_scope 1: rtl-top exits with 4" $? 4
        has "ptrace_scope 1: rtl-top names it and says what to do" "$(cat "$work/no.err")" 'ptrace_scope is 1.*sudo rtl-top -p'
    else
        skip "ptrace_scope 1" "the kernel refuses mounts"
    fi
    end_process "$hidden" KILL
fi
finish
