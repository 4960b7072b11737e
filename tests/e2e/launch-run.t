#!/bin/sh
# rtl-top run without a screen: the command has its output, signals and exit status as without it. The command and its
# descendants are traced.
# shellcheck disable=SC2086 # $scenes has several words
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

top=$tap_top/$O/rtl-top
unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE
gpu_command() { echo "tests/vgpu/run ${RTL_RELEASE:+--release $RTL_RELEASE} --script $work/script --truth $work/truth --"; }
scenes="$(gpu_command) $O/tests/programs/intercept_scenes any"
# start_run COMMAND LINE...: start it in the background with its standard input held open; its pid is $run
start_run() {
    rm -f "$work/in" "$work/out" "$work/err" "$work/frames"
    mkfifo "$work/in"
    "$@" <"$work/in" >"$work/out" 2>"$work/err" &
    run=$!
    tap_pids="$tap_pids $run"
    exec 3>"$work/in"
}
end_run() { # let it end: $status
    exec 3>&-
    wait "$run"
    status=$?
    tap_pids=
}
wait_written() { wait_until 120 grep -q "$1" "$2"; } # PATTERN FILE

# --- traced ---
start_run "$top" run --json -d 0.1 -o "$work/frames" -- $scenes
check "run: the command has its own standard input and output" wait_written '^holding' "$work/out"
check "run: the command is traced and watched" wait_until 60 sh -c "tail -n 1 '$work/frames' | jq -e '.kernels | map(.calls) | add >= 1000'"
end_run
is "run: the command's exit status is passed on" "$status" 0
is "run: standard error is empty" "$(cat "$work/err")" ""
is "run: the command's output has no line of rtl-top" "$(grep -c '^rtl-top\|%TIME\|^{' "$work/out")" 0
start_run "$top" run --json -d 0.1 -o "$work/frames" -- sh -c "sh -c '$scenes; exit 3'; exit \$?"
check "run: a descendant is traced" wait_until 120 sh -c "tail -n 1 '$work/frames' | jq -e '.kernels | map(.calls) | add >= 1000'"
end_run
is "run: the exit status is the command's, not a descendant's" "$status" 3
NOOP_COUNT=1 HSA_TOOLS_LIB=$noop start_run "$top" run -b -n 1 -o "$work/frames" --mode lite -- $scenes
check "run with another tool: the mode is set" wait_written '^mode lite' "$work/frames"
check "run -n 1: the command runs on after the last frame" wait_written '^holding' "$work/out"
end_run
has "run with another tool: that tool is loaded, too" "$(cat "$work/err")" '^noop: [0-9]{4} packets$'
start_run "$top" run -w "$work/run.db" -d 0.1 -- $scenes
wait_written '^holding' "$work/out"
check "run -w without a terminal: records" wait_until 60 sh -c "'$top' -r '$work/run.db' --json | tail -n 1 | jq -e '.kernels | map(.calls) | add >= 1000'"
end_run
is "run -w without a terminal: prints no frame" "$(grep -c '%TIME' "$work/out")" 0
start_run "$top" run --snapshot "$work/once.db" -- $scenes
check "run --snapshot: the command runs" wait_written '^holding' "$work/out"
end_run
is "run --snapshot: exit status and output are the command's" "$status $(grep -c 'written to\|%TIME' "$work/out")" "0 0"
has "run --snapshot: says what it has written" "$(cat "$work/err")" '^rtl-top: [0-9]+ (kernels of process [0-9]+|process(es)?) written to .*once.db$'
is "run --snapshot: the file has only a snapshot" "$(sqlite3 "$work/once.db" "SELECT DISTINCT kind FROM rtl_recording")" snapshot
check "run --snapshot: diff reads the file" "$top" diff --cumulative "$work/once.db" "$work/once.db"
ran_refused=$("$top" run --snapshot "$work/once.db" --json -- true 2>&1)
has "run --snapshot: --json is refused" "$ran_refused" 'can.t be combined with'
refused=$("$top" run --snapshot "$work/once.db" --trace "$work/two.db" -- true 2>&1)
has "run --snapshot: --trace is refused" "$refused" '^rtl-top: --trace and --snapshot exclude one another'
for output in '--snapshot' '--trace' '-b -w' '-b -o'; do
    # shellcheck disable=SC2086 # options
    "$top" run $output "$work/nowhere/x.db" -- touch "$work/started" 2>"$work/err"
    is "run $output: an output that can't be written is refused" "$? $(cat "$work/err")" \
        "10 rtl-top: cannot write $work/nowhere/x.db: No such file or directory"
    check "run $output: the refusal comes before the command starts" test ! -e "$work/started"
