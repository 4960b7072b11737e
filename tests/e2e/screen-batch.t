#!/bin/sh
# Outputs for programs, the command line, and every refusal with its exit status and a line that says what to do.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

# exits_with STATUS PATTERN ARGS...: exit status, and one line on stderr that matches
exits_with() {
    wanted=$1 pattern=$2
    shift 2
    "$top" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    cat "$work/err"
    [ "$status" = "$wanted" ] || { echo "status $status"; return 1; }
    [ "$wanted" = 0 ] || { [ "$(wc -l <"$work/err")" = 1 ] && grep -qE "^rtl-top: .*$pattern" "$work/err"; }
}

start_demo --kernels 30 --gpus 2 --rate 5000

# --- JSON, read by jq ---
"$top" -p "$demo" --json -n 3 -d 0.3 >"$work/json"
is "JSON: one line for each frame" "$(wc -l <"$work/json")" 3
is "JSON: jq reads every line as an object" "$(jq -c 'type' "$work/json" | sort | uniq -c | tr -s ' ')" ' 3 "object"'
is "JSON: keys of a frame" "$(jq -rs '.[2] | keys_unsorted | join(" ")' "$work/json")" \
    'version pid comm time_ns time_ns_text window_ns mode in_force state notes dispatches signals queues gpus copies api step kernels'
is "JSON: keys of a kernel" "$(jq -rs '.[2].kernels[0] | keys_unsorted | join(" ")' "$work/json")" \
    'name short family calls timed total_ns min_ns max_ns p50_ns p90_ns p99_ns launch_p50_ns launch_p99_ns window'
is "JSON: keys of a kernel's window" "$(jq -rs '.[2].kernels[0].window | keys_unsorted | join(" ")' "$work/json")" 'calls total_ns p50_ns p99_ns launch_p50_ns launch_p99_ns p50_change p99_change'
is "JSON: keys of a queue" "$(jq -rs '.[2].queues[0] | keys_unsorted | join(" ")' "$work/json")" 'id gpu name way way_why depth dispatches wait gap window failed error'
is "JSON: queues have path and reason" "$(jq -rs '.[2].queues[:2][] | "\(.way) \(.way_why)"' "$work/json" | tr '\n' '|')" \
    'native default|demoted index_moved|'
is "JSON: keys of signals, GPUs, dispatches and waits" "$(jq -rs '.[2] | (.signals, .gpus[0], .dispatches, .queues[0].wait) | keys_unsorted | join(" ")' "$work/json" | tr '\n' '|')" \
    'in_use free created peak limit|id name pci uuid busy busy_ns verdict verdict_sentence unknown host_call host_call_share wait_p99_ns idle causes gaps clock|counted timed untimed|p50_ns p99_ns|'
is "JSON: keys of an idle class and of a GPU's clock" "$(jq -rs '.[2].gpus[0] | (.idle[0], .clock) | keys_unsorted | join(" ")' "$work/json" | tr '\n' '|')" \
    'below_ns count total_ns|tick_hz residual_ns residual_max_ns drift_ppm|'
is "JSON: keys of copies" "$(jq -rs '.[2].copies[0] | (., .window) | keys_unsorted | join(" ")' "$work/json" | tr '\n' '|')" \
    'gpu direction count timed untimed bytes timed_bytes total_ns min_ns max_ns p50_ns p99_ns window|count bytes bytes_per_s total_ns p50_ns p99_ns|'
is "JSON: copies are listed by GPU and direction" "$(jq -c '[.copies[] | [.gpu, .direction]]' "$work/json" | sort -u)" \
    '[[0,"h2d"],[0,"d2h"],[1,"h2d"],[1,"d2h"],[1,"p2p"]]'
is "JSON: the bandwidth of copies is the window's" "$(jq -s '[.[1:][] | .window_ns as $ns | .copies[].window
    | .bytes_per_s - .bytes * 1e9 / $ns] | length > 0 and all(. < 2 and . > -2)' "$work/json")" true
is "JSON: idle classes ascend, the last has no bound" "$(jq -rs '.[2].gpus[0].idle | map(.below_ns) | (.[:-1] | . == sort and . == unique and length > 3) and .[-1] == null' "$work/json")" true
is "JSON: every value that is not a name is a number or null" "$(jq -s '[.[] | paths(scalars, . == null) as $p
    | select($p[-1] | tostring | test("^(name|short|family|comm|mode|in_force|state|pci|uuid|verdict|verdict_sentence|unknown|cause|kernel_before|kernel_after|queue_before|queue_after|direction|way|way_why|[a-z_]+_text)$") | not) | getpath($p) | type] | unique - ["null", "number"]' -c "$work/json")" '[]'
is "JSON: the first frame has no window" "$(jq -s '.[0] | .window_ns == null and all(.kernels[]; .window.calls == null)' "$work/json")" true
is "JSON: the first frame judges no GPU, and says why" "$(jq -sc '.[0].gpus[0] | [.busy, .verdict, .wait_p99_ns, .unknown]' "$work/json")" \
    '[null,null,null,"first_frame"]'
