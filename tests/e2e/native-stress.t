#!/bin/sh
# Many threads submit with all methods that programs use (native_stress). Whatever queue path the library chooses, every
# kernel is counted, and timed to the tick; no packet is lost, no wrong packet runs, no thread hangs. A run without the
# library shows that the program itself is right.
#
# By default a run for each path and seed, for STRESS_SEEDS seeds (3). With STRESS_SECONDS, larger runs with new seeds for that
# long (`make stress`). STRESS_SEED is the first seed, STRESS_SET selects one set, STRESS_WAYS the paths.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=native_stress
ways=${STRESS_WAYS:-plain intercept native}
seed=${STRESS_SEED:-1}
packets=${STRESS_PACKETS:-60000}
[ -z "${STRESS_SECONDS:-}" ] || packets=${STRESS_PACKETS:-1000000}
"$O/tests/programs/native_stress" --script >"$work/script"
if ! may_intercept; then
    skip "stress, intercept" "intercept queues overwrite memory here"
    ways=$(echo "$ways" | sed 's/\bintercept\b//')
fi

# The software GPU ran the launches, and each took its time.
truth_is_exact() {
    sed -n 's/^launched //p' "$work/out" | sort >"$work/launched"
    awk -F'\t' 'NR == FNR { split($0, word, " "); want[word[1]] = word[3] + 0; next }
        FNR > 1 && $7 !~ /^</ { n[$7]++; if ($5 - $4 != want[$7]) { print "took " $5 - $4 ": " $7; exit } }
        END { for (k in n) print k, n[k] }' "$work/script" "$work/truth" | sort >"$work/ran"
    test -s "$work/launched" && diff "$work/launched" "$work/ran"
}

# Each timed kernel took the script's time.
times_are_exact() {
    dump_segment kernel >"$work/kernels"
    awk 'NR == FNR { want[$1] = $3 + 0; next }
        $4 { kernels++; if ($7 != want[$2] || $8 != want[$2] || $6 != $4 * want[$2]) { print; wrong++ } }
        END { print kernels + 0 " kernels, " wrong + 0 " wrong"; exit !kernels || wrong }' "$work/script" "$work/kernels"
}

ran=0
timed=0
run_stress() { # PATH
    name="$1, seed $seed"
    case $1 in plain) tools= ;; *) unset tools ;; esac
    RTL_QUEUES=$1
    export RTL_QUEUES
    play --for "$1" --seed "$seed" --packets "$packets" ${STRESS_SET:+--set "$STRESS_SET"} --hold
    has "$name: the program's own verdict is OK" "$(cat "$work/out")" "^native_stress: OK, packets $packets, seed $seed\$"
    [ -n "${STRESS_SECONDS:-}" ] || check "$name: the GPU ran the launches" wait_until 60 truth_is_exact
    if [ "$1" != plain ]; then
        check "$name: every dispatch is settled" wait_until 60 settled 0
        check "$name: counts equal the program's" counted_as_launched
        check "$name: times are right to the tick" times_are_exact
        timed=$((timed + $(dump_segment timed | cut -d' ' -f2)))
        ran=$((ran + $(dump_segment counted | cut -d' ' -f2)))
    fi
    close_scene
    is "$name: exit status is 0 and standard error is empty" "$status $(filter_runtimes_lines <"$work/err")" "0 "
}

first=$seed
over=$(($(date +%s) + ${STRESS_SECONDS:-0}))
while [ "$seed" -lt $((first + ${STRESS_SEEDS:-3})) ] || [ "$(date +%s)" -lt "$over" ]; do
    for way in $ways; do run_stress "$way"; done
    seed=$((seed + 1))
    [ "$tap_failed" = 0 ] || break # keep the first failure
done
echo "# seeds $first to $((seed - 1)), $packets packets each, $ways: $timed of $ran kernels timed"
finish
