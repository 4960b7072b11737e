#!/bin/sh
# rtl-top --trace on a ring full of nonsense: it ends when it is told to, with what was recorded, after a bounded amount
# of work, and says what it found.
. "$(dirname "$0")/tap.sh"

top=$O/rtl-top
sql() { sqlite3 "$1" "$2" 2>&1; }

# begin ARGS-OF-trace_nonsense...: $program is its pid
begin() {
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in"
    "$O/tests/programs/trace_nonsense" "$@" <"$work/in" >"$work/out" &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
    wait_until 30 grep -q ready "$work/out"
}
record() { # FILE: until it has begun; $recorder is its pid
    "$top" -p "$program" --trace "$1" 2>"$work/said" 3>&- &
    recorder=$!
    tap_pids="$tap_pids $recorder"
    wait_until 60 sh -c "sqlite3 '$1' 'SELECT count(*) FROM rocpd_metadata' | grep -q '[1-9]'"
}
gone() { ! alive "$recorder"; }

begin
for signal in TERM INT; do
    record "$work/$signal.db"
    kill -"$signal" "$recorder"
    check "$signal is heard" wait_until 60 gone
    wait "$recorder"
    is "  and it ends well" "$?" 0
    is "  the file is whole" "$(sql "$work/$signal.db" 'PRAGMA integrity_check')" ok
    is "  what was in the ring is in it" "$(sql "$work/$signal.db" 'SELECT count(*) FROM rocpd_op')" 262144
    is "  queues that never were are one for each GPU" "$(sql "$work/$signal.db" "SELECT count(*) FROM rocpd_metadata
        WHERE tag GLOB 'queue *' AND json_extract(value, '\$.kind') = 'unknown'")" 65
    check "  no more queues than a recording may have" test \
        "$(sql "$work/$signal.db" "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'queue *'")" -le 65700
    has "  and it says so" "$(cat "$work/said")" '[0-9]+ name a queue or GPU that the process does not have'
    is "  in a line" "$(grep -c 'dispatches and [0-9]* copies of process' "$work/said")" 1
done
exec 3>&-
wait "$program"

# a process that writes faster than anybody reads: what comes after the signal is not waited for
begin 300000 endless
record "$work/endless.db"
kill -TERM "$recorder"
check "a signal is heard while the ring fills faster than it is read" wait_until 60 gone
wait "$recorder"
is "  and it ends well" "$?" 0
has "  and it says what it lost" "$(cat "$work/said")" ', [1-9][0-9]* lost'
exec 3>&-
wait "$program"

# twice, while another program holds the file: what is left is left out, and counted
begin 300000 endless
record "$work/twice.db"
mkfifo "$work/lock"
sqlite3 "$work/twice.db" <"$work/lock" >"$work/locked" 2>&1 3>&- &
locker=$!
tap_pids="$tap_pids $locker"
exec 4>"$work/lock"
echo '.timeout 30000
BEGIN IMMEDIATE; SELECT 1;' >&4
wait_until 30 grep -q 1 "$work/locked"
kill -TERM "$recorder"
check "what a second signal does is said when the first one takes long" wait_until 30 grep -q 'another signal (Ctrl-C) leaves it out' "$work/said"
kill -TERM "$recorder"
wait_until 60 grep -q '^ShdPnd:[[:space:]]*0*$' "/proc/$recorder/status"
echo 'COMMIT;' >&4
exec 4>&-
check "two signals are heard" wait_until 60 gone
wait "$recorder"
is "  and it ends well" "$?" 0
has "  and says what it left out" "$(cat "$work/said")" '[1-9][0-9]* more were left out'
is "  rows are what it says" "$(sql "$work/twice.db" "SELECT json_extract(value, '\$.rows') FROM rocpd_metadata WHERE tag = 'recording 0'")" \
    "$(sql "$work/twice.db" 'SELECT count(*) FROM rocpd_op')"
exec 3>&-
wait "$program" "$locker"

# 10,000 queues that were there one after another: one each
begin 10000 honest
check "10,000 queues one after another" "$top" -p "$program" --trace "$work/honest.db" -n 1 -d 0.1
is "  are 10,000 queues" "$(sql "$work/honest.db" 'SELECT count(DISTINCT queueId) FROM rocpd_op')" 10000
is "  and none of them is unknown" "$(sql "$work/honest.db" "SELECT json_extract(value, '\$.unknown') FROM rocpd_metadata WHERE tag = 'recording 0'")" 0
exec 3>&-
wait "$program"
finish
