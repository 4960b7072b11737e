#!/bin/sh
# rtl-top --trace: every timed dispatch a row, what was lost counted to the record, several processes in one file; and
# what is said when there is nothing to trace.
. "$(dirname "$0")/tap.sh"

top=$O/rtl-top
programs=$O/tests/programs
cat >"$work/script" <<'EOF'
hsa_0*   lognormal 12us 0.6
launch_0* pareto 3us 1.4 5ms
*        lognormal 8us 0.3
EOF
said() { cat "$work/said"; }
sql() { sqlite3 "$1" "$2" 2>&1; }
recording() { sql "$1" "SELECT json_extract(value, '\$.$2') FROM rocpd_metadata WHERE tag = 'recording ${3:-0}'"; }
is_held() { grep -q '^holding' "$work/out" || ! alive "$program"; }

# start RTL_TRACE GPU-OPTIONS -- PROGRAM...: until it holds; $program is its pid
start() {
    trace=$1
    shift
    rm -f "$work/in" "$work/truth" "$work/out"
    mkfifo "$work/in"
    (RTL_TRACE=$trace on_gpu --truth "$work/truth" --script "$work/script" "$@" --hold <"$work/in" >"$work/out" 2>"$work/err") &
    program=$!
    tap_pids="$tap_pids $program"
    exec 3>"$work/in"
}
is_up() { traced "$program" && "$top" -p "$program" --no-observe --json -n 1; }
settled() { wait_until 60 sh -c "'$top' -p $program --json -n 1 | jq -e '([.queues[].depth] | add // 0) == 0'"; }
timed() { "$top" -p "$program" --json -n 1 | jq .dispatches.timed; }
close_program() {
    exec 3>&-
    wait "$program"
}

# --- exact: everything that was launched before, and while the recorder runs ---
start 1 -- "$programs/hsa_dispatch" --launches 20000 --queues 4 --threads 2
wait_until 60 is_held
settled
check "a trace of what the ring holds" "$top" -p "$program" --trace "$work/hsa.db" -n 1 -d 0.1
check "raw HSA: every dispatch, kernel, GPU and time is the model's" tests/e2e/compare-trace "$work/truth" "$work/hsa.db"
sed 's/^/# /' "$work/check.out"
is "rows, and none lost" "$(recording "$work/hsa.db" rows) $(recording "$work/hsa.db" lost)" "$(timed) 0"
"$top" -p "$program" --json -n 1 | jq -r '.kernels[] | select(.timed > 0) | [.name, .timed, .total_ns, .min_ns, .max_ns] | @tsv' |
    sort >"$work/live"
sqlite3 -separator '	' "$work/hsa.db" "SELECT Name, Calls, TotalNs, MinNs, MaxNs FROM top" | sort >"$work/top"
is "the view top says what the live counters say" "$(diff "$work/live" "$work/top" | head -n 5)" ""
is "grid and workgroup are the launches'" \
    "$(sql "$work/hsa.db" "SELECT count(*) FROM op WHERE completionSignal NOT GLOB 'hwq=0x* wg=[1-9]*,[1-9]*,[1-9]* grid=[1-9]*,[1-9]*,[1-9]*'")" 0
is "sequence numbers without a gap" \
    "$(sql "$work/hsa.db" "SELECT count(*) = max(sequenceId) - min(sequenceId) + 1 FROM rocpd_op")" 1
is "no GPU is busy for longer than the time that passed" "$(sql "$work/hsa.db" "SELECT count(*) FROM busy WHERE utilization_pct <= 100")" 1
check "the same process once more into the same file" "$top" -p "$program" --trace "$work/hsa.db" -n 1 -d 0.1
is "adds a recording, and no row" "$(recording "$work/hsa.db" rows 1) $(sql "$work/hsa.db" 'SELECT count(*) FROM rocpd_op')" "$(timed) $(timed)"
close_program

