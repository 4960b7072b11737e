#!/bin/sh
# rtl-top export: JSON that Perfetto opens and CSV, from our traces and from other tools' files in the rocpd schema; what
# goes wrong is one line, and no file is harmed by it.
. "$(dirname "$0")/tap.sh"

top=$O/rtl-top
one_line() { # STATUS PATTERN: of the command that just ran into $work/said, with its status
    has "  and says so in a line" "$(cat "$work/said")" "^rtl-top: .*$1"
    is "  one line" "$(wc -l <"$work/said")" 1
}

# --- another tool's file: two queues on a GPU, kernels that overlap, names that are hard on JSON and CSV ---
sqlite3 "$work/other.db" <<'EOF'
CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT UNIQUE);
CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, completionSignal TEXT,
    start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER, apiName_id INTEGER,
    args_id INTEGER);
CREATE TABLE rocpd_monitor(id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER, monitorType TEXT, start INTEGER,
    end INTEGER, value TEXT);
INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, '_Z14basic_templateIfLi3EEvPT_'),
    (4, 'say "hi", \ ' || char(10) || x'ff01'), (5, 'UserMarker'), (6, 'step 1'), (7, 'hipLaunchKernel');
INSERT INTO rocpd_op VALUES (1, 0, 8, 0, 'hwq=0x8 wg=64,1,1 grid=640,2,1', 1000000, 1005000, 3, 2),
    (2, 0, 8, 0, NULL, 1004600, 1009000, 4, 2),  -- overlaps by less than the clocks are good for
    (3, 0, 8, 0, '', 1007000, 1020000, 3, 2),    -- overlaps for real
    (4, 0, 9, 0, NULL, 1000500, 1000500, 3, 2),
    (5, 1, 8, 0, NULL, 1030000, 1030001, 3, 2),
    (6, -1, 0, 0, NULL, 1000000, 1040000, 6, 5),
    (7, 0, 9, 0, NULL, NULL, NULL, 3, 2);        -- never ended
INSERT INTO rocpd_api VALUES (1, 77, 78, 999000, 999500, 7, 1), (2, 77, 77, 1000000, 1040000, 5, 6);
INSERT INTO rocpd_monitor VALUES (1, 'gpu', 0, 'sclk', 1000000, 1010000, '1700.5');
EOF
"$top" export "$work/other.db" --perfetto "$work/other.json" --csv "$work/other.csv" 2>"$work/said"
is "another tool's file: 0" "$?" 0
has "it says how much" "$(cat "$work/said")" '^rtl-top: 6 rows \(dispatches, copies, markers\) written to .*other.json$'
"$top" export "$work/other.db" --csv - 2>"$work/said" >"$work/printed"
has "and where it went" "$(cat "$work/said")" 'written to standard output$'
is "two can't be standard output" "$("$top" export "$work/other.db" --perfetto - --csv /dev/stdout 2>&1 >"$work/printed"; echo $?)" \
    "rtl-top: --perfetto and --csv can't both be standard output: one of them needs a file
1"
is "and nothing is printed" "$(wc -c <"$work/printed")" 0
events() { jq -r ".traceEvents[] | select($1) | $2" "$work/other.json"; }
is "slices are where they belong, in us, with their names" "$(events '.ph == "X" and .cat == "KernelExecution"' \
    '[.pid - 5000000, .ts, .dur, .name] | @tsv' | sed -n '1p; 2p; 4p')" "$(printf '0\t1\t5\tbasic_template<f32,3>\n0\t1.5\t0\tbasic_template<f32,3>\n0\t8\t13\tbasic_template<f32,3>')"
is "the full name is there, too" "$(events '.args.op? == 1' .args.kernel)" 'void basic_template<float, 3>(float*)'
is "grid and workgroup" "$(events '.args.op? == 1' '.args.grid + " " + .args.workgroup')" "640,2,1 64,1,1"
is "GPUs are processes, queues are tracks, overlaps further tracks" "$(events '.name == "thread_name" and .pid >= 4999999' '[.pid - 5000000, .args.name] | @tsv' | sort)" \
    "$(printf '%s\n' '-1	queue 0' '0	queue 8' '0	queue 8 (overlapping 1)' '0	queue 9' '1	queue 8')"
is "counters and API calls" "$(events '.ph == "C"' '"\(.name) \(.args.value)"') $(events '.cat == "api" or .cat == "marker"' .name | tr '\n' ' ')" \
    "sclk 1700.5 step 1 hipLaunchKernel "
is "no slices of a track overlap" "$(jq '[.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid])[] | sort_by(.ts) |
    [range(1; length) as $i | (.[$i - 1].ts + .[$i - 1].dur) * 1000 - .[$i].ts * 1000 | select(. > 0.5)] | length' "$work/other.json" | sort -u)" 0
