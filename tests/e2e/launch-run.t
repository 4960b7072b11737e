#!/bin/sh
# rtl-top run without a screen: what it starts has its output, its signals and its exit status as without it, and is
# traced; the descendants too.
# shellcheck disable=SC2086 # $scenes are the words of a command line
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

top=$tap_top/$O/rtl-top
unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE
gpu() { echo "tests/vgpu/run ${RTL_RELEASE:+--release $RTL_RELEASE} --script $work/script --truth $work/truth --"; }
scenes="$(gpu) $O/tests/programs/intercept_scenes any"
# begin COMMAND LINE...: in the background, its standard input held open; its pid in $run
begin() {
    rm -f "$work/in" "$work/out" "$work/err" "$work/frames"
    mkfifo "$work/in"
    "$@" <"$work/in" >"$work/out" 2>"$work/err" &
    run=$!
    tap_pids="$tap_pids $run"
    exec 3>"$work/in"
}
end() { # lets it go on to its end: $status
    exec 3>&-
    wait "$run"
    status=$?
    tap_pids=
}
written() { wait_until 120 grep -q "$1" "$2"; } # PATTERN FILE

# --- traced ---
begin "$top" run --json -d 0.1 -o "$work/frames" -- $scenes
check "its standard input and output are its own" written '^holding' "$work/out"
check "it is traced, and watched" wait_until 60 sh -c "tail -n 1 '$work/frames' | jq -e '.kernels | map(.calls) | add >= 1000'"
end
is "its status is passed on" "$status" 0
is "nothing was said" "$(cat "$work/err")" ""
is "nothing of ours is in its output" "$(grep -c '^rtl-top\|%TIME\|^{' "$work/out")" 0
begin "$top" run --json -d 0.1 -o "$work/frames" -- sh -c "sh -c '$scenes; exit 3'; exit \$?"
check "a descendant is traced, too" wait_until 120 sh -c "tail -n 1 '$work/frames' | jq -e '.kernels | map(.calls) | add >= 1000'"
end
is "and the status is the command's" "$status" 3
NOOP_COUNT=1 HSA_TOOLS_LIB=$noop begin "$top" run -b -n 1 -o "$work/frames" --mode lite -- $scenes
check "with another tool" written '^mode lite' "$work/frames"
check "it goes on when the frames are over" written '^holding' "$work/out"
end
has "which is loaded, too" "$(cat "$work/err")" '^noop: [0-9]{4} packets$'
begin "$top" run -w "$work/run.db" -d 0.1 -- $scenes
written '^holding' "$work/out"
check "-w without a terminal records" wait_until 60 sh -c "'$top' -r '$work/run.db' --json | tail -n 1 | jq -e '.kernels | map(.calls) | add >= 1000'"
end
is "and prints nothing" "$(grep -c '%TIME' "$work/out")" 0
begin "$top" run --snapshot "$work/once.db" -- $scenes
check "--snapshot: it runs" written '^holding' "$work/out"
end
is "its status, and its output alone" "$status $(grep -c 'written to\|%TIME' "$work/out")" "0 0"
has "it says what it has written" "$(cat "$work/err")" '^rtl-top: [0-9]+ (kernels of process [0-9]+|process(es)?) written to .*once.db$'
is "a snapshot, and nothing else" "$(sqlite3 "$work/once.db" "SELECT DISTINCT kind FROM rtl_recording")" snapshot
check "it can be compared" "$top" diff --cumulative "$work/once.db" "$work/once.db"
ran_refused=$("$top" run --snapshot "$work/once.db" --json -- true 2>&1)
has "not beside a stream" "$ran_refused" 'can.t be combined with'
refused=$("$top" run --snapshot "$work/once.db" --trace "$work/two.db" -- true 2>&1)
has "nor beside a trace" "$refused" '^rtl-top: --trace and --snapshot exclude one another'
for output in '--snapshot' '--trace' '-b -w' '-b -o'; do
    # shellcheck disable=SC2086 # options
    "$top" run $output "$work/nowhere/x.db" -- touch "$work/started" 2>"$work/err"
    is "$output: what can't be written is refused" "$? $(cat "$work/err")" \
        "10 rtl-top: cannot write $work/nowhere/x.db: No such file or directory"
    check "before the command runs" test ! -e "$work/started"
