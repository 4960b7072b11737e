#!/bin/sh
# Outputs of rtl-top other than recordings: one rule for all, no user's file is lost, and terminal control sequences in
# file names, tables and messages of a hostile recording are escaped.
. "$(dirname "$0")/tap.sh"

top=$PWD/$O/rtl-top
esc=$(printf '\033')

# exits_with STATUS PATTERN ARGS...: rtl-top exits with the status and prints one matching line on stderr without control
# characters
exits_with() {
    wanted=$1 pattern=$2
    shift 2
    "$top" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    cat -v "$work/err"
    [ "$status" = "$wanted" ] || { echo "status $status"; return 1; }
    [ "$(wc -l <"$work/err")" = 1 ] && grep -qE "^rtl-top: .*$pattern" "$work/err" && is_tame "$work/err"
}
is_tame() { ! tr -d '\n' <"$1" | LC_ALL=C grep -q '[[:cntrl:]]'; }
file_mode() { stat -c %a "$1"; }
temporary_files() { find "$work" -name '.rtl-top-*' -o -name '*.part'; }

# --- a trace in another tool's format, with the worst possible contents ---
make_trace() { # FILE
    sqlite3 "$1" <<'EOF_SQL'
CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT UNIQUE);
CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId INTEGER, queueId INTEGER, sequenceId INTEGER, completionSignal TEXT,
    start INTEGER, end INTEGER, description_id INTEGER, opType_id INTEGER);
CREATE TABLE rocpd_monitor(id INTEGER PRIMARY KEY, deviceType TEXT, deviceId INTEGER, monitorType TEXT, start INTEGER,
    end INTEGER, value);
CREATE TABLE rocpd_metadata(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata(tag, value) VALUES ('gpu 0', '{"name":"gfx' || char(27) || '[31m'), ('queue 1', 'no JSON'),
    ('queue 2', '{"process":"a"}'), ('process 0', '{"pid":' || char(27) || '}');
INSERT INTO rocpd_string VALUES (1, ''), (2, 'KernelExecution'), (3, '=cmd|''/c calc''!A1'), (4, '+1'), (5, '-1'),
    (6, '@SUM(A1)'), (7, 'a' || char(13) || 'b' || char(10) || 'c'), (8, char(27) || ']0;owned' || char(7)),
    (9, 'good<int>'), (10, char(0x202e) || 'turned'), (11, char(9) || '=1');
INSERT INTO rocpd_op(gpuId, queueId, completionSignal, start, end, description_id, opType_id) VALUES
    (0, 1, 'size=-5', -9223372036854775808, 9223372036854775807, 3, 2),
    (0, 1, 'wg=-1,1,1 grid=99999999999999999999,1,1', -9223372036854775808, -9223372036854775808, 4, 2),
    (0, 1, 'size=18446744073709551616', 9223372036854775807, 9223372036854775807, 5, 2),
    (0, 2, 'size=7', 0, 1, 6, 2), (1, 1, 'wg=64,1,1 grid=128,1,1', 5, 6, 7, 2), (1, 1, NULL, 7, 9, 8, 2),
    (1, 2, NULL, '9', 'abc', 9, 2), (1, 2, NULL, 10, 11, 9, 2), (1, 2, NULL, 10, 11, 10, 2), (1, 2, NULL, 10, 11, 11, 2);
INSERT INTO rocpd_monitor(deviceType, deviceId, monitorType, start, end, value) VALUES
    ('gpu', 0, 'sclk', 0, 1, 9e999), ('gpu', 0, 'sclk', 1, 1, -9e999), ('gpu', 0, 'sclk', 9223372036854775807, 1, '17.5');
EOF_SQL
}
make_trace "$work/bad.db"
"$top" export "$work/bad.db" --perfetto "$work/bad.json" --csv "$work/bad.csv" 2>"$work/err"
is "export of a hostile trace: exits with 0 and prints two lines" "$? $(wc -l <"$work/err")" "0 2"
check "hostile trace, Perfetto: the file is valid JSON" jq -e . "$work/bad.json"
check "hostile trace, Perfetto: has no control characters" is_tame "$work/bad.json"
is "hostile trace, Perfetto: an infinite counter is left out" "$(jq -c '[.traceEvents[] | select(.ph == "C") | .args.value]' "$work/bad.json")" '[17.5]'
is "hostile trace, Perfetto: no time or duration is negative by overflow" "$(jq -c '[.traceEvents[] | select(.ph == "X") | (.ts, .dur) | select(. < 0)]' "$work/bad.json")" '[]'
is "hostile trace, Perfetto: the longest duration is right" "$(grep -o '"dur":18[0-9.]*' "$work/bad.json")" '"dur":18446744073709551.615'
is "hostile trace, CSV: has a line for each op that ends" "$(wc -l <"$work/bad.csv")" 10
is "hostile trace, CSV: each line has 24 fields" "$(sed 's/"[^"]*"/x/g' "$work/bad.csv" | awk -F, '{ print NF }' | sort -u)" 24
check "hostile trace, CSV: has no control characters" is_tame "$work/bad.csv"
is "hostile trace, CSV: the longest duration is right" "$(grep -c ',18446744073709551615,' "$work/bad.csv")" 1
is "hostile trace, CSV: sizes of negative or endless numbers are empty" "$(awk -F, '{ print $8 $16 }' "$work/bad.csv" | grep -E '^[0-9]' | sort | tr '\n' ' ')" "64 7 "
is "hostile trace, CSV: no field is a formula" "$(cut -d, -f15 "$work/bad.csv" | grep -cE "^\"?[=+@-]|^\"?	")" 0
for text in "\"'=cmd|'/c calc'!A1\"" "'+1" "'-1" "'@SUM(A1)" 'a\x0db\x0ac' '"\x1b]0;owned\x07"' '\u{202e}turned' '\x09=1' 'good<int>'; do
    check "hostile trace, CSV: has the name $text" grep -qF -e ",$text," "$work/bad.csv"