is "CSV has a line for each, a header, and quotes what has to be" "$(head -n 1 "$work/other.csv" | cut -d, -f1-4) $(grep -c '^[0-9]' "$work/other.csv") $(grep -c '"say ""hi"", \\ \\x0a\\xff\\x01",,' "$work/other.csv")" \
    "op,gpu,queue,sequence 6 1"
"$top" export "$work/other.db" --csv - 2>/dev/null | cmp - "$work/other.csv"
is "to standard output it is the same" "$?" 0
"$top" export "$work/other.db" --perfetto "$work/other.json.gz" 2>/dev/null
check "compressed it is the same" sh -c "zcat '$work/other.json.gz' | cmp - '$work/other.json'"

# --- a trace of ours ---
mkfifo "$work/in"
(RTL_TRACE=1 on_gpu --gpus 2 -- "$O/tests/programs/hip_basic" --hold <"$work/in" >"$work/out" 2>"$work/err") &
program=$!
tap_pids="$tap_pids $program"
exec 3>"$work/in"
wait_until 60 grep -q '^holding' "$work/out"
"$top" -p "$program" --trace "$work/ours.db" -n 3 -d 0.1 2>/dev/null
exec 3>&-
wait "$program"
"$top" export "$work/ours.db" --perfetto "$work/ours.json" --csv "$work/ours.csv" 2>/dev/null
rows=$(sqlite3 "$work/ours.db" 'SELECT count(*) FROM rocpd_op')
check "there are rows" test "$rows" -gt 1000
is "each is a slice and a line" "$(jq '[.traceEvents[] | select(.ph == "X" and .pid >= 5000000)] | length' "$work/ours.json") $(($(wc -l <"$work/ours.csv") - 1))" "$rows $rows"
is "GPUs have their address" "$(jq -r '.traceEvents[] | select(.name == "process_name" and .pid >= 5000000) | .args.name' "$work/ours.json" | sort)" \
    "$(printf 'G0 03:00.0 gfx90a\nG1 04:00.0 gfx90a')"
has "queues say whose they are" "$(jq -r '.traceEvents[] | select(.name == "thread_name") | .args.name' "$work/ours.json")" "^G0 03:00.0 queue [0-9]+ of process $program"
has "there are counters of queues and signals" "$(jq -r '.traceEvents[] | select(.ph == "C") | .name' "$work/ours.json" | sort -u | tr '\n' ' ')" 'G[01] 0[34]:00.0 queue [0-9]+ depth of process [0-9]+ .*signals in use'
is "no slices of a track overlap" "$(jq '[.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid])[] | sort_by(.ts) |
    [range(1; length) as $i | (.[$i - 1].ts + .[$i - 1].dur) * 1000 - .[$i].ts * 1000 | select(. > 0.5)] | length' "$work/ours.json" | sort -u)" 0

