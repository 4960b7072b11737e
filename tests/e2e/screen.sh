# Sourced by the tests of the screen, after tap.sh: a terminal in tmux (a server of the test's own) and what it shows.
# shellcheck shell=sh disable=SC2034,SC2154 # variables of tap.sh, variables for the tests

LC_ALL=C.UTF-8
export LC_ALL
unset NO_COLOR
tap_tmux=rtl-screen-$$ # ended by tap.sh
top=$PWD/$O/rtl-top

term() { tmux -L "$tap_tmux" -f /dev/null -u "$@"; }

# terminal COLUMNS ROWS SCRIPT: runs the script in a fresh terminal
terminal() {
    term kill-server 2>/dev/null
    printf '%s\n' "$3" >"$work/session"
    wait_until 60 term new-session -d -x "$1" -y "$2" "sh $work/session" # the server before may be on its way out
}

screen() { term capture-pane -p; }
keys() { term send-keys "$@"; }
facts() { term display-message -p "$1"; }

# shows PATTERN...: all of them are on screen within two minutes: a machine may stand still for half of one
shows() {
    for pattern in "$@"; do
        if ! wait_until 120 sh -c "tmux -L $tap_tmux capture-pane -p | grep -qE -e '$pattern'"; then
            echo "not on screen: $pattern"
            screen
            return 1
        fi
    done
}

# hides PATTERN: it goes away, likewise
hides() {
    wait_until 120 sh -c "! tmux -L $tap_tmux capture-pane -p | grep -qE -e '$1'" || { screen; return 1; }
}

ended() { ! kill -0 "$1" 2>/dev/null; }

# demo OPTIONS...: starts a process with a live segment; its pid is in $demo
demo() {
    "$O/tests/programs/segment_demo" "$@" >"$work/demo.out" &
    demo=$!
    tap_pids="$tap_pids $demo"
    wait_until 60 traced "$demo"
    wait_until 60 test -s "$work/demo.out"
}
