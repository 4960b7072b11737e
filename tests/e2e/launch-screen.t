#!/bin/sh
# rtl-top run on the screen: the log file, leaving it with and without the command. The terminal is restored each time.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE
play=$tap_top/$O/tests/programs/launch_play
gpu="$tap_top/tests/vgpu/run ${RTL_RELEASE:+--release $RTL_RELEASE} --"
state=$work/state
# start_session COMMAND...: run it; write its status and the terminal's modes before and after
start_session() {
    rm -rf "$work/before" "$work/after" "$work/viewer" "$state"
    start_terminal 100 24 "trap : INT; stty -a >$work/before; export XDG_STATE_HOME=$state; printf 'typed before\n'
sh -c 'echo \$\$ >$work/viewer; exec $top run -d 0.1 -- $*'; echo status \$?; stty -a >$work/after; exec cat"
}
terminal_restored() {
    wait_until 60 test -s "$work/after" && cmp "$work/before" "$work/after" &&
        test "$(tmux_format '#{alternate_on} #{cursor_flag} #{keypad_cursor_flag}')" = '0 1 0' && shows 'typed before'
}
log_file() { echo "$state"/rtl-top/rtl-top-*.log; }
command_pid() { # the process that rtl-top started, which leads its own session
    sed -n 's/^child \([0-9]*\)$/\1/p' "$(log_file)"
}
find_child() { # from the log, where the shell that becomes the command prints its number
    wait_until 60 sh -c "grep -q '^child' $(log_file)"
    child=$(command_pid)
    tap_pids="$tap_pids $child"
}

say="sh -c \"echo child \\\$\\\$; exec $gpu $play runtime\""
start_session "$say"
check "run: the screen shows the command" shows '%TIME +CALL/s' '\[LIVE\]'
check "run: the screen names the log file" shows "command output: $state/rtl-top/rtl-top-sh-"
find_child
is "run: only the owner can read the log" "$(stat -c '%a' "$state/rtl-top" "$(log_file)" | tr '\n' ' ')" '700 600 '
check "run: the command's output is in the log" wait_until 60 grep -q '^holding' "$(log_file)"
is "run: the command's input is /dev/null" "$(readlink "/proc/$child/fd/0")" /dev/null
check "run: the command has its own session" test "$(ps -o sid= -p "$child" | tr -d ' ')" = "$child"
keys q
check "key q: asks what to do with the command" shows 'the command still runs' 'l leave it running' 'e end it \(SIGTERM\)' 's stay here' "its output: $state/rtl-top/"
keys Escape
check "key q: Esc stays" hides 'the command still runs'
keys q
shows 'the command still runs'
keys q
check "key q: a second q stays" hides 'the command still runs'
keys q
shows 'the command still runs'
keys Down Down Enter
check "key q: Enter on the last line stays" hides 'the command still runs'
check "key q: the screen continues after stay" shows '\[LIVE\]'
keys q
shows 'the command still runs'
keys l
check "key l: restores the terminal" terminal_restored
check "key l: says how to attach again and where the output is" shows "continues as process $child: rtl-top -p $child" 'status 0'
check "key l: the command runs on" is_alive "$child"
start_terminal 100 24 "$top -p $child -d 0.1; exec cat"
check "key l: rtl-top -p attaches again" shows '%TIME +CALL/s' '\[LIVE\]'
keys q
check "rtl-top -p: q doesn't ask" hides '\[LIVE\]'
kill -9 "$child"

start_session "$say"
shows '\[LIVE\]'
find_child
keys q
shows 'the command still runs'
kill -9 "$child"
check "key q: the question closes when the command ends" shows 'the command has ended; q quits' '\[EXITED\]'
keys q
check "key q: quits at once after the command has ended" terminal_restored

start_session "$say"
shows '\[LIVE\]'
find_child
keys q
shows 'the command still runs'
keys e
check "key e: restores the terminal" terminal_restored
check "key e: says how the command ended" shows 'was ended by signal 15' 'status 143'
check "key e: the command has ended" wait_until 60 ended "$child"

start_session "sh -c \"trap : TERM; echo child \\\$\\\$; while :; do $gpu $play runtime; done\""
shows '\[LIVE\]'
find_child
kill -STOP "$child" # a stopped process doesn't end on SIGTERM
keys q
shows 'the command still runs'
keys e
check "key e, command that doesn't end: the screen stays" shows 'to end: the screen closes when it has'
keys q
check "key e, command that doesn't end: q offers SIGKILL" shows 'at once \(SIGKILL\)'
keys e
check "key e, command that doesn't end: SIGKILL ends it" terminal_restored
check "key e, command that doesn't end: exit status is 137" shows 'status 137'
check "key e, command that doesn't end: it has ended" wait_until 60 ended "$child"

