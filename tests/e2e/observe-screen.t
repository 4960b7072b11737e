#!/bin/sh
# The screen of an observed process: what is exact, how to restart it traced, at 80x24 and 40x10; from there to the list of all
# processes and back. The list shows the process, which has no mode.
# shellcheck disable=SC2119 # play has optional arguments
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"
. "$(dirname "$0")/observe.sh"

lock_for_viewing_all
play 4
send_all run 8000 0 20 0
send_all "done"
start_terminal 110 24 "cd $work && $top -p $program --no-children -d 0.2; exec cat"
check "observed process: its screen says what is exact and what is not" \
    shows 'OBSERVED: calls exact, (~ estimated, - unknown|times unknown)' 'fast00'
check "observed process: its screen has the command that starts it traced" \
    shows "for exact times: rtl-top run -- observe_play 4 \(rtl-top check -p $program\)"
check "observed process: no row says that it is not timed" hides 'not timed'
keys M
check "observed process: M says that it has no mode" shows "only observed: modes need librtl.so in the process"
keys p
check "key p: the list has the observed process" shows '^ +PID  RANK +GPU' "^[> ] *$program "
keys p
check "key p again: leads back to the process" shows 'fast00' "pid $program"
keys p
check "key p: the list is shown again" shows '^ +PID  RANK +GPU' "^> *$program "
keys Enter
check "Enter: leads back to the process" shows 'fast00' "pid $program"

# --- small screens: a part of the line, never half a command ---
resized() { run_tmux resize-window -x "$1" -y "$2"; }
start_terminal 80 24 "cd $work && $top -p $program --no-children -d 0.2; exec cat"
check "observed process: 80x24 has both lines" \
    shows 'OBSERVED: calls exact' "for exact times: rtl-top run -- observe_play 4 \(rtl-top check -p $program\)"
resized 40 10
check "observed process: 40x10 names the command that prints the restart" \
    shows 'OBSERVED: calls exact' "^for exact times: rtl-top check -p $program\$"
resized 80 24
keys \\ fast Enter
check "observed process: a filter is shown before the restart" shows 'filter fast \| for exact times: rtl-top '

# --- the whole command ---
whole="cd $PWD && rtl-top run -- $O/tests/programs/observe_play 4"
"$top" check -p "$program" >"$work/check"
has "check -p: prints the command that starts it traced" "$(cat "$work/check")" "^open +restart +$whole\$"
has "text: has the command that starts it traced" "$("$top" -p "$program" -b -n 1)" "^exact times: $whole\$"
is "JSON: has the command that starts it traced" "$("$top" -p "$program" --json -n 1 | jq -r .observed.restart)" "$whole"

# --- the caption ---
echo 'Press Enter' >"$work/caption"
start_terminal 80 24 "cd $work && $top -p $program --no-children -d 0.2 --caption caption; echo status \$?; exec cat"
check "--caption: the line is above the keys" shows '^Press Enter \| '
printf '\033[2J%0300d\nsecond\n' 7 >"$work/next"
mv "$work/next" "$work/caption"
check "--caption: a new line is shown, escaped and cut" shows '^.x1b.2J0{70,}…$'
hides_second() { ! print_screen | grep -q second; }
check "--caption: the second line is not shown" hides_second
rm "$work/caption"
check "--caption: without the file the restart is shown" shows "^for exact times: rtl-top "

start_demo --kernels 3 --gpus 1 --rate 1000
keys p
check "key p: a traced process is listed beside it" shows "^[> ] *$program " " $demo "
keys q
check "key q: exit status is 0" shows 'status 0'
unlock_viewing
close_play
finish