done
echo text >"$work/no.db"
"$top" run --snapshot "$work/no.db" -- touch "$work/started" 2>"$work/err"
is "so is what is no recording" "$? $(ls "$work/started" 2>/dev/null)" "11 "
is "with --force it stays until there is something to replace it" \
    "$("$top" run --force --snapshot "$work/no.db" -- sh -c "cat '$work/no.db'" 2>/dev/null; echo $?)" "text
3"
"$top" run --snapshot "$work/nothing.db" -- true 2>"$work/err"
is "nothing that could be traced is no success" "$?" 3
has "and it says so" "$(cat "$work/err")" "^rtl-top: nothing is written to $work/nothing.db: no process was traced$"
check "nor a file" test ! -e "$work/nothing.db"
begin "$top" run --trace "$work/trace.db" -- $scenes
written '^holding' "$work/out"
end
is "--trace: every dispatch is a row" "$(sqlite3 "$work/trace.db" 'SELECT count(*) >= 1000 FROM rocpd_op')" 1
has "and it says so" "$(cat "$work/err")" '^rtl-top: [0-9]+ dispatches .* in .*trace.db, 0 lost$'
is "with the command's status" "$status" 0

# --- transparent ---
ran() { # STATUS NAME COMMAND...: status
    wanted=$1 name=$2
    shift 2
    "$@" >"$work/out" 2>"$work/err"
    is "$name" "$?" "$wanted"
}
ran 7 "an exit status" "$top" run -b -- sh -c 'cat >/dev/null; exit 7' </dev/null
# shellcheck disable=SC2016 # its own
ran 137 "killed by a signal: 128 and the signal" "$top" run -b -- sh -c 'kill -9 $$'
ran 127 "no such command" "$top" run -b -- no-such-command
has "is said" "$(cat "$work/err")" '^rtl-top: no-such-command: not found in PATH$'
ran 127 "no such file" "$top" run -b -- "$work/none"
has "is said" "$(cat "$work/err")" 'No such file'
: >"$work/plain"
ran 126 "not executable" "$top" run -b -- "$work/plain"
has "is said" "$(cat "$work/err")" 'Permission denied'
printf '#!%s/none\n' "$work" >"$work/orphan"
chmod +x "$work/orphan"
ran 127 "no interpreter" "$top" run -b -- "$work/orphan"
has "is said" "$(cat "$work/err")" 'interpreter'
echo mine >"$work/mine"
ran 10 "an output that can't be written: nothing is started" "$top" run -b -o "$work/mine" -- touch "$work/touched"
has "is said" "$(cat "$work/err")" 'mine.*--force'
check "really" test ! -e "$work/touched"
ran 0 "what stands behind the command is the command's" "$top" run -b echo -n --json
is "all of it" "$(cat "$work/out")" --json
ran 0 "arguments are not touched" "$top" run -b -- printf '%s|' "a b" "c'\"d" ''
is "none of them" "$(cat "$work/out")" "a b|c'\"d||"
ran 0 "nor is the environment" env ODD="$(printf 'a\033\nb')" "$top" run -b -- printenv ODD
is "whatever is in it" "$(cat "$work/out")" "$(printf 'a\033\nb')"
# shellcheck disable=SC2016 # its own
ran 7 "where SIGCHLD is ignored" perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$top" run -b -- sh -c 'exit 7'
ran 0 "limits that rtl-top has for itself are not passed on" "$top" run -b -- sh -c 'grep -E "^Sig(Ign|Blk)" /proc/self/status'
is "signals are as they were" "$(cat "$work/out")" "$(sh -c 'grep -E "^Sig(Ign|Blk)" /proc/self/status')"

# --- signals ---
for case in TERM:21 INT:22 HUP:23 QUIT:24 USR1:25 USR2:26; do
    signal=${case%:*}
    # shellcheck disable=SC2016 # its own
    begin env --default-signal "$top" run -b -- sh -c 'trap "exit $2" $1; echo ready; while :; do sleep 0.05; done' - "$signal" "${case#*:}"
    written ready "$work/out"
    kill "-$signal" "$run"
    end
    is "SIG$signal is passed on, and its status comes back" "$status" "${case#*:}"
