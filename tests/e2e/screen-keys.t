#!/bin/sh
# Every key of the screen, in a terminal of 80x24, on a process whose numbers change.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

start_demo --kernels 60 --gpus 2 --rate 5000
start_terminal 80 24 "$top -p $demo -d 0.2 -s name; echo status \$?; exec cat"

check "main screen: has all its parts" shows 'rtl-top  segment_demo.*pid '"$demo"'.*\[LIVE\]' '[0-9][kM]? disp/s' '^G0 .*%  copy ' \
    '^G1 ' '[0-9.]+% NOT timed' '%TIME      CALL/s    P50    P99 P99CHG TREND +KERNEL +60/60' '^>' \
    'win .*s$' 'sort KERNEL \^ \| filter none \| names short \| units auto' '\?Help .*qQuit'
[ "$tap_failed" = 0 ] || finish # no other test can pass
check "main screen: numbers change" sh -c "a=\$(tmux -L $tap_tmux capture-pane -p); for i in 1 2 3 4 5 6 7 8; do sleep 0.3
    [ \"\$a\" = \"\$(tmux -L $tap_tmux capture-pane -p)\" ] || exit 0; done; exit 1"
check "main screen: the terminal's cursor is on the selected row" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 5 ]"

keys Down j Down
check "Down and j: move the cursor" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 8 ]"
check "Down and j: the order is frozen" shows 'sort KERNEL \^ held'
keys k
check "key k: moves the cursor up" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 7 ]"
keys End
check "End: goes to the last kernel" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 21 ]"
keys Home
check "Home: goes to the first kernel" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 5 ]"
keys PageDown C-f
check "PgDn and Ctrl-F: the order is frozen" shows 'sort KERNEL \^ held'
keys PageUp C-b C-b
check "PgUp and Ctrl-B: go to the first kernel" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 5 ]"

keys C
check "key C: sorts by calls" shows 'sort CALLS v'
keys T
check "key T: sorts by total time" shows 'sort TOTAL v'
keys L
check "key L: sorts by p99" shows 'sort P99 v'
keys N
check "key N: searches only" shows 'no search yet' 
keys P
check "key P: sorts by share of time" shows 'sort %TIME v'
keys R
check "key R: reverses the order" shows 'sort %TIME \^'
keys R
check "key R: reverses it again" shows 'sort %TIME v'
keys '>'
check "key >: sorts by the next column" shows 'sort CALL/s v'
keys '<'
check "key <: sorts by the previous column" shows 'sort %TIME v'
keys s
check "key s: opens the sort menu" shows '> %TIME +share of timed' 'sort by: Up and Down choose'
keys Down Down Enter
check "sort menu: Enter sorts by the chosen column" shows 'sort CALLS v'
keys F6 Escape
check "sort menu: F6 opens it, Esc closes it unchanged" shows 'sort CALLS v'
keys P

keys o
check "key o: shows the columns" shows '\[x\] %TIME ' '\[ \] TOTAL' 'Space shows or hides'
keys Escape F2
check "F2: shows the columns" shows '\[x\] %TIME '
keys Escape

keys M
check "key M: shows the modes" shows '> default +times every kernel' 'mode: Up and Down choose'
keys Up Up Up Enter
check "key M: asks before it changes the process" shows "Switch $demo .segment_demo.* from default to off\?" 'y yes: loaded, counts nothing' '> n no: change nothing'
keys Enter
check "key M: Enter answers no" hides 'Switch .* from default'
keys M Up Up Enter y
check "key M: a process without control page is reported" shows "process $demo .*has no control page" 'KERNEL'

