#!/bin/sh
# rtl-top run on the screen: the log file, leaving it with and without the command, the terminal given back each time.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

unset HSA_TOOLS_LIB RTL_MODE RTL_TRACE
play=$tap_top/$O/tests/programs/launch_play
gpu="$tap_top/tests/vgpu/run ${RTL_RELEASE:+--release $RTL_RELEASE} --"
state=$work/state
# session COMMAND...: its status, and the terminal's modes before and after
session() {
    rm -rf "$work/before" "$work/after" "$work/viewer" "$state"
    terminal 100 24 "trap : INT; stty -a >$work/before; export XDG_STATE_HOME=$state; printf 'typed before\n'
sh -c 'echo \$\$ >$work/viewer; exec $top run -d 0.1 -- $*'; echo status \$?; stty -a >$work/after; exec cat"
}
restored() {
    wait_until 60 test -s "$work/after" && cmp "$work/before" "$work/after" &&
        test "$(facts '#{alternate_on} #{cursor_flag} #{keypad_cursor_flag}')" = '0 1 0' && shows 'typed before'
}
log() { echo "$state"/rtl-top/rtl-top-*.log; }
command_pid() { # the one that rtl-top started: leader of a session that began with it
    sed -n 's/^child \([0-9]*\)$/\1/p' "$(log)"
}
child() { # from the log: the shell that becomes the command says its number there
    wait_until 60 sh -c "grep -q '^child' $(log)"
    child=$(command_pid)
    tap_pids="$tap_pids $child"
}

say="sh -c \"echo child \\\$\\\$; exec $gpu $play runtime\""
session "$say"
check "the screen shows it" shows '%TIME +CALL/s' '\[LIVE\]'
check "and names the log file" shows "command output: $state/rtl-top/rtl-top-sh-"
child
is "the log is its owner's alone" "$(stat -c '%a' "$state/rtl-top" "$(log)" | tr '\n' ' ')" '700 600 '
check "what it writes is there" wait_until 60 grep -q '^holding' "$(log)"
is "its input is empty" "$(readlink "/proc/$child/fd/0")" /dev/null
check "keys and the terminal's end don't reach it" test "$(ps -o sid= -p "$child" | tr -d ' ')" = "$child"
keys q
check "q asks" shows 'the command still runs' 'l leave it running' 'e end it \(SIGTERM\)' 's stay here' "its output: $state/rtl-top/"
keys Escape
check "Esc stays" hides 'the command still runs'
keys q
shows 'the command still runs'
keys q
check "q again stays" hides 'the command still runs'
keys q
shows 'the command still runs'
keys Down Down Enter
check "so does the last line" hides 'the command still runs'
check "and the screen goes on" shows '\[LIVE\]'
keys q
shows 'the command still runs'
keys l
check "l gives the terminal back" restored
check "says that it goes on, and where its output is" shows "continues as process $child: rtl-top -p $child" 'status 0'
check "which it does" alive "$child"
terminal 100 24 "$top -p $child -d 0.1; exec cat"
check "and it can be watched again" shows '%TIME +CALL/s' '\[LIVE\]'
keys q
check "where q doesn't ask" hides '\[LIVE\]'
kill -9 "$child"

session "$say"
shows '\[LIVE\]'
child
keys q
shows 'the command still runs'
keys e
check "e ends it, and gives the terminal back" restored
check "says how it ended" shows 'was ended by signal 15' 'status 143'
check "it is no more" wait_until 60 ended "$child"

session "sh -c \"trap : TERM; echo child \\\$\\\$; while :; do $gpu $play runtime; done\""
shows '\[LIVE\]'
child
kill -STOP "$child" # it will not end when it is told to
keys q
shows 'the command still runs'
keys e
check "one that doesn't end keeps its screen" shows 'to end: the screen closes when it has'
keys q
check "q asks again, with more" shows 'at once \(SIGKILL\)'
keys e
check "SIGKILL ends it" restored
check "with that status" shows 'status 137'
check "it is no more" wait_until 60 ended "$child"

