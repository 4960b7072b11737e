#!/bin/sh
# Data of each GPU, against the software GPU's truth: busy time, idle time by size of the gap, identity, and the clock's
# error.
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

# --- busy and idle: kernels of several queues overlap; a few take a thousand times longer than the others ---
equals_truth() {
    "$top" -p "$program" --json -n 1 >"$work/json" && tests/e2e/compare-gpus "$work/truth" "$work/json" >"$work/compared"
}
held_or_gone() {
    grep -q '^holding' "$work/out" || ! is_alive "$program"
}
mkfifo "$work/in"
on_gpu --gpus 2 --drift 50 --script "$work/script" --truth "$work/truth" -- "$O/tests/programs/hsa_dispatch" --launches 3000 \
    --queues 6 --threads 3 --gpus 2 --hold <"$work/in" >"$work/out" 2>"$work/err" &
program=$!
tap_pids="$tap_pids $program"
exec 3>"$work/in"
wait_until 120 held_or_gone
has "two GPUs, six queues: the program's own verdict is PASS" "$(cat "$work/out")" '^hsa_dispatch: PASS'
# The software GPU writes the truth a millisecond later; the library counts the last gaps when it is idle.
check "two GPUs: busy time and idle gaps equal the model's to 1 %" wait_until 30 equals_truth
sed 's/^/# /' "$work/compared"
is "two GPUs: JSON has their addresses" "$(jq -r '[.gpus[] | .pci] | join(" ")' "$work/json")" "0000:03:00.0 0000:04:00.0"
is "two GPUs: JSON has the driver's unique ids" "$(jq -r '[.gpus[] | .uuid] | join(" ")' "$work/json")" \
    "GPU-7b3e5d2c9a100000 GPU-7b3e5d2c9a100001"
check "two GPUs: text has the address and the gaps" sh -c "'$top' -p $program -b -n 1 | grep -A 1 '^G1 04:00.0 gfx90a  busy' |
    grep -E '^G1 04:00.0 idle  <10.+s .*%  <100.+s .*%  <1ms .*  more .*  gaps .*/s  clock off .* drift .* ppm'"
exec 3>&-
wait "$program"
is "two GPUs: exit status is 0" $? 0
tap_pids=

# --- a launch-bound process: many small gaps; some are filled by a long kernel that ends after they were recorded ---
play gaps
check "gaps: every dispatch is settled" wait_until 60 settled 0
check "gaps: busy time and idle gaps equal the model's to 1 %" wait_until 30 equals_truth
sed 's/^/# /' "$work/compared"
# Each queue alone: number, sum, minimum and maximum of the gaps from an end to the next start.
gaps_agree() { # kernel, line of the queues
    awk -F'\t' -v kernel="$1" '$7 == kernel { print $4, $5 }' "$work/truth" | sort -n | awk '
        NR > 1 { gap = $1 > end ? $1 - end : 0; n++; sum += gap
            if (n == 1 || gap < min) min = gap
            if (gap > max) max = gap }
        $2 > end { end = $2 }
        END { printf "%d %.0f %.0f %.0f\n", n, sum, min, max }' >"$work/gaps"
    dump_segment queue | sed -n "$2p" | awk '{ print $20, $28, $29, $30 }' >"$work/said"
    diff "$work/gaps" "$work/said"
}
check "gaps: the truth is complete" truth_has 3010 'fast0[12]$'
check "gaps: the first queue's equal the model's to the tick" gaps_agree fast01 1
check "gaps: the second queue's equal the model's to the tick" gaps_agree fast02 2
check "gaps: there are more than are remembered individually" jq -e '[.gpus[0].idle[].count] | add > 300' "$work/json"
close_scene

# --- one of two GPUs, as a rank of a server sees it: its number is 0, but it isn't the first ---
ROCR_VISIBLE_DEVICES=1
export ROCR_VISIBLE_DEVICES
gpu='--gpus 2'
play line
unset ROCR_VISIBLE_DEVICES gpu
check "a rank's GPU: every dispatch is settled" wait_until 60 settled 0
is "a rank's GPU: number 0 has the address of the second GPU" \
    "$("$top" -p "$program" --json -n 1 | jq -r '.gpus | map("\(.id) \(.pci) \(.uuid)") | join(",")')" \
    "0 0000:04:00.0 GPU-7b3e5d2c9a100001"
close_scene

# --- the clock is 50 ppm fast, and a wait is still right to 5 us ---
# Each queue's total, minimum and maximum wait are exact. The program prints between which two times it submitted each
# packet, the truth has each start. A 500 ms kernel waits at a closed gate, too: its start is half a second before the
# last sampled ticks, which is an error of 25 us without the drift's correction.
waits_agree() { # kernel, line of the queues
    awk -F'\t' -v kernel="$1" '$7 == kernel { print $4 }' "$work/truth" >"$work/starts"
    sed -n "s/^submitted $1 //p" "$work/out" | paste -d ' ' "$work/starts" - >"$work/bounds"
    dump_segment queue | sed -n "$2p" | awk '{ print $16, $24, $25, $26 }' >"$work/said"
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
    check "drift $drift: every dispatch is settled" wait_until 60 settled 0
    check "drift $drift: the truth is complete" truth_has 1001 'fast9[89]$'
    check "drift $drift: waits of a queue are right to 5 us" waits_agree fast99 1
    check "drift $drift: the wait of a kernel that started long ago is right to 5 us" waits_agree fast98 2
    "$top" -p "$program" --json -n 1 >"$work/json"
    check "drift $drift: JSON has the drift to 10 ppm" jq -e \
        ".gpus[0].clock | .drift_ppm > $drift - 10 and .drift_ppm < $drift + 10" "$work/json"
    check "drift $drift: JSON has the clock's error" jq -e \
        '.gpus[0].clock | .residual_ns < 5000 and .residual_ns <= .residual_max_ns and .tick_hz == 100000000' "$work/json"
    echo "# $(jq -c '.gpus[0].clock' "$work/json")"
    close_scene
done
finish
