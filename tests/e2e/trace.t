#!/bin/sh
# rtl-top --trace: every timed dispatch is a row, losses are counted exactly, several processes share a file; and the messages
# when there is nothing to trace.
. "$(dirname "$0")/tap.sh"

top=$O/rtl-top
programs=$O/tests/programs
cat >"$work/script" <<'EOF'
hsa_0*   lognormal 12us 0.6
launch_0* pareto 3us 1.4 5ms
*        lognormal 8us 0.3
EOF
print_message() { cat "$work/said"; }
sql() { sqlite3 "$1" "$2" 2>&1; }
recording_value() { sql "$1" "SELECT json_extract(value, '\$.$2') FROM rocpd_metadata WHERE tag = 'recording ${3:-0}'"; }
is_held() { grep -q '^holding' "$work/out" || ! is_alive "$program"; }

# start_program RTL_TRACE GPU-OPTIONS -- PROGRAM...: start it; $program is its pid
start_program() {
    trace=$1
    shift
    rm -f "$work/in" "$work/truth" "$work/out"
    mkfifo "$work/in"
    (RTL_TRACE=$trace on_gpu --truth "$work/truth" --script "$work/script" "$@" --hold <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
}
is_up() { is_traced "$program" && "$top" -p "$program" --no-observe --json -n 1; }
wait_settled() { wait_until 60 sh -c "'$top' -p $program --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'"; }
count_timed() { "$top" -p "$program" --json -n 1 | jq .dispatches.timed; }
close_program() {
    exec 3>&-
    wait "$program"
}

# --- everything that was launched before and during the recording ---
start_program 1 -- "$programs/hsa_dispatch" --launches 20000 --queues 4 --threads 2
wait_until 60 is_held
wait_settled
check "raw HSA: rtl-top --trace succeeds" "$top" -p "$program" --trace "$work/hsa.db" -n 1 -d 0.1
check "raw HSA: every dispatch, kernel, GPU and time equals the model's" tests/e2e/compare-trace "$work/truth" "$work/hsa.db"
sed 's/^/# /' "$work/check.out"
is "raw HSA: every timed dispatch is a row, none is lost" "$(recording_value "$work/hsa.db" rows) $(recording_value "$work/hsa.db" lost)" "$(count_timed) 0"
"$top" -p "$program" --json -n 1 | jq -r '.kernels[] | select(.timed > 0) | [.name, .timed, .total_ns, .min_ns, .max_ns] | @tsv' |
    sort >"$work/live"
sqlite3 -separator '	' "$work/hsa.db" "SELECT Name, Calls, TotalNs, MinNs, MaxNs FROM top" | sort >"$work/top"
is "raw HSA: the view top equals the live counters" "$(diff "$work/live" "$work/top" | head -n 5)" ""
is "raw HSA: grid and workgroup are in every row" \
    "$(sql "$work/hsa.db" "SELECT count(*) FROM op WHERE completionSignal NOT GLOB 'hwq=0x* wg=[1-9]*,[1-9]*,[1-9]* grid=[1-9]*,[1-9]*,[1-9]*'")" 0
is "raw HSA: sequence numbers have no gap" \
    "$(sql "$work/hsa.db" "SELECT count(*) = max(sequenceId) - min(sequenceId) + 1 FROM rocpd_op")" 1
is "raw HSA: no GPU is busy for longer than the trace" "$(sql "$work/hsa.db" "SELECT count(*) FROM busy WHERE utilization_pct <= 100")" 1
check "raw HSA: a second trace into the same file succeeds" "$top" -p "$program" --trace "$work/hsa.db" -n 1 -d 0.1
is "raw HSA: a second trace adds a recording and no row" "$(recording_value "$work/hsa.db" rows 1) $(sql "$work/hsa.db" 'SELECT count(*) FROM rocpd_op')" "$(count_timed) $(count_timed)"
close_program

start_program 64M --gpus 2 -- "$programs/hip_launches" --launches 20000 --threads 2
wait_until 30 is_up
"$top" -p "$program" --trace "$work/hip.db" -d 0.2 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
"$top" -p "$program" --trace "$work/hip.db" -d 0.2 2>"$work/said.2" 3>&- 4>&- & # a second recorder, the same file
second=$!
tap_pids="$tap_pids $second"
both_record() { test "$(sql "$work/hip.db" "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'recording *'")" = 2; }
wait_until 60 is_held
check "HIP, two recorders: both record" wait_until 30 both_record
close_program
wait "$recorder"
is "HIP, two recorders: the first exits with 0" "$?" 0
wait "$second"
is "HIP, two recorders: the second exits with 0" "$?" 0
check "HIP, two recorders: every dispatch, kernel, GPU and time equals the model's" \
    tests/e2e/compare-trace "$work/truth" "$work/hip.db"
sed 's/^/# /' "$work/check.out"
has "HIP, two recorders: the message has the number of dispatches" "$(print_message)" '^rtl-top: [0-9]+ dispatches( and [0-9]+ copies)? of process [0-9]+ .* in .*hip.db, 0 lost'
is "HIP, two recorders: the recording has its end" "$(recording_value "$work/hip.db" end)" "the process ended"

# --- copies have their own rows ---
start_program 1 --gpus 2 -- "$programs/intercept_copies" reuse
wait_until 60 is_held
all_over() {
    "$top" -p "$program" --json -n 1 >"$work/json" && jq -e '.copies | length > 0 and all(.count == .timed + (.untimed | add // 0))' "$work/json"
}
check "copies: every copy is timed or untimed" wait_until 60 all_over
"$top" -p "$program" --trace "$work/copies.db" -n 1 -d 0.1 2>"$work/said"
is "copies: the message has the number of dispatches and copies" "$(sed 's/ of process.*//' "$work/said")" \
    "rtl-top: $(jq .dispatches.timed "$work/json") dispatches and $(jq '[.copies[].timed] | add' "$work/json") copies"
jq -r '.copies[] | select(.timed > 0) |
    [.gpu, {h2d: "CopyHostToDevice", d2h: "CopyDeviceToHost", d2d: "CopyDeviceToDevice", p2p: "CopyPeerToPeer"}[.direction],
     .timed, .total_ns, .min_ns, .max_ns, .timed_bytes] | @tsv' "$work/json" | sort >"$work/live"
sqlite3 -separator '	' "$work/copies.db" "SELECT g.number, t.string, count(*), sum(o.end - o.start), min(o.end - o.start),
    max(o.end - o.start), sum(CAST(substr(completionSignal, instr(completionSignal, 'size=') + 5) AS INT)) FROM rocpd_op o
    JOIN rocpd_string t ON t.id = o.opType_id
    JOIN (SELECT CAST(substr(tag, 5) AS INT) AS id, rank() OVER (ORDER BY json_extract(value, '\$.pci')) - 1 AS number
        FROM rocpd_metadata WHERE tag GLOB 'gpu *') g ON g.id = o.gpuId
    WHERE t.string GLOB 'Copy*' GROUP BY 1, 2" | sort >"$work/rows"
is "copies: rows equal the live counters, GPU by GPU" "$(diff "$work/live" "$work/rows" | head -n 5)" ""
is "copies: the trace has all four directions" "$(cut -f2 "$work/rows" | sort -u | wc -l)" 4
"$top" export "$work/copies.db" --csv "$work/copies.csv" --perfetto "$work/copies.json" 2>"$work/said"
is "copies: CSV has their bytes" "$(awk -F, '$14 ~ /^Copy/ { n += $16 } END { print n }' "$work/copies.csv")" \
    "$(awk '{ n += $7 } END { print n }' "$work/rows")"
is "copies: Perfetto has their own tracks" "$(jq -r '.traceEvents[] | select(.name == "thread_name") | .args.name' "$work/copies.json" |
    grep copies | sed 's/[0-9]*$/N/' | sort -u | head -n 1)" "G0 03:00.0 copies of process N"