# --- boot time, as ROCr, rocprofv3 and the software GPU have it: beside monotonic time, or where other tools expect it ---
columns() { head -n 1 "$1" | tr , '\n' | grep -nx "$2" | cut -d: -f1; } # no field before them has a comma in quotes here
boots() { # CSV: op, start and end in boot time, by op
    awk -F, -v a="$(columns "$1" start_boot_ns)" -v b="$(columns "$1" end_boot_ns)" 'NR > 1 {
        while (match($0, /"[^"]*"/)) $0 = substr($0, 1, RSTART - 1) "x" substr($0, RSTART + RLENGTH); print $1 "|" $a "|" $b }' "$1" | sort -t '|' -k1,1n
}
boot_of() { echo "(SELECT $1 + offset_ns FROM boot WHERE process = o.id >> 40 AND from_ns <= $1 AND $1 < until_ns)"; }
sums() { jq -c '[."rocprofiler-sdk-tool"[].buffer_records | .kernel_dispatch, .memory_copy | .[]] | [(map(.start_timestamp) | min), (map(.end_timestamp) | max), length]' "$1"; }
is "trace: each row has a boot time" "$(sqlite3 "$work/ours.db" "SELECT count(*) FROM rocpd_op o WHERE $(boot_of start) IS NULL")" 0
sqlite3 "$work/ours.db" "SELECT id, $(boot_of start), $(boot_of end) FROM rocpd_op o ORDER BY id" >"$work/want"
boots "$work/ours.csv" >"$work/got"
check "CSV: boot times equal those of the view boot" cmp "$work/want" "$work/got"
cp "$work/ours.db" "$work/slept.db" # one that began after a suspend, with two more in it
sqlite3 "$work/slept.db" "DELETE FROM rocpd_metadata WHERE tag GLOB 'boot *';
    INSERT INTO rocpd_metadata(tag, value) SELECT 'boot 0 ' || start, 5000000007 FROM (SELECT start FROM rocpd_op ORDER BY start LIMIT 1 OFFSET 10);
    INSERT INTO rocpd_metadata(tag, value) SELECT 'boot 0 ' || start, 900000000011 FROM (SELECT start FROM rocpd_op ORDER BY start LIMIT 1 OFFSET 500);
    INSERT INTO rocpd_metadata(tag, value) SELECT 'boot 0 ' || end, 1234567000000013 FROM (SELECT end FROM rocpd_op ORDER BY start LIMIT 1 OFFSET 700)"
"$top" export "$work/slept.db" --csv "$work/slept.csv" --rocprofv3 "$work/slept.v3" --perfetto "$work/slept.json" 2>"$work/said"
sqlite3 "$work/slept.db" "SELECT id, $(boot_of start), $(boot_of end) FROM rocpd_op o ORDER BY id" >"$work/want"
boots "$work/slept.csv" >"$work/got"
check "CSV: boot times follow each suspend, to the nanosecond" cmp "$work/want" "$work/got"
check "CSV: boot times before an unrecorded suspend are empty" grep -q '||' "$work/got"
is "CSV: monotonic times are the same with and without suspends" "$(cut -d, -f1-7 "$work/slept.csv" | md5sum)" "$(cut -d, -f1-7 "$work/ours.csv" | md5sum)"
is "rocprofv3: times are boot times" "$(sums "$work/slept.v3")" \
    "$(sqlite3 "$work/slept.db" "SELECT json_array(min(start) + 5000000007, max($(boot_of end)), count(*)) FROM rocpd_op o WHERE gpuId >= 0")"
has "rocprofv3: the number of guessed boot times is printed" "$(cat "$work/said")" '^rtl-top: --rocprofv3: [0-9]+ times are from before'
is "Perfetto: otherData has the offsets to boot time" "$(jq -c '.otherData.boot | map(.process, .offset_ns)' "$work/slept.json")" \
    '[0,"5000000007",0,"900000000011",0,"1234567000000013"]'
sqlite3 "$work/slept.db" "DELETE FROM rocpd_metadata WHERE tag GLOB 'boot *'; DROP VIEW boot" # as of an earlier rtl-top
"$top" export "$work/slept.db" --csv "$work/old.csv" --rocprofv3 "$work/old.v3" 2>"$work/said"
is "CSV of a trace without boot times: the columns are empty" "$(boots "$work/old.csv" | cut -d'|' -f2- | sort -u)" "|"
is "rocprofv3 of a trace without boot times: times are unchanged" "$(sums "$work/old.v3")" \
    "$(sqlite3 "$work/ours.db" "SELECT json_array(min(start), max(end), count(*)) FROM rocpd_op WHERE gpuId >= 0")"

# --- what goes wrong ---
"$top" export "$work/none.db" --csv "$work/x.csv" >"$work/said" 2>&1
is "no such file: 10" "$?" 10
one_line 'none.db'
echo "no database" >"$work/text"
"$top" export "$work/text" --csv "$work/x.csv" >"$work/said" 2>&1
is "no database: 11" "$?" 11
one_line 'text'
sqlite3 "$work/empty.db" 'CREATE TABLE t(a)'
"$top" export "$work/empty.db" --csv "$work/x.csv" >"$work/said" 2>&1
is "no trace in it: 15" "$?" 15
one_line 'no trace'
cp "$work/ours.db" "$work/torn.db"
head -c 24576 /dev/zero | tr '\0' '\377' | dd of="$work/torn.db" bs=4096 seek=8 conv=notrunc 2>/dev/null
echo "before" >"$work/x.csv"
"$top" export "$work/torn.db" --csv "$work/x.csv" --force >"$work/said" 2>&1
is "a damaged one: 13, and what was there stays" "$? $(cat "$work/x.csv") $(find "$work" -name '.rtl-top-*')" "13 before "
one_line 'damaged'
"$top" export "$work/ours.db" --csv "$work/no/such/x.csv" >"$work/said" 2>&1
is "nowhere to write: 10" "$?" 10
one_line 'cannot write'
"$top" export "$work/ours.db" --csv /dev/full >"$work/said" 2>&1
is "a full disk: 12" "$?" 12
one_line 'No space'
"$top" export "$work/ours.db" --csv "$work/ours.db" --force >"$work/said" 2>&1
is "onto itself: 10" "$?" 10
one_line 'itself'
"$top" export "$work/ours.db" >"$work/said" 2>&1
is "to nothing: 1" "$?" 1
one_line '--perfetto'
finish
