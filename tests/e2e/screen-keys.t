#!/bin/sh
# Every key of the screen, in a terminal of 80x24, on a process whose numbers move.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

demo --kernels 60 --gpus 2 --rate 5000
terminal 80 24 "$top -p $demo -d 0.2 -s name; echo status \$?; exec cat"

check "the main screen" shows 'rtl-top  segment_demo.*pid '"$demo"'.*\[LIVE\]' '[0-9][kM]? disp/s' '^G0 .*%  wait p99 .* copy ' \
    '^G1 ' '[0-9.]+% NOT timed' '%TIME      CALL/s    P50    P99 P99CHG P99 [0-9.ms]+ +KERNEL +60/60' '^>' \
    'win .*s$' 'sort KERNEL \^ \| filter none \| names short \| units auto' '\?Help .*qQuit'
[ "$tap_failed" = 0 ] || finish # nothing else can work
check "numbers move" sh -c "a=\$(tmux -L $tap_tmux capture-pane -p); for i in 1 2 3 4 5 6 7 8; do sleep 0.3
    [ \"\$a\" = \"\$(tmux -L $tap_tmux capture-pane -p)\" ] || exit 0; done; exit 1"
check "the cursor is parked on the selected row" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 5 ]"

keys Down j Down
check "down moves the mark" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 8 ]"
check "the order is held meanwhile" shows 'sort KERNEL \^ held'
keys k
check "up moves it back" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 7 ]"
keys End
check "End goes to the last kernel" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 21 ]"
keys Home
check "Home goes to the first" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 5 ]"
keys PageDown C-f
check "pages down" shows 'sort KERNEL \^ held'
keys PageUp C-b C-b
check "pages up" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 5 ]"

keys C
check "C sorts by calls" shows 'sort CALLS v'
keys T
check "T by total time" shows 'sort TOTAL v'
keys L
check "L by p99" shows 'sort P99 v'
keys N
check "N by name" shows 'sort KERNEL \^'
keys P
check "P by share of time" shows 'sort %TIME v'
keys R
check "R reverses" shows 'sort %TIME \^'
keys I
check "I as well" shows 'sort %TIME v'
keys '>'
check "> sorts by the column to the right" shows 'sort CALL/s v'
keys '<'
check "< to the left" shows 'sort %TIME v'
keys s
check "s opens the sort menu" shows '> %TIME +share of timed' 'sort by: Up and Down choose'
keys Down Down Enter
check "Enter sorts by the chosen column" shows 'sort CALLS v'
keys F6 Escape
check "F6 too, and Esc leaves it" shows 'sort CALLS v'
keys P

keys o
check "o shows the columns" shows '\[x\] %TIME ' '\[ \] TOTAL' 'Space shows or hides'
keys Escape F2
check "F2 too" shows '\[x\] %TIME '
keys Escape

keys M
check "M shows the modes" shows '> default +times every kernel' 'mode: Up and Down choose'
keys Down Down Down Down Down k k Enter
check "a process that can't be told says so, and is watched on" shows "process $demo .*has no control page" 'KERNEL'

keys f triton
check "f filters while it is typed" shows 'filter: triton' 'KERNEL +[0-9]/60|KERNEL +[1-5][0-9]/60'
keys Enter
check "Enter keeps the filter" shows 'filter triton'
check "only matching kernels are shown" sh -c "! tmux -L $tap_tmux capture-pane -p | sed -n '6,20p' | grep -q gemm"
keys "\\" x x x x Escape
check "Esc brings the filter before back" shows 'filter triton'
keys '='
check "= clears it" shows 'filter none' '60/60'
keys F4 gemm Escape
check "F4 too, and Esc leaves it" shows 'filter none'
keys / nowhere_at_all Enter
check "a search without a match says so" shows "no kernel name contains .nowhere_at_all."
keys / copyBuffer Enter
check "/ finds a kernel" shows '^> .*__amd_rocclr_copyBuffer'
keys / gemm Enter n
check "n finds the next" shows '^> .*gemm'
keys N '='
check "= clears the search" shows 'sort'
keys Home

