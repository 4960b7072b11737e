#!/bin/sh
# Recordings without a screen. A replay equals the live output; several recorders share a file; an error is one line with its
# own exit status, and loses no data.
# shellcheck disable=SC2016 # programs of jq
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

sql() { sqlite3 "$1" "$2"; }
is_sound() { [ "$(sqlite3 "$1" 'PRAGMA integrity_check')" = ok ]; }

# exits_with STATUS PATTERN ARGS...: exit status, and one line on stderr that matches
exits_with() {
    wanted=$1 pattern=$2
    shift 2
    "$top" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    cat "$work/err"
    [ "$status" = "$wanted" ] || { echo "status $status"; return 1; }
    [ "$(wc -l <"$work/err")" = 1 ] && grep -qE "^rtl-top: .*$pattern" "$work/err"
}

# --- a process on the software GPU, to its end ---
(on_gpu --gpus 2 -- "$O/tests/programs/serve" --gpus 2 --seconds 4) >"$work/serve.out" 2>&1 &
serve=$!
tap_pids="$tap_pids $serve"
check "a process to its end: it is traced" wait_until 30 is_traced "$serve"
"$top" -p "$serve" --json -d 0.3 -w "$work/real.db" >"$work/live" 2>"$work/err"
is "a process to its end: recording exits with 6" "$? $(cat "$work/err")" "6 "
"$top" -r "$work/real.db" --json >"$work/again"
is "a process to its end: replay exits with 0" "$?" 0
check "a process to its end: there are over four frames" test "$(wc -l <"$work/live")" -gt 4
check "a process to its end: a replay equals the live output byte by byte" cmp "$work/live" "$work/again"
is "a process to its end: the last frame has its exit" "$(sql "$work/real.db" 'SELECT exited FROM rtl_frame ORDER BY id DESC LIMIT 1')" 1
has "a process to its end: the recording has pid, command and runtime" "$(sql "$work/real.db" 'SELECT pid, command, runtime FROM rtl_recording')" \
    "^$serve\|.*serve --gpus 2 --seconds 4\|/.*/libhsa-runtime64\.so"
is "a process to its end: the recording has the GPUs' addresses" "$(sql "$work/real.db" "SELECT count(DISTINCT address) FROM rtl_gpu WHERE address GLOB '????:??:??.?'")" 2

# --- the demo segment, with numbers of all kinds; then parts of the recording ---
start_demo --kernels 60 --gpus 2 --rate 20000
"$top" -p "$demo" --json -n 6 -d 0.2 -w "$work/a.db" >"$work/live"
"$top" -r "$work/a.db" --json >"$work/again"
check "replay --json: equals the live output" cmp "$work/live" "$work/again"
"$top" -p "$demo" --csv -n 4 -d 0.2 -s p99 -F gemm -w "$work/b.db" >"$work/live"
"$top" -r "$work/b.db" --csv -s p99 -F gemm >"$work/again"
check "replay --csv, filtered and sorted: equals the live output" cmp "$work/live" "$work/again"
"$top" -p "$demo" -b -n 4 -d 0.2 -w "$work/a.db" -o "$work/live" --force
"$top" -r "$work/a.db" -b -o "$work/again" --force
check "replay -b of a file's second recording: equals the live output" cmp "$work/live" "$work/again"
is "replay -n: prints that many frames" "$("$top" -r "$work/a.db" --json -n 2 | wc -l)" 2
is "replay --recording: selects a recording" "$("$top" -r "$work/a.db" --recording 1 --json | wc -l)" 6
is "replay -p: selects a process" "$("$top" -r "$work/a.db" -p "$demo" --json | wc -l)" 4
sum='SELECT sum(s.calls), sum(s.timed), sum(s.total_ns) FROM rtl_kernel_sample s JOIN rtl_frame f ON f.id = s.frame WHERE recording = 1'
is "recording: frames add up to the totals" "$(sql "$work/a.db" "$sum")" \
    "$("$top" -r "$work/a.db" --recording 1 --json | tail -n 1 | jq -r '[.kernels | (map(.calls), map(.timed), map(.total_ns // 0)) | add] | map(tostring) | join("|")')"
is "recording: buckets add up to the timed dispatches" \
    "$(sql "$work/a.db" 'SELECT sum(dispatches) FROM rtl_buckets')" "$(sql "$work/a.db" 'SELECT sum(timed) FROM rtl_kernel_sample')"
