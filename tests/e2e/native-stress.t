#!/bin/sh
# Many threads that submit in all the ways in which programs do it (native_stress): every kernel counted, and timed to the
# tick, whatever way the library takes; nothing lost, nothing run that wasn't meant, nobody hangs. Without the library the
# same program shows that it is right itself.
#
# Bounded: a run a way and seed, STRESS_SEEDS of them (3). STRESS_SECONDS goes on with new seeds for so long instead, larger
# ones (`make stress`). STRESS_SEED is the first seed, STRESS_SET draws one set only, STRESS_WAYS are the ways.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/intercept.sh"
scenes=native_stress
ways=${STRESS_WAYS:-plain intercept native}
seed=${STRESS_SEED:-1}
packets=${STRESS_PACKETS:-60000}
[ -z "${STRESS_SECONDS:-}" ] || packets=${STRESS_PACKETS:-1000000}
"$O/tests/programs/native_stress" --script >"$work/script"
if ! may_intercept; then
    skip "intercept" "the library makes no intercept queues here: they overwrite memory"
    ways=$(echo "$ways" | sed 's/\bintercept\b//')
fi

# What the software GPU ran is what was launched, and each took its time.
truth_is_exact() {
    sed -n 's/^launched //p' "$work/out" | sort >"$work/launched"
    awk -F'\t' 'NR == FNR { split($0, word, " "); want[word[1]] = word[3] + 0; next }
        FNR > 1 && $7 !~ /^</ { n[$7]++; if ($5 - $4 != want[$7]) { print "took " $5 - $4 ": " $7; exit } }
        END { for (k in n) print k, n[k] }' "$work/script" "$work/truth" | sort >"$work/ran"
    test -s "$work/launched" && diff "$work/launched" "$work/ran"
}

# Whatever share of them was timed: each took what the script says.
times_are_exact() {
    look kernel >"$work/kernels"
    awk 'NR == FNR { want[$1] = $3 + 0; next }
        $4 { kernels++; if ($7 != want[$2] || $8 != want[$2] || $6 != $4 * want[$2]) { print; wrong++ } }
        END { print kernels + 0 " kernels, " wrong + 0 " wrong"; exit !kernels || wrong }' "$work/script" "$work/kernels"
}

ran=0
timed=0
stress() { # way
    name="$1, seed $seed"
    case $1 in plain) tools= ;; *) unset tools ;; esac
    RTL_QUEUES=$1
    export RTL_QUEUES
    play --for "$1" --seed "$seed" --packets "$packets" ${STRESS_SET:+--set "$STRESS_SET"} --hold
    has "$name: the program's own verdict" "$(cat "$work/out")" "^native_stress: OK, packets $packets, seed $seed\$"
    [ -n "${STRESS_SECONDS:-}" ] || check "$name: the GPU ran what was meant" wait_until 60 truth_is_exact
    if [ "$1" != plain ]; then
        check "$name: all accounted for" wait_until 60 settled 0
        check "$name: counts are the program's" counted_as_launched
        check "$name: times are to the tick" times_are_exact
        timed=$((timed + $(look timed | cut -d' ' -f2)))
        ran=$((ran + $(look counted | cut -d' ' -f2)))
    fi
    close_scene
    is "$name: ends well" "$status $(without_runtimes_own <"$work/err")" "0 "
}

first=$seed
over=$(($(date +%s) + ${STRESS_SECONDS:-0}))
while [ "$seed" -lt $((first + ${STRESS_SEEDS:-3})) ] || [ "$(date +%s)" -lt "$over" ]; do
    for way in $ways; do stress "$way"; done
    seed=$((seed + 1))
    [ "$tap_failed" = 0 ] || break # the first failure is what one wants to look at
done
echo "# seeds $first to $((seed - 1)), $packets packets each, $ways: $timed of $ran kernels timed"
finish
