#!/bin/sh
# A probe armed from the screen: its pane, where "probed" is said, that it is taken back, and what is said where it can't
# be. On the software GPU, where kernels compute.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"
unwatched

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2

serve() { # NAME
    on_gpu --execute --waves "$work/waves" -- "$O/tests/programs/serve" --layers 2 --gpus 1 >"$work/$1.out" 2>"$work/$1.err" &
    server=$!
    tap_pids="$tap_pids $server"
    wait_until 60 sh -c "$top -p $server -b -n 1 2>/dev/null | grep -q silu"
}
loads() { grep -c 'a probe was loaded' "$work/probed.err"; }
detail() { # into the detail of the kernel
    keys / silu Enter
    shows '^>.*silu' || return 1
    keys Enter
    shows 'DURATION since'
}

serve plain
terminal 80 24 "$top -p $server; echo left with \$?; exec sleep 1000"
check "the detail has the key" detail
check "in its line" shows 'PProbe'
keys P
check "a process that wasn't started for it" shows '^not started with RTL_PROBE=1 .rtl-top run --probe.: nothing is probed'
keys q
end_process "$server"

RTL_PROBE=1 && export RTL_PROBE
serve probed
terminal 80 24 "$top -p $server; echo left with \$?; exec sleep 1000"
check "a kernel is chosen" detail
keys P
check "it is armed, and its numbers come" shows 'PROBE armed, [1-9][0-9.k]* of [0-9.k]+ dispatches, 1 in 10' 'imbalance  [1-9]' \
    'on CUs     [0-9]+ of 104' 'tail p50' 'others     5.00µs: x1.00'
check "waves by their cycles" shows '^ +[0-9.]+k? █+ +[0-9.]+k  │'
check "the status line says so" shows '^probed: 1 in 10 . '
is "the process has loaded one" "$(loads)" 1
keys Escape
check "and the row" shows 'probed act_and_mul'
keys Enter
check "back to it" shows 'PROBE armed'
keys P
check "it is taken back" shows 'PROBE over, ' 'the probe ended: it was stopped'
keys P
check "and armed again" shows 'PROBE armed, [1-9]'
is "which is another one" "$(loads)" 2
keys ']'
check "another kernel has none" hides 'PROBE armed'
keys P
check "there the key takes it back, too" shows 'the probe ended: it was stopped'
keys '['
check "its numbers stay" shows 'PROBE over, '
keys P
check "once more" shows 'PROBE armed, [1-9]'
keys q
check "who leaves" shows 'left with 0'
"$top" probe -p "$server" -k silu -n 2 --every 1 >"$work/out" 2>&1
is "leaves nothing behind" "$?" 0

terminal 40 12 "$top -p $server; echo left with \$?; exec sleep 1000"
check "on a small terminal" detail
keys P
check "there is a line of it" shows 'armed, [1-9][0-9.k]* of' 'waves [0-9.]+k of'
kill -9 "$server"
wait "$server" 2>/dev/null
check "a process that ends" shows 'the process has exited' 'over, [1-9]'
keys q
finish