is "recording: reasons have names" "$(sql "$work/a.db" 'SELECT count(*) FROM rtl_drops WHERE reason IS NULL')" 0

# --- the manual explains every table, view and column ---
mandoc -Tascii man/rtl-top-db.5 | sed 's/.\x08//g' >"$work/manual"
is "rtl-top-db(5): explains every table, view and column" "$(sql "$work/a.db" "SELECT m.name || ' ' || t.name FROM sqlite_master m, pragma_table_info(m.name) t WHERE m.type IN ('table', 'view')" |
    while read -r table column; do
        grep -qw "$table" "$work/manual" || echo "$table"
        grep -qw "$column" "$work/manual" || echo "$table.$column"
    done)" ""
check "recording: the table rtl_frame has over 20 columns" test "$(sql "$work/a.db" 'SELECT count(*) FROM pragma_table_info("rtl_frame")')" -gt 20
is "recording: has application id and version" "$(sql "$work/a.db" 'PRAGMA application_id; PRAGMA user_version' | tr '\n' ' ')" "1381256276 1 "

# --- snapshots and diff ---
"$top" -p "$demo" --snapshot "$work/s.db" >"$work/out"
is "--snapshot: says what it has written" "$? $(cat "$work/out")" "0 60 kernels of process $demo written to $work/s.db"
"$top" -p "$demo" --snapshot "$work/s.db" >/dev/null
is "--snapshot: adds to a file" "$(sql "$work/s.db" "SELECT group_concat(kind), count(*) FROM rtl_recording")" "snapshot,snapshot|2"
is "--snapshot: has all kernels, with both names" "$(sql "$work/s.db" "SELECT count(*) FROM rtl_kernels WHERE recording = 2 AND name != '' AND short_name != ''")" 60
is "--snapshot: a replay has its calls" "$("$top" -r "$work/s.db" --json | jq -c '[.kernels | length, (map(.calls) | add)]')" \
    "$(sql "$work/s.db" "SELECT '[60,' || sum(calls) || ']' FROM rtl_kernels WHERE recording = 2")"
"$top" diff "$work/s.db" "$work/s.db" --recordings 1,2 --fail-over 1000% >"$work/out"
is "diff --fail-over: exits with 0 if nothing got slower" "$?" 0
has "diff: lists kernels" "$(cat "$work/out")" 'gemm TN bf16'
is "diff --json: equal recordings cost nothing" "$("$top" diff "$work/s.db" "$work/s.db" --json | jq -s 'length == 60 and all(.cost_ns == 0)')" true
has "diff of one process: counts from the earlier recording, and says so" "$(cat "$work/out")" '^B .* recording 2 of process [0-9]+, snapshot, [0-9:]+ since A  '
"$top" diff "$work/s.db" "$work/s.db" --recordings 1,2 --json >"$work/diff"
is "diff of one process: counts are those in between, to the dispatch" "$(jq -s -c '[(map(.a.calls) | add), (map(.b.calls) | add)]' "$work/diff")" \
    "$(sql "$work/s.db" "SELECT '[' || a || ',' || (b - a) || ']' FROM (SELECT sum(calls) FILTER (WHERE recording = 1) AS a, sum(calls) FILTER (WHERE recording = 2) AS b FROM rtl_kernels)")"
is "diff --cumulative: counts from the start" "$("$top" diff "$work/s.db" "$work/s.db" --recordings 1,2 --cumulative --json | jq -s 'map(.b.calls) | add')" \
    "$(sql "$work/s.db" 'SELECT sum(calls) FROM rtl_kernels WHERE recording = 2')"
cp "$work/s.db" "$work/slow.db"
# Move every bucket up an octave: twice the time.
sql "$work/slow.db" "UPDATE rtl_kernel_sample SET buckets = '[' || (json_extract(buckets, '\$[0]') + 64) || substr(buckets, instr(buckets, ',')), total_ns = 2 * total_ns, min_ns = 2 * min_ns, max_ns = 2 * max_ns WHERE buckets IS NOT NULL"
"$top" diff "$work/s.db" "$work/slow.db" --fail-over 10% >"$work/out" 2>"$work/err"
is "diff --fail-over: exits with 16 if a kernel is twice as slow" "$?" 16
has "diff --fail-over: marks slower kernels" "$(cat "$work/out")" '^! +\+.*\+100\.[0-9]%.*KERNEL|^! +\+.*\+[0-9]+\.[0-9]%'
"$top" diff "$work/slow.db" "$work/s.db" --fail-over 10% >/dev/null
is "diff --fail-over: exits with 0 if kernels are faster" "$?" 0
check "diff: one file is refused" exits_with 1 'needs two recordings' diff "$work/s.db"
check "diff: a missing file is refused" exits_with 10 'No such file' diff "$work/s.db" "$work/none.db"

