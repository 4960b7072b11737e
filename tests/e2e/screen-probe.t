#!/bin/sh
# A probe armed from the screen: its pane, where "probed" is said, that it is taken back, and what is said where it can't
# be. On the software GPU, where kernels compute.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

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
check "a process that wasn't started for it" shows '^not started with RTL_PROBE=1 .rtl-top run --probe.: no probe'
keys q
end_process "$server"

RTL_PROBE=1 && export RTL_PROBE
serve probed
terminal 80 24 "$top -p $server; echo left with \$?; exec sleep 1000"
check "a kernel is chosen" detail
keys P
check "it is armed, and its numbers come" shows 'PROBE armed, [1-9][0-9.k]* probed of [0-9.k]+ seen, 1 in 10, GPU 0' 'imbalance  [1-9]' \
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

# --- recorded, and seen again ---
pane() { term capture-pane -p | sed '1,/PROBE/d' | grep '│' | grep -v others; } # what those took isn't recorded
frames() { "$top" -r "$work/seen.db" --json | jq -se "$1" 2>&1; }
terminal 80 24 "$top -p $server -d 0.3 -w $work/seen.db; echo left with \$?; exec sleep 1000"
check "a screen that is recorded" detail
keys P
check "has a probe" shows 'PROBE armed, [1-9]' 'tail p50'
armed() { frames 'any(.[]; .probe.stage == "armed" and .probe.recorded > 0)'; }
check "which is in the recording" wait_until 60 armed
keys P
check "until it is over" shows 'PROBE over, ' 'the probe ended: it was stopped'
over() { frames 'last.probe.ended == "stopped"'; }
check "so is its end" wait_until 60 over
keys S
check "a snapshot" shows 'snapshot of .* added to'
pane >"$work/live"
check "there is a pane" grep -q imbalance "$work/live"
keys q
check "who leaves" shows 'left with 0'
check "its kernel, GPU and numbers are exported" frames 'last.probe |
    (.kernel | startswith("void vllm::act_and_mul_kernel<")) and .gpu == 0 and .gpu_name == "gfx90a" and .waves.ended > 0 and
    .units.of == 104 and (.waves.histogram | map(.waves) | add) == .waves.ended and .tail.max_ns > 0 and .every == 10 and
    (.hash | length) == 16'
has "as text, too" "$("$top" -r "$work/seen.db" -b | tail -n +2)" \
    '^probe act_and_mul.*  GPU 0  the probe ended: it was stopped  dispatches [1-9].*  units [1-9].*  tail mean .* max .* steps '
is "the snapshot has it" "$(sqlite3 "$work/seen.db" "SELECT count(*) FROM rtl_probe_sample p JOIN rtl_recording r
    ON r.id = p.recording WHERE r.kind = 'snapshot' AND p.ended = 'stopped'")" 1
loads=$(loads)
terminal 80 24 "$top -r $work/seen.db; echo left with \$?; exec sleep 1000"
check "played to its end" shows '\[END '
check "the kernel's detail" detail
check "has the pane, and says that it is recorded" shows 'PROBE recorded: over, ' 'the probe ended: it was stopped'
pane >"$work/seen"
check "with the same figures" diff "$work/live" "$work/seen"
keys P
check "nothing is probed" shows '^a recording can.t be probed'
is "nor loaded" "$(loads)" "$loads"
keys ']'
check "another kernel has none" hides 'PROBE recorded'
keys '[' T b -1h Enter
check "before it there was none" shows '\[PAUSED 1/'
check "so none is shown" hides 'PROBE recorded'
number=$(frames 'map((.probe.recorded // 0) > 0) | index(true) + 1')
keys b
keys "$(date -d "@$(frames ".[$number - 1].time_ns / 1000000000 | floor")" +%H:%M:%S)" Enter
check "while it ran there is" shows 'PROBE recorded: (armed|over), [1-9]'
keys q
check "left" shows 'left with 0'

terminal 40 12 "$top -p $server; echo left with \$?; exec sleep 1000"
check "on a small terminal" detail
keys P
check "there is a line of it" shows 'armed, [1-9][0-9.k]* of' 'waves [0-9.]+k of'
kill -9 "$server"
wait "$server" 2>/dev/null
check "a process that ends" shows 'the process has exited' 'over, [1-9]'
keys q
finish
