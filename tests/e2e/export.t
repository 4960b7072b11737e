#!/bin/sh
# rtl-top export: JSON for Perfetto and CSV, from rtl-top's traces and from other tools' files in the rocpd schema. An
# error is one line and damages no file.
. "$(dirname "$0")/tap.sh"

top=$O/rtl-top
check_error_line() { # NAME PATTERN: check the error message in $work/said
    has "$1 is reported with its reason" "$(cat "$work/said")" "^rtl-top: .*$2"
    is "$1 is reported in one line" "$(wc -l <"$work/said")" 1
}

# --- another tool's file: two queues on a GPU, overlapping kernels, names that JSON and CSV have to escape ---
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
is "export of another tool's file: exits with 0" "$?" 0
has "export of another tool's file: prints the number of rows" "$(cat "$work/said")" '^rtl-top: 6 rows \(dispatches, copies, markers\) written to .*other.json$'
"$top" export "$work/other.db" --csv - 2>"$work/said" >"$work/printed"
has "export to standard output: the message says so" "$(cat "$work/said")" 'written to standard output$'
is "export: two outputs to standard output are refused" "$("$top" export "$work/other.db" --perfetto - --csv /dev/stdout 2>&1 >"$work/printed"; echo $?)" \
    "rtl-top: --perfetto and --csv can't both be standard output: one of them needs a file
1"
is "export: two outputs to standard output print nothing" "$(wc -c <"$work/printed")" 0
select_events() { jq -r ".traceEvents[] | select($1) | $2" "$work/other.json"; }
is "Perfetto: slices have process, start and duration in us, and name" "$(select_events '.ph == "X" and .cat == "KernelExecution"' \
    '[.pid - 5000000, .ts, .dur, .name] | @tsv' | sed -n '1p; 2p; 4p')" "$(printf '0\t1\t5\tbasic_template<f32,3>\n0\t1.5\t0\tbasic_template<f32,3>\n0\t8\t13\tbasic_template<f32,3>')"
is "Perfetto: a slice has the kernel's full name" "$(select_events '.args.op? == 1' .args.kernel)" 'void basic_template<float, 3>(float*)'
is "Perfetto: a slice has grid and workgroup" "$(select_events '.args.op? == 1' '.args.grid + " " + .args.workgroup')" "640,2,1 64,1,1"
is "Perfetto: GPUs are processes, queues are tracks, overlaps are further tracks" "$(select_events '.name == "thread_name" and .pid >= 4999999' '[.pid - 5000000, .args.name] | @tsv' | sort)" \
    "$(printf '%s\n' '-1	queue 0' '0	queue 8' '0	queue 8 (overlapping 1)' '0	queue 9' '1	queue 8')"
is "Perfetto: counters and API calls are exported" "$(select_events '.ph == "C"' '"\(.name) \(.args.value)"') $(select_events '.cat == "api" or .cat == "marker"' .name | tr '\n' ' ')" \
    "sclk 1700.5 step 1 hipLaunchKernel "
is "Perfetto: no slices of a track overlap (other tool)" "$(jq '[.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid])[] | sort_by(.ts) |
    [range(1; length) as $i | (.[$i - 1].ts + .[$i - 1].dur) * 1000 - .[$i].ts * 1000 | select(. > 0.5)] | length' "$work/other.json" | sort -u)" 0
is "CSV: has a header and a line for each row, and quotes names" "$(head -n 1 "$work/other.csv" | cut -d, -f1-4) $(grep -c '^[0-9]' "$work/other.csv") $(grep -c '"say ""hi"", \\ \\x0a\\xff\\x01",,' "$work/other.csv")" \
    "op,gpu,queue,sequence 6 1"
"$top" export "$work/other.db" --csv - 2>/dev/null | cmp - "$work/other.csv"
is "CSV: standard output gets the same as a file" "$?" 0
"$top" export "$work/other.db" --perfetto "$work/other.json.gz" 2>/dev/null
check "Perfetto: a compressed file has the same content" sh -c "zcat '$work/other.json.gz' | cmp - '$work/other.json'"