done
"$top" export "$work/bad.db" --csv - 2>/dev/null | cmp - "$work/bad.csv"
is "hostile trace, CSV: standard output gets the same" "$?" 0

# The time to find a track doesn't depend on their number.
sqlite3 "$work/many.db" 'CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT); CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY,
    gpuId, queueId, sequenceId, completionSignal, start, end, description_id, opType_id);
    WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299999)
    INSERT INTO rocpd_op SELECT i, i % 1000, i << 32, 0, NULL, i, i + 1, 1, 1 FROM n'
check "export: 300,000 queues take less than two minutes" timeout 120 "$top" export "$work/many.db" --perfetto "$work/many.json"

# Long names from few bytes of file: a default value, or a computed one
columns='id INTEGER PRIMARY KEY, gpuId, queueId, sequenceId, completionSignal, start, end, description_id, opType_id'
rows="WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
default="DEFAULT '$(printf '%0200000d' 0)'"
for computed in "$default" "AS (printf('%200000d', id))"; do
    rm -f "$work/long.db"
    echo "CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY); CREATE TABLE rocpd_op($columns);
        $rows INSERT INTO rocpd_string SELECT i FROM n; $rows INSERT INTO rocpd_op SELECT i, 0, 0, 0, NULL, i, i + 1, i, 1 FROM n;
        ALTER TABLE rocpd_string ADD COLUMN string TEXT $computed;" | sqlite3 "$work/long.db"
    check "export: names that are longer than the file are refused" exits_with 13 'damaged: its names' export "$work/long.db" --csv "$work/long.csv"
    check "export: names that are longer than the file leave no output" test ! -e "$work/long.csv"
done