is "JSON: a single frame has the window of one interval, and totals" "$("$top" -p "$demo" --json -n 1 -d 0.3 | jq -s 'length == 1 and
    (.[0] | .window_ns > 100000000 and .window_ns < 60000000000 and .gpus[0].busy != null and .kernels[0].calls > .kernels[0].window.calls)')" true
is "CSV: a single frame has the window of one interval" "$("$top" -p "$demo" --csv -n 1 -d 0.3 | awk -F, 'NR == 2 { print ($(NF - 7) > 1e8) }')" 1
has "text: a single frame has the window of one interval" "$("$top" -p "$demo" -b -n 1 -d 0.3)" '^window [0-9.]+m?s  totals since start'
has "text: --window all has the totals at once" "$("$top" -p "$demo" -b -n 1 -d 3600 --window all)" '^window since start '
is "JSON: later frames have a window" "$(jq -s 'all(.[1:][]; .window_ns > 100000000 and (.kernels | map(.window.calls) | add) > 0)' "$work/json")" true
is "JSON: windows add up to the totals" "$(jq -s '(.[1].kernels | map({(.name): .calls}) | add) as $before
    | .[2].kernels | all(.calls - .window.calls == $before[.name])' "$work/json")" true
is "JSON: quantiles ascend" "$(jq -s 'all(.[].kernels[]; .timed == 0 or (.min_ns * 0.99 <= .p50_ns and .p50_ns <= .p90_ns and .p90_ns <= .p99_ns and .p99_ns <= .max_ns * 1.01))' "$work/json")" true
is "JSON: state, mode, pid, command and version" "$(jq -rs '.[0] | "\(.state) \(.mode) \(.pid) \(.comm) \(.version)"' "$work/json")" "live default $demo segment_demo 1"
is "JSON: dispatches list every reason" "$(jq -rs '.[0].dispatches.untimed | has("own_signal") and has("no_signal") and has("abandoned")' "$work/json")" true
is "JSON: busy is between 0 and 1" "$(jq -s 'all(.[1:][].gpus[]; .busy >= 0 and .busy <= 1)' "$work/json")" true
is "JSON: -F selects kernels" "$("$top" -p "$demo" --json -n 1 -F gemm | jq '.kernels | length > 0 and all(.short | test("gemm"))')" true
is "JSON: -s sorts kernels" "$("$top" -p "$demo" --json -n 1 -s calls | jq '[.kernels[].calls] | . == (sort | reverse)')" true
is "JSON: -s - reverses the order" "$("$top" -p "$demo" --json -n 1 -s -calls | jq '[.kernels[].calls] | . == sort')" true
is "JSON: short names are unique" "$("$top" -p "$demo" --json -n 1 | jq '[.kernels[].short] | length == (unique | length)')" true