start 64M --gpus 2 -- "$programs/hip_launches" --launches 20000 --threads 2
wait_until 30 is_up
"$top" -p "$program" --trace "$work/hip.db" -d 0.2 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
"$top" -p "$program" --trace "$work/hip.db" -d 0.2 2>"$work/said.2" 3>&- 4>&- & # two at a time, one file
second=$!
tap_pids="$tap_pids $second"
both_record() { test "$(sql "$work/hip.db" "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'recording *'")" = 2; }
wait_until 60 is_held
check "two recorders are at work" wait_until 30 both_record
close_program
wait "$recorder"
is "status 0" "$?" 0
wait "$second"
is "and of the second recorder" "$?" 0
check "HIP: every dispatch, kernel, GPU and time is the model's, from two recorders at once" \
    tests/e2e/compare-trace "$work/truth" "$work/hip.db"
sed 's/^/# /' "$work/check.out"
has "it says how many" "$(said)" '^rtl-top: [0-9]+ dispatches( and [0-9]+ copies)? of process [0-9]+ .* in .*hip.db, 0 lost'
is "why it ended" "$(recording "$work/hip.db" end)" "the process ended"

# --- copies, as rows of their own ---
start 1 --gpus 2 -- "$programs/intercept_copies" reuse
wait_until 60 is_held
all_over() {
    "$top" -p "$program" --json -n 1 >"$work/json" && jq -e '.copies | length > 0 and all(.count == .timed + (.untimed | add // 0))' "$work/json"
}
check "copies: all over" wait_until 60 all_over
"$top" -p "$program" --trace "$work/copies.db" -n 1 -d 0.1 2>"$work/said"
is "copies: it says how many" "$(sed 's/ of process.*//' "$work/said")" \
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
is "copies: rows are what the live counters say, GPU by GPU" "$(diff "$work/live" "$work/rows" | head -n 5)" ""
is "copies: in all directions" "$(cut -f2 "$work/rows" | sort -u | wc -l)" 4
"$top" export "$work/copies.db" --csv "$work/copies.csv" --perfetto "$work/copies.json" 2>"$work/said"
is "copies: in the CSV, with their bytes" "$(awk -F, '$14 ~ /^Copy/ { n += $16 } END { print n }' "$work/copies.csv")" \
    "$(awk '{ n += $7 } END { print n }' "$work/rows")"
is "copies: on tracks of their own" "$(jq -r '.traceEvents[] | select(.name == "thread_name") | .args.name' "$work/copies.json" |
    grep copies | sed 's/[0-9]*$/N/' | sort -u | head -n 1)" "G0 03:00.0 copies of process N"
is "copies: named by what they are, with their bytes" \
    "$(jq '[.traceEvents[] | select(.ph == "X" and (.name | startswith("Copy"))) | .args.bytes] | add' "$work/copies.json")" \
    "$(awk '{ n += $7 } END { print n }' "$work/rows")"
close_program

# --- two processes, one file ---
start 1 --gpus 2 -- "$programs/hsa_dispatch" --launches 3000 --gpus 2
first=$program
wait_until 60 is_held
exec 4>&3
mv "$work/truth" "$work/truth.1"
mv "$work/out" "$work/out.1"
start 1 --gpus 2 -- "$programs/hsa_dispatch" --launches 2000 --gpus 2
wait_until 60 is_held
"$top" -p "$first" --trace "$work/both.db" -n 2 -d 0.2 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
check "two processes into one file" "$top" -p "$program" --trace "$work/both.db" -n 2 -d 0.2
wait "$recorder"
is "both recorders are content" "$?" 0
check "one is the model's" tests/e2e/compare-trace "$work/truth" "$work/both.db" "$program"
check "so is the other" tests/e2e/compare-trace "$work/truth.1" "$work/both.db" "$first"
is "a GPU that both use is one GPU" "$(sql "$work/both.db" "SELECT count(*) FROM rocpd_metadata WHERE tag GLOB 'gpu *'")" 2
check "both by one recorder" sh -c "'$top' -p $first,$program --trace '$work/once.db' -n 2 -d 0.2 2>'$work/said'"
check "again one is the model's" tests/e2e/compare-trace "$work/truth" "$work/once.db" "$program"
check "again so is the other" tests/e2e/compare-trace "$work/truth.1" "$work/once.db" "$first"
is "it says how it went for each" "$(grep -cE "^rtl-top: [0-9]+ dispatches.* of process ($first|$program) .*, 0 lost" "$work/said")" 2
exec 4>&-
close_program
wait "$first"

