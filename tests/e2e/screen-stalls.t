#!/bin/sh
# Stalls on the screen. Copies follow one another until all waits are timed; the hottest come first, with the instructions
# before the selected one. Keys Y and B stop them. Messages where nothing can be timed. On the software GPU, where kernels
# compute and a wait takes VGPU_WAIT_CYCLES.
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
# run_rounds N: the program runs N rounds and stops. A copy needs 20 dispatches of work_walk, 1 in 10 of its rounds.
run_rounds() {
    done=$((done + $1))
    printf "%$1s" '' >&8
    wait_until 60 grep -qx "round $done" "$work/work.out"
}
with_rounds() { # COMMAND: run a round before it; a copy lasts for 200 rounds
    run_rounds 1 && "$@"
}
on_screen() { print_screen | grep -qE -e "$1"; }
appears_in_rounds() { # PATTERN: run rounds until it is on screen
    wait_until 120 with_rounds on_screen "$1" || { print_screen; return 1; }
}
ended_with_rounds() { # PID: wait for a command that needs dispatches; returns its status
    wait_until 120 with_rounds ended "$1"
    wait "$1"
}
"$top" probe -p "$program" -k work_walk --stalls -n 1 --every 1 --json >"$work/known.json" 2>"$work/err" 8>&- &
ended_with_rounds $!
waits=$(jq .stalls.waits "$work/known.json")
copies=$(jq .stalls.copies_needed "$work/known.json")

count_loads() { grep -c 'a probe was loaded' "$work/work.err"; }
open_detail() { # NAME: open the kernel's detail
    keys / "$1" Enter
    shows "^>.*$1" || return 1
    keys Enter
    shows 'DURATION since'
}
before=$(count_loads)
# Terminals don't inherit descriptor 8: a surviving process would keep the program from ending.
start_terminal 80 24 "$top -p $program -d 0.5; echo left with \$?; exec sleep 1000" 8>&-
check "stalls: the detail opens" open_detail work_walk
check "stalls: the key line has Y" shows 'YWaits'
keys Y y
check "key Y: arms the first copy and shows its numbers" appears_in_rounds 'STALLS armed, copy 1 of 3: [1-9]'
check "stalls: the pane has its columns" shows "waits [1-9][0-9]* of $waits timed" \
    ' %WAVES  CYCLES  PASSES  AT '
check "stalls: the status line shows the probe" shows '^probed: 1 in 10 . '
check "stalls: the selected wait has cycles, passes, place and text" shows \
    '^> +[0-9.]+% +(39[0-9]|40[0-9]) +[1-9][0-9]*  .0x[0-9a-f]+ +s_waitcnt vmcnt.0.$'
if ldconfig -p | grep -q libamd_comgr; then
    check "stalls: the selected wait has the instructions before it" shows '^ {30,}global_load_dword v[0-9]'
else
    check "stalls: without libamd_comgr the pane says so" shows 'no instructions: no libamd_comgr'
fi
check "stalls: the second copy follows by itself" appears_in_rounds 'copy 2 of 3: '
check "stalls: the last copy completes" appears_in_rounds 'STALLS over'
check "stalls: all waits are timed at the end" shows "STALLS over, copy $copies of $copies: 20 probed of 20 wanted, 1 in 10, GPU 0" "waits $waits of $waits timed" \
    'the probe ended: each wait was timed' 'clock 104 cyc' "waves $((copies * 20)) of $((copies * 20))"