session "$say"
shows '\[LIVE\]'
child
kill -9 "$child"
check "its end is shown" shows '\[EXITED\]'
keys q
check "then q doesn't ask" restored
check "the status is the command's" shows 'status 137' 'was ended by signal 9'

for case in INT:130 TERM:143 HUP:129; do
    signal=${case%:*}
    session "$say"
    shows '\[LIVE\]'
    child
    kill "-$signal" "$(cat "$work/viewer")"
    check "SIG$signal to the viewer gives the terminal back" restored
    check "with its status, and a line on what goes on" shows "status ${case#*:}" "continues as process $child"
    check "which goes on" alive "$child"
    kill -9 "$child"
done
session "$say"
shows '\[LIVE\]'
child
viewer=$(cat "$work/viewer")
term kill-server
check "it ends with its terminal" wait_until 60 ended "$viewer"
check "the command doesn't" alive "$child"
kill -9 "$child"

# --- before it uses the GPU ---
session "sh -c \"echo child \\\$\\\$; exec $play\""
check "it is said what is waited for" shows 'waiting until it uses the GPU' "output goes into $state"
child
check "and what is missing" shows 'no HSA runtime is loaded'
keys C-c
check "Ctrl-C asks" shows 'l leaves it running, e ends it'
keys Enter
keys C-c
check "Enter keeps waiting" wait_until 60 sh -c "test \$(tmux -L $tap_tmux capture-pane -p | tr -d '\n' | grep -o 'l leaves it' | wc -l) = 2"
keys e Enter
check "e ends it" shows 'status 143'
check "really" wait_until 60 ended "$child"
session "sh -c \"echo child \\\$\\\$; exec $play\""
child
keys C-c
shows 'l leaves it running'
keys C-c
check "Ctrl-C twice leaves it running" shows 'continues as process' 'status 0'
check "it goes on" alive "$child"
kill -9 "$child"
session "sh -c \"echo child \\\$\\\$; exit 5\""
check "a command that fails at once: why, where its output is, its status" shows 'HSA runtime' 'output is in' 'status 5'

# --- the log file in bad company ---
mkdir "$work/tmp"
ln -s "$work/elsewhere" "$state" # a folder that isn't there
session no-such-command
check "not found: 127, and no log is left" shows 'not found in PATH' 'status 127'
is "none" "$(find "$state" -name '*.log' 2>/dev/null)" ""
terminal 100 24 "XDG_STATE_HOME=relative TMPDIR=$work/tmp $top run -- $gpu $play runtime; echo status \$?; exec cat"
check "a state folder that is no absolute path isn't used" shows '\[LIVE\]'
is "the log is in TMPDIR then" "$(find "$work/tmp" -name 'rtl-top-run-*.log' -perm 600 | wc -l)" 1
keys q
shows 'the command still runs'
keys e
shows 'status 143'
terminal 100 24 "XDG_STATE_HOME= TMPDIR=$work/none $top run -- $play; echo status \$?; exec cat"
check "no folder for it: nothing is started" shows 'cannot create a log file' 'status 1'

# --- a stream on a terminal ---
# shellcheck disable=SC2016 # its own
echo 'n=0; trap "n=\$((n + 1)); echo interrupted \$n" INT; echo ready; until [ -e "$1" ]; do sleep 0.1; done; exit 6' >"$work/count"
terminal 100 24 "trap : INT; $top run -b -- sh $work/count $work/go; echo status \$?; exec cat"
shows '^ready'
keys C-c
shows 'interrupted 1'
keys C-c
check "Ctrl-C is the command's, once each, and rtl-top waits for it" shows 'interrupted 2'
: >"$work/go"
check "its status comes back" shows 'status 6'
is "no interrupt came twice" "$(screen | grep -c interrupted)" 2
finish