done
begin env --default-signal "$top" run -b -- "$O/tests/programs/launch_play"
written holding "$work/out"
kill -TERM "$run"
end
is "ended by a signal: 128 and the signal" "$status" 143
# shellcheck disable=SC2016 # its own
begin nohup "$top" run -b -- sh -c 'echo ready; cat; exit 9'
written ready "$work/out"
kill -HUP "$run"
end
is "nohup holds for both" "$status" 9

play="$O/tests/programs/launch_play"
begin env --default-signal "$top" run --trace "$work/ended.db" -- tests/vgpu/run -- "$play" runtime
check "a trace begins" wait_until 60 grep -q rtl-control "/proc/$run/maps"
kill -TERM "$run"
end
is "SIGTERM while a trace is recorded is the command's, too" "$status" 143
has "and ends the trace in order" "$(cat "$work/err")" 'dispatches of process .* 0 lost'

# --- why it was not traced ---
# wrong NAME PATTERN COMMAND...: it holds; what is said of it while it runs, and after its end
wrong() {
    name=$1 pattern=$2
    shift 2
    begin env --default-signal "$top" run -b -- "$@"
    written holding "$work/out"
    check "$name: said while it runs" written "^rtl-top: process [0-9]* (.*) $pattern" "$work/err"
    kill -TERM "$run"
    end
    check "$name: and after its end" written "${after:-^rtl-top: process [0-9]* (.*) has ended and was not traced: it $pattern}" "$work/err"
    is "$name: its status is passed on" "$status" 143
}
never='ended before it loaded an HSA runtime, so it was not traced$'
after="^rtl-top: .*launch_play $never"
wrong "no runtime" 'was started with HSA_TOOLS_LIB=.*librtl.so but .*no HSA runtime' "$play"
after=
for times in 1 2 3 4 5 6; do "$top" run -b -- sh -c ": $times"; done >"$work/out" 2>"$work/err"
is "one that is over at once: the same words, whether it was seen or not" \
    "$(sort "$work/err" | uniq -c | xargs)" "6 rtl-top: sh ${never%?}"
[ -e /dev/kfd ] || wrong "no GPU" 'found no GPU: there is no /dev/kfd' "$play" runtime
wrong "environment lost" 'uses the GPU and is not traced: .*rtl-top run --' \
    env -u HSA_TOOLS_LIB tests/vgpu/run -- "$play" runtime
REFUSE=memfd wrong "no segment" 'has librtl.so loaded but no segment' \
    tests/vgpu/run --preload "$O/tests/programs/intercept_refuse_preload.so" -- "$play" runtime
if unshare -m true 2>/dev/null; then
    mkdir "$work/gone"
    cp "$O/librtl.so" "$work/gone"
    library=$work/gone/librtl.so
    begin env --default-signal "$top" run -b --library "$library" -- unshare -m sh -c "mount -t tmpfs none '$work/gone' && exec tests/vgpu/run -- '$play' runtime"
    check "hidden in a mount namespace: said" written 'where it runs there is no such file: mount librtl.so' "$work/err"
    kill -TERM "$run"
    end
else
    echo "ok $((tap_number += 1)) - hidden in a mount namespace: said # SKIP the kernel refuses a mount namespace"
fi
mkdir "$work/old"
cp "$O/tests/programs/launch_segment_preload.so" "$work/old/librtl.so"
begin env --default-signal "$top" run -b --library "$work/old/librtl.so" -- tests/vgpu/run -- "$play" runtime
check "a library of another version: said" written 'version 99\.0' "$work/err"
kill -TERM "$run"
end
echo 'int main(void) { return 4; }' >"$work/static.c"
if ${CC:-gcc} -static -o "$work/static" "$work/static.c" 2>/dev/null; then
    ran 4 "a static program" "$top" run -b -- "$work/static"
    has "is said to be one" "$(cat "$work/err")" 'linked statically'
fi
finish