# --- CSV ---
"$top" -p "$demo" --csv -n 2 -d 0.2 >"$work/csv"
is "CSV: has a header and a line for each kernel and frame" "$(wc -l <"$work/csv")" 61
is "CSV: every line has 22 fields" "$(sed 's/"[^"]*"/x/g' "$work/csv" | awk -F, '{ print NF }' | sort -u)" 22
is "CSV: has one header" "$(grep -c '^time_ns,' "$work/csv")" 1

# --- text ---
"$top" -p "$demo" -b -n 2 -d 0.2 >"$work/text"
is "text: -n 2 prints two frames" "$(grep -c '^rtl-top  segment_demo' "$work/text")" 2
check "text: has all kernels" test "$(grep -cE ' (vec[48]|elementwise) ' "$work/text")" -gt 4
check "text: queues have the names of traces" grep -qE '^G[01] [0-9a-f]+:00.0 queue [0-9]+  depth ' "$work/text"
check "text: queues have their path" grep -qE '^G[01] .* queue 2  depth .*  way demoted \(index_moved\)$' "$work/text"
check "text: has GPUs" grep -qE '^G0 [0-9a-f]+:00.0 gfx.*busy [0-9.]+%' "$work/text"
check "text: has copies" grep -qE '^G1 [0-9a-f]+:00.0 copies P2P  [0-9.k]+ [0-9.]+/s  bytes [0-9.]+[MG] [0-9.]+[MG]/s  p50 [0-9.]+µs p99 [0-9.]+µs' "$work/text"
check "text: has no control characters" sh -c "! LC_ALL=C grep -q '[[:cntrl:]]' '$work/text'"
is "text: -o writes into a file" "$("$top" -p "$demo" -b -n 1 -o "$work/file" && grep -c '%TIME' "$work/file")" 1
is "JSON: a reader that closes the pipe is no error" "$("$top" -p "$demo" --json -d 0.05 | head -n 1 | jq .version; echo)" 1
check "-o: a full disk is reported" exits_with 12 'cannot write to /dev/full: No space' -p "$demo" -b -n 1 -o /dev/full
check "-o: a missing folder is reported" exits_with 10 'cannot write .*: No such file' -p "$demo" -b -n 1 -o "$work/none/file"
if [ -w /dev/full ]; then
    "$top" -p "$demo" --json -n 1 >/dev/full 2>"$work/err"
    is "JSON: a full disk on standard output is reported" "$? $(cat "$work/err")" "12 rtl-top: cannot write to standard output: No space left on device"
    "$top" --help >/dev/full 2>/dev/null
    is "--help: a full disk on standard output exits with 1" $? 1
    lock_for_viewing_all
    "$top" list >/dev/full 2>"$work/err"
    is "list: a full disk on standard output is reported" "$? $(cat "$work/err")" "12 rtl-top: cannot write to standard output: No space left on device"
    unlock_viewing
    "$top" completions bash >/dev/full 2>/dev/null
    is "completions: a full disk on standard output exits with 12" $? 12
fi

# --- the command line ---
check "command line: -h exits with 0" exits_with 0 '' -h
check "command line: diff --help exits with 0" exits_with 0 '' diff --help
check "command line: diff --help lists its options" grep -q 'fail-over' "$work/out"
check "command line: -V exits with 0" exits_with 0 '' -V
check "command line: -s help exits with 0" exits_with 0 '' -s help
check "command line: -s help lists the keys" grep -qE '^p99 ' "$work/out"
check "command line: an unknown option is refused" exits_with 1 'no option -y.*--help' -y
check "command line: an unknown sort key is refused" exits_with 1 '-s help' -p 1 -s nothing
check "command line: a process list with a gap is refused" exits_with 1 'needs pids such as' -p 1,,2 -b
check "command line: -o with an empty name is refused" exits_with 1 "--output needs the name of a file, not ''" -p 1 -b -o ''
check "command line: --snapshot with an empty name is refused" exits_with 1 "--snapshot needs the name of a file" -p 1 --snapshot ''
check "command line: export --csv with an empty name is refused" exits_with 1 '--csv needs a file to write' export x --csv ''
check "command line: diff with an empty name is refused" exits_with 1 'diff needs two recordings' diff '' x
check "command line: -d 0 is refused" exits_with 1 '-d needs' -p 1 -d 0
check "command line: a screen needs a terminal" exits_with 1 'not a terminal: use -b, --csv or --json' -p "$demo"
check "command line: an unknown process is reported before the missing terminal" exits_with 2 "no process 99999999" -p 99999999
check "command line: a list of processes needs a terminal" exits_with 1 'not a terminal' -d 1
check "command line: -b without a process lists the traced ones" exits_with 1 "-p PID.* $demo" -b

# --- processes that can't be watched ---
"$top" -p 2147483647 -b >/dev/null 2>"$work/err"
is "unknown process: exits with 2" "$?" 2
sleep 1000 &
sleeper=$!
tap_pids="$tap_pids $sleeper"
check "untraced process: exits with 3 and says how to trace" exits_with 3 'start it with rtl-top run' -p "$sleeper" -b
# A segment of a later version of the library: memfd_create, magic, major version 99
perl -e 'my $name = "rtl-segment"; my $fd = syscall(319, $name, 3); open my $f, "+<&=", $fd or die; syswrite $f, pack("CA7SSL", 255, "RTLSEG1", 99, 0, 4096) . "\0" x 200000; sleep 1000' &
newer=$!
tap_pids="$tap_pids $newer"
wait_until 60 is_traced "$newer"
check "newer segment: exits with 5 and prints both versions" exits_with 5 '99' -p "$newer" -b
if can_be_other_user "another user's process"; then
    chmod 711 "$work" # the other user may not have access to the sources' folder
    cp "$top" "$work/rtl-top"
    as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$work/rtl-top" "$@" >"$work/out" 2>"$work/err" </dev/null; }
    as_nobody -p "$demo" -b -n 1
    is "another user's process: exits with 4" "$?" 4
    check "another user's process: the message names the owner" grep -qE 'root|uid 0' "$work/err"
    is "another user's process: prints one line" "$(wc -l <"$work/err")" 1
    as_nobody -b
    is "another user's process: is not listed" "$? $(grep -c "$demo" "$work/err")" '1 0'
fi

# --- the process ends while rtl-top watches it ---
rm "$work/json" "$work/text"
"$top" -p "$demo" --json -d 0.1 >"$work/json" 2>"$work/err" &
viewer=$!
tap_pids="$tap_pids $viewer"
wait_until 60 test -s "$work/json"
end_process "$demo" KILL
wait "$viewer"
is "process ends: rtl-top exits with 6" $? 6
is "process ends: the last frame has the state exited" "$(tail -n 1 "$work/json" | jq -r .state)" exited
is "process ends: only one frame has the state exited" "$(jq -r .state "$work/json" | grep -c exited)" 1
start_demo --kernels 5
"$top" -p "$demo" -b -d 3600 >"$work/text" &
viewer=$!
tap_pids="$tap_pids $viewer"
wait_until 60 test -s "$work/text"
end_process "$demo" KILL
check "process ends: rtl-top ends at once, despite a long interval" wait_until 60 ended "$viewer"
check "process ends: the text has its state" grep -q 'exited' "$work/text"
start_demo --kernels 5 --unload --seconds 0.2
check "unloaded library: JSON keeps its kernels" sh -c "'$top' -p $demo --json -n 1 | jq -e '.kernels | length == 5'"
finish