# --- a trace of rtl-top ---
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
check "trace: has over 1000 rows" test "$rows" -gt 1000
is "trace: each row is a slice and a CSV line" "$(jq '[.traceEvents[] | select(.ph == "X" and .pid >= 5000000)] | length' "$work/ours.json") $(($(wc -l <"$work/ours.csv") - 1))" "$rows $rows"
is "trace: GPUs have their address" "$(jq -r '.traceEvents[] | select(.name == "process_name" and .pid >= 5000000) | .args.name' "$work/ours.json" | sort)" \
    "$(printf 'G0 03:00.0 gfx90a\nG1 04:00.0 gfx90a')"
has "trace: queues name their process" "$(jq -r '.traceEvents[] | select(.name == "thread_name") | .args.name' "$work/ours.json")" "^G0 03:00.0 queue [0-9]+ of process $program"
has "trace: queues and signals have counters" "$(jq -r '.traceEvents[] | select(.ph == "C") | .name' "$work/ours.json" | sort -u | tr '\n' ' ')" 'G[01] 0[34]:00.0 queue [0-9]+ depth of process [0-9]+ .*signals in use'
is "trace: no slices of a track overlap" "$(jq '[.traceEvents[] | select(.ph == "X")] | group_by([.pid, .tid])[] | sort_by(.ts) |
    [range(1; length) as $i | (.[$i - 1].ts + .[$i - 1].dur) * 1000 - .[$i].ts * 1000 | select(. > 0.5)] | length' "$work/ours.json" | sort -u)" 0

