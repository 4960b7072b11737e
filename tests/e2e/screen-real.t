#!/bin/sh
# The screen on a serving-like HIP program that the unmodified runtime runs on the software GPU: what was scripted is seen.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/screen.sh"

# two kernels whose durations are known to the tick; the others as in the demo
{
    echo '*rotary_embedding* fixed 7us'
    echo 'Cijk_*_MT16x16x512_* bimodal 208us 251us 0.85'
    cat tests/programs/serve.script
} >"$work/durations"
(RTL_MODE=lite; export RTL_MODE; on_gpu --gpus 2 --script "$work/durations" -- "$O/tests/programs/serve" --gpus 2 --seconds 600) >"$work/serve.out" 2>&1 &
serve=$!
tap_pids="$tap_pids $serve"
wait_until 60 traced "$serve"
terminal 100 30 "$top -p $serve -d 0.5; echo status \$?; exec cat"

check "kernels of the program" shows '\[LIVE\]' 'gemm TN bf16 128x128x64 MI16x16x1' 'rotary_embedding_kernel<bf16,true>' \
    'paged_attn bf16/f8 hd128' 'triton pointwise #0 embedding'
check "what is not timed says so" shows 'mode lite: [0-9.]+% NOT timed of .*own_signal' ' -  .* not timed +nccl generic'
check "both GPUs" shows '^G0 .*[0-9]%  wait p99 .*  copy ' '^G1 .*[0-9]%  wait p99'
keys M
check "M shows the modes, and which one it is" shows '│  off +loaded' '│> lite +times only kernels without a signal' \
    'mode: Up and Down choose, Enter requests it'
keys Up Up Up Down Down Escape
check "Esc leaves them alone" shows 'mode lite: '
keys M j Enter
check "Enter has the process go on in another" shows 'mode default: ' 'gemm TN bf16'
check "which JSON confirms" wait_until 60 sh -c "'$top' -p $serve --json -n 1 | jq -e '.mode == \"default\"'"
keys M k Enter
check "and back" shows 'mode lite: '
keys N
check "a fixed duration is seen" shows ' 7\.(0[0-9])µs 7\.0[0-9]µs .*rotary_embedding_kernel'
check "both of two peaks" shows ' 20[6-9]µs  2(49|5[0-3])µs .*gemm TN bf16 16x16x512 MI16x16x1 SK3'
keys / MT16x16x512 Enter Enter
check "the histogram has them" shows '^ +20[6-8]µs █+.* p50' 'p90 +2(49|5[0-3])µs' 'min +208µs +208µs' 'max +251µs +251µs'
keys Escape Tab
check "queues with depth, waits and gaps" shows '^[> ] +[0-9]+ +G1 +[a-z]+ +[0-9]+ .* [0-9.]+(n|µ|m)s +[0-9.]+(n|µ|m|)s +[0-9.]+(n|µ|m)s'
keys Tab
is "JSON agrees" "$("$top" -p "$serve" --json -n 1 | jq '[.kernels[] | select(.name | test("rotary"))
    | .p50_ns, .p99_ns, .min_ns, .max_ns] | length == 4 and all(. >= 6945 and . <= 7055)')" true
is "timed and untimed make up the counted" "$("$top" -p "$serve" --json -n 1 | jq '.dispatches |
    .counted - .timed - ([.untimed[]] | add) | . >= 0 and . <= 4096')" true
end_process "$serve"
check "its end is said" wait_until 60 sh -c "tmux -L $tap_tmux capture-pane -p | grep -q EXITED"
check "with its last numbers" shows 'has exited: this is its last state' 'rotary_embedding_kernel'
keys q
check "and left with q" shows 'status 0'
finish
