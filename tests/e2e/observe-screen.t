#!/bin/sh
# From a process that is only observed to the list of all processes, and back: it is in the list, too; and it has no mode.
# shellcheck disable=SC2119 # play: with options, or without
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"
. "$(dirname "$0")/observe.sh"

watches_all
play 4
tell_all run 8000 0 20 0
tell_all "done"
terminal 110 24 "cd $work && $top -p $program --no-children -d 0.2; echo status \$?; exec cat"
check "a process alone, from outside" shows 'OBSERVED|observed' 'fast00'
keys M
check "it has no mode" shows "only observed: without librtl.so"
keys p
check "p: it is in the list" shows '^ +PID  RANK +GPU' "^[> ] *$program "
keys p
check "p again: back on it" shows 'fast00' "pid $program"
keys p
check "the list again" shows '^ +PID  RANK +GPU' "^> *$program "
keys Enter
check "Enter: back on it" shows 'fast00' "pid $program"

demo --kernels 3 --gpus 1 --rate 1000
keys p
check "who is traced stands beside it" shows "^[> ] *$program " " $demo "
keys q
check "and out" shows 'status 0'
among_all
close_play
finish