# --- the rule for outputs, with export ---
echo mine >"$work/mine"
chmod 600 "$work/mine"
check "export: an existing file is not replaced" exits_with 10 'mine exists: .*--force' export "$work/bad.db" --csv "$work/mine"
is "export: an existing file is unchanged" "$(cat "$work/mine")" mine
echo part >"$work/x.csv.part"
ln "$work/bad.db" "$work/y.csv.part"
check "export: succeeds beside a file FILE.part" "$top" export "$work/bad.db" --csv "$work/x.csv"
check "export: succeeds beside a link FILE.part to the trace" "$top" export "$work/bad.db" --csv "$work/y.csv"
is "export: files FILE.part are unchanged" "$(cat "$work/x.csv.part") $(sqlite3 "$work/bad.db" 'SELECT count(*) FROM rocpd_op') $(wc -l <"$work/y.csv")" "part 10 10"
rm "$work/x.csv.part" "$work/y.csv.part"
check "export --force: an existing file is replaced" "$top" export "$work/bad.db" --csv "$work/mine" --force
is "export --force: the file keeps its mode" "$(file_mode "$work/mine") $(wc -l <"$work/mine")" "600 10"
(umask 27 && "$top" export "$work/bad.db" --csv "$work/new.csv" 2>/dev/null)
is "export: a new file has the mode of the umask" "$(file_mode "$work/new.csv")" 640
if can_be_other_user "export --force: the file keeps its owner"; then
    chown 65534:65534 "$work/mine"
    "$top" export "$work/bad.db" --csv "$work/mine" --force 2>/dev/null
    is "export --force: the file keeps its owner" "$(stat -c '%u:%g %a' "$work/mine")" "65534:65534 600"
fi
mkdir "$work/there"
echo old >"$work/there/real.csv"
ln -s there/real.csv "$work/link.csv"
check "export: a link to an existing file is refused" exits_with 10 'exists' export "$work/bad.db" --csv "$work/link.csv"
check "export --force: a link to an existing file is accepted" "$top" export "$work/bad.db" --csv "$work/link.csv" --force
is "export --force: the link stays, its file is replaced" "$(readlink "$work/link.csv") $(wc -l <"$work/there/real.csv")" "there/real.csv 10"
ln -s "$work/nowhere" "$work/astray"
check "export --force: a dangling link is refused" exits_with 10 'astray: it is a symbolic link' export "$work/bad.db" --csv "$work/astray" --force
check "export --force: a dangling link is not followed" test ! -e "$work/nowhere"
ln "$work/bad.db" "$work/twin"
ln -s bad.db "$work/alias"
for name in bad.db twin alias bad.db-journal bad.db-wal there/../bad.db; do
    check "export --force: the trace itself as $name is refused" exits_with 10 'is the recording itself' export "$work/bad.db" --csv "$work/$name" --force
done
check "export: two outputs into one file are refused" exits_with 10 'is the recording itself|exists' export "$work/bad.db" --csv "$work/one" --perfetto "$work/one"
check "export: two outputs into one file leave no file" test ! -e "$work/one"
check "export: an output in a missing folder is refused" exits_with 10 'none/x' export "$work/bad.db" --perfetto "$work/two" --csv "$work/none/x"
check "export: an output in a missing folder leaves no other output" test ! -e "$work/two"
check "export: a folder as output is refused" exits_with 10 'folder' export "$work/bad.db" --csv "$work/there" --force
check "export: an empty name is refused" exits_with 1 "not ''" export "$work/bad.db" --csv ''
check "export: --force=1 is refused" exits_with 1 '--force=1: that option takes no argument' export "$work/bad.db" --csv - --force=1
check "export: an unknown option is refused" exits_with 1 'no option --strength.*export --help' export "$work/bad.db" --csv - --strength
check "diff: an unknown short option is refused" exits_with 1 'no option -x.*diff --help' diff -x "$work/bad.db" "$work/bad.db"
mkfifo "$work/pipe"
timeout 120 cat "$work/pipe" >"$work/through" &
reader=$!
tap_pids="$tap_pids $reader"
timeout 120 "$top" export "$work/bad.db" --csv "$work/pipe" 2>/dev/null
wait "$reader"
check "export: a pipe gets the CSV" cmp "$work/through" "$work/bad.csv"
echo before >"$work/appended"
"$top" export "$work/bad.db" --csv /dev/stdout >>"$work/appended" 2>/dev/null
is "export: /dev/stdout is appended to" "$(wc -l <"$work/appended")" 11
is "export: no temporary file is left" "$(temporary_files)" ""
sqlite3 "$work/many.db" ".backup '$work/some.db'" # few enough to be sorted in memory
sqlite3 "$work/some.db" 'DELETE FROM rocpd_op WHERE id > 1000'
(ulimit -f 40 && exec "$top" export "$work/some.db" --perfetto "$work/full.json") >"$work/out" 2>"$work/err"
is "export: a full disk exits with 12 and leaves no file" "$? $(ls "$work"/full.json 2>/dev/null) $(temporary_files)" "12  "
# A full disk for SQLite's sorting: the recording isn't the cause.
(ulimit -f 40 && exec "$top" export "$work/many.db" --csv - >/dev/null) 2>"$work/err"
is "export: a full disk for sorting exits with 12" "$? $(grep -c '^rtl-top: cannot write a temporary file to sort .*TMPDIR' "$work/err")" "12 1"
# A signal during export: one output is a slow pipe, the other a file.
sqlite3 "$work/many.db" 'UPDATE rocpd_op SET queueId = 1'
for signal in INT TERM HUP; do
    mkfifo "$work/slow.$signal"
    sh -c 'exec "$@" 2>/dev/null' sh "$top" export "$work/many.db" --perfetto "$work/slow.$signal" --csv "$work/cut.csv" &
    export=$!
    tap_pids="$tap_pids $export"
    exec 4<>"$work/slow.$signal"
    check "SIG$signal during export: a temporary file exists" wait_until 60 sh -c "ls '$work'/.rtl-top-*"
    [ "$signal" = INT ] && kill -TERM "$export" # a background process ignores SIGINT
    kill "-$signal" "$export"
    wait "$export" 2>/dev/null
    exec 4<&-
    is "SIG$signal during export: no file is left" "$(ls "$work"/cut.csv 2>/dev/null) $(temporary_files)" " "