is "copies: Perfetto has their names and bytes" \
    "$(jq '[.traceEvents[] | select(.ph == "X" and (.name | startswith("Copy"))) | .args.bytes] | add' "$work/copies.json")" \
    "$(awk '{ n += $7 } END { print n }' "$work/rows")"
close_program

# --- two processes, one file ---
start_program 1 --gpus 2 -- "$programs/hsa_dispatch" --launches 3000 --gpus 2
first=$program
wait_until 60 is_held
exec 4>&3
mv "$work/truth" "$work/truth.1"
mv "$work/out" "$work/out.1"
start_program 1 --gpus 2 -- "$programs/hsa_dispatch" --launches 2000 --gpus 2
wait_until 60 is_held
"$top" -p "$first" --trace "$work/both.db" -n 2 -d 0.2 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
check "two processes, two recorders: the second succeeds" "$top" -p "$program" --trace "$work/both.db" -n 2 -d 0.2
wait "$recorder"
is "two processes, two recorders: the first exits with 0" "$?" 0
check "two processes, two recorders: one process equals the model's" tests/e2e/compare-trace "$work/truth" "$work/both.db" "$program"
check "two processes, two recorders: the other process equals the model's" tests/e2e/compare-trace "$work/truth.1" "$work/both.db" "$first"
is "two processes, two recorders: a common GPU is one GPU" "$(sql "$work/both.db" "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'gpu *'")" 2
check "two processes, one recorder: succeeds" sh -c "'$top' -p $first,$program --trace '$work/once.db' -n 2 -d 0.2 2>'$work/said'"
check "two processes, one recorder: one process equals the model's" tests/e2e/compare-trace "$work/truth" "$work/once.db" "$program"
check "two processes, one recorder: the other process equals the model's" tests/e2e/compare-trace "$work/truth.1" "$work/once.db" "$first"
is "two processes, one recorder: prints a message for each" "$(grep -cE "^rtl-top: [0-9]+ dispatches.* of process ($first|$program) .*, 0 lost" "$work/said")" 2
exec 4>&-
close_program
wait "$first"

