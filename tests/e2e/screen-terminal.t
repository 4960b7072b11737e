#!/bin/sh
# The terminal: any size, resized at any moment, always restored.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

start_demo --kernels 60 --gpus 2 --rate 5000

# Run the viewer with its pid in $work/pid; then print its status. Save the terminal's modes before and after.
start_session() {
    rm -f "$work/pid" "$work/before" "$work/after"
    start_terminal 80 24 "trap : INT; stty -a >$work/before; printf 'typed before\n'
sh -c 'echo \$\$ >$work/pid; exec $top -p $demo -d 0.1'; echo status \$?; stty -a >$work/after; exec cat"
    shows '%TIME +CALL/s'
}

terminal_restored() {
    wait_until 60 test -s "$work/after" && cmp "$work/before" "$work/after" &&
        test "$(tmux_format '#{alternate_on} #{cursor_flag} #{keypad_cursor_flag}')" = '0 1 0' && shows 'typed before'
}

start_session
check "screen: uses the alternate screen" test "$(tmux_format '#{alternate_on}')" = 1
keys q
check "key q: restores the terminal" terminal_restored
for case in INT:130 TERM:143 HUP:129 QUIT:131 SEGV:139 BUS:135 ABRT:134 FPE:136 ILL:132; do
    signal=${case%:*}
    start_session
    kill "-$signal" "$(cat "$work/pid")"
    check "SIG$signal: restores the terminal" terminal_restored
    check "SIG$signal: ends rtl-top as that signal does" shows "status ${case#*:}"
done
start_session
keys C-c
check "Ctrl-C: restores the terminal" terminal_restored

start_session
keys C-s
sleep 0.3 # frames pile up behind the stopped terminal
kill -TERM "$(cat "$work/pid")"
check "Ctrl-S, then SIGTERM: restores the terminal" terminal_restored

# --- stop and continue ---
start_terminal 80 24 "exec bash --norc --noprofile -i"
keys "PS1='ready> '" Enter
shows '^ready>'
keys "$top -p $demo -d 0.1" Enter
check "from a shell: the screen appears" shows '%TIME +CALL/s'
keys C-z
check "Ctrl-Z: stops rtl-top" shows 'Stopped'
is "Ctrl-Z: restores the terminal" "$(tmux_format '#{alternate_on} #{cursor_flag}')" '0 1'
keys fg Enter
check "Ctrl-Z: fg shows the screen again" shows '%TIME +CALL/s' '\[LIVE\]'
keys q
check "Ctrl-Z: q quits after fg" hides '%TIME +CALL/s'
keys "echo | $top -p $demo -d 0.1" Enter
check "a pipe as standard input: the screen appears" shows '%TIME +CALL/s'
keys s
check "a pipe as standard input: keys come from the terminal" shows 'sort by: Up and Down'
keys Escape q
check "a pipe as standard input: q quits" hides '%TIME +CALL/s'

# --- any size ---
start_session
shell=$(cat "$work/pid")
for size in 200x60 40x12 24x3 23x3 20x5 80x2 5x1 4x1 1x1 2x30 300x4 80x24; do
    run_tmux resize-window -x "${size%x*}" -y "${size#*x}"
    check "size $size: rtl-top runs on" wait_until 60 sh -c "[ \"\$(tmux -L $tap_tmux display-message -p '#{window_width}x#{window_height}')\" = $size ] && kill -0 $shell"
    case $size in
    200x60) check "size $size: has more columns" shows '%TIME +CALL/s  TOTAL   MEAN    P50    P99    MAX P99CHG TREND .* DURATIONS .* KERNEL .* FAMILY +%TIME BEFORE' ;;
    40x12) check "size $size: has fewer columns" shows '^  %TIME    P99 KERNEL' ;;
    20x5) check "size $size: has one line" shows '^[0-9]+% [0-9.]+[kM]?/s' ;;
    80x24) check "size $size: has the whole screen again" shows '%TIME +CALL/s    P50    P99 P99CHG TREND .* KERNEL' '\?Help' ;;
    esac
done
for view in Enter '?' Escape Tab s; do # every view, small and large
    keys "$view"
    for size in 1x1 20x5 300x100 80x24; do
        run_tmux resize-window -x "${size%x*}" -y "${size#*x}"
    done
done
for n in 1 2 3 4 5 6 7 8 9 10; do # a storm of sizes
    run_tmux resize-window -x "$((n * 19))" -y "$((n * 5))"
done
run_tmux resize-window -x 80 -y 24
keys Escape Escape Escape
check "many sizes in quick succession: the screen appears" shows '%TIME +CALL/s' '\[LIVE\]'