# --- a ring that is too small: counted to the record ---
start 64K -- "$programs/hsa_dispatch" --launches 5000
wait_until 60 is_held
settled
all=$(timed)
"$top" -p "$program" --trace "$work/small.db" -n 1 -d 0.1 2>"$work/said"
is "the ring holds 1024, the rest was before" "$(recording "$work/small.db" rows) $(recording "$work/small.db" before)" "1024 $((all - 1024))"
has "and it says so" "$(said)" "0 lost; $((all - 1024)) ended before"
close_program

# a program without an end, so that there is always more to come; it is held at the end, so that nothing moves any more
(RTL_TRACE=64K on_gpu --gpus 2 -- "$programs/serve" --seconds 600 >"$work/out" 2>"$work/err") &
program=$!
tap_pids="$tap_pids $program"
wait_until 30 is_up
"$top" -p "$program" --trace "$work/slow.db" 2>"$work/said" &
recorder=$!
tap_pids="$tap_pids $recorder"
begun() { test "$(recording "$work/slow.db" rows)" -gt 0; }
check "a recorder is at work" wait_until 60 begun
kill -STOP "$recorder"
was=$(timed)
far() { test "$(timed)" -gt $((was + 5000)); }
check "the process does not wait for a recorder that has stopped" wait_until 120 far
kill -STOP "$program"
kill -CONT "$recorder"
kill -INT "$recorder"
wait "$recorder"
is "a recorder that is told to stop ends with 0" "$?" 0
check "it lost some" test "$(recording "$work/slow.db" lost)" -gt 0
is "rows, lost and before are all that there was, to the record" \
    "$(sql "$work/slow.db" "SELECT json_extract(value, '\$.rows') + json_extract(value, '\$.lost') + json_extract(value, '\$.before') FROM rocpd_metadata WHERE tag = 'recording 0'")" \
    "$(sql "$work/slow.db" 'SELECT max(sequenceId) FROM rocpd_op')"
is "as many rows as it says" "$(sql "$work/slow.db" 'SELECT count(*) FROM rocpd_op')" "$(recording "$work/slow.db" rows)"
has "it says what helps" "$(said)" 'RTL_TRACE=64M'
end_process "$program" KILL

# --- beside frames; a process that is killed ---
start 64K -- "$programs/hsa_dispatch" --launches 3000
wait_until 60 is_held
settled
"$top" -p "$program" --csv -n 2 -d 0.1 --trace "$work/beside.db" >"$work/frames" 2>"$work/said"
is "with --csv, too" "$? $(grep -c . "$work/frames" | sed 's/[1-9][0-9]*/some/') $(recording "$work/beside.db" end)" "0 some stopped"
"$top" -p "$program" --trace "$work/killed.db" 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
wait_until 60 sh -c "sqlite3 '$work/killed.db' 'SELECT count(*) FROM rocpd_op' | grep -qx 1024"
exec 3>&-
end_process "$program" KILL
wait "$recorder"
is "the process was killed: 0, and the file is whole" "$? $(sql "$work/killed.db" 'PRAGMA integrity_check')" "0 ok"

# --- a file of an earlier version, whose views know no copies ---
start 1 -- "$programs/hsa_dispatch" --launches 300
wait_until 60 is_held
settled
"$top" -p "$program" --trace "$work/old.db" -n 1 -d 0.1 2>"$work/said"
sql "$work/old.db" "DROP VIEW top; CREATE VIEW top AS SELECT 1 AS Name; DROP VIEW busy;"
"$top" -p "$program" --trace "$work/old.db" -n 1 -d 0.1 2>"$work/said"
is "views are brought up to date" "$(sql "$work/old.db" 'SELECT sum(Calls) FROM top') $(sql "$work/old.db" 'SELECT sum(ops) FROM busy')" "300 300"
"$top" export "$work/old.db" --perfetto "$work/old.json" 2>"$work/said"
is "the two recordings themselves are not drawn" "$(jq '[.traceEvents[] | select(.cat == "marker")] | length' "$work/old.json")" 0
is "what they hold is" "$(jq '[.traceEvents[] | select(.ph == "X")] | length' "$work/old.json")" 300