# --- a ring that is too small: losses are counted exactly ---
start_program 64K -- "$programs/hsa_dispatch" --launches 5000
wait_until 60 is_held
wait_settled
all=$(count_timed)
"$top" -p "$program" --trace "$work/small.db" -n 1 -d 0.1 2>"$work/said"
is "small ring: 1024 are rows, the others were before" "$(recording_value "$work/small.db" rows) $(recording_value "$work/small.db" before)" "1024 $((all - 1024))"
has "small ring: the message has the earlier ones" "$(print_message)" "0 lost; $((all - 1024)) ended before"
close_program

# A program without end, so that more records always follow. It is stopped at the end, so that nothing changes.
(RTL_TRACE=64K on_gpu --gpus 2 -- "$programs/serve" --seconds 600 >"$work/out" 2>"$work/err") &
program=$!
tap_pids="$tap_pids $program"
wait_until 30 is_up
"$top" -p "$program" --trace "$work/slow.db" 2>"$work/said" &
recorder=$!
tap_pids="$tap_pids $recorder"
begun() { test "$(recording_value "$work/slow.db" rows)" -gt 0; }
check "stopped recorder: it has rows before" wait_until 60 begun
kill -STOP "$recorder"
was=$(count_timed)
far() { test "$(count_timed)" -gt $((was + 5000)); }
check "stopped recorder: the process doesn't wait for it" wait_until 120 far
kill -STOP "$program"
kill -CONT "$recorder"
kill -INT "$recorder"
wait "$recorder"
is "stopped recorder: SIGINT ends it with 0" "$?" 0
check "stopped recorder: it lost records" test "$(recording_value "$work/slow.db" lost)" -gt 0
is "stopped recorder: rows, lost and before add up to all records" \
    "$(sql "$work/slow.db" "SELECT json_extract(value, '\$.rows') + json_extract(value, '\$.lost') + json_extract(value, '\$.before') FROM rocpd_metadata WHERE tag = 'recording 0'")" \
    "$(sql "$work/slow.db" 'SELECT max(sequenceId) FROM rocpd_op')"