done
echo text >"$work/no.db"
"$top" run --snapshot "$work/no.db" -- touch "$work/started" 2>"$work/err"
is "run --snapshot: a file that is no recording is refused" "$? $(ls "$work/started" 2>/dev/null)" "11 "
is "run --force --snapshot: the old file stays until the new one replaces it" \
    "$("$top" run --force --snapshot "$work/no.db" -- sh -c "cat '$work/no.db'" 2>/dev/null; echo $?)" "text
3"
"$top" run --snapshot "$work/nothing.db" -- true 2>"$work/err"
is "run --snapshot of an untraced command: exit status is 3" "$?" 3
has "run --snapshot of an untraced command: says that nothing was traced" "$(cat "$work/err")" "^rtl-top: nothing is written to $work/nothing.db: no process was traced$"
check "run --snapshot of an untraced command: writes no file" test ! -e "$work/nothing.db"
start_run "$top" run --trace "$work/trace.db" -- $scenes
wait_written '^holding' "$work/out"
end_run
is "run --trace: every dispatch is a row" "$(sqlite3 "$work/trace.db" 'SELECT count(*) >= 1000 FROM rocpd_op')" 1
has "run --trace: says what it has written" "$(cat "$work/err")" '^rtl-top: [0-9]+ dispatches .* in .*trace.db, 0 lost$'
is "run --trace: exit status is the command's" "$status" 0

# --- transparent ---
check_status() { # STATUS NAME COMMAND...: compare the exit status
    wanted=$1 name=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    is "run, $name" "$?" "$wanted"
}
check_status 7 "exit status 7: passed on" "$top" run -b -- sh -c 'cat >/dev/null; exit 7' </dev/null
# shellcheck disable=SC2016 # the command expands it
check_status 137 "command killed by SIGKILL: exit status is 137" "$top" run -b -- sh -c 'kill -9 $$'
check_status 127 "unknown command: exit status is 127" "$top" run -b -- no-such-command
has "run, unknown command: says so" "$(cat "$work/err")" '^rtl-top: no-such-command: not found in PATH$'
check_status 127 "missing file: exit status is 127" "$top" run -b -- "$work/none"
has "run, missing file: says so" "$(cat "$work/err")" 'No such file'
: >"$work/plain"
check_status 126 "file that isn't executable: exit status is 126" "$top" run -b -- "$work/plain"
has "run, file that isn't executable: says so" "$(cat "$work/err")" 'Permission denied'
printf '#!%s/none\n' "$work" >"$work/orphan"
chmod +x "$work/orphan"
check_status 127 "missing interpreter: exit status is 127" "$top" run -b -- "$work/orphan"
has "run, missing interpreter: says so" "$(cat "$work/err")" 'interpreter'
echo mine >"$work/mine"
check_status 10 "existing output file: exit status is 10" "$top" run -b -o "$work/mine" -- touch "$work/touched"
has "run, existing output file: says so" "$(cat "$work/err")" 'mine.*--force'
check "run, existing output file: the command doesn't start" test ! -e "$work/touched"
check_status 0 "options after the command: exit status is 0" "$top" run -b echo -n --json
is "run, options after the command: belong to the command" "$(cat "$work/out")" --json
check_status 0 "odd arguments: exit status is 0" "$top" run -b -- printf '%s|' "a b" "c'\"d" ''
is "run, odd arguments: the command gets them unchanged" "$(cat "$work/out")" "a b|c'\"d||"
check_status 0 "odd environment: exit status is 0" env ODD="$(printf 'a\033\nb')" "$top" run -b -- printenv ODD
is "run, odd environment: the command gets it unchanged" "$(cat "$work/out")" "$(printf 'a\033\nb')"
# shellcheck disable=SC2016 # perl expands it
check_status 7 "SIGCHLD ignored: exit status is the command's" perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$top" run -b -- sh -c 'exit 7'
check_status 0 "signal settings: exit status is 0" "$top" run -b -- sh -c 'grep -E "^Sig(Ign|Blk)" /proc/self/status'
is "run, signal settings: the command gets them unchanged" "$(cat "$work/out")" "$(sh -c 'grep -E "^Sig(Ign|Blk)" /proc/self/status')"