keys f triton
check "key f: filters while typing" shows 'filter: triton' 'KERNEL +[0-9]/60|KERNEL +[1-5][0-9]/60'
keys Enter
check "key f: Enter keeps the filter" shows 'filter triton'
check "key f: only matching kernels are shown" sh -c "! tmux -L $tap_tmux capture-pane -p | sed -n '6,20p' | grep -q gemm"
keys "\\" x x x x Escape
check "key \\: Esc restores the previous filter" shows 'filter triton'
keys '='
check "key =: clears the filter" shows 'filter none' '60/60'
keys F4 gemm Escape
check "F4: Esc leaves the filter unchanged" shows 'filter none'
keys / nowhere_at_all Enter
check "key /: a search without a match is reported" shows "no kernel name contains .nowhere_at_all."
keys / copyBuffer Enter
check "key /: finds a kernel" shows '^> .*__amd_rocclr_copyBuffer'
keys / gemm Enter n
check "key n: finds the next match" shows '^> .*gemm'
keys N '='
check "key =: clears the search" shows 'sort'
keys Home

keys Space
check "Space: pauses" shows '\[PAUSED 0:0'
before=$(print_screen | sed -n '6,20p')
check "Space: the age of the pause counts" shows '\[PAUSED 0:02'
is "Space: the rows stay" "$(print_screen | sed -n '6,20p')" "$before"
keys Space
check "Space: resumes" shows '\[LIVE\]'
keys z
check "key z: counts from now on" shows 'counting from now; Z undoes'
check "key z: the status line says so" shows 'since zero 0:0'
keys Z
check "key Z: undoes zero" shows 'counting as before z'
check "key Z: the status line no longer has zero" hides 'since zero'
keys z
check "key z: counts from now on again" shows 'since zero 0:0'
keys '}'
check "key }: makes the window longer" shows 'win .*(of 30s|30s)'
keys '{' '{' '{'
check "key {: makes the window shorter" shows 'win 0\.[23]s'
keys F8 F8
check "F8: makes the window 10 s again" shows 'win .*10s'
keys F7 F8
check "F7: makes the window shorter" shows 'win .*10s'
keys F9
check "F9: ends no process" shows 'rtl-top ends no process; q quits'
keys d 0.1 Enter
check "key d: sets the interval" shows ' 0\.1s +\[LIVE'
keys d nonsense Enter
check "key d: a wrong interval is refused" shows "nonsense. is not an interval"
keys +
check "key +: makes the interval longer" shows ' 0\.2s +\[LIVE'
keys -
check "key -: makes the interval shorter" shows ' 0\.1s +\[LIVE'
keys + E E
check "key E: changes the units" shows ' [0-9]{4,5}µs ' 
keys E E E
check "key E: changes the units further" shows ' [0-9]\.[0-9]+ms '
keys c
check "key c: shows names as templates" shows 'names template' '::'
keys c
check "key c: shows full names" shows 'names full'
keys c
check "key c: shows mangled names" shows 'names mangled' ' _Z'
keys c
check "key c: shows short names again" shows 'names short'
keys / elementwise Enter w
check "key w: shows the full name" shows '^void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c$'
keys w
check "key w: hides the full name" hides '^void at::native::vectorized'
keys '=' Home 1
check "key 1: shows several GPUs in a line" shows '^G0 .*% .*G1 .*%'
keys 1
check "key 1: shows each GPU in a line again" shows '^G1 .*%'
keys y
check "key y: copies the name" shows 'full name sent to the terminal'
keys i
check "key i: hides idle kernels" shows 'idle hidden'
keys i

keys Enter
check "Enter: opens the detail" shows 'DURATION since zero +CALLS +IN WINDOW +SINCE ZERO' 'time [0-9.]+% +calls ' '█' \
    'p99.9 +[0-9]' 'grid [0-9x]+ +wg [0-9]+ +lds .* scratch' 'P99 over time, P50 below +interval 0\.[12]s' '^ *[0-9.]+[nµm]s┤' '-0:[0-9]+ .*now' \
    'EscBack'
