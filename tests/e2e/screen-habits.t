#!/bin/sh
# Habits of a screen's user: the configuration and key W, themes, the mouse.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

start_demo --kernels 30 --seconds 600
config=$XDG_CONFIG_HOME/rtl-top/config
start_viewer() { # OPTIONS: start the viewer in a terminal of 100x30
    start_terminal 100 30 "XDG_CONFIG_HOME=$XDG_CONFIG_HOME '$top' -p $demo $*; echo END; sleep 600"
}
send_mouse() { # BUTTON COLUMN ROW, from 0: press and release in the X10 encoding (that of tmux)
    at="$(printf '%x' $((33 + $2))) $(printf '%x' $((33 + $3)))"
    # shellcheck disable=SC2086 # two words
    run_tmux send-keys -H 1b 5b 4d "$(printf '%x' $((32 + $1)))" $at
    # shellcheck disable=SC2086
    [ "$1" -ge 64 ] || run_tmux send-keys -H 1b 5b 4d 23 $at
}
line_of() { print_screen | grep -nE "$1" | head -n 1 | cut -d: -f1; } # from 1
column_of() { print_screen | grep -E '^ *%TIME.*KERNEL' | head -n 1 | awk -v word="$1" '{ print index($0, word) - 1 }'; }
config_has() { wait_until 60 grep -qx "$1" "$config"; }
mouse_is() { wait_until 60 sh -c "[ \"\$(tmux -L $tap_tmux display-message -p '#{mouse_standard_flag}')\" = $1 ]"; }

# --- W ---
start_viewer
check "configuration: the screen appears" shows 'LIVE' '%TIME'
keys C
check "configuration: C sorts by calls" shows 'sort CALLS'
keys '}'
check "configuration: } makes the window longer" shows ' win 30s'
keys W
check "key W: asks first, with the file" shows 'Write sort, columns, window' '> n no: change nothing' 'y yes: .*rtl-top/config'
keys n
check "key W: n writes nothing" test ! -e "$config"
keys W y
check "key W: says where it writes" shows "settings written to .*rtl-top/config"
check "key W: writes the sort" config_has 'sort calls'
check "key W: writes the window" config_has 'window 30'
is "key W: makes the folder private" "$(stat -c %a "${config%/*}")" 700
keys o Home Down Space Enter
check "key o: hides a column" hides '^ *%TIME +CALL/s'
keys W y
check "key W: writes the columns" wait_until 60 grep -q '^columns time .*name' "$config"
keys q
check "key q: leaves the screen" shows '^END'
start_viewer
check "configuration: the next screen has the columns" shows '^ *%TIME.*KERNEL'
is "configuration: the next screen lacks the hidden column" "$(print_screen | grep -c 'CALL/s')" 0
keys o a Enter
check "key o, a: shows columns as there is room" shows '^ *%TIME +CALL/s'
keys W y
check "key W: writes automatic columns" config_has 'columns auto'
keys q
check "key q: leaves the screen again" shows '^END'
printf '# mine\nsort p99\nnickname Cijk* = x\ncolumns p90 max\ntheme pink\n' >"$config"
start_viewer
check "wrong configuration: the screen shows the mistake" shows "config:5: .pink. is not a theme"
check "configuration: the screen has its sort" shows 'sort P99'
check "configuration: the screen has its columns" shows '%?.*P90.*MAX.*KERNEL'
keys P
keys W y
check "key W: replaces the line of the sort" config_has 'sort time'
is "key W: keeps the other lines" "$(head -n 5 "$config")" "$(printf '# mine\nsort time\nnickname Cijk* = x\ncolumns p90 max name\ntheme pink')"
keys q
check "wrong configuration: q leaves the screen" shows '^END'
check "wrong configuration: the message also precedes the screen" shows "config:5: .pink."
check "configuration: doesn't change -b" sh -c "'$top' -p $demo -b -n 1 2>/dev/null | grep -q P50"

# --- colours ---
rm "$config"
count_colours() { run_tmux capture-pane -e -p | grep -cE "$(printf '\033')\\[[0-9;]*(3[0-7]|4[0-7]|38;5|48;5)[;m]"; }
start_viewer
check "colours: the screen appears" shows 'LIVE'
check "colours: the default theme has them" test "$(count_colours)" -gt 3
keys q
start_viewer --theme mono
check "colours: the screen with theme mono appears" shows 'LIVE'
is "colours: theme mono has none" "$(count_colours)" 0
keys q
start_terminal 100 30 "NO_COLOR=1 XDG_CONFIG_HOME=$XDG_CONFIG_HOME '$top' -p $demo"
check "colours: the screen with NO_COLOR appears" shows 'LIVE'
is "colours: NO_COLOR has none" "$(count_colours)" 0
keys q
start_terminal 100 30 "TERM=xterm-256color; export TERM; NO_COLOR=1 XDG_CONFIG_HOME=$XDG_CONFIG_HOME '$top' -p $demo --theme light; sleep 600"
check "colours: the screen with --theme and NO_COLOR appears" shows 'LIVE'
check "colours: --theme overrides NO_COLOR" test "$(count_colours)" -gt 3
keys q

# --- the mouse ---
start_viewer
check "mouse: the screen appears" shows 'LIVE' '%TIME'
check "mouse: the screen uses it" mouse_is 1
send_mouse 0 "$(column_of P50)" $(($(line_of '^ *%TIME') - 1))
check "mouse: a click on a column's head sorts" shows 'sort P50 v'
send_mouse 0 "$(column_of P50)" $(($(line_of '^ *%TIME') - 1))
check "mouse: a second click reverses the order" shows 'sort P50 \^'
first=$(line_of '^ *%TIME')
send_mouse 0 5 $((first + 2))
check "mouse: a click on a row selects it" wait_until 60 sh -c "tmux -L $tap_tmux capture-pane -p | sed -n $((first + 3))p | grep -q '^>'"
send_mouse 65 5 10
check "mouse: the wheel moves the cursor" wait_until 60 sh -c "tmux -L $tap_tmux capture-pane -p | sed -n $((first + 6))p | grep -q '^>'"
send_mouse 0 5 $((first + 5))
check "mouse: a click on the selected row opens it" shows 'p99.9'
keys q
check "mouse: q leaves the screen" shows '^END'
check "mouse: the terminal has it back after q" mouse_is 0
start_viewer -M
check "-M: the screen appears" shows 'LIVE'
check "-M: the screen doesn't use the mouse" mouse_is 0
keys q
mkdir -p "${config%/*}"
echo 'mouse off' >"$config"
start_viewer
check "configuration, mouse off: the screen appears" shows 'LIVE'
check "configuration, mouse off: the screen doesn't use the mouse" mouse_is 0
keys q
rm "$config"
start_terminal 100 30 "XDG_CONFIG_HOME=$XDG_CONFIG_HOME '$top' -p $demo & echo \$! >$work/viewer; wait; sleep 600"
check "crash: the screen appears" shows 'LIVE'
check "crash: the screen uses the mouse" mouse_is 1
kill -SEGV "$(cat "$work/viewer")"
check "crash: rtl-top says that it crashed" shows 'crashed'
check "crash: the terminal has the mouse back" mouse_is 0
finish
