#!/bin/sh
# The screen as its user is used to it: the configuration and key W, themes, the mouse.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

demo --kernels 30 --seconds 600
config=$XDG_CONFIG_HOME/rtl-top/config
see() { # OPTIONS: the viewer in a terminal of 100x30
    terminal 100 30 "XDG_CONFIG_HOME=$XDG_CONFIG_HOME '$top' -p $demo $*; echo END; sleep 600"
}
mouse() { # BUTTON COLUMN ROW, from 0: as a terminal sends it that knows no more than X10 (tmux's), released again
    at="$(printf '%x' $((33 + $2))) $(printf '%x' $((33 + $3)))"
    # shellcheck disable=SC2086 # two words
    term send-keys -H 1b 5b 4d "$(printf '%x' $((32 + $1)))" $at
    # shellcheck disable=SC2086
    [ "$1" -ge 64 ] || term send-keys -H 1b 5b 4d 23 $at
}
line_of() { screen | grep -nE "$1" | head -n 1 | cut -d: -f1; } # from 1
column_of() { screen | grep -E '^ *%TIME.*KERNEL' | head -n 1 | awk -v word="$1" '{ print index($0, word) - 1 }'; }
told() { wait_until 60 grep -qx "$1" "$config"; }
mouse_is() { wait_until 60 sh -c "[ \"\$(tmux -L $tap_tmux display-message -p '#{mouse_standard_flag}')\" = $1 ]"; }

# --- W ---
see
check "the screen is there" shows 'LIVE' '%TIME'
keys C
check "sorted by calls" shows 'sort CALLS'
keys '}'
check "a longer window" shows ' win 30s'
keys W
check "W says where it writes" shows "settings written to .*rtl-top/config"
check "the sort is in the configuration" told 'sort calls'
check "the window, too" told 'window 30'
is "it is the user's alone to read" "$(stat -c %a "${config%/*}")" 700
keys o Home Down Space Enter
check "o hides a column" hides '^ *%TIME +CALL/s'
keys W
check "W keeps that" wait_until 60 grep -q '^columns time .*name' "$config"
keys q
check "and is left" shows '^END'
see
check "the next one has those columns" shows '^ *%TIME.*KERNEL'
is "without the one that was hidden" "$(screen | grep -c 'CALL/s')" 0
keys o a Enter
check "a: as there is room" shows '^ *%TIME +CALL/s'
keys W
check "as the configuration says then" told 'columns auto'
keys q
check "left again" shows '^END'
printf '# mine\nsort p99\nnickname Cijk* = x\ncolumns p90 max\ntheme pink\n' >"$config"
see
check "what is wrong with the configuration is on the screen" shows "config:5: .pink. is not a theme"
check "the next one begins as the configuration says" shows 'sort P99'
check "with the columns that it names" shows '%?.*P90.*MAX.*KERNEL'
keys P
keys W
check "W replaces the line" told 'sort time'
is "and leaves the others" "$(head -n 5 "$config")" "$(printf '# mine\nsort time\nnickname Cijk* = x\ncolumns p90 max name\ntheme pink')"
keys q
check "left" shows '^END'
check "it was told before the screen, too" shows "config:5: .pink."
check "a script's numbers are in its own order" sh -c "'$top' -p $demo -b -n 1 2>/dev/null | grep -q P50"

# --- colours ---
rm "$config"
colours() { term capture-pane -e -p | grep -cE "$(printf '\033')\\[[0-9;]*(3[0-7]|4[0-7]|38;5|48;5)[;m]"; }
see
check "a screen" shows 'LIVE'
check "has colours" test "$(colours)" -gt 3
keys q
see --theme mono
check "the theme mono" shows 'LIVE'
is "has none" "$(colours)" 0
keys q
terminal 100 30 "NO_COLOR=1 XDG_CONFIG_HOME=$XDG_CONFIG_HOME '$top' -p $demo"
check "NO_COLOR" shows 'LIVE'
is "has none either" "$(colours)" 0
keys q
terminal 100 30 "TERM=xterm-256color; export TERM; NO_COLOR=1 XDG_CONFIG_HOME=$XDG_CONFIG_HOME '$top' -p $demo --theme light; sleep 600"
check "a theme that is asked for" shows 'LIVE'
check "comes before NO_COLOR" test "$(colours)" -gt 3
keys q

# --- the mouse ---
see
check "a screen" shows 'LIVE' '%TIME'
check "has the mouse" mouse_is 1
mouse 0 "$(column_of P50)" $(($(line_of '^ *%TIME') - 1))
check "a click on a head sorts" shows 'sort P50 v'
mouse 0 "$(column_of P50)" $(($(line_of '^ *%TIME') - 1))
check "and reverses" shows 'sort P50 \^'
first=$(line_of '^ *%TIME')
mouse 0 5 $((first + 2))
check "a click on a row selects it" wait_until 60 sh -c "tmux -L $tap_tmux capture-pane -p | sed -n $((first + 3))p | grep -q '^>'"
mouse 65 5 10
check "the wheel moves the cursor" wait_until 60 sh -c "tmux -L $tap_tmux capture-pane -p | sed -n $((first + 6))p | grep -q '^>'"
mouse 0 5 $((first + 5))
check "a click on the selected row opens it" shows 'p99.9'
keys q
check "left" shows '^END'
check "the mouse is the terminal's again" mouse_is 0
see -M
check "with -M" shows 'LIVE'
check "it always was" mouse_is 0
keys q
mkdir -p "${config%/*}"
echo 'mouse off' >"$config"
see
check "as it is" shows 'LIVE'
check "with mouse off" mouse_is 0
keys q
rm "$config"
terminal 100 30 "XDG_CONFIG_HOME=$XDG_CONFIG_HOME '$top' -p $demo & echo \$! >$work/viewer; wait; sleep 600"
check "a viewer" shows 'LIVE'
check "with the mouse" mouse_is 1
kill -SEGV "$(cat "$work/viewer")"
check "that crashes" shows 'crashed'
check "gives it back" mouse_is 0
finish