name=$(print_screen | sed -n 1p)
keys ']'
check "key ]: goes to the next kernel" wait_until 60 sh -c "[ \"\$(tmux -L $tap_tmux capture-pane -p | sed -n '1s/ pid.*//p')\" != '${name%% pid*}' ]"
keys '['
check "key [: goes to the previous kernel" wait_until 60 sh -c "[ \"\$(tmux -L $tap_tmux capture-pane -p | sed -n '1s/ pid.*//p')\" = '${name%% pid*}' ]"
keys l
check "detail, key l: draws logarithmic bars" shows 'log bars'
keys l w
check "detail, key w: shows the full name" hides 'log bars'
keys w Escape
check "detail, Esc: goes back to the kernels" shows '%TIME +CALL/s'
keys Tab
check "Tab: shows the queues" shows 'QUEUE  GPU  DEPTH  DISP/s    DISP  WAIT P50  WAIT P99  GAP P50  GAP P99' '  G1 +[0-9]+ .*[0-9](µ|n)s '
keys -l "$(printf '\\zzz')"
check "queues: text typed for a filter is ignored" shows 'not on this screen: .* .Filter.; the text you type is ignored' 'QUEUE  GPU'
check "queues: the ignored text counts nothing from now" sh -c "! tmux -L $tap_tmux capture-pane -p | grep -q 'counting from now'"
keys Tab
check "Tab: goes back to the kernels" shows '%TIME +CALL/s'
keys v
check "key v: shows why a GPU is idle" shows 'WHY IS G0 .* IDLE' 'no kernel queued: the host is late'
keys v
check "key v: goes back to the kernels" shows '%TIME +CALL/s'
keys t
check "key t: says how to mark a step if none was found" shows 'no kernel or range seems to run once per step; X on one marks it'
keys t X
check "key X: marks the selected kernel as the step" shows 'each run of .* is a step' '[0-9] ?[mµ]?s a step'
keys X
check "key X again: leaves the choice to rtl-top" shows 'steps are marked automatically'
keys m
check "key m: shows the copies" shows 'GPU COPY COPY/s    B/s %TIME    P50    P99 MEAN B  SPEED COPIES  BYTES' ' G1  P2P '
keys m
check "key m: goes back to the kernels" shows '%TIME +CALL/s'
keys '?'
check "key ?: opens the card of this screen" shows 'rtl-top help: keys of this screen' '. F4 +Filter' 'act now' 'powers of 1024' '\? opens the manual'
keys '?'
check "key ? again: opens the manual" shows 'rtl-top manual' 'Keys of all screens' 'lines 1-22 of'
keys End
check "help, End: shows the last note" shows 'a second HSA runtime is not traced' 'lines [0-9]+-([0-9]+) of \1;'
keys PageUp
check "help, PgUp: shows the notes' title" shows 'Notes; !'
keys PageUp Up Up Up
check "help, PgUp: shows the reasons with their numbers" shows 'own_signal +[0-9]'
keys h
check "help, h: closes it" shows '%TIME +CALL/s'
keys F1
check "F1: opens the help" shows 'rtl-top help'
keys Escape Escape Escape Escape
check "Esc: never quits" shows '%TIME +CALL/s'
keys '?' / scratch Enter
check "help, /: finds text" shows 'scratch +private memory of a work-item'
keys / nowhere_at_all Enter n
check "help, /: a search without a match is reported" shows "the help doesn.t contain .nowhere_at_all."
keys Escape F3 rccl Escape
check "F3: Esc ends the search" hides '^find'
keys g
check "key g: shows families" shows '^> .* \+ [a-z]+  [0-9]+ kernels?' '60/60'
keys Enter
check "families, Enter: opens one" shows '^> .* - [a-z]+  [0-9]+ kernels?'
keys Left
check "families, Left: closes one" shows '^> .* \+ [a-z]+  [0-9]+ kernels?'
keys Right
check "families, Right: opens one" shows '^> .* - [a-z]+  [0-9]+ kernels?'
keys F5
check "F5: goes back to the kernels" hides ' [+-] [a-z]+  [0-9]+ kernels?'
keys Right Right
check "Right: scrolls the names" shows 'names from column 17'
keys Left Left
check "Left: scrolls the names back" hides 'from column'
keys Home
keys G
check "key G: goes to the last kernel" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 21 ]"
keys Home
keys e
check "key e: one process can't be compared" shows 'only one process: nothing to compare'
keys F12
check "F12: asks first" shows 'Write sort, columns'
keys y
check "F12: writes the configuration" shows 'settings written to .*rtl-top/config'
keys C-l
check "Ctrl-L: redraws the screen" shows '%TIME +CALL/s' '\[LIVE\]'

