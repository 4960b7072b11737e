# Sourced by the tests of the screen, after tap.sh. Runs a terminal in tmux (with its own server) and reads its screen.
# shellcheck shell=sh disable=SC2034,SC2154 # variables of tap.sh, variables for the tests

LC_ALL=C.UTF-8
export LC_ALL
unset NO_COLOR
tap_tmux=rtl-screen-$$ # ended by tap.sh
top=$PWD/$O/rtl-top

run_tmux() { tmux -L "$tap_tmux" -f /dev/null -u "$@"; }

# start_terminal COLUMNS ROWS SCRIPT: run the script in a fresh terminal.
start_terminal() {
    run_tmux kill-server 2>/dev/null
    printf '%s\n' "$3" >"$work/session"
    wait_until 60 run_tmux new-session -d -x "$1" -y "$2" "sh $work/session" # the previous server may still be ending
}

print_screen() { run_tmux capture-pane -p; }
keys() { run_tmux send-keys "$@"; }
tmux_format() { run_tmux display-message -p "$1"; }

# shows PATTERN...: wait until all of them are on screen, for two minutes at most: a machine may stall for half a minute.
shows() {
    for pattern in "$@"; do
        if ! wait_until 120 sh -c "tmux -L $tap_tmux capture-pane -p | grep -qE -e '$pattern'"; then
            echo "not on screen: $pattern"
            print_screen
            return 1
        fi
    done
}

# hides PATTERN: wait as long until it disappears.
hides() {
    wait_until 120 sh -c "! tmux -L $tap_tmux capture-pane -p | grep -qE -e '$1'" || { print_screen; return 1; }
}

ended() { ! kill -0 "$1" 2>/dev/null; }

# start_demo OPTIONS...: start a process with a live segment; its pid is in $demo.
start_demo() {
    "$O/tests/programs/segment_demo" "$@" >"$work/demo.out" &
    demo=$!
    tap_pids="$tap_pids $demo"
    wait_until 60 is_traced "$demo"
    wait_until 60 test -s "$work/demo.out"
}