is "stalls: the process has loaded each copy" "$(($(count_loads) - before))" "$copies"
check "stalls: the list shows its length" shows "1-[0-9]+ of $waits\$"
print_shares() { print_screen | sed -n 's/^[> ] *\([0-9.]*\)% .*s_waitcnt.*/\1/p'; }
is "stalls: the hottest waits come first" "$(print_shares)" "$(print_shares | sort -rn)"
keys G
check "stalls, key G: shows the end of the list" shows "[0-9]+-$waits of $waits\$"
keys Home
check "stalls, Home: shows the beginning of the list" shows "1-[0-9]+ of $waits\$"
run_tmux resize-window -x 60 -y 20
check "stalls, 60x20: columns are shorter" shows 'WAITS FOR' '^> +[0-9.]+% +[0-9]+ +[0-9]+  .0x[0-9a-f]+ +vmcnt.0.$'
run_tmux resize-window -x 120 -y 50
check "stalls, 120x50: the pane is there" shows "STALLS over" '^> +[0-9.]+% .*s_waitcnt vmcnt.0.'
run_tmux resize-window -x 80 -y 24
keys '['
check "stalls: another kernel has no pane" hides 'STALLS'
keys ']'
check "stalls: the kernel still has the pane" shows 'STALLS over'

# --- stop ---
arm() { # [KEY]: press it and wait for the first numbers
    keys "${1:-Y}" y
    case ${1:-Y} in Y) appears_in_rounds 'STALLS armed, copy 1 of 3: [1-9]' ;; *) appears_in_rounds 'PROBE armed, [1-9]' ;; esac
}
check "key Y: arms again" arm
keys Y
check "key Y: stops the copies" shows 'STALLS over, copy 1' 'the probe ended: it was stopped'
check "key Y: arms a third time" arm
keys B
check "key B: stops the copies of Y" shows 'STALLS over, copy 1' 'the probe ended: it was stopped'
check "key B: then arms a probe" arm B
check "key B: shows the probe's numbers" shows 'imbalance  [1-9]'
keys Y
check "key Y: stops the probe of B" shows 'PROBE over, ' 'the probe ended: it was stopped'
keys q
check "stalls: exit status is 0" shows 'left with 0'
"$top" probe -p "$program" -k work_sum -n 2 --every 1 >"$work/out" 2>&1 8>&- &
ended_with_rounds $!
is "stalls: the next probe succeeds" "$?" 0

# --- recordings have no waits ---
start_terminal 80 24 "$top -p $program -d 0.3 -w $work/seen.db; echo left with \$?; exec sleep 1000" 8>&-
check "recording: the detail opens" open_detail work_sum
keys Y y
check "recording: Y says that waits aren't recorded" shows "^probed copies will run; Y stops the probe; recordings store no waits"
check "recording: Y still shows the waits" appears_in_rounds 'STALLS over'
check "recording: each wait is timed" shows 'each wait was timed'
keys q
check "recording: exit status is 0" shows 'left with 0'
is "recording: has no probe" "$("$top" -r "$work/seen.db" --json | jq -s 'map(select(.probe)) | length')" 0

# --- the process ends ---
start_terminal 80 24 "$top -p $program; echo left with \$?; exec sleep 1000" 8>&-
check "process ends during stalls: the detail opens" open_detail work_walk
check "process ends during stalls: Y arms" arm
exec 8>&-
wait "$program"
is "process ends during stalls: the program's results are right" "$? $(grep -c PASS "$work/work.out")" "0 1"
check "process ends during stalls: the pane says so" shows 'STALLS over' '(the process has exited|the program has unloaded the kernel|runtime was shut down)'
check "process ends during stalls: the numbers stay" shows "waits [1-9][0-9]* of $waits timed"
keys Y
check "process ends during stalls: Y is refused" shows '^the process has exited'
keys q
check "process ends during stalls: exit status is 0" shows 'left with 0'

# --- a kernel without waits ---
on_gpu --execute --gpus 1 -- "$O/tests/programs/serve" --layers 2 --gpus 1 >"$work/serve.out" 2>"$work/serve.err" &
program=$!
tap_pids="$tap_pids $program"
wait_until 60 sh -c "$top -p $program -b -n 1 2>/dev/null | grep -q silu"
start_terminal 80 24 "$top -p $program; echo left with \$?; exec sleep 1000" 8>&-
check "kernel without waits: the detail opens" open_detail silu
keys Y y
check "kernel without waits: Y is refused with the reason" shows 'STALLS over' 'it has no wait that could be timed'
check "kernel without waits: has no numbers" shows '^ no numbers'
keys q
finish