# --- signals ---
for case in TERM:21 INT:22 HUP:23 QUIT:24 USR1:25 USR2:26; do
    signal=${case%:*}
    # shellcheck disable=SC2016 # the command expands it
    start_run env --default-signal "$top" run -b -- sh -c 'trap "exit $2" $1; echo ready; while :; do sleep 0.05; done' - "$signal" "${case#*:}"
    wait_written ready "$work/out"
    kill "-$signal" "$run"
    end_run
    is "run: SIG$signal is passed on, and the exit status comes back" "$status" "${case#*:}"
done
start_run env --default-signal "$top" run -b -- "$O/tests/programs/launch_play"
wait_written holding "$work/out"
kill -TERM "$run"
end_run
is "run: a command ended by SIGTERM gives exit status 143" "$status" 143
# shellcheck disable=SC2016 # the command expands it
start_run nohup "$top" run -b -- sh -c 'echo ready; cat; exit 9'
wait_written ready "$work/out"
kill -HUP "$run"
end_run
is "run under nohup: SIGHUP ends neither rtl-top nor the command" "$status" 9

play="$O/tests/programs/launch_play"
start_run env --default-signal "$top" run --trace "$work/ended.db" -- tests/vgpu/run -- "$play" runtime
check "run --trace: a trace begins" wait_until 60 grep -q rtl-control "/proc/$run/maps"
kill -TERM "$run"
end_run
is "run --trace: SIGTERM ends the command" "$status" 143
has "run --trace: SIGTERM completes the trace" "$(cat "$work/err")" 'dispatches of process .* 0 lost'

# --- why a command is not traced ---
# check_untraced NAME PATTERN COMMAND...: the command holds; rtl-top gives the reason while it runs and after its end
check_untraced() {
    name=$1 pattern=$2
    shift 2
    start_run env --default-signal "$top" run -b -- "$@"
    wait_written holding "$work/out"
    check "run, $name: the reason is printed while the command runs" wait_written "^rtl-top: process [0-9]* (.*) $pattern" "$work/err"
    kill -TERM "$run"
    end_run
    check "run, $name: the reason is printed after the command's end" wait_written "${after:-^rtl-top: process [0-9]* (.*) has ended and was not traced: it $pattern}" "$work/err"
    is "run, $name: exit status is passed on" "$status" 143
}
never='ended before it loaded an HSA runtime, so it was not traced$'
after="^rtl-top: .*launch_play $never"
check_untraced "no runtime" 'was started with HSA_TOOLS_LIB=.*librtl.so but .*no HSA runtime' "$play"
after=
for times in 1 2 3 4 5 6; do "$top" run -b -- sh -c ": $times"; done >"$work/out" 2>"$work/err"
is "run, short commands: the message is the same, seen or not" \
    "$(sort "$work/err" | uniq -c | xargs)" "6 rtl-top: sh ${never%?}"
[ -e /dev/kfd ] || check_untraced "no GPU" 'found no GPU: there is no /dev/kfd' "$play" runtime
check_untraced "environment lost" 'uses the GPU and is not traced: .*rtl-top run --' \
    env -u HSA_TOOLS_LIB tests/vgpu/run -- "$play" runtime
REFUSE=memfd check_untraced "no segment" 'has librtl.so loaded but no segment' \
    tests/vgpu/run --preload "$O/tests/programs/intercept_refuse_preload.so" -- "$play" runtime
if unshare -m true 2>/dev/null; then
    mkdir "$work/gone"
    cp "$O/librtl.so" "$work/gone"
    library=$work/gone/librtl.so
    start_run env --default-signal "$top" run -b --library "$library" -- unshare -m sh -c "mount -t tmpfs none '$work/gone' && exec tests/vgpu/run -- '$play' runtime"
    check "run, library hidden in a mount namespace: says so" wait_written 'where it runs there is no such file: mount librtl.so' "$work/err"
    kill -TERM "$run"
    end_run
else
    echo "ok $((tap_number += 1)) - run, library hidden in a mount namespace # SKIP the kernel refuses a mount namespace"
fi
mkdir "$work/old"
cp "$O/tests/programs/launch_segment_preload.so" "$work/old/librtl.so"
start_run env --default-signal "$top" run -b --library "$work/old/librtl.so" -- tests/vgpu/run -- "$play" runtime
check "run, library of another version: says so" wait_written 'version 99\.0' "$work/err"
kill -TERM "$run"
end_run
echo 'int main(void) { return 4; }' >"$work/static.c"
if ${CC:-gcc} -static -o "$work/static" "$work/static.c" 2>/dev/null; then
    check_status 4 "a static program: exit status is 4" "$top" run -b -- "$work/static"
    has "run, a static program: says so" "$(cat "$work/err")" 'linked statically'
fi
finish
