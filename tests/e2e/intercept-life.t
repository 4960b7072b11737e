#!/bin/sh
# Coming and going: the application behaves as it would without the library, whatever happens to the process, and nothing
# that was counted is lost.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

# ROCr 6.4 can't be started a second time in a process; then there is nothing to see but that it stays like that.
tools=
play again
grep -q '^holding' "$work/out"
twice=$?
close_scene
unset tools
play again
if [ "$twice" = 0 ]; then
    check "again: the runtime was shut down and started twice; all accounted for" wait_until 60 settled 0
    check "again: counts go on in the same segment" counted_as_launched
    is "again: it is live" "$(look state)" "state live"
    close_scene
    is "again: ends well" "$status" 0
else
    close_scene
    is "again: fails as without the library" "$status" 2
    has "again: in the runtime" "$(cat "$work/err")" 'hsa_init: HSA_STATUS_ERROR'
fi

play fork
check "fork: all over" wait_until 60 settled 0
check "fork: children counted nothing" counted_as_launched
is "fork: it is said" "$(look note)" "note forked"
close_scene
is "fork: ends well" "$status" 0

# With work in flight; as without the library. (As seen by a shell: 128 + signal.)
for ending in "exit 3" "_exit 3" "abort 134" "return 0" "exec 0" "kill 137" "term 143" "shutdown 0"; do
    how=${ending% *}
    play end "$how"
    wait_until 60 settled 1
    check "end by $how: in flight meanwhile" settled 1
    close_scene
    is "end by $how: as without the library" "$status" "${ending#* }"
    check "end by $how: nothing of ours is said" sh -c "! grep librtl '$work/err'"
done

# And with three threads that go on dispatching while the process ends.
for ending in "exit 3" "_exit 3" "abort 134"; do
    how=${ending% *}
    play storm "$how"
    close_scene
    is "end by $how in a storm: as without the library" "$status" "${ending#* }"
done

# The library has to do without something.
LD_PRELOAD=$tap_top/$O/tests/programs/intercept_refuse_preload.so
REFUSE=memfd
export LD_PRELOAD REFUSE
play any
is "no memfd: the program runs" "$(grep -c launched "$work/out")" 10
has "no memfd: one line says so" "$(cat "$work/err")" '^librtl: no memfd'
is "no memfd: no more than one" "$(grep -c . "$work/err")" 1
check "no memfd: it isn't traced" sh -c "! '$dump' $program"
close_scene
is "no memfd: ends well" "$status" 0

REFUSE=thread
play any
check "no thread: all accounted for" wait_until 60 settled 0
check "no thread: counted" counted_as_launched
is "no thread: under its reason" "$(look untimed | awk '$2 == "no_worker" { print $3 }')" 1000
is "no thread: one line says so" "$(grep -c '^librtl: no completion worker' "$work/err")" 1
close_scene
is "no thread: ends well" "$status" 0
unset LD_PRELOAD REFUSE

# The limit would kill whoever makes a file larger. 0 can't be had here: the program and the model write files too.
NOOP_FSIZE=100000
export NOOP_FSIZE
tools="$noop $tap_top/$O/librtl.so"
play any
is "a file size limit: the program runs" "$(grep -c launched "$work/out")" 10
has "a file size limit: one line says so" "$(cat "$work/err")" '^librtl: .*file size limit'
close_scene
is "a file size limit: ends well" "$status" 0
unset NOOP_FSIZE tools

# Nothing in flight: the worker sleeps for good. It takes no signal of the application's at any time.
play any
worker() {
    for task in /proc/"$program"/task/*; do
        if [ "$(cat "$task/comm")" = rtl-worker ]; then echo "$task"; fi
    done
}
check "idle: all over" wait_until 60 settled 0
check "idle: it parks" wait_until 60 sh -c "'$dump' $program worker | grep -q 'parked 1'"
task=$(worker)
sleeps() { # it says that it parks a moment before it does
    switches=$(grep ctxt_switches "$task/status")
    sleep 0.5
    [ "$(grep ctxt_switches "$task/status")" = "$switches" ]
}
check "idle: nothing wakes it" wait_until 60 sleeps
has "it blocks every signal that can be blocked" "$(grep SigBlk "$task/status")" 'fffffff[ce]7ffbfeff'
close_scene

# The only reader of its standard error has gone: SIGPIPE would kill it, and does where the runtime itself has something to
# say at the end.
unheard() { # library
    rm -f "$work/code"
    (RTL_MODE=wrong HSA_TOOLS_LIB=$1 tests/vgpu/run ${RTL_RELEASE:+--release "$RTL_RELEASE"} -- \
        "$O/tests/programs/intercept_scenes" any </dev/null 2>&1 >"$work/out"; echo "$?" >"$work/code") | :
    wait_until 60 test -s "$work/code"
}
unheard ''
plain=$(cat "$work/code")
unheard "$tap_top/$O/librtl.so"
has "standard error that nobody reads: the program runs on" "$(cat "$work/out")" '^holding'
is "standard error that nobody reads: the program ends as without the library" "$(cat "$work/code")" "$plain"

# modes
RTL_MODE=off
export RTL_MODE
play any
is "off: the segment says so" "$(look mode)" "mode off"
is "off: nothing is counted" "$(look counted)" "counted 0"
close_scene
RTL_MODE=$(printf 'fastest\033[2J\n!')
play any
is "a wrong mode: default is used" "$(look mode)" "mode default"
is "a wrong mode: it is noted" "$(look note)" "note mode_unknown"
has "a wrong mode: one line says so" "$(cat "$work/err")" '^librtl: RTL_MODE=fastest\?\[2J\?! is not a mode'
is "a wrong mode: no more than one" "$(grep -c . "$work/err")" 1
close_scene
is "a wrong mode: ends well" "$status" 0
unset RTL_MODE

# without a GPU the runtime doesn't start, with the library as without
"$O/tests/programs/intercept_scenes" any </dev/null >"$work/plain" 2>&1
HSA_TOOLS_LIB=$tap_top/$O/librtl.so "$O/tests/programs/intercept_scenes" any </dev/null >"$work/with" 2>&1
check "no GPU: no difference" diff "$work/plain" "$work/with"
finish
