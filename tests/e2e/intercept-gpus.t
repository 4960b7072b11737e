#!/bin/sh
# What is said of each GPU: how long it was busy and in gaps of which size it was idle, which GPU it is, and how well its
# clock is known, against the software GPU's truth.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"

top=$O/rtl-top
cat >"$work/script" <<'EOT'
hsa_00  bimodal 300ns 3ms 0.998
hsa_01  fixed 0ns
hsa_1*  lognormal 5us 1
fast01  fixed 3us
fast02  uniform 20us 2ms
fast98  fixed 500ms
fast*   fixed 100us
*       lognormal 300ns 0.5
EOT

# --- busy and idle: kernels of several queues overlap, a few are a thousand times longer than the others ---
as_in_truth() {
    "$top" -p "$program" --json -n 1 >"$work/json" && tests/e2e/compare-gpus "$work/truth" "$work/json" >"$work/compared"
}
held_or_gone() {
    grep -q '^holding' "$work/out" || ! alive "$program"
}
mkfifo "$work/in"
on_gpu --gpus 2 --drift 50 --script "$work/script" --truth "$work/truth" -- "$O/tests/programs/hsa_dispatch" --launches 3000 \
    --queues 6 --threads 3 --gpus 2 --hold <"$work/in" >"$work/out" 2>"$work/err" &
program=$!
tap_pids="$tap_pids $program"
exec 3>"$work/in"
wait_until 120 held_or_gone
has "two GPUs, six queues: it ran" "$(cat "$work/out")" '^hsa_dispatch: PASS'
# the truth is written a millisecond late, the last gaps are counted when the library comes to rest
check "busy time and idle gaps are the model's, to 1 %" wait_until 30 as_in_truth
sed 's/^/# /' "$work/compared"
is "GPUs are known by their addresses" "$(jq -r '[.gpus[] | .pci] | join(" ")' "$work/json")" "0000:03:00.0 0000:04:00.0"
is "and by what the driver calls them" "$(jq -r '[.gpus[] | .uuid] | join(" ")' "$work/json")" \
    "GPU-7b3e5d2c9a100000 GPU-7b3e5d2c9a100001"
check "text has the address and the gaps" sh -c "'$top' -p $program -b -n 1 | grep -A 1 '^G1 04:00.0 gfx90a  busy' |
    grep -E '^G1 04:00.0 idle  <10.+s .*%  <100.+s .*%  <1ms .*  more .*  gaps .*/s  clock off .* drift .* ppm'"
exec 3>&-
wait "$program"
is "it ends well" $? 0
tap_pids=

# --- a launch-bound process: many small gaps, and some that a long kernel fills, which ends after they were seen ---
play gaps
check "gaps: all over" wait_until 60 settled 0
check "gaps: busy time and idle gaps are the model's, to 1 %" wait_until 30 as_in_truth
sed 's/^/# /' "$work/compared"
# each queue by itself: how many, their sum, the shortest and the longest, from one end to the next start
queue_gaps() { # kernel, line of the queues
    awk -F'\t' -v kernel="$1" '$7 == kernel { print $4, $5 }' "$work/truth" | sort -n | awk '
        NR > 1 { gap = $1 > end ? $1 - end : 0; n++; sum += gap
            if (n == 1 || gap < min) min = gap
            if (gap > max) max = gap }
        $2 > end { end = $2 }
        END { printf "%d %.0f %.0f %.0f\n", n, sum, min, max }' >"$work/gaps"
    look queue | sed -n "$2p" | awk '{ print $20, $28, $29, $30 }' >"$work/said"
    diff "$work/gaps" "$work/said"
}
check "gaps: the truth knows all" truth_has 3010 'fast0[12]$'
check "gaps: those of the queue are the model's, to the tick" queue_gaps fast01 1
check "gaps: and those of the one beside" queue_gaps fast02 2
check "gaps: there were more than are remembered one by one" jq -e '[.gpus[0].idle[].count] | add > 300' "$work/json"
close_scene

# --- one of two GPUs, as a rank of a server sees it: number 0, but not the first ---
ROCR_VISIBLE_DEVICES=1
export ROCR_VISIBLE_DEVICES
gpu='--gpus 2'
play line
unset ROCR_VISIBLE_DEVICES gpu
check "a rank's GPU: all over" wait_until 60 settled 0
is "its own number is 0, its address tells which it is" \
    "$("$top" -p "$program" --json -n 1 | jq -r '.gpus | map("\(.id) \(.pci) \(.uuid)") | join(",")')" \
    "0 0000:04:00.0 GPU-7b3e5d2c9a100001"
close_scene

# --- the clock: 50 ppm fast, and a wait is still right to 5 us ---
# Each queue's sums are exact: total, shortest and longest wait. The program says between which two times it submitted each
# packet, the truth when each started. A kernel of 500 ms is behind a closed gate, too: its start is half a second before the
# ticks that were seen last, or 25 us off for who believes the clock.
waits() { # kernel, line of the queues
    awk -F'\t' -v kernel="$1" '$7 == kernel { print $4 }' "$work/truth" >"$work/starts"
    sed -n "s/^submitted $1 //p" "$work/out" | paste -d ' ' "$work/starts" - >"$work/bounds"
    look queue | sed -n "$2p" | awk '{ print $16, $24, $25, $26 }' >"$work/said"
    awk '
        FNR == NR { said = $0; split($0, s, " "); next }
        NF == 3 {
            n++
            low = $1 - $3 - 5000; high = $1 - $2 + 5000
            low_sum += low; high_sum += high
            if (n == 1 || low < low_min) low_min = low
            if (n == 1 || high < high_min) high_min = high
            if (n == 1 || low > low_max) low_max = low
            if (n == 1 || high > high_max) high_max = high
        }
        END {
            print n, "waits, said:", said, " total", low_sum, high_sum, " min", low_min, high_min, " max", low_max, high_max
            exit !(n > 0 && s[1] == n && s[2] >= low_sum && s[2] <= high_sum && s[3] >= low_min && s[3] <= high_min &&
                s[4] >= low_max && s[4] <= high_max)
        }' "$work/said" "$work/bounds"
}
for drift in 50 -50; do
    gpu="--drift $drift"
    play line
    unset gpu
    check "drift $drift: all over" wait_until 60 settled 0
    check "drift $drift: the truth knows all" truth_has 1001 'fast9[89]$'
    check "drift $drift: waits of a queue are right to 5 us" waits fast99 1
    check "drift $drift: even of a kernel that started long ago" waits fast98 2
    "$top" -p "$program" --json -n 1 >"$work/json"
    check "drift $drift: it is said, to 10 ppm" jq -e \
        ".gpus[0].clock | .drift_ppm > $drift - 10 and .drift_ppm < $drift + 10" "$work/json"
    check "drift $drift: and how far off the clock was" jq -e \
        '.gpus[0].clock | .residual_ns < 5000 and .residual_ns <= .residual_max_ns and .tick_hz == 100000000' "$work/json"
    echo "# $(jq -c '.gpus[0].clock' "$work/json")"
    close_scene
done
finish