# --- boot time, the clock of ROCr, rocprofv3 and the software GPU: beside monotonic time, or where other tools expect it
# ---
column_number() { head -n 1 "$1" | tr , '\n' | grep -nx "$2" | cut -d: -f1; } # here no field before them has a quoted comma
boot_times() { # CSV: op, start and end in boot time, by op
    awk -F, -v a="$(column_number "$1" start_boot_ns)" -v b="$(column_number "$1" end_boot_ns)" 'NR > 1 {
        while (match($0, /"[^"]*"/)) $0 = substr($0, 1, RSTART - 1) "x" substr($0, RSTART + RLENGTH); print $1 "|" $a "|" $b }' "$1" | sort -t '|' -k1,1n
}
boot_time_sql() { echo "(SELECT $1 + offset_ns FROM boot WHERE process = o.id >> 40 AND from_ns <= $1 AND $1 < until_ns)"; }
sum_buffers() { jq -c '[."rocprofiler-sdk-tool"[].buffer_records | .kernel_dispatch, .memory_copy | .[]] | [(map(.start_timestamp) | min), (map(.end_timestamp) | max), length]' "$1"; }
is "trace: each row has a boot time" "$(sqlite3 "$work/ours.db" "SELECT count(*) FROM rocpd_op o WHERE $(boot_time_sql start) IS NULL")" 0
sqlite3 "$work/ours.db" "SELECT id, $(boot_time_sql start), $(boot_time_sql end) FROM rocpd_op o ORDER BY id" >"$work/want"
boot_times "$work/ours.csv" >"$work/got"
check "CSV: boot times equal those of the view boot" cmp "$work/want" "$work/got"
cp "$work/ours.db" "$work/slept.db" # a trace that began after a suspend and has two more
sqlite3 "$work/slept.db" "DELETE FROM rocpd_metadata WHERE tag GLOB 'boot *';
    INSERT INTO rocpd_metadata(tag, value) SELECT 'boot 0 ' || start, 5000000007 FROM (SELECT start FROM rocpd_op ORDER BY start LIMIT 1 OFFSET 10);
    INSERT INTO rocpd_metadata(tag, value) SELECT 'boot 0 ' || start, 900000000011 FROM (SELECT start FROM rocpd_op ORDER BY start LIMIT 1 OFFSET 500);
    INSERT INTO rocpd_metadata(tag, value) SELECT 'boot 0 ' || end, 1234567000000013 FROM (SELECT end FROM rocpd_op ORDER BY start LIMIT 1 OFFSET 700)"
"$top" export "$work/slept.db" --csv "$work/slept.csv" --rocprofv3 "$work/slept.v3" --perfetto "$work/slept.json" 2>"$work/said"
sqlite3 "$work/slept.db" "SELECT id, $(boot_time_sql start), $(boot_time_sql end) FROM rocpd_op o ORDER BY id" >"$work/want"
boot_times "$work/slept.csv" >"$work/got"
check "CSV: boot times follow each suspend, to the nanosecond" cmp "$work/want" "$work/got"
check "CSV: boot times before an unrecorded suspend are empty" grep -q '||' "$work/got"
is "CSV: monotonic times are the same with and without suspends" "$(cut -d, -f1-7 "$work/slept.csv" | md5sum)" "$(cut -d, -f1-7 "$work/ours.csv" | md5sum)"
is "rocprofv3: times are boot times" "$(sum_buffers "$work/slept.v3")" \
    "$(sqlite3 "$work/slept.db" "SELECT json_array(min(start) + 5000000007, max($(boot_time_sql end)), count(*)) FROM rocpd_op o WHERE gpuId >= 0")"
has "rocprofv3: the number of guessed boot times is printed" "$(cat "$work/said")" '^rtl-top: --rocprofv3: [0-9]+ times are from before'
is "Perfetto: otherData has the offsets to boot time" "$(jq -c '.otherData.boot | map(.process, .offset_ns)' "$work/slept.json")" \
    '[0,"5000000007",0,"900000000011",0,"1234567000000013"]'
sqlite3 "$work/slept.db" "DELETE FROM rocpd_metadata WHERE tag GLOB 'boot *'; DROP VIEW boot" # as of an earlier rtl-top
"$top" export "$work/slept.db" --csv "$work/old.csv" --rocprofv3 "$work/old.v3" 2>"$work/said"
is "CSV of a trace without boot times: the columns are empty" "$(boot_times "$work/old.csv" | cut -d'|' -f2- | sort -u)" "|"
is "rocprofv3 of a trace without boot times: times are unchanged" "$(sum_buffers "$work/old.v3")" \
    "$(sqlite3 "$work/ours.db" "SELECT json_array(min(start), max(end), count(*)) FROM rocpd_op WHERE gpuId >= 0")"

# --- errors ---
"$top" export "$work/none.db" --csv "$work/x.csv" >"$work/said" 2>&1
is "export: a missing file exits with 10" "$?" 10
check_error_line "export: a missing file" 'none.db'
echo "no database" >"$work/text"
"$top" export "$work/text" --csv "$work/x.csv" >"$work/said" 2>&1
is "export: a text file exits with 11" "$?" 11
check_error_line "export: a text file" 'text'
sqlite3 "$work/empty.db" 'CREATE TABLE t(a)'
"$top" export "$work/empty.db" --csv "$work/x.csv" >"$work/said" 2>&1
is "export: a database without a trace exits with 15" "$?" 15
check_error_line "export: a database without a trace" 'no trace'
cp "$work/ours.db" "$work/torn.db"
head -c 24576 /dev/zero | tr '\0' '\377' | dd of="$work/torn.db" bs=4096 seek=8 conv=notrunc 2>/dev/null
echo "before" >"$work/x.csv"
"$top" export "$work/torn.db" --csv "$work/x.csv" --force >"$work/said" 2>&1
is "export: a damaged trace exits with 13 and keeps the old output" "$? $(cat "$work/x.csv") $(find "$work" -name '.rtl-top-*')" "13 before "
check_error_line "export: a damaged trace" 'damaged'
"$top" export "$work/ours.db" --csv "$work/no/such/x.csv" >"$work/said" 2>&1
is "export: a missing output folder exits with 10" "$?" 10
check_error_line "export: a missing output folder" 'cannot write'
"$top" export "$work/ours.db" --csv /dev/full >"$work/said" 2>&1
is "export: a full disk exits with 12" "$?" 12
check_error_line "export: a full disk" 'No space'
"$top" export "$work/ours.db" --csv "$work/ours.db" --force >"$work/said" 2>&1
is "export: its own input as output exits with 10" "$?" 10
check_error_line "export: its own input as output" 'itself'
"$top" export "$work/ours.db" >"$work/said" 2>&1
is "export: no output exits with 1" "$?" 1
check_error_line "export: no output" '--perfetto'
finish
