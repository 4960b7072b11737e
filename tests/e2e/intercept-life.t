#!/bin/sh
# Starts and ends: whatever happens to the process, the application behaves as it would without the library, and no count
# is lost.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

# ROCr 6.4 can't be started twice in a process; then the library must not change that.
tools=
play again
grep -q '^holding' "$work/out"
twice=$?
close_scene
unset tools
play again
if [ "$twice" = 0 ]; then
    check "again: after a second start of the runtime every dispatch is settled" wait_until 60 settled 0
    check "again: counts continue in the same segment" counted_as_launched
    is "again: the state is live" "$(dump_segment state)" "state live"
    close_scene
    is "again: exit status is 0" "$status" 0
else
    close_scene
    is "again: exit status is that without the library" "$status" 2
    has "again: the runtime refuses the second start" "$(cat "$work/err")" 'hsa_init: HSA_STATUS_ERROR'
fi

play fork
check "fork: every dispatch is settled" wait_until 60 settled 0
check "fork: children count nothing in the parent's segment" counted_as_launched
is "fork: the segment has the note" "$(dump_segment note)" "note forked"
close_scene
is "fork: exit status is 0" "$status" 0

# Ends with work in flight, as without the library. (A shell sees 128 + signal.)
for ending in "exit 3" "_exit 3" "abort 134" "return 0" "exec 0" "kill 137" "term 143" "shutdown 0"; do
    how=${ending% *}
    play end "$how"
    wait_until 60 settled 1
    check "end by $how: one dispatch is in flight" settled 1
    close_scene
    is "end by $how: exit status is that without the library" "$status" "${ending#* }"
    check "end by $how: librtl prints nothing" sh -c "! grep librtl '$work/err'"
done

# Ends while three threads go on dispatching.
for ending in "exit 3" "_exit 3" "abort 134"; do
    how=${ending% *}
    play storm "$how"
    close_scene
    is "end by $how in a storm: exit status is that without the library" "$status" "${ending#* }"
done

# The kernel refuses something to the library.
LD_PRELOAD=$tap_top/$O/tests/programs/intercept_refuse_preload.so
REFUSE=memfd
export LD_PRELOAD REFUSE
play any
is "no memfd: the program launches its kernels" "$(grep -c launched "$work/out")" 10
has "no memfd: one line on standard error says so" "$(cat "$work/err")" '^librtl: no memfd'
is "no memfd: standard error has only one line" "$(grep -c . "$work/err")" 1
check "no memfd: the process isn't traced" sh -c "! '$dump' $program"
close_scene
is "no memfd: exit status is 0" "$status" 0

REFUSE=thread
play any
check "no thread: every dispatch is settled" wait_until 60 settled 0
check "no thread: counts equal the program's" counted_as_launched
is "no thread: every dispatch is untimed as no_worker" "$(dump_segment untimed | awk '$2 == "no_worker" { print $3 }')" 1000
is "no thread: one line on standard error says so" "$(grep -c '^librtl: no completion worker' "$work/err")" 1
close_scene
is "no thread: exit status is 0" "$status" 0
unset LD_PRELOAD REFUSE

# The limit kills a process that makes a file larger. 0 isn't possible here: the program and the model write files, too.
NOOP_FSIZE=100000
export NOOP_FSIZE
tools="$noop $tap_top/$O/librtl.so"
play any
is "a file size limit: the program launches its kernels" "$(grep -c launched "$work/out")" 10
has "a file size limit: one line on standard error says so" "$(cat "$work/err")" '^librtl: .*file size limit'
close_scene
is "a file size limit: exit status is 0" "$status" 0
unset NOOP_FSIZE tools

# With nothing in flight the worker stays parked. It never receives a signal of the application.
play any
worker_task() {
    for task in /proc/"$program"/task/*; do
        if [ "$(cat "$task/comm")" = rtl-worker ]; then echo "$task"; fi
    done
}
check "idle: every dispatch is settled" wait_until 60 settled 0
check "idle: the worker parks" wait_until 60 sh -c "'$dump' $program worker | grep -q 'parked 1'"
task=$(worker_task)
worker_sleeps() { # the worker sets "parked" a moment before it sleeps
    switches=$(grep ctxt_switches "$task/status")
    sleep 0.5
    [ "$(grep ctxt_switches "$task/status")" = "$switches" ]
}
check "idle: the worker isn't scheduled" wait_until 60 worker_sleeps
has "idle: the worker blocks every signal that can be blocked" "$(grep SigBlk "$task/status")" 'fffffff[ce]7ffbfeff'
close_scene

# The only reader of standard error has closed it: SIGPIPE would kill the process, and does so where the runtime itself
# prints something at the end.
run_without_reader() { # library
    rm -f "$work/code"
    (RTL_MODE=wrong HSA_TOOLS_LIB=$1 tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} -- \
        "$O/tests/programs/intercept_scenes" any </dev/null 2>&1 >"$work/out"; echo "$?" >"$work/code") | :
    wait_until 60 test -s "$work/code"
}
run_without_reader ''
plain=$(cat "$work/code")
run_without_reader "$tap_top/$O/librtl.so"
has "standard error without a reader: the program runs on" "$(cat "$work/out")" '^holding'
is "standard error without a reader: exit status is that without the library" "$(cat "$work/code")" "$plain"

# Modes
RTL_MODE=off
export RTL_MODE
play any
is "off: the segment's mode is off" "$(dump_segment mode)" "mode off"
is "off: nothing is counted" "$(dump_segment counted)" "counted 0"
close_scene
RTL_MODE=$(printf 'fastest\033[2J\n!')
play any
is "an unknown mode: default is used" "$(dump_segment mode)" "mode default"
is "an unknown mode: the segment has the note mode_unknown" "$(dump_segment note)" "note mode_unknown"
has "an unknown mode: one line on standard error says so" "$(cat "$work/err")" '^librtl: RTL_MODE=fastest\?\[2J\?! is not a mode'
is "an unknown mode: standard error has only one line" "$(grep -c . "$work/err")" 1
close_scene
is "an unknown mode: exit status is 0" "$status" 0
unset RTL_MODE

# Without a GPU the runtime doesn't start, with and without the library
"$O/tests/programs/intercept_scenes" any </dev/null >"$work/plain" 2>&1
HSA_TOOLS_LIB=$tap_top/$O/librtl.so "$O/tests/programs/intercept_scenes" any </dev/null >"$work/with" 2>&1
check "no GPU: the output is that without the library" diff "$work/plain" "$work/with"
finish