# --- a disk that is full, beside frames ---
(ulimit -f 800 && exec "$top" -p "$program" --trace "$work/full.db" -b -d 0.2) >"$work/frames" 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
check "frames are written" wait_until 60 test -s "$work/frames"
end_process "$recorder" INT
has "a signal beside frames: it says how many" "$(said)" '^rtl-top: 300 dispatches of process'
(ulimit -f 60 && exec "$top" -p "$program" --trace "$work/full.db" -b -d 0.2) >"$work/frames" 2>"$work/said" 3>&- 4>&- &
recorder=$!
tap_pids="$tap_pids $recorder"
check "a full disk beside frames: it is said at once" wait_until 60 grep -qE 'cannot write .*full.db' "$work/said"
end_process "$recorder" INT
(ulimit -f 16 && exec "$top" -p "$program" --trace "$work/tiny.db" -n 1) >"$work/said" 2>&1
is "a disk that is full from the start: 12" "$?" 12
has "and nothing else is said" "$(cat "$work/said")" '^rtl-top: cannot write .*tiny.db: '
close_program

# --- what a command starts, and what that starts later ---
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
processes() { sql "$work/run.db" "SELECT count(*) FROM (SELECT DISTINCT id >> 40 FROM rocpd_op)"; }
has_rows() { [ "$(sql "$work/run.db" "SELECT count(*) FROM rocpd_op")" = "$1" ]; }
check "all that a command starts is in the trace" wait_until 120 has_rows 1200
is "each as a process of its own" "$(processes)" 2
: >"$work/more"
check "also what it starts later" wait_until 120 has_rows 2100
exec 5>&-
wait "$recorder"
is "the command's status" "$?" 0
is "and each is said" "$(grep -cE '^rtl-top: (500|700|900) dispatches of process .*, 0 lost$' "$work/said") $(processes)" "3 3"

# --- nothing to trace ---
start 0 -- "$programs/hsa_dispatch" --launches 100
wait_until 60 is_held
"$top" -p "$program" --trace "$work/none.db" >"$work/said" 2>&1
is "no ring: 7" "$?" 7
has "it says how to get one" "$(said)" '^rtl-top: process [0-9]+ has no event ring.*RTL_TRACE=1'
is "in one line, and no file is made" "$(wc -l <"$work/said") $(ls "$work/none.db" 2>/dev/null)" "1 "
first=$program
exec 4>&3
start 1 -- "$programs/hsa_dispatch" --launches 100
wait_until 60 is_held
"$top" -p "$first,$program" --trace "$work/some.db" -n 1 -d 0.1 >"$work/said" 2>&1
is "of several the others are traced: 7" "$? $(sql "$work/some.db" "SELECT count(*) FROM rocpd_op")" "7 100"
has "and it is said" "$(said)" "^rtl-top: process $first has no event ring"
exec 4>&-
close_program
wait "$first"
start lots -- "$programs/hsa_dispatch" --launches 100
wait_until 60 is_held
has "a wrong RTL_TRACE is told" "$(cat "$work/err")" '^librtl: RTL_TRACE=lots is neither'
is "in one line" "$(wc -l <"$work/err")" 1
"$top" -p "$program" --trace "$work/none.db" >/dev/null 2>&1
is "and there is no ring" "$?" 7
close_program
"$top" -p "$$" --trace "$work/none.db" >/dev/null 2>&1
is "a process without the library: 3" "$?" 3
start 1 -- "$programs/hsa_dispatch" --launches 100
wait_until 60 is_held
echo "mine" >"$work/mine.txt"
"$top" -p "$program" --trace "$work/mine.txt" -n 1 -d 0.1 >"$work/said" 2>&1
is "another's file is left alone: 11" "$? $(cat "$work/mine.txt") $(wc -l <"$work/said")" "11 mine 1"
"$top" -p "$program" --trace "$work/no/such/folder.db" >"$work/said" 2>&1
is "a path that is not there: 10" "$? $(wc -l <"$work/said")" "10 1"
close_program
finish
