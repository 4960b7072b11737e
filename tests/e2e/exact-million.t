#!/bin/sh
# A million launches on 8 streams with 200 kernel names: for every kernel counted equals launched.
. "$(dirname "$0")/tap.sh"
. "$(dirname "$0")/exact.sh"

cat >"$work/script" <<'EOF'
launch_0*           fixed 1us
launch_1*           lognormal 2us 0.5
EOF
run_exact "a million launches" --script "$work/script" -- \
    "$O/tests/programs/hip_launches" --launches 1000000 --streams 8 --kernels 200
is "a million launches: all 200 names were launched" "$(grep -c '^launch_' "$work/launched")" 200
is "a million launches: the program launched a million" "$(awk '{ sum += $2 } END { print sum }' "$work/launched")" 1000000
is "a million launches: all of them are counted" \
    "$(jq '[.kernels[] | select(.name | startswith("launch_")) | .calls] | add' "$work/json")" 1000000
check "a million launches: over half of the dispatches are timed" jq -e '.dispatches | .timed > 0.5 * .counted' "$work/json"
finish