# --- several recorders at a time ---
first=$demo
start_demo --kernels 20 --rate 5000
for process in "$first" "$first" "$demo"; do
    "$top" -p "$process" --json -n 12 -d 0.1 -w "$work/many.db" >"$work/live.$process.$!" 2>>"$work/many.err" &
    writers="${writers-} $!"
done
for writer in $writers; do wait "$writer" || echo "$?" >>"$work/many.err"; done
is "three recorders: share a file without an error" "$(cat "$work/many.err")" ""
is "three recorders: each has its frames" "$(sql "$work/many.db" 'SELECT group_concat(n) FROM (SELECT count(*) AS n FROM rtl_frame GROUP BY recording)')" 12,12,12
for number in 1 2 3; do "$top" -r "$work/many.db" --recording $number --json | cksum; done | sort >"$work/sums"
is "three recorders: each replay equals its live output" "$(cat "$work/sums")" "$(for file in "$work"/live.*; do cksum <"$file"; done | sort)"

# --- a killed recorder ---
"$top" -p "$demo" --json -d 0.05 -w "$work/killed.db" >"$work/live.killed" &
recorder=$!
tap_pids="$tap_pids $recorder"
frames() { [ "$(wc -l <"$work/live.killed")" -ge "$1" ]; }
wait_until 60 frames 8
end_process "$recorder" KILL
written=$(wc -l <"$work/live.killed")
"$top" -r "$work/killed.db" --json >"$work/again"
check "killed recorder: the file passes SQLite's integrity check" is_sound "$work/killed.db"
check "killed recorder: the file has all printed frames" sh -c "head -n $written '$work/again' | cmp - '$work/live.killed'"

# --- a full disk: frames go on, the file stays sound ---
(
    ulimit -f 900 # blocks of 512 bytes: the first frame always fits, all frames never do
    "$top" -p "$first" --json -n 120 -d 0.05 -w "$work/full.db" 2>"$work/err" | tail -n 1 >"$work/out"
)
is "file size limit: a failed write is reported once" "$(grep -c '^rtl-top: recording: cannot write .*full.db' "$work/err") $(wc -l <"$work/err")" "1 1"
check "file size limit: frames go on" jq -e '.kernels | length == 60' "$work/out"
check "file size limit: the file passes SQLite's integrity check" is_sound "$work/full.db"
check "file size limit: the file has the earlier frames" test "$("$top" -r "$work/full.db" --json | wc -l)" -ge 1
(
    ulimit -f 400
    "$top" -p "$first" --json -n 60 -d 0.05 -w "$work/full2.db" >/dev/null 2>&1
    echo $? >"$work/out"
)
is "file size limit: exit status is 12" "$(cat "$work/out")" 12
if [ "$(id -u)" = 0 ] && mkdir "$work/small" && mount -t tmpfs -o size=700k none "$work/small" 2>/dev/null; then
    "$top" -p "$first" --json -n 60 -d 0.05 -w "$work/small/full.db" >/dev/null 2>"$work/err"
    is "full disk: exit status is 12" "$? $(wc -l <"$work/err")" "12 1"
    check "full disk: the message says so" grep -qE 'no space left|No space left' "$work/err"
    cp "$work/small/full.db" "$work/small.db"
    check "full disk: the file has the earlier frames" test "$("$top" -r "$work/small.db" --json | wc -l)" -ge 1
    rm "$work/small/full.db"
    "$top" -p "$first" --snapshot "$work/small/ro.db" >/dev/null
    mount -o remount,ro "$work/small"
    check "read-only disk: recording is refused" exits_with 10 'Read-only file system' -p "$first" -b -n 1 -w "$work/small/ro.db"
    is "read-only disk: replay works" "$("$top" -r "$work/small/ro.db" --json | wc -l)" 1
    umount "$work/small"