done

# --- the rule for outputs, with frames ---
"$O/tests/programs/segment_demo" --kernels 20 >"$work/demo.out" &
demo=$!
tap_pids="$tap_pids $demo"
wait_until 60 is_traced "$demo"
wait_until 60 test -s "$work/demo.out"
echo mine >"$work/frames"
chmod 640 "$work/frames"
check "-o: an existing file is not replaced" exits_with 10 'frames exists: .*--force' -p "$demo" -b -n 1 -o "$work/frames"
is "-o: an existing file is unchanged" "$(cat "$work/frames")" mine
check "-o --force: a wrong -w is refused first" exits_with 10 'none' -p "$demo" -b -n 1 -o "$work/frames" -w "$work/none/x.db" --force
is "-o --force: the file is unchanged after the refusal" "$(cat "$work/frames") $(temporary_files)" "mine "
check "-o --force: an existing file is replaced" "$top" -p "$demo" --csv -n 1 -o "$work/frames" --force
is "-o --force: the file keeps its mode" "$(file_mode "$work/frames") $(head -c 7 "$work/frames")" "640 time_ns"
is "-o -: writes to standard output" "$("$top" -p "$demo" --csv -n 1 -o - | head -c 7)" time_ns
"$top" -p "$demo" --csv -d 60 -o "$work/grows" &
watcher=$!
tap_pids="$tap_pids $watcher"
check "-o: the first frame is written at once" wait_until 60 test -s "$work/grows"
end_process "$watcher"
is "-o: the frame stays after a signal" "$(wc -l <"$work/grows") $(temporary_files)" "21 "
(ulimit -f 24 && exec "$top" -p "$demo" --csv -d 0.05 -o "$work/cut") >"$work/out" 2>"$work/err"
is "-o: a full disk exits with 12" "$? $(wc -l <"$work/err")" "12 1"
lines=$(wc -l <"$work/cut")
check "-o: on a full disk only complete frames are kept" test "$lines" -gt 20 -a $((lines % 20)) = 1 -a -z "$(tail -c 1 "$work/cut")"

# --- a name is a file name, whatever it means to SQLite; no file appears if nothing was written ---
for name in :memory: 'file:plain.db?mode=memory' 'file::memory:' '-x.db'; do
    (cd "$work" && "$top" -p "$demo" --snapshot="$name") >"$work/out" 2>&1
    is "--snapshot into $name: writes a frame" "$? $(sqlite3 "$work/$name" 'SELECT count(*) FROM rtl_frame')" "0 1"
    is "--replay of $name: prints the frame" "$(cd "$work" && "$top" "--replay=$name" --json | wc -l)" 1
    is "diff of $name: compares its kernels" "$(cd "$work" && "$top" diff --json -- "$name" "$name" | wc -l)" 20