keys Space
check "Space pauses" shows '\[PAUSED 0:0'
before=$(screen | sed -n '6,20p')
check "the age of the pause counts" shows '\[PAUSED 0:02'
is "the rows hold still" "$(screen | sed -n '6,20p')" "$before"
keys Z
check "Z goes on" shows '\[LIVE\]'
keys z
check "z counts from now on" shows 'since zero 0:0'
keys r
check "r, too" shows 'since zero 0:0'
keys '}'
check "} makes the window longer" shows 'win .*(of 30s|30s)'
keys '{' '{' '{'
check "{ makes it shorter" shows 'win 0\.[23]s'
keys '}' '}'
check "and back" shows 'win .*10s'
keys d 0.1 Enter
check "d sets the interval" shows ' 0\.1s +\[LIVE'
keys d nonsense Enter
check "nonsense is not an interval" shows "nonsense. is not an interval"
keys +
check "+ makes it longer" shows ' 0\.2s +\[LIVE'
keys -
check "- shorter" shows ' 0\.1s +\[LIVE'
keys + E E
check "E changes the units" shows ' [0-9]{4,5}µs ' 
keys u u u
check "u too" shows ' [0-9]\.[0-9]+ms '
keys c
check "c changes the form of names: template" shows 'names template' '::'
keys c
check "full" shows 'names full'
keys c
check "mangled" shows 'names mangled' ' _Z'
keys c
check "short again" shows 'names short'
keys / elementwise Enter w
check "w shows the whole name" shows '^void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c$'
keys w
check "and hides it" hides '^void at::native::vectorized'
keys '=' Home 1
check "1 shows several GPUs in a line" shows '^G0 .*% .*G1 .*%'
keys 1
check "and back" shows '^G1 .*%'
keys y
check "y copies the name" shows 'full name sent to the terminal'
keys i
check "i hides idle kernels" shows 'idle hidden'
keys i

keys Enter
check "Enter opens the detail" shows 'DURATION since zero +CALLS +IN WINDOW +SINCE ZERO' 'time [0-9.]+% +calls ' '█' \
    'p99.9 +[0-9]' 'grid [0-9x]+ +wg [0-9]+ +lds .* scratch' 'P99 over time, on its P50 +interval 0\.[12]s' ' +0┤' '-0:[0-9]+ .*now' \
    'EscBack'
