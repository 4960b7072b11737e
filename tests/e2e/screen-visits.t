#!/bin/sh
# From one process to the list and back, into another and out again: choices and history of a process are kept.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

lock_for_viewing_all
start_demo --kernels 12 --gpus 1 --rate 4000
first=$demo
start_demo --kernels 9 --gpus 1 --rate 3000
second=$demo

# --- one process ---
start_terminal 100 24 "cd $work && $top -p $first -d 0.2 -w one.db; echo status \$?; exec cat"
check "one process: its screen appears" shows "pid $first" '\[LIVE\]'
keys '<' / gemm Enter '}'
check "one process: has its own sort and window" shows 'sort KERNEL' 'win [0-9].* of 30s'
selected_name() { print_screen | sed -n 's/^> .* \([^ ]*\) *$/\1/p'; }
chosen=$(selected_name)
check "one process: a row is selected" test -n "$chosen"
grows() { [ "$(print_screen | sed -n 's/.* \([0-9]*\)\.*[0-9]*m*s of 30s.*/\1/p')" -ge "$1" ]; }
check "one process: has two seconds of history" wait_until 60 grows 2
keys p
check "key p: shows the list of all" shows '^ +PID  RANK +GPU' " $first " " $second "
check "list: shows the recording" shows ' REC \[LIVE\]' '^rec one.db '
was=$(sqlite3 "$work/one.db" 'SELECT count(*) FROM rtl_frame')
more() { [ "$(sqlite3 "$work/one.db" 'SELECT count(*) FROM rtl_frame')" -gt $((was + 5)) ]; }
check "list: the recording goes on" wait_until 60 more
keys p
check "key p: leads back to the process" shows "pid $first" 'sort KERNEL' 'of 30s'
check "back on the process: the history is kept" grows 3
is "back on the process: the cursor is kept" "$(selected_name)" "$chosen"
is "back on the process: it is not compared with others" "$(print_screen | grep -c SLOWEST)" 0
keys p
check "key p: shows the list again" shows '^ +PID  RANK +GPU' " $second "
keys Escape
check "Esc: leads back to the process" shows "pid $first" 'sort KERNEL'

# --- another process ---
find_row() { print_screen | grep -E "^[> ] *$1 "; }
is_on() { find_row "$1" | grep -q '^>'; }
move_to() {
    for _ in 1 2 3 4 5 6 7 8 9; do
        is_on "$1" && return 0
        keys Down
        sleep 0.2
    done
    is_on "$1"
}
keys p
check "key p: shows the list a third time" shows " $second "
keys Home
check "list: the cursor reaches the second process" move_to "$second"
keys Enter
check "second process: shows the recording of the first" shows "pid $second" ' REC \[LIVE\]' '^rec one.db '
keys h
check "second process: the help shows the recording" shows 'rtl-top help.* REC'
keys Escape C
check "second process: C sorts by calls" shows 'sort CALLS'
keys p
check "second process: p leads back to the list" shows '^ +PID  RANK +GPU' " $second "
keys Enter
check "second process again: the sort is kept" shows "pid $second" 'sort CALLS'
keys p
check "list: the cursor is kept" wait_until 60 is_on "$second"
keys Home
check "list: the cursor reaches the first process" move_to "$first"
keys Enter
check "first process again: sort and window are kept" shows "pid $first" 'sort KERNEL' 'of 30s'
keys q
check "first process: exit status is 0" shows 'status 0'

# --- a recorded process is left for another one ---
start_terminal 100 24 "cd $work && $top -p $first,$second -d 0.2; echo status \$?; exec cat"
check "two processes: the screen appears" shows '2 processes' '\[LIVE\]'
keys p
check "two processes: p lists them" shows '^ +PID  RANK +GPU' " $first " " $second "
keys Home
check "two processes: the cursor reaches the first" move_to "$first"
keys Enter
check "two processes: Enter shows the first" shows "pid $first" '\[LIVE\]'
keys x Enter
check "two processes: x records the first" shows "^rec rtl-top-$first.db "
keys p
check "two processes: the list shows the recording" shows '^ +PID  RANK +GPU' "^rec rtl-top-$first.db "
keys Home
check "two processes: the cursor reaches the second" move_to "$second"
keys Enter
check "two processes: the second shows the recording" shows "pid $second" "^rec rtl-top-$first.db "
was=$(sqlite3 "$work/rtl-top-$first.db" 'SELECT count(*) FROM rtl_frame')
goes_on() { [ "$(sqlite3 "$work/rtl-top-$first.db" 'SELECT count(*) FROM rtl_frame')" -gt $((was + 5)) ]; }
check "two processes: the recording of the first goes on" wait_until 60 goes_on
keys q
check "two processes: exit status is 0" shows 'status 0'

# --- a recording of two processes ---
"$top" -p "$first,$second" -b -d 0.2 -n 12 -w "$work/both.db" >/dev/null
start_terminal 100 24 "$top replay $work/both.db; echo status \$?; exec cat"
check "replay of two: plays to the end" shows '\[END 12/12\]' '2 processes'
keys , , , p
check "replay of two: p lists them, paused" shows '^ +PID  RANK +GPU' " $second " '\[PAUSED 9/12\]'
keys Home
check "replay of two: the cursor reaches the second" move_to "$second"
keys Enter
check "replay of two: Enter shows the second at that moment" shows "pid $second" '\[PAUSED 9/12\]' '%TIME .*KERNEL'
is "replay of two: the second is not compared with others" "$(print_screen | grep -c SLOWEST)" 0
keys ,
check "replay of two: comma goes back a frame" shows '\[PAUSED 8/12\]'
keys p
check "replay of two: p leads back to the list, at the new moment" shows '^ +PID  RANK +GPU' '\[PAUSED 8/12\]'
keys q
check "replay of two: exit status is 0" shows 'status 0'
finish