# --- the terminal closes ---
pid=$(cat "$work/pid")
run_tmux kill-server
check "terminal closes: rtl-top ends" wait_until 60 ended "$pid"

# --- colours ---
for type in xterm-256color xterm vt100; do
    start_terminal 80 24 "TERM=$type $top -p $demo -d 0.1; echo status \$?; exec cat"
    check "TERM=$type: the screen appears" shows '%TIME +CALL/s' '\[LIVE\]'
    colors=$(run_tmux capture-pane -pe | grep -c "$(printf '\033')\[[0-9;]*\(3[1-7]\|38;5\)" || true)
    case $type in
    vt100) is "TERM=$type: has no colours" "$colors" 0 ;;
    *) check "TERM=$type: has colours" test "$colors" -gt 3 ;;
    esac
    keys q
    shows 'status 0'
done
start_terminal 80 24 "NO_COLOR=1 $top -p $demo -d 0.1; echo status \$?; exec cat"
check "NO_COLOR: the screen appears" shows '%TIME +CALL/s'
is "NO_COLOR: has no colours" "$(run_tmux capture-pane -pe | grep -c "$(printf '\033')\[[0-9;]*\(3[1-7]\|38;5\)" || true)" 0
keys q
start_terminal 80 24 "TERM=dumb $top -p $demo; echo status \$?; exec cat"
check "TERM=dumb: is refused" shows 'rtl-top: .*dumb.*-b' 'status 1'
start_terminal 80 24 "TERM=no-such-terminal $top -p $demo; echo status \$?; exec cat"
check "TERM=no-such-terminal: is refused" shows 'rtl-top: .*no-such-terminal' 'status 1'

# --- slow lines ---
count_bytes() { # FRAMES: print the bytes of that many frames of 80x24, with colours
    script -qec "stty rows 24 cols 80; TERM=xterm-256color exec $top -p $demo -d 0.1 -n $1" "$work/typescript" >/dev/null </dev/null
    wc -c <"$work/typescript"
}
few=$(count_bytes 5) many=$(count_bytes 25)
is "pastes: the terminal marks them, and no longer after the end" "$(grep -aoE '\[\?2004[hl]' "$work/typescript" | tr '\n' ' ')" '[?2004h [?2004l '
check "traffic: a steady frame is at most 2 kB (here $(((many - few) / 20)))" test $(((many - few) / 20)) -le 2048 -a $((many - few)) -gt 500

# --- the process ends, or hangs ---
start_demo --kernels 12 --rate 2000
start_session
kill -STOP "$demo"
check "a stopped process with work in flight: is STALE" shows '\[STALE [0-9]+s\]' 'STALE [0-9]+s$'
kill -CONT "$demo"
check "a continued process: is LIVE" shows '\[LIVE\]'
end_process "$demo" KILL
check "process ends: the screen says so and keeps the last state" shows '\[EXITED\]' "process $demo has exited" '12/12'
keys Enter
check "process ends: Enter shows the detail" shows 'DURATION since start'
keys Escape q
check "process ends: q exits with 0" shows 'status 0'

start_demo --kernels 5 --rate 100
start_terminal 80 24 "$top -p $demo -d 3600; echo status \$?; exec cat"
shows '5/5'
end_process "$demo" KILL
check "process ends: the screen says so at once, despite a long interval" shows '\[EXITED\]'

start_demo --kernels 5 --unload --seconds 0.2
start_terminal 80 24 "$top -p $demo -d 0.1; echo status \$?; exec cat"
check "unloaded library: the screen says so and keeps its numbers" shows '\[UNLOADED\]' '5/5'
keys q

# --- choice of a process ---
start_demo --kernels 8 --rate 1000
first=$demo
start_demo --kernels 9 --rate 1000
start_terminal 80 24 "$top -d 0.1; echo status \$?; exec cat"
check "without -p: the screen lists traced processes" shows ' PID  RANK .* COMMAND' "$first .*segment_demo --kernels 8" \
    "$demo .*segment_demo --kernels 9"
keys End
up_to_first() { # other traced processes may be listed
    print_screen | grep -q "^> *$first " || { keys Up && sleep 0.2 && false; }
}
check "process list: Up moves the cursor" wait_until 60 up_to_first
keys Enter
check "process list: Enter watches the process" shows "pid $first .*\\[LIVE\\]" '8/8'
keys q
check "process list: q leaves the process" shows 'status 0'
start_terminal 80 24 "$top; echo status \$?; exec cat"
shows ' PID  RANK .* COMMAND'
keys q
check "process list: q exits with 0" shows 'status 0'
finish