done
check "--snapshot: SQLite's URI is no file name" test ! -e "$work/plain.db"
for blocks in 1 4 20 130; do # blocks for nothing, for a header, for tables
    (ulimit -f $blocks && exec "$top" -p "$demo" --snapshot "$work/nothing.db") >"$work/out" 2>"$work/err"
    is "--snapshot onto a full disk: exits with 12 and leaves no file" "$? $(wc -l <"$work/err") $(ls "$work"/nothing.db* 2>/dev/null)" "12 1 "
done

# --- in all JSON, integers that JavaScript and jq 1.6 would round have a twin ---
twins() { tests/e2e/json-exact "$@" 2>&1; } # checks all integers; prints the keys of the large ones
"$top" -p "$demo" --json -n 2 -d 0.1 >"$work/live.json"
"$top" list --json >"$work/list.json"
is "JSON: times of the live view and of list have twins" "$(twins "$work/live.json") $(twins "$work/list.json")" \
    "time_ns start_ns time_ns"
"$top" -p "$demo" --snapshot "$work/small.db" >"$work/out"
cp "$work/small.db" "$work/large.db"
sqlite3 "$work/large.db" 'UPDATE rtl_frame SET counted = counted + (1 << 55), timed = timed + (1 << 55);
    UPDATE rtl_kernel_sample SET calls = calls + (1 << 55), total_ns = (1 << 60) + 1, max_ns = (1 << 60) + 1;
    UPDATE rtl_queue_sample SET queue_id = (1 << 60) + 1, dispatches = dispatches + (1 << 55);
    UPDATE rtl_gpu_sample SET busy_ns = (1 << 60) + 1'
"$top" replay --json "$work/large.db" >"$work/replay.json"
is "JSON: large counters of a replay have twins" "$(twins "$work/replay.json")" \
    "busy_ns calls counted dispatches id max_ns time_ns timed total_ns"
"$top" diff --json "$work/small.db" "$work/large.db" >"$work/diff.json"
is "JSON: large costs of diff have twins" "$(twins "$work/diff.json")" "calls cost_ns total_ns"
"$top" diff --json "$work/large.db" "$work/small.db" >"$work/diff.json"
has "JSON: a negative cost has a twin, too" "$(twins "$work/diff.json") $(cat "$work/diff.json")" '"cost_ns_text":"-[0-9]{19}"'
sqlite3 "$work/bad.db" "UPDATE rocpd_op SET id = id + (1 << 60), gpuId = iif(gpuId = 1, (1 << 60) + 1, 0), queueId = (1 << 61) + queueId;
    UPDATE rocpd_op SET completionSignal = 'size=9007199254740993' WHERE completionSignal = 'size=7';
    CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, end, apiName_id, args_id);
    CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id, op_id);
    INSERT INTO rocpd_api VALUES ((1 << 60) + 7, (1 << 60) + 3, (1 << 60) + 5, 3, 4, 9, 1);
    INSERT INTO rocpd_api_ops VALUES (1, (1 << 60) + 7, (1 << 60) + 5)"
"$top" export "$work/bad.db" --perfetto "$work/twin.json" --rocprofv3 "$work/twin.v3" 2>"$work/err"
is "JSON: large numbers of an export for Perfetto have twins" "$(twins "$work/twin.json")" "bytes id op pid sort_index tid"
is "JSON: large numbers of an export as rocprofv3 have twins" "$(twins "$work/twin.v3")" \
    "dispatch_id end_timestamp handle init_time internal logical_node_id node_id pid start_timestamp thread_id"