is "stopped recorder: the number of rows is right" "$(sql "$work/slow.db" 'SELECT count(*) FROM rocpd_op')" "$(recording_value "$work/slow.db" rows)"
has "stopped recorder: the message recommends a larger ring" "$(print_message)" 'RTL_TRACE=64M'
end_process "$program" KILL

# --- beside frames; a killed process ---
start_program 64K -- "$programs/hsa_dispatch" --launches 3000
wait_until 60 is_held
wait_settled
"$top" -p "$program" --csv -n 2 -d 0.1 --trace "$work/beside.db" >"$work/frames" 2>"$work/said"
is "--csv --trace: records beside frames" "$? $(grep -c . "$work/frames" | sed 's/[1-9][0-9]*/some/') $(recording_value "$work/beside.db" end)" "0 some stopped"
"$top" -p "$program" --trace "$work/killed.db" 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
wait_until 60 sh -c "sqlite3 '$work/killed.db' 'SELECT count(*) FROM rocpd_op' | grep -qx 1024"
exec 3>&-
end_process "$program" KILL
wait "$recorder"
is "killed process: the recorder exits with 0, and the file is complete" "$? $(sql "$work/killed.db" 'PRAGMA integrity_check')" "0 ok"

# --- a file of an earlier version, whose views don't have copies ---
start_program 1 -- "$programs/hsa_dispatch" --launches 300
wait_until 60 is_held
wait_settled
"$top" -p "$program" --trace "$work/old.db" -n 1 -d 0.1 2>"$work/said"
sql "$work/old.db" "DROP VIEW top; CREATE VIEW top AS SELECT 1 AS Name; DROP VIEW busy;"
"$top" -p "$program" --trace "$work/old.db" -n 1 -d 0.1 2>"$work/said"
is "earlier views: are replaced" "$(sql "$work/old.db" 'SELECT sum(Calls) FROM top') $(sql "$work/old.db" 'SELECT sum(ops) FROM busy')" "300 300"
"$top" export "$work/old.db" --perfetto "$work/old.json" 2>"$work/said"
is "earlier views: Perfetto doesn't draw the recordings" "$(jq '[.traceEvents[] | select(.cat == "marker")] | length' "$work/old.json")" 0
is "earlier views: Perfetto draws the dispatches" "$(jq '[.traceEvents[] | select(.ph == "X")] | length' "$work/old.json")" 300

# --- a full disk, beside frames ---
rm -f "$work/frames"
(ulimit -f 800 && exec "$top" -p "$program" --trace "$work/full.db" -b -d 0.2) >"$work/frames" 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
check "-b --trace: frames are written" wait_until 60 test -s "$work/frames"
end_process "$recorder" INT
has "-b --trace, SIGINT: the message has the number of dispatches" "$(print_message)" '^rtl-top: 300 dispatches of process'
(ulimit -f 60 && exec "$top" -p "$program" --trace "$work/full.db" -b -d 0.2) >"$work/frames" 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
check "-b --trace, full disk: rtl-top reports it at once" wait_until 60 grep -qE 'cannot write .*full.db' "$work/said"
end_process "$recorder" INT
(ulimit -f 16 && exec "$top" -p "$program" --trace "$work/tiny.db" -n 1) >"$work/said" 2>&1
is "--trace, disk full from the start: exits with 12" "$?" 12
has "--trace, disk full from the start: the message says so" "$(cat "$work/said")" '^rtl-top: cannot write .*tiny.db: '
close_program

