#!/bin/sh
# Probes on the screen: pane, status line, stop, refusals, recording. On the software GPU, where kernels compute.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

make --no-print-directory O="$O" all vgpu programs >"$work/make.log" 2>&1 || cat "$work/make.log" >&2

start_serve() { # NAME
    on_gpu --execute --waves "$work/waves" -- "$O/tests/programs/serve" --layers 2 --gpus 1 >"$work/$1.out" 2>"$work/$1.err" &
    server=$!
    tap_pids="$tap_pids $server"
    wait_until 60 sh -c "$top -p $server -b -n 1 2>/dev/null | grep -q silu"
}
count_loads() { grep -c 'a probe was loaded' "$work/probed.err"; }
open_detail() { # open the detail of the kernel
    keys / silu Enter
    shows '^>.*silu' || return 1
    keys Enter
    shows 'DURATION since'
}

start_serve plain
start_terminal 80 24 "$top -p $server; echo left with \$?; exec sleep 1000"
check "without RTL_PROBE=1: the detail opens" open_detail
check "without RTL_PROBE=1: the key bar has no probe" hides 'BProbe'
keys B
check "without RTL_PROBE=1: B says how to start the process" shows '^not started with RTL_PROBE=1 .rtl-top run --probe.: no probe'
keys q
end_process "$server"

RTL_PROBE=1 && export RTL_PROBE
start_serve probed
start_terminal 80 24 "$top -p $server; echo left with \$?; exec sleep 1000"
check "probe: the detail opens" open_detail
keys B y
check "key B: arms a probe and shows its numbers" shows 'PROBE armed, [1-9][0-9.k]* probed of [0-9.k]+ seen, 1 in 10, GPU 0' 'imbalance  [1-9]' \
    'on CUs     [0-9]+ of 104' 'tail p50' 'others     5.00µs: x1.00'
check "probe: the pane has waves by cycles" shows '^ +[0-9.]+k? █+ +[0-9.]+k  │'
check "probe: the status line shows it" shows '^probed: 1 in 10 . '
is "probe: the process has loaded one copy" "$(count_loads)" 1
keys Escape
check "probe: the kernel's row shows it" shows 'probed act_and_mul'
keys Enter
check "probe: the detail still has the pane" shows 'PROBE armed'
keys B
check "key B: stops the probe" shows 'PROBE over, ' 'the probe ended: it was stopped'
keys B y
check "key B: arms a second probe" shows 'PROBE armed, [1-9]'
is "second probe: the process has loaded another copy" "$(count_loads)" 2
keys ']'
check "key ]: another kernel has no pane" hides 'PROBE armed'
keys B
check "key B on another kernel: stops the probe" shows 'the probe ended: it was stopped'
keys '['
check "key [: the stopped probe's numbers stay" shows 'PROBE over, '
keys B y
check "key B: arms a third probe" shows 'PROBE armed, [1-9]'
keys q
check "key q with an armed probe: exit status is 0" shows 'left with 0'
"$top" probe -p "$server" -k silu -n 2 --every 1 >"$work/out" 2>&1
is "key q with an armed probe: the next probe succeeds" "$?" 0

# --- recording and replay ---
print_pane() { run_tmux capture-pane -p | sed '1,/PROBE/d' | grep '│' | grep -v others; } # the other dispatches' times aren't recorded
query_frames() { "$top" -r "$work/seen.db" --json | jq -se "$1" 2>&1; }
start_terminal 80 24 "$top -p $server -d 0.3 -w $work/seen.db; echo left with \$?; exec sleep 1000"
check "recorded probe: the detail opens" open_detail
keys B y
check "recorded probe: B shows its numbers" shows 'PROBE armed, [1-9]' 'tail p50'
armed() { query_frames 'any(.[]; .probe.stage == "armed" and .probe.recorded > 0)'; }
check "recorded probe: the recording has its numbers" wait_until 60 armed
keys B
check "recorded probe: B stops it" shows 'PROBE over, ' 'the probe ended: it was stopped'
over() { query_frames 'last.probe.ended == "stopped"'; }
check "recorded probe: the recording has its end" wait_until 60 over
keys S Enter
check "recorded probe: S adds a snapshot" shows 'snapshot of .* added to'
print_pane >"$work/live"
check "recorded probe: the pane has the imbalance" grep -q imbalance "$work/live"
keys q
check "recorded probe: exit status is 0" shows 'left with 0'
check "recorded probe: JSON has kernel, GPU and numbers" query_frames 'last.probe |
    (.kernel | startswith("void vllm::act_and_mul_kernel<")) and .gpu == 0 and .gpu_name == "gfx90a" and .waves.ended > 0 and
    .units.of == 104 and (.waves.histogram | map(.waves) | add) == .waves.ended and .tail.max_ns > 0 and .every == 10 and
    (.hash | length) == 16'
has "recorded probe: text has the numbers" "$("$top" -r "$work/seen.db" -b | tail -n +2)" \
    '^probe act_and_mul.*  GPU 0  the probe ended: it was stopped  dispatches [1-9].*  units [1-9].*  tail mean .* max .* steps '
is "recorded probe: the snapshot has it" "$(sqlite3 "$work/seen.db" "SELECT count(*) FROM rtl_probe_sample p JOIN rtl_recording r
    ON r.id = p.recording WHERE r.kind = 'snapshot' AND p.ended = 'stopped'")" 1
loads=$(count_loads)
start_terminal 80 24 "$top -r $work/seen.db; echo left with \$?; exec sleep 1000"
check "replayed probe: plays to the end" shows '\[END '
check "replayed probe: the detail opens" open_detail
check "replayed probe: the pane says that it is recorded" shows 'PROBE recorded: over, ' 'the probe ended: it was stopped'
print_pane >"$work/seen"
check "replayed probe: the pane has the live numbers" diff "$work/live" "$work/seen"
keys B
check "replayed probe: B is refused" shows '^a recording can.t be probed'
is "replayed probe: B loads nothing" "$(count_loads)" "$loads"
keys ']'
check "replayed probe: another kernel has no pane" hides 'PROBE recorded'
keys '[' , b -1h Enter
check "replayed probe: b goes to the first frame" shows '\[PAUSED 1/'
check "replayed probe: the first frame has no pane" hides 'PROBE recorded'
number=$(query_frames 'map((.probe.recorded // 0) > 0) | index(true) + 1')
keys b
keys "$(date -d "@$(query_frames ".[$number - 1].time_ns / 1000000000 | floor")" +%H:%M:%S)" Enter
check "replayed probe: a frame during the probe has the pane" shows 'PROBE recorded: (armed|over), [1-9]'
keys q
check "replayed probe: exit status is 0" shows 'left with 0'

start_terminal 40 12 "$top -p $server; echo left with \$?; exec sleep 1000"
check "small terminal: the detail opens" open_detail
keys B y
check "small terminal: a line shows the probe" shows 'armed, [1-9][0-9.k]* of' 'waves [0-9.]+k of'
kill -9 "$server"
wait "$server" 2>/dev/null
check "process ends during a probe: the pane says so and keeps its numbers" shows 'the process has exited' 'over, [1-9]'
keys q
finish