start_session "$say"
shows '\[LIVE\]'
find_child
kill -9 "$child"
check "command killed: the screen shows EXITED" shows '\[EXITED\]'
keys q
check "command killed: q doesn't ask" terminal_restored
check "command killed: exit status is 137" shows 'status 137' 'was ended by signal 9'

for case in INT:130 TERM:143 HUP:129; do
    signal=${case%:*}
    start_session "$say"
    shows '\[LIVE\]'
    find_child
    kill "-$signal" "$(cat "$work/viewer")"
    check "SIG$signal to the viewer: restores the terminal" terminal_restored
    check "SIG$signal to the viewer: exit status ${case#*:}, says that the command runs on" shows "status ${case#*:}" "continues as process $child"
    check "SIG$signal to the viewer: the command runs on" is_alive "$child"
    kill -9 "$child"
done
start_session "$say"
shows '\[LIVE\]'
find_child
viewer=$(cat "$work/viewer")
run_tmux kill-server
check "terminal closed: the viewer ends" wait_until 60 ended "$viewer"
check "terminal closed: the command runs on" is_alive "$child"
kill -9 "$child"

# --- before the command uses the GPU ---
start_session "sh -c \"echo child \\\$\\\$; exec $play\""
check "before the GPU: the screen says what rtl-top waits for" shows 'waiting until it uses the GPU' "output goes into $state"
find_child
check "before the GPU: the screen says what is missing" shows 'no HSA runtime is loaded'
keys C-c
check "before the GPU: Ctrl-C asks" shows 'l leaves it running, e ends it'
keys Enter
keys C-c
check "before the GPU: Enter keeps waiting" wait_until 60 sh -c "test \$(tmux -L $tap_tmux capture-pane -p | tr -d '\n' | grep -o 'l leaves it' | wc -l) = 2"
keys e Enter
check "before the GPU: e ends the command" shows 'status 143'
check "before the GPU: the command has ended" wait_until 60 ended "$child"
start_session "sh -c \"echo child \\\$\\\$; exec $play\""
find_child
keys C-c
shows 'l leaves it running'
keys C-c
check "before the GPU: a second Ctrl-C leaves the command running" shows 'continues as process' 'status 0'
check "before the GPU: the command runs on" is_alive "$child"
kill -9 "$child"
start_session "sh -c \"echo child \\\$\\\$; exit 5\""
check "before the GPU: a failing command: prints reason, log file and exit status" shows 'HSA runtime' 'output is in' 'status 5'

# --- log files that can't be made ---
mkdir "$work/tmp"
ln -s "$work/elsewhere" "$state" # a missing folder
start_session no-such-command
check "unknown command: exit status is 127" shows 'not found in PATH' 'status 127'
is "unknown command: no log is left" "$(find "$state" -name '*.log' 2>/dev/null)" ""
start_terminal 100 24 "XDG_STATE_HOME=relative TMPDIR=$work/tmp $top run -- $gpu $play runtime; echo status \$?; exec cat"
check "XDG_STATE_HOME=relative: the screen appears" shows '\[LIVE\]'
is "XDG_STATE_HOME=relative: the log is in TMPDIR" "$(find "$work/tmp" -name 'rtl-top-run-*.log' -perm 600 | wc -l)" 1
keys q
shows 'the command still runs'
keys e
shows 'status 143'
start_terminal 100 24 "XDG_STATE_HOME= TMPDIR=$work/none $top run -- $play; echo status \$?; exec cat"
check "no folder for a log: the command doesn't start" shows 'cannot create a log file' 'status 1'

# --- a stream on a terminal ---
# shellcheck disable=SC2016 # the command expands it
echo 'n=0; trap "n=\$((n + 1)); echo interrupted \$n" INT; echo ready; until [ -e "$1" ]; do sleep 0.1; done; exit 6' >"$work/count"
start_terminal 100 24 "trap : INT; $top run -b -- sh $work/count $work/go; echo status \$?; exec cat"
shows '^ready'
keys C-c
shows 'interrupted 1'
keys C-c
check "run -b: Ctrl-C reaches the command once, and rtl-top waits" shows 'interrupted 2'
: >"$work/go"
check "run -b: exit status is passed on" shows 'status 6'
is "run -b: no interrupt arrives twice" "$(print_screen | grep -c interrupted)" 2
finish
