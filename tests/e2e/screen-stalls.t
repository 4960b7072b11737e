#!/bin/sh
# What waits cost, from the screen: copies follow one another until all waits were timed, hottest first, with the
# instructions before the cursor's; taken back by either key; what is said where there is nothing to time. On the software
# GPU, where kernels compute and a wait takes as long as it is told.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2
RTL_PROBE=1 && export RTL_PROBE
VGPU_WAIT_CYCLES=400 && export VGPU_WAIT_CYCLES
mkfifo "$work/stdin"
on_gpu --execute --waves "$work/waves" -- "$O/tests/programs/probe_work" 60 --step <"$work/stdin" >"$work/work.out" \
    2>"$work/work.err" &
program=$!
tap_pids="$tap_pids $program"
exec 8>"$work/stdin"
wait_until 60 grep -qx 'round 60' "$work/work.out"
done=60
# rounds N: the program goes so many, and stands still. A copy takes 20 dispatches of work_walk, 1 in 10 of its rounds.
rounds() {
    done=$((done + $1))
    printf "%$1s" '' >&8
    wait_until 60 grep -qx "round $done" "$work/work.out"
}
with_rounds() { # COMMAND: one more before each time it is tried; a copy lasts for 200
    rounds 1 && "$@"
}
on_screen() { screen | grep -qE -e "$1"; }
comes() { # PATTERN: it is on screen, while the program goes on
    wait_until 120 with_rounds on_screen "$1" || { screen; return 1; }
}
ended_with_rounds() { # PID: waits for a command that needs dispatches; its status
    wait_until 120 with_rounds ended "$1"
    wait "$1"
}
"$top" probe -p "$program" -k work_walk --stalls -n 1 --every 1 --json >"$work/known.json" 2>"$work/err" 8>&- &
ended_with_rounds $!
waits=$(jq .stalls.waits "$work/known.json")
copies=$(jq .stalls.copies_needed "$work/known.json")

loads() { grep -c 'a probe was loaded' "$work/work.err"; }
detail() { # NAME: into the kernel's detail
    keys / "$1" Enter
    shows "^>.*$1" || return 1
    keys Enter
    shows 'DURATION since'
}
before=$(loads)
# terminals without 8: what outlives them must not hold the program
terminal 80 24 "$top -p $program -d 0.5; echo left with \$?; exec sleep 1000" 8>&-
check "a kernel is chosen" detail work_walk
check "the key line has the key" shows 'sStalls'
keys s
check "it is armed: the first copy's numbers come" comes 'STALLS armed, copy 1 of 3: [1-9]'
check "what they are" shows "waits [1-9][0-9]* of $waits timed" \
    ' %WAVES  CYCLES  PASSES  AT '
check "the status line says that it is probed" shows '^probed: 1 in 10 . '
check "the cursor's has its cycles, passes, place and text" shows \
    '^> +[0-9.]+% +(39[0-9]|40[0-9]) +[1-9][0-9]*  .0x[0-9a-f]+ +s_waitcnt vmcnt.0.$'
if ldconfig -p | grep -q libamd_comgr; then
    check "and the instructions before it" shows '^ {30,}global_load_dword v[0-9]'
else
    check "or it is said why not" shows 'no instructions: no libamd_comgr'
fi
check "the next copy follows by itself" comes 'copy 2 of 3: '
check "and the last" comes 'STALLS over'
check "until all were timed" shows "STALLS over, copy $copies of $copies: 20 probed of 20 wanted, 1 in 10, GPU 0" "waits $waits of $waits timed" \
    'the probe ended: each wait was timed' 'clock 104 cyc' "waves $((copies * 20)) of $((copies * 20))"
is "by as many copies as it takes" "$(($(loads) - before))" "$copies"
check "the list says how long it is" shows "1-[0-9]+ of $waits\$"
shares() { screen | sed -n 's/^[> ] *\([0-9.]*\)% .*s_waitcnt.*/\1/p'; }
is "hottest first" "$(shares)" "$(shares | sort -rn)"
keys G
check "its end" shows "[0-9]+-$waits of $waits\$"
keys Home
check "and its beginning" shows "1-[0-9]+ of $waits\$"
term resize-window -x 60 -y 20
check "where there is less room" shows 'WAITS FOR' '^> +[0-9.]+% +[0-9]+ +[0-9]+  .0x[0-9a-f]+ +vmcnt.0.$'
term resize-window -x 120 -y 50
check "and where there is more" shows "STALLS over" '^> +[0-9.]+% .*s_waitcnt vmcnt.0.'
term resize-window -x 80 -y 24
keys '['
check "another kernel has none" hides 'STALLS'
keys ']'
check "it is still there" shows 'STALLS over'

# --- taken back ---
armed() { # [KEY]: pressed, and the first numbers come
    keys "${1:-s}"
    case ${1:-s} in s) comes 'STALLS armed, copy 1 of 3: [1-9]' ;; *) comes 'PROBE armed, [1-9]' ;; esac
}
check "armed again" armed
keys s
check "the key takes it back" shows 'STALLS over, copy 1' 'the probe ended: it was stopped'
check "once more" armed
keys P
check "the other key takes it back, too" shows 'STALLS over, copy 1' 'the probe ended: it was stopped'
check "and probes waves then" armed P
check "whose numbers come" shows 'imbalance  [1-9]'
keys s
check "which s takes back" shows 'PROBE over, ' 'the probe ended: it was stopped'
keys q
check "who leaves" shows 'left with 0'
"$top" probe -p "$program" -k work_sum -n 2 --every 1 >"$work/out" 2>&1 8>&- &
ended_with_rounds $!
is "leaves nothing behind" "$?" 0

# --- recorded: not the waits ---
terminal 80 24 "$top -p $program -d 0.3 -w $work/seen.db; echo left with \$?; exec sleep 1000" 8>&-
check "a screen that records" detail work_sum
keys s
check "says that waits aren't recorded" shows "^probed copies will run; s stops the probe; recordings store no waits"
check "shows them all the same" comes 'STALLS over'
check "until each was timed" shows 'each wait was timed'
keys q
check "and leaves" shows 'left with 0'
is "nothing of a probe is in the recording" "$("$top" -r "$work/seen.db" --json | jq -s 'map(select(.probe)) | length')" 0

# --- the process ends ---
terminal 80 24 "$top -p $program; echo left with \$?; exec sleep 1000" 8>&-
check "on a screen again" detail work_walk
check "armed" armed
exec 8>&-
wait "$program"
is "the program's results are right" "$? $(grep -c PASS "$work/work.out")" "0 1"
check "it is said that it has exited" shows 'STALLS over' '(the process has exited|the program has unloaded the kernel|runtime was shut down)'
check "what was seen stays" shows "waits [1-9][0-9]* of $waits timed"
keys s
check "nobody is asked any more" shows '^the process has exited'
keys q
check "who leaves" shows 'left with 0'

# --- a kernel without a wait ---
on_gpu --execute --gpus 1 -- "$O/tests/programs/serve" --layers 2 --gpus 1 >"$work/serve.out" 2>"$work/serve.err" &
program=$!
tap_pids="$tap_pids $program"
wait_until 60 sh -c "$top -p $program -b -n 1 2>/dev/null | grep -q silu"
terminal 80 24 "$top -p $program; echo left with \$?; exec sleep 1000" 8>&-
check "one without a wait" detail silu
keys s
check "is refused with the reason" shows 'STALLS over' 'it has no wait that could be timed'
check "and has no numbers" shows '^ no numbers'
keys q
finish