# --- no output controls the terminal ---
evil="$work/e${esc}]0;owned${esc}[2J"
check "escapes: -r names a file" exits_with 10 'e.x1b\]0;owned.x1b\[2J' -r "$evil" -b
check "escapes: -w names a file" exits_with 10 'x1b' -p "$demo" -b -n 1 -w "$evil/x"
check "escapes: --trace names a file" exits_with 7 'ring' -p "$demo" --trace "$evil"
check "escapes: -o names a file" exits_with 10 'x1b' -p "$demo" -b -o "$evil/x"
check "escapes: diff names a file" exits_with 10 'x1b' diff "$evil" "$evil"
check "escapes: export names a file" exits_with 10 'x1b' export "$evil" --csv -
check "escapes: an unknown short option" exits_with 1 'x1b' "-$esc"
check "escapes: a process's name" exits_with 2 'no process called .a.x1b' "a$esc"
check "escapes: an unknown long option" exits_with 1 'x1b' "--a$esc"
check "escapes: a value of an option" exits_with 1 'not .*x1b' -d "1$esc"
check "escapes: a value of an option of diff" exits_with 1 'x1b' diff --fail-over "1$esc"
check "escapes: an unknown option of export" exits_with 1 'x1b' export "--a$esc"
check "escapes: marks that turn or hide text" exits_with 2 'u\{202e\}' "a$(printf '\342\200\256')"
check "escapes: letters of any script stay" exits_with 10 '中文' -r "$work/中文" -b
"$top" -p "$demo" --snapshot "$evil" >"$work/out"
is "escapes: --snapshot names its file" "$? $(is_tame "$work/out" && grep -c 'x1b\]0;owned' "$work/out")" "0 1"
"$top" diff "$evil" "$evil" >"$work/out" 2>"$work/err"
is "escapes: diff names its files" "$? $(is_tame "$work/out" && grep -c 'x1b\]0;owned' "$work/out")" "0 2"
"$top" export "$work/bad.db" --csv "$evil.csv" 2>"$work/err"
is "escapes: export names its file" "$? $(is_tame "$work/err" && grep -c 'x1b\]0;owned' "$work/err")" "0 1"
# Closed descriptors stay unused: neither a file nor the process's control page gets output or messages.
"$top" -p "$demo" --json -d 0.1 -o "$work/closed.json" <&- >&- 2>&- &
closed=$!
wait_until 60 test -s "$work/closed.json"
is "closed descriptors: rtl-top opens /dev/null there" "$(readlink "/proc/$closed/fd/0" "/proc/$closed/fd/1" "/proc/$closed/fd/2" | sort -u)" /dev/null
kill "$closed"
wait "$closed"
"$top" -p "$demo" -b -n 1 >&- 2>"$work/err"
is "closed standard output: rtl-top reports it" "$? $(cat "$work/err")" '12 rtl-top: cannot write to standard output: Bad file descriptor'
# SQLite's messages, with words of the file's schema
fails_escaped() { # FILE ARGS...: fails with one line that has SQLite's message, escaped
    "$top" "$@" >"$work/out" 2>"$work/err" && return 1
    cat -v "$work/err"
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q 'x1b' "$work/err" && is_tame "$work/err"
}
damage="PRAGMA writable_schema=ON; UPDATE sqlite_master SET name = 'a' || char(27) || '[31m', tbl_name = 'a' || char(27) || '[31m', sql = 'CREATE TABLE nonsense' WHERE name ="
cp "$evil" "$work/schema.db"
sqlite3 "$work/schema.db" "$damage 'rtl_kernel'"
check "escapes: SQLite's message on replay" fails_escaped -r "$work/schema.db" -b
check "escapes: SQLite's message on diff" fails_escaped diff "$work/schema.db" "$work/schema.db"
cp "$work/bad.db" "$work/schema2.db"
sqlite3 "$work/schema2.db" "$damage 'rocpd_op'"
check "escapes: SQLite's message on export" fails_escaped export "$work/schema2.db" --csv -
sqlite3 "$evil" "UPDATE rtl_recording SET kind = 'a' || char(27) || '[31m', title = char(27) || ']0;owned' || char(7), comm = char(27), recorder = char(27)"
check "escapes: a recording's title" exits_with 15 'x1b' -r "$evil" --recording 9 -b
"$top" -r "$evil" -b >"$work/out"
is "escapes: frames of a hostile recording" "$? $(is_tame "$work/out" && echo tame)" "0 tame"
"$top" diff "$evil" "$evil" >"$work/out"
is "escapes: differences of hostile recordings" "$? $(is_tame "$work/out" && echo tame)" "0 tame"
finish
