#!/bin/sh
# rtl-top --trace with a ring of random data: it ends on a signal, with the recorded rows, after a bounded amount of work, and
# reports what it found.
. "$(dirname "$0")/tap.sh"

top=$O/rtl-top
sql() { sqlite3 "$1" "$2" 2>&1; }

# start_random ARGS-OF-trace_nonsense...: start it; $program is its pid
start_random() {
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in"
    "$O/tests/programs/trace_nonsense" "$@" <"$work/in" >"$work/out" &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 30 grep -q ready "$work/out"
}
start_recorder() { # FILE: start a recorder and wait for its first row; $recorder is its pid
    "$top" -p "$program" --trace "$1" 2>"$work/said" 3>&- &
    recorder=$!
    tap_pids="$tap_pids $recorder"
    wait_until 60 sh -c "sqlite3 '$1' 'SELECT count(*) FROM rocpd_metadata' | grep -q '[1-9]'"
}
recorder_ended() { ! is_alive "$recorder"; }

start_random
for signal in TERM INT; do
    start_recorder "$work/$signal.db"
    kill -"$signal" "$recorder"
    check "SIG$signal: ends the recorder" wait_until 60 recorder_ended
    wait "$recorder"
    is "SIG$signal: exit status is 0" "$?" 0
    is "SIG$signal: the file passes SQLite's integrity check" "$(sql "$work/$signal.db" 'PRAGMA integrity_check')" ok
    is "SIG$signal: the file has the ring's records" "$(sql "$work/$signal.db" 'SELECT count(*) FROM rocpd_op')" 262144
    is "SIG$signal: unknown queues are one for each GPU" "$(sql "$work/$signal.db" "SELECT count(*) FROM rocpd_metadata
        WHERE tag GLOB 'queue *' AND json_extract(value, '\$.kind') = 'unknown'")" 65
    check "SIG$signal: the number of queues is bounded" test \
        "$(sql "$work/$signal.db" "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'queue *'")" -le 65700
    has "SIG$signal: the message has the number of unknown queues" "$(cat "$work/said")" '[0-9]+ name a queue or GPU that the process does not have'
    is "SIG$signal: the message is one line" "$(grep -c 'dispatches and [0-9]* copies of process' "$work/said")" 1
done
exec 3>&-
wait "$program"

# A process that writes faster than rtl-top reads: rtl-top doesn't wait for records after the signal.
start_random 300000 endless
start_recorder "$work/endless.db"
kill -TERM "$recorder"
check "ring fills faster than it is read: a signal ends the recorder" wait_until 60 recorder_ended
wait "$recorder"
is "ring fills faster than it is read: exit status is 0" "$?" 0
has "ring fills faster than it is read: the message has the losses" "$(cat "$work/said")" ', [1-9][0-9]* lost'
exec 3>&-
wait "$program"

# Two signals while another program locks the file: rtl-top leaves the remaining records out and counts them.
start_random 300000 endless
start_recorder "$work/twice.db"
mkfifo "$work/lock"
sqlite3 "$work/twice.db" <"$work/lock" >"$work/locked" 2>&1 3>&- &
locker=$!
tap_pids="$tap_pids $locker"
exec 4>"$work/lock"
echo '.timeout 30000
BEGIN IMMEDIATE; SELECT 1;' >&4
wait_until 30 grep -q 1 "$work/locked"
kill -TERM "$recorder"
check "file locked: rtl-top says what a second signal does" wait_until 30 grep -q 'another signal (Ctrl-C) skips them' "$work/said"
kill -TERM "$recorder"
wait_until 60 grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$recorder/status"
echo 'COMMIT;' >&4
exec 4>&-
check "file locked: a second signal ends the recorder" wait_until 60 recorder_ended
wait "$recorder"
is "file locked: exit status is 0" "$?" 0
has "file locked: the message has the omitted records" "$(cat "$work/said")" '[1-9][0-9]* more were left out'
is "file locked: the number of rows is right" "$(sql "$work/twice.db" "SELECT json_extract(value, '\$.rows') FROM rocpd_metadata WHERE tag = 'recording 0'")" \
    "$(sql "$work/twice.db" 'SELECT count(*) FROM rocpd_op')"
exec 3>&-
wait "$program" "$locker"

# 10,000 queues one after another: each gets a number.
start_random 10000 honest
check "10,000 queues: rtl-top --trace succeeds" "$top" -p "$program" --trace "$work/honest.db" -n 1 -d 0.1
is "10,000 queues: the trace has 10,000 queues" "$(sql "$work/honest.db" 'SELECT count(DISTINCT queueId) FROM rocpd_op')" 10000
is "10,000 queues: no queue is unknown" "$(sql "$work/honest.db" "SELECT json_extract(value, '\$.unknown') FROM rocpd_metadata WHERE tag = 'recording 0'")" 0
exec 3>&-
wait "$program"
finish