name=$(screen | sed -n 1p)
keys ']'
check "] goes to the next kernel" wait_until 60 sh -c "[ \"\$(tmux -L $tap_tmux capture-pane -p | sed -n '1s/ pid.*//p')\" != '${name%% pid*}' ]"
keys '['
check "[ back" wait_until 60 sh -c "[ \"\$(tmux -L $tap_tmux capture-pane -p | sed -n '1s/ pid.*//p')\" = '${name%% pid*}' ]"
keys L
check "L draws logarithmic bars" shows 'log bars'
keys L w
check "w shows the whole name here too" hides 'log bars'
keys w Escape
check "Esc goes back" shows '%TIME +CALL/s'
keys Tab
check "Tab shows the queues" shows 'QUEUE  GPU       WAY  DEPTH  DISP/s    DISP  WAIT P50  WAIT P99  GAP P99' '  G1 +[a-z]+ +[0-9]+ .*[0-9](µ|n)s '
keys v
check "v goes back to the kernels" shows '%TIME +CALL/s'
keys m
check "m shows the copies" shows 'GPU COPY COPY/s    B/s %TIME    P50    P99 MEAN B  SPEED COPIES  BYTES' ' G1  P2P '
keys m
check "m goes back to the kernels" shows '%TIME +CALL/s'
keys '?'
check "? opens the help" shows 'rtl-top help' 'Keys everywhere' 'lines 1-22 of'
keys End
check "the help scrolls to its end, the last note" shows 'a second HSA runtime is not traced' 'lines [0-9]+-([0-9]+) of \1;'
keys PageUp
check "a page above the last note the help has the notes' title" shows 'Notes; !'
keys PageUp Up Up Up
check "two pages above the last note the help has the reasons, with their numbers" shows 'own_signal +[0-9]'
keys h
check "h closes it" shows '%TIME +CALL/s'
keys F1
check "F1 opens it" shows 'rtl-top help'
keys Escape Escape Escape Escape
check "Esc never quits" shows '%TIME +CALL/s'
keys '?' / scratch Enter
check "/ searches the help" shows 'scratch +private memory of a work-item'
keys / nowhere_at_all Enter n
check "and says what it doesn't have" shows "the help doesn.t contain .nowhere_at_all."
keys Escape F3 rccl Escape
check "F3 asks what to find" hides '^find'
keys g
check "g shows families" shows '^> .* \+ [a-z]+  [0-9]+ kernels?' '60/60'
keys Enter
check "Enter opens one" shows '^> .* - [a-z]+  [0-9]+ kernels?'
keys Left
check "Left closes it" shows '^> .* \+ [a-z]+  [0-9]+ kernels?'
keys Right
check "Right opens it" shows '^> .* - [a-z]+  [0-9]+ kernels?'
keys F5
check "F5 goes back to the kernels" hides ' [+-] [a-z]+  [0-9]+ kernels?'
keys Right Right
check "Right scrolls the names" shows 'names from column 17'
keys Left Left
check "Left back" hides 'from column'
keys Home
keys G
check "G goes to the last kernel" wait_until 60 sh -c "[ \$(tmux -L $tap_tmux display-message -p '#{cursor_y}') = 21 ]"
keys Home
keys e
check "e: one process is compared with nobody" shows 'only one process: nothing to compare'
keys F12
check "F12 writes the configuration" shows 'settings written to .*rtl-top/config'
keys C-l
check "Ctrl-L draws afresh" shows '%TIME +CALL/s' '\[LIVE\]'

# sequences that we don't know: no part of them is taken for a key
keys -l "$(printf '\033[200~')"
keys -l "$(printf '\033[1;5C')"
keys -l "$(printf '\033[99;99;99z')"
keys -l "$(printf '\033OZ')"
check "unknown sequences are swallowed" shows '%TIME +CALL/s.*60/60' 'sort %TIME v' '\[LIVE\]'
is "and nothing was recorded" "$(find . -maxdepth 1 -name 'rtl-top-*.db')" ""

keys q
check "q quits with status 0" shows '^status 0'

terminal 80 24 "$top -p $demo -d 0.2 -s calls -F gemm -U -C --names template --units us --window all; echo status \$?; exec cat"
check "choices on the command line" shows 'sort CALLS v' 'filter gemm' 'win all' 'names template'
check "ASCII only" sh -c "! tmux -L $tap_tmux capture-pane -p | LC_ALL=C grep -q '[^ -~]'"
keys F10
check "F10 quits" shows '^status 0'
# --- every key of the table, which the manual has, is pressed in a terminal by one of these tests ---
awk '/^\.Sh/ { part = $2 } part == "KEYS" && /^\.It Ic/ { $1 = $2 = ""; print }' man/rtl-top.1 | sed 's/\\&//g; s/\\e/\\/g' |
    tr ' ' '\n' | grep . | sed 's/^Ctrl-\(.\)$/C-\L\1/; s/^PgUp$/PageUp/; s/^PgDn$/PageDown/; s/^Esc$/Escape/' | sort -u >"$work/table"
grep -hoE '^ *keys .*' tests/e2e/*.t | sed 's/^ *keys //' | tr ' ' '\n' | sed "s/^['\"]//; s/['\"]\$//" |
    sed 's/^\\\\$/\\/' | grep . | sort -u >"$work/pressed"
check "there are more than 60 keys" test "$(wc -l <"$work/table")" -gt 60
is "each is pressed" "$(comm -23 "$work/table" "$work/pressed")" ""

terminal 80 24 "LC_ALL=C $top -p $demo -n 3 -d 0.1; echo status \$?; exec cat"
check "-n ends after so many frames, in any locale" shows '^status 0'
finish