else
    skip "full and read-only disk" "only root may mount one, and not everywhere"
fi

# --- other files ---
check "-w: a missing folder is refused" exits_with 10 'No such file' -p "$first" -b -n 1 -w "$work/none/x.db"
check "--snapshot: a folder is refused" exits_with 10 'directory' -p "$first" --snapshot "$work"
echo "my thesis" >"$work/thesis"
check "-w: a text file is refused" exits_with 11 'not a recording.*--force' -p "$first" -b -n 1 -w "$work/thesis"
sqlite3 "$work/other.db" 'CREATE TABLE a(b); INSERT INTO a VALUES(1)'
check "--snapshot: another database is refused" exits_with 11 'not a recording.*--force' -p "$first" --snapshot "$work/other.db"
is "-w and --snapshot: refused files are unchanged" "$(cat "$work/thesis") $(sql "$work/other.db" 'SELECT b FROM a')" "my thesis 1"
check "--snapshot --force: replaces a text file" "$top" -p "$first" --snapshot "$work/thesis" --force
is "--snapshot --force: the file is a recording" "$("$top" -r "$work/thesis" --json | wc -l)" 1
check "-r: a missing file is refused" exits_with 10 'No such file' -r "$work/none.db" -b
check "-r: another database is refused" exits_with 11 'not a recording' -r "$work/other.db" -b
check "-r -p: a process without recording is refused" exits_with 15 "nothing of process 1; it has .*$first" -r "$work/s.db" -p 1 -b
check "-r --recording: an unknown recording is refused" exits_with 15 'no recording 9' -r "$work/s.db" --recording 9 -b
sqlite3 "$work/newer.db" 'CREATE TABLE a(b); PRAGMA application_id = 1381256276; PRAGMA user_version = 2'
check "-r: a newer version is refused" exits_with 11 'version 2, this rtl-top knows 1' -r "$work/newer.db" -b
check "-w: a newer version is refused" exits_with 11 'version 2.*--force' -p "$first" -b -n 1 -w "$work/newer.db"
cp "$work/a.db" "$work/torn.db"
dd if=/dev/urandom of="$work/torn.db" bs=4096 seek=1 count=60 conv=notrunc 2>/dev/null
check "-r: a damaged file is refused" exits_with 13 'damaged' -r "$work/torn.db" -b
check "-r: needs a terminal" exits_with 1 'not a terminal' -r "$work/a.db"
check "-r and -w: exclude each other" exits_with 1 '-r shows a recording' -r "$work/a.db" -w "$work/x.db" -b
# The output of -o is replaced: it must not be the recording.
cp "$work/a.db" "$work/same.db"
check "-r -o: the recording itself as output is refused" exits_with 10 'same.db is the recording itself' -r "$work/same.db" -b -o "$work/same.db" --force
check "-w -o: the recording itself as output is refused" exits_with 10 'same.db is the recording itself' -p "$first" -b -w "$work/same.db" -o "$work/same.db" --force
check "-w -o: a new recording itself as output is refused" exits_with 10 'is the recording itself' -p "$first" -b -w "$work/new.db" -o "$work/new.db"
check "-o: the refused recording is unchanged" cmp "$work/a.db" "$work/same.db"
# A disk without room for the tables
run_small() { # ARGUMENTS...
    (ulimit -f 20 && exec "$top" "$@") >"$work/out" 2>"$work/err"
}
run_small -p "$first" --snapshot "$work/small.db"
is "--snapshot without room: exits with 12" "$?" 12
has "--snapshot without room: the message says so" "$(cat "$work/err")" '^rtl-top: cannot write .*small.db: no space left$|^rtl-top: cannot write .*small.db: File too large$'
# A file that another program keeps locked
mkfifo "$work/hold"
sqlite3 "$work/s.db" <"$work/hold" >"$work/locked" 2>&1 &
tap_pids="$tap_pids $!"
exec 3>"$work/hold"
printf 'BEGIN EXCLUSIVE;\nSELECT 1;\n' >&3
wait_until 60 test -s "$work/locked"
check "--snapshot: a locked file is refused" exits_with 14 'locked by another program' -p "$first" --snapshot "$work/s.db"
echo 'COMMIT;' >&3
exec 3>&-
finish
