#!/bin/sh
# From one process to the list and back, into another and out again: what was chosen and seen there is there again.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

watches_all
demo --kernels 12 --gpus 1 --rate 4000
first=$demo
demo --kernels 9 --gpus 1 --rate 3000
second=$demo

# --- one alone ---
terminal 100 24 "cd $work && $top -p $first -d 0.2 -w one.db; echo status \$?; exec cat"
check "a process alone" shows "pid $first" '\[LIVE\]'
keys N / gemm Enter '}'
check "sorted, with a window and a cursor of its own" shows 'sort KERNEL' 'win [0-9].* of 30s'
marked() { screen | sed -n 's/^> .* \([^ ]*\) *$/\1/p'; }
chosen=$(marked)
check "there is something marked" test -n "$chosen"
grows() { [ "$(screen | sed -n 's/.* \([0-9]*\)\.*[0-9]*m*s of 30s.*/\1/p')" -ge "$1" ]; }
check "with a past" wait_until 60 grows 2
keys p
check "p: the list of all" shows '^ +PID  RANK +GPU' " $first " " $second "
check "that it is recorded is said there, too" shows ' REC \[LIVE\]' '^rec one.db '
was=$(sqlite3 "$work/one.db" 'SELECT count(*) FROM rtl_frame')
more() { [ "$(sqlite3 "$work/one.db" 'SELECT count(*) FROM rtl_frame')" -gt $((was + 5)) ]; }
check "and it is" wait_until 60 more
keys p
check "p again: back on it" shows "pid $first" 'sort KERNEL' 'of 30s'
check "whose past is still there" grows 3
is "the cursor is where it was" "$(marked)" "$chosen"
is "it is not compared with others" "$(screen | grep -c SLOWEST)" 0
keys p
check "the list" shows '^ +PID  RANK +GPU' " $second "
keys Escape
check "Esc goes back, too" shows "pid $first" 'sort KERNEL'

# --- into another one ---
row() { screen | grep -E "^[> ] *$1 "; }
on() { row "$1" | grep -q '^>'; }
go_to() {
    for _ in 1 2 3 4 5 6 7 8 9; do
        on "$1" && return 0
        keys Down
        sleep 0.2
    done
    on "$1"
}
keys p
check "the list once more" shows " $second "
keys Home
check "the cursor on the other one" go_to "$second"
keys Enter
check "inside, what is recorded is said" shows "pid $second" ' REC \[LIVE\]' '^rec one.db '
keys h
check "also in the help" shows 'rtl-top help .* REC'
keys Escape C
check "sorted by calls there" shows 'sort CALLS'
keys p
check "back in the list" shows '^ +PID  RANK +GPU' " $second "
keys Enter
check "in again: sorted as it was" shows "pid $second" 'sort CALLS'
keys p
check "the list, with its cursor" wait_until 60 on "$second"
keys Home
check "on the first one" go_to "$first"
keys Enter
check "which lies behind it" shows "pid $first" 'sort KERNEL' 'of 30s'
keys q
check "left" shows 'status 0'

# --- one that is recorded, left for another one ---
terminal 100 24 "cd $work && $top -p $first,$second -d 0.2; echo status \$?; exec cat"
check "two together" shows '2 processes' '\[LIVE\]'
keys p
check "their list" shows '^ +PID  RANK +GPU' " $first " " $second "
keys Home
check "the cursor on the first one" go_to "$first"
keys Enter
check "inside" shows "pid $first" '\[LIVE\]'
keys x
check "it is recorded" shows "^rec rtl-top-$first.db "
keys p
check "the list says so" shows '^ +PID  RANK +GPU' "^rec rtl-top-$first.db "
keys Home
check "the cursor on the second one" go_to "$second"
keys Enter
check "and so does the second one" shows "pid $second" "^rec rtl-top-$first.db "
was=$(sqlite3 "$work/rtl-top-$first.db" 'SELECT count(*) FROM rtl_frame')
goes_on() { [ "$(sqlite3 "$work/rtl-top-$first.db" 'SELECT count(*) FROM rtl_frame')" -gt $((was + 5)) ]; }
check "where the first one's frames go on" wait_until 60 goes_on
keys q
check "left from there" shows 'status 0'

# --- the same in a recording ---
"$top" -p "$first,$second" -b -d 0.2 -n 12 -w "$work/both.db" >/dev/null
terminal 100 24 "$top replay $work/both.db; echo status \$?; exec cat"
check "it plays to its end" shows '\[END 12/12\]' '2 processes'
keys T T T p
check "the list in a recording" shows '^ +PID  RANK +GPU' " $second " '\[PAUSED 9/12\]'
keys Home
check "the cursor on one" go_to "$second"
keys Enter
check "Enter goes in, at that moment" shows "pid $second" '\[PAUSED 9/12\]' '%TIME .*KERNEL'
is "alone" "$(screen | grep -c SLOWEST)" 0
keys T
check "a frame back" shows '\[PAUSED 8/12\]'
keys p
check "and back to the list, at the moment that was gone to" shows '^ +PID  RANK +GPU' '\[PAUSED 8/12\]'
keys q
check "and left" shows 'status 0'
finish