keys B
check "key B: a probe is started in the detail" shows 'not on this screen: B .Probe.'
keys Y
check "key Y: waits are timed in the detail" shows 'not on this screen: Y .Waits.'

keys x
check "key x: shows the file first" shows "^record into .*: rtl-top-$demo.db"
keys Escape S
check "key S: shows the file first" shows "^add a snapshot to .*: rtl-top-$demo.db"
keys C-u "$work/mine.db" Enter
check "key S: writes the file that was typed" shows 'snapshot of 60 kernels added to .*mine.db'
check "key S: the typed file is a recording" test -s "$work/mine.db"

# Pasted text: no part of it acts as a key.
run_tmux set-buffer 'zqS x
q'
run_tmux paste-buffer -p
check "pasted text: is ignored" shows 'pasted text is ignored' '%TIME +CALL/s'
keys f
run_tmux paste-buffer -p
check "pasted text: goes into a prompt" shows '^filter: .*zqS xq'
keys Escape

# Unknown escape sequences: no part of them acts as a key.
keys -l "$(printf '\033[1;5C')"
keys -l "$(printf '\033[99;99;99z')"
keys -l "$(printf '\033OZ')"
check "unknown escape sequences: are ignored" shows '%TIME +CALL/s.*60/60' 'sort %TIME v' '\[LIVE\]'
is "unknown escape sequences: start no recording" "$(find . -maxdepth 1 -name 'rtl-top-*.db')" ""

keys q
check "key q: exit status is 0" shows '^status 0'

start_terminal 80 24 "$top -p $demo -d 0.2 -s calls -F gemm -U -C --names template --units us --window all; echo status \$?; exec cat"
check "command line: its choices are on the screen" shows 'sort CALLS v' 'filter gemm' 'win all' 'names template'
check "-U: the screen is ASCII" sh -c "! tmux -L $tap_tmux capture-pane -p | LC_ALL=C grep -q '[^ -~]'"
keys F10
check "F10: exit status is 0" shows '^status 0'
# --- one of these tests presses every key that the manual lists ---
awk '/^\.Sh/ { part = $2 } part == "KEYS" && /^\.It Ic/ { $1 = $2 = ""; print }' man/rtl-top.1 | sed 's/\\&//g; s/\\e/\\/g' |
    tr ' ' '\n' | grep . | sed 's/^Ctrl-\(.\)$/C-\L\1/; s/^PgUp$/PageUp/; s/^PgDn$/PageDown/; s/^Esc$/Escape/' | sort -u >"$work/table"
grep -hoE '^ *keys .*' tests/e2e/*.t | sed 's/^ *keys //' | tr ' ' '\n' | sed "s/^['\"]//; s/['\"]\$//" |
    sed 's/^\\\\$/\\/' | grep . | sort -u >"$work/pressed"
check "rtl-top(1): lists over 60 keys" test "$(wc -l <"$work/table")" -gt 60
is "tests: press every key of rtl-top(1)" "$(comm -23 "$work/table" "$work/pressed")" ""

start_terminal 80 24 "LC_ALL=C $top -p $demo -n 3 -d 0.1; echo status \$?; exec cat"
check "-n 3 with LC_ALL=C: exit status is 0" shows '^status 0'
finish
