#!/bin/sh
# The screen with a serving-like HIP program on the unmodified runtime and the software GPU shows the scripted durations.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

# Two kernels have durations that are known to the tick; the others are as in the demo.
{
    echo '*rotary_embedding* fixed 7us'
    echo 'Cijk_*_MT16x16x512_* bimodal 208us 251us 0.85'
    cat tests/programs/serve.script
} >"$work/durations"
(RTL_MODE=lite; export RTL_MODE; on_gpu --gpus 2 --script "$work/durations" -- "$O/tests/programs/serve" --gpus 2 --seconds 600) >"$work/serve.out" 2>&1 &
serve=$!
tap_pids="$tap_pids $serve"
wait_until 60 is_traced "$serve"
start_terminal 100 30 "$top -p $serve -d 0.5; echo status \$?; exec cat"

check "screen: has the program's kernels" shows '\[LIVE\]' 'gemm TN bf16 128x128x64 MI16x16x1' 'rotary_embedding_kernel<bf16,true>' \
    'paged_attn bf16/f8 hd128' 'triton pointwise #0 embedding'
check "screen: marks kernels that are not timed" shows 'mode lite: [0-9.]+% NOT timed of .*own_signal' ' -  .* - +nccl generic'
check "screen: has both GPUs" shows '^G0 .*[0-9]%  copy ' '^G1 .*[0-9]%  copy '
keys M
check "key M: shows the modes and the current one" shows '│  off +loaded' '│> lite +times only kernels without a signal' \
    'mode: Up and Down choose, Enter requests it'
keys Up Up Up Down Down Escape
check "mode menu: Esc changes nothing" shows 'mode lite: '
keys M j Enter y
check "mode menu: Enter and y change the mode" shows 'mode default: ' 'gemm TN bf16'
check "mode menu: JSON has the new mode" wait_until 60 sh -c "'$top' -p $serve --json -n 1 | jq -e '.mode == \"default\"'"
keys M k Enter y
check "mode menu: Enter and y change the mode back" shows 'mode lite: '
keys '<'
check "screen: a fixed duration is right" shows ' 7\.(0[0-9])µs 7\.0[0-9]µs .*rotary_embedding_kernel'
check "screen: p50 and p99 are the two peaks" shows ' 20[6-9]µs  2(49|5[0-3])µs .*gemm TN bf16 16x16x512 MI16x16x1 SK3'
keys / MT16x16x512 Enter Enter
check "histogram: has both peaks" shows '^ +20[6-8]µs █+.* p50' 'p90 +2(49|5[0-3])µs' 'min +208µs +208µs' 'max +251µs +251µs'
keys Escape Tab
check "Tab: queues have waits and gaps; in mode lite the depth is unknown" shows '^[> ] +[0-9]+ +G1 +- .* [0-9.]+(n|µ|m)s +[0-9.]+(n|µ|m|)s +[0-9.]+(n|µ|m)s'
keys Tab
is "JSON: a fixed duration is right" "$("$top" -p "$serve" --json -n 1 | jq '[.kernels[] | select(.name | test("rotary"))
    | .p50_ns, .p99_ns, .min_ns, .max_ns] | length == 4 and all(. >= 6945 and . <= 7055)')" true
is "JSON: timed and untimed add up to counted" "$("$top" -p "$serve" --json -n 1 | jq '.dispatches |
    .counted - .timed - ([.untimed[]] | add) | . >= 0 and . <= 4096')" true
end_process "$serve"
check "process ends: the screen shows EXITED" wait_until 60 sh -c "tmux -L $tap_tmux capture-pane -p | grep -q EXITED"
check "process ends: the screen keeps the last numbers" shows 'has exited: this is its last state' 'rotary_embedding_kernel'
keys q
check "process ends: q exits with 0" shows 'status 0'
finish