# --- the descendants of a command, early and late ones ---
mkfifo "$work/hold"
cat >"$work/server" <<END
tests/vgpu/run -- "$programs/hsa_dispatch" --launches 500 --hold <"$work/hold" &
tests/vgpu/run -- "$programs/hsa_dispatch" --launches 700 --hold <"$work/hold" &
while [ ! -e "$work/more" ]; do sleep 0.1; done
tests/vgpu/run -- "$programs/hsa_dispatch" --launches 900 --hold <"$work/hold" &
wait
END
"$top" run --trace "$work/run.db" -- sh "$work/server" >"$work/out" 2>"$work/said" &
recorder=$!
tap_pids="$tap_pids $recorder"
exec 5>"$work/hold"
count_processes() { sql "$work/run.db" "SELECT count(*) FROM (SELECT DISTINCT id >> 40 FROM rocpd_op)"; }
has_rows() { [ "$(sql "$work/run.db" "SELECT count(*) FROM rocpd_op")" = "$1" ]; }
check "run --trace: the command's descendants are traced" wait_until 120 has_rows 1200
is "run --trace: each descendant is a process of its own" "$(count_processes)" 2
: >"$work/more"
check "run --trace: a later descendant is traced" wait_until 120 has_rows 2100
exec 5>&-
wait "$recorder"
is "run --trace: exit status is the command's" "$?" 0
is "run --trace: prints a message for each descendant" "$(grep -cE '^rtl-top: (500|700|900) dispatches of process .*, 0 lost$' "$work/said") $(count_processes)" "3 3"

# --- nothing to trace ---
start_program 0 -- "$programs/hsa_dispatch" --launches 100
wait_until 60 is_held
"$top" -p "$program" --trace "$work/none.db" >"$work/said" 2>&1
is "no event ring: --trace exits with 7" "$?" 7
has "no event ring: the message says how to get one" "$(print_message)" '^rtl-top: process [0-9]+ has no event ring.*RTL_TRACE=1'
is "no event ring: prints one line and makes no file" "$(wc -l <"$work/said") $(ls "$work/none.db" 2>/dev/null)" "1 "
first=$program
exec 4>&3
start_program 1 -- "$programs/hsa_dispatch" --launches 100
wait_until 60 is_held
"$top" -p "$first,$program" --trace "$work/some.db" -n 1 -d 0.1 >"$work/said" 2>&1
is "no event ring in one of two processes: exits with 7, the other is traced" "$? $(sql "$work/some.db" "SELECT count(*) FROM rocpd_op")" "7 100"
has "no event ring in one of two processes: the message names it" "$(print_message)" "^rtl-top: process $first has no event ring"
exec 4>&-
close_program
wait "$first"
start_program lots -- "$programs/hsa_dispatch" --launches 100
wait_until 60 is_held
has "RTL_TRACE=lots: the library prints a message" "$(cat "$work/err")" '^librtl: RTL_TRACE=lots is neither'
is "RTL_TRACE=lots: the library prints one line" "$(wc -l <"$work/err")" 1
"$top" -p "$program" --trace "$work/none.db" >/dev/null 2>&1
is "RTL_TRACE=lots: the process has no ring" "$?" 7
close_program
"$top" -p "$$" --trace "$work/none.db" >/dev/null 2>&1
is "a process without the library: --trace exits with 3" "$?" 3
start_program 1 -- "$programs/hsa_dispatch" --launches 100
wait_until 60 is_held
echo "mine" >"$work/mine.txt"
"$top" -p "$program" --trace "$work/mine.txt" -n 1 -d 0.1 >"$work/said" 2>&1
is "--trace into another file: exits with 11 and leaves it alone" "$? $(cat "$work/mine.txt") $(wc -l <"$work/said")" "11 mine 1"
"$top" -p "$program" --trace "$work/no/such/folder.db" >"$work/said" 2>&1
is "--trace into a missing folder: exits with 10" "$? $(wc -l <"$work/said")" "10 1"
close_program
finish
