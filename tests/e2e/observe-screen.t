#!/bin/sh
# From an observed process to the list of all processes and back. The list shows the process, which has no mode.
# shellcheck disable=SC2119 # play has optional arguments
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"
. "$(dirname "$0")/observe.sh"

lock_for_viewing_all
play 4
send_all run 8000 0 20 0
send_all "done"
start_terminal 110 24 "cd $work && $top -p $program --no-children -d 0.2; echo status \$?; exec cat"
check "observed process: its screen shows that it is observed" shows 'OBSERVED|observed' 'fast00'
keys M
check "observed process: M says that it has no mode" shows "only observed: modes need librtl.so in the process"
keys p
check "key p: the list has the observed process" shows '^ +PID  RANK +GPU' "^[> ] *$program "
keys p
check "key p again: leads back to the process" shows 'fast00' "pid $program"
keys p
check "key p: the list is shown again" shows '^ +PID  RANK +GPU' "^> *$program "
keys Enter
check "Enter: leads back to the process" shows 'fast00' "pid $program"

start_demo --kernels 3 --gpus 1 --rate 1000
keys p
check "key p: a traced process is listed beside it" shows "^[> ] *$program " " $demo "
keys q
check "key q: exit status is 0" shows 'status 0'
unlock_viewing
close_play
finish
